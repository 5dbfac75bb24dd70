"""Renewals on PostgreSQL: answered before they are durable, under a promise (docs/durability.md). A crash of PostgreSQL loses them, and no item expires too early."""
import contextlib
import datetime
import os
import signal
import subprocess
import time

import pytest

from support import postgres
from support.calls import open_path
from support.server import Server

SCHEMA = "procession_stateservice"
RENEWALS = ("proc_GetItemWithoutLock", "proc_RefreshItemExpiration")
TICK = datetime.timedelta(milliseconds=5)         # 1/300 s, and a view shows whole milliseconds


@pytest.fixture(scope="module")
def own():
    """A PostgreSQL that can be killed."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres() as made:
        yield made


@pytest.fixture(scope="module")
def server(own):
    with Server(settings={"engine": "postgres", "postgres": own.conninfo(), "sweep_interval": 0, "failover_timeout": 5}) as made:
        yield made


@pytest.fixture
def db(server):
    with open_path("wire", server, "StateService") as path:
        yield path


def ask(pg, sql):
    with contextlib.closing(pg.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()[0] if cursor.description else None


def processes(pg):
    """The postmaster's number, then those of its children."""
    head = int((pg.data / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(head)], stdout=subprocess.PIPE, check=True).stdout
    return [head, *map(int, children.split())]


@contextlib.contextmanager
def log_held(pg):
    """The process that writes the log behind the answers stands still: what nobody flushes is in memory only."""
    writer, = ask(pg, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
    os.kill(writer, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):           # it was killed with the others
            os.kill(writer, signal.SIGCONT)


def crash(pg):
    """All at once, as when the machine goes; then it starts again."""
    for pid in processes(pg):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    pg.running = False
    deadline = time.monotonic() + 60
    while True:
        try:
            pg.start()
            return
        except AssertionError:          # the memory that they shared is still in use
            assert time.monotonic() < deadline
            time.sleep(0.1)


def add(db, key, timeout=20):
    assert db.call("proc_AddItem", id=key, item=b"x", timeout=timeout).status == 0


def renew(db, proc, key, minutes=20):
    """The earliest moment at which the item may expire now."""
    now = datetime.datetime.utcnow()
    assert db.call(proc, id=key).status == 0
    return now + datetime.timedelta(minutes=minutes) - TICK


def shown(db, key):
    rows = db.batch(f"SELECT Expires FROM dbo.Items WHERE Id = '{key}'").rows
    return rows[0][0] if rows else None


def stored(pg, key):
    return ask(pg, f"SELECT expires FROM {SCHEMA}.item WHERE id = '{key}'")[0]


def renew_in_memory(pg, db, proc, key, minutes=20):
    """Renews, with the log held; gives the earliest moment at which the item may expire, and what is stored. The server commits by itself now and then,
    as a proof that its primary is one, and that flushes what came before: then it is tried again."""
    for _ in range(100):
        begin, = ask(pg, "SELECT pg_current_wal_insert_lsn()")
        promised = renew(db, proc, key, minutes)
        written, safe, expires = ask(pg, f"SELECT pg_current_wal_insert_lsn() > '{begin}', pg_current_wal_flush_lsn() > '{begin}', expires "
                                         f"FROM {SCHEMA}.item WHERE id = '{key}'")
        assert written, "nothing was written: this looks at nothing"
        if not safe:
            return promised, expires
    raise AssertionError("whoever renews waits for the log")


@pytest.mark.parametrize("proc", RENEWALS)
def test_a_renewal_waits_for_no_flush(own, db, proc):
    add(db, proc)
    renew(db, proc, proc)               # brings the promise, and is flushed with it
    with log_held(own):
        promised, _ = renew_in_memory(own, db, proc, proc)
    assert shown(db, proc) >= promised


def test_an_end_of_the_server_keeps_expirations_exact(own, server):
    with open_path("wire", server, "StateService") as db:
        add(db, "exact")
        for _ in range(3):
            promised = renew(db, RENEWALS[0], "exact")
        latest = datetime.datetime.utcnow() + datetime.timedelta(minutes=20) + TICK
    server.restart(kill=True)
    with open_path("wire", server, "StateService") as db:
        assert promised <= shown(db, "exact") <= latest


def test_an_orderly_stop_of_postgresql_keeps_expirations_exact(own, server):
    with open_path("wire", server, "StateService") as db:
        add(db, "exact too")
        promised = renew(db, RENEWALS[0], "exact too")
        latest = datetime.datetime.utcnow() + datetime.timedelta(minutes=20) + TICK
        own.stop()
        own.start()
        assert promised <= shown(db, "exact too") <= latest


# The last ones: after them nothing is exact any more.
@pytest.mark.parametrize("proc", RENEWALS)
def test_no_item_expires_too_early_after_a_crash_of_postgresql(own, server, proc):
    for attempt in range(5):            # a proof of the primary between the renewal and the crash has flushed it
        key = f"kept {attempt} by {proc}"
        with open_path("wire", server, "StateService") as db:
            add(db, key)
            renew(db, proc, key)        # there is a promise
            # a second, so that nobody has to wait
            ask(own, f"UPDATE {SCHEMA}.item SET timeout = 300, expires = expires - timeout + 300, sweep = 0 WHERE id = '{key}'")
            with log_held(own):
                time.sleep(0.02)        # some ticks
                promised, before = renew_in_memory(own, db, proc, key, 1 / 60)
                crash(own)
        if stored(own, key) < before:
            break
    else:
        raise AssertionError("the renewal was never lost: this looks at nothing")
    time.sleep(1.1)
    with open_path("wire", server, "StateService") as db:
        assert db.call("proc_DeleteExpiredItems").status == 0
        assert shown(db, key) >= promised
        assert db.call("proc_GetItemWithoutLock", id=key).out["item"] == b"x"
