"""Server cursors: sp_cursoropen and its relatives (wire notes 15.2)."""
import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

STATIC, FORWARD, FAST = 8, 4, 16
FIRST, NEXT, PRIOR, LAST, ABSOLUTE, RELATIVE, REFRESH, INFO = 1, 2, 4, 8, 16, 32, 128, 256
NUMBERS = " UNION ALL ".join(f"SELECT {i} AS n, '{i}' AS t" for i in range(1, 8))


@pytest.fixture(params=[tds.V71, tds.V72, tds.V74], ids=["7.1", "7.2", "7.4"])
def w(request, server, witness):
    with Wire(server, request.param).login() as made:
        yield made


def numbers(*given):
    return [Param(t.int_(n), output=True) for n in given]


def open_cursor(w, text, scroll=STATIC, concurrency=1, rows=0, declarations=None, values=()):
    more = [] if declarations is None else [Param(t.nvarchar(declarations))] + list(values)
    return w.rpc(2, numbers(None) + [Param(t.nvarchar(text))] + numbers(scroll, concurrency, rows) + more)


def fetch(w, cursor, kind, row=0, n=2):
    answer = w.rpc(7, [Param(t.int_(cursor)), Param(t.int_(kind)), Param(t.int_(row)), Param(t.int_(n))]).ok()
    assert answer.kinds[0] == "colmetadata" and answer.kinds[-3:] == ["doneinproc", "returnstatus", "doneproc"] and answer.status == 0
    assert all(r[-1] == 1 for r in answer.rows), "ROWSTAT"
    return [r[0] for r in answer.rows]


def where(w, cursor):
    outputs = w.rpc(7, [Param(t.int_(cursor)), Param(t.int_(INFO))] + numbers(None, None)).ok().outputs
    return outputs[2], outputs[3]


def test_opening(w):
    answer = open_cursor(w, NUMBERS).ok()
    assert answer.kinds == ["colmetadata", "colinfo", "doneinproc", "returnstatus"] + ["returnvalue"] * 4 + ["doneproc"]
    assert [c.name for c in answer.columns] == ["n", "t", "ROWSTAT"] and answer.rows == []
    assert answer.all("colinfo")[0].data == bytes([1, 0, 4, 2, 0, 4, 3, 0, 0x14])
    assert answer.outputs[0] > 0 and [answer.outputs[i] for i in (2, 3, 4)] == [STATIC, 1, 7] and answer.status == 0


@pytest.mark.parametrize("wish, becomes", [(1, STATIC), (2, STATIC), (STATIC, STATIC), (FORWARD, FORWARD), (FAST, FAST), (0x80000 | 0x8000 | 1, STATIC)])
def test_wishes_and_what_becomes_of_them(w, wish, becomes):
    outputs = open_cursor(w, "SELECT name FROM sys.databases", wish, 4).ok().outputs
    assert (outputs[2], outputs[3]) == (becomes, 1)
    assert (outputs[4] > 0) == (becomes == STATIC)


def test_fetching(w):
    c = open_cursor(w, NUMBERS).ok().outputs[0]
    assert where(w, c) == (0, 7)
    assert [fetch(w, c, NEXT) for _ in range(5)] == [[1, 2], [3, 4], [5, 6], [7], []]
    assert where(w, c) == (-1, 7)
    assert fetch(w, c, PRIOR) == [6, 7] and where(w, c)[0] == 6
    assert fetch(w, c, PRIOR, n=3) == [3, 4, 5] and fetch(w, c, REFRESH, n=3) == [3, 4, 5]
    assert fetch(w, c, PRIOR, n=3) == [1, 2, 3] and fetch(w, c, PRIOR) == [] and where(w, c)[0] == 0
    assert fetch(w, c, LAST, n=3) == [5, 6, 7] and fetch(w, c, FIRST, n=1) == [1]
    assert fetch(w, c, ABSOLUTE, 4) == [4, 5] and fetch(w, c, ABSOLUTE, -2) == [6, 7] and fetch(w, c, ABSOLUTE, 9) == []
    assert fetch(w, c, ABSOLUTE, 3, 1) == [3] and fetch(w, c, RELATIVE, 2, 1) == [5] and fetch(w, c, RELATIVE, -4, 1) == [1]
    assert fetch(w, c, RELATIVE, -4, 1) == [] and fetch(w, c, NEXT, n=9) == [1, 2, 3, 4, 5, 6, 7]
    assert fetch(w, c, FIRST, n=0) == [] and fetch(w, c, RELATIVE, 3, 1) == [3], "as FreeTDS finds a row"


def test_fetching_forward_only(w):
    c = open_cursor(w, NUMBERS, FORWARD).ok().outputs[0]
    assert fetch(w, c, NEXT, n=5) == [1, 2, 3, 4, 5]
    assert w.rpc(7, [Param(t.int_(c)), Param(t.int_(PRIOR)), Param(t.int_(0)), Param(t.int_(1))]).numbers == [16911]
    assert fetch(w, c, NEXT, n=5) == [6, 7] and fetch(w, c, NEXT) == []


def test_rows_with_the_opening(w):
    answer = open_cursor(w, NUMBERS, FAST | 0x2000, rows=3).ok()
    assert [r[0] for r in answer.rows] == [1, 2, 3] and fetch(w, answer.outputs[0], NEXT, n=9) == [4, 5, 6, 7]
    answer = open_cursor(w, NUMBERS, FAST | 0x6000, rows=20).ok()
    assert len(answer.rows) == 7 and answer.outputs[0] == 0, "closed already"


