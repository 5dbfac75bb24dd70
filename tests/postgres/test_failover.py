"""A primary with a synchronous standby: the primary is killed, the standby is promoted, and no client notices more than a pause.

Every lock of an item takes the next cookie; whoever has a lock must get it back by releasing it. So a call that was lost, or done twice,
shows: as a gap, as a cookie that comes twice, or as a lock that nobody has.
"""
import contextlib
import threading
import time

import pytest

from support import postgres
from support.calls import open_path
from support.server import Server, ServerFailed


@pytest.fixture
def pair():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres(settings={"wal_level": "replica"}) as primary, postgres.Standby(primary) as standby:
        primary.synchronous()
        yield primary, standby


def count(server, key, stop, errors):
    """Locks and releases until it is told to stop; gives the number of cookies."""
    with open_path("pytds", server, "StateService") as db:
        assert db.call("proc_AddItem", id=key, item=b"x", timeout=20).status == 0
        last = 1
        while not stop.is_set():
            got = db.call("proc_GetItemWithLock", id=key)
            if got.error is not None or got.out["locked"] is not False or got.out["lockCookie"] != last + 1:
                errors.append((key, last, got))
                break
            last += 1
            if db.call("proc_ReleaseItemLock", id=key, lockCookie=last).error is not None:
                errors.append((key, last, "release"))
                break
        return last


def run(server, number, body):
    stop, errors, counts = threading.Event(), [], {}
    threads = [threading.Thread(target=lambda k=f"c{i}": counts.__setitem__(k, count(server(i), k, stop, errors))) for i in range(number)]
    for t in threads:
        t.start()
    try:
        body()
    finally:
        stop.set()
        for t in threads:
            t.join()
    assert not errors
    return counts


def test_nothing_is_lost_and_nothing_twice(pair):
    primary, standby = pair
    conninfo = f"host={primary.folder},{standby.folder} user=postgres dbname=postgres"
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(settings={"engine": "postgres", "postgres": conninfo})) for _ in range(2)]

        def fail_over():
            time.sleep(1)
            primary.stop("immediate")
            standby.promote()
            time.sleep(3)

        counts = run(lambda i: servers[i % 2], 6, fail_over)
        with open_path("pytds", servers[0], "StateService") as db:
            for key, last in counts.items():
                assert db.call("proc_GetItemWithLock", id=key).out["lockCookie"] == last + 1
        assert all(last > 20 for last in counts.values()), counts


def test_a_standby_is_no_primary_and_a_transaction_is_told_that_nothing_of_it_happened(pair):
    primary, standby = pair
    with pytest.raises(ServerFailed, match="PostgreSQL cannot be used"):
        Server(settings={"engine": "postgres", "postgres": f"host={standby.folder} user=postgres dbname=postgres"}).start()
    conninfo = f"host={primary.folder},{standby.folder} user=postgres dbname=postgres"
    with Server(settings={"engine": "postgres", "postgres": conninfo}) as server, open_path("wire", server, "StateService") as db:
        db.batch("BEGIN TRAN EXEC proc_AddItem 'gone', 0x01, 20")
        primary.stop("immediate")
        standby.promote()
        assert db.batch("EXEC proc_AddItem 'gone too', 0x01, 20").error == 50013
        assert db.batch("EXEC proc_AddItem 'gone', 0x01, 20").error is None
        assert db.batch("EXEC proc_AddItem 'gone too', 0x01, 20").error is None
