"""Logins of a real domain: NTLM through winbind, Kerberos with tickets of its domain controller."""
import re

import pytest

from domain import Domain, DomainServer, missing

PASSWORDS = {"alice": "Alices-pw1", "bob": "Bobs-pw1", "carol": "Carols-pw1"}


@pytest.fixture(scope="module")
def domain():
    reason = missing()
    if reason:
        pytest.skip(reason)
    with Domain() as made:
        yield made


@pytest.fixture(scope="module")
def member(domain):
    with DomainServer(domain) as server:
        for name in "CORP\\alice", "CORP.TEST\\alice":
            server.command("login", "add", "--windows", name, "--database", "StateService")
            server.command("grant", name, "StateService", "execute")
        server.command("login", "add", "staff", "--generate")
        server.command("grant", "staff", "StateService", "execute")
        (domain.dir / "freetds.conf").write_text(
            "[global]\n\ttds version = 7.4\n\tconnect timeout = 15\n[db]\n\thost = db.corp.test\n\tport = 1433\n[kerberos]\n\thost = db.corp.test\n\tport = 1433\n\trealm = CORP.TEST\n")
        yield server


def tsql(domain, *args):
    return domain.run(["tsql", "-o", "fhoq", *args], input="SELECT suser_sname()\ngo\nexit\n", check=False)


def by_password(domain, name, password):
    return tsql(domain, "-S", "db", "-U", name, "-P", password)


def test_winbind_knows_the_password(domain, member):
    mark = len(member.log())
    assert "CORP\\alice" in by_password(domain, "CORP\\alice", PASSWORDS["alice"])
    member.wait_log(r'event=login .*mechanism=ntlm principal="CORP\\\\alice"', start=mark)


def test_winbind_and_a_rule(domain, member):
    """Bob has no login of his own: the rule for the domain gives him one."""
    assert "staff" in by_password(domain, "CORP\\bob", PASSWORDS["bob"])


def test_pymssql_through_winbind(domain, member):
    code = ("import pymssql\nc = pymssql.connect(server='db', user=r'CORP\\alice', password='Alices-pw1', database='StateService')\n"
            "k = c.cursor()\nk.execute('SELECT suser_sname()')\nprint(k.fetchone()[0])")
    assert domain.run(["/usr/bin/python3", "-c", code]).strip() == "CORP\\alice"


@pytest.mark.parametrize("name, password", [
    ("CORP\\alice", "wrong"), ("CORP\\alice", PASSWORDS["bob"]), ("CORP\\nobody", "Nobodys-pw1"), ("CORP\\carol", PASSWORDS["carol"]), ("OTHER\\alice", "wrong"),
], ids=["wrong password", "another's password", "unknown user", "disabled account", "another domain"])
def test_winbind_refuses(domain, member, name, password):
    mark = len(member.log())
    out = by_password(domain, name, password)
    assert "18456" in out and "alice\n" not in out, out
    member.wait_log(r"login_failed.*number=18456 mechanism=ntlm", start=mark)


def test_a_password_that_was_changed_in_the_domain(domain, member):
    domain.tool("user", "create", "dave", "Daves-pw1")
    assert "staff" in by_password(domain, "CORP\\dave", "Daves-pw1")
    domain.tool("user", "setpassword", "dave", "--newpassword=Daves-pw2")
    assert "staff" in by_password(domain, "CORP\\dave", "Daves-pw2")
    domain.tool("user", "disable", "dave")
    assert "18456" in by_password(domain, "CORP\\dave", "Daves-pw2")


def test_a_ticket_of_the_domain(domain, member):
    domain.kinit("alice", PASSWORDS["alice"])
    mark = len(member.log())
    assert "CORP.TEST\\alice" in tsql(domain, "-S", "kerberos")
    member.wait_log(r"event=login .*mechanism=kerberos", start=mark)
    assert re.search(r"MSSQLSvc/db.corp.test:1433@CORP.TEST", domain.run(["klist"]))


def test_a_ticket_of_somebody_without_a_login(domain, member):
    """The realm of a ticket is the domain's long name: the rule for CORP does not fit."""
    domain.kinit("bob", PASSWORDS["bob"])
    assert "18452" in tsql(domain, "-S", "kerberos")


def test_without_winbind_nobody_gets_in(domain, member):
    """Last: the domain controller goes away. The server answers, and still takes its own logins."""
    domain.tell("kill $!; wait $!; echo gone")
    assert domain.shell.stdout.readline() == "gone\n"
    assert "18456" in by_password(domain, "CORP\\alice", PASSWORDS["alice"])
    assert "staff" in member.command("login", "list")
