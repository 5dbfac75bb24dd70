"""Transactions on the wire: manager requests, T-SQL, implicit ones, RESETCONNECTION (wire notes 10)."""
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

from statecalls import add, present


@pytest.fixture
def other(server):
    with Wire(server).login() as made:
        yield made


def test_begin_commit(wire, other, key):
    answer = wire.begin().ok()
    assert answer.kinds == ["envchange", "done"] and answer.envchanges == [8]
    add(wire, key).ok()
    answer = wire.commit().ok()
    assert answer.kinds == ["envchange", "done"] and answer.envchanges == [9]
    assert present(other, key) and wire.batch("SELECT @@TRANCOUNT").value == 0


def test_begin_rollback(wire, other, key):
    wire.begin(isolation=2).ok()
    add(wire, key).ok()
    assert present(wire, key)
    assert wire.rollback().ok().envchanges == [10]
    assert not present(other, key)


@pytest.mark.parametrize("isolation", range(6))
def test_isolation_levels_are_taken(wire, isolation):
    wire.begin(isolation).ok()
    wire.rollback().ok()


def test_begin_again(wire, other, key):
    """pytds and FreeTDS ODBC end every transaction with the flag: the answer ends one and begins the next."""
    wire.begin().ok()
    add(wire, key).ok()
    first = wire.descriptor
    answer = wire.commit(again=True).ok()
    assert answer.envchanges == [9, 8] and wire.descriptor not in (0, first)
    assert present(other, key)
    add(wire, key + "2").ok()
    assert wire.rollback(again=True).ok().envchanges == [10, 8]
    assert not present(other, key + "2") and wire.batch("SELECT @@TRANCOUNT").value == 1
    wire.rollback().ok()


def test_nested(wire, other, key):
    """An inner BEGIN only counts; ROLLBACK ends all."""
    wire.begin().ok()
    assert wire.begin().ok().kinds == ["done"]
    assert wire.batch("SELECT @@TRANCOUNT").value == 2
    add(wire, key).ok()
    assert wire.commit().ok().kinds == ["done"]
    assert wire.commit().ok().envchanges == [9]
    assert present(other, key)
    wire.begin().ok()
    wire.begin().ok()
    assert wire.rollback().ok().envchanges == [10] and wire.batch("SELECT @@TRANCOUNT").value == 0


def test_savepoints(wire, other, key):
    wire.begin().ok()
    add(wire, key + "a").ok()
    assert wire.save("point").ok().kinds == ["done"]
    add(wire, key + "b").ok()
    assert wire.rollback(name="point").ok().kinds == ["done"]
    assert present(wire, key + "a") and not present(wire, key + "b")
    add(wire, key + "c").ok()
    wire.commit().ok()
    assert [present(other, key + x) for x in "abc"] == [True, False, True]


def test_savepoints_in_language(wire, other, key):
    wire.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}a', 0x01, 20 SAVE TRAN here EXEC proc_AddItem '{key}b', 0x01, 20 ROLLBACK TRAN here COMMIT").ok()
    assert [present(other, key + x) for x in "ab"] == [True, False]


def test_errors(wire):
    for answer, number, state in ((wire.commit(), 3902, None), (wire.rollback(), 3903, None), (wire.save("x"), 628, None)):
        assert answer.numbers == [number] and answer.kinds == ["error", "done"] and answer.last.status == tds.ERROR
    assert wire.batch("COMMIT").numbers == [3902] and wire.batch("ROLLBACK").numbers == [3903] and wire.batch("SAVE TRAN x").numbers == [628]
    wire.begin().ok()
    assert wire.rollback(name="unknown").numbers == [6401]
    assert wire.batch("SELECT @@TRANCOUNT").value == 1
    wire.rollback().ok()


@pytest.mark.parametrize("kind", (0, 1, 6, 77))
def test_distributed_transactions_are_refused(wire, kind):
    assert wire.tm(kind, b"\0\0").errors
    assert wire.batch("SELECT 1").value == 1


def test_language(wire, other, key):
    answer = wire.batch("BEGIN TRAN").ok()
    assert answer.kinds == ["envchange", "done"] and answer.last.command == 0xD4
    add(wire, key).ok()
    answer = wire.batch("COMMIT").ok()
    assert answer.kinds == ["envchange", "done"] and answer.last.command == 0xD5
    assert present(other, key)


def test_language_below_7_2_sends_no_envchange(server, witness, other, key):
    with Wire(server, tds.V71R1).login() as w:
        assert w.batch("BEGIN TRAN").ok().kinds == ["done"]
        add(w, key).ok()
        assert w.batch("ROLLBACK TRAN").ok().kinds == ["done"]
        assert not present(other, key)


def test_implicit_transactions(wire, other, key):
    """jTDS: SET IMPLICIT_TRANSACTIONS ON; the first call that touches data begins."""
    wire.batch("SET IMPLICIT_TRANSACTIONS ON").ok()
    assert wire.batch("SELECT @@TRANCOUNT").value == 0 or wire.descriptor
    wire.batch("IF @@TRANCOUNT > 0 ROLLBACK TRAN").ok()
    answer = add(wire, key).ok()
    assert 8 in answer.envchanges and wire.batch("SELECT @@TRANCOUNT").value == 1
    assert wire.batch("IF @@TRANCOUNT > 0 ROLLBACK TRAN").ok().envchanges == [10]
    assert not present(other, key)
    add(wire, key).ok()
    assert wire.batch("IF @@TRANCOUNT > 0 COMMIT TRAN").ok().envchanges == [9]
    assert present(other, key)
    wire.batch("SET IMPLICIT_TRANSACTIONS OFF").ok()


