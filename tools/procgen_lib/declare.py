"""Reading declarations: procedures/<service>/*.proc, schema.sql, views.sql (the language is described in procedures/README.md).

The result is plain objects; nothing is written here. Every mistake is a DeclarationError with file and line.
"""
import os
import re

from . import sqltext, types

SERVICES = ("system", "word", "translation", "schedule", "state")
NEEDS = {"nothing": 0, "execute": 1, "admin": 4, "server": 8, "monitor": 16}
HEAD_WORDS = ("LOCAL", "SECTION", "SUMMARY", "SEE", "RETURNS", "NEEDS", "STATUS", "CLEANUP", "FLUSH", "SHORT", "ONE", "ANNOUNCES", "WAITS", "EXAMPLE", "NOTES", "AS")
STEP_WORDS = ("RUN", "ROWS", "SET", "FETCH", "CHECK", "IF", "ELSE", "END", "RETURN", "MESSAGE", "FAIL", "NATIVE", "EACH", "TOGETHER")
STRING = r"'((?:[^']|'')*)'"


class DeclarationError(Exception):
    def __init__(self, path, line, text):
        super().__init__(f"{path}:{line}: {text}")


class Param:
    def __init__(self, name, type_):
        self.name, self.type = name, type_
        self.output = self.not_null = self.has_default = self.any_length = False
        self.default = None                 # None: NULL
        self.range = None                   # (min, max, number, text, class)

    def default_text(self):
        return "NULL" if self.default is None else str(self.default)


class Column:
    def __init__(self, name, type_, nullable):
        self.name, self.type, self.nullable = name, type_, nullable


class Statement:
    """SQL with ?1 …, its binds (source, index), and where it stands."""

    def __init__(self, sql, binds, line):
        self.sql, self.binds, self.line = sql, binds, line
        self.writes = sqltext.writes(sql)
        self.id = None
        self.bare = None                    # of an expression: its text without the SELECT before it


class Step:
    def __init__(self, kind, line):
        self.kind, self.line = kind, line
        self.stmt = self.native = self.text = self.test = self.table = self.column = None
        self.columns, self.targets, self.args, self.fields, self.field_types = [], [], [], [], []
        self.together = None                # Together, of EACH
        self.postgres = None                # the Statement that stands for stmt on PostgreSQL, of ROWS
        self.jump = self.number = self.severity = 0


class Together:
    """Many calls, or many rows of EACH, as one statement, on PostgreSQL: WITH ctes, then select; keys: parameters in which the calls of one
    statement differ."""

    def __init__(self, keys, ctes, select):
        self.keys, self.ctes, self.select = keys, ctes, select


class Proc:
    def __init__(self, path, source):
        self.path, self.source = path, source
        self.name = self.section = self.summary = self.service = None
        self.params, self.locals, self.steps = [], [], []
        self.see, self.example, self.notes = "", "", ""
        self.returns, self.needs, self.status_on_error, self.cleanup, self.flush_later, self.short = 0, "execute", False, False, False, False
        self.announces = self.waits = self.one_item = False
        self.together = None                # Together

    @property
    def statements(self):
        """All statements, those of TOGETHER too."""
        own = [s.stmt for s in self.steps if s.stmt]
        return own + ([self.together.ctes, self.together.select] if self.together else [])

    @property
    def read_only(self):
        return not any(s.kind == "NATIVE" or (s.stmt and s.stmt.writes) for s in self.steps)

    @property
    def results(self):
        return [s for s in self.steps if s.kind == "ROWS"]

    @property
    def schema(self):
        return "sys" if self.service == "system" and self.name.lower().startswith("sp_") else "dbo"


class View:
    def __init__(self, schema, name, path, line):
        self.schema, self.name, self.path, self.line = schema, name, path, line
        self.also, self.columns = [], []
        self.per_database = self.per_login = self.function = self.empty = False
        self.over, self.summary, self.sql = None, "", ""
        self.over_fields, self.over_rest = [], None     # OVER: what the rows have; what is selected, and what follows FROM

    @property
    def inline(self):
        """Not in the store: its text stands in the FROM of whoever reads it. Empty ones, and those over rows of the session."""
        return self.empty or self.over is not None

    @property
    def hidden(self):
        """Columns that the text gives behind those that are shown."""
        return (["database_name"] if self.per_database else []) + (["login_name"] if self.per_login else [])

    @property
    def store_name(self):
        prefix = {"dbo": "view", "sys": "sys", "information_schema": "info"}[self.schema.lower()]
        return f"{prefix}_{self.name}"


