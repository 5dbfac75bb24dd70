"""The numbers of the server over TDS: procession_stats and the views, for a login with the right monitor."""
import contextlib
import os
import subprocess
import threading
import time

import pytds
import pytest

from support.logins import PASSWORD, new_login
from support.server import binary
from support.store import sqlite_only


def open_as(server, user="sa", password=None, database="master"):
    return pytds.connect("127.0.0.1", port=server.port, user=user, password=password or server.password, database=database, autocommit=True, login_timeout=120)


def rows(connection, text):
    with connection.cursor() as cursor:
        cursor.execute(text)
        return cursor.fetchall()


def stats(connection, buckets=False):
    """{(name, database, procedure, label): value}"""
    return {tuple(r[:4]): r[4] for r in rows(connection, "EXEC procession_stats @buckets = 1" if buckets else "EXEC procession_stats")}


@pytest.fixture
def watcher(server):
    with open_as(server, new_login(server, "master", "monitor"), PASSWORD) as c:
        yield c


def test_each_call_is_counted_for_its_procedure_and_database(server, watcher):
    before = stats(watcher)
    with open_as(server, database="StateService") as c:
        for i in range(7):
            c.cursor().execute(f"EXEC proc_AddItem 'counted{i}', 0x01, 20")
        with pytest.raises(pytds.Error):
            c.cursor().execute("EXEC proc_AddItem 'counted0', 0x02, 20")
    after = stats(watcher)

    def more(name, label=None):
        key = (name, "StateService", "proc_AddItem", label)
        return after[key] - before.get(key, 0)

    assert more("procession_calls_total") == 8
    assert more("procession_call_errors_total") == 1
    assert more("procession_call_queue_seconds_count") == 8
    assert more("procession_call_run_seconds_count") == 8
    assert more("procession_call_run_seconds_sum") > 0
    commits = ("procession_commit_group_calls_count", "StateService", None, None)
    assert after[commits] > before[commits]
    flushes = ("procession_flush_seconds_count", "StateService", None, None)
    assert after[flushes] > before[flushes]


def test_buckets_end_with_the_count(watcher):
    numbers = stats(watcher, buckets=True)
    heads = [k for k in numbers if k[0] == "procession_call_run_seconds_count"]
    assert heads
    for _, database, procedure, _ in heads:
        buckets = [v for k, v in numbers.items() if k[:3] == ("procession_call_run_seconds_bucket", database, procedure)]
        assert buckets == sorted(buckets) and len(buckets) == 20
        assert buckets[-1] == numbers["procession_call_run_seconds_count", database, procedure, None]


def test_a_transaction_that_is_open_is_seen(server, watcher):
    def now(name):
        return stats(watcher)[name, "ScheduledJobs", None, None]

    with pytds.connect("127.0.0.1", port=server.port, user="sa", password=server.password, database="ScheduledJobs", login_timeout=120) as c:
        assert now("procession_transactions_open") == 0
        with c.cursor() as k:
            k.execute("BEGIN TRAN")
            k.execute("EXEC proc_MIP_RemoveScheduledJob @JobId = '6F9619FF-8B86-D011-B42D-00C04FC964FF'")
        assert now("procession_transactions_open") == 1
        c.rollback()
    deadline = time.monotonic() + 30
    while now("procession_transactions_open") != 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@sqlite_only("in PostgreSQL calls wait for each other's rows, not for the writer")
def test_calls_that_wait_are_counted(server, watcher):
    """For the writer, which an explicit transaction keeps: as many as there are, and none when it has ended."""
    def waiting():
        return stats(watcher)["procession_queue_length", "StateService", None, None]

    def add(n):
        with open_as(server, database="StateService") as c:
            c.cursor().execute(f"EXEC proc_AddItem 'waits{n}', 0x01, 20")

    with pytds.connect("127.0.0.1", port=server.port, user="sa", password=server.password, database="StateService", login_timeout=120) as c:
        c.cursor().execute("BEGIN TRAN EXEC proc_AddItem 'first', 0x01, 20")
        assert waiting() == 0
        threads = [threading.Thread(target=add, args=(n,)) for n in range(3)]
        for n, thread in enumerate(threads):
            thread.start()
            until(lambda n=n: waiting() == n + 1)
        c.rollback()
    for thread in threads:
        thread.join()
    until(lambda: waiting() == 0)


@sqlite_only("PostgreSQL has one log for all, which is its own business")
def test_the_log_is_as_long_as_it_is_and_what_waits_in_it_is_told(new_server):
    """A reader of the past keeps 4 MB from being checkpointed; when it ends they go into the file, all but what is not worth it."""
    server = new_server()

    def told():
        numbers = stats(watch)
        return [int(numbers[f"procession_{name}_bytes", "StateService", None, None]) for name in ("wal", "wal_waiting", "database_file")]

    with contextlib.closing(open_as(server)) as watch, contextlib.closing(open_as(server, database="StateService")) as writes:
        with pytds.connect("127.0.0.1", port=server.port, user="sa", password=server.password, database="StateService", login_timeout=120) as reads:
            rows(reads, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT BEGIN TRAN SELECT COUNT(*) FROM dbo.Items")
            for n in range(40):
                writes.cursor().callproc("proc_AddItem", (f"long{n}", pytds.Binary(bytes(100000)), 20))
            wal, waits, file = told()
            assert 4000000 <= waits <= wal <= (server.data / "StateService.db-wal").stat().st_size <= 10000000
            assert file == (server.data / "StateService.db").stat().st_size < 1000000
            reads.rollback()
        until(lambda: told()[1] < 500 * 4096)
        wal, waits, file = told()
        assert file == (server.data / "StateService.db").stat().st_size >= 2000000
        assert wal <= (server.data / "StateService.db-wal").stat().st_size


def test_the_server_tells_its_age_its_version_and_its_memory(new_server):
    began = time.time()
    server = new_server(settings={"memory_limit": 77, "max_connections": 55})
    ready = time.time()
    with open_as(server) as c:
        before = time.time()
        numbers = {(k[0].removeprefix("procession_"), k[3]): v for k, v in stats(c).items() if k[1] is None}
        after = time.time()
        assert before - ready <= numbers["uptime_seconds", None] <= after - began
        assert began <= numbers["start_time_seconds", None] <= ready
        assert (numbers["memory_limit_bytes", None], numbers["connections_limit", None]) == (77 << 20, 55)
        said = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True).stdout.split()
        told, = [label for name, label in numbers if name == "build_info"]
        assert told in said and numbers["build_info", told] == 1
        with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as f:
            now = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        assert now / 2 < numbers["process_resident_memory_bytes", None] < now * 2
        assert stats(c)["procession_uptime_seconds", None, None, None] > numbers["uptime_seconds", None]


