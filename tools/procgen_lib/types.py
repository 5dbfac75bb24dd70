"""SQL types: the text of a declaration, the C initialiser, and what catalogue calls say about a type.

The facts follow SQL Server's own catalogue procedures: ODBC codes, sizes in bytes and characters, SqlDbType of .NET.
"""
import re

MAX = -1


class Type:
    """A type as declared: name, length (MAX for the unbounded), precision and scale."""

    def __init__(self, name, length=0, precision=0, scale=0):
        self.name, self.length, self.precision, self.scale = name, length, precision, scale

    def __eq__(self, other):
        return self.key() == other.key()

    def key(self):
        return (self.name, self.length, self.precision, self.scale)

    def text(self):
        if self.name in LENGTHS:
            return f"{self.name}({'max' if self.length == MAX else self.length})"
        if self.name in ("decimal", "numeric"):
            return f"{self.name}({self.precision},{self.scale})"
        if self.name in ("time", "datetime2", "datetimeoffset"):
            return f"{self.name}({self.scale})"
        return self.name

    def c(self):
        length = "TYPE_MAX" if self.length == MAX else str(self.length)
        return f"{{ {BASE[self.name].enum}, {self.precision}, {self.scale}, {length} }}"


class Base:
    """What is the same for all types of one name."""

    def __init__(self, enum, system_id, odbc, odbc2, sqldbtype, tds, size, prec, radix):
        self.enum, self.system_id, self.odbc, self.odbc2 = enum, system_id, odbc, odbc2
        self.sqldbtype, self.tds, self.size, self.prec, self.radix = sqldbtype, tds, size, prec, radix


# name: enum, system_type_id, ODBC 3 code, ODBC 2 code, SqlDbType, SS_DATA_TYPE (nullable), bytes, precision, radix
BASE = {
    "bit": Base("TYPE_BIT", 104, -7, -7, 2, 50, 1, 1, None),
    "tinyint": Base("TYPE_TINYINT", 48, -6, -6, 20, 38, 1, 3, 10),
    "smallint": Base("TYPE_SMALLINT", 52, 5, 5, 16, 38, 2, 5, 10),
    "int": Base("TYPE_INT", 56, 4, 4, 8, 38, 4, 10, 10),
    "bigint": Base("TYPE_BIGINT", 127, -5, -5, 0, 108, 8, 19, 10),
    "decimal": Base("TYPE_DECIMAL", 106, 3, 3, 5, 106, 0, 0, 10),
    "numeric": Base("TYPE_NUMERIC", 108, 2, 2, 5, 108, 0, 0, 10),
    "smallmoney": Base("TYPE_SMALLMONEY", 122, 3, 3, 17, 110, 4, 10, 10),
    "money": Base("TYPE_MONEY", 60, 3, 3, 9, 110, 8, 19, 10),
    "real": Base("TYPE_REAL", 59, 7, 7, 13, 109, 4, 24, 2),
    "float": Base("TYPE_FLOAT", 62, 6, 6, 6, 109, 8, 53, 2),
    "char": Base("TYPE_CHAR", 175, 1, 1, 3, 47, 0, 0, None),
    "varchar": Base("TYPE_VARCHAR", 167, 12, 12, 22, 39, 0, 0, None),
    "text": Base("TYPE_TEXT", 35, -1, -1, 18, 35, 16, 0, None),
    "nchar": Base("TYPE_NCHAR", 239, -8, -8, 10, 39, 0, 0, None),
    "nvarchar": Base("TYPE_NVARCHAR", 231, -9, -9, 12, 39, 0, 0, None),
    "ntext": Base("TYPE_NTEXT", 99, -10, -10, 11, 35, 16, 0, None),
    "xml": Base("TYPE_XML", 241, -152, -10, 25, 0, -1, 0, None),
    "binary": Base("TYPE_BINARY", 173, -2, -2, 1, 45, 0, 0, None),
    "varbinary": Base("TYPE_VARBINARY", 165, -3, -3, 21, 37, 0, 0, None),
    "image": Base("TYPE_IMAGE", 34, -4, -4, 7, 34, 16, 0, None),
    "uniqueidentifier": Base("TYPE_GUID", 36, -11, -11, 14, 37, 16, 36, None),
    "date": Base("TYPE_DATE", 40, 91, -9, 31, 0, 3, 10, None),
    "time": Base("TYPE_TIME", 41, -154, -9, 32, 0, 5, 16, None),
    "smalldatetime": Base("TYPE_SMALLDATETIME", 58, 93, 11, 15, 111, 4, 16, None),
    "datetime": Base("TYPE_DATETIME", 61, 93, 11, 4, 111, 8, 23, None),
    "datetime2": Base("TYPE_DATETIME2", 42, 93, -9, 33, 0, 8, 27, None),
    "datetimeoffset": Base("TYPE_DATETIMEOFFSET", 43, -155, -9, 34, 0, 10, 34, None),
    "sql_variant": Base("TYPE_VARIANT", 98, -150, -150, 23, 39, 8016, 8000, None),
}
LENGTHS = {"char": 8000, "varchar": 8000, "nchar": 4000, "nvarchar": 4000, "binary": 8000, "varbinary": 8000}
UNBOUNDED = ("text", "ntext", "image", "xml")
UNICODE = ("nchar", "nvarchar", "ntext")
# xml, text and image of the (max) types for clients that ask by the old names (sp_columns, sp_sproc_columns)
OLD_NAMES = {"varchar": "text", "nvarchar": "ntext", "varbinary": "image", "xml": "ntext"}


