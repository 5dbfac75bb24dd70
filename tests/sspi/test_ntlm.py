"""NTLM: raw tokens from FreeTDS, jTDS, tedious, go-mssqldb and pytds against a file of users; SPNEGO around it from GSSAPI."""
import os
import pathlib
import subprocess

import pytest

import gss
import login
from realm import BOB, DATABASES
from support.proves import proves
from support.wire import ENCRYPT_NOT_SUP, ENCRYPT_OFF, ENCRYPT_ON, LOGIN7, SSPI, ServerError
from test_kerberos import Auth, call, in_python, tsql

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
NODE = PROGRAMS.parents[1] / "drivers" / "node" / "node_modules"


def ntlm(user=BOB[0], password=BOB[1], mech=gss.NTLM, **options):
    return gss.Initiator("MSSQLSvc@localhost", mech, user=user, password=password, hostbased=True, **options)


def run(command, **env):
    done = subprocess.run(command, env=dict(os.environ, **env), text=True, capture_output=True, timeout=180, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.mark.parametrize("mode", ("off", "request", "require"))
def test_tsql(realm, mode):
    out = tsql(realm.freetds(), "-S", f"ntlm-{mode}", "-U", BOB[0], "-P", BOB[1])
    assert BOB[0] in out, out


def test_tsql_wrong_password(realm):
    mark = len(realm.server.log())
    out = tsql(realm.freetds(), "-S", "ntlm-off", "-U", BOB[0], "-P", "wrong")
    assert "18456" in out, out
    realm.server.wait_log(r"login_failed.*number=18456 mechanism=ntlm", start=mark)


def test_odbc(realm):
    code = f"""
import pyodbc
c = pyodbc.connect(r"DRIVER=FreeTDS;SERVER=localhost;PORT={realm.server.port};TDS_Version=7.4;UID={BOB[0]};PWD={BOB[1]};DATABASE=StateService", autocommit=True, timeout=15)
print(c.execute("SELECT suser_sname()").fetchone()[0])
"""
    assert in_python(code, realm.freetds()) == BOB[0]


def test_pymssql(realm):
    code = f"""
import pymssql
c = pymssql.connect(server="ntlm-off", port={realm.server.port}, user={BOB[0]!r}, password={BOB[1]!r}, database="StateService")
k = c.cursor()
k.execute("SELECT suser_sname()")
print(k.fetchone()[0])
"""
    assert in_python(code, realm.freetds()) == BOB[0]


@pytest.fixture(scope="module")
def jtds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("java")
    jar = pathlib.Path("/usr/share/java/jtds.jar")
    if not jar.exists():
        pytest.skip("jTDS is missing: install libjtds-java and default-jdk-headless")
    run(["javac", "-encoding", "UTF-8", "-d", str(folder), "-cp", str(jar), str(PROGRAMS / "Ntlm.java")])
    return ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}:{jar}", "Ntlm"]


def test_jtds(realm, jtds):
    assert run([*jtds, str(realm.server.port), "CORP", "bob", BOB[1]]) == BOB[0]


def test_jtds_wrong_password(realm, jtds):
    assert run([*jtds, str(realm.server.port), "CORP", "bob", "wrong"]) .startswith("error 18456")


@pytest.fixture(scope="module")
def tedious():
    if not (NODE / "tedious").exists():
        pytest.skip("tedious is missing: tools/setup.sh test installs it")
    return lambda *args: run(["node", str(PROGRAMS / "ntlm.js"), *args], NODE_PATH=str(NODE))


@pytest.mark.parametrize("encrypt", ("no", "yes"))
def test_tedious(realm, tedious, encrypt):
    assert tedious(str(realm.server.port), "CORP", "bob", BOB[1], encrypt) == BOB[0]


def test_tedious_wrong_password(realm, tedious):
    assert tedious(str(realm.server.port), "CORP", "bob", "wrong", "no").startswith("error Login failed")


