"""What an open transaction means for others, and for its own client: isolation, waiting, time limits, errors, savepoints, lost connections."""
import threading
import time

import pytest

from support.calls import open_path
from support.proves import proves
from support.server import Server

LONG_READ = "SELECT COUNT(*) FROM sys.all_columns a CROSS JOIN sys.all_columns b CROSS JOIN sys.all_columns c CROSS JOIN sys.all_columns d"


def add(db, key, item="0x01"):
    result = db.batch(f"EXEC proc_AddItem '{key}', {item}, 20")
    assert result.error is None, result


def seen(db, key):
    """Through the view: nothing is renewed, nothing waits."""
    result = db.batch(f"SELECT COUNT(*) FROM dbo.Items WHERE Id = '{key}'")
    assert result.error is None, result
    return result.rows[0][0] == 1


def trancount(db):
    return db.batch("SELECT @@TRANCOUNT").rows[0][0]


@pytest.mark.parametrize("end", ("COMMIT", "ROLLBACK"))
@pytest.mark.parametrize("way", ("text", "manager"))
def test_others_see_only_what_is_committed(db, other, key, end, way):
    db.wire.begin() if way == "manager" else db.batch("BEGIN TRANSACTION")
    add(db, key)
    assert seen(db, key) and not seen(other, key)
    if way == "manager":
        (db.wire.commit if end == "COMMIT" else db.wire.rollback)().ok()
    else:
        assert db.batch(end).error is None
    assert seen(other, key) == (end == "COMMIT") == seen(db, key)
    assert trancount(db) == 0


def test_a_view_is_read_while_a_transaction_changes_it(db, other, key):
    add(db, key)
    db.batch(f"BEGIN TRAN EXEC proc_DeleteItem '{key}', 1")
    begin = time.monotonic()
    assert seen(other, key)
    assert time.monotonic() - begin < 2
    db.batch("COMMIT")
    assert not seen(other, key)


def test_waiting_until_the_other_commits(db, other, key):
    add(db, key)
    db.batch(f"BEGIN TRAN EXEC proc_UpdateItem '{key}', 0x02, 20, 1")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(other.call("proc_GetItemWithoutLock", id=key)))
    waiting.start()
    time.sleep(0.3)
    assert not answers
    db.batch("COMMIT")
    waiting.join(10)
    assert answers[0].out["item"] == b"\2"


@pytest.mark.parametrize("patience", (0, 300))
def test_lock_timeout_of_a_session(db, other, key, patience):
    add(db, key)
    db.batch(f"BEGIN TRAN EXEC proc_UpdateItem '{key}', 0x02, 20, 1")
    assert other.batch(f"SET LOCK_TIMEOUT {patience}").error is None
    assert other.batch("SELECT @@LOCK_TIMEOUT").rows == [(patience,)]
    begin = time.monotonic()
    result = other.call("proc_UpdateItem", id=key, item=b"3", timeout=20, lockCookie=1)
    assert result.error == 1222 and result.status is None
    assert patience / 1000 <= time.monotonic() - begin + 0.02 < patience / 1000 + 5
    db.batch("ROLLBACK")
    assert other.call("proc_GetItemWithoutLock", id=key).out["item"] == b"\1"


def test_lock_timeout_of_the_server(new_server, key):
    server = new_server(settings={"lock_timeout": 400})
    with open_path("wire", server, "StateService") as db, open_path("pytds", server, "StateService") as other:
        add(db, key)
        db.batch(f"BEGIN TRAN EXEC proc_UpdateItem '{key}', 0x02, 20, 1")
        begin = time.monotonic()
        assert other.call("proc_UpdateItem", id=key, item=b"3", timeout=20, lockCookie=1).error == 1222
        assert 0.35 < time.monotonic() - begin < 5
        assert other.batch("SELECT 1").rows == [(1,)]
        db.batch("COMMIT")
        assert other.call("proc_UpdateItem", id=key, item=b"3", timeout=20, lockCookie=1).status == 0
        assert db.call("proc_GetItemWithoutLock", id=key).out["item"] == b"3"


def test_an_idle_transaction_is_rolled_back_and_told(new_server, key):
    server = new_server(settings={"transaction_idle_timeout": 1})
    with open_path("wire", server, "StateService") as db, open_path("wire", server, "StateService") as other:
        db.batch("BEGIN TRAN")
        add(db, key)
        begin = time.monotonic()
        add(other, key + "2")               # waits until the transaction is gone
        assert 0.5 < time.monotonic() - begin < 8
        result = db.batch(f"EXEC proc_AddItem '{key}3', 0x01, 20")
        assert result.error == 50006, result
        assert trancount(db) == 0
        assert not seen(db, key) and not seen(db, key + "3") and seen(db, key + "2")
        add(db, key)
        assert seen(other, key)


