"""The sweep's own column: a minute that is never after the expiration. Renewing an item leaves it alone; the sweep, or proc_DeleteExpiredItems, moves it on.

The column is looked at in the store, beside the running server.
"""
import contextlib
import datetime
import pathlib
import shutil
import sqlite3
import time

import pytest
from stateview import ABSENT, add, lock, peek, view

from support.calls import open_path
from support.clock import ClockServer
from support.proves import proves
from support.server import Server
from support.store import long_on_postgres, sqlite_only, stored

MINUTE = 18000                  # ticks
COUNT = "SELECT COUNT(*) FROM dbo.Items"


@pytest.fixture(scope="module")
def clock():
    with ClockServer(settings={"sweep_interval": 0}) as made:
        yield made


@pytest.fixture
def db(clock):
    database = clock.empty_database("2025-06-15 12:00:00")
    with open_path("wire", clock, database, "StateService") as path:
        path.call("proc_DeleteExpiredItems")
        yield path


def rows(server, sql):
    with stored(server, server.database) as tables:
        return tables.rows(sql)


def minutes(server, key):
    """(sweep, expires) of an item in minutes."""
    return rows(server, f"SELECT sweep, expires / {MINUTE} FROM item WHERE id = '{key}'")[0]


def bodies(server, key=None):
    """How many bodies in the store are those of an item, or nobody's."""
    return rows(server, "SELECT count(*) FROM body WHERE n " + ("NOT IN (SELECT n FROM item)" if key is None else f"= (SELECT n FROM item WHERE id = '{key}')"))[0][0]


def clean(db):
    assert db.call("proc_DeleteExpiredItems").status == 0


@proves("STATE-DeleteExpiredItems-02", "STATE-DeleteExpiredItems-03")
@pytest.mark.parametrize("renew", ("proc_GetItemWithoutLock", "proc_RefreshItemExpiration", "proc_GetItemWithLock"))
def test_an_item_that_is_renewed_again_and_again_stays(clock, db, key, renew):
    add(db, key, timeout=10)
    moved = {minutes(clock, key)[0]}
    for _ in range(8):
        clock.advance(minutes=4)
        before = minutes(clock, key)[0]
        assert db.call(renew, id=key).status == 0
        sweep, expires = minutes(clock, key)
        assert sweep == before <= expires               # renewing leaves the index of the sweep alone
        clean(db)
        assert view(db, key) is not None
        sweep, expires = minutes(clock, key)
        assert sweep <= expires
        moved.add(sweep)
    assert len(moved) > 2, "the sweep would look at the same item again and again"
    clock.advance(minutes=10)
    clean(db)
    assert view(db, key) is not None and bodies(clock, key) == 1
    clock.advance(seconds=1)
    clean(db)
    assert view(db, key) is None and bodies(clock) == 0


@proves("STATE-UpdateItem-05")
@pytest.mark.parametrize("renewed", (False, True))
def test_a_shorter_time_out_is_seen_in_time(clock, db, key, renewed):
    add(db, key, timeout=1000)
    if renewed:                                         # and has been moved on by a sweep
        clock.advance(minutes=999)
        peek(db, key)
        clock.advance(minutes=2)
        clean(db)
    assert lock(db, key)[3] == 2
    with stored(clock, clock.database) as tables:       # the cookie is no time, however high it is
        assert tables.run("UPDATE item SET cookie = 100000 WHERE id = ?", key) == 1
    assert db.call("proc_UpdateItem", id=key, item=b"x", timeout=1, lockCookie=100000).status == 0
    clock.advance(minutes=1)
    clean(db)
    assert view(db, key) is not None
    clock.advance(seconds=0.01)
    clean(db)
    assert view(db, key) is None


