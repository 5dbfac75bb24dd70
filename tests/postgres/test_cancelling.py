"""Requests that their clients end while PostgreSQL does not answer, or too late."""
import contextlib
import time

import pytest

from support import postgres
from support import wire as tds
from support.proxy import Proxy
from support.server import Server
from support.wire import Wire

LONG = "SELECT COUNT(*) FROM dbo.Items a, dbo.Items b, dbo.Items c, dbo.Items d, dbo.Items e"
READ = "EXEC proc_MIP_GetScheduledJobs"


def add(w, key):
    w.batch(f"EXEC proc_AddItem '{key}', 0x01, 20").ok()


def ask(w, text):
    """Sends it and reads nothing."""
    w.send_message(tds.BATCH, tds.batch_body(text, w.version, w.descriptor))


def is_ended(w):
    """What follows an attention: perhaps the answer, then the acknowledgement. Gives the answer."""
    w.attention()
    first = w.answer(tds.BATCH, check=False)
    if not first.last.status & tds.ATTN:
        w.acknowledgement()
    return first


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def long_runs(pg):
    with contextlib.closing(pg.connect()) as connection:
        cursor = connection.cursor()

        def runs():
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query ~* 'items.*items.*items' AND pid <> pg_backend_pid()")
            return cursor.fetchone()[0] > 0

        until(runs)


@pytest.fixture(name="pair")
def primary_and_standby():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres(settings={"wal_level": "replica"}) as primary, postgres.Standby(primary) as standby:
        primary.synchronous()
        yield primary, standby


@pytest.mark.long
def test_a_primary_that_hangs_takes_no_cancelling_and_keeps_nobody(pair):
    """It takes connections, and answers none. Clients are told that their requests have ended; who reads next is answered by the next primary."""
    primary, standby = pair
    conninfo = f"host={primary.folder},{standby.folder} user=postgres dbname=postgres"
    with Server(settings={"engine": "postgres", "postgres": conninfo, "readers": 2}) as server, contextlib.ExitStack() as stack:
        def opened(database):
            return stack.enter_context(Wire(server, timeout=60).login(database=database))

        state, jobs = opened("StateService"), [opened("ScheduledJobs") for _ in range(4)]
        for n in range(100):
            add(state, f"item {n}")
        ask(state, LONG)
        long_runs(primary)
        jobs[0].batch(READ).ok()            # its primary has been proved to be one: those that follow wait for nothing else
        primary.freeze()
        try:
            for w in jobs[:2]:
                ask(w, READ)
            for w in (state, *jobs[:2]):
                assert not is_ended(w).results
            standby.promote()
            for w in jobs[1:]:
                w.batch(READ).ok()
            assert state.batch("SELECT COUNT(*) FROM dbo.Items").value == 100
        finally:
            primary.thaw()


def test_a_cancelling_that_comes_too_late_takes_nothing_from_the_next_one():
    """The call is done, and its answer on the way, when PostgreSQL is asked to end it; a later call of the same transaction can be ended still."""
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres() as pg, Proxy(pg.folder / ".s.PGSQL.5432") as proxy, \
            Server(settings={"engine": "postgres", "postgres": f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres"}) as server, \
            Wire(server, timeout=60).login() as w:
        for n in range(100):
            add(w, f"item {n}")
        w.begin().ok()
        add(w, "first")
        proxy.hold_at("proc_DeleteItem")
        ask(w, "EXEC proc_DeleteItem 'first', 1")
        until(lambda: proxy.holds is None)
        w.attention()
        until(lambda: proxy.cancelled > 0)
        proxy.give()
        first = w.answer(tds.BATCH, check=False)
        if not first.last.status & tds.ATTN:
            w.acknowledgement()
        assert w.batch("SELECT @@TRANCOUNT").value == 1
        ask(w, LONG)
        long_runs(pg)
        is_ended(w)
        w.rollback().ok()
