"""A primary with a synchronous standby: the primary is killed, frozen, or only believes that it still is one; the standby is promoted,
and no client notices more than a pause.

Every lock of an item takes the next cookie; whoever has a lock must get it back by releasing it. So a call that was lost, or done twice,
shows: as a gap, as a cookie that comes twice, or as a lock that nobody has. Whoever only reads must never see a cookie that is older than
one that was answered before the read began. The same against three PostgreSQL under Patroni: make test-failover.
"""
import contextlib
import signal
import threading
import time

import psycopg2
import pytest

from support import postgres
from support.calls import create_database, open_path
from support.counting import Counting
from support.proxy import Proxy
from support.server import Server, ServerFailed


def conninfo(*hosts):
    return f"host={','.join(str(h.folder) for h in hosts)} user=postgres dbname=postgres"


@contextlib.contextmanager
def servers(*infos, **settings):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Server(settings={"engine": "postgres", "postgres": info, **settings})) for info in infos]


def test_nothing_is_lost_and_nothing_twice_when_the_primary_and_a_server_are_killed(pair):
    primary, standby = pair
    with servers(*[conninfo(primary, standby)] * 2) as made, Counting(made, clients=6, readers=2) as counting:
        counting.go_on(20)
        primary.kill()
        standby.promote()
        counting.go_on(20)
        made[1].kill()
        made[1].start()
        counting.go_on(20)
        counting.finish()


def test_a_frozen_primary_that_wakes_up_is_not_believed(pair):
    primary, standby = pair
    with servers(*[conninfo(primary, standby)] * 2) as made, Counting(made, clients=4, readers=2) as counting:
        counting.go_on(10)
        primary.freeze()
        standby.promote()
        counting.go_on(10)
        primary.thaw()
        counting.go_on(20)
        counting.finish()


def test_a_deposed_primary_that_can_be_reached_answers_no_reads(pair):
    """One server knows only the old primary, which goes on as if nothing had happened; another one finds the new one."""
    primary, standby = pair
    with servers(conninfo(primary), conninfo(primary, standby), failover_timeout=2) as (old, both), \
            open_path("wire", old, "StateService") as reader, open_path("pytds", both, "StateService") as writer:
        writer.call("proc_AddItem", id="seen", item=b"x", timeout=20)
        assert reader.batch("SELECT LockCookie FROM Items").rows == [(1,)]
        standby.promote()
        answers, acknowledged = [], None
        stop = threading.Event()

        def read():
            while not stop.is_set():
                began = time.monotonic()
                answers.append((began, reader.batch("SELECT LockCookie FROM Items")))

        thread = threading.Thread(target=read)
        thread.start()
        try:
            assert writer.call("proc_GetItemWithLock", id="seen").out["lockCookie"] == 2
            acknowledged = time.monotonic()
            while not any(began > acknowledged for began, _ in answers):
                time.sleep(0.05)
        finally:
            stop.set()
            thread.join()
        late = [answer for began, answer in answers if began > acknowledged]
        assert late and all(each.error == 50013 and "Nothing was changed" in each.errors[0][2] for each in late), late
        # what was asked inside a transaction neither, nor what is refused because of old rows
        assert reader.call("proc_AddItem", id="seen", item=b"x", timeout=20).error == 50013


def test_a_standby_is_no_primary_and_a_transaction_is_told_that_nothing_of_it_happened(pair):
    primary, standby = pair
    with pytest.raises(ServerFailed, match="PostgreSQL cannot be used.*(standby|read-only)"):
        Server(settings={"engine": "postgres", "postgres": conninfo(standby), "failover_timeout": 1}).start()
    with servers(conninfo(primary, standby)) as (server,), open_path("wire", server, "StateService") as db, \
            open_path("wire", server, "StateService") as late:
        db.batch("BEGIN TRAN EXEC proc_AddItem 'gone', 0x01, 20")
        primary.kill()
        standby.promote()
        assert db.batch("EXEC proc_AddItem 'gone too', 0x01, 20").error == 50013
        assert db.batch("EXEC proc_AddItem 'gone', 0x01, 20").error is None
        assert late.batch("EXEC proc_AddItem 'gone too', 0x01, 20").error is None


def cancel_waits(primary, count):
    """Ends the waiting of our sessions for the standby, of so many; what they wait for."""
    cancelled, until = set(), time.monotonic() + 60
    with contextlib.closing(primary.connect()) as connection:
        cursor = connection.cursor()
        while len(cancelled) < count:
            cursor.execute("SELECT pid, query_start FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name ~ '^procession .*/'")
            for found in set(cursor.fetchall()) - cancelled:
                cursor.execute("SELECT pg_cancel_backend(%s)", found[:1])
                cancelled.add(found)
            assert time.monotonic() < until, cancelled
            time.sleep(0.05)


