"""Data types, both ways: a parameter of every type comes back from SELECT @p byte for byte, NULL as well (wire notes 12)."""
import struct

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire
from support.wiretypes import MAX, Type

GUID = bytes.fromhex("33221100554477668899aabbccddeeff")
UTF16 = "żółw 😀".encode("utf-16-le")


def le(n, size):
    return n.to_bytes(size, "little", signed=n < 0)


# declaration, type of the parameter as sent, values, type of the column as expected (None: the same)
CASES = [
    ("bit", Type(0x68, 1), [b"\0", b"\1"], None),
    ("tinyint", Type(0x26, 1), [b"\0", b"\xff"], None),
    ("smallint", Type(0x26, 2), [le(-32768, 2), le(32767, 2)], None),
    ("int", Type(0x26, 4), [le(-2**31, 4), le(2**31 - 1, 4), le(0, 4)], None),
    ("bigint", Type(0x26, 8), [le(-2**63, 8), le(2**63 - 1, 8)], None),
    ("real", Type(0x6D, 4), [struct.pack("<f", 1.5), struct.pack("<f", -3.4e38)], None),
    ("float", Type(0x6D, 8), [struct.pack("<d", 1.1), struct.pack("<d", -1.7e308)], None),
    ("smallmoney", Type(0x6E, 4), [le(-2**31, 4), le(12345, 4)], None),
    ("money", Type(0x6E, 8), [struct.pack("<iI", 0x12345678, 0x9ABCDEF0), struct.pack("<iI", -1, 0xFFFFFFFF)], None),
    ("smalldatetime", Type(0x6F, 4), [struct.pack("<HH", 0, 0), struct.pack("<HH", 65535, 1439)], None),
    ("datetime", Type(0x6F, 8), [struct.pack("<iI", -53690, 0), struct.pack("<iI", 2958463, 25919999), bytes.fromhex("ac8e0000c07a1000")], None),
    ("uniqueidentifier", Type(0x24, 16), [GUID, b"\0" * 16, b"\xff" * 16], None),
    ("decimal(9,2)", Type(0x6A, 5, 9, 2), [b"\1" + le(999999999, 4), b"\0" + le(5, 4)], None),
    ("decimal(38,10)", Type(0x6A, 17, 38, 10), [b"\1" + (10**38 - 1).to_bytes(16, "little"), b"\0" + (10**30).to_bytes(16, "little")], None),
    ("numeric(18,0)", Type(0x6C, 9, 18, 0), [b"\1" + le(10**18 - 1, 8)], None),
    ("date", Type(0x28, 3), [b"\0\0\0", bytes.fromhex("07240b"), (3652058).to_bytes(3, "little")], None),
    ("time(0)", Type(0x29, 3, 0, 0), [b"\0\0\0", (86399).to_bytes(3, "little")], None),
    ("time(7)", Type(0x29, 5, 0, 7), [bytes.fromhex("0068c46108"), (863999999999).to_bytes(5, "little")], None),
    ("datetime2(3)", Type(0x2A, 7, 0, 3), [(3600000).to_bytes(4, "little") + bytes.fromhex("07240b")], None),
    ("datetime2(7)", Type(0x2A, 8, 0, 7), [bytes.fromhex("0068c4610807240b")], None),
    ("datetimeoffset(7)", Type(0x2B, 10, 0, 7), [bytes.fromhex("0068c4610807240b") + struct.pack("<h", 60), bytes.fromhex("0068c4610807240b") + struct.pack("<h", -840)], None),
    ("varchar(20)", Type(0xA7, 20), [b"", b"abc", "ü€".encode("cp1252"), b"\x81\x8d\x8f\x90\x9d", b"x" * 20], None),
    ("char(5)", Type(0xAF, 5), [b"abcde", b"a    "], None),
    ("nvarchar(20)", Type(0xE7, 40), [b"", UTF16, "\ud800".encode("utf-16-le", "surrogatepass")], None),
    ("nchar(3)", Type(0xEF, 6), ["aż ".encode("utf-16-le")], None),
    ("varbinary(8000)", Type(0xA5, 8000), [b"", b"\0\1\2", b"z" * 8000], None),
    ("binary(4)", Type(0xAD, 4), [b"\0\0\0\1"], None),
    ("varchar(max)", Type(0xA7, MAX), [b"", b"abc", b"q" * 100000], None),
    ("nvarchar(max)", Type(0xE7, MAX), [b"", UTF16, UTF16 * 10000], None),
    ("varbinary(max)", Type(0xA5, MAX), [b"", b"\0", bytes(range(256)) * 400], None),
    ("xml", Type(0xF1), ["<a b=\"1\">ż</a>".encode("utf-16-le")], None),
]


