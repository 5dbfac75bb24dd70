"""Time: expiration, lock age, year ends, leap days, the sweep and the execution time-out. The clock of the server is set by the test."""
import datetime
import time

import pytest
from stateview import ABSENT, add, lock, peek, view

from support.calls import open_path
from support.clock import ClockServer
from support.proves import proves
from support.server import Server
from support.store import long_on_postgres

TICK = datetime.timedelta(microseconds=3334)


@pytest.fixture(scope="module")
def clock():
    made = ClockServer(settings={"sweep_interval": 0})
    with made:
        yield made


@pytest.fixture
def db(clock, request):
    """Begins at the moment that the test has as its start."""
    database = clock.empty_database(getattr(request.node, "callspec", None) and request.node.callspec.params.get("start") or "2025-06-15 12:00:00")
    with open_path("wire", clock, database, "StateService") as path:
        path.call("proc_DeleteExpiredItems")
        yield path


def expired_gone(db, key):
    """Whether proc_DeleteExpiredItems removes the item now; looks at the view, so that nothing is renewed."""
    assert db.call("proc_DeleteExpiredItems").status == 0
    return view(db, key) is None


@proves("STATE-Model-02", "STATE-Model-03", "STATE-DeleteExpiredItems-02", "STATE-DeleteExpiredItems-03")
@pytest.mark.parametrize("start", ("2025-06-15 12:00:00", "2025-12-31 23:59:30", "2024-02-28 23:59:30", "2024-02-29 23:59:59.997", "2025-02-28 23:59:30",
                                   "2000-02-28 23:59:30", "1999-12-31 23:59:59.500", "2038-01-19 03:13:50", "2100-02-28 23:59:30"))
def test_an_item_lives_exactly_its_time_out(clock, db, key, start):
    add(db, key, timeout=1)
    expires = view(db, key)[4]
    assert abs(expires - (clock.now + datetime.timedelta(minutes=1))) <= TICK
    clock.advance(seconds=59.99)
    assert not expired_gone(db, key)
    clock.advance(seconds=0.01)
    assert not expired_gone(db, key)         # expired means: the time has passed
    clock.advance(seconds=0.01)
    assert expired_gone(db, key)


@proves("STATE-Model-02", "STATE-Model-03", "STATE-DeleteExpiredItems-02", "STATE-DeleteExpiredItems-03", "STATE-UpdateItem-05")
@pytest.mark.parametrize("minutes", (20, 1440, 525600))
def test_a_long_time_out_ends_to_the_tick(clock, db, key, minutes):
    """Nobody looks at an item before its minute: neither when it was added, nor when it was given another time-out, much shorter than it had or a little."""
    for more in (0, 5, 2 * minutes):
        add(db, key, timeout=minutes + more)
        if more:
            assert db.call("proc_UpdateItem", id=key, item=b"x", timeout=minutes, lockCookie=view(db, key)[1]).status == 0
        clock.advance(minutes=minutes)
        assert not expired_gone(db, key)
        clock.advance(seconds=0.01)
        assert expired_gone(db, key)


@proves("STATE-Model-02")
def test_every_clock_reading_is_rounded_down_to_a_tick(clock, db, key):
    for i, (micro, milli) in enumerate(((0, 0), (3000, 0), (3400, 3), (6600, 3), (6700, 7), (9900, 7), (10000, 10), (999900, 997))):
        clock.set(datetime.datetime(2025, 6, 15, 12, 0, 0, micro))
        add(db, f"{key}{i}", timeout=1)
        assert view(db, f"{key}{i}")[4] == datetime.datetime(2025, 6, 15, 12, 1, 0, milli * 1000), micro


@proves("STATE-DeleteExpiredItems-02")
def test_locked_items_expire_too(clock, db, key):
    add(db, key, timeout=1)
    lock(db, key)
    clock.advance(seconds=61)
    assert expired_gone(db, key)


@proves("STATE-Model-04", "STATE-AddItem-05", "STATE-GetItemWithLock-14", "STATE-GetItemWithoutLock-16", "STATE-Model-11")
@pytest.mark.parametrize("get", (peek, lock))
def test_an_expired_item_is_there_and_a_get_revives_it(clock, db, key, get):
    add(db, key, b"still here", timeout=1)
    clock.advance(minutes=5)
    assert db.call("proc_AddItem", id=key, item=b"x", timeout=1).error == 2627
    assert view(db, key) is not None                                # the sweep is off
    assert get(db, key)[0] == b"still here"
    assert view(db, key)[4] == clock.now + datetime.timedelta(minutes=1)
    assert not expired_gone(db, key)
    clock.advance(seconds=61)
    assert expired_gone(db, key)


