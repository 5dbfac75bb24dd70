"""Three servers in front of one PostgreSQL, and clients that want the same thing at the same moment: one gets it. And explicit transactions of one
server, as the clients of the others see them, at each isolation level and with each limit."""
import contextlib
import datetime
import threading
import time
import uuid

import pytest
from test_servers import at_once, opened, servers
from test_sharing import until

from support.calls import create_database

STATE, KEEPING = "StateService", ("REPEATABLE READ", "SERIALIZABLE")
FOREVER = datetime.datetime(9999, 12, 31, 23, 59, 59, 997000)
JOB = {"Assembly": "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c", "Recurrence": None, "JobData": None,
       "Class": "Microsoft.Office.Server.UserProfiles.UserProfileChangeJob", "NextDueTime": datetime.datetime(2130, 1, 31), "Disabled": 0, "DisplayName": "A job"}


@pytest.fixture(scope="module")
def three(pg):
    with servers(pg, 3) as made:
        yield made


@pytest.fixture
def key():
    return "k-" + uuid.uuid4().hex[:16]


@pytest.fixture
def both(three):
    """A client of one server and one of another."""
    with contextlib.ExitStack() as stack:
        yield opened(stack, three[0], path="wire"), opened(stack, three[1], path="wire")


# ---- one gets it

def test_a_one_time_job_is_handed_out_once(three):
    with contextlib.ExitStack() as stack:
        clients = [opened(stack, three[i % 3], "ScheduledJobs", path="wire") for i in range(6)]
        for n in range(15):
            jobs = [uuid.uuid4() for _ in range(3)]
            for job in jobs:
                assert clients[n % 6].call("proc_MIP_AddScheduledJob", JobId=job, **JOB).status == 0
            barrier = threading.Barrier(len(clients))

            def take(client):
                barrier.wait()
                answer = client.call("proc_MIP_GetScheduledJobsInInterval", NextDueTime=FOREVER)
                assert answer.error is None, answer
                return [uuid.UUID(str(row[2])) for row in answer.rows]

            taken = [job for each in at_once([lambda c=c: take(c) for c in clients]) for job in each]
            assert sorted(taken) == sorted(jobs)


def test_a_quota_is_never_passed_however_often_it_is_tried(three):
    with contextlib.ExitStack() as stack:
        clients = [opened(stack, three[i % 3], "Translation", path="wire") for i in range(6)]
        for n in range(10):
            partition, barrier = uuid.uuid4(), threading.Barrier(len(clients))

            def add(i):
                barrier.wait()
                result = clients[i].call("proc_AddJob", JobId=9000 + 10 * n + i, UserId="u", UserToken=b"\x01", PartitionId=partition, Settings="<s/>",
                                         Name="n", ItemCount=3, MaxItemsPerDay=10**6, MaxItemsPerPartitionPerDay=10)
                return result.error is None and result.status == 0

            assert sum(at_once([lambda i=i: add(i) for i in range(6)])) == 3       # 3 + 3 + 3, and no fourth three


def group(first, items):
    texts = "".join(f'<item id="{i}" in="{i}.docx" out="{i}.pdf"/>' for i in range(first, first + items))
    return f'<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd">{texts}</group>'


def claim(client, level):
    """Takes batches as a worker does, until none is left."""
    claimed, worker = [], uuid.uuid4()
    assert client.batch(f"SET TRANSACTION ISOLATION LEVEL {level}").error is None
    while True:
        assert client.batch("BEGIN TRAN").error is None
        taken = client.call("proc_GetConversionBatch", NumberOfConversionsInBatch=5, InProgressThreshold=datetime.datetime(1900, 1, 1))
        assert taken.error is None, taken
        rows = [row[:3] for row in taken.rows]
        if rows:
            items = "".join(f'<item job="{j}" group="{g}" id="{i}" wsi="{worker}"/>' for j, g, i in rows)
            assert client.call("proc_UpdateConversionBatch", BatchXml='<batch xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate">'
                               f"<start>{items}</start><failed/></batch>").error is None
        assert client.batch("COMMIT").error is None
        if not rows:
            return claimed
        claimed.extend(map(tuple, rows))


@pytest.mark.parametrize("level", KEEPING)
def test_no_item_is_claimed_twice_by_workers_of_all_servers(three, level):
    name = "Claims" + level[:2]
    create_database(three[0], name, "word")
    with contextlib.ExitStack() as stack:
        until = time.monotonic() + 30
        clients = []
        while len(clients) < 6:             # the others hear of the database in a moment
            try:
                clients.append(opened(stack, three[len(clients) % 3], name, path="wire", kind="WordAutomation"))
            except Exception:               # pylint: disable=broad-except
                assert time.monotonic() < until
                time.sleep(0.1)
        assert clients[0].call("proc_AddJob", JobId=1, Settings="<s/>").error is None
        assert clients[0].call("proc_AddGroup", JobId=1, GroupId=1, MaxAttemptsCount=1, JobXml=group(1, 90)).error is None
        assert clients[0].call("proc_SubmitJob", JobId=1).error is None
        claimed = [item for each in at_once([lambda c=c: claim(c, level) for c in clients]) for item in each]
        assert len(claimed) == len(set(claimed)) == 90


# ---- isolation, as clients of another server see it

