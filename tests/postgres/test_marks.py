"""The rows by which a commit in doubt is found again: no more of them than connections at one time, and none is missed when it is gone."""
import contextlib

import pytest

from support.calls import open_path
from support.server import Server

STATE = "StateService"


@pytest.fixture(name="server", scope="module")
def a_server(pg):
    name = "marks"
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    with Server(settings={"engine": "postgres", "postgres": pg.conninfo(name)}) as server:
        server.behind = lambda: contextlib.closing(pg.connect(name))
        yield server


def of_state(server, sql, change=False):
    """In the schema of StateService."""
    with server.behind() as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname ~ '^procession_stateservice' AND to_regclass(quote_ident(nspname) || '.mark') IS NOT NULL")
        [[schema]] = cursor.fetchall()
        cursor.execute(f'SET search_path = "{schema}", procession, pg_catalog')
        cursor.execute(sql)
        return None if change else cursor.fetchall()


def test_transactions_side_by_side_leave_no_rows(server):
    """Three at a time, of which two only read: each has a connection of its own, and the next ones go on with their marks."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(open_path("wire", server, STATE)) for _ in range(3)]
        for n in range(20):
            for client in clients[1:]:
                assert client.batch("SET TRANSACTION ISOLATION LEVEL SNAPSHOT BEGIN TRAN SELECT count(*) FROM dbo.Items").error is None
            assert clients[0].batch(f"BEGIN TRAN EXEC proc_AddItem 'by-{n}', 0x01, 20 COMMIT").error is None
            for client in clients[1:]:
                assert client.batch("ROLLBACK").error is None
    [[rows]] = of_state(server, "SELECT count(*) FROM mark")
    assert rows <= 12, rows


def test_a_row_that_is_gone_is_made_anew(server):
    """It is folded when nobody has heard of a server for a day; one that comes back then does each call once."""
    with open_path("wire", server, STATE) as db:
        assert db.call("proc_AddItem", id="before", item=b"x", timeout=20).error is None
        of_state(server, "DELETE FROM mark", change=True)
        assert db.call("proc_AddItem", id="behind", item=b"x", timeout=20).error is None
        assert db.batch("SELECT Id FROM dbo.Items WHERE Id = 'behind'").rows == [("behind",)]
        of_state(server, "DELETE FROM mark", change=True)
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'inside', 0x01, 20").error is None
        assert db.batch("COMMIT").error == 50013                    # nothing of it was kept
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'inside', 0x01, 20 COMMIT").error is None


def test_rows_of_servers_that_are_gone_are_folded(server):
    """With what is read of all of them together: how much was committed, and when."""
    of_state(server, "INSERT INTO mark (slot, seq, at) VALUES ('0123456789abcdef0123456789abcdef/1', 7, 1), ('0123456789abcdef0123456789abcdef/2', 5, 2)",
             change=True)
    with open_path("wire", server, STATE) as db:
        assert db.call("proc_AddItem", id="now", item=b"x", timeout=20).error is None
    before = of_state(server, "SELECT sum(seq), max(at) FROM mark")
    with Server(settings=server.settings):
        assert of_state(server, "SELECT sum(seq), max(at) FROM mark") == before
        assert of_state(server, "SELECT slot, seq, at FROM mark WHERE slot LIKE '0123%' OR slot = 'folded'") == [("folded", 12, 2)]
        with open_path("wire", server, STATE) as db:
            assert db.call("proc_AddItem", id="then", item=b"x", timeout=20).error is None
