"""The form of answers: token order of procedures, batches, failures (wire notes 13 and 14)."""
import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

from statecalls import add, get

ALL = [tds.V71, tds.V71R1, tds.V72, tds.V73A, tds.V73B, tds.V74]


@pytest.fixture(params=ALL, ids=tds.VERSIONS)
def w(request, server, witness):
    with Wire(server, request.param).login() as made:
        yield made


def test_procedure_with_outputs(w, key):
    """RETURNSTATUS, RETURNVALUEs in order of the declaration, DONEPROC; ordinals are positions in the request."""
    assert add(w, key, b"abc").kinds == ["returnstatus", "doneproc"]
    answer = get(w, key, "proc_GetItemWithLock").ok()
    assert answer.kinds == ["returnstatus"] + ["returnvalue"] * 4 + ["doneproc"]
    assert answer.outputs == {"@item": b"abc", "@locked": False, "@lockAgeInSeconds": 0, "@lockCookie": 2}
    assert {v.name: v.ordinal for v in answer.all("returnvalue")} == {"@item": 1, "@locked": 2, "@lockAgeInSeconds": 3, "@lockCookie": 4}
    assert answer.status == 0 and (answer.last.status, answer.last.command) == (0, 0xE0)
    answer = get(w, key, "proc_GetItemWithLock").ok()
    assert answer.outputs["@item"] is None and answer.outputs["@locked"] is True
    answer = get(w, "absent").ok()
    assert set(answer.outputs.values()) == {None} and len(answer.outputs) == 4


def test_positional_outputs_have_no_names(w, key):
    add(w, key, b"abc").ok()
    item = t.varbinary(None, 8000)
    answer = w.rpc("dbo.proc_GetItemWithoutLock", [Param(t.varchar(key)), Param(item, output=True), Param(t.bit(None), output=True), Param(t.int_(None), output=True),
                                                   Param(t.int_(None), output=True)]).ok()
    assert answer.outputs == {1: b"abc", 2: False, 3: 0, 4: 1}


def test_only_wanted_outputs_come_back(w, key):
    add(w, key, b"abc").ok()
    answer = w.rpc("proc_GetItemWithoutLock", [Param(t.int_(None), "@lockCookie", output=True), Param(t.varchar(key), "@ID"), Param(t.varbinary(None, 8000), "@item"),
                                               Param(t.bit(None), "@locked"), Param(t.int_(None), "@lockAgeInSeconds")]).ok()
    assert [(v.ordinal, v.name, v.value) for v in answer.all("returnvalue")] == [(0, "@lockCookie", 1)]


def test_result_set_of_a_procedure(w):
    answer = w.rpc("sp_stored_procedures", []).ok()
    assert answer.kinds[0] == "colmetadata" and answer.kinds[-3:] == ["doneinproc", "returnstatus", "doneproc"]
    assert "proc_AddItem;1" in [row[2] for row in answer.rows]
    rows = answer.all("doneinproc")[0]
    assert rows.status == tds.MORE | tds.COUNT and rows.command == 0xC1 and rows.count == len(answer.rows)


def test_exec_in_a_batch(w, key):
    answer = w.batch(f"EXEC proc_AddItem '{key}', 0x01, 20").ok()
    assert answer.kinds == ["returnstatus", "doneproc"] and (answer.last.status, answer.last.command) == (0, 0xE0)
    answer = w.batch(f"DECLARE @i varbinary(max), @l bit, @a int, @c int; EXEC proc_GetItemWithoutLock '{key}', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT; SELECT @i, @l, @a, @c").ok()
    assert not answer.all("returnvalue") and answer.rows == [[b"\1", False, 0, 1]]
    assert answer.all("doneproc")[0].status == tds.MORE


def test_exec_keeps_the_status(w):
    assert w.batch("DECLARE @rc int; SET @rc = 5; EXEC @rc = proc_RefreshItemExpiration 'x'; SELECT @rc").ok().rows == [[0]]


def test_a_batch_of_statements(w):
    answer = w.batch("SELECT 1 PRINT 'hello' SELECT 2, 3").ok()
    assert answer.kinds == ["colmetadata", "row", "done", "info", "done", "colmetadata", "row", "done"]
    assert [d.status for d in answer.all("done")] == [0x11, 0x01, 0x10] and [d.command for d in answer.all("done")] == [0xC1, 0xF7, 0xC1]
    assert (answer.infos[0].number, answer.infos[0].text) == (0, "hello")


def test_nothing_visible(w):
    assert w.batch("DECLARE @x int").kinds == ["done"]
    assert w.batch("-- only a comment").kinds == ["done"]