def test_closing_rolls_back(server, witness, other, key):
    w = Wire(server).login()
    w.begin().ok()
    add(w, key).ok()
    w.close()
    assert not present(other, key)


def test_error_leaves_the_transaction(wire, other, key):
    """Clarification 6: XACT_ABORT OFF undoes the call only; ON rolls back, with ENVCHANGE 10."""
    wire.begin().ok()
    add(wire, key).ok()
    assert add(wire, key).numbers == [2627]
    assert wire.batch("SELECT @@TRANCOUNT").value == 1
    wire.commit().ok()
    assert present(other, key)
    wire.batch("SET XACT_ABORT ON").ok()
    wire.begin().ok()
    add(wire, key + "2").ok()
    answer = add(wire, key + "2")
    assert answer.numbers == [2627] and 10 in answer.envchanges
    assert wire.batch("SELECT @@TRANCOUNT").value == 0 and not present(other, key + "2")


def test_lock_timeout(wire, other, key):
    """Clarification 7: who needs what an open transaction holds waits for SET LOCK_TIMEOUT, then 1222."""
    wire.begin().ok()
    add(wire, key).ok()
    other.batch("SET LOCK_TIMEOUT 200").ok()
    start = time.monotonic()
    assert add(other, key).numbers == [1222]
    assert 0.1 < time.monotonic() - start < 5
    wire.commit().ok()
    assert add(other, key).numbers == [2627]


def test_transaction_that_stays_idle(new_server, key):
    server = new_server(settings={"transaction_idle_timeout": 1})
    with Wire(server).login() as w, Wire(server).login() as other:
        w.begin().ok()
        add(w, key).ok()
        assert not present(other, key)      # waits until the idle transaction is rolled back
        answer = w.batch("SELECT 1")
        assert 50006 in answer.numbers or 10 in answer.envchanges, answer.summary()
        assert w.batch("SELECT @@TRANCOUNT").value == 0


def test_a_transaction_has_one_database(wire, key):
    wire.begin().ok()
    add(wire, key).ok()
    answer = wire.batch("EXEC WordAutomation.dbo.proc_GetJobs")
    assert answer.numbers in ([50007], [201], [2812]), answer.numbers
    wire.rollback().ok()


# RESETCONNECTION


def test_reset(wire, other, key):
    """Transaction rolled back, database and settings back, handles gone; the answer begins with ENVCHANGE 18."""
    handle = wire.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar("@a int")), Param(t.nvarchar("SELECT @a"))]).ok().outputs[0]
    wire.begin().ok()
    add(wire, key).ok()
    wire.batch("USE master SET XACT_ABORT ON SET LOCK_TIMEOUT 5").ok()
    answer = wire.batch("SELECT @@TRANCOUNT, DB_NAME(), @@LOCK_TIMEOUT", flags=tds.RESET).ok()
    assert 18 in answer.envchanges and answer.tokens[0].kind == "envchange"
    assert answer.rows[0][:2] == [0, "StateService"] and wire.descriptor == 0
    assert not present(other, key)
    assert wire.rpc(12, [Param(t.int_(handle)), Param(t.int_(1))]).numbers == [8179]


def test_reset_on_an_rpc_and_a_manager_request(wire, key):
    wire.begin().ok()
    answer = wire.rpc("proc_RefreshItemExpiration", [Param(t.varchar(key))], flags=tds.RESET).ok()
    assert 18 in answer.envchanges and answer.status == 0
    answer = wire.tm(5, b"\0\0", flags=tds.RESET).ok()
    assert answer.envchanges[0] == 18 and answer.envchanges[-1] == 8
    wire.rollback().ok()


def test_reset_that_keeps_the_transaction(wire, key):
    wire.begin().ok()
    add(wire, key).ok()
    descriptor = wire.descriptor
    wire.send_message(tds.BATCH, tds.batch_body("SELECT @@TRANCOUNT", wire.version, descriptor), tds.RESET_SKIPTRAN)
    raw, _ = wire.read_raw_message()
    answer = tds.Answer(tds.parse(raw, wire.version))
    assert 18 in answer.envchanges and answer.value == 1
    wire.descriptor = descriptor
    wire.rollback().ok()


def test_both_reset_bits(wire):
    answer = wire.batch("SELECT 1", flags=tds.RESET | tds.RESET_SKIPTRAN)
    assert answer.numbers == [3913]
    assert wire.batch("SELECT 1").value == 1


def test_reset_by_procedure(wire):
    """pytds calls sp_reset_connection by name, and learns of the end of its transaction by ENVCHANGE 10."""
    wire.begin().ok()
    wire.send_message(tds.RPC, tds.rpc_body([("sp_reset_connection", [])], wire.version, wire.descriptor))
    answer = wire.answer(tds.RPC)
    assert answer.status == 0 and not answer.errors and answer.envchanges == [10]
    assert wire.batch("SELECT @@TRANCOUNT").value == 0


def test_a_wrong_descriptor(wire):
    """A descriptor that is not the session's is refused or ignored, never followed."""
    wire.send_message(tds.BATCH, tds.batch_body("SELECT @@TRANCOUNT", wire.version, 0x1122334455))
    answer = wire.answer()
    assert answer.numbers in ([3971], [3989]) or answer.value == 0
    assert wire.batch("SELECT 1").value == 1