class Number:
    """A number of the databases of a service. family: its name in Prometheus' text; state: the value of the label of that name, or None."""

    def __init__(self, name, family, state):
        self.name, self.family, self.state = name, family, state


class Service:
    def __init__(self, name):
        self.name = name
        self.numbers, self.numbers_sql, self.numbers_triggers = [], None, []    # numbers.sql: those, how they are counted, (event, [(index, SQL)])
        self.procs, self.views, self.migrations, self.constraints = [], [], [], []
        self.schema_path = None

    @property
    def shown(self):
        """What clients see: not the work that the server gives itself (NEEDS server)."""
        return [p for p in self.procs if p.needs != "server"]


class Reader:
    """One .proc file. pos moves through text; error() knows the line."""

    def __init__(self, path, text, shown):
        self.path, self.text, self.pos = shown, text, 0
        self.proc = Proc(path, text)

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def error(self, text, offset=None):
        raise DeclarationError(self.path, self.line_of(self.pos if offset is None else offset), text)

    # --- head ---
    def read(self):
        try:
            body = self.read_head()
            self.read_steps(body)
        except sqltext.SqlError as e:
            self.error(str(e), e.offset)
        return self.proc

    def read_head(self):
        lines = self.text.split("\n")
        blocks, offset, current = [], 0, None
        for text in lines:
            word = re.match(r"([A-Z]+)\b", text)
            if text.startswith("--"):
                pass
            elif word and word.group(1) in HEAD_WORDS + ("PROCEDURE",):
                if word.group(1) == "AS":
                    if text.strip() != "AS":
                        self.error("AS stands alone in its line", offset)
                    self.take_blocks(blocks)
                    return offset + 3
                current = [word.group(1), text[word.end():], offset + word.end()]
                blocks.append(current)
            elif text.strip() and not text[0].isspace() and current is None:
                self.error("a declaration begins with PROCEDURE", offset)
            elif text.strip() and not text[0].isspace():
                self.error(f"'{text.split()[0]}' is not a word of the head: " + " ".join(HEAD_WORDS), offset)
            elif current is not None:
                current[1] += "\n" + text
            offset += len(text) + 1
        self.error("AS and the steps are missing", len(self.text))

    def take_blocks(self, blocks):
        if not blocks or blocks[0][0] != "PROCEDURE":
            self.error("a declaration begins with PROCEDURE", 0)
        p = self.proc
        for word, text, offset in blocks:
            value = " ".join(text.split())
            if word == "PROCEDURE":
                self.take_signature(text, offset)
            elif word == "LOCAL":
                p.locals.append(self.take_param(text, offset, local=True))
            elif word == "RETURNS":
                if not re.fullmatch(r"-?\d+", value):
                    self.error("RETURNS takes a number", offset)
                p.returns = int(value)
            elif word == "NEEDS":
                if value not in NEEDS:
                    self.error("NEEDS takes one of " + ", ".join(NEEDS), offset)
                p.needs = value
            elif word == "STATUS":
                if value != "ON ERROR":
                    self.error("the line reads STATUS ON ERROR", offset)
                p.status_on_error = True
            elif word == "CLEANUP":
                if value != "LATER":
                    self.error("the line reads CLEANUP LATER", offset)
                p.cleanup = True
            elif word == "FLUSH":
                if value != "LATER":
                    self.error("the line reads FLUSH LATER", offset)
                p.flush_later = True
            elif word == "ANNOUNCES":
                if value != "WORK":
                    self.error("the line reads ANNOUNCES WORK", offset)
                p.announces = True
            elif word == "WAITS":
                if value != "FOR WORK":
                    self.error("the line reads WAITS FOR WORK", offset)
                p.waits = True
            elif word == "SHORT":
                if value:
                    self.error("the line reads SHORT", offset)
                p.short = True
            elif word == "ONE":
                if value != "ITEM":
                    self.error("the line reads ONE ITEM", offset)
                p.one_item = True
            elif word == "EXAMPLE":
                p.example = dedent(text)
            elif word == "NOTES":
                p.notes = dedent(text)
            else:
                setattr(p, word.lower(), value)
        for word in ("section", "summary"):
            if not getattr(p, word):
                self.error(f"{word.upper()} is missing", 0)
        if not p.example and p.needs != "server":
            self.error("EXAMPLE is missing", 0)
        names = [x.name.lower() for x in p.params + p.locals]
        for n in names:
            if names.count(n) > 1:
                self.error(f"{n} is declared twice", 0)

    def take_signature(self, text, offset):
        m = re.match(r"\s*([A-Za-z_][A-Za-z0-9_]*)", text)
        if m is None:
            self.error("PROCEDURE needs a name", offset)
        self.proc.name = m.group(1)
        rest = text[m.end():]
        if not rest.strip():
            return
        for part, at in sqltext.split_top(rest):
            self.proc.params.append(self.take_param(part, offset + m.end() + at))

    def take_param(self, text, offset, local=False):
        at = offset + len(text) - len(text.lstrip())
        m = re.match(r"\s*(@[A-Za-z_][A-Za-z0-9_]*)\s+([A-Za-z_0-9]+(?:\s*\([^)]*\))?)", text)
        if m is None:
            self.error("a parameter reads @name type …", at)
        try:
            p = Param(m.group(1), types.parse(m.group(2)))
        except ValueError as e:
            self.error(f"{m.group(1)}: {e}", at)
        rest = text[m.end():].strip()
        if local and rest:
            self.error(f"{p.name}: a local has a name and a type only", at)
        while rest:
            rest = self.take_option(p, rest, at).strip()
        if p.default is not None and p.type.name not in ("bit", "tinyint", "smallint", "int", "bigint"):
            self.error(f"{p.name}: only integers have a default other than NULL", at)
        if p.range and p.type.name not in ("tinyint", "smallint", "int", "bigint"):
            self.error(f"{p.name}: only integers have a RANGE", at)
        return p

    def take_option(self, p, rest, at):
        m = re.match(r"=\s*(NULL|-?\d+)\b", rest, re.I)
        if m:
            p.has_default = True
            p.default = None if m.group(1).upper() == "NULL" else int(m.group(1))
            return rest[m.end():]
        m = re.match(r"(OUTPUT|NOT\s+NULL|ANY\s+LENGTH)\b", rest)
        if m:
            if m.group(1) == "OUTPUT":
                p.output = True
            elif m.group(1).startswith("ANY"):
                p.any_length = True
            else:
                p.not_null = True
            return rest[m.end():]
        m = re.match(r"RANGE\s+(-?\d+)\s*\.\.\s*(-?\d+)\s+ELSE\s+(\d+)(?:\s+(\d+))?\s+" + STRING, rest)
        if m:
            p.range = (int(m.group(1)), int(m.group(2)), int(m.group(3)), unquote(m.group(5)), int(m.group(4) or 16))
            return rest[m.end():]
        self.error(f"{p.name}: '{rest}' is not understood; after the type come = NULL, = number, OUTPUT, NOT NULL, "
                   "RANGE a .. b ELSE number [class] 'text'", at)

    # --- body ---
    def skip_blank(self):
        m = re.compile(r"(?:\s+|--[^\n]*(?:\n|$))*").match(self.text, self.pos)
        self.pos = m.end()

    def read_steps(self, start):
        self.pos = start
        open_ifs = []
        while True:
            self.skip_blank()
            if self.pos >= len(self.text):
                break
            m = re.compile(r"[A-Z]+\b").match(self.text, self.pos)
            if m is None or m.group() not in STEP_WORDS:
                self.error("a step begins with one of " + " ".join(STEP_WORDS))
            self.begin, word = self.pos, m.group()
            self.pos = m.end()
            if word in ("ELSE", "END"):
                self.take_branch(word, open_ifs)
            elif word == "IF":
                self.take_if(open_ifs)
            else:
                self.take_step(word)
        if open_ifs:
            self.error("this IF lacks its END", open_ifs[-1][1])
        kinds = {s.kind for s in self.proc.steps}
        if self.proc.short and ("EACH" in kinds or kinds >= {"ROWS", "RUN"}):
            self.error("what is SHORT has no EACH, and no ROWS beside RUN", 0)
        if self.proc.one_item and any(re.search(r"\b(INSERT|DELETE)\b", s.sql) for s in self.proc.statements):
            self.error("what is about ONE ITEM adds and deletes no rows", 0)
        if self.proc.returns != 0:
            self.begin = self.pos
            self.add("RETURN").number = self.proc.returns

    def add(self, kind):
        step = Step(kind, self.line_of(self.begin))
        self.proc.steps.append(step)
        return step

    def take_branch(self, word, open_ifs):
        if not open_ifs:
            self.error(f"{word} without IF")
        step, offset, has_else = open_ifs[-1]
        steps = self.proc.steps
        if word == "ELSE":
            if has_else:
                self.error("a second ELSE")
            over = self.add("IF")           # the end of the first branch: without an expression, so it always jumps to END
            step.jump = len(steps)
            open_ifs[-1] = (over, offset, True)
        else:
            step.jump = len(steps)
            open_ifs.pop()
        if self.text[self.pos:self.pos + 1] == ";":
            self.pos += 1

    def take_if(self, open_ifs):
        """The expression ends with ';', THEN, or before a line that begins with a step's word."""
        depth = cases = 0
        text = self.text[self.pos:]
        end = after = None
        fresh = False
        for kind, piece, offset in sqltext.pieces(text):
            if kind == "space":
                fresh = fresh or "\n" in piece
                continue
            if kind == "other":
                depth += (piece == "(") - (piece == ")")
                if piece == ";" and depth == 0:
                    end, after = offset, offset + 1
                    break
            word = piece if kind == "word" else ""
            if depth == 0 and cases == 0 and fresh and word in STEP_WORDS:
                end = after = offset
                break
            if depth == 0 and cases == 0 and word == "THEN":
                end, after = offset, offset + 4
                break
            cases += (word.upper() == "CASE") - (word.upper() == "END")
            fresh = kind == "comment"
        if end is None:
            self.error("this IF has no end", self.begin)
        step = self.add("IF")
        self.condition(step, text[:end], self.pos)
        self.pos += after
        open_ifs.append((step, self.begin, False))

    def take_step(self, word):
        end = sqltext.find_end(self.text, self.pos)
        text, offset = self.text[self.pos:end], self.pos
        try:
            getattr(self, "step_" + word.lower())(text, offset)
        except sqltext.SqlError as e:
            self.error(str(e), offset)
        self.pos = end + 1

    def step_run(self, text, offset):
        self.add("RUN").stmt = self.statement(text, offset)

    def step_rows(self, text, offset):
        m = re.match(r"\s*\(", text)
        if m is None:
            self.error("ROWS needs its columns in parentheses", offset)
        close = matching(text, m.end() - 1)
        if close is None:
            self.error("the list of columns lacks its ')'", offset)
        step = self.add("ROWS")
        step.columns = read_columns(text[m.end():close], lambda t, at: self.error(t, offset + m.end() + at))
        rest, offset = text[close + 1:], offset + close + 1
        each = re.match(r"\s*EACH\b", rest)
        if each:
            self.read_each(step, rest[each.end():], offset + each.end())
            return
        other = re.search(r"^POSTGRES\s", rest, re.M)
        if other:
            step.postgres = self.statement(rest[other.end():], offset + other.end())
            rest = rest[:other.start()]
        step.stmt = self.statement(rest, offset)

    def step_set(self, text, offset):
        m = re.match(r"\s*(@\w+(?:\s*,\s*@\w+)*)\s*=", text)
        if m is None:
            self.error("SET reads SET @a, @b = sql", offset)
        step = self.add("SET")
        step.targets = [self.target(n.strip(), offset) for n in m.group(1).split(",")]
        rest = text[m.end():]
        first = re.match(r"(?:\s|--[^\n]*\n)*([A-Za-z]+)", rest)
        if first and first.group(1).upper() in sqltext.WRITES | {"SELECT", "WITH", "VALUES"}:
            step.stmt = self.statement(rest, offset + m.end())
        else:
            step.stmt = self.expression(rest, offset + m.end())

    def step_fetch(self, text, offset):
        m = re.fullmatch(r"\s*(@\w+)\s*=\s*(\w+)\.(\w+)\s+OF\s+(@\w+)\s*", text)
        if m is None:
            self.error("FETCH reads FETCH @a = table.column OF @row", offset)
        step = self.add("FETCH")
        step.targets = [self.target(m.group(1), offset)]
        step.table, step.column = m.group(2), m.group(3)
        step.args = self.native_args(m.group(4), offset)

    def step_check(self, text, offset):
        m = re.search(r"\bELSE\s+(\d+)\s+(\d+)\s+" + STRING + r"\s*$", text)
        if m is None:
            self.error("CHECK reads CHECK expression ELSE number class 'text'", offset)
        step = self.add("CHECK")
        step.number, step.severity = int(m.group(1)), int(m.group(2))
        step.text = self.message(unquote(m.group(3)), offset)
        self.condition(step, text[:m.start()], offset)

    def condition(self, step, text, offset):
        """Whether a variable is NULL, or the last step found nothing, needs no SQL; everything else is an expression of the store."""
        m = re.fullmatch(r"\s*:count\s*([=>])\s*0\s*", text)
        if m is not None:
            step.test = "TEST_NOTHING" if m.group(1) == "=" else "TEST_SOMETHING"
            return
        m = re.fullmatch(r"\s*(@\w+)\s+IS\s+(NOT\s+)?NULL\s*", text, re.I)
        if m is None:
            step.stmt = self.expression(text, offset)
            return
        step.args = self.native_args(m.group(1), offset)
        step.test = "TEST_NOT_NULL" if m.group(2) else "TEST_NULL"

    def step_return(self, text, offset):
        step = self.add("RETURN")
        if re.fullmatch(r"\s*-?\d+\s*", text):
            step.number = int(text)
        else:
            step.stmt = self.expression(text, offset)

    def step_message(self, text, offset):
        m = re.fullmatch(r"\s*(\d+)\s+" + STRING + r"\s*", text)
        if m is None:
            self.error("MESSAGE reads MESSAGE number 'text'", offset)
        step = self.add("MESSAGE")
        step.number, step.severity = int(m.group(1)), 10
        step.text = self.message(unquote(m.group(2)), offset)

    def step_fail(self, text, offset):
        m = re.fullmatch(r"\s*(\d+)\s+(\d+)\s+" + STRING + r"\s*", text)
        if m is None:
            self.error("FAIL reads FAIL number class 'text'", offset)
        step = self.add("CHECK")
        step.number, step.severity = int(m.group(1)), int(m.group(2))
        step.text = self.message(unquote(m.group(3)), offset)

    def step_together(self, text, offset):
        m = re.match(r"\s*BY\s+(@\w+(?:\s*,\s*@\w+)*)\s+WITH\s", text)
        if m is None or self.proc.together is not None:
            self.error("it reads TOGETHER BY @a, @b WITH … SELECT …; once", offset)
        if any(s.kind not in ("RUN", "SET", "FETCH", "CHECK", "IF", "RETURN") for s in self.proc.steps):
            self.error("what goes TOGETHER has no rows, messages or natives", offset)
        keys = [index for _, index in self.native_args(m.group(1), offset)]
        self.proc.together = self.read_together(keys, text[m.end():], offset + m.end())

    def read_together(self, keys, text, offset, fields=()):
        begin = sqltext.last_select(text)
        if begin is None:
            self.error("WITH … ends with a SELECT of place, rows changed, and the outputs", offset)
        return Together(keys, self.statement(text[:begin], offset, fields), self.statement(text[begin:], offset + begin, fields))

    def step_native(self, text, offset):
        m = re.fullmatch(r"\s*([a-z_][a-z0-9_]*)\s*\(([^)]*)\)\s*(?:INTO\s+(@\w+(?:\s*,\s*@\w+)*))?\s*", text)
        if m is None:
            self.error("NATIVE reads NATIVE name(@a, …) [INTO @x, …]", offset)
        step = self.add("NATIVE")
        step.native = m.group(1)
        step.args = self.native_args(m.group(2), offset)
        step.targets = [self.target(n.strip(), offset) for n in (m.group(3) or "").split(",") if n.strip()]

    def step_each(self, text, offset):
        self.read_each(self.add("EACH"), text, offset)

    def read_each(self, step, text, offset):
        m = re.match(r"\s*([a-z_][a-z0-9_]*)\s*\(([^)]*)\)\s*AS\s*\(\s*(\$\w+\s+\w+(?:\s*,\s*\$\w+\s+\w+)*)\s*\)", text)
        if m is None:
            self.error("EACH reads EACH name(@a, …) AS ($f type, …) sql", offset)
        step.native = m.group(1)
        step.args = self.native_args(m.group(2), offset)
        for field in m.group(3).split(","):
            name, type_ = field.split()
            step.fields.append(name)
            try:
                step.field_types.append(types.parse(type_))
            except ValueError as e:
                self.error(f"{name}: {e}", offset)
        many = re.search(r"^\s*TOGETHER\s+WITH\s", text, re.M)
        if many:
            step.together = self.read_together((), text[many.end():], offset + many.end(), step.fields)
            text = text[:many.start()]
        step.stmt = self.statement(text[m.end():], offset + m.end(), step.fields)

    # --- variables ---
    def native_args(self, text, offset):
        out = []
        for name in (n.strip() for n in text.split(",")):
            if not name:
                continue
            try:
                out.append(self.resolve(name, []))
            except KeyError:
                self.error(f"{name} is not declared", offset)
        return out

    def target(self, name, offset):
        try:
            source, index = self.resolve(name, [])
        except KeyError:
            self.error(f"{name} is not declared", offset)
        p = (self.proc.params + self.proc.locals)[index]
        if index < len(self.proc.params) and not p.output:
            self.error(f"{name} is an input: only OUTPUT parameters and locals can be set", offset)
        return index

    def resolve(self, name, fields):
        special = {":now": ("BIND_NOW", 0), ":literal": ("BIND_LITERAL", 0), ":slack": ("BIND_SLACK", 0), ":login": ("BIND_LOGIN", 0), ":database": ("BIND_DATABASE", 0)}
        if name.startswith(":"):
            return special[name]
        if name.startswith("$"):
            return ("BIND_FIELD", fields.index(name)) if name in fields else special[name]
        for i, p in enumerate(self.proc.params + self.proc.locals):
            if p.name.lower() == name.lower():
                return ("BIND_PARAM", i)
        raise KeyError(name)

    def trimmed(self, bind):
        """What stands for rtrim(…) of this bind, or None: a text parameter is bound without its trailing spaces, which costs less than SQL's function."""
        source, index = bind
        text = source == "BIND_PARAM" and (self.proc.params + self.proc.locals)[index].type.name in ("char", "varchar", "nchar", "nvarchar")
        return ("BIND_TRIMMED", index) if text else None

    def message(self, text, offset):
        def canonical(m):
            try:
                _, index = self.resolve(m.group(1), [])
            except KeyError:
                self.error(f"{m.group(1)} in the text is not declared", offset)
            return "{" + (self.proc.params + self.proc.locals)[index].name + "}"
        return re.sub(r"\{(@\w+)\}", canonical, text)

    def statement(self, text, offset, fields=()):
        if not text.strip():
            self.error("the SQL is missing", offset)
        try:
            sql, binds = sqltext.rewrite(sqltext.expand_macros(text), lambda n: self.resolve(n, list(fields)), self.trimmed)
        except sqltext.SqlError as e:
            self.error(str(e), offset + min(e.offset, len(text)))
        lead = len(text) - len(text.lstrip())
        return Statement(sql, binds, self.line_of(offset + lead))

    def expression(self, text, offset):
        stmt = self.statement(text, offset)
        if not re.match(r"(SELECT|WITH|VALUES)\b", stmt.sql, re.I):
            stmt.bare = stmt.sql
            stmt.sql = f"SELECT {stmt.sql}"
        if stmt.writes:
            self.error("an expression must not write", offset)
        return stmt


