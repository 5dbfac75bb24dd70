"""Clients' SELECTs run as procession_reader: a role that reads the views of its database, whatever the text of a SELECT might be."""
import contextlib

import psycopg2
import pytest

from support.calls import open_path
from support.server import Server, ServerFailed


@contextlib.contextmanager
def as_user(pg, name, role):
    """A database of its own, and a user with these attributes who owns it."""
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE ROLE {name} LOGIN {role}")
        connection.cursor().execute(f"CREATE DATABASE {name} OWNER {name}")
    yield pg.conninfo(name).replace(f"user={pg.user}", f"user={name}")


def running(conninfo):
    return Server(settings={"engine": "postgres", "postgres": conninfo}, start_timeout=120)


@pytest.fixture(scope="module")
def server(pg):
    with as_user(pg, "plain", "CREATEROLE") as conninfo, running(conninfo) as made:
        yield made


def reader(pg):
    connection = pg.connect("plain")
    connection.cursor().execute("SET ROLE procession_reader")
    return connection


def tables(pg):
    with contextlib.closing(pg.connect("plain")) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname LIKE 'procession%'")
        return [row[0] for row in cursor.fetchall()]


def test_a_select_runs_as_the_role(pg, server):
    """What a SELECT can reach is what the role can reach: without its right to a view it fails, and only it."""
    def grant(text):
        with contextlib.closing(pg.connect("plain")) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT format('%I.%I', schemaname, viewname) FROM pg_views WHERE schemaname LIKE 'procession_stateservice_%' AND viewname ~* 'items'")
            for name, in cursor.fetchall():
                cursor.execute(f"{text[0]} SELECT ON {name} {text[1]} procession_reader")

    with open_path("wire", server, "StateService") as db:
        assert db.batch("EXEC proc_AddItem 'seen', 0x01, 20").error is None
        count = "SELECT COUNT(*) AS n FROM dbo.Items"
        assert db.batch(count).error is None
        grant(("REVOKE", "FROM"))
        try:
            assert db.batch(count).error is not None
            assert db.batch("BEGIN TRAN; SELECT COUNT(*) AS n FROM dbo.Items; COMMIT").error is not None
            assert db.batch("EXEC proc_AddItem 'other', 0x01, 20").error is None
        finally:
            grant(("GRANT", "TO"))
        assert db.batch(count).error is None


def test_a_transaction_is_itself_again_after_a_select(server):
    with open_path("wire", server, "StateService") as db:
        answer = db.batch("BEGIN TRAN; EXEC proc_AddItem 'a', 0x01, 20; SELECT COUNT(*) AS n FROM dbo.Items; "
                          "EXEC proc_AddItem 'b', 0x01, 20; SELECT COUNT(*) AS n FROM dbo.Items; COMMIT")
        assert answer.error is None
        assert db.call("proc_GetItemWithLock", id="b").out["item"] == b"\x01"


def test_the_role_reads_no_table_and_writes_nothing(pg, server):
    names = tables(pg)
    assert len(names) > 20
    with contextlib.closing(reader(pg)) as connection:
        cursor = connection.cursor()
        for name in names:
            for text in (f"SELECT 1 FROM {name}", f"DELETE FROM {name}", f"INSERT INTO {name} DEFAULT VALUES"):
                with pytest.raises(psycopg2.errors.InsufficientPrivilege):
                    cursor.execute(text)


def test_the_role_makes_nothing_and_reaches_no_file(pg, server):
    with contextlib.closing(reader(pg)) as connection:
        cursor = connection.cursor()
        for text in ("CREATE SCHEMA mine", "CREATE TABLE procession.mine (a int)", "CREATE TABLE public.mine (a int)", "COPY (SELECT 1) TO '/tmp/mine'",
                     "SELECT pg_read_file('/etc/passwd')", "SELECT rolpassword FROM pg_authid", "CREATE ROLE mine", "SELECT * FROM pg_statistic"):
            with pytest.raises(psycopg2.Error):
                cursor.execute(text)


def test_a_user_who_may_not_make_the_role_is_told(pg, server):
    """The role is there, made by another installation of the cluster; this user is no member, and may not become one."""
    with as_user(pg, "lowly", "NOCREATEROLE") as conninfo:
        made = running(conninfo)
        with pytest.raises(ServerFailed, match='GRANT procession_reader TO "lowly"'):
            made.start()
        with contextlib.closing(pg.connect()) as connection:
            connection.cursor().execute("GRANT procession_reader TO lowly")
        with made, open_path("wire", made, "StateService") as db:
            assert db.batch("SELECT COUNT(*) AS n FROM dbo.Items").error is None
