"""The sweep of the server itself (procession_clean), step by step: it comes to rest, and takes no more than has expired."""
import datetime
import time

import pytest
from stateview import ABSENT, add, lock, peek, view

from support.calls import open_path
from support.clock import ClockServer
from support.proves import proves
from support.store import long_on_postgres, sqlite_only, stored

MINUTE = 18000                  # ticks
NOON = datetime.datetime(2025, 6, 15, 12)

pytestmark = long_on_postgres("each has a server with a clock of its own")


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def number(db, name):
    """One of the server's own numbers, of StateService."""
    for row in db.batch("EXEC procession_stats").rows:
        if row[0] == name and row[1] == "StateService":
            return row[4]
    raise AssertionError(name)


def wait_for_rest(db):
    """A whole round of the sweep, and the end of it: it does not go on and on without finding anything."""
    begun = number(db, "procession_cleanup_steps_total")
    wait_for(lambda: number(db, "procession_cleanup_steps_total") > begun + 1 and number(db, "procession_cleanup_pending") == 0)


def rows(server, sql):
    with stored(server, "StateService") as tables:
        return tables.rows(sql)


@pytest.fixture
def server(request):
    """It sweeps every second, or as seldom as the test says."""
    with ClockServer(NOON, settings={"sweep_interval": getattr(request, "param", 1)}) as made:
        yield made


def test_nothing_to_do_is_the_end_of_it(server, key):
    with open_path("wire", server, "StateService") as db:
        wait_for_rest(db)
        add(db, key, timeout=1)
        wait_for_rest(db)


def test_an_item_that_was_renewed_is_looked_at_once(server, key):
    """Its minute is over, it has not expired: it gets its new minute, and the sweep rests. The last one of a step as well as the first."""
    with open_path("wire", server, "StateService") as db:
        for name in (key, key + "-b"):
            add(db, name, timeout=3)
        server.advance(minutes=2)
        for name in (key, key + "-b"):
            assert db.call("proc_RefreshItemExpiration", id=name).status == 0
        server.advance(minutes=2)
        wait_for_rest(db)
        assert rows(server, f"SELECT count(*) FROM item WHERE sweep = expires / {MINUTE}") == [(2,)]


def test_what_the_sweep_removes_is_counted(server, key):
    """An item is a row and its data another one; what else changes for each of them is little. Nothing to do is nothing counted."""
    with open_path("wire", server, "StateService") as db:
        wait_for_rest(db)
        before = number(db, "procession_cleanup_rows_total")
        wait_for_rest(db)
        assert number(db, "procession_cleanup_rows_total") == before
        for n in range(10):
            add(db, f"{key}-{n}", timeout=1)
        server.advance(minutes=2)
        wait_for(lambda: number(db, "procession_cleanup_rows_total") >= before + 20)
        wait_for_rest(db)
        assert rows(server, "SELECT count(*) FROM item") == [(0,)]
        assert number(db, "procession_cleanup_rows_total") <= before + 100


MANY = 4000                     # far more than one step of the sweep takes


@pytest.fixture
def many(server, key):
    """Many items with their data, and then one more; all of this minute, and the many live half a second longer."""
    with open_path("wire", server, "StateService") as db:
        add(db, key + "-1", timeout=1)
        with stored(server, "StateService") as tables:
            tables.run("WITH RECURSIVE c(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM c WHERE i < ?) "
                       "INSERT INTO item (id, cookie, locked, lock_time, timeout, expires, sweep, sum, bytes) "
                       "SELECT ? || i, 1, 0, lock_time, timeout, expires, sweep, sum, bytes FROM item, c", MANY, key + "-")
            tables.run("INSERT INTO body (n, data) SELECT item.n, body.data FROM item, body WHERE item.n NOT IN (SELECT n FROM body)")
            assert tables.run("UPDATE item SET expires = expires + 150") == MANY
        add(db, key, timeout=1)
        yield db


SELDOM = pytest.mark.parametrize("server", [5], indirect=True, ids=["every 5 s"])