@pytest.fixture(scope="module")
def go(tmp_path_factory):
    if not pathlib.Path("/usr/share/gocode/src/github.com/denisenkom/go-mssqldb").exists():
        pytest.skip("go-mssqldb is missing: install golang-go and golang-github-denisenkom-go-mssqldb-dev")
    folder = tmp_path_factory.mktemp("go")
    run(["go", "build", "-o", str(folder / "ntlm"), str(PROGRAMS / "ntlm.go")], GOPATH="/usr/share/gocode", GO111MODULE="off", GOFLAGS="",
        GOCACHE=str(folder / "cache"))
    return str(folder / "ntlm")


@pytest.mark.parametrize("env", ({}, {"LM_COMPAT_LEVEL": "1"}, {"NETBIOS_DOMAIN_NAME": "CORP"}), ids=("default", "lm-allowed", "domain"))
def test_old_ntlm_is_refused(new_realm, go, env):
    """This go-mssqldb answers with NTLMv1. It can be cracked in no time; and where LM is allowed gss-ntlmssp takes any password."""
    realm = new_realm(env=env)
    for password in (BOB[1], "wrong"):
        assert run([go, str(realm.server.port), BOB[0], password]).startswith("error")
    realm.server.wait_log(r"login_failed.*older than NTLMv2.*number=18456 mechanism=ntlm")
    assert BOB[0] in tsql(realm.freetds(), "-S", "ntlm-off", "-U", BOB[0], "-P", BOB[1])
    assert BOB[0] not in tsql(realm.freetds(), "-S", "ntlm-off", "-U", BOB[0], "-P", "wrong")


@pytest.mark.parametrize("mech", (gss.NTLM, gss.SPNEGO), ids=("ntlm", "spnego"))
def test_pytds(realm, mech):
    import pytds
    with pytds.connect(dsn=realm.server.host, port=realm.server.port, auth=Auth(ntlm(mech=mech, flags=0)), database="StateService", autocommit=True,
                       login_timeout=15) as conn, conn.cursor() as cur:
        cur.execute("SELECT suser_sname()")
        assert cur.fetchone()[0] == BOB[0]


@proves("WORD-Auth-02", "TRAN-Auth-02", "SCHED-Auth-02", "STATE-Auth-01")
@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("mech", (gss.NTLM, gss.SPNEGO), ids=("ntlm", "spnego"))
def test_procedure_of_each_database(realm, mech, database):
    with login.log_in(realm.server, ntlm(mech=mech), database=database) as w:
        assert login.who(w) == BOB[0]
        assert call(w, database) == 0


@pytest.mark.parametrize("encryption", (ENCRYPT_NOT_SUP, ENCRYPT_OFF, ENCRYPT_ON), ids=("clear", "login", "all"))
@pytest.mark.parametrize("kind", (SSPI, LOGIN7), ids=("0x11", "0x10"))
def test_encryption_and_packet_types(realm, encryption, kind):
    with login.log_in(realm.server, ntlm(), kind, encryption=encryption) as w:
        assert login.who(w) == BOB[0]


@pytest.mark.parametrize("user, password", ((BOB[0], "wrong"), ("CORP\\nobody", "x"), ("OTHER\\bob", BOB[1])))
def test_refused(realm, user, password):
    mark = len(realm.server.log())
    with pytest.raises(ServerError) as e:
        login.log_in(realm.server, ntlm(user, password))
    assert e.value.number == 18456
    realm.server.wait_log(r"login_failed.*number=18456 mechanism=ntlm", start=mark)


def test_answer_to_another_challenge(realm):
    """A captured answer is worth nothing: the challenge is new each time."""
    one, other = ntlm(), ntlm()
    with login.start(realm.server, one.step()) as a, login.start(realm.server, other.step()) as b:
        answer = one.step(login.message(a)[0].data)
        login.message(b)
        login.send(b, answer)
        assert login.refused(b) == 18456
        login.send(a, answer)
        login.finish(a)