def parse(text):
    """'varchar(512)' → Type. ValueError says what is wrong."""
    m = re.fullmatch(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?:\(\s*([A-Za-z0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?\s*", text)
    if m is None:
        raise ValueError(f"'{text.strip()}' is not a type")
    name, first, second = m.group(1).lower(), m.group(2), m.group(3)
    if name == "sysname" and first is None:
        return Type("nvarchar", 128)
    if name not in BASE:
        raise ValueError(f"there is no type '{m.group(1)}'")
    if name in LENGTHS:
        return _with_length(name, first, second)
    if name in ("decimal", "numeric"):
        return _with_precision(name, first, second)
    if name in ("time", "datetime2", "datetimeoffset"):
        scale = _number(first, 7)
        if second is not None or scale > 7:
            raise ValueError(f"{name} has 0 to 7 fractional digits")
        return Type(name, 0, 0, scale)
    if first is not None:
        raise ValueError(f"{name} takes no length")
    return Type(name, MAX if name in UNBOUNDED else 0)


def _number(text, default):
    if text is None:
        return default
    if not text.isdigit():
        raise ValueError(f"'{text}' is not a number")
    return int(text)


def _with_length(name, first, second):
    if first is None or second is not None:
        raise ValueError(f"{name} needs one length")
    if first.lower() == "max":
        if not name.startswith(("var", "nvar")):
            raise ValueError(f"{name} has no (max)")
        return Type(name, MAX)
    n = _number(first, 0)
    if not 1 <= n <= LENGTHS[name]:
        raise ValueError(f"{name} has a length of 1 to {LENGTHS[name]}")
    return Type(name, n)


def _with_precision(name, first, second):
    precision, scale = _number(first, 18), _number(second, 0)
    if not 1 <= precision <= 38 or scale > precision:
        raise ValueError(f"{name} has a precision of 1 to 38 and a scale not above it")
    return Type(name, 0, precision, scale)


FACTS = ("shape", "declared", "type_name", "system_type_id", "max_length", "precision", "scale", "char_length", "odbc_type", "odbc2_type",
         "odbc_precision", "odbc_length", "odbc_scale", "radix", "sql_data_type", "datetime_sub", "octet_length", "ss_data_type",
         "sqldbtype", "old_type_name", "old_odbc_type", "old_precision", "old_length", "old_octet_length", "numeric_precision",
         "numeric_scale", "datetime_precision", "is_text")


def facts(t, shape):
    """Everything the catalogue calls say about a type, in the order of FACTS (columns of table meta_shape)."""
    b = BASE[t.name]
    unit = 2 if t.name in UNICODE else 1
    is_text = t.name in ("char", "varchar", "text", "nchar", "nvarchar", "ntext", "xml")
    sized = t.name in LENGTHS
    unbounded = t.length == MAX
    if t.name in ("decimal", "numeric"):
        size = 5 if t.precision <= 9 else 9 if t.precision <= 19 else 13 if t.precision <= 28 else 17
    else:
        size = (MAX if unbounded else t.length * unit) if sized else b.size
    chars = None
    if sized or t.name in UNBOUNDED:
        chars = (MAX if sized or t.name == "xml" else 2147483647 // unit) if unbounded else t.length
    precision, length, scale, octets = _odbc_sizes(t, b, unit, sized, unbounded)
    old = _old_sizes(t, b, precision, length, octets, sized, unbounded)
    is_time = t.name in ("date", "time", "smalldatetime", "datetime", "datetime2", "datetimeoffset")
    sub = None if not is_time else 1 if t.name == "date" else 2 if t.name == "time" else 3 if t.name != "datetimeoffset" else 0
    sql_type = 9 if t.name in ("date", "smalldatetime", "datetime", "datetime2") else b.odbc
    exact = t.name in ("tinyint", "smallint", "int", "bigint", "decimal", "numeric", "money", "smallmoney")
    numeric = exact or t.name in ("real", "float")
    sys_precision = t.precision or (b.prec if numeric or is_time or t.name == "bit" else 0)
    sys_scale = t.scale or (4 if "money" in t.name else 3 if t.name == "datetime" else 0)
    return (shape, t.text(), t.name, b.system_id, size, sys_precision, sys_scale, chars, b.odbc, b.odbc2, precision, length, scale,
            b.radix, sql_type, sub, octets, b.tds, b.sqldbtype) + old + (
            sys_precision if numeric else None, sys_scale if exact else None, sys_scale if is_time else None, int(is_text))


def _odbc_sizes(t, b, unit, sized, unbounded):
    """PRECISION, LENGTH, SCALE and CHAR_OCTET_LENGTH as sp_columns_100 has them."""
    if t.name in ("text", "image"):
        return 2147483647, 2147483647, None, 2147483647
    if t.name == "ntext":
        return 1073741823, 2147483646, None, 2147483646
    if unbounded:                       # the (max) types and xml: 0 means without bound
        return 0, 0, None, 0
    if sized:
        return t.length, t.length * unit, None, t.length * unit
    if t.name in ("decimal", "numeric"):
        return t.precision, t.precision + 2, t.scale, None
    if t.name in ("time", "datetime2", "datetimeoffset"):
        whole = {"time": 8, "datetime2": 19, "datetimeoffset": 26}[t.name]
        return whole + (t.scale + 1 if t.scale else 0), {"time": 12, "datetime2": 16, "datetimeoffset": 20}[t.name], t.scale, None
    if t.name == "sql_variant":
        return 8000, 8000, None, None
    scale = {"money": 4, "smallmoney": 4, "datetime": 3, "smalldatetime": 0}.get(t.name, 0 if b.radix == 10 else None)
    length = {"money": 21, "smallmoney": 12, "datetime": 16, "smalldatetime": 16, "date": 6}.get(t.name, b.size)
    return b.prec, length, scale, None


def _old_sizes(t, b, precision, length, octets, sized, unbounded):
    """TYPE_NAME, DATA_TYPE, PRECISION, LENGTH, CHAR_OCTET_LENGTH for the procedures from before the (max) and new time types."""
    if unbounded and t.name in OLD_NAMES:
        name = OLD_NAMES[t.name]
        p = 1073741823 if name == "ntext" else 2147483647
        n = 2147483646 if name == "ntext" else 2147483647
        return name, BASE[name].odbc, p, n, n
    if t.name in ("date", "time", "datetime2", "datetimeoffset"):
        return t.name, -9, precision, precision * 2, precision * 2
    return t.name, b.odbc, precision, length, octets