@proves("STATE-UpdateItem-05")
def test_a_longer_time_out_counts(clock, db, key):
    add(db, key, timeout=1)
    assert lock(db, key)[3] == 2
    assert db.call("proc_UpdateItem", id=key, item=b"x", timeout=100, lockCookie=2).status == 0
    clock.advance(minutes=99)
    clean(db)
    assert view(db, key) is not None
    clock.advance(minutes=2)
    clean(db)
    assert view(db, key) is None


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@proves("STATE-Model-11")
@long_on_postgres("thousands of calls, one by one")
def test_thousands_of_expired_and_of_renewed_items(tmp_path):
    """More than one step of the sweep (some 200 items) of either kind. Made with the real clock, which is quicker."""
    data = tmp_path / "data"
    begun = datetime.datetime.utcnow()

    def run(db, text, keys, around="{}"):
        assert db.batch(around.format("".join(text.format(i) for i in keys))).error is None

    with Server(data=data) as real, open_path("wire", real, "StateService") as db:
        for part in range(6):
            run(db, "EXEC proc_AddItem 'i-{0}', 0x01, 60\n", range(part * 1000, part * 1000 + 1000), "BEGIN TRAN\n{}COMMIT")
    with ClockServer(data=data, start=begun + datetime.timedelta(minutes=50), settings={"sweep_interval": 0}) as clock, \
            open_path("wire", clock, "StateService") as db:
        for part in range(3):
            run(db, "EXEC proc_RefreshItemExpiration 'i-{0}'\n", range(part * 2000, part * 2000 + 2000, 2))
    with ClockServer(data=data, start=begun + datetime.timedelta(minutes=80), settings={"sweep_interval": 1}) as clock, \
            open_path("wire", clock, "StateService") as db:
        wait_for(lambda: db.batch(COUNT).rows == [(3000,)])
        assert rows(clock, "SELECT count(*) FROM item WHERE CAST(substr(id, 3) AS integer) % 2 <> 0") == [(0,)]
        wait_for(lambda: rows(clock, f"SELECT count(*) FROM item WHERE sweep <> expires / {MINUTE}") == [(0,)])      # moved on, all of them
        assert peek(db, "i-0")[0] == b"\1" and peek(db, "i-1") == ABSENT
        assert rows(clock, "SELECT count(*) FROM body") == [(3000,)]
        clock.advance(minutes=40)                       # all but the one that has just been renewed
        wait_for(lambda: db.batch(COUNT).rows == [(1,)])
        assert view(db, "i-0") is not None
        assert rows(clock, "SELECT count(*) FROM body") == [(1,)]


@pytest.fixture
def old_file(tmp_path):
    """old_file(sql): a data folder with items, whose file was then changed by hand; gives a server on it."""
    made = []

    def make(sql):
        data = tmp_path / "data"
        with ClockServer(data=data) as clock, open_path("wire", clock, "StateService") as db:
            add(db, "free", b"one", timeout=10)
            add(db, "held", b"two", timeout=10)
            assert lock(db, "held")[3] == 2
        with contextlib.closing(sqlite3.connect(data / "StateService.db")) as file:
            file.executescript(sql)
        made.append(ClockServer(data=data, settings={"sweep_interval": 0}).start())
        return made[-1]

    yield make
    for each in made:
        each.stop()
        each.remove()
    shutil.rmtree(tmp_path / "data", ignore_errors=True)


OLD_ROWS = f"UPDATE item SET sweep = expires / {MINUTE}; UPDATE item SET lock_time = NULL WHERE locked = 0;"
# What later migrations made is taken away, each with what depends on it.
SCHEMA_4 = "DROP VIEW items; DROP VIEW view_items; ALTER TABLE item DROP COLUMN bytes; PRAGMA user_version = 4;"
SCHEMA_3 = SCHEMA_4 + "DROP VIEW damaged; ALTER TABLE item DROP COLUMN sum; PRAGMA user_version = 3;"
SCHEMA_2 = SCHEMA_3 + "DROP TABLE gone; DROP TABLE forgotten; PRAGMA user_version = 2;"
SCHEMA_1 = SCHEMA_2 + "DROP TABLE promise; PRAGMA user_version = 1;"
NEWEST = (pathlib.Path(__file__).resolve().parents[3] / "procedures/state/schema.sql").read_text(encoding="utf-8").count("-- MIGRATION")