def test_a_fetch_without_metadata(server):
    with Wire(server).login() as w:
        answer = open_cursor(w, NUMBERS).ok()
        call = tds.rpc_one(7, [Param(t.int_(answer.outputs[0])), Param(t.int_(NEXT)), Param(t.int_(0)), Param(t.int_(2))], options=2)
        w.send_message(tds.RPC, tds.rpc_body([], w.version, 0) + call)
        raw = next(part for part in w.read_raw_message() if isinstance(part, (bytes, bytearray)))
        tokens = tds.parse(raw, w.version, known=answer.columns)
        assert raw[:3] == bytes.fromhex("81ffff") and [x.values[0] for x in tokens if x.kind == "row"] == [1, 2]


def test_parameters_and_procedures(w):
    c = open_cursor(w, "SELECT name FROM sys.databases WHERE name = @n", STATIC | 0x1000, 1, 0, "@n nvarchar(20)", [Param(t.nvarchar("WordAutomation "))]).ok().outputs[0]
    assert fetch(w, c, LAST) == ["WordAutomation"]
    c = open_cursor(w, "EXEC sp_databases").ok().outputs[0]
    assert "WordAutomation" in fetch(w, c, NEXT, n=50)


def test_prepared_cursors(w):
    text, declared = Param(t.nvarchar("SELECT name FROM sys.databases WHERE name = @n")), Param(t.nvarchar("@n nvarchar(20)"))
    answer = w.rpc(3, numbers(None) + [declared, text, Param(t.int_(1))] + numbers(1, 4)).ok()
    assert answer.columns[0].name == "name" and (answer.outputs[4], answer.outputs[5]) == (STATIC, 1)
    handle = answer.outputs[0]
    for name in ("WordAutomation", "Translation"):
        answer = w.rpc(4, [Param(t.int_(handle))] + numbers(None, STATIC, 1, 0) + [Param(t.nvarchar(name))]).ok()
        assert fetch(w, answer.outputs[1], NEXT) == [name] and answer.outputs[4] == 1
    w.rpc(6, [Param(t.int_(handle))]).ok()
    assert w.rpc(4, [Param(t.int_(handle))] + numbers(None, STATIC, 1, 0) + [Param(t.nvarchar("x"))]).numbers[0] == 8179
    answer = w.rpc(5, numbers(None, None) + [declared, text] + numbers(STATIC, 1, 0) + [Param(t.nvarchar("StateService"))]).ok()
    assert fetch(w, answer.outputs[1], FIRST) == ["StateService"] and answer.outputs[0] > 0


def test_what_is_no_query(w):
    """16937; with ALLOW_DIRECT it is run as it is, after 16954."""
    assert open_cursor(w, "SET NOCOUNT ON; SELECT 1").numbers == [16937]
    assert open_cursor(w, "PRINT 'x'").numbers == [16937]
    answer = open_cursor(w, "SET NOCOUNT ON; SELECT 1 AS a", concurrency=0x2001).ok()
    assert [m.number for m in answer.infos] == [16954] and answer.rows == [[1]] and answer.outputs[0] == 0
    assert open_cursor(w, "SELECT * FROM nowhere").numbers == [208, 16945]
    assert open_cursor(w, "SELECT FROM (").numbers[-1] == 16945
    assert open_cursor(w, "SELECT 1/0 AS x").numbers == [8134, 16945]
    assert open_cursor(w, "SELECT 1 AS x", scroll=0x8001).numbers == [16955]
    assert w.batch("SELECT 1").value == 1


def test_closing(w):
    c, d = (open_cursor(w, NUMBERS).ok().outputs[0] for _ in range(2))
    assert c != d
    w.rpc(8, [Param(t.int_(c)), Param(t.int_(2)), Param(t.nvarchar("name"))]).ok()
    assert w.rpc(1, [Param(t.int_(c)), Param(t.int_(2)), Param(t.int_(1)), Param(t.nvarchar(""))]).numbers == [16929]
    assert w.rpc(9, [Param(t.int_(c))]).ok().status == 0
    answer = w.rpc(7, [Param(t.int_(c)), Param(t.int_(NEXT)), Param(t.int_(0)), Param(t.int_(1))])
    assert answer.numbers == [16909] and answer.status == 1
    assert fetch(w, d, NEXT) == [1, 2]
    w.rpc(9, [Param(t.int_(-1))]).ok()
    assert w.rpc(9, [Param(t.int_(d))]).numbers == [16909]


def test_a_cursor_keeps_what_it_saw_and_ends_with_a_reset(server):
    with Wire(server).login() as w:
        c = open_cursor(w, "SELECT @@SPID AS x").ok().outputs[0]
        assert len(fetch(w, c, NEXT)) == 1
        w.batch("SELECT 1", flags=8).ok()
        assert w.rpc(7, [Param(t.int_(c)), Param(t.int_(FIRST)), Param(t.int_(0)), Param(t.int_(1))]).numbers == [16909]


def test_columns_of_a_prepared_statement(w):
    """sp_prepare with option 1."""
    for text, names in (("SELECT name, database_id FROM sys.databases WHERE name = @n", ["name", "database_id"]), ("SELECT 1 AS a", ["a"]), ("EXEC sp_databases", None)):
        answer = w.rpc(11, numbers(None) + [Param(t.nvarchar("@n nvarchar(20)")), Param(t.nvarchar(text)), Param(t.int_(1))]).ok()
        assert answer.kinds == ["colmetadata", "doneinproc", "returnstatus", "returnvalue", "doneproc"] and answer.rows == []
        assert names is None or [c.name for c in answer.columns] == names
    answer = w.rpc(11, numbers(None) + [Param(t.nvarchar(None)), Param(t.nvarchar("SELECT 1 AS a"))]).ok()
    assert answer.kinds == ["returnstatus", "returnvalue", "doneproc"]
