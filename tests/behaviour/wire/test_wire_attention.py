"""Attention at any moment (wire notes 11): the answer to the request ends properly, then comes the acknowledgement, in a message of its own."""
import struct
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

from statecalls import add, get, present


@pytest.fixture(params=(tds.V71R1, tds.V72, tds.V74), ids=("7.1r1", "7.2", "7.4"))
def w(request, server, witness):
    with Wire(server, request.param).login() as made:
        yield made


def test_idle(w):
    """Nothing runs: the acknowledgement alone."""
    w.attention()
    w.acknowledgement()
    assert w.batch("SELECT 1").value == 1


def test_late(w):
    """After the whole answer: the acknowledgement alone."""
    assert w.batch("SELECT 1").value == 1
    w.attention()
    w.acknowledgement()
    assert w.batch("SELECT 2").value == 2


def test_twice(w):
    w.attention()
    w.attention()
    w.acknowledgement()
    w.acknowledgement()
    assert w.batch("SELECT 1").value == 1


REQUESTS = {
    "select": lambda w: (tds.BATCH, tds.batch_body("SELECT 1", w.version)),
    "rows of a view": lambda w: (tds.BATCH, tds.batch_body("SELECT * FROM sys.all_objects SELECT 1", w.version)),
    "procedure in a batch": lambda w: (tds.BATCH, tds.batch_body("EXEC sp_stored_procedures PRINT 'x'", w.version)),
    "errors": lambda w: (tds.BATCH, tds.batch_body("SELECT 1/0 SELECT nothing FROM dbo.Items", w.version)),
    "syntax error": lambda w: (tds.BATCH, tds.batch_body("SELECT SELECT", w.version)),
    "nothing": lambda w: (tds.BATCH, tds.batch_body("", w.version)),
    "procedure": lambda w: (tds.RPC, tds.rpc_body([("proc_DeleteItem", [Param(t.varchar("no such item"))])], w.version)),
    "text": lambda w: (tds.RPC, tds.rpc_body([(10, [Param(t.nvarchar("SELECT name FROM sys.all_objects"))])], w.version)),
    "prepared": lambda w: (tds.RPC, tds.rpc_body([(13, [Param(t.int_(None), output=True), Param(t.nvarchar(None)), Param(t.nvarchar("SELECT 1"))])], w.version)),
    "cursor": lambda w: (tds.RPC, tds.rpc_body([(2, [Param(t.int_(None), output=True), Param(t.nvarchar("SELECT name FROM sys.all_objects")),
                                                     Param(t.int_(8), output=True), Param(t.int_(1), output=True), Param(t.int_(5), output=True)])], w.version)),
}


def acknowledgements(w, wanted):
    """Reads until so many acknowledgements have come; gives the number of other messages. One too many would be found by the next request."""
    others = 0
    while wanted > 0:
        tokens = tds.parse(w.read_raw_message()[0], w.version)
        attention = [token for token in tokens if token.kind.startswith("done") and token.status & tds.ATTN]
        assert not attention or len(tokens) == 1, "acknowledged inside an answer"
        wanted -= len(attention)
        others += not attention
    return others


def is_done(server, w):
    """The server has sent the whole answer: the session sleeps."""
    with Wire(server).login() as other:
        deadline = time.monotonic() + 30
        while other.batch(f"SELECT status FROM sys.dm_exec_sessions WHERE session_id = {w.spid}").value != "sleeping":
            assert time.monotonic() < deadline, "the request does not end"
            time.sleep(0.01)


@pytest.mark.parametrize("request_kind", REQUESTS)
def test_every_attention_is_acknowledged_once(server, w, request_kind):
    """Before the request runs, behind the last DONE that nobody has read yet, behind one that was read, and two at once: FreeTDS' ODBC driver, which
    LibreOffice uses, sends its cancel at any of these moments and waits for the acknowledgement for ever."""
    kind, body = REQUESTS[request_kind](w)
    w.send(tds.packets(kind, body) + tds.packets(tds.ATTENTION, b""))
    assert acknowledgements(w, 1) == 1
    assert w.batch("SELECT 1").value == 1
    w.send_message(kind, body)
    is_done(server, w)
    w.attention()
    assert acknowledgements(w, 1) == 1
    assert w.batch("SELECT 2").value == 2
    w.send_message(kind, body)
    w.read_raw_message()
    w.attention()
    w.attention()
    assert acknowledgements(w, 2) == 0
    assert w.batch("SELECT 3").value == 3


def cancel(w, kind=tds.BATCH):
    """Reads what follows an attention: perhaps the (cut) answer, then the acknowledgement."""
    first = w.answer(kind, check=False)
    if first.last.status & tds.ATTN and len(first.tokens) == 1:
        return None
    assert not any(d.status & tds.ATTN for d in first.tokens if d.kind.startswith("done")), "acknowledged inside the answer: tedious gives up"
    w.acknowledgement()
    return first


def test_while_a_batch_waits(w):
    start = time.monotonic()
    w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:30' SELECT 1", w.version))
    time.sleep(0.1)
    w.attention()
    first = cancel(w)
    assert time.monotonic() - start < 5
    assert first is not None and first.last.status & tds.ERROR and not first.errors and not first.results
    assert w.batch("SELECT 2").value == 2