def begin(db, level):
    assert db.batch(f"SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN").error is None


def count(db, key):
    answer = db.batch(f"SELECT COUNT(*) FROM dbo.Items WHERE Id LIKE '{key}%'")
    assert answer.error is None, answer
    return answer.rows[0][0]


def add(db, key, lock_timeout=0):
    return db.batch(f"SET LOCK_TIMEOUT {lock_timeout} EXEC proc_AddItem '{key}', 0x01, 20").error


@pytest.mark.parametrize("level", KEEPING)
def test_what_was_read_stays_for_writers_of_other_servers_too(both, key, level):
    db, other = both
    begin(db, level)
    assert count(db, key) == 0
    assert add(other, key) == 1222
    assert count(other, key) == count(db, key) == 0         # reading is free
    assert db.batch("COMMIT").error is None
    assert add(other, key) is None and count(db, key) == 1


def test_read_committed_sees_what_others_committed_and_hides_its_own(both, key):
    db, other = both
    begin(db, "READ COMMITTED")
    assert count(db, key) == 0
    assert add(other, key) is None
    assert count(db, key) == 1
    assert add(db, key + "2") is None
    assert (count(db, key), count(other, key)) == (2, 1)
    assert add(other, key + "3") == 1222
    assert db.batch("COMMIT").error is None
    assert count(other, key) == 2


def test_a_snapshot_reads_one_state_and_cannot_write_when_another_server_has_written(both, key):
    db, other = both
    begin(db, "SNAPSHOT")
    assert count(db, key) == 0
    assert add(other, key) is None
    assert (count(db, key), count(other, key)) == (0, 1)
    assert add(db, key + "2") == 3960
    assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
    assert count(other, key) == 1


def test_a_snapshot_waits_for_the_transaction_of_another_server(both, key):
    """Its own LOCK_TIMEOUT counts; being late takes nothing away from it, and when the other one has changed nothing it writes."""
    db, other = both
    begin(db, "SNAPSHOT")
    assert count(db, key) == 0
    assert other.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}', 0x01, 20").error is None
    assert add(db, key + "2") == 1222
    assert db.batch("SELECT @@TRANCOUNT").rows == [(1,)] and count(db, key) == 0
    writing = threading.Thread(target=lambda: results.append(add(db, key + "2", 60000)))
    results = []
    writing.start()
    time.sleep(2.5)                                         # it waits for longer than PostgreSQL does at a time
    assert results == [] and other.batch("ROLLBACK").error is None
    writing.join(60)
    assert results == [None] and db.batch("COMMIT").error is None
    assert count(other, key) == 1


# ---- limits

@pytest.fixture
def hasty(three):
    """One more server of the same installation, whose requests may take a second, and its transactions may be silent for two."""
    with type(three[0])(settings={**three[0].settings, "execution_timeout": 1, "transaction_idle_timeout": 2}) as server:
        yield server


def test_an_execution_time_out_while_another_server_has_the_gate(three, hasty, key):
    """50001, and the transaction is gone with it; a call without one is undone."""
    with contextlib.ExitStack() as stack:
        slow, db = opened(stack, three[0], path="wire"), opened(stack, hasty, path="wire")
        assert slow.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}', 0x01, 20").error is None
        assert add(db, key + "1", -1) == 50001
        assert db.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}2', 0x01, 20").error == 50001
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        begin(db, "SNAPSHOT")
        assert count(db, key) == 0
        assert add(db, key + "3", -1) == 50001
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        assert slow.batch("COMMIT").error is None
        assert count(db, key) == 1 and add(db, key + "4") is None


def test_a_silent_transaction_is_ended_and_clients_of_other_servers_go_on(three, hasty, key):
    with contextlib.ExitStack() as stack:
        other, silent = opened(stack, three[0], path="wire"), opened(stack, hasty, path="wire")
        assert silent.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}', 0x01, 20").error is None
        assert add(other, key + "2", 60000) is None         # it waited
        assert silent.batch(f"EXEC proc_AddItem '{key}3', 0x01, 20").error == 50006
        assert count(other, key) == 1


@pytest.mark.parametrize("how", ("killed", "frozen"))
def test_a_transaction_of_a_server_that_is_gone_is_rolled_back(three, key, how):
    """Killed: at once. Frozen: when the server that cleans up has not heard of it for a while; it finds that out when it wakes."""
    lost = type(three[0])(settings=three[0].settings).start()
    try:
        with contextlib.ExitStack() as stack:
            other, db = opened(stack, three[0], path="wire"), opened(stack, lost, path="wire")
            assert db.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}', 0x01, 20").error is None
            assert add(other, key + "2") == 1222
            if how == "killed":
                lost.kill()
            else:
                lost.signal(19)
            assert add(other, key + "2", 60000) is None
            if how == "frozen":
                until(lambda: any("event=gate_freed" in server.log() for server in three))      # written once the gate is free already
                lost.signal(18)
                told = db.batch(f"EXEC proc_AddItem '{key}3', 0x01, 20")
                assert told.error == 50013 and "nothing of it was kept" in told.errors[0][2], told
                assert add(db, key + "4", 60000) is None
            assert count(other, key) == (1 if how == "killed" else 2)
    finally:
        lost.kill()
        lost.remove()
