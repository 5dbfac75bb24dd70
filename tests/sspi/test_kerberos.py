"""Kerberos: real tickets of a real KDC, from FreeTDS' programs and libraries, pytds, and tokens of our own."""
import subprocess
import sys
import time
import uuid

import pytest

import gss
import login
from realm import ALICE, DATABASES
from support.proves import proves
from support.wire import ENCRYPT_NOT_SUP, ENCRYPT_OFF, ENCRYPT_ON, LOGIN7, SSPI, ServerError, Wire

CALLS = {
    "WordAutomation": "EXEC @s = proc_GetJobs @ActiveOnly = 0, @SubmittedOnly = 0",
    "Translation": "EXEC @s = proc_HasActiveJobs",
    "ScheduledJobs": "EXEC @s = proc_MIP_GetScheduledJobs",
    "StateService": "EXEC @s = proc_AddItem '{key}', 0x01, 1",
}


def call(w, database):
    """A procedure of the database the session is in; gives its status."""
    answer = w.batch(f"DECLARE @s int; {CALLS[database].format(key=uuid.uuid4().hex)}; SELECT @s AS status").ok()
    assert w.batch("SELECT db_name()").value == database
    return answer.results[-1][1][0][0]


def tsql(env, *args, text="SELECT suser_sname(), db_name()"):
    done = subprocess.run(["tsql", "-o", "fhoq", *args], input=text + "\ngo\nexit\n", text=True, capture_output=True, env=env, timeout=60, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("mode", ("off", "request", "require"))
def test_tsql(realm, ticket, mode):
    out = tsql(realm.freetds(ticket), "-S", f"kerberos-{mode}")
    assert "TEST.LOCAL\\alice" in out, out


def test_tsql_without_a_ticket(realm):
    out = tsql(realm.freetds(), "-S", "kerberos-off")
    assert "There was a problem connecting to the server" in out, out


def in_python(code, env):
    """FreeTDS reads the environment when it is loaded: a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], env=env, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_odbc(realm, ticket):
    code = f"""
import pyodbc
c = pyodbc.connect("DRIVER=FreeTDS;SERVER=localhost;PORT={realm.server.port};TDS_Version=7.4;Trusted_Connection=yes;REALM=TEST.LOCAL;DATABASE=StateService", autocommit=True, timeout=15)
print(c.execute("SELECT suser_sname()").fetchone()[0])
"""
    assert in_python(code, realm.freetds(ticket)) == "TEST.LOCAL\\alice"


def test_pymssql(realm, ticket):
    code = f"""
import pymssql
c = pymssql.connect(server="kerberos-off", port={realm.server.port}, user=None, password=None, database="StateService")
k = c.cursor()
k.execute("SELECT suser_sname()")
print(k.fetchone()[0])
"""
    assert in_python(code, realm.freetds(ticket)) == "TEST.LOCAL\\alice"


class Auth:
    """pytds takes any object that makes tokens."""

    def __init__(self, initiator):
        self.initiator = initiator

    def create_packet(self):
        return self.initiator.step()

    def handle_next(self, packet):
        return self.initiator.step(packet)

    def close(self):
        pass


@pytest.mark.parametrize("mech", (gss.KERBEROS, gss.SPNEGO), ids=("kerberos", "spnego"))
def test_pytds(realm, ticket, mech):
    import pytds
    auth = Auth(gss.Initiator(realm.spn, mech, env=ticket, flags=0))
    with pytds.connect(dsn=realm.server.host, port=realm.server.port, auth=auth, database="StateService", autocommit=True, login_timeout=15) as conn:
        with conn.cursor() as cur:
            cur.execute("SELECT suser_sname()")
            assert cur.fetchone()[0] == "TEST.LOCAL\\alice"


@proves("WORD-Auth-02", "TRAN-Auth-02", "SCHED-Auth-02", "STATE-Auth-01")
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("mech", (gss.KERBEROS, gss.SPNEGO), ids=("kerberos", "spnego"))
def test_procedure_of_each_database(realm, ticket, mech, database):
    with login.log_in(realm.server, gss.Initiator(realm.spn, mech, env=ticket), database=database) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"
        assert call(w, database) == 0


@pytest.mark.parametrize("encryption", (ENCRYPT_NOT_SUP, ENCRYPT_OFF, ENCRYPT_ON), ids=("clear", "login", "all"))
@pytest.mark.parametrize("mech", (gss.KERBEROS, gss.SPNEGO), ids=("kerberos", "spnego"))
@pytest.mark.parametrize("kind", (SSPI, LOGIN7), ids=("0x11", "0x10"))
def test_encryption_and_packet_types(realm, ticket, encryption, mech, kind):
    with login.log_in(realm.server, gss.Initiator(realm.spn, mech, env=ticket), kind, encryption=encryption) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"


def test_strict(realm, ticket):
    with login.log_in(realm.server, gss.Initiator(realm.spn, env=ticket), strict=True, version=0x08000000) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"


def test_last_token_is_a_message_of_its_own(realm, ticket):
    """With mutual authentication: AP-REP, then the response, without waiting. Without: the response only."""
    initiator = gss.Initiator(realm.spn, env=ticket)
    with login.start(realm.server, initiator.step()) as w:
        first = login.message(w)
        assert [t.kind for t in first] == ["sspi"]
        assert initiator.step(first[0].data) == b"" and initiator.done
        login.finish(w)
        assert login.who(w) == "TEST.LOCAL\\alice"
    initiator = gss.Initiator(realm.spn, env=ticket, flags=0)
    with login.start(realm.server, initiator.step()) as w:
        assert initiator.done
        login.finish(w)


def test_replayed_token(realm, ticket):
    """The same token on two connections: the replay cache refuses the second, and only it."""
    initiator = gss.Initiator(realm.spn, env=ticket, flags=0)
    token = initiator.step()
    with login.start(realm.server, token) as w:
        login.finish(w)
        mark = len(realm.server.log())
        with login.start(realm.server, token) as again:
            assert login.refused(again) == 18456
        realm.server.wait_log(r"login_failed.*[Rr]eplay.*mechanism=kerberos", start=mark)
        assert login.who(w) == "TEST.LOCAL\\alice"


def test_expired_ticket(new_realm, kdc):
    """A token that is sent when its ticket has expired. This server's clock may differ from the KDC's by a second only."""
    path = kdc.dir / "krb5-strict.conf"
    path.write_text((kdc.dir / "krb5.conf").read_text().replace("rdns = false", "rdns = false\n    clockskew = 1"))
    realm = new_realm(env={"KRB5_CONFIG": str(path)})
    env = kdc.ticket("alice", ALICE[1], "-l", "2s")
    with login.log_in(realm.server, gss.Initiator(realm.spn, env=env)):
        pass
    token = gss.Initiator(realm.spn, env=env, flags=0).step()
    time.sleep(4)
    with login.start(realm.server, token) as w:
        assert login.refused(w) == 18456
    realm.server.wait_log(r"login_failed.*([Tt]icket expired|[Cc]lock skew).*mechanism=kerberos")


def test_wrong_password(realm, kdc):
    with pytest.raises(AssertionError, match="[Pp]assword incorrect|[Pp]reauthentication failed"):
        kdc.ticket("alice", "wrong")


def test_principal_without_login(realm, kdc):
    """A real user of the realm that nobody added: 18452, and the log says who it was."""
    initiator = gss.Initiator(realm.spn, env=kdc.ticket("mallory", "mallorys-pw"), flags=0)
    mark = len(realm.server.log())
    with login.start(realm.server, initiator.step()) as w:
        assert login.refused(w) == 18452
    realm.server.wait_log(r'login_failed.*login="TEST.LOCAL\\\\mallory".*no such login.*number=18452.*mechanism=kerberos', start=mark)


def test_key_that_the_server_has_not(realm, kdc, ticket):
    """A ticket for another service."""
    kdc.admin("addprinc -randkey MSSQLSvc/elsewhere:1")
    initiator = gss.Initiator("MSSQLSvc/elsewhere:1", env=ticket, flags=0)
    with login.start(realm.server, initiator.step()) as w:
        assert login.refused(w) == 18456


def test_disabled_login(realm, kdc):
    realm.admin_run("TEST.LOCAL\\dave")
    env = kdc.ticket("dave", "daves-pw")
    with login.log_in(realm.server, gss.Initiator(realm.spn, env=env)):
        pass
    with Wire(realm.server).login(database="master") as admin:
        admin.batch("EXEC procession_login_disable @name = 'TEST.LOCAL\\dave'").ok()
    with pytest.raises(ServerError) as e:
        login.log_in(realm.server, gss.Initiator(realm.spn, env=env, flags=0))
    assert e.value.number == 18456


def test_windows_login_has_no_password(realm):
    for password in ("", "NULL", ALICE[1]):
        with pytest.raises(ServerError) as e:
            Wire(realm.server).login(user="TEST.LOCAL\\alice", password=password)
        assert e.value.number == 18456


def test_session_is_like_any_other(realm, ticket):
    """Rights are those of the login: it may execute, and is no administrator."""
    with login.log_in(realm.server, gss.Initiator(realm.spn, env=ticket)) as w:
        assert w.batch("EXEC procession_login_list").numbers
        assert w.batch("SELECT 1").value == 1
