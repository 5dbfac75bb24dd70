"""Requests that their clients end while PostgreSQL does not answer, or too late."""
import contextlib
import os
import signal
import time

import pytest

from support import postgres
from support import wire as tds
from support.proxy import Proxy
from support.server import Server
from support.wire import Wire

LONG = "SELECT COUNT(*) FROM dbo.Items a, dbo.Items b, dbo.Items c, dbo.Items d, dbo.Items e"
READ = "EXEC proc_MIP_GetScheduledJobs"
SOON = 5        # seconds: half a one for the others, one for PostgreSQL to take it; three if it takes it and does not do it


def adding(key):
    return f"EXEC proc_AddItem '{key}', 0x01, 20"


def add(w, key):
    w.batch(adding(key)).ok()


def keys(w):
    return [row[0] for row in w.batch("SELECT Id FROM dbo.Items").rows]


def ask(w, text):
    """Sends it and reads nothing."""
    w.send_message(tds.BATCH, tds.batch_body(text, w.version, w.descriptor))


def is_ended(w):
    """What follows an attention, soon: perhaps the answer, then the acknowledgement. Gives the answer."""
    began = time.monotonic()
    w.attention()
    first = w.answer(tds.BATCH, check=False)
    if not first.last.status & tds.ATTN:
        w.acknowledgement()
    assert time.monotonic() - began < SOON
    return first


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def sessions(pg, condition):
    """Waits until there is one at PostgreSQL; the processes of all of them."""
    found = []
    with contextlib.closing(pg.connect()) as connection:
        cursor = connection.cursor()

        def are_there():
            cursor.execute(f"SELECT pid FROM pg_stat_activity WHERE ({condition}) AND pid <> pg_backend_pid()")
            found[:] = [row[0] for row in cursor.fetchall()]
            return found

        until(are_there)
    return found


def long_runs(pg):
    return sessions(pg, "state = 'active' AND query ~* 'items.*items.*items'")


@contextlib.contextmanager
def frozen(pg):
    pg.freeze()
    try:
        yield
    finally:
        pg.thaw()


@contextlib.contextmanager
def clients(conninfo, database, count, **settings):
    """A server, and so many connections to a database of it."""
    with Server(settings={"engine": "postgres", "postgres": conninfo, "failover_timeout": 60, **settings}) as server, contextlib.ExitStack() as stack:
        yield server, [stack.enter_context(Wire(server, timeout=90).login(database=database)) for _ in range(count)]


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


@pytest.fixture(name="own")
def postgres_of_this_test():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres() as made:
        yield made


def test_a_session_that_takes_a_cancelling_and_does_nothing_is_left(own):
    """Its process stands still, PostgreSQL does not: who comes next has another one."""
    with clients(own.conninfo(), "StateService", 1, readers=1) as (_, (w,)):
        for n in range(100):
            add(w, f"item {n}")
        ask(w, LONG)
        process, = long_runs(own)
        os.kill(process, signal.SIGSTOP)
        try:
            assert not is_ended(w).results
            assert w.batch("SELECT COUNT(*) FROM dbo.Items").value == 100
        finally:
            os.kill(process, signal.SIGCONT)


def test_a_commit_that_was_sent_is_not_ended(pair):
    """Its standby says nothing: whether it has happened is not known before it does."""
    primary, standby = pair
    writes = "SELECT pid FROM pg_locks WHERE relation = 'procession_stateservice.mark'::regclass AND mode = 'RowExclusiveLock'"
    with clients(primary.conninfo(), "StateService", 2) as (server, (w, other)):
        add(w, "a")
        server.wait_log("event=cleans ")
        time.sleep(0.5)                     # its first clean-up, which commits, too
        standby.freeze()
        try:
            ask(w, adding("b"))
            sessions(primary, f"wait_event = 'SyncRep' AND pid IN ({writes})")
            w.attention()
            time.sleep(2)
        finally:
            standby.thaw()
        if not w.answer(tds.BATCH, check=False).last.status & tds.ATTN:
            w.acknowledgement()
        assert keys(other) == ["a", "b"]
    assert "canceling" not in primary.log()