@sqlite_only("there are no databases of such early versions in PostgreSQL")
@pytest.mark.parametrize("sql", (OLD_ROWS, OLD_ROWS + SCHEMA_4, OLD_ROWS + SCHEMA_3, OLD_ROWS + SCHEMA_2, OLD_ROWS + SCHEMA_1), ids=("rows", "schema 4", "schema 3", "schema 2", "schema 1"))
def test_files_of_an_earlier_version_work_on(old_file, sql):
    clock = old_file(sql)
    with open_path("wire", clock, "StateService") as db:
        assert view(db, "free")[:4] == (False, 1, None, 10)
        assert view(db, "held")[:2] == (True, 2)
        assert peek(db, "free") == (b"one", False, 0, 1)
        clock.advance(minutes=9)
        assert peek(db, "held") == (None, True, 540, 2)
        assert lock(db, "free") == (b"one", False, 0, 2)
        clock.advance(seconds=5)
        assert peek(db, "free") == (None, True, 5, 2)
        assert db.call("proc_UpdateItem", id="free", item=b"new", timeout=20, lockCookie=2).status == 0
        assert db.call("proc_ReleaseItemLock", id="held", lockCookie=2).status == 0
        clock.advance(minutes=9)
        clean(db)
        assert peek(db, "free")[0] == b"new" and peek(db, "held")[0] == b"two"
        clock.advance(minutes=15)
        clean(db)
        assert peek(db, "free")[0] == b"new" and peek(db, "held") == ABSENT
        assert db.batch("EXEC procession_database_check 'StateService'").rows[0][1].strip() == "ok"
    assert rows(clock, "PRAGMA user_version") == [(NEWEST,)]
    assert rows(clock, "SELECT until, lost FROM promise")[0][1] == 0


@proves("STATE-Model-12")
@sqlite_only("there are no databases of such early versions in PostgreSQL")
@pytest.mark.parametrize("free, following", ((1, 2), (2147483647, 1)))
def test_a_file_of_an_earlier_version_gives_no_cookie_that_it_may_have_given(old_file, free, following):
    """Which items went before is not known: what is added starts above all that are there, but for the highest that there can be."""
    with open_path("wire", old_file(f"UPDATE item SET cookie = {free} WHERE id = 'free';" + SCHEMA_2), "StateService") as db:
        add(db, "new")
        assert lock(db, "new")[3] == 4
        assert lock(db, "free")[3] == following


@proves("STATE-Model-12", "STATE-Model-07")
@pytest.mark.parametrize("seconds", (60.5, 180))
def test_cookies_go_on_after_an_expiration(clock, db, key, seconds):
    """By proc_DeleteExpiredItems, in the minute of the expiration and later, and whatever else was added and went meanwhile."""
    add(db, key, timeout=1)
    assert lock(db, key)[3] == 2
    clock.advance(seconds=seconds)
    clean(db)
    assert view(db, key) is None and bodies(clock) == 0
    add(db, key, timeout=1)
    assert lock(db, key)[3] == 4
    assert db.call("proc_UpdateItem", id=key, item=b"old", timeout=1, lockCookie=2).status == 0
    assert peek(db, key)[:2] == (None, True)
    clock.advance(seconds=seconds)
    clean(db)                               # a second time: what was noted of the first is written over
    add(db, key)
    assert lock(db, key)[3] == 6


