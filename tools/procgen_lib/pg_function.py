"""One PL/pgSQL function a procedure, from the same steps that SQLite's interpreter runs. What comes in and out: src/engine/postgres/README.md.

Rows of the answer: _step, _number, _text, _changed, _now, the values of OUTPUT parameters, and the columns of all ROWS steps.
"""
import re

from . import pg_sql

FIXED = (("_step", "int4"), ("_number", "int8"), ("_text", "text"), ("_changed", "int8"), ("_now", "int8"))
# Natives that yield what the rows of the others found: they name these fields, and only rows with something changed count.
OF_THE_CHANGED = {"batch_groups": ("$job", "$group")}


class Arg:
    def __init__(self, source, kind, index, step, name):
        self.source, self.kind, self.index, self.step, self.name = source, kind, index, step, name

    @property
    def declared(self):
        return f"{self.name} {self.kind}{'[]' if self.source == 'PG_ARG_FIELD' else ''}"


class Function:
    def __init__(self, proc):
        self.proc, self.lines, self.depth = proc, [], 1
        every = proc.params + proc.locals
        self.kinds = [pg_sql.kind(p.type) for p in every]
        self.args = [Arg("PG_ARG_CLOCK", "int8", 0, 0, "a_clock")]
        self.outputs = [i for i, p in enumerate(proc.params) if p.output]
        self.from_native = {t for s in proc.steps if s.kind == "NATIVE" for t in s.targets}
        self.assigned = set(self.from_native)
        self.written = False                    # a step that writes stands before
        self.set_returning = any(s.kind in ("ROWS", "MESSAGE") for s in proc.steps)
        self.tracks = sorted({f for s in proc.steps for f in OF_THE_CHANGED.get(s.native, ())})
        self.body()

    # --- names ---
    def say(self, text):
        self.lines.append("    " * self.depth + text)

    def variable(self, index):
        p = (self.proc.params + self.proc.locals)[index]
        name = "v_" + p.name[1:].lower()
        known = index >= len(self.proc.params) and index not in self.from_native
        if index in self.outputs or known:
            return name
        return self.argument("PG_ARG_VALUE", self.kinds[index], index, 0, name)

    def argument(self, source, kind, index, step, name):
        if name not in [a.name for a in self.args]:
            self.args.append(Arg(source, kind, index, step, name))
        return name

    def bind(self, bind, fields=(), row="r"):
        source, index = bind
        if source == "BIND_PARAM":
            return self.variable(index)
        if source == "BIND_TRIMMED":
            p = (self.proc.params + self.proc.locals)[index]
            return self.argument("PG_ARG_TRIMMED", "text", index, 0, "t_" + p.name[1:].lower())
        if source == "BIND_FIELD":
            return f"{row}.f_{fields[index][1:]}"
        if source == "BIND_NOW":
            return "v_now"
        name = {"BIND_LITERAL": "a_literal", "BIND_SLACK": "a_slack", "BIND_LOGIN": "a_login", "BIND_DATABASE": "a_database"}[source]
        return self.argument("PG_ARG" + source[4:], "int8" if source in ("BIND_LITERAL", "BIND_SLACK") else "text", 0, 0, name)

    def sql(self, stmt, fields=(), text=None, row="r"):
        text = pg_sql.dialect(stmt.sql if text is None else text)
        return pg_sql.numbered(text, lambda n: self.bind(stmt.binds[n - 1], fields, row))

    def condition(self, step):
        if step.test in ("TEST_NOTHING", "TEST_SOMETHING"):
            return "v_count = 0" if step.test == "TEST_NOTHING" else "v_count > 0"
        if step.test:
            return self.bind(step.args[0]) + (" IS NULL" if step.test == "TEST_NULL" else " IS NOT NULL")
        if step.stmt is None:
            return "false"
        return f"({self.sql(step.stmt)})" if step.stmt.bare is None else self.sql(step.stmt, text=step.stmt.bare)

    def text(self, step):
        """The text of a message, with {@name} replaced."""
        out = []
        for i, part in enumerate(re.split(r"\{(@\w+)\}", step.text)):
            if i % 2 == 0:
                if part:
                    out.append("'" + part.replace("'", "''") + "'")
                continue
            index = next(k for k, p in enumerate(self.proc.params + self.proc.locals) if p.name == part)
            out.append(f"coalesce({self.variable(index)}::text, 'NULL')")
        return " || ".join(out)

    # --- steps ---
    def counted(self):
        self.say("GET DIAGNOSTICS v_count = ROW_COUNT;")
        self.say("v_changed := v_changed + v_count;")
        self.written = True

    def step_run(self, _, s):
        self.say(self.sql(s.stmt) + ";")
        self.counted()

    def step_set(self, _, s):
        targets = [self.variable(t) for t in s.targets]
        query, kinds = self.sql(s.stmt), [self.kinds[t] for t in s.targets]
        if s.stmt.writes:
            self.say(f"{query} INTO {', '.join(targets)};")
            self.counted()
        elif not self.assigned & set(s.targets):
            self.say(f"SELECT {pg_sql.columns(kinds)} INTO {', '.join(targets)} FROM {pg_sql.wrapped(query, kinds)} LIMIT 1;")
        else:                                   # without a row the values stay as they are, where INTO would make them NULL
            self.say(f"FOR r IN SELECT * FROM {pg_sql.wrapped(query, kinds)} LIMIT 1 LOOP")
            for i, (t, k) in enumerate(zip(targets, kinds), 1):
                self.say(f"    {t} := {pg_sql.WRAPPED[k]}(r.c{i});")
            self.say("END LOOP;")
        self.assigned |= set(s.targets)

    def step_fetch(self, _, s):
        self.say(f"SELECT {s.column} INTO {self.variable(s.targets[0])} FROM {s.table} WHERE n = {self.bind(s.args[0])};")

    def step_check(self, i, s):
        self.say(f"IF ({self.condition(s)}) IS NOT TRUE THEN")
        if self.written:
            self.say("    IF v_changed > 0 THEN")
            self.say(f"        RAISE EXCEPTION USING ERRCODE = 'PC001', MESSAGE = {self.text(s)}, DETAIL = '{s.number} {s.severity} 1';")
            self.say("    END IF;")
        self.depth += 1
        self.answer(i, "NULL", self.text(s))
        self.depth -= 1
        self.say("END IF;")

    def answer(self, step, number, text):
        """The last row, and the end."""
        self.say(f"_step := {step}; _number := {number}; _text := {text}; _changed := v_changed; _now := v_now;")
        if self.set_returning:
            for k, index in enumerate(self.outputs, 1):
                self.say(f"o{k} := {self.variable(index)};")
            self.say("RETURN NEXT;")
        self.say("RETURN;")

    def step_message(self, i, s):
        if s.stmt is not None:
            self.say(f"IF {self.condition(s)} THEN")
        self.say(f"_step := {i}; _number := NULL; _text := {self.text(s)};")
        self.say("RETURN NEXT;")
        if s.stmt is not None:
            self.say("END IF;")

    def step_return(self, _, s):
        number = str(s.number)
        if s.stmt is not None:
            number = f"coalesce((SELECT {pg_sql.columns(['int8'])} FROM {pg_sql.wrapped(self.sql(s.stmt), ['int8'])} LIMIT 1), 0)"
        self.answer(-1, number, "NULL")

    def step_native(self, _, s):
        self.say(f"-- {s.native}: by the server, before")

    def step_rows(self, i, s):
        self.say("_number := NULL; _text := NULL;")
        if s.native:
            self.each_begin(s)
            self.say(f"RETURN QUERY {self.row(i, s, self.sql(s.stmt, s.fields))};")
            self.say("GET DIAGNOSTICS v_rows = ROW_COUNT;")
            self.say("v_count := v_count + v_rows;")
            self.each_end(s)
        else:
            self.say(f"RETURN QUERY {self.row(i, s, self.sql(s.postgres or s.stmt))};")
            self.say("GET DIAGNOSTICS v_count = ROW_COUNT;")
        self.say(f"IF v_count = 0 THEN _step := {i}; _number := 0; RETURN NEXT; END IF;")

    def row(self, i, s, query):
        """A row of the answer for each of the query: its columns at their place, NULL elsewhere."""
        kinds = [pg_sql.kind(c.type) for c in s.columns]
        out = [f"{i}::int4", "NULL::int8", "NULL::text", "NULL::int8", "NULL::int8"] + [f"NULL::{self.kinds[k]}" for k in self.outputs]
        for j, other in enumerate(self.proc.steps):
            if other.kind != "ROWS":
                continue
            out += [pg_sql.columns(kinds)] if j == i else [f"NULL::{pg_sql.kind(c.type)}" for c in other.columns]
        return f"SELECT {', '.join(out)} FROM {pg_sql.wrapped(query, kinds)}"

    # --- rows of natives ---
    def rows_of(self, s):
        """The rows that the native of this step gave: an array a field, and the names of their columns."""
        first = next(k for k, o in enumerate(self.proc.steps) if o.native == s.native and o.fields)
        arrays = [self.argument("PG_ARG_FIELD", pg_sql.kind(t), k, first, f"f_{s.native}_{f[1:]}")
                  for k, (f, t) in enumerate(zip(s.fields, s.field_types))]
        return arrays, ["f_" + f[1:] for f in s.fields]

    def each_begin(self, s):
        """A loop over these rows."""
        arrays, names = self.rows_of(s)
        rows = f"SELECT * FROM unnest({', '.join(arrays)}) WITH ORDINALITY AS q({', '.join(names)}, f_place)"
        if s.native in OF_THE_CHANGED:          # those that are also among the changed; sorted or hashed, so that many cost no more each
            assert s.fields == list(OF_THE_CHANGED[s.native])
            changed = ", ".join("v_changed_" + f[1:] for f in s.fields)
            of = ", ".join(names)
            rows = (f"SELECT {of}, min(f_place) AS f_place FROM ({rows} UNION ALL SELECT *, NULL FROM unnest({changed})) AS q({of}, f_place) "
                    f"GROUP BY {of} HAVING count(f_place) > 0 AND count(*) > count(f_place)")
        self.say("v_count := 0;")
        self.say(f"FOR r IN {rows} ORDER BY f_place LOOP")
        self.depth += 1

    def each_end(self, _):
        self.depth -= 1
        self.say("END LOOP;")

    def step_each(self, i, s):
        tracked = bool(self.tracks) and set(self.tracks) <= set(s.fields)
        inserted = re.fullmatch(r"(INSERT INTO \w+ \([^)]*\)) VALUES \((.*)\)", s.stmt.sql.strip(), re.S)
        if s.together:
            self.each_together(s, tracked)
        elif inserted and not tracked and "(" not in inserted.group(2):
            self.each_inserted(s, *inserted.groups())
        else:
            self.each_by_itself(s, tracked)
        self.written = True

    def each_by_itself(self, s, tracked):
        query = self.sql(s.stmt, s.fields)
        self.each_begin(s)
        self.say(query + ";")
        self.say("GET DIAGNOSTICS v_rows = ROW_COUNT;")
        self.say("v_changed := v_changed + v_rows;")
        if tracked:
            self.say("IF v_rows > 0 THEN")
            for f in self.tracks:
                self.say(f"    v_changed_{f[1:]} := v_changed_{f[1:]} || r.f_{f[1:]};")
            self.say("END IF;")
        self.each_end(s)

    def each_inserted(self, s, head, values):
        """Rows that do not depend on each other are inserted by one statement, in their order."""
        arrays, names = self.rows_of(s)
        values = self.sql(s.stmt, s.fields, values)
        self.say(f"{pg_sql.dialect(head)} SELECT {values} FROM unnest({', '.join(arrays)}) WITH ORDINALITY AS r({', '.join(names)}, f_place) ORDER BY f_place;")
        self.counted()

    def each_together(self, s, tracked):
        """All rows by one statement, as the declaration has it; as a rule there are none, and then nothing is asked."""
        arrays, names = self.rows_of(s)
        of = [(f"v_changed_{f[1:]}", arrays[s.fields.index(f)]) for f in self.tracks] if tracked else []
        found = ["coalesce(sum(q.changed), 0)"] + [f"{v} || coalesce(array_agg({a}[q.place]), '{{}}')" for v, a in of]
        ctes, select = (self.sql(x, s.fields, row="rows") for x in (s.together.ctes, s.together.select))
        self.say(f"IF cardinality({arrays[0]}) > 0 THEN")
        self.say(f"    WITH rows({', '.join(names)}, place) AS (SELECT * FROM unnest({', '.join(arrays)}) WITH ORDINALITY), {ctes},")
        self.say(f"    answer(place, changed) AS ({select})")
        self.say(f"    SELECT {', '.join(found)} INTO {', '.join(['v_rows'] + [v for v, _ in of])} FROM answer AS q;")
        self.say("    v_changed := v_changed + v_rows;")
        self.say("END IF;")

    # --- the whole ---
    def block(self, begin, end):
        steps, i = self.proc.steps, begin
        while i < end:
            s = steps[i]
            if s.kind != "IF":
                getattr(self, "step_" + s.kind.lower())(i, s)
                i += 1
                continue
            last = steps[s.jump - 1]            # an IF without a condition ends the first branch: ELSE
            other = s.jump - 1 > i and last.kind == "IF" and last.stmt is None and last.test is None and last.jump >= s.jump
            self.say(f"IF {self.condition(s)} THEN")
            self.inner(i + 1, s.jump - other)
            if other:
                self.say("ELSE")
                self.inner(s.jump, last.jump)
            self.say("END IF;")
            i = last.jump if other else s.jump

    def inner(self, begin, end):
        self.depth += 1
        before = len(self.lines)
        self.block(begin, end)
        if len(self.lines) == before:
            self.say("NULL;")
        self.depth -= 1

    def body(self):
        self.block(0, len(self.proc.steps))
        steps = self.proc.steps
        if not steps or steps[-1].kind != "RETURN" or any(s.kind == "IF" and s.jump == len(steps) for s in steps):
            self.answer(-1, "0", "NULL")

    def out_columns(self):
        outs = [(f"o{k}" if self.set_returning else self.variable(i), self.kinds[i]) for k, i in enumerate(self.outputs, 1)]
        rows = [pg_sql.kind(c.type) for s in self.proc.steps if s.kind == "ROWS" for c in s.columns]
        return list(FIXED) + outs + [(f"r{k}", kind) for k, kind in enumerate(rows, 1)]

    def declarations(self):
        first = len(self.proc.params)
        names = [(self.variable(first + i), self.kinds[first + i]) for i in range(len(self.proc.locals)) if first + i not in self.from_native]
        if self.set_returning:
            names += [(self.variable(i), self.kinds[i]) for i in self.outputs]
        names += [(f"v_changed_{f[1:]}", "int8[] := '{}'::int8[]") for f in self.tracks]
        if any("v_count" in line for line in self.lines):
            names.append(("v_count", "int8 := 0"))
        if any("FOR r IN" in line for line in self.lines):
            names += [("r", "record")]
        if any("v_rows" in line for line in self.lines):
            names += [("v_rows", "int8")]
        return "".join(f"    {n} {k};\n" for n, k in names)

    @property
    def name(self):
        return f'"{self.proc.name}"'

    def create(self):
        returns = ", ".join(f"{n} {k}" for n, k in self.out_columns())
        ins = ", ".join(a.declared for a in self.args)
        if self.set_returning:
            head = f"({ins}) RETURNS TABLE ({returns})"
        else:
            head = "(" + ins + ", " + ", ".join(f"OUT {n} {k}" for n, k in self.out_columns()) + ")"
        body = "\n".join(self.lines)
        return (f"CREATE OR REPLACE FUNCTION {self.name}{head} LANGUAGE plpgsql AS $procession$\n#variable_conflict use_column\n"
                f"DECLARE\n    v_now int8 := greatest(ticks(), a_clock);\n    v_changed int8 := 0;\n{self.declarations()}"
                f"BEGIN\n{body}\nEND $procession$;\n")

    def call(self):
        return f"SELECT * FROM {self.name}({', '.join(f'${i}' for i in range(1, len(self.args) + 1))})"


def has_function(service, proc):
    """The system's procedures use natives in their middle and run step by step."""
    natives = [i for i, s in enumerate(proc.steps) if s.kind == "NATIVE"]
    return service.name != "system" and natives in ([], [0])


def drop_all(service):
    """Functions may change their results: all of them are dropped by name before they are made again."""
    names = ", ".join(f"'{p.name}{more}'" for p in service.procs for more in (("", " together") if p.together else ("",)))
    return ("DO $procession$ DECLARE f regprocedure; BEGIN\n"
            f"    FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname IN ({names}) LOOP\n"
            "        EXECUTE 'DROP FUNCTION ' || f;\n    END LOOP;\nEND $procession$;\n")