@pytest.mark.parametrize("waits_for", ("its answer", "a proof"))
def test_of_reads_that_go_together_each_is_ended_by_itself(own, waits_for):
    """One goes by itself, and those that have come meanwhile are the next group: PostgreSQL takes it and answers nothing, or is not known to be the primary."""
    with Proxy(own.folder / ".s.PGSQL.5432") as proxy, \
            clients(f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres", "ScheduledJobs", 4, readers=1) as (server, jobs), \
            Wire(server, timeout=90).login() as state:
        proxy.hold_at("proc_MIP_GetScheduledJobs")
        ask(jobs[0], READ)
        until(lambda: proxy.holds is None)
        for w in jobs[1:]:
            ask(w, READ)
        time.sleep(0.2)                     # they are there
        if waits_for == "its answer":
            add(state, "a")                 # its commit is a proof
        with frozen(own):
            if waits_for == "a proof":
                time.sleep(1)               # the last one is of no use any more
            proxy.give()
            jobs[0].answer().ok()
            for w in jobs[1:3]:
                assert not is_ended(w).results
        jobs[3].answer().ok()
        for w in jobs:
            w.batch(READ).ok()


def wait_for_the_gate(pg):
    sessions(pg, "wait_event_type = 'Lock' AND application_name LIKE 'procession %'")


def test_writes_that_are_ended_while_the_primary_hangs_have_not_happened(own):
    """The first waits for the gate by itself, those that come meanwhile are a group behind it."""
    with clients(own.conninfo(), "StateService", 5, postgres_connections=1) as (_, state), contextlib.closing(own.connect()) as other:
        add(state[0], "before")
        other.autocommit = False
        other.cursor().execute("LOCK TABLE procession_stateservice.gate IN ACCESS EXCLUSIVE MODE")
        for w, key in zip(state, "abcde"):
            ask(w, adding(key))
            time.sleep(0.1)
        wait_for_the_gate(own)
        assert not is_ended(state[0]).results
        wait_for_the_gate(own)
        with frozen(own):
            for w in state[1:3]:            # one waits for the answer of a machine that hangs, the other one for a connection
                assert not is_ended(w).results
        other.rollback()
        for w in state[3:]:
            w.answer().ok()
        assert sorted(keys(state[0])) == ["before", "d", "e"]
        for w in state:
            add(w, f"later {id(w)}")


@pytest.mark.parametrize("text", (READ, "SELECT COUNT(*) FROM dbo.ScheduledJobs", "EXEC proc_MIP_RemoveScheduledJob 'b00ae9a1-0474-474e-b348-f6a8bcc95331'"))
def test_calls_are_ended_where_there_is_no_primary(own, text):
    with clients(own.conninfo(), "ScheduledJobs", 3, readers=1, postgres_connections=1) as (server, jobs):
        jobs[0].batch(READ).ok()
        own.stop("immediate")
        for w in jobs:
            ask(w, text)
        server.wait_log("event=postgres_unreachable database=ScheduledJobs")
        for w in jobs[:2]:
            assert not is_ended(w).results
        own.start()
        jobs[2].answer()
        for w in jobs:
            w.batch(READ).ok()


def test_the_first_call_of_a_transaction_is_ended_and_the_transaction_goes_on(own):
    """It hangs at its first statement, or has no connection yet: nothing has been done, and the next call begins anew."""
    with clients(own.conninfo(), "StateService", 2) as (_, state):
        state[0].begin().ok()
        add(state[0], "leaves a connection")
        state[0].commit().ok()
        for w in state:
            w.begin().ok()
        with frozen(own):
            for w in state:
                ask(w, adding("ended"))
                time.sleep(0.5)
                assert not is_ended(w).results
        for w, key in zip(state, "ab"):
            assert w.batch("SELECT @@TRANCOUNT").value == 1
            add(w, key)
            w.commit().ok()
        assert sorted(keys(state[0])) == ["a", "b", "leaves a connection"]


@pytest.mark.parametrize("text", (adding("more"), "COMMIT"))
def test_a_call_inside_a_transaction_is_ended_and_nothing_of_it_was_kept(own, text):
    with clients(own.conninfo(), "StateService", 2) as (_, state):
        state[0].begin().ok()
        add(state[0], "first")
        with frozen(own):
            ask(state[0], text)
            time.sleep(0.5)
            is_ended(state[0])
            ask(state[1], adding("other"))          # the gate is not its any more
            time.sleep(0.5)
        state[1].answer().ok()
        assert keys(state[1]) == ["other"]