def test_logins_are_counted_by_outcome(server, watcher):
    def count(outcome):
        return stats(watcher)["procession_logins_total", None, None, outcome]

    accepted, refused = count("accepted"), count("refused")
    open_as(server).close()
    with pytest.raises(pytds.Error):
        open_as(server, password="wrong")
    assert count("accepted") == accepted + 1
    assert count("refused") == refused + 1


def test_bytes_in_and_out_grow_with_what_is_sent(server, watcher):
    before = stats(watcher)
    with open_as(server, database="StateService") as c:
        c.cursor().execute(f"EXEC proc_AddItem 'large', 0x{'78' * 100000}, 20")
        assert len(rows(c, "SELECT REPLICATE('y', 200)")[0][0]) == 200
    after = stats(watcher)
    received, sent = [(n, None, None, None) for n in ("procession_received_bytes_total", "procession_sent_bytes_total")]
    assert after[received] - before[received] > 300000
    assert after[sent] - before[sent] > 200


def test_views_tell_the_same_as_the_procedure(server, watcher):
    with open_as(server, database="StateService") as c:
        c.cursor().callproc("proc_DeleteItem", ("none", 0))
    numbers = stats(watcher)
    by_view = {tuple(r[:4]): r[4] for r in rows(watcher, "SELECT name, database_name, procedure_name, label, value FROM sys.procession_numbers")}
    moving = ("master",)        # where these two calls themselves are counted
    steady = {k: v for k, v in numbers.items() if k[1] == "StateService"}
    assert steady and {k: v for k, v in by_view.items() if k[1] == "StateService"} == steady
    assert {k[0] for k in by_view} == {k[0] for k in numbers} and moving
    calls = rows(watcher, "SELECT calls, errors, run_p50_ms, run_p99_ms FROM sys.procession_procedures "
                          "WHERE database_name = 'StateService' AND procedure_name = 'proc_DeleteItem'")[0]
    assert calls[0] == numbers["procession_calls_total", "StateService", "proc_DeleteItem", None]
    assert 0 < calls[2] <= calls[3]


def test_sessions_are_seen_with_their_requests(server, watcher):
    with open_as(server, database="StateService") as c:
        for _ in range(5):
            rows(c, "SELECT 1")
        spid = rows(c, "SELECT @@SPID")[0][0]
        seen = rows(watcher, f"SELECT login_name, database_name, status, requests FROM sys.procession_sessions WHERE session_id = {spid}")
        assert [tuple(r[:3]) for r in seen] == [("sa", "StateService", "sleeping")]
        assert seen[0][3] >= 6


def test_who_has_no_right_sees_no_numbers(server):
    name = new_login(server, "StateService", "execute")
    with open_as(server, name, PASSWORD) as c:
        with pytest.raises(pytds.Error, match="procession_stats"):
            rows(c, "EXEC procession_stats")
        for view in ("procession_numbers", "procession_procedures"):
            with pytest.raises(pytds.Error, match="VIEW SERVER STATE"):
                rows(c, f"SELECT * FROM sys.{view}")
        assert len(rows(c, "SELECT * FROM sys.procession_sessions")) == 1
        assert rows(c, "SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')")[0][0] == 0


def test_monitor_sees_and_changes_nothing(server, watcher):
    assert rows(watcher, "SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')")[0][0] == 1
    assert len(rows(watcher, "EXEC procession_database_list")) == 5
    for text in ("EXEC procession_login_list", "EXEC procession_login_disable 'sa'", "EXEC procession_grant 'sa', 'master', 'none'", "KILL 51"):
        with pytest.raises(pytds.Error):
            rows(watcher, text)
    with pytest.raises(pytds.Error):
        rows(watcher, "USE StateService")


def test_monitor_is_granted_in_master_only_and_taken_back(server):
    name = new_login(server)
    with open_as(server) as admin:
        with pytest.raises(pytds.Error, match="master"):
            rows(admin, f"EXEC procession_grant '{name}', 'StateService', 'monitor'")
        admin.cursor().execute(f"EXEC procession_grant '{name}', 'master', 'monitor'")
        assert (name, "master", "monitor") in [tuple(r) for r in rows(admin, "EXEC procession_grant_list")]
        with open_as(server, name, PASSWORD) as c:
            assert stats(c)
            admin.cursor().execute(f"EXEC procession_grant '{name}', 'master', 'none'")
            with pytest.raises(pytds.Error):
                stats(c)