def unquote(text):
    return text.replace("''", "'")


def dedent(text):
    lines = [l.expandtabs(4).rstrip() for l in text.split("\n")]
    margin = min((len(l) - len(l.lstrip()) for l in lines if l), default=0)
    return "\n".join(l[margin:] for l in lines).strip("\n")


def matching(text, start):
    depth = 0
    for kind, piece, offset in sqltext.pieces(text[start:]):
        if kind == "other":
            depth += (piece == "(") - (piece == ")")
            if depth == 0:
                return start + offset
    return None


def read_columns(text, fail):
    out = []
    for part, at in sqltext.split_top(text):
        part = sqltext.squeeze(part)
        m = re.fullmatch(r"(?:\[([^\]]+)\]|([A-Za-z_][A-Za-z0-9_]*))\s+(.+?)(\s+NOT\s+NULL)?", part)
        if m is None:
            fail(f"'{part}' is not a column: name type [NOT NULL]", at)
        try:
            out.append(Column(m.group(1) or m.group(2), types.parse(m.group(3)), m.group(4) is None))
        except ValueError as e:
            fail(f"{m.group(1) or m.group(2)}: {e}", at)
    return out


def read_proc(path, shown):
    with open(path, encoding="utf-8") as f:
        proc = Reader(path, f.read(), shown).read()
    if os.path.basename(path) != proc.name + ".proc":
        raise DeclarationError(shown, 1, f"the file of {proc.name} is called {proc.name}.proc")
    return proc