def test_while_an_rpc_waits(w):
    w.send_message(tds.RPC, tds.rpc_body([(10, [Param(t.nvarchar("WAITFOR DELAY '00:00:30'"))])], w.version))
    time.sleep(0.1)
    w.attention()
    first = cancel(w, tds.RPC)
    assert first is not None and first.last.kind == "doneproc" and first.last.status & tds.ERROR
    assert w.batch("SELECT 2").value == 2


def test_in_the_same_segment_as_the_request(w):
    """The attention is there before the request begins to run."""
    for text in ("SELECT 1", "WAITFOR DELAY '00:00:30'", "EXEC sp_stored_procedures", "x" * 10):
        w.send(tds.packets(tds.BATCH, tds.batch_body(text, w.version)) + tds.packets(tds.ATTENTION, b""))
        cancel(w)
        assert w.batch("SELECT 2").value == 2


def test_while_a_large_answer_leaves(w, key):
    """The client has not read anything yet: the server must stop, not buffer for ever."""
    if w.version == tds.V71R1:
        pytest.skip("no output above 8000 bytes in TDS 7.1")
    add(w, key, b"x" * (8 << 20)).ok()
    for delay in (0, 0.05):
        w.send_message(tds.BATCH, tds.batch_body(f"DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithoutLock '{key}', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT SELECT @i SELECT @i SELECT @i", w.version))
        time.sleep(delay)
        w.attention()
        raw, _ = w.read_raw_message()
        tokens = tds.parse(raw, w.version)
        if not (len(tokens) == 1 and tokens[0].status & tds.ATTN):
            assert tokens[-1].kind.startswith("done") and not tokens[-1].status & tds.MORE
            w.acknowledgement()
        assert w.batch("SELECT 2").value == 2


def test_at_many_moments(w, key):
    add(w, key, b"x").ok()
    for i in range(40):
        w.send_message(tds.BATCH, tds.batch_body(f"EXEC proc_RefreshItemExpiration '{key}' SELECT {i} EXEC sp_stored_procedures", w.version))
        if i % 2:
            time.sleep(i * 0.0001)
        w.attention()
        cancel(w)
    assert w.batch("SELECT 2").value == 2


def test_before_the_end_of_the_request(w, key):
    """The partial request is dropped and acknowledged."""
    body = tds.batch_body(f"EXEC proc_AddItem '{key}', 0x01, 20", w.version)
    w.send(struct.pack(">BBHHBB", tds.BATCH, 0, 8 + 30, 0, 1, 0) + body[:30])
    w.attention()
    w.acknowledgement()
    assert w.batch("SELECT 2").value == 2
    assert not present(w, key)


def test_ignore_bit(w, key):
    """The client gives up a request while it sends it: one DONE with the error bit, no ERROR, no acknowledgement, nothing ran."""
    body = tds.batch_body(f"EXEC proc_AddItem '{key}', 0x01, 20", w.version)
    w.send_message(tds.BATCH, body, last=tds.EOM | tds.IGNORE)
    answer = w.answer(check=False)
    assert answer.kinds == ["done"] and answer.last.status == tds.ERROR
    w.send(struct.pack(">BBHHBB", tds.BATCH, 0, 8 + 30, 0, 1, 0) + body[:30] + struct.pack(">BBHHBB", tds.BATCH, tds.EOM | tds.IGNORE, 8, 0, 2, 0))
    answer = w.answer(check=False)
    assert answer.kinds == ["done"] and answer.last.status == tds.ERROR
    assert not present(w, key)


def test_transaction_survives_a_cancel(w, key):
    """XACT_ABORT OFF: the transaction stays; ON: it is rolled back and told."""
    w.batch("BEGIN TRAN").ok()
    add(w, key).ok()
    w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:30'", w.version, w.descriptor))
    time.sleep(0.05)
    w.attention()
    cancel(w)
    assert w.batch("SELECT @@TRANCOUNT").value == 1 and present(w, key)
    w.batch("ROLLBACK").ok()
    assert not present(w, key)
    w.batch("SET XACT_ABORT ON").ok()
    w.batch("BEGIN TRAN").ok()
    w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:30'", w.version, w.descriptor))
    time.sleep(0.05)
    w.attention()
    cancel(w)
    assert w.batch("SELECT @@TRANCOUNT").value == 0 and w.descriptor == 0


def test_prepared_handles_and_settings_survive_a_cancel(w):
    handle = w.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar("@a int")), Param(t.nvarchar("SELECT @a"))]).ok().outputs[0]
    w.batch("SET LOCK_TIMEOUT 1234")
    w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:30'", w.version))
    w.attention()
    cancel(w)
    assert w.rpc(12, [Param(t.int_(handle)), Param(t.int_(4))]).ok().rows == [[4]]


def test_a_call_that_waits_for_a_lock_can_be_cancelled(server, w, key):
    with Wire(server).login() as other:
        other.begin().ok()
        add(other, key).ok()
        w.send_message(tds.BATCH, tds.batch_body(f"EXEC proc_AddItem '{key}', 0x01, 20", w.version))
        time.sleep(0.1)
        w.attention()
        start = time.monotonic()
        cancel(w)
        assert time.monotonic() - start < 5
        other.rollback().ok()
    assert w.batch("SELECT 2").value == 2 and not present(w, key)
