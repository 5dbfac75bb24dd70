"""SQLite's SQL of the declarations said in PostgreSQL's: the rules of rewriting, all of them.

The declarations keep to what both take; these few things are rewritten, piece by piece, outside texts and quoted names:
  max(a, b), min(a, b)     greatest, least (of values that are never NULL)
  X'…'                     '\\x…'::bytea
  char(n), instr           chr, strpos; char(0) is the character that stands for U+0000 in PostgreSQL's texts
  lower, upper             ascii_lower, ascii_upper: functions of the schema procession, since PostgreSQL's follow the locale
  a GLOB b, a LIKE b       a @~ b, a %~ b: operators of the schema procession
  COLLATE NOCASE           COLLATE nocase, a collation of the schema procession
  randomblob(16)           uuid_send(gen_random_uuid())
  WHERE 0                  WHERE false
  rowid                    0: a migration of the past runs over empty tables on PostgreSQL
Truth is a number in SQLite and a type of its own in PostgreSQL: whatever is selected goes through as_number(), as_text() or
as_bytes() (overloaded functions that are inlined) to the type that the declaration gives it.
"""
from . import sqltext

NUMBERS = ("bit", "tinyint", "smallint", "int", "bigint", "datetime", "smalldatetime", "date", "money", "smallmoney")
BYTES = ("binary", "varbinary", "image", "uniqueidentifier")
FLOATS = ("real", "float")
NUL = 0x10F7FF                      # stands for U+0000: src/engine/postgres maps texts both ways
WRAPPED = {"int8": "as_number", "text": "as_text", "bytea": "as_bytes", "float8": "as_float"}
WORDS = {"instr": "strpos", "char": "chr", "glob": "@~", "like": "%~", "nocase": "nocase", "rowid": "0"}


def kind(type_):
    """How a value of this type travels and is stored."""
    if type_.name in NUMBERS:
        return "int8"
    if type_.name in BYTES:
        return "bytea"
    return "float8" if type_.name in FLOATS else "text"


def arguments(pieces, start):
    """How many arguments the call whose '(' is at start has; the index of its ')'."""
    depth, count = 0, 1
    for i in range(start, len(pieces)):
        k, piece, _ = pieces[i]
        if k != "other":
            continue
        depth += (piece == "(") - (piece == ")")
        count += piece == "," and depth == 1
        if depth == 0:
            return count, i
    return count, len(pieces)


def word(pieces, i):
    """What a word becomes, and how many pieces that takes."""
    text, low = pieces[i][1], pieces[i][1].lower()
    after = pieces[i + 1] if i + 1 < len(pieces) else ("", "", 0)
    called = after[1] == "("
    if low == "x" and after[0] == "string":
        return f"'\\x{after[1][1:-1]}'::bytea", 2
    if low in ("max", "min") and called and arguments(pieces, i + 1)[0] > 1:
        return {"max": "greatest", "min": "least"}[low], 1
    if low == "char" and called and pieces[i + 2][1] == "0" and pieces[i + 3][1] == ")":
        return f"chr({NUL})", 4
    if low == "randomblob" and called:
        return "uuid_send(gen_random_uuid())", arguments(pieces, i + 1)[1] - i + 1
    if low in ("lower", "upper") and called:
        return "ascii_" + low, 1
    if low in ("instr", "char") and not called:
        return text, 1
    if low == "where" and [p for _, p, _ in pieces[i + 1:i + 3]] == [" ", "0"]:
        return "WHERE false", 3
    return WORDS.get(low, text), 1


def dialect(sql):
    pieces, out, i = list(sqltext.pieces(sql)), [], 0
    while i < len(pieces):
        used = 1
        text = pieces[i][1]
        if pieces[i][0] == "word":
            text, used = word(pieces, i)
        out.append(text)
        i += used
    return "".join(out)


def columns(kinds, prefix="c"):
    return ", ".join(f"{WRAPPED[k]}(q.{prefix}{i})" for i, k in enumerate(kinds, 1))


def wrapped(sql, kinds):
    """What sql gives, as a query in FROM whose columns are q.c1 …"""
    names = ", ".join(f"c{i}" for i in range(1, len(kinds) + 1))
    return f"({sql}) AS q({names})"


def typed(sql, kinds):
    """The rows of sql with columns of these kinds. What writes gives its columns as they are stored."""
    if sqltext.writes(sql):
        return sql
    return f"SELECT {columns(kinds)} FROM {wrapped(sql, kinds)}"


def numbered(sql, value):
    """?1 … become what value(number) gives; texts and quoted names are left alone."""
    out, digits = [], None
    for k, piece, _ in sqltext.pieces(sql):
        if k == "other" and piece == "?":
            digits = ""
        elif digits is not None and k == "other" and piece.isdigit():
            digits += piece
        else:
            if digits is not None:
                out.append(value(int(digits)))
                digits = None
            out.append(piece)
    if digits is not None:
        out.append(value(int(digits)))
    return "".join(out)

