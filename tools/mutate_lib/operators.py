"""Breaking a declaration: every small change of one .proc file that a test should notice.

A mutant replaces one stretch of text. The operators know the language of procedures/README.md and enough SQL to stay
inside one expression; what they make need not be valid: procgen refuses the rest before anything is built.
"""
import re

from procgen_lib import declare

TOKEN = re.compile(r"""
    (?P<comment>--[^\n]*|/\*.*?\*/)
  | (?P<string>'(?:[^']|'')*')
  | (?P<var>[@$:][A-Za-z_]\w*)
  | (?P<number>\d+)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<space>\s+)
  | (?P<op><=|>=|<>|\|\||.)
""", re.X | re.S)
POSTGRES_ONLY = re.compile(r"^[ \t]*(?:POSTGRES|TOGETHER)\s", re.M)
COMPARISONS = {"=": "<>", "<>": "=", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*"}
AGGREGATES = {"min": "max", "max": "min"}
PEELED = ("rtrim", "substr", "coalesce")                # f(x, …) becomes x
# Words before which, at the same depth, an operand of AND, OR or an element of a list begins or ends.
BEGINS = {"AND", "OR", "WHERE", "ON", "WHEN", "HAVING", "NOT", "THEN", "ELSE", "SELECT", "SET", "BY", "DISTINCT", "LIMIT", "VALUES", "RETURNING"}
ENDS = {"AND", "OR", "THEN", "ELSE", "WHERE", "ORDER", "GROUP", "LIMIT", "RETURNING", "ON", "JOIN", "LEFT", "CROSS", "UNION", "FROM", "WHEN", "DO",
        "ASC", "DESC", "HAVING"}
OTHER_TYPE = {"bit": "int", "tinyint": "smallint", "smallint": "int", "int": "bigint", "bigint": "int", "varchar": "nvarchar", "nvarchar": "varchar",
              "varbinary": "varchar", "uniqueidentifier": "varbinary(16)", "datetime": "datetime2(7)", "date": "datetime", "xml": "nvarchar(max)",
              "ntext": "nvarchar(max)", "text": "nvarchar(max)"}


class Mutant:
    """One broken declaration: text[start:end] of the file is replaced by new."""

    def __init__(self, source, operator, start, end, new):
        self.source, self.operator, self.start, self.end, self.new = source, operator, start, end, new
        self.line = source.text.count("\n", 0, start) + 1
        self.removed, self.added = self._difference()
        self.occurrence = 1

    @property
    def text(self):
        return self.source.text[:self.start] + self.new + self.source.text[self.end:]

    def _difference(self):
        """The whole lines before and after, blanks at their ends dropped."""
        text = self.source.text
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", max(self.end - 1, self.start))
        last = len(text) if last < 0 else last
        def lines(part):
            return tuple(line.strip() for line in part.split("\n") if line.strip())
        old, new = lines(text[first:last]), lines(text[first:self.start] + self.new + text[self.end:last])
        while old and new and old[0] == new[0]:
            old, new = old[1:], new[1:]
        while old and new and old[-1] == new[-1]:
            old, new = old[:-1], new[:-1]
        return old, new

    @property
    def key(self):
        """Stays the same while other lines of the file change."""
        return (self.source.name, self.removed, self.added, self.occurrence)

    def show(self):
        out = [f"{self.source.shown}:{self.line}: {self.operator}" + (f" (occurrence {self.occurrence})" if self.occurrence > 1 else "")]
        return "\n".join(out + ["- " + line for line in self.removed] + ["+ " + line for line in self.added])


class Spans(declare.Reader):
    """Remembers where parameters and steps stand."""

    def __init__(self, *args):
        super().__init__(*args)
        self.params, self.spans = [], []

    def take_param(self, text, offset, local=False):
        made = super().take_param(text, offset, local)
        if not local and self.text[offset:offset + len(text)] == text:
            lead = len(text) - len(text.lstrip())
            self.params.append((made, offset + lead, offset + len(text.rstrip())))
        return made

    def take_step(self, word):
        super().take_step(word)
        # What PostgreSQL does in another way stands behind what both do.
        other = POSTGRES_ONLY.search(self.text, self.begin + len(word), self.pos)
        self.spans.append((word, self.begin, other.start() if other else self.pos, self.pos))

    def take_if(self, open_ifs):
        begin, after = self.begin, self.pos
        super().take_if(open_ifs)
        end = self.pos
        while end > after and self.text[after:end].rstrip().endswith(("THEN", ";")):
            end = after + len(self.text[after:end].rstrip().removesuffix("THEN").removesuffix(";"))
        self.spans.append(("IF", begin, after + len(self.text[after:end].rstrip()), end))


class Token:
    def __init__(self, kind, text, start, depth):
        self.kind, self.text, self.start, self.end, self.depth = kind, text, start, start + len(text), depth
        self.upper = text.upper() if kind == "word" else text


def tokens(text, start, end):
    """What is not blank or comment; CASE … END nests like parentheses."""
    out, depth = [], 0
    for m in TOKEN.finditer(text, start, end):
        kind, piece = m.lastgroup, m.group()
        if kind in ("comment", "space"):
            continue
        closes = piece == ")" or (kind == "word" and piece.upper() == "END")
        depth -= closes
        out.append(Token(kind, piece, m.start(), depth))
        depth += piece == "(" or (kind == "word" and piece.upper() == "CASE")
    return out


class Source:
    """One .proc file and all its mutants."""

    def __init__(self, path, name, shown):
        self.path, self.name, self.shown = path, name, shown
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.reader = Spans(path, self.text, shown)
        self.proc = self.reader.read()
        self.found = []

    def mutants(self):
        self.head()
        for word, start, end, whole in self.reader.spans:
            # These servers have SQLite. What is PostgreSQL's alone: tests/postgres/test_same.py compares it with the steps.
            if word != "TOGETHER":
                self.step(word, start, end, whole)
        seen, texts, out = {}, {self.text}, []
        for m in sorted(self.found, key=lambda m: (m.start, m.end, m.operator, m.new)):
            if m.text in texts:
                continue
            texts.add(m.text)
            key = (m.removed, m.added)
            seen[key] = m.occurrence = seen.get(key, 0) + 1
            out.append(m)
        return out

    def add(self, operator, start, end, new):
        self.found.append(Mutant(self, operator, start, end, new))

    # --- head ---

    def head(self):
        for i, (param, start, end) in enumerate(self.reader.params):
            self.parameter(param, start, end)
            if i + 1 < len(self.reader.params):
                _, then, after = self.reader.params[i + 1]
                self.add("swap two parameters", start, after, self.text[then:after] + self.text[end:then] + self.text[start:end])
        m = re.search(r"^RETURNS (\d+)$", self.text, re.M)
        if m:
            self.add("another status", m.start(1), m.end(1), "1" if m.group(1) == "0" else "0")
        for line in ("STATUS ON ERROR", "CLEANUP LATER"):
            m = re.search(rf"^{line}\n", self.text, re.M)
            if m:
                self.add("drop a line of the head", m.start(), m.end(), "")
        if self.proc.needs == "execute":
            self.result_set_more()
            m = re.search(r"^EXAMPLE\n", self.text, re.M)
            self.add("needs no right", m.start(), m.start(), "NEEDS nothing\n")

    def result_set_more(self):
        """Before everything else; what is SHORT must not have one beside a RUN, so that word goes."""
        after = re.search(r"^AS\n", self.text, re.M).end()
        short = re.search(r"^SHORT\n", self.text, re.M)
        start = short.start() if short else after
        kept = self.text[short.end():after] if short else ""
        self.add("a result set more", start, after, kept + "ROWS (More int) SELECT 1;\n")

    def parameter(self, param, start, end):
        text = self.text[start:end]
        m = re.search(r"\s+NOT NULL\b", text)
        if m:
            self.add("NULL is taken", start + m.start(), start + m.end(), "")
        elif not param.output:
            at = re.match(r"@\w+\s+\w+(?:\([^)]*\))?(?:\s*=\s*\S+)?", text).end()
            self.add("NULL is refused", start + at, start + at, " NOT NULL")
        m = re.search(r"\s*=\s*(NULL|-?\d+)", text)
        if m:
            self.add("drop a default", start + m.start(), start + m.end(), "")
            if m.group(1) != "NULL":
                self.add("another default", start + m.start(1), start + m.end(1), "1" if m.group(1) == "0" else "0")
            elif param.type.name in ("bit", "tinyint", "smallint", "int", "bigint"):
                self.add("another default", start + m.start(1), start + m.end(1), "1")
        m = re.search(r"\s+ANY LENGTH\b", text)
        if m:
            self.add("longer texts are refused", start + m.start(), start + m.end(), "")
        m = re.match(r"(@\w+\s+)(\w+)(\((\w+)\))?", text)
        self.type(m.group(2), m.group(4), start + m.start(2))
        m = re.search(r"\s+RANGE\s+(-?\d+)\s*\.\.\s*(-?\d+)\s+ELSE\s+(\d+)(?:\s+(\d+))?\s+" + declare.STRING, text)
        if m:
            self.add("drop a RANGE", start + m.start(), start + m.end(), "")
            for group, other in ((1, int(m.group(1)) + 1), (1, int(m.group(1)) - 1), (2, int(m.group(2)) - 1), (2, int(m.group(2)) + 1)):
                if -2**31 <= other < 2**31 and not (group == 1 and other == -1):
                    self.add("another bound", start + m.start(group), start + m.end(group), str(other))
            if int(m.group(1)) == 0:
                self.add("another bound", start + m.start(1), start + m.end(1), "-1")
            self.add("another error", start + m.start(3), start + m.end(3), str(int(m.group(3)) + 1))

    def type(self, name, length, at):
        """Another type, and another length."""
        other = OTHER_TYPE.get(name)
        if other:
            self.add("another type", at, at + len(name) + (len(length) + 2 if length and "(" in other else 0), other)
        if length:
            begin = at + len(name) + 1
            shorter = "4000" if length == "max" else str(int(length) - 1)
            self.add("another length", begin, begin + len(length), shorter)

    # --- steps ---

    def step(self, word, start, end, whole):
        if word == "IF":
            expression = start + len("IF")
            self.add("always", expression, end, " 1 = 1")
            self.add("never", expression, end, " 1 = 0")
            if not re.fullmatch(r"\s*(:count\s*[=>]\s*0|@\w+\s+IS\s+(NOT\s+)?NULL)", self.text[expression:end]):
                self.sql(expression, end)
            return
        self.add(f"drop a {word}", start, whole, "")
        text = self.text[start:end]
        if word in ("CHECK", "FAIL"):
            m = re.search(r"(?:\bELSE|^FAIL)\s+(\d+)\s+(\d+)\s+" + declare.STRING + r"\s*;$", text)
            self.add("another error", start + m.start(1), start + m.end(1), str(int(m.group(1)) + 1))
            self.add("another class", start + m.start(2), start + m.end(2), str(int(m.group(2)) - 1))
            if word == "CHECK":
                self.sql(start + len(word), start + m.start())
        elif word == "MESSAGE":
            m = re.match(r"MESSAGE\s+(\d+)", text)
            self.add("another message", start + m.start(1), start + m.end(1), str(int(m.group(1)) + 1))
        elif word == "NATIVE":
            self.arguments(start, end)
        elif word == "FETCH":
            pass
        else:
            self.statement(word, start, end)

    def statement(self, word, start, end):
        text = self.text[start:end]
        body = start + len(word)
        if word == "ROWS":
            opening = text.index("(")
            closing = declare.matching(text, opening)
            self.columns(start + opening + 1, start + closing)
            body = start + closing + 1
        elif word == "SET":
            m = re.match(r"SET\s+@\w+(?:\s*,\s*@\w+)*\s*=", text)
            body = start + m.end()
        m = re.compile(r"\s*(?:EACH\s+)?\w+\([^)]*\)\s*AS\s*\([^)]*\)").match(self.text, body)
        if m and (word == "EACH" or "EACH" in m.group()):
            body = m.end()
        self.sql(body, end - 1)

    def columns(self, start, end):
        """Name, type and NULL of every column of a result set."""
        for m in re.finditer(r"(\w+)\s+(\w+)(?:\((\w+)\))?(\s+NOT NULL)?\s*(?:,|$)", self.text[start:end]):
            self.add("another name", start + m.end(1), start + m.end(1), "X")
            self.type(m.group(2), m.group(3), start + m.start(2))
            if m.group(4):
                self.add("a column takes NULL", start + m.start(4), start + m.end(4), "")
            else:
                at = start + (m.end(3) + 1 if m.group(3) else m.end(2))
                self.add("a column takes no NULL", at, at, " NOT NULL")

    def arguments(self, start, end):
        m = re.search(r"\(([^)]*)\)", self.text[start:end])
        names = list(re.finditer(r"[@:]\w+", m.group(1)))
        for one, other in zip(names, names[1:]):
            base = start + m.start(1)
            self.add("swap two arguments", base + one.start(), base + other.end(),
                     other.group() + m.group(1)[one.end():other.start()] + one.group())

    # --- SQL ---

    def sql(self, start, end):
        self.tokens = tokens(self.text, start, end)
        for i, token in enumerate(self.tokens):
            if token.kind == "number":
                self.number(i, token)
            elif token.kind == "var":
                self.variable(i, token)
            elif token.kind == "word":
                self.word(i, token)
            elif token.text in COMPARISONS and not self.is_assignment(i):
                self.add("another comparison", token.start, token.end, COMPARISONS[token.text])
            elif token.text in ARITHMETIC and not (token.text == "*" and self.before(i) in ("(", "SELECT", ".")) and self.before(i) not in ("(", "THEN", "="):
                self.add("another operator", token.start, token.end, ARITHMETIC[token.text])
        self.lists()
        self.tokens = None

    def before(self, i, n=1):
        return self.tokens[i - n].upper if i >= n else ""

    def after(self, i, n=1):
        return self.tokens[i + n].upper if i + n < len(self.tokens) else ""

    def is_assignment(self, i):
        """The = of SET a = …, b = …"""
        if self.tokens[i].text != "=" or i < 2 or self.tokens[i - 1].kind != "word":
            return False
        if self.before(i, 2) == "SET":
            return True
        if self.before(i, 2) != ",":
            return False
        for token in reversed(self.tokens[:i - 1]):
            if token.depth == self.tokens[i].depth and token.upper in ("SET", "SELECT", "WHERE", "VALUES"):
                return token.upper == "SET"
        return False

    def number(self, i, token):
        if self.before(i) == "SELECT" and self.after(i) == "FROM":
            return                                  # EXISTS (SELECT 1 FROM …): any value does
        value = int(token.text)
        self.add("another number", token.start, token.end, {0: "1", 1: "0"}.get(value, str(value + 1)))

    def variable(self, i, token):
        name = token.text
        if name == ":now":
            self.add("an earlier clock", token.start, token.end, "(:now - 300)")
        elif name == ":literal":
            self.add("the other reading", token.start, token.end, "(1 - :literal)")
        elif name.startswith("@"):
            known = self.proc.params + self.proc.locals
            mine = next((p for p in known if p.name.lower() == name.lower()), None)
            other = next((p for p in known if mine and p is not mine and p.type == mine.type), None)
            if other:
                self.add("another variable", token.start, token.end, other.name)

    def word(self, i, token):
        word = token.upper
        if word in ("AND", "OR") and not self.is_between(i):
            self.operands(i, word)
        elif word == "WHERE":
            self.where(i)
        elif word == "IS":
            self.null_test(i, token)
        elif word == "NOT" and self.before(i) != "IS" and self.after(i) != "NULL":
            self.add("drop a NOT", token.start, self.tokens[i + 1].start, "")
        elif word == "EXISTS" and self.before(i) != "NOT":
            self.add("NOT EXISTS", token.start, token.start, "NOT ")
        elif word == "IN" and self.before(i) != "NOT":
            self.add("NOT IN", token.start, token.start, "NOT ")
        elif word == "LEFT" and self.after(i) == "JOIN":
            self.add("an inner join", token.start, self.tokens[i + 1].start, "")
        elif word == "DISTINCT" and self.before(i) != "NOT":
            self.add("drop DISTINCT", token.start, self.tokens[i + 1].start, "")
        elif word == "ALL" and self.before(i) == "UNION":
            self.add("UNION", token.start, token.end, "")
        elif word in ("ORDER", "PARTITION") and self.after(i) == "BY":
            self.order(i)
        elif word == "LIMIT":
            self.add("drop a LIMIT", token.start, self.tokens[min(i + 1, len(self.tokens) - 1)].end, "")
        elif word == "CONFLICT" and self.before(i) == "ON":
            self.conflict(i)
        elif word == "WHEN":
            self.when(i)
        elif token.text in AGGREGATES and self.after(i) == "(":
            self.add("the other extreme", token.start, token.end, AGGREGATES[token.text])
        elif token.text in PEELED and self.after(i) == "(":
            self.peel(i)

    def is_between(self, i):
        for token in reversed(self.tokens[:i]):
            if token.depth == self.tokens[i].depth and token.upper in ("AND", "OR", "WHERE", "BETWEEN"):
                return token.upper == "BETWEEN"
        return False

    def left_of(self, i):
        """Index of the first token of the operand before token i."""
        j = i - 1
        while j >= 0 and not (self.tokens[j].depth < self.tokens[i].depth or (self.tokens[j].depth == self.tokens[i].depth and
                              (self.tokens[j].upper in BEGINS - {"NOT", "DISTINCT"} or self.tokens[j].text == ","))):
            j -= 1
        return j + 1

    def right_of(self, i):
        """Index of the last token of the operand after token i."""
        j = i + 1
        while j < len(self.tokens) and not (self.tokens[j].depth < self.tokens[i].depth or
                                            (self.tokens[j].depth == self.tokens[i].depth and j > i + 1 and self.ends(j))):
            j += 1
        return j - 1

    def ends(self, j):
        """Whether the operand before token j is complete; IS [NOT] DISTINCT FROM goes on."""
        word = self.tokens[j].upper
        return self.tokens[j].text == "," or (word in ENDS and not (word == "FROM" and self.before(j) == "DISTINCT"))

    def operands(self, i, word):
        left, right = self.left_of(i), self.right_of(i)
        if left >= i or right <= i:
            return
        self.add(f"drop the condition before {word}", self.tokens[left].start, self.tokens[i + 1].start, "")
        self.add(f"drop the condition after {word}", self.tokens[i - 1].end, self.tokens[right].end, "")

    def where(self, i):
        """The whole clause, when it has one condition; the others are dropped one by one."""
        depth, j = self.tokens[i].depth, i + 1
        while j < len(self.tokens) and not (self.tokens[j].depth < depth or (self.tokens[j].depth == depth and self.tokens[j].upper in ENDS - {"FROM"})):
            j += 1
        if j >= len(self.tokens) or self.tokens[j].upper not in ("AND", "OR"):
            self.add("drop a WHERE", self.tokens[i].start, self.tokens[j - 1].end, "")

    def null_test(self, i, token):
        if self.after(i) == "NULL":
            self.add("IS NOT NULL", token.start, self.tokens[i + 1].end, "IS NOT NULL")
        elif self.after(i) == "NOT" and self.after(i, 2) == "NULL":
            self.add("IS NULL", token.start, self.tokens[i + 2].end, "IS NULL")
        elif self.after(i) == "NOT" and self.after(i, 2) == "DISTINCT":
            self.add("NULL equals nothing", token.start, self.tokens[i + 3].end, "=")
        elif self.after(i) != "DISTINCT":
            self.add("NULL equals nothing", token.start, token.end, "=")

    def order(self, i):
        """No order, and for each key none, or the other direction."""
        begin, last, depth = i + 2, i + 1, self.tokens[i].depth
        keys, first = [], begin
        for j in range(begin, len(self.tokens) + 1):
            token = self.tokens[j] if j < len(self.tokens) else None
            ended = token is None or token.depth < depth or (token.depth == depth and token.upper in ("LIMIT", "UNION", "ORDER"))
            if ended or (token.depth == depth and token.text == ","):
                keys.append((first, j - 1))
                first = j + 1
            if ended:
                break
            last = j
        what = self.tokens[i].upper
        self.add(f"drop {what} BY", self.tokens[i].start, self.tokens[last].end, "")
        for n, (one, end) in enumerate(keys):
            if what == "ORDER" and self.tokens[end].upper == "DESC":
                self.add("the other direction", self.tokens[end].start, self.tokens[end].end, "")
            elif what == "ORDER":
                self.add("the other direction", self.tokens[end].end, self.tokens[end].end, " DESC")
            if len(keys) > 1 and n > 0:
                self.add("drop a key of the order", self.tokens[one - 1].start, self.tokens[end].end, "")
            elif len(keys) > 1:
                self.add("drop a key of the order", self.tokens[one].start, self.tokens[end + 2].start, "")

    def conflict(self, i):
        """ON CONFLICT (…) DO NOTHING goes; DO UPDATE SET … becomes DO NOTHING."""
        j = i
        while j < len(self.tokens) and self.tokens[j].upper != "DO":
            j += 1
        if self.after(j) == "NOTHING":
            self.add("drop ON CONFLICT", self.tokens[i - 1].start, self.tokens[j + 1].end, "")
        elif j < len(self.tokens):
            last = j
            while last + 1 < len(self.tokens) and self.tokens[last + 1].upper != "RETURNING":
                last += 1
            self.add("DO NOTHING", self.tokens[j + 1].start, self.tokens[last].end, "NOTHING")

    def when(self, i):
        j = i + 1
        while j < len(self.tokens) and not (self.tokens[j].upper == "THEN" and self.tokens[j].depth == self.tokens[i].depth):
            j += 1
        if j < len(self.tokens):
            self.add("a case never taken", self.tokens[i + 1].start, self.tokens[j - 1].end, "1 = 0")

    def peel(self, i):
        """f(x, y) becomes (x)."""
        depth = self.tokens[i].depth
        comma = close = None
        for j in range(i + 2, len(self.tokens)):
            token = self.tokens[j]
            if token.depth == depth + 1 and token.text == "," and comma is None:
                comma = j
            if token.depth == depth and token.text == ")":
                close = j
                break
        if close is not None:
            inner = self.text[self.tokens[i + 1].end:self.tokens[comma or close].start]
            self.add(f"drop {self.tokens[i].text}()", self.tokens[i].start, self.tokens[close].end, f"({inner.strip()})")

    # --- lists ---

    def lists(self):
        """Neighbours in SELECT lists and VALUES change places; assignments go."""
        for i, token in enumerate(self.tokens):
            if token.upper == "SELECT":
                self.swap(self.elements(i + 1, token.depth))
            elif token.upper == "VALUES" and self.after(i) == "(":
                self.swap(self.elements(i + 2, token.depth + 1))
            elif token.upper == "SET" and self.tokens[i].kind == "word":
                self.assignments(self.elements(i + 1, token.depth))

    def elements(self, i, depth):
        """[(first, last)] token indexes of the elements of a list that begins at token i."""
        out, first = [], i
        while i <= len(self.tokens):
            token = self.tokens[i] if i < len(self.tokens) else None
            ended = token is None or token.depth < depth or (token.depth == depth and token.upper in ("FROM", "WHERE", "RETURNING", "UNION"))
            if ended or (token.depth == depth and token.text == ","):
                if i > first:
                    out.append((first, i - 1))
                first = i + 1
            if ended:
                break
            i += 1
        return out

    def swap(self, elements):
        for (a, b), (c, d) in zip(elements, elements[1:]):
            if self.before(b) == self.before(d) == "AS":
                continue                            # who names both finds both, in any order
            start, end, then, last = self.tokens[a].start, self.tokens[b].end, self.tokens[c].start, self.tokens[d].end
            self.add("swap two columns", start, last, self.text[then:last] + self.text[end:then] + self.text[start:end])

    def assignments(self, elements):
        for n, (first, last) in enumerate(elements):
            if len(elements) == 1:
                break
            if n > 0:
                self.add("drop an assignment", self.tokens[first - 1].start, self.tokens[last].end, "")
            else:
                self.add("drop an assignment", self.tokens[first].start, self.tokens[elements[1][0]].start, "")