@proves("STATE-GetItemWithLock-14", "STATE-GetItemWithoutLock-16", "STATE-RefreshItemExpiration-02")
@pytest.mark.parametrize("renew", ("proc_GetItemWithLock", "proc_GetItemWithoutLock", "proc_RefreshItemExpiration"))
@pytest.mark.parametrize("locked", (False, True))
def test_what_renews_the_expiration(clock, db, key, renew, locked):
    add(db, key, timeout=10)
    if locked:
        lock(db, key)
    for _ in range(3):
        clock.advance(minutes=9)
        assert db.call(renew, id=key).status == 0
        assert view(db, key)[4] == clock.now + datetime.timedelta(minutes=10)
        assert not expired_gone(db, key)
    clock.advance(minutes=10, seconds=1)
    assert expired_gone(db, key)


@proves("STATE-GetItemWithLock-14", "STATE-GetItemWithoutLock-16", "STATE-RefreshItemExpiration-02")
@pytest.mark.parametrize("renew", ("proc_GetItemWithLock", "proc_GetItemWithoutLock", "proc_RefreshItemExpiration"))
def test_nobody_else_is_renewed(clock, db, key, renew):
    for name in "abc":
        add(db, key + name, timeout=10)
    clock.advance(minutes=5)
    others = [view(db, key + name) for name in "ac"]
    assert db.call(renew, id=key + "b").status == 0
    assert view(db, key + "b")[4] == clock.now + datetime.timedelta(minutes=10) and [view(db, key + name) for name in "ac"] == others


@proves("STATE-ReleaseItemLock-03", "STATE-ReleaseItemLock-05", "STATE-UpdateItem-06")
def test_release_renews_with_the_cookie_only(clock, db, key):
    add(db, key + "a", timeout=10)
    add(db, key + "b", timeout=10)
    lock(db, key + "a")
    lock(db, key + "b")
    clock.advance(minutes=6)
    before = view(db, key + "b")
    assert db.call("proc_ReleaseItemLock", id=key + "a", lockCookie=2).status == 0
    db.call("proc_ReleaseItemLock", id=key + "b", lockCookie=7)
    db.call("proc_ReleaseItemLock", id=key + "b", lockCookie=None)
    db.call("proc_UpdateItem", id=key + "b", item=b"x", timeout=99, lockCookie=7)
    assert view(db, key + "b") == before
    clock.advance(minutes=4, seconds=1)
    assert expired_gone(db, key + "b")
    assert view(db, key + "a") is not None
    clock.advance(minutes=5)
    db.call("proc_ReleaseItemLock", id=key + "a", lockCookie=2)             # nobody holds it: renewed all the same
    assert view(db, key + "a")[4] == clock.now + datetime.timedelta(minutes=10)


@proves("STATE-UpdateItem-05")
def test_update_gives_the_new_time_out(clock, db, key):
    add(db, key, timeout=60)
    assert lock(db, key)[3] == 2
    clock.advance(seconds=30)
    db.call("proc_UpdateItem", id=key, item=b"x", timeout=1, lockCookie=2)
    assert view(db, key)[3:5] == (1, clock.now + datetime.timedelta(minutes=1))
    clock.advance(seconds=30)
    peek(db, key)
    assert view(db, key)[4] == clock.now + datetime.timedelta(minutes=1)    # later renewals use the new value
    clock.advance(seconds=61)
    assert expired_gone(db, key)


@proves("STATE-UpdateItem-03", "STATE-UpdateItem-05")
@pytest.mark.parametrize("timeout", (1, 10, 99))
def test_an_update_is_about_one_item(clock, db, key, timeout):
    """Whether it expires sooner or later than before."""
    for name in "abc":
        add(db, key + name, name.encode(), timeout=10)
        lock(db, key + name)
    clock.advance(minutes=3)
    others = [view(db, key + name) for name in "ac"]
    assert db.call("proc_UpdateItem", id=key + "b", item=b"new", timeout=timeout, lockCookie=2).status == 0
    assert [view(db, key + name) for name in "ac"] == others and not view(db, key + "b")[0]
    assert view(db, key + "b")[3:5] == (timeout, clock.now + datetime.timedelta(minutes=timeout))
    for name, item in (("a", b"a"), ("b", b"new"), ("c", b"c")):
        db.call("proc_ReleaseItemLock", id=key + name, lockCookie=2)
        assert peek(db, key + name) == (item, False, 0, 2)