@pytest.mark.parametrize("how", ("close", "reset"))
def test_a_lost_connection_rolls_back(server, other, key, how):
    with open_path("wire", server, "StateService") as db:
        db.batch("BEGIN TRAN")
        add(db, key)
        if how == "reset":
            from support.wire import BATCH, RESET, batch_body
            db.wire.send_message(BATCH, batch_body("SELECT @@TRANCOUNT", db.wire.version, db.wire.descriptor), flags=RESET)
            assert db.wire.answer(check=False).rows == [[0]]
    add(other, key + "2")                   # gets its turn at once
    assert not seen(other, key) and seen(other, key + "2")


def test_an_error_undoes_its_own_call_only(db, other, key):
    db.batch("SET XACT_ABORT OFF BEGIN TRAN")
    add(db, key)
    assert db.batch(f"EXEC proc_AddItem '{key}', 0x02, 20").error == 2627
    assert db.batch(f"EXEC proc_AddItem '{key}x', 0x02, 0").error == 50003
    assert trancount(db) == 1
    add(db, key + "2")
    assert db.batch("COMMIT").error is None
    assert seen(other, key) and seen(other, key + "2") and not seen(other, key + "x")


@pytest.mark.parametrize("text", ("EXEC proc_AddItem '{key}', 0x02, 20", "SELECT 1 / 0", "SELECT * FROM dbo.Nothing", "EXEC proc_Nothing"))
def test_xact_abort(db, other, key, text):
    db.batch("SET XACT_ABORT ON")
    db.batch("BEGIN TRAN")
    add(db, key)
    result = db.batch(text.format(key=key) + f" EXEC proc_AddItem '{key}after', 0x01, 20")
    assert result.error in (2627, 8134, 208, 2812), result
    assert trancount(db) == 0
    assert not seen(other, key) and not seen(other, key + "after")
    add(other, key)


@proves("STATE-Timer-01")
def test_a_time_out_takes_the_transaction(key):
    with Server(settings={"execution_timeout": 1}) as server, open_path("wire", server, "StateService") as db, open_path("wire", server, "StateService") as other:
        db.batch("BEGIN TRAN")
        add(db, key)
        assert db.batch(LONG_READ).error == 50001
        assert trancount(db) == 0
        assert not seen(other, key)
        add(db, key)


def test_savepoints(db, other, key):
    assert db.batch("SAVE TRAN a").error == 628
    db.batch("BEGIN TRAN")
    add(db, key + "1")
    db.batch("SAVE TRAN a")
    add(db, key + "2")
    db.batch("SAVE TRAN b")
    add(db, key + "3")
    assert db.batch("ROLLBACK TRAN b").error is None
    assert [seen(db, key + n) for n in "123"] == [True, True, False] and trancount(db) == 1
    add(db, key + "3")
    assert db.batch("ROLLBACK TRAN a").error is None
    assert [seen(db, key + n) for n in "123"] == [True, False, False]
    assert db.batch("ROLLBACK TRAN nowhere").error == 6401
    db.batch("COMMIT")
    assert [seen(other, key + n) for n in "123"] == [True, False, False]


def test_nesting_counts(db, other, key):
    db.batch("BEGIN TRAN BEGIN TRAN")
    assert trancount(db) == 2
    add(db, key)
    db.batch("COMMIT")
    assert trancount(db) == 1 and not seen(other, key)
    db.batch("ROLLBACK")
    assert trancount(db) == 0 and not seen(other, key)
    assert db.batch("COMMIT").error == 3902
    assert db.batch("ROLLBACK").error == 3903


def test_one_database_a_transaction(server, db, key):
    db.batch("BEGIN TRAN")
    add(db, key)
    result = db.batch("EXEC ScheduledJobs.dbo.proc_MIP_RemoveScheduledJob '00000000-0000-0000-0000-000000000001'")
    assert result.error == 50007, result
    db.batch("ROLLBACK")
    assert not seen(db, key)


@pytest.mark.parametrize("path", ("pytds", "pymssql"))
def test_drivers_transactions(server, other, key, path):
    with open_path(path, server, "StateService") as db:
        if path == "pymssql":
            db.conn.autocommit(False)
        else:
            db.conn.autocommit = False
        for n, end in enumerate((db.conn.rollback, db.conn.commit)):
            assert db.batch(f"EXEC proc_AddItem '{key}{n}', 0x01, 20").error is None
            assert not seen(other, f"{key}{n}")
            end()
            assert seen(other, f"{key}{n}") == (n == 1)