@pytest.mark.parametrize("declaration, sent, values, back", CASES, ids=[c[0] for c in CASES])
def test_round_trip(wire, declaration, sent, values, back):
    for raw in [*values, None]:
        answer = wire.executesql("SELECT @p1", f"@p1 {declaration}", [Param((sent, raw), "@p1")]).ok()
        column = answer.columns[0]
        expected = back or sent
        if expected.code in (0x6A, 0x6C):
            assert column.type.code in (0x6A, 0x6C) and (column.type.precision, column.type.scale) == (expected.precision, expected.scale)
        else:
            assert column.type == expected, (column.type, expected)
        assert column.flags & 1 and column.name == ""
        got = answer.all("row")[0].raw[0]
        if raw is not None and expected.code in (0x6A, 0x6C):
            assert int.from_bytes(got[1:], "little") == int.from_bytes(raw[1:], "little") and got[0] == raw[0]
        else:
            assert got == raw, (declaration, got, raw)
        assert answer.status == 0
        assert [(d.kind, d.status & tds.COUNT, d.count) for d in answer.all("doneinproc")] == [("doneinproc", tds.COUNT, 1)]


@pytest.mark.parametrize("declaration, sent, values, back", CASES, ids=[c[0] for c in CASES])
def test_outputs(wire, declaration, sent, values, back):
    """An output parameter comes back in the client's own type; its ordinal counts the statement and the declaration."""
    for raw in [values[-1], None]:
        answer = wire.executesql("SET @p2 = @p1", f"@p1 {declaration}, @p2 {declaration} OUTPUT", [Param((sent, raw), "@p1"), Param((sent, None), "@p2", output=True)]).ok()
        value = answer.all("returnvalue")[0]
        assert (value.ordinal, value.name) == (3, "@p2") and value.type.code == sent.code
        if raw is not None and sent.code in (0x6A, 0x6C):
            assert int.from_bytes(value.raw[1:], "little") == int.from_bytes(raw[1:], "little")
        else:
            assert value.raw == raw


FIXED = [("int", 0x38, le(-7, 4)), ("bigint", 0x7F, le(2**40, 8)), ("smallint", 0x34, le(-2, 2)), ("tinyint", 0x30, b"\xfe"), ("bit", 0x32, b"\1"), ("float", 0x3E, struct.pack("<d", 2.5)),
         ("real", 0x3B, struct.pack("<f", 2.5)), ("datetime", 0x3D, bytes.fromhex("ac8e0000c07a1000")), ("smalldatetime", 0x3A, b"\1\0\2\0"), ("money", 0x3C, b"\0\0\0\0\1\0\0\0"),
         ("smallmoney", 0x7A, b"\1\0\0\0")]


@pytest.mark.parametrize("declaration, code, raw", FIXED, ids=[f[0] for f in FIXED])
def test_fixed_types_as_parameters(wire, declaration, code, raw):
    answer = wire.executesql("SELECT @p1", f"@p1 {declaration}", [Param((Type(code, len(raw)), raw), "@p1")]).ok()
    assert answer.all("row")[0].raw[0] == raw


CONVERSIONS = [
    ("uniqueidentifier as text", "uniqueidentifier", t.nvarchar("00112233-4455-6677-8899-AABBCCDDEEFF"), GUID),
    ("datetime as text", "datetime", t.nvarchar("2000-01-01 01:00:00.000"), bytes.fromhex("ac8e0000c07a1000")),
    ("bigint as decimal", "bigint", (Type(0x6A, 9, 17, 0), b"\1" + le(42, 8)), le(42, 8)),
    ("short decimal of jTDS", "decimal(38,2)", (Type(0x6A, 17, 38, 2), b"\1\x05"), None),
    ("smallint as int", "smallint", t.int_(5), le(5, 2)),
    ("bit as int", "bit", t.int_(2), b"\1"),
    ("int as bigint", "int", t.int_(5, 8), le(5, 4)),
    ("int as text", "int", t.varchar("12"), le(12, 4)),
    ("nvarchar(max) as ntext", "nvarchar(max)", t.ntext("żółw"), "żółw".encode("utf-16-le")),
    ("varbinary(max) as image", "varbinary(max)", t.image(b"\1\2"), b"\1\2"),
    ("varbinary(max) as varbinary", "varbinary(max)", t.varbinary(b"\1\2"), b"\1\2"),
    ("varchar as nvarchar", "varchar(10)", t.nvarchar("ü€"), "ü€".encode("cp1252")),
    ("xml as nvarchar", "xml", t.nvarchar("<a/>"), "<a/>".encode("utf-16-le")),
    ("datetime as datetimeoffset", "datetime", (Type(0x2B, 10, 0, 7), bytes.fromhex("0068c4610807240b0000")), bytes.fromhex("ac8e0000c07a1000")),
    ("any NULL", "datetime", t.varchar(None, 1), None),
    ("any NULL, binary", "int", t.varbinary(None, 1), None),
]


@pytest.mark.parametrize("name, declaration, typed, raw", CONVERSIONS, ids=[c[0] for c in CONVERSIONS])
def test_other_types_convert(wire, name, declaration, typed, raw):
    got = wire.executesql("SELECT @p1", f"@p1 {declaration}", [Param(typed, "@p1")]).ok().all("row")[0].raw[0]
    if "decimal of jTDS" in name:
        assert int.from_bytes(got[1:], "little") == 5
    else:
        assert got == raw


