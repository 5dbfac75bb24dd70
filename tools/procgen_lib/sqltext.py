"""SQL of the declarations: cutting it at the right places, and giving its variables numbers.

Everything here works on a list of pieces, so that nothing inside string literals, quoted names and comments is ever
taken for a variable, a keyword or the end of a statement.
"""
import re

PIECE = re.compile(r"""
    (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*"|\[[^\]\n]*\]|`[^`]*`)
  | (?P<open>'|"|/\*)
  | (?P<var>[@$][A-Za-z_][A-Za-z0-9_]*|:[A-Za-z_][A-Za-z0-9_]*)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<space>\s+)
  | (?P<other>.)
""", re.X | re.S)
WRITES = {"INSERT", "UPDATE", "DELETE", "REPLACE"}


class SqlError(Exception):
    """offset: where in the text."""

    def __init__(self, text, offset=0):
        super().__init__(text)
        self.offset = offset


def pieces(text):
    """Yields (kind, text, offset)."""
    for m in PIECE.finditer(text):
        if m.lastgroup == "open":
            raise SqlError(f"unclosed {m.group()}", m.start())
        yield m.lastgroup, m.group(), m.start()


def find_end(text, start):
    """Offset of the ';' that ends the statement that begins at start."""
    try:
        for kind, piece, offset in pieces(text[start:]):
            if kind == "other" and piece == ";":
                return start + offset
    except SqlError as e:
        raise SqlError(str(e), start + e.offset) from None
    raise SqlError("the step lacks its ';'", start)


def split_top(text, separator=","):
    """Splits at the separators that stand outside parentheses. Yields (part, offset)."""
    depth, begin = 0, 0
    for kind, piece, offset in pieces(text):
        if kind != "other":
            continue
        if piece == "(":
            depth += 1
        elif piece == ")":
            depth -= 1
        elif piece == separator and depth == 0:
            yield text[begin:offset], begin
            begin = offset + 1
    yield text[begin:], begin


def split_statements(script):
    """Statements of a script, at every ';' outside strings, comments and BEGIN … END of triggers."""
    out, begin, trigger = [], 0, False
    words = []
    for kind, piece, offset in pieces(script):
        if kind == "word":
            words.append(piece.upper())
            if words[:2] in (["CREATE", "TRIGGER"], ["CREATE", "TEMP"]):
                trigger = trigger or words[-1] == "TRIGGER"
        elif kind == "other" and piece == ";":
            if trigger and (not words or words[-1] != "END"):
                continue
            if words:
                out.append((script[begin:offset].strip(), begin))
            begin, trigger, words = offset + 1, False, []
    return out


def writes(sql):
    """True when the statement changes data: its main verb, after any WITH, is a writing one."""
    depth = 0
    for kind, piece, _ in pieces(sql):
        if kind == "other":
            depth += (piece == "(") - (piece == ")")
        elif kind == "word" and depth == 0 and piece.upper() in WRITES | {"SELECT", "VALUES"}:
            return piece.upper() in WRITES
    return False


def last_select(sql):
    """Where the SELECT outside all parentheses begins, or None."""
    depth, found = 0, None
    for kind, piece, offset in pieces(sql):
        if kind == "other":
            depth += (piece == "(") - (piece == ")")
        elif kind == "word" and depth == 0 and piece.upper() == "SELECT":
            found = offset
    return found


def squeeze(sql):
    """Comments and runs of blanks become one blank."""
    out = []
    for kind, piece, _ in pieces(sql):
        if kind in ("comment", "space"):
            if out and out[-1] != " ":
                out.append(" ")
        else:
            out.append(piece)
    return "".join(out).strip()


def _follows(rest, *texts):
    return [piece for _, piece, _ in rest[:len(texts)]] == list(texts)


def rewrite(sql, resolve, trimmed=lambda bind: None):
    """Variables become ?1, ?2 …; returns (sql, binds). resolve(name) gives a bind (any hashable) or raises KeyError.

    A variable that occurs twice is bound once. rtrim(@variable) becomes one too, where trimmed(bind) gives a bind for it.
    """
    out, binds = [], []
    every = list(pieces(sql))
    for i, (kind, piece, offset) in enumerate(every):
        if kind == "var":
            try:
                bind = resolve(piece)
            except KeyError:
                raise SqlError(f"{piece} is not declared", offset) from None
            if i >= 2 and every[i - 2][1].lower() == "rtrim" and _follows(every[i - 1:], "(", piece, ")") and trimmed(bind) is not None:
                bind = trimmed(bind)
                del out[-2:]            # "rtrim", "("
                every[i + 1] = ("gone", "", offset)
            if bind not in binds:
                binds.append(bind)
            out.append(f"?{binds.index(bind) + 1}")
        elif kind in ("comment", "space"):
            if out and out[-1] != " ":
                out.append(" ")
        elif kind == "other" and piece == "?":
            raise SqlError("'?' is not part of the language: name the variable", offset)
        else:
            out.append(piece)
    return "".join(out).strip(), binds


# LIKES(value, pattern): T-SQL's LIKE without case, with %, _, [set] and the escape \, said with GLOB.
# \% \_ \[ and [%] [_] are put aside first, GLOB's own * and ? made harmless, then the wildcards exchanged.
_LIKE_STEPS = ((r"'\%'", "char(1)"), ("'[%]'", "char(1)"), (r"'\_'", "char(2)"), ("'[_]'", "char(2)"), (r"'\['", "'[[]'"), ("'*'", "'[*]'"),
               ("'?'", "'[?]'"), ("'%'", "'*'"), ("'_'", "'?'"), ("char(1)", "'%'"), ("char(2)", "'_'"))


def expand_macros(sql):
    """Replaces LIKES(value, pattern). Nested uses are not needed and not understood."""
    while True:
        found = next((o for k, p, o in pieces(sql) if k == "word" and p == "LIKES"), None)
        if found is None:
            return sql
        begin = sql.index("(", found)
        depth = 0
        for kind, piece, offset in pieces(sql[begin:]):
            if kind == "other":
                depth += (piece == "(") - (piece == ")")
                if depth == 0:
                    end = begin + offset
                    break
        else:
            raise SqlError("LIKES lacks its ')'", found)
        args = [a for a, _ in split_top(sql[begin + 1:end])]
        if len(args) != 2:
            raise SqlError("LIKES takes a value and a pattern", found)
        pattern = f"lower({args[1].strip()})"
        for old, new in _LIKE_STEPS:
            pattern = f"replace({pattern}, {old}, {new})"
        sql = f"{sql[:found]}(lower({args[0].strip()}) GLOB {pattern}){sql[end + 1:]}"