def read_schema(path, shown, service):
    """-- MIGRATION n begins a migration; -- ERROR number key 'text' gives the text of a violated constraint."""
    service.schema_path = shown
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, text in enumerate(lines, 1):
        m = re.match(r"--\s*MIGRATION\b\s*(\S*)", text)
        e = re.match(r"--\s*ERROR\b(.*)", text)
        if m:
            if m.group(1) != str(len(service.migrations) + 1):
                raise DeclarationError(shown, number, f"the next migration is -- MIGRATION {len(service.migrations) + 1}")
            service.migrations.append("")
        elif e:
            m = re.fullmatch(r"\s*(2627|547)\s+(.+?)\s+" + STRING + r"\s*", e.group(1))
            if m is None:
                raise DeclarationError(shown, number, "the line reads -- ERROR 2627 table.column 'text' or -- ERROR 547 FOREIGN KEY 'text'")
            key = ", ".join(part.strip() for part in m.group(2).split(","))     # as SQLite writes it
            service.constraints.append((int(m.group(1)), key, unquote(m.group(3))))
        elif service.migrations:
            service.migrations[-1] += text + "\n"
        elif text.strip() and not text.startswith("--"):
            raise DeclarationError(shown, number, "the schema begins with -- MIGRATION 1")


NUMBERS = re.compile(r"\s*NUMBERS\s+(?P<numbers>.*?)\nCOUNTED AS\n(?P<counted>.*?);\s*\nKEPT BY\n(?P<kept>.*)", re.S)


