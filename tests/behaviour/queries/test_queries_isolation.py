"""SET TRANSACTION ISOLATION LEVEL: what each level promises is kept, by reading procedures, by SELECT, and between workers that claim items."""
import threading
import time
import uuid

import pytest

from support.calls import create_database, open_path
from support.clients import connect

KEEPING = ("REPEATABLE READ", "SERIALIZABLE")


def add(db, key):
    result = db.batch(f"EXEC proc_AddItem '{key}', 0x01, 20")
    assert result.error is None, result


def count(db, key):
    result = db.batch(f"SELECT COUNT(*) FROM dbo.Items WHERE Id LIKE '{key}%'")
    assert result.error is None, result
    return result.rows[0][0]


def begin(db, level):
    assert db.batch(f"SET TRANSACTION ISOLATION LEVEL {level} BEGIN TRAN").error is None


def impatient(db, key):
    """The number of the error that a write gets when it may not wait."""
    return db.batch(f"SET LOCK_TIMEOUT 0 EXEC proc_AddItem '{key}', 0x01, 20").error


@pytest.mark.parametrize("level", KEEPING)
@pytest.mark.parametrize("way", ("text", "manager"))
def test_what_was_read_stays_until_the_end(db, other, key, level, way):
    if way == "manager":
        db.wire.begin(isolation=3 + KEEPING.index(level)).ok()
    else:
        begin(db, level)
    assert count(db, key) == 0
    assert impatient(other, key) == 1222
    assert count(db, key) == 0
    assert db.batch("COMMIT").error is None
    assert impatient(other, key) is None
    assert count(db, key) == 1


@pytest.mark.parametrize("level", ("READ COMMITTED", "READ UNCOMMITTED"))
def test_a_transaction_that_only_reads_holds_nobody_up(db, other, key, level):
    begin(db, level)
    assert count(db, key) == 0
    assert impatient(other, key) is None
    assert count(db, key) == 1              # and sees what others have committed
    assert db.batch("COMMIT").error is None


def test_a_reading_procedure_keeps_what_it_read_too(server, filled):
    begin(filled, "SERIALIZABLE")
    try:
        assert filled.call("proc_GetItems", JobId=1, GroupId=None, NotSubmitted=1, NotStarted=1, InProgress=1, Succeeded=1, Failed=1, Canceled=1).error is None
        with open_path("wire", server, filled.database, "WordAutomation") as other:
            assert other.batch("SET LOCK_TIMEOUT 0 EXEC proc_SubmitJob 2").error == 1222
    finally:
        assert filled.batch("ROLLBACK").error is None


def test_a_snapshot_reads_one_state_and_holds_nobody_up(db, other, key):
    begin(db, "SNAPSHOT")
    assert count(db, key) == 0
    assert impatient(other, key) is None
    assert count(db, key) == 0 and count(other, key) == 1
    assert db.batch("COMMIT").error is None
    assert count(db, key) == 1


def test_a_snapshot_that_writes_sees_its_own_and_takes_the_writer(db, other, key):
    begin(db, "SNAPSHOT")
    assert count(db, key) == 0
    add(db, key)
    assert count(db, key) == 1 and count(other, key) == 0
    assert impatient(other, key + "2") == 1222
    assert db.batch("COMMIT").error is None
    assert count(other, key) == 1


def test_a_snapshot_that_was_overtaken_cannot_write(db, other, key):
    begin(db, "SNAPSHOT")
    assert count(db, key) == 0
    add(other, key)
    result = db.batch(f"EXEC proc_AddItem '{key}2', 0x01, 20")
    assert result.error == 3960, result
    assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
    assert count(db, key) == 1
    add(db, key + "2")


def test_a_snapshot_begins_with_its_first_call(db, other, key):
    begin(db, "SNAPSHOT")
    add(other, key)
    add(db, key + "2")                      # has read nothing that could have changed
    assert db.batch("COMMIT").error is None
    assert count(other, key) == 2


def test_a_transaction_cannot_become_a_snapshot(db, key):
    db.batch("BEGIN TRAN")
    add(db, key)
    result = db.batch(f"SET TRANSACTION ISOLATION LEVEL SNAPSHOT SELECT COUNT(*) FROM dbo.Items WHERE Id = '{key}'")
    assert result.error == 3951, result
    assert db.batch("ROLLBACK SET TRANSACTION ISOLATION LEVEL READ COMMITTED").error is None