@proves("STATE-Model-12")
def test_more_than_can_be_kept(key):
    """When too many went, identifiers that were never used start above all of them."""
    with ClockServer("2025-06-15 12:00:00", settings={"sweep_interval": 0}) as clock, open_path("wire", clock, "StateService") as db:
        add(db, key)
        for cookie in (2, 3, 4, 5):
            assert lock(db, key)[3] == cookie
            db.call("proc_ReleaseItemLock", id=key, lockCookie=cookie)
        db.call("proc_DeleteItem", id=key, lockCookie=5)
        with stored(clock, "StateService") as tables:
            tables.run_many("INSERT INTO gone (id, cookie) VALUES (?, 1)", [(f"{key}-{i}",) for i in range(9_999)])
        add(db, key + "-last", timeout=1)
        clock.advance(minutes=3)
        clean(db)
        assert rows(clock, "SELECT count(*) FROM gone") == [(0,)]
        for name in (key, key + "-7", key + "-new"):
            add(db, name)
            assert lock(db, name)[3] == 7


@proves("STATE-Model-12")
def test_more_than_can_be_kept_at_once(key):
    """Many (10,001) that expire together are forgotten together: whatever comes starts above the highest of them. Before that, what is new starts at 1."""
    with ClockServer("2025-06-15 12:00:00", settings={"sweep_interval": 0}) as server, open_path("wire", server, "StateService") as db:
        add(db, key, timeout=1)
        with stored(server, "StateService") as tables:
            tables.run("UPDATE item SET cookie = 20000 WHERE id = ?", key)
        server.advance(minutes=3)
        assert db.call("proc_DeleteExpiredItems").status == 0 and view(db, key) is None
        add(db, key, timeout=1)
        add(db, key + "-other", timeout=1)
        assert (peek(db, key)[3], peek(db, key + "-other")[3]) == (20001, 1)
        # After the highest cookie that there is, counting begins anew, and goes on from there.
        for turn, (highest, following) in enumerate(((20001, 20002), (8, 20002), (2147483647, 1), (8, 9))):
            with stored(server, "StateService") as tables:
                tables.run("UPDATE item SET cookie = ? WHERE id = ?", highest, key)
                tables.run("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 10000) "
                             "INSERT INTO item (id, cookie, locked, lock_time, timeout, expires, sweep) "
                             "SELECT id || ? || i, 1 + i % 7, 0, lock_time, timeout, expires, sweep FROM item, c WHERE id = ?", f"-{turn}-", key)
            server.advance(minutes=3)
            assert db.call("proc_DeleteExpiredItems").status == 0
            for name, timeout in ((key, 1), (f"{key}-{turn}-1", 60), (f"{key}-new{turn}", 60)):
                assert view(db, name) is None
                add(db, name, timeout=timeout)
                assert peek(db, name)[3] == following


@proves("STATE-Model-12")
def test_more_than_can_be_kept_of_deleted_items(key):
    """What proc_DeleteItem notes has the same bound: beyond it all start above the highest."""
    with ClockServer("2025-06-15 12:00:00", settings={"sweep_interval": 0}) as server, open_path("wire", server, "StateService") as db:
        add(db, key)
        with stored(server, "StateService") as tables:
            tables.run_many("INSERT INTO gone (id, cookie) VALUES (?, ?)", [(f"{key}-{i}", 1 + i % 7) for i in range(1, 10_001)])
        assert db.call("proc_DeleteItem", id=key, lockCookie=1).status == 0
        assert rows(server, "SELECT count(*) FROM gone") == [(0,)]
        for name in (key, key + "-3", key + "-new"):
            add(db, name)
            assert peek(db, name)[3] == 8
        # What is highest never goes down; after the highest cookie that there is, counting begins anew, and goes on from there.
        for turn, (highest, following) in enumerate(((3, 8), (2147483647, 1), (8, 9))):
            with stored(server, "StateService") as tables:
                tables.run("UPDATE item SET cookie = 2 WHERE id = ?", key)
                tables.run_many("INSERT INTO gone (id, cookie) VALUES (?, ?)",
                                [(f"{key}-{turn}-{i}", highest if i == 5 else 1) for i in range(1, 10_001)])
                # It is looked only with each thousandth number, and PostgreSQL's numbers go on where SQLite's begin anew.
                missing = -tables.rows("SELECT max(n) FROM gone")[0][0] % 1000
                tables.run_many("INSERT INTO gone (id, cookie) VALUES (?, 1)", [(f"{key}-{turn}-more{i}",) for i in range(missing)])
            assert db.call("proc_DeleteItem", id=key, lockCookie=2).status == 0
            assert rows(server, "SELECT count(*) FROM gone") == [(0,)]
            for name in (key, f"{key}-{turn}-1", f"{key}-new{turn}"):
                add(db, name)
                assert peek(db, name)[3] == following