@SELDOM
def test_an_item_goes_in_the_minute_in_which_it_expires(server, many, key):
    """Half a second later; although many others of this minute were there before, whose time is over right now, but has not passed. When it has, they
    go in one round: with five seconds behind each step they would take 100."""
    server.advance(seconds=60.5)
    wait_for(lambda: view(many, key) is None)
    wait_for_rest(many)
    assert rows(server, "SELECT count(*), min(sweep) - max(sweep) FROM item JOIN body ON body.n = item.n") == [(MANY, 0)]
    assert rows(server, "SELECT count(*) FROM body") == [(MANY,)]
    server.advance(seconds=0.01)
    wait_for(lambda: rows(server, "SELECT count(*) FROM item") == [(0,)])


@SELDOM
def test_who_reads_between_two_steps_finds_an_item_whole_or_not_at_all(server, many, key):
    """Some of those that are swept last are read meanwhile, and live on. All steps are of one round: with five seconds behind each they would take 90."""
    server.advance(seconds=61)
    wait_for(lambda: rows(server, "SELECT count(*) FROM item")[0][0] < MANY)
    read = 0
    for i in range(MANY, MANY - 400, -1):
        found = peek(many, f"{key}-{i}")
        if found == ABSENT:
            break
        assert found == (b"data", False, 0, 1)
        read += 1
    wait_for(lambda: rows(server, "SELECT count(*) FROM item") == [(read,)])
    wait_for_rest(many)
    assert rows(server, "SELECT count(*) FROM item JOIN body ON body.n = item.n") == [(read,)] == rows(server, "SELECT count(*) FROM body")


@proves("STATE-Model-12")
def test_minute_by_minute_no_cookie_is_forgotten(server, key):
    """The first that was added expires last: the step that removes the others leaves it alone, until its own cookie is noted."""
    with open_path("wire", server, "StateService") as db:
        add(db, key, timeout=2)
        assert lock(db, key)[3] == 2
        add(db, key + "-b", timeout=1)
        server.advance(minutes=5)
        wait_for(lambda: view(db, key) is None and view(db, key + "-b") is None)
        assert rows(server, "SELECT count(*) FROM body") == [(0,)]
        add(db, key)
        assert peek(db, key)[3] == 3


@proves("STATE-Model-12")
def test_more_than_can_be_kept(server, key):
    """As with proc_DeleteExpiredItems: beyond 10,000 all start above the highest, which never goes down; after the highest cookie that there is, counting begins anew, and goes on."""
    with open_path("wire", server, "StateService") as db:
        for turn, (highest, following) in enumerate(((20, 21), (8, 21), (2147483647, 1), (8, 9))):
            name = f"{key}-{turn}"
            add(db, name, timeout=1)
            with stored(server, "StateService") as tables:
                tables.run_many("INSERT INTO gone (id, cookie) VALUES (?, ?)", [(f"{name}-{i}", 1 + i % 7) for i in range(1, 10_001)])
                tables.run("UPDATE item SET cookie = ? WHERE id = ?", highest, name)
            server.advance(minutes=3)
            wait_for(lambda: view(db, name) is None)
            assert rows(server, "SELECT count(*) FROM gone") == [(0,)]
            for each in (name, name + "-3", name + "-new"):
                add(db, each, timeout=60)
                assert peek(db, each)[3] == following


@proves("STATE-Model-11")
@sqlite_only("looks at the promise in the file; that of PostgreSQL is in tests/postgres/test_renewals.py")
def test_after_a_crash_the_sweep_keeps_what_lost_renewals_would_have_kept(tmp_path, key):
    """With its data, whether it was the one that was renewed or not. The item is given the minute in which it may have expired, and the sweep rests until then."""
    def at(**later):
        return NOON + datetime.timedelta(**later)

    def started(moment):
        return ClockServer(moment, data=tmp_path / "data", settings={"sweep_interval": 1})
    with started(NOON) as server:
        with open_path("wire", server, "StateService") as db:
            for name in (key, key + "-b"):
                add(db, name, b"kept", timeout=10)
            server.set(at(minutes=2))
            peek(db, key)                       # until 12:12; the promise says until 12:14, for both
        server.kill()
    with started(at(minutes=13)) as server, open_path("wire", server, "StateService") as db:
        wait_for_rest(db)
        assert rows(server, "SELECT count(*) FROM item JOIN body ON body.n = item.n") == [(2,)]
        assert rows(server, f"SELECT sweep - (timeout + lost) / {MINUTE} FROM item, promise") == [(0,), (0,)]
        assert peek(db, key)[0] == b"kept" and peek(db, key + "-b")[0] == b"kept"
