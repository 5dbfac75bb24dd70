"""Several servers in front of one PostgreSQL: what one does, the others see; what one has, no other gets."""
import contextlib
import threading
import time
import uuid

import pytest

from support.calls import open_path
from support.server import Server, ServerFailed

DATABASE = "StateService"


@contextlib.contextmanager
def servers(pg, count, **settings):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Server(settings={"engine": "postgres", "postgres": pg.conninfo(name), **settings})) for _ in range(count)]


@pytest.fixture(scope="module")
def three(pg):
    with servers(pg, 3) as made:
        yield made


def opened(stack, server, database=DATABASE, path="pytds", **options):
    return stack.enter_context(open_path(path, server, database, **options))


def at_once(functions):
    """Runs all of them at the same time; gives what they returned, or raises what one raised."""
    results, errors = [None] * len(functions), []

    def run(i, function):
        try:
            results[i] = function()
        except Exception as error:      # pylint: disable=broad-except
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i, f)) for i, f in enumerate(functions)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
    return results


def test_what_one_server_stores_the_others_have(three):
    with contextlib.ExitStack() as stack:
        a, b, c = (opened(stack, s) for s in three)
        assert a.call("proc_AddItem", id="shared", item=b"\x00\x01", timeout=20).status == 0
        got = b.call("proc_GetItemWithLock", id="shared")
        assert (got.out["item"], got.out["locked"], got.out["lockCookie"]) == (b"\x00\x01", False, 2)
        seen = c.call("proc_GetItemWithLock", id="shared")
        assert (seen.out["item"], seen.out["locked"], seen.out["lockCookie"]) == (None, True, 2)
        assert c.call("proc_AddItem", id="shared", item=b"x", timeout=20).error == 2627


def test_one_of_many_gets_the_lock(three):
    """Eight clients of three servers, thirty items: each item is locked by one of them."""
    with contextlib.ExitStack() as stack:
        clients = [opened(stack, three[i % 3]) for i in range(8)]
        for n in range(30):
            assert clients[0].call("proc_AddItem", id=f"fought-{n}", item=b"x", timeout=20).status == 0

        def fight(client):
            return [n for n in range(30) if client.call("proc_GetItemWithLock", id=f"fought-{n}").out["locked"] is False]

        won = at_once([lambda c=c: fight(c) for c in clients])
    assert sorted(n for each in won for n in each) == list(range(30))


def test_a_cookie_counts_every_lock_once(three):
    """Clients of all servers lock and release one item: the cookies are 2, 3, 4 … without a gap and without a double."""
    with contextlib.ExitStack() as stack:
        clients = [opened(stack, s) for s in three]
        assert clients[0].call("proc_AddItem", id="counted", item=b"x", timeout=20).status == 0

        def count(client):
            mine = []
            while len(mine) < 12:
                got = client.call("proc_GetItemWithLock", id="counted")
                if got.out["locked"] is False:
                    mine.append(got.out["lockCookie"])
                    assert client.call("proc_ReleaseItemLock", id="counted", lockCookie=mine[-1]).status == 0
            return mine

        taken = at_once([lambda c=c: count(c) for c in clients])
    assert sorted(n for each in taken for n in each) == list(range(2, 38))


def test_a_quota_is_never_passed_together(three):
    with contextlib.ExitStack() as stack:
        clients = [opened(stack, three[i % 3], "Translation") for i in range(6)]
        partition = uuid.uuid4()

        def add(i):
            result = clients[i].call("proc_AddJob", JobId=1000 + i, UserId="u", UserToken=b"\x01", PartitionId=partition, Settings="<s/>", Name="n",
                                     ItemCount=4, MaxItemsPerDay=1000, MaxItemsPerPartitionPerDay=10)
            return result.error is None and result.status == 0

        assert sum(at_once([lambda i=i: add(i) for i in range(6)])) == 2        # 4 + 4, and no third four