@pytest.mark.parametrize("language", ("en", "de"))
def test_a_commit_whose_standby_is_not_waited_for_any_more_is_not_answered(monkeypatch, language):
    """Somebody cancels the waiting: PostgreSQL has the change, and its standby has not. The warning that says so is in PostgreSQL's language."""
    monkeypatch.setenv("LANGUAGE", language)            # of C.UTF-8, too, but not of C
    with postgres.pair() as (primary, standby), servers(conninfo(primary, standby), failover_timeout=120) as (server,), \
            open_path("wire", server, "StateService") as db:
        with contextlib.closing(primary.connect()) as connection, pytest.raises(psycopg2.Error, match="Null" if language == "de" else "zero"):
            connection.cursor().execute("SELECT 1 / 0")
        assert db.batch("EXEC proc_AddItem 'a', 0x01, 20").error is None
        answers = []
        standby.freeze()
        thread = threading.Thread(target=lambda: answers.append(db.call("proc_GetItemWithLock", id="a")))
        thread.start()
        try:
            cancel_waits(primary, 1)
            cancel_waits(primary, 1)                    # of the look at the mark, which is not believed either
            assert answers == []
        finally:
            standby.thaw()
            thread.join(150)
        assert (answers[0].error, answers[0].out["locked"], answers[0].out["lockCookie"]) == (None, False, 2)


def test_a_server_that_starts_while_there_is_no_primary_waits_for_one(pair):
    primary, standby = pair
    primary.kill()
    server = Server(settings={"engine": "postgres", "postgres": conninfo(primary, standby), "failover_timeout": 120}, start_timeout=150)
    starting = threading.Thread(target=server.start)
    starting.start()
    try:
        server.wait_log("event=postgres_awaited seconds=120 reason=.*(standby|read-only)", timeout=60)
        standby.promote()
        starting.join(150)
        with open_path("wire", server, "StateService") as db:
            assert db.batch("SELECT COUNT(*) FROM Items").rows == [(0,)]
        server.stop()
    finally:
        server.kill()
        starting.join(150)
        server.remove()


def test_a_start_that_waits_for_a_primary_can_be_ended(tmp_path):
    server = Server(settings={"engine": "postgres", "postgres": f"host={tmp_path} dbname=none", "failover_timeout": 600}, start_timeout=150)
    failed = []

    def start():
        try:
            server.start()
        except ServerFailed as why:
            failed.append(str(why))

    starting = threading.Thread(target=start)
    starting.start()
    try:
        server.wait_log("event=postgres_awaited", timeout=60)
        server.signal(signal.SIGTERM)
        starting.join(100)              # far less than it would have waited
        assert failed and "before it was ready" in failed[0], failed
    finally:
        server.kill()
        starting.join(150)
        server.remove()


def test_a_database_is_made_although_the_primary_freezes_meanwhile(pair):
    """Whoever makes it waits for a lock when nobody answers any more: it is made on the next primary."""
    primary, standby = pair
    with servers(conninfo(primary, standby), failover_timeout=60) as (server,), contextlib.closing(primary.connect()) as other:
        other.cursor().execute("SELECT pg_advisory_lock(7234017, hashtext('procession_made'))")
        made = []
        making = threading.Thread(target=lambda: made.append(create_database(server, "made", "state")))
        making.start()
        with contextlib.closing(primary.connect()) as looking:
            cursor, until = looking.cursor(), time.monotonic() + 60
            while True:
                cursor.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND query LIKE '%%procession_made%%'")
                if cursor.fetchone():
                    break
                assert time.monotonic() < until
                time.sleep(0.02)
        primary.freeze()
        standby.promote()
        making.join(100)
        assert made, "it waits for a primary that is frozen"
        with open_path("wire", server, "made", kind="StateService") as db:
            assert db.batch("EXEC proc_AddItem 'a', 0x01, 20").error is None
        primary.thaw()                  # or its session could not be closed


def test_a_relaxed_transaction_of_a_deposed_primary_is_not_answered(pair):
    """Nobody confirms its commit; whether that was still the primary is asked before it is answered."""
    primary, standby = pair
    with servers(conninfo(primary), failover_timeout=2) as (server,), open_path("wire", server, "StateService") as db:
        assert db.batch("EXEC procession_database_set 'StateService', 'relaxed'").error is None
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'kept', 0x01, 20 COMMIT").error is None
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'lost', 0x01, 20").error is None
        standby.promote()
        time.sleep(1)                   # the last proof is of no use any more
        told = db.batch("COMMIT")
        assert told.error == 50013 and "not known" in told.errors[0][2], told


def has_heard_of_it(standby):
    """The only server of all has told the new primary that it is there."""
    until = time.monotonic() + 60
    with contextlib.closing(standby.connect()) as connection:
        cursor = connection.cursor()
        while True:
            cursor.execute("SELECT 1 FROM procession.server")
            if cursor.fetchone():
                return
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_new_primary_is_used_after_its_grace_whoever_sees_it_first(pair):
    """Nobody calls, so that it is the thread of what servers tell each other that meets it, under the address of the old one."""
    primary, standby = pair
    with Proxy(primary.folder / ".s.PGSQL.5432") as proxy, servers(f"host=127.0.0.1 port={proxy.port} user=postgres dbname=postgres") as (server,), \
            open_path("wire", server, "StateService") as db:
        assert db.batch("EXEC proc_AddItem 'a', 0x01, 20").error is None
        server.wait_log("event=cleans ")
        time.sleep(0.5)                 # its first clean-up, which might see it before
        standby.promote()
        began = time.monotonic()
        proxy.lead_to(standby.folder / ".s.PGSQL.5432")
        has_heard_of_it(standby)
        assert db.batch("EXEC proc_GetItemWithLock 'a', NULL, NULL, NULL, NULL").error is None
        assert time.monotonic() - began >= 1