FAILURES = [
    ("proc_Nothing", [], 2812, ""), ("proc_AddItem", [Param(t.varchar("k"))], 201, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k"), "@id"), Param(t.int_(1), "@wrong")], 8145, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k"), "@id"), Param(t.varchar("k"), "@ID"), Param(t.int_(1), "@timeout")], 8143, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k"))] * 4, 8144, "proc_AddItem"),
    ("proc_DeleteExpiredItems", [Param(t.int_(1))], 8146, "proc_DeleteExpiredItems"),
    ("proc_AddItem", [Param(t.varchar("k"), output=True), Param(t.varbinary(b"")), Param(t.int_(1))], 8162, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k")), Param(t.varbinary(b"")), Param(t.varchar("many"))], 8114, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar(None, 5)), Param(t.varbinary(b"")), Param(t.int_(1))], 515, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k")), Param(t.varbinary(b"")), Param(t.int_(0))], 50003, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar("k" * 513)), Param(t.varbinary(b"")), Param(t.int_(1))], 8152, "proc_AddItem"),
    ("proc_AddItem", [Param(t.nvarchar("ż")), Param(t.varbinary(b"")), Param(t.int_(1))], 50004, "proc_AddItem"),
    ("proc_AddItem", [Param(t.varchar(None, 1), default=True), Param(t.varbinary(b"")), Param(t.int_(1))], 201, "proc_AddItem"),
]


@pytest.mark.parametrize("proc, params, number, callee", FAILURES, ids=[f"{f[2]}-{i}" for i, f in enumerate(FAILURES)])
def test_failing_call(w, proc, params, number, callee):
    """ERROR, DONEPROC with the error bit, no return status ([E-COM-03]), and the session goes on."""
    answer = w.rpc(proc, params)
    assert answer.numbers == [number]
    assert answer.status is None and not answer.all("returnvalue")
    assert answer.last.kind == "doneproc" and (answer.last.status & tds.ERROR or [d for d in answer.all("doneinproc") if d.status & tds.ERROR])
    assert answer.errors[0].procedure in (callee, callee.upper()) or number == 2812
    assert w.batch("SELECT 1").value == 1


def test_duplicate_key(w, key):
    add(w, key).ok()
    answer = add(w, key)
    assert answer.numbers == [2627] and answer.errors[0].severity == 14 and key in answer.errors[0].text
    assert w.batch("SELECT @@ERROR").value in (2627, 0)


def test_failing_exec_lets_the_batch_go_on(w):
    answer = w.batch("SELECT 1 EXEC proc_Nothing SELECT 2")
    assert [rows for _, rows in answer.results] == [[[1]], [[2]]] and answer.numbers == [2812]


def test_syntax_error_runs_nothing(w, key):
    answer = w.batch(f"EXEC proc_AddItem '{key}', 0x01, 20\nSELECT FROM WHERE (")
    assert answer.kinds == ["error", "done"] and answer.last.status == tds.ERROR
    assert answer.errors[0].number in (102, 156) and answer.errors[0].severity == 15 and answer.errors[0].line == 2
    assert get(w, key).outputs["@locked"] is None


def test_unknown_table(w):
    answer = w.batch("SELECT * FROM nothing_here")
    assert answer.numbers == [208] and "nothing_here" in answer.errors[0].text


def test_unsupported_statements_are_told_clearly(w):
    for text in ("CREATE TABLE t (a int)", "DELETE FROM item", "BULK INSERT x FROM 'y'", "BACKUP DATABASE x TO DISK = 'y'", "DROP PROCEDURE proc_AddItem"):
        answer = w.batch(text)
        assert answer.errors and answer.errors[0].severity in (14, 15, 16) and answer.errors[0].text, text
    assert w.batch("SELECT 1").value == 1


def test_use(w):
    answer = w.batch("USE master").ok()
    assert answer.kinds[0] == "envchange" and 5701 in [i.number for i in answer.infos] and answer.last.command == 0xE2
    assert w.batch("SELECT DB_NAME()").value == "master"
    w.batch("use [StateService]").ok()
    assert w.batch("USE Nowhere").numbers == [911] and w.batch("SELECT DB_NAME()").value == "StateService"


def test_bulk_load_is_refused(w):
    """wire notes 11.3: the statement that begins it fails; data that come all the same are read to their end and refused."""
    answer = w.batch("insert bulk [t] ([a] int) with (TABLOCK)")
    assert answer.errors and answer.errors[0].severity == 16
    w.send_message(tds.BULK, b"\x81\x01\0" + b"x" * 20000)
    answer = w.answer()
    assert answer.errors and w.batch("SELECT 1").value == 1