@proves("STATE-Model-08", "STATE-GetItemWithLock-12", "STATE-GetItemWithoutLock-13", "STATE-GetItemWithLock-10")
@pytest.mark.parametrize("start", ("2025-06-15 12:00:00.900", "2024-02-28 23:59:58.900", "2024-12-31 23:59:59.900", "2026-03-29 00:59:59.900"))
def test_lock_age_counts_whole_seconds(clock, db, key, start):
    add(db, key, timeout=100000)
    lock(db, key)
    assert peek(db, key)[2] == 0
    clock.advance(seconds=0.2)
    assert peek(db, key)[2] == 1 and lock(db, key)[2] == 1        # DATEDIFF(second): boundaries
    clock.advance(seconds=2.8)
    assert lock(db, key) == (None, True, 3, 2)
    assert peek(db, key) == (None, True, 3, 2)                    # others' attempts do not restart it
    clock.advance(days=1)
    assert peek(db, key)[2] == 86403
    db.call("proc_ReleaseItemLock", id=key, lockCookie=2)
    assert peek(db, key)[2] == 0
    clock.advance(seconds=100)
    assert lock(db, key) == (b"data", False, 0, 3)
    clock.advance(seconds=5)
    assert peek(db, key)[2] == 5


@proves("STATE-Model-08")
def test_lock_age_is_never_negative(clock, db, key):
    add(db, key)
    lock(db, key)
    clock.advance(hours=-1)
    assert peek(db, key)[2] == 0 and lock(db, key)[2] == 0


@pytest.fixture
def filled(tmp_path):
    """filled(**settings): a server with 3000 items that have just expired and 1000 that have not; made with the real clock, which is quicker."""
    made = []

    def make(**settings):
        with Server(data=tmp_path / "data") as real, open_path("wire", real, "StateService") as db:
            begun = datetime.datetime.utcnow()
            for part in range(4):
                text = "".join(f"EXEC proc_AddItem 'f-{i}', 0x{i:04x}, {1 if i % 4 else 1000}\n" for i in range(part * 1000, part * 1000 + 1000))
                assert db.batch("BEGIN TRAN\n" + text + "COMMIT").error is None
            lock(db, "f-1")
        made.append(ClockServer(data=tmp_path / "data", start=begun + datetime.timedelta(minutes=10), settings=settings).start())
        return made[-1]

    yield make
    for each in made:
        each.stop()
        each.remove()


COUNT = "SELECT COUNT(*) FROM dbo.Items"


@proves("STATE-DeleteExpiredItems-02", "STATE-DeleteExpiredItems-03", "STATE-Model-11")
@long_on_postgres("thousands of calls, one by one")
def test_thousands_of_expired_items(filled):
    clock = filled(sweep_interval=0)
    with open_path("wire", clock, "StateService") as db:
        time.sleep(1.2)
        assert db.batch(COUNT).rows == [(4000,)]                    # with the sweep off nothing goes by itself
        assert db.call("proc_DeleteExpiredItems").status == 0
        assert db.batch(COUNT).rows == [(1000,)]
        assert peek(db, "f-4")[0] == b"\0\4" and peek(db, "f-1") == ABSENT
        clock.advance(days=3)
        db.call("proc_DeleteExpiredItems")
        assert db.batch(COUNT).rows == [(0,)]


@proves("STATE-Model-11")
@long_on_postgres("thousands of calls, one by one")
def test_the_sweep_deletes_the_expired_and_only_these(filled):
    clock = filled(sweep_interval=1)
    with open_path("wire", clock, "StateService") as db:
        deadline = time.monotonic() + 15
        while db.batch(COUNT).rows != [(1000,)]:
            assert time.monotonic() < deadline, db.batch(COUNT).rows
            time.sleep(0.1)
        assert db.batch("SELECT COUNT(*), MIN(TimeoutMinutes) FROM dbo.Items").rows == [(1000, 1000)]
        time.sleep(1.5)
        assert db.batch(COUNT).rows == [(1000,)]
        assert peek(db, "f-4")[0] == b"\0\4"