@proves("STATE-Model-12")
def test_the_sweep_of_the_server_keeps_the_cookies_too(key):
    with ClockServer("2025-06-15 12:00:00", settings={"sweep_interval": 1}) as server, open_path("wire", server, "StateService") as db:
        add(db, key, timeout=1)
        assert lock(db, key)[3] == 2
        server.advance(minutes=3)
        until = time.monotonic() + 20
        while view(db, key) is not None:
            assert time.monotonic() < until
            time.sleep(0.1)
        add(db, key)
        assert peek(db, key)[3] == 3


def ticks(moment):
    return round((moment - datetime.datetime(1900, 1, 1)).total_seconds() * 300)


@proves("STATE-Model-11")
@sqlite_only("looks at the promise in the file; that of PostgreSQL is in tests/postgres/test_renewals.py")
def test_after_a_crash_items_live_as_long_as_lost_renewals_would_have_let_them(tmp_path, key):
    """docs/durability.md: for two minutes at a time renewals may be answered before they are on the disk; after a crash none that was answered then is cut short."""
    noon = datetime.datetime(2025, 6, 15, 12)

    def at(**later):
        return noon + datetime.timedelta(**later)

    def promise(server):
        return rows(server, "SELECT until, lost FROM promise")[0]

    def started(moment):
        return ClockServer(moment, data=tmp_path / "data", settings={"sweep_interval": 0})
    with started(noon) as server:
        with open_path("wire", server, "StateService") as db:
            add(db, key, timeout=10)
            for seconds, until in ((0, 120), (119, 120), (120, 240)):
                server.set(at(seconds=seconds))
                peek(db, key)
                assert promise(server) == (ticks(at(seconds=until)), 0)
        server.kill()
    with started(at(minutes=5)) as server:
        assert promise(server) == (0, ticks(at(minutes=4)))
        with open_path("wire", server, "StateService") as db:
            add(db, key + "-other", timeout=1)
            peek(db, key + "-other")
            assert promise(server) == (ticks(at(minutes=7)), ticks(at(minutes=4)))
    with started(at(minutes=14)) as server, open_path("wire", server, "StateService") as db:     # it was stopped: nothing more is lost, and nothing less
        assert promise(server) == (0, ticks(at(minutes=4)))
        clean(db)
        assert view(db, key) is not None and view(db, key + "-other") is None
        assert bodies(server, key) == 1 and bodies(server) == 0         # its data stays with it
        server.advance(seconds=0.01)
        clean(db)
        assert view(db, key) is None


@pytest.mark.parametrize("proc", ("proc_GetItemWithLock", "proc_GetItemWithoutLock"))
@pytest.mark.parametrize("size", (10, 200_000), ids=("short", "long"))
def test_data_that_is_not_what_was_stored_is_never_answered(clock, db, key, size, proc):
    """Short data is read with its item, long data apart from it: both are compared with their checksums."""
    add(db, key, b"x" * size)
    with stored(clock, clock.database) as tables:
        assert tables.run("UPDATE body SET data = ? WHERE n = (SELECT n FROM item WHERE id = ?)", b"y" * size, key) == 1
    result = db.call(proc, id=key)
    assert result.error == 824 and result.out.get("item") is None
    assert view(db, key)[0] is False