@pytest.mark.parametrize("level", KEEPING + ("SNAPSHOT",))
def test_one_database_for_what_is_kept(db, key, level):
    begin(db, level)
    assert count(db, key) == 0
    result = db.batch("EXEC WordAutomation..proc_HasActiveJobs")
    assert result.error == 50007, result
    assert db.batch("SELECT COUNT(*) FROM sys.databases").error is None         # metadata is nobody's data
    assert db.batch("ROLLBACK").error is None


@pytest.mark.parametrize("how", ("commit", "rollback", "close", "reset"))
def test_a_snapshot_ends_in_every_way(server, other, key, how):
    for _ in range(5):
        with open_path("wire", server, "StateService") as db:
            begin(db, "SNAPSHOT")
            assert count(db, key) == 0
            if how in ("commit", "rollback"):
                assert db.batch(how).error is None
            elif how == "reset":
                from support.wire import BATCH, RESET, batch_body
                db.wire.send_message(BATCH, batch_body("SELECT @@TRANCOUNT", db.wire.version, db.wire.descriptor), flags=RESET)
                assert db.wire.answer(check=False).rows == [[0]]
    add(other, key)


@pytest.mark.parametrize("setting", ("transaction_idle_timeout", "transaction_timeout"))
def test_a_silent_snapshot_is_ended_and_told(new_server, key, setting):
    server = new_server(settings={setting: 1})
    with open_path("wire", server, "StateService") as db:
        begin(db, "SNAPSHOT")
        assert count(db, key) == 0
        time.sleep(2.5)
        result = db.batch(f"SELECT COUNT(*) FROM dbo.Items WHERE Id = '{key}'")
        assert result.error == 50006, result
        assert count(db, key) == 0


def test_an_old_transaction_is_rolled_back_however_busy_it_is(new_server, key):
    server = new_server(settings={"transaction_timeout": 1})
    with open_path("wire", server, "StateService") as db, open_path("wire", server, "StateService") as other:
        db.batch("BEGIN TRAN")
        began, n, error = time.monotonic(), 0, None
        while error is None and time.monotonic() - began < 20:
            error = db.batch(f"EXEC proc_AddItem '{key}{n}', 0x01, 20").error
            n += 1
            time.sleep(0.05)
        assert error == 50006 and n > 5
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        assert count(other, key) == 0
        add(other, key)


# ---- workers that claim items ----

WORKERS, ITEMS, BATCH = 4, 120, 6


def group(first):
    items = "".join(f'<item id="{i}" in="{i}.docx" out="{i}.pdf"/>' for i in range(first, first + ITEMS // 4))
    return f'<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd">{items}</group>'


def started(rows, worker):
    items = "".join(f'<item job="{r.JobId}" group="{r.GroupId}" id="{r.ItemId}" wsi="{worker}"/>' for r in rows)
    return ('<batch xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate">'
            f"<start>{items}</start><failed/></batch>")


def claim(server, database, driver, level, claimed, failures):
    """Takes batches as a worker does, until none is left."""
    try:
        client = connect(driver, server, database)
        worker = uuid.uuid4()
        client.run(f"SET TRANSACTION ISOLATION LEVEL {level}")
        while True:
            client.run("BEGIN TRAN")
            rows = client.call("proc_GetConversionBatch", NumberOfConversionsInBatch=BATCH, InProgressThreshold="1900-01-01T00:00:00").rows
            if rows:
                client.call("proc_UpdateConversionBatch", BatchXml=started(rows, worker))
            client.run("COMMIT TRAN")
            if not rows:
                break
            claimed.extend((r.JobId, r.GroupId, r.ItemId) for r in rows)
        client.close()
    except Exception as e:                  # shown by the test, which waits for the thread
        failures.append(e)


@pytest.mark.parametrize("driver", ("pytds-rpc", "pymssql-batch"))
@pytest.mark.parametrize("level", KEEPING)
def test_no_item_is_claimed_twice(server, driver, level):
    name = "Claims" + uuid.uuid4().hex[:8]
    create_database(server, name, "word")
    with open_path("wire", server, name, "WordAutomation") as db:
        assert db.call("proc_AddJob", JobId=1, Settings="<s/>").status == 0
        for g in range(4):
            assert db.call("proc_AddGroup", JobId=1, GroupId=g, InputRoot="in", MaxAttemptsCount=1, JobXml=group(g * 1000)).status == 0
        assert db.call("proc_SubmitJob", JobId=1).status == 0
    claimed, failures = [], []
    threads = [threading.Thread(target=claim, args=(server, name, driver, level, claimed, failures)) for _ in range(WORKERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert not failures, failures
    assert len(claimed) == ITEMS == len(set(claimed))