def read_number(text, fail):
    m = re.fullmatch(r"\s*(\w+)\s+(procession_\w+)(?:\{(\w+)\})?\s*", text)
    if m is None:
        fail(f"'{text.strip()}' is not a number: name procession_family or name procession_family{{state}}")
    return Number(m.group(1), m.group(2), m.group(3))


def read_change(text, names, fail):
    """AFTER event ON table [WHEN condition]: name SQL, name SQL"""
    event, colon, rest = text.partition(":")
    if not colon or not re.match(r"AFTER (INSERT|DELETE|UPDATE OF [\w, ]+) ON \w+( WHEN |$)", event.strip()):
        fail(f"'{text.strip()[:60]}' is no change: AFTER INSERT|DELETE|UPDATE OF columns ON table [WHEN condition]: name SQL, …")
    added = []
    for part, _ in sqltext.split_top(rest):
        name, _, sql = part.strip().partition(" ")
        if name not in names:
            fail(f"there is no number '{name}'")
        added.append((names.index(name), sqltext.squeeze(sql)))
    return event.strip(), added


def read_numbers(path, shown, service):
    """Numbers that are kept by counting: what they are, how they are counted from nothing, and what changes them."""
    def fail(message):
        raise DeclarationError(shown, 1, message)

    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^--[^\n]*\n", "", f.read(), flags=re.M)
    m = NUMBERS.match(text)
    if m is None:
        fail("the file reads NUMBERS …, COUNTED AS …; KEPT BY …")
    service.numbers = [read_number(part, fail) for part, _ in sqltext.split_top(m.group("numbers"))]
    service.numbers_sql = sqltext.squeeze(m.group("counted"))
    names = [n.name for n in service.numbers]
    service.numbers_triggers = [read_change(sqltext.squeeze(s), names, fail) for s, _ in sqltext.split_statements(m.group("kept"))]