def test_prepared_statements(w):
    """sp_prepare, sp_execute, sp_prepexec, sp_unprepare by number."""
    answer = w.rpc(11, [Param(t.int_(None), output=True), Param(t.ntext("@a int")), Param(t.ntext("SELECT @a + 1")), Param(t.int_(1))]).ok()
    handle = answer.outputs[0]
    assert handle > 0 and answer.status == 0
    for i in (1, 2, 3):
        assert w.rpc(12, [Param(t.int_(handle)), Param(t.int_(i))]).ok().rows == [[i + 1]]
    assert w.rpc("sp_execute", [Param(t.int_(handle), "@handle"), Param(t.int_(9), "@a")]).ok().rows == [[10]]
    assert w.rpc(12, [Param(t.int_(handle))]).errors
    assert w.rpc(15, [Param(t.int_(handle))]).ok().status == 0
    assert w.rpc(12, [Param(t.int_(handle)), Param(t.int_(1))]).numbers == [8179]
    answer = w.rpc(13, [Param(t.int_(-1), output=True), Param(t.nvarchar("@a nvarchar(10)")), Param(t.nvarchar("SELECT @a")), Param(t.nvarchar("x"), "@a")]).ok()
    assert answer.rows == [["x"]] and answer.outputs[0] > 0
    assert w.rpc(12, [Param(t.int_(answer.outputs[0])), Param(t.nvarchar("y"), "@a")]).ok().rows == [["y"]]
    answer = w.rpc("sp_prepare", [Param(t.int_(None), "@handle", output=True), Param(t.nvarchar(None), "@params"), Param(t.nvarchar("SELECT 5"), "@stmt")]).ok()
    assert w.rpc(12, [Param(t.int_(answer.outputs["@handle"]))]).ok().rows == [[5]]


def test_statement_that_cannot_be_prepared(w):
    answer = w.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar("@a int")), Param(t.nvarchar("SELECT FROM (")), Param(t.int_(1))])
    assert answer.numbers[0] in (102, 156) and 8180 in answer.numbers


def test_unknown_procedure_number(w):
    assert w.rpc(99, []).errors and w.batch("SELECT 1").value == 1


def test_executesql_by_name_and_errors(w):
    answer = w.rpc("sp_executesql", [Param(t.nvarchar("SELECT @x"), "@statement"), Param(t.nvarchar("@x int"), "@params"), Param(t.int_(3), "@x")]).ok()
    assert answer.rows == [[3]]
    assert w.executesql("SELECT @x", "@x int").numbers in ([8178], [201])
    assert w.executesql("SELECT @y", "@x int", [Param(t.int_(1), "@x")]).numbers[0] == 137
    assert w.executesql("SELECT 1 +").errors
    assert w.batch("SELECT 1").value == 1


def test_session_settings_of_the_drivers(w):
    """The batches that drivers send after login, and a few more."""
    for text in ("SET ARITHABORT ON;SET CONCAT_NULL_YIELDS_NULL ON;SET ANSI_NULLS ON;SET ANSI_NULL_DFLT_ON ON;SET ANSI_PADDING ON;SET ANSI_WARNINGS ON;SET ANSI_NULL_DFLT_ON ON;SET CURSOR_CLOSE_ON_COMMIT ON;SET QUOTED_IDENTIFIER ON;SET TEXTSIZE 2147483647;",
                 "set ansi_nulls on\nset ansi_null_dflt_on on\nset ansi_padding on\nset ansi_warnings on\nset arithabort on\nset concat_null_yields_null on\nset datefirst 7\nset dateformat mdy\nset implicit_transactions off\nset language us_english\nset numeric_roundabort off\nset quoted_identifier on\nset textsize 2147483647\nset transaction isolation level read committed\nset xact_abort off",
                 "SELECT @@MAX_PRECISION\r\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED\r\nSET IMPLICIT_TRANSACTIONS OFF\r\nSET QUOTED_IDENTIFIER ON\r\nSET TEXTSIZE 2147483647",
                 "set textsize 2147483647\nset quoted_identifier on\n", "sp_datatype_info_100 12,3", "sp_datatype_info_90 -9,3", "sp_datatype_info 93,3", "IF @@TRANCOUNT > 0 COMMIT TRAN",
                 "SET LOCK_TIMEOUT 1000", "SET NOCOUNT ON", "SET ROWCOUNT 0 SET TEXTSIZE 100000"):
        assert not w.batch(text).errors, text
