"""The catalogue as rows: SQL that fills the meta_* tables of the system store (declared in procedures/system/schema.sql)."""
import hashlib

from . import emit_c, types


def quote(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    return "'" + value.replace("'", "''") + "'"


class Shapes:
    """Every distinct type once: table meta_shape."""

    def __init__(self):
        self.index, self.rows = {}, []

    def of(self, t):
        if t.key() not in self.index:
            self.index[t.key()] = len(self.rows) + 1
            self.rows.append(types.facts(t, len(self.rows) + 1))
        return self.index[t.key()]


class Script:
    def __init__(self):
        self.lines = []

    def insert(self, table, rows):
        for begin in range(0, len(rows), 100):
            values = ",\n".join("(" + ", ".join(quote(v) for v in row) + ")" for row in rows[begin:begin + 100])
            self.lines.append(f"INSERT INTO {table} VALUES\n{values};")


TABLES = ("meta_procedure", "meta_parameter", "meta_result_column", "meta_view", "meta_view_column", "meta_shape", "meta_type", "meta_hash")


def procedure_rows(services, shapes):
    procs, params, columns = [], [], []
    for s in services:
        for p in s.shown:
            oid = emit_c.object_id("P", s.name, p.name)
            procs.append((oid, s.name, p.schema, p.name, p.section, p.summary, p.source, len(p.params), sum(x.output for x in p.params),
                          len(p.results), p.read_only))
            for i, x in enumerate(p.params, 1):
                params.append((oid, i, x.name, shapes.of(x.type), x.output, x.has_default, x.default_text() if x.has_default else None,
                               not x.not_null))
            for r, step in enumerate(p.results, 1):
                for i, c in enumerate(step.columns, 1):
                    columns.append((oid, r, i, c.name, shapes.of(c.type), c.nullable))
    return procs, params, columns


def view_rows(services, shapes):
    views, columns = [], []
    for s in services:
        for v in s.views:
            for schema, name in emit_c.view_names(v):
                oid = emit_c.object_id("V", s.name, f"{schema}.{name}")
                views.append((oid, s.name, schema, name, v.summary, v.sql))
                for i, c in enumerate(v.columns, 1):
                    columns.append((oid, i, c.name, shapes.of(c.type), c.nullable))
    return views, columns


# sp_datatype_info: name, ODBC 3, ODBC 2, precision, prefix, suffix, create params, case sensitive, searchable, unsigned, money, auto increment,
# scales, SQL_DATA_TYPE, SQL_DATETIME_SUB, radix, usertype, system_type_id, user_type_id, bytes, precision and scale of sys.types, old ODBC 3 code
DATATYPES = (
    ("datetimeoffset", -155, -9, 34, "'", "'", "scale", 0, 3, None, 0, None, 0, 7, -155, 0, None, 0, 43, 43, 10, 34, 7, -9),
    ("time", -154, -9, 16, "'", "'", "scale", 0, 3, None, 0, None, 0, 7, -154, 0, None, 0, 41, 41, 5, 16, 7, -9),
    ("xml", -152, -10, 0, "N'", "'", None, 1, 0, None, 0, None, None, None, -152, None, None, 0, 241, 241, -1, 0, 0, -10),
    ("sql_variant", -150, -150, 8000, None, None, None, 0, 2, None, 0, None, 0, 0, -150, None, 10, 0, 98, 98, 8016, 0, 0, -150),
    ("uniqueidentifier", -11, -11, 36, "'", "'", None, 0, 2, None, 0, None, None, None, -11, None, None, 0, 36, 36, 16, 0, 0, -11),
    ("ntext", -10, -10, 1073741823, "N'", "'", None, 0, 1, None, 0, None, None, None, -10, None, None, 0, 99, 99, 16, 0, 0, -10),
    ("nvarchar", -9, -9, 4000, "N'", "'", "max length", 0, 3, None, 0, None, None, None, -9, None, None, 0, 231, 231, 8000, 0, 0, -9),
    ("sysname", -9, -9, 128, "N'", "'", None, 0, 3, None, 0, None, None, None, -9, None, None, 18, 231, 256, 256, 0, 0, -9),
    ("nchar", -8, -8, 4000, "N'", "'", "length", 0, 3, None, 0, None, None, None, -8, None, None, 0, 239, 239, 8000, 0, 0, -8),
    ("bit", -7, -7, 1, None, None, None, 0, 2, None, 0, None, 0, 0, -7, None, None, 16, 104, 104, 1, 1, 0, -7),
    ("tinyint", -6, -6, 3, None, None, None, 0, 2, 1, 0, 0, 0, 0, -6, None, 10, 5, 48, 48, 1, 3, 0, -6),
    ("bigint", -5, -5, 19, None, None, None, 0, 2, 0, 0, 0, 0, 0, -5, None, 10, 0, 127, 127, 8, 19, 0, -5),
    ("image", -4, -4, 2147483647, "0x", None, None, 0, 0, None, 0, None, None, None, -4, None, None, 20, 34, 34, 16, 0, 0, -4),
    ("varbinary", -3, -3, 8000, "0x", None, "max length", 0, 2, None, 0, None, None, None, -3, None, None, 4, 165, 165, 8000, 0, 0, -3),
    ("binary", -2, -2, 8000, "0x", None, "length", 0, 2, None, 0, None, None, None, -2, None, None, 3, 173, 173, 8000, 0, 0, -2),
    ("text", -1, -1, 2147483647, "'", "'", None, 0, 1, None, 0, None, None, None, -1, None, None, 19, 35, 35, 16, 0, 0, -1),
    ("char", 1, 1, 8000, "'", "'", "length", 0, 3, None, 0, None, None, None, 1, None, None, 1, 175, 175, 8000, 0, 0, 1),
    ("numeric", 2, 2, 38, None, None, "precision,scale", 0, 2, 0, 0, 0, 0, 38, 2, None, 10, 10, 108, 108, 17, 38, 38, 2),
    ("decimal", 3, 3, 38, None, None, "precision,scale", 0, 2, 0, 0, 0, 0, 38, 3, None, 10, 24, 106, 106, 17, 38, 38, 3),
    ("money", 3, 3, 19, "$", None, None, 0, 2, 0, 1, 0, 4, 4, 3, None, 10, 11, 60, 60, 8, 19, 4, 3),
    ("smallmoney", 3, 3, 10, "$", None, None, 0, 2, 0, 1, 0, 4, 4, 3, None, 10, 21, 122, 122, 4, 10, 4, 3),
    ("int", 4, 4, 10, None, None, None, 0, 2, 0, 0, 0, 0, 0, 4, None, 10, 7, 56, 56, 4, 10, 0, 4),
    ("smallint", 5, 5, 5, None, None, None, 0, 2, 0, 0, 0, 0, 0, 5, None, 10, 6, 52, 52, 2, 5, 0, 5),
    ("float", 6, 6, 53, None, None, None, 0, 2, 0, 0, 0, None, None, 6, None, 2, 8, 62, 62, 8, 53, 0, 6),
    ("real", 7, 7, 24, None, None, None, 0, 2, 0, 0, 0, None, None, 7, None, 2, 23, 59, 59, 4, 24, 0, 7),
    ("varchar", 12, 12, 8000, "'", "'", "max length", 0, 3, None, 0, None, None, None, 12, None, None, 2, 167, 167, 8000, 0, 0, 12),
    ("date", 91, -9, 10, "'", "'", None, 0, 3, None, 0, None, None, 0, 9, 1, None, 0, 40, 40, 3, 10, 0, -9),
    ("datetime2", 93, -9, 27, "'", "'", "scale", 0, 3, None, 0, None, 0, 7, 9, 3, None, 0, 42, 42, 8, 27, 7, -9),
    ("datetime", 93, 11, 23, "'", "'", None, 0, 3, None, 0, None, 3, 3, 9, 3, None, 12, 61, 61, 8, 23, 3, 93),
    ("smalldatetime", 93, 11, 16, "'", "'", None, 0, 3, None, 0, None, 0, 0, 9, 3, None, 22, 58, 58, 4, 16, 0, 93),
)


def script(services):
    """Returns (sql, hash)."""
    shapes, out = Shapes(), Script()
    for t in types.BASE:                        # so that every system type has a shape, for locals of the session's own making
        if t not in types.LENGTHS and t not in ("decimal", "numeric"):
            shapes.of(types.parse(t))
    procs, params, columns = procedure_rows(services, shapes)
    views, view_columns = view_rows(services, shapes)
    for t in TABLES:
        out.lines.append(f"DELETE FROM {t};")
    out.insert("meta_shape", shapes.rows)
    out.insert("meta_type", DATATYPES)
    out.insert("meta_procedure", procs)
    out.insert("meta_parameter", params)
    out.insert("meta_result_column", columns)
    out.insert("meta_view", views)
    out.insert("meta_view_column", view_columns)
    text = "\n".join(out.lines) + "\n"
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
    return text + f"INSERT INTO meta_hash VALUES ('{digest}');\n", digest


def source(services):
    sql, digest = script(services)
    return ("/* Generated by tools/procgen.py from procedures/. Do not edit: change the declarations. */\n"
            "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n"
            '#include "catalogue/meta.h"\n\n'
            f"static const char sql[] =\n\t{emit_c.c_string(sql, chr(9))};\n\n"
            f"const char *const catalogue_meta_sql = sql;\nconst char *const catalogue_meta_hash = \"{digest}\";\n")