class ViewReader:
    """One file of views. known: those of files that were read before, by (schema, name), for LIKE."""

    HEAD = re.compile(r"(VIEW|EMPTY)\s+(\w+)\.(\w+)((?:\s+ALSO\s+\w+\.\w+)*)(\s+PER\s+DATABASE)?(\s+PER\s+LOGIN)?"
                      r"(?:\s+OVER\s+(\w+))?(\s+FUNCTION)?\s*\(")
    ROWS = re.compile(r"ROWS\s+(\w+)\s*\(([\w\s,]*)\)\s*;")

    def __init__(self, path, shown, known):
        self.shown, self.known, self.rows = shown, known, {}
        with open(path, encoding="utf-8") as f:
            self.text = f.read()

    def fail(self, message, offset):
        raise DeclarationError(self.shown, self.text.count("\n", 0, offset) + 1, message)

    def read(self):
        out, pos = [], 0
        while True:
            pos = re.compile(r"(?:\s+|--[^\n]*(?:\n|$))*").match(self.text, pos).end()
            if pos >= len(self.text):
                return out
            rows = self.ROWS.match(self.text, pos)
            if rows:
                self.rows[rows.group(1)] = read_columns(rows.group(2), lambda t, more, base=pos: self.fail(t, base + more))
                pos = rows.end()
                continue
            try:
                view, pos = self.view(pos)
            except sqltext.SqlError as e:
                self.fail(str(e), pos)
            self.known[view.schema.lower(), view.name.lower()] = view
            out.append(view)

    def view(self, pos):
        m = self.HEAD.match(self.text, pos)
        if m is None:
            self.fail("a view reads VIEW schema.name [ALSO schema.name] [PER DATABASE] [PER LOGIN] [OVER rows] [FUNCTION] (columns) "
                      "SUMMARY text AS select; an empty one EMPTY schema.name [ALSO schema.name] [FUNCTION] (columns);", pos)
        v = View(m.group(2), m.group(3), self.shown, self.text.count("\n", 0, pos) + 1)
        if v.schema.lower() not in ("dbo", "sys", "information_schema"):
            self.fail(f"a view belongs to dbo, sys or INFORMATION_SCHEMA, not to {v.schema}", pos)
        v.also = [tuple(x.split(".")) for x in re.findall(r"\w+\.\w+", m.group(4))]
        v.empty, v.per_database, v.per_login, v.over = m.group(1) == "EMPTY", bool(m.group(5)), bool(m.group(6)), m.group(7)
        v.function = bool(m.group(8))
        close = matching(self.text, m.end() - 1)
        if close is None:
            self.fail("the list of columns lacks its ')'", m.end())
        v.columns = self.columns(m.end(), close)
        return v, self.empty(v, close) if v.empty else self.body(v, close)

    def columns(self, start, end):
        """name type [NOT NULL], …; LIKE schema.name stands for the columns of that view."""
        out = []
        for part, at in sqltext.split_top(self.text[start:end]):
            like = re.fullmatch(r"\s*LIKE\s+(\w+)\.(\w+)\s*", part)
            if like is None:
                out += read_columns(part, lambda t, more, base=start + at: self.fail(t, base + more))
                continue
            other = self.known.get((like.group(1).lower(), like.group(2).lower()))
            if other is None:
                self.fail(f"LIKE {like.group(1)}.{like.group(2)}: no view of that name stands before", start + at)
            out += other.columns
        return out

    def empty(self, v, close):
        end = re.compile(r"\s*;").match(self.text, close + 1)
        if end is None or v.per_database or v.per_login or v.over:
            self.fail("EMPTY reads EMPTY schema.name [ALSO schema.name] [FUNCTION] (columns);", close)
        v.summary = "Always empty: there is nothing of the kind."
        v.sql = "SELECT " + ", ".join(f'NULL AS "{c.name}"' for c in v.columns) + " WHERE 0"
        return end.end()

    def body(self, v, close):
        head = re.compile(r"\s*SUMMARY\s+([^\n]+)\n\s*AS\b").match(self.text, close + 1)
        if head is None:
            self.fail("SUMMARY and AS are missing", close)
        v.summary = head.group(1).strip()
        end = sqltext.find_end(self.text, head.end())
        v.sql = sqltext.squeeze(sqltext.expand_macros(self.text[head.end():end]))
        if v.over is not None:
            v.sql = self.over(v, head.end())
        return end + 1

    def over(self, v, offset):
        """The rows come as one value, $rows, an array of objects; the columns get their names, since no store view gives them."""
        if v.over not in self.rows:
            self.fail(f"OVER {v.over}: no ROWS {v.over} (names); stands before", offset)
        m = re.fullmatch(rf"SELECT (.*?) FROM {v.over}\b(.*)", v.sql)
        if m is None:
            self.fail(f"what is OVER {v.over} reads SELECT … FROM {v.over} …", offset)
        parts = [p for p, _ in sqltext.split_top(m.group(1))]
        if len(parts) != len(v.columns):
            self.fail(f"{v.schema}.{v.name} has {len(v.columns)} columns and selects {len(parts)}", offset)
        selected = ", ".join(f'{p.strip()} AS "{c.name}"' for p, c in zip(parts, v.columns))
        fields = ", ".join(f"json_extract(value, '$.{f.name}') AS {f.name}" for f in self.rows[v.over])
        v.over_fields, v.over_rest = self.rows[v.over], (parts, m.group(2))
        alias = "" if m.group(2).strip() and not m.group(2).strip().upper().startswith("WHERE") else f" {v.over}"
        return f"SELECT {selected} FROM (SELECT {fields} FROM json_each($rows)){alias}{m.group(2)}"


def read_all(root, shown_root="procedures"):
    """All services, in the order of enum service; and the list of files and folders that were looked at."""
    services, inputs = [], []
    for name in SERVICES:
        service, folder = Service(name), os.path.join(root, name)
        services.append(service)
        known = {}
        if not os.path.isdir(folder):
            continue
        inputs.append(folder)
        for file in sorted(os.listdir(folder), key=lambda f: (f != "views.sql", f)):     # LIKE looks back
            path, shown = os.path.join(folder, file), f"{shown_root}/{name}/{file}"
            if file.endswith(".proc"):
                service.procs.append(read_proc(path, shown))
            elif file == "schema.sql":
                read_schema(path, shown, service)
            elif file == "numbers.sql":
                read_numbers(path, shown, service)
            elif file.endswith("views.sql"):
                service.views += ViewReader(path, shown, known).read()
            else:
                continue
            inputs.append(path)
        service.procs.sort(key=lambda p: p.name.lower())
        number_statements(service)
    return services, [root] + inputs


def number_statements(service):
    next_id = 0
    for proc in service.procs:
        proc.service = service.name
        for step in proc.steps:
            if step.stmt:
                step.stmt.id = next_id
                next_id += 1
    service.nstatements = next_id