def test_an_open_transaction_holds_up_writers_of_other_servers(three):
    with contextlib.ExitStack() as stack:
        a, b = opened(stack, three[0], path="wire"), opened(stack, three[1], path="wire")
        a.batch("BEGIN TRAN EXEC proc_AddItem 'held', 0x01, 20")
        b.batch("SET LOCK_TIMEOUT 300")
        assert b.batch("EXEC proc_AddItem 'other', 0x01, 20").error == 1222
        a.batch("ROLLBACK")
        assert b.batch("EXEC proc_AddItem 'other', 0x01, 20").error is None
        assert b.batch("EXEC proc_AddItem 'held', 0x01, 20").error is None      # nothing of the first one is there


def test_a_login_and_its_rights_count_on_all_servers_within_a_second(three):
    with contextlib.ExitStack() as stack:
        admin = opened(stack, three[0], path="wire")
        assert admin.batch("EXEC procession_login_add 'everywhere', 'Procession-2'").error is None
        assert admin.batch("EXEC procession_grant 'everywhere', 'StateService', 'execute'").error is None
        elsewhere = opened(stack, three[1], path="wire", user="everywhere", password="Procession-2")
        assert elsewhere.batch("EXEC proc_AddItem 'mine', 0x01, 20").error is None
        assert admin.batch("EXEC procession_grant 'everywhere', 'StateService', 'none'").error is None
        time.sleep(1)
        with pytest.raises(Exception):
            again = opened(stack, three[1], path="wire", user="everywhere", password="Procession-2")
            assert again.batch("EXEC proc_AddItem 'mine2', 0x01, 20").error is None


def test_calls_wait_for_a_restart_of_postgres(pg):
    with servers(pg, 1) as (server,), open_path("pytds", server, DATABASE) as db:
        assert db.call("proc_AddItem", id="kept", item=b"x", timeout=20).status == 0
        pg.stop("immediate")
        timer = threading.Timer(1.5, pg.start)
        timer.start()
        assert db.call("proc_GetItemWithLock", id="kept").out["item"] == b"x"
        timer.join()
        assert db.call("proc_AddItem", id="more", item=b"x", timeout=20).status == 0


def test_a_server_that_finds_nobody_says_so(pg, tmp_path):
    with pytest.raises(ServerFailed, match="PostgreSQL cannot be used"):
        Server(settings={"engine": "postgres", "postgres": f"host={tmp_path} dbname=none", "failover_timeout": 1}).start()


def test_a_call_that_waits_too_long_is_told(pg):
    with servers(pg, 1, failover_timeout=1) as (server,), open_path("pytds", server, DATABASE) as db:
        pg.stop("immediate")
        try:
            assert db.call("proc_AddItem", id="late", item=b"x", timeout=20).error == 50013
        finally:
            pg.start()
        assert db.call("proc_AddItem", id="late", item=b"x", timeout=20).status == 0


def test_more_columns_than_postgres_returns_are_refused(three):
    with contextlib.ExitStack() as stack:
        db = opened(stack, three[0], path="wire")
        told = db.batch("SELECT " + ", ".join(["name"] * 1665) + " FROM sys.objects")
        assert told.error == 1056 and "1664" in told.errors[0][2], told
        assert len(db.batch("SELECT " + ", ".join(["1"] * 1664) + " FROM dbo.Items WHERE Id = 'none'").columns) == 1664


def test_a_newer_schema_is_refused(pg):
    with servers(pg, 1) as (server,):
        conninfo = server.settings["postgres"]
        name = conninfo.rpartition("=")[2]
        server.stop()
        with contextlib.closing(pg.connect(name)) as connection:
            connection.cursor().execute("UPDATE procession_system.store SET version = version + 1")
        with pytest.raises(ServerFailed, match="newer program"):
            server.start()
        with contextlib.closing(pg.connect(name)) as connection:
            connection.cursor().execute("UPDATE procession_system.store SET version = version - 1")
        server.start()