@pytest.mark.parametrize("chunk", (1, 7, 4000, 100000))
def test_plp_of_unknown_length(wire, chunk):
    """tedious, pytds and go-mssqldb do not say the length; chunks may split characters."""
    data = UTF16 * 300
    answer = wire.executesql("SELECT @p1", "@p1 nvarchar(max)", [Param((Type(0xE7, MAX), data), "@p1", chunk=chunk)]).ok()
    assert answer.all("row")[0].raw[0] == data


OLD = [("varchar(max)", 0x23, b"abc", b"abc"), ("nvarchar(max)", 0x63, UTF16, UTF16), ("varbinary(max)", 0x22, b"\1\2", b"\1\2"), ("xml", 0x63, "<a/>".encode("utf-16-le"), "<a/>".encode("utf-16-le"))]


@pytest.mark.parametrize("version", (tds.V71, tds.V71R1))
@pytest.mark.parametrize("declaration, code, raw, back", OLD, ids=[o[0] for o in OLD])
def test_large_types_below_7_2(server, witness, version, declaration, code, raw, back):
    """There is no PLP below 7.2: (max) types and xml go out as text, ntext and image."""
    with Wire(server, version).login() as w:
        literal = "0x" + raw.hex() if declaration.startswith("varbinary") else "N'" + raw.decode("utf-16-le") + "'" if code == 0x63 else "'" + raw.decode() + "'"
        answer = w.batch(f"DECLARE @v {declaration}; SET @v = {literal}; SELECT @v, NULL, @v").ok()
        assert [c.type.code for c in answer.columns][::2] == [code, code]
        assert answer.all("row")[0].raw[::2] == [back, back]
        answer = w.batch(f"DECLARE @v {declaration}; SELECT @v").ok()
        assert answer.rows == [[None]]


@pytest.mark.parametrize("version", (tds.V71R1, tds.V72))
@pytest.mark.parametrize("declaration, text", (("date", "2001-02-03"), ("time(7)", "04:05:06.0000000"), ("datetime2(7)", "2001-02-03 04:05:06.0000000"), ("datetimeoffset(7)", "2001-02-03 04:05:06.0000000 +01:00")))
def test_time_types_below_7_3_are_text(server, witness, version, declaration, text):
    with Wire(server, version).login() as w:
        answer = w.batch(f"SELECT CAST('{text}' AS {declaration})").ok()
        assert answer.columns[0].type.code == 0xE7 and answer.value == text


def test_a_large_output_below_7_2_is_refused(server, witness, key):
    """An output of more than 8000 bytes cannot be said in TDS 7.1: error 4073, not a torn stream."""
    from statecalls import add, get
    with Wire(server).login() as w:
        add(w, key, b"x" * 9000).ok()
    with Wire(server, tds.V71R1).login() as w:
        assert get(w, key).numbers == [4073]
        assert w.batch("SELECT 1").value == 1


def test_literals_and_expressions(wire):
    """wire notes 18.9: literals and @@ variables are NOT NULL, expressions nullable."""
    one, count, text, null = (wire.batch(f"SELECT {x}").columns[0] for x in ("1", "@@TRANCOUNT", "'abc'", "NULL"))
    assert (one.type.code, one.flags & 1) == (0x38, 0) and (count.type.code, count.flags & 1) == (0x38, 0)
    assert text.type.key() == (0xA7, 3, 0, 0) and null.flags & 1
    assert wire.batch("SELECT @@MAX_PRECISION").columns[0].type.code in (0x30, 0x26)
    assert wire.batch("SELECT 1 AS a, 2 AS a, 3 AS [b c]").columns[2].name == "b c"


def test_wrong_values_are_refused(wire):
    """8023 and relatives: values that are no instance of their type."""
    bad = [("date", (Type(0x28, 3), b"\xff\xff\xff")), ("time(7)", (Type(0x29, 5, 0, 7), b"\xff" * 5)), ("datetime", (Type(0x6F, 8), struct.pack("<iI", 0, 0x7FFFFFFF))),
           ("datetime", (Type(0x6F, 8), struct.pack("<iI", 10**8, 0))), ("float", (Type(0x6D, 8), struct.pack("<d", float("nan")))), ("float", (Type(0x6D, 8), struct.pack("<d", float("inf")))),
           ("decimal(5,0)", (Type(0x6A, 9, 5, 0), b"\1" + le(10**17, 8))), ("datetimeoffset(7)", (Type(0x2B, 10, 0, 7), bytes.fromhex("0068c4610807240b") + struct.pack("<h", 2000)))]
    for declaration, typed in bad:
        answer = wire.executesql("SELECT @p1", f"@p1 {declaration}", [Param(typed, "@p1")])
        assert answer.errors and answer.errors[0].severity == 16, declaration
    assert wire.batch("SELECT 1").value == 1
