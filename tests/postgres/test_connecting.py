"""The setting postgres is what libpq takes: TLS that proves who PostgreSQL is, a password in a file, several hosts in either form. And clusters that
cannot keep what clients store are refused."""
import contextlib
import os
import pwd
import subprocess

import pytest

from support import postgres
from support.calls import open_path
from support.patroni import free_ports
from support.server import Server, ServerFailed

STATE = "StateService"


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


def authority(folder, name):
    """A certificate that can sign others."""
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt", "-subj", f"/CN={name}",
            "-days", "30")
    return folder / f"{name}.crt"


def signed_pair(folder, by, host):
    """What PostgreSQL shows of itself: a certificate for this host."""
    extra = folder / "extra"
    extra.write_text(f"subjectAltName = DNS:{host}\n")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "pg.key", "-out", folder / "pg.csr", "-subj", "/CN=pg")
    openssl("x509", "-req", "-in", folder / "pg.csr", "-CA", folder / f"{by}.crt", "-CAkey", folder / f"{by}.key", "-CAcreateserial",
            "-out", folder / "pg.crt", "-days", "30", "-extfile", extra)
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder / "pg.key", nobody.pw_uid, nobody.pw_gid)
    (folder / "pg.key").chmod(0o600)
    return {"ssl": "on", "ssl_cert_file": folder / "pg.crt", "ssl_key_file": folder / "pg.key"}


class Encrypted:
    """A PostgreSQL that takes connections over TCP, with TLS and a password only."""

    def __init__(self, pg, port, folder):
        self.pg, self.port, self.folder = pg, port, folder
        (folder / "pgpass").write_text(f"localhost:{port}:*:procession:secret\n")
        (folder / "pgpass").chmod(0o600)

    def conninfo(self, **changed):
        options = {"host": "localhost", "port": self.port, "dbname": "own", "user": "procession", "passfile": self.folder / "pgpass", "sslmode": "verify-full",
                   "sslrootcert": self.folder / "right.crt", **changed}
        return " ".join(f"{name}={value}" for name, value in options.items())


@pytest.fixture(scope="module")
def encrypted():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    port = free_ports(1)[0]
    pg = postgres.Postgres(settings={"listen_addresses": "127.0.0.1", "port": str(port)})
    folder = pg.folder                  # where the user that PostgreSQL runs as can read
    authority(folder, "right")
    authority(folder, "wrong")
    pg.settings.update(signed_pair(folder, "right", "localhost"))
    with pg:
        hba = pg.data / "pg_hba.conf"
        hba.write_text("local all postgres trust\nhostssl all procession 127.0.0.1/32 scram-sha-256\n")
        with contextlib.closing(pg.connect()) as connection:
            connection.cursor().execute("CREATE ROLE procession LOGIN CREATEROLE PASSWORD 'secret'")
            connection.cursor().execute("CREATE DATABASE own OWNER procession")
            connection.cursor().execute("SELECT pg_reload_conf()")
        yield Encrypted(pg, port, folder)


def server_for(conninfo, **settings):
    return Server(settings={"engine": "postgres", "postgres": conninfo, **settings})


def refused(conninfo):
    """What a start says, that would wait no longer than a second."""
    with pytest.raises(ServerFailed, match="PostgreSQL cannot be used") as told:
        server_for(conninfo, failover_timeout=1).start()
    return str(told.value)


def test_tls_that_is_proved_is_what_every_session_has(encrypted):
    with server_for(encrypted.conninfo()) as server, open_path("wire", server, STATE) as db:
        assert db.batch("EXEC proc_AddItem 'kept', 0x01, 20").error is None
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'too', 0x01, 20 COMMIT").error is None
        assert db.batch("SELECT COUNT(*) FROM Items").rows == [(2,)]
        with contextlib.closing(encrypted.pg.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT count(*), count(*) FILTER (WHERE ssl AND version LIKE 'TLSv1._') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                           "WHERE usename = 'procession'")
            every, with_tls = cursor.fetchone()
            assert every == with_tls >= 4
        assert "secret" not in server.log()


def test_a_certificate_of_another_authority_is_not_believed(encrypted):
    assert "certificate verify failed" in refused(encrypted.conninfo(sslrootcert=encrypted.folder / "wrong.crt"))


def test_a_certificate_of_another_host_is_not_believed(encrypted):
    assert 'does not match host name "127.0.0.1"' in refused(encrypted.conninfo(host="127.0.0.1"))


def test_without_the_right_password_the_start_says_so(encrypted, tmp_path):
    (tmp_path / "pgpass").write_text(f"localhost:{encrypted.port}:*:procession:guessed\n")
    (tmp_path / "pgpass").chmod(0o600)
    assert 'password authentication failed for user "procession"' in refused(encrypted.conninfo(passfile=tmp_path / "pgpass"))
    (tmp_path / "pgpass").chmod(0o644)
    assert "no password supplied" in refused(encrypted.conninfo(passfile=tmp_path / "pgpass"))


def test_the_form_of_a_url_and_several_hosts(encrypted):
    """One host that is not there, one that is; the port of each."""
    closed = free_ports(1)[0]
    url = (f"postgresql://procession@localhost:{closed},localhost:{encrypted.port}/own?sslmode=verify-full&sslrootcert={encrypted.folder / 'right.crt'}"
           f"&passfile={encrypted.folder / 'pgpass'}")
    with server_for(url) as server, open_path("wire", server, STATE) as db:
        assert db.batch("SELECT 1 AS n").rows == [(1,)]
        assert db.batch("SELECT COUNT(*) FROM Items").error is None


def test_what_is_no_connection_string_is_said_at_once(encrypted):
    assert 'missing "="' in refused("host=localhost procession")
    assert "sslmode" in refused(encrypted.conninfo(sslmode="sometimes"))


@pytest.mark.parametrize("encoding, locale", (("LATIN1", "C"), ("SQL_ASCII", "C")))
def test_an_encoding_that_cannot_keep_every_text_is_refused(pg, encoding, locale):
    name = "in_" + encoding.lower()
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE_PROVIDER libc LOCALE '{locale}'")
    with pytest.raises(ServerFailed, match=f"'{name}' of PostgreSQL has the encoding {encoding}.*ENCODING 'UTF8'"):
        server_for(pg.conninfo(name)).start()
