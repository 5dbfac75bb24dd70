"""Renewals are kept in memory and written together (docs/durability.md). Nobody must notice: not who reads, not who begins a transaction, not when the disk refuses them."""
import datetime
import pathlib
import resource
import time

import pytest
from stateview import add, peek, view

from support.calls import open_path
from support.proves import proves
from support.server import Server
from support.store import sqlite_only, stored

TICK = datetime.timedelta(milliseconds=5)         # 1/300 s, the grain of every stored time, and a view shows whole milliseconds
RENEWALS = ("proc_GetItemWithoutLock", "proc_RefreshItemExpiration")
EXPIRES = 4                     # of view()


@pytest.fixture
def own():
    """A server with nothing else to write."""
    with Server(settings={"sweep_interval": 0}) as made:
        yield made


@pytest.fixture
def rpc(own):
    with open_path("wire", own, "StateService") as path:
        yield path


def renew(db, proc, key, minutes):
    """Gives the earliest moment at which the item may expire now."""
    now = datetime.datetime.utcnow()
    assert db.call(proc, id=key).status == 0
    return now + datetime.timedelta(minutes=minutes) - TICK


def in_file(server, key):
    """What a reader of the store finds, beside the server: the stored expiration in ticks."""
    with stored(server, "StateService") as tables:
        return tables.rows("SELECT expires FROM item WHERE id = ?", key)[0][0]


@proves("STATE-GetItemWithoutLock-16", "STATE-RefreshItemExpiration-02")
@pytest.mark.parametrize("proc", RENEWALS)
def test_whoever_reads_sees_the_renewal(own, rpc, key, proc):
    add(rpc, key, timeout=3)
    with open_path("pytds", own, "StateService") as other:
        for _ in range(20):
            promised = renew(rpc, proc, key, 3)
            assert view(other, key)[EXPIRES] >= promised


def test_the_renewal_is_no_part_of_the_next_transaction(rpc, key):
    add(rpc, key, timeout=3)
    for _ in range(5):
        promised = renew(rpc, RENEWALS[0], key, 3)
        assert rpc.batch("BEGIN TRAN").error is None
        assert rpc.call("proc_AddItem", id=key + "-other", item=b"x", timeout=1).status == 0
        assert rpc.batch("ROLLBACK").error is None
        assert view(rpc, key)[EXPIRES] >= promised
        assert view(rpc, key + "-other") is None


@sqlite_only("PostgreSQL commits renewals at once")
def test_renewals_are_in_the_file_soon(own, rpc, key):
    add(rpc, key, timeout=3)
    peek(rpc, key)              # writes the promise
    before = in_file(own, key)
    time.sleep(0.02)            # some ticks
    peek(rpc, key)
    assert in_file(own, key) == before, "they were not held: this looks at nothing"
    deadline = time.monotonic() + 60
    while in_file(own, key) == before:
        assert time.monotonic() < deadline, "an idle server forgot them"
        time.sleep(0.1)


def written(server):
    lines = pathlib.Path(f"/proc/{server.process.pid}/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("write_bytes")))


@sqlite_only("counts what the server writes to its disk")
def test_many_reads_write_little(own, rpc, key):
    unwritten = written(own)
    add(rpc, key)
    for _ in range(20):
        assert rpc.call("proc_ReleaseItemLock", id=key, lockCookie=1).status == 0
    if written(own) - unwritten < 20 * 512:
        pytest.skip("the kernel does not count what is written to this file system")
    peek(rpc, key)
    before = written(own)
    for _ in range(1000):
        peek(rpc, key)
    assert written(own) - before < 1000 * 4096 / 10


@pytest.fixture
def tight(own):
    """Sets how long files may get: the disk is full for those who write on."""
    before = resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE)

    def limit(size):
        resource.prlimit(own.process.pid, resource.RLIMIT_FSIZE, before if size is None else (size, before[1]))

    yield limit
    limit(None)


@proves("STATE-GetItemWithoutLock-16")
@sqlite_only("the disk of the server is full: it has nothing of the databases with PostgreSQL")
def test_renewals_that_the_disk_refuses_are_kept_by_the_promise(own, rpc, key, tight):
    """Each was answered: none may expire as if it had not been, although the commit of all of them failed."""
    add(rpc, key, timeout=3)
    peek(rpc, key)
    time.sleep(0.1)
    tight(4096)
    promised = renew(rpc, RENEWALS[0], key, 3)
    stale = in_file(own, key)
    assert view(rpc, key) is not None                   # a reader: they are to be written now, which fails
    assert in_file(own, key) == stale, "the disk took them: nothing was lost"
    assert rpc.call("proc_AddItem", id=key + "-full", item=b"x", timeout=1).error is not None
    tight(None)
    assert rpc.call("proc_AddItem", id=key + "-room", item=b"x", timeout=1).status == 0
    assert view(rpc, key)[EXPIRES] >= promised
    assert in_file(own, key) == stale
