"""The same declarations in two dialects: random calls give the same on SQLite, step by step, and by the functions of PostgreSQL.

SQLite's side is a small interpreter of the steps (src/engine/sqlite has the real one, which the behaviour tests know); the clock and the rows of
natives are given to both. Everything is compared: answers, and all tables after each call of a small number.
"""
import pathlib
import random
import sqlite3
import sys
import zlib

import psycopg2
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from procgen_lib import declare, pg_function, pg_sql, pg_together  # noqa: E402

SERVICES = {s.name: s for s in declare.read_all(str(ROOT / "procedures"))[0]}
SLACK = 600                         # renewal_slack of two seconds
GUIDS = [bytes(16)] + [bytes([k] * 16) for k in (1, 0x7F, 0x80, 0xFF)]
CALLS = {"state": 1500, "schedule": 1200, "word": 1200, "translation": 1500}


# Instead of a number that another table's rows have.
BY_IDENTIFIER = {("failure", "job"): "(SELECT job.id FROM job WHERE job.n = failure.job)"}


class Failed(Exception):
    pass


class SqliteStore:
    """The steps of procedures on SQLite."""

    def __init__(self, service):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.create_function("checksum", 1, lambda v: 0 if v is None else zlib.crc32(v), deterministic=True)
        self.db.create_function("verified", 2, lambda v, _: v, deterministic=True)
        for m in service.migrations:
            self.db.executescript(m)

    def call(self, proc, values, now, literal, natives):
        self.db.execute("BEGIN")
        try:
            answer = self.run(proc, dict(values), now, literal, natives)
            self.db.execute("COMMIT")
            return answer
        except Failed as e:
            self.db.execute("ROLLBACK")
            return ("error", str(e))
        except sqlite3.IntegrityError as e:
            self.db.execute("ROLLBACK")
            return ("integrity", "unique" if "UNIQUE" in str(e) else "null")

    def bound(self, stmt, values, now, literal, fields=()):
        out = []
        for source, index in stmt.binds:
            v = {"BIND_NOW": now, "BIND_LITERAL": literal, "BIND_SLACK": SLACK}.get(source)
            if source == "BIND_FIELD":
                v = fields[index]
            elif source in ("BIND_PARAM", "BIND_TRIMMED"):
                v = values.get(index)
                if source == "BIND_TRIMMED" and v is not None:
                    v = v.rstrip(" ")
            out.append(v)
        return out

    def run(self, proc, values, now, literal, natives):
        every = proc.params + proc.locals
        sets, status, pc, count, found, failed = [], 0, 0, 0, {}, None
        before = self.db.total_changes

        def fill(text):
            for i, p in enumerate(every):
                shown = "NULL" if values.get(i) is None else str(values.get(i))
                text = text.replace("{" + p.name + "}", shown)
            return text

        def holds(s):
            if s.test in ("TEST_NOTHING", "TEST_SOMETHING"):
                return (count == 0) == (s.test == "TEST_NOTHING")
            if s.test:
                return (values.get(s.args[0][1]) is None) == (s.test == "TEST_NULL")
            if s.stmt is None:
                return False
            row = self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal)).fetchone()
            return bool(row and row[0])

        while pc < len(proc.steps):
            s, index = proc.steps[pc], pc
            pc += 1
            was = self.db.total_changes
            if s.kind in ("EACH", "ROWS") and s.native:
                rows = []
                for fields in natives[s.native]:
                    if s.native in pg_function.OF_THE_CHANGED and not found.get(fields):
                        continue
                    had = self.db.total_changes
                    rows += self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal, fields)).fetchall()
                    if self.db.total_changes > had:
                        found[fields[:2]] = True
                if s.kind == "ROWS":
                    sets.append((index, rows))
            elif s.kind == "RUN":
                self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal))
                count = self.db.total_changes - was
            elif s.kind == "SET":
                rows = self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal)).fetchall()
                if rows:
                    values.update(zip(s.targets, rows[0]))
            elif s.kind == "FETCH":
                values[s.targets[0]] = self.db.execute(f"SELECT {s.column} FROM {s.table} WHERE rowid = ?", [values[s.args[0][1]]]).fetchone()[0]
            elif s.kind == "ROWS":
                rows = self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal)).fetchall()
                count = len(rows)
                sets.append((index, rows))
            elif s.kind == "CHECK" and not holds(s):
                raise Failed(f"{s.number} {fill(s.text)}")
            elif s.kind == "IF" and not holds(s):
                pc = s.jump
            elif s.kind == "MESSAGE" and (s.stmt is None or holds(s)):
                sets.append((index, fill(s.text)))
            elif s.kind == "RETURN":
                status = s.number
                if s.stmt is not None:
                    row = self.db.execute(s.stmt.sql, self.bound(s.stmt, values, now, literal)).fetchone()
                    status = int(row[0] or 0) if row else 0
                break
        outputs = [values.get(i) for i, p in enumerate(proc.params) if p.output]
        return ("done", status, outputs, sets, self.db.total_changes - before)

    def table(self, name, columns):
        return self.db.execute(f"SELECT {columns} FROM {name}").fetchall()


class PostgresStore:
    def __init__(self, connection):
        self.cursor = connection.cursor()

    def call(self, proc, values, now, literal, natives):
        f = pg_function.Function(proc)
        args = []
        for a in f.args:
            v = {"PG_ARG_CLOCK": now, "PG_ARG_LITERAL": literal, "PG_ARG_SLACK": SLACK}.get(a.source)
            if a.source in ("PG_ARG_VALUE", "PG_ARG_TRIMMED"):
                v = values.get(a.index)
                if a.source == "PG_ARG_TRIMMED" and v is not None:
                    v = v.rstrip(" ")
            elif a.source == "PG_ARG_FIELD":
                v = [row[a.index] for row in natives[proc.steps[a.step].native]]
            args.append(v)
        kinds = ", ".join(f"%s::{a.declared.split()[-1]}" for a in f.args)
        try:
            self.cursor.execute(f"SELECT * FROM {f.name}({kinds})", args)
        except psycopg2.errors.UniqueViolation:
            return ("integrity", "unique")
        except psycopg2.errors.NotNullViolation:
            return ("integrity", "null")
        except psycopg2.Error as e:
            assert e.pgcode == "PC001", e
            return ("error", f"{e.diag.message_detail.split()[0]} {e.diag.message_primary}")
        return self.answer(proc, f, [[bytes(v) if isinstance(v, memoryview) else v for v in row] for row in self.cursor.fetchall()], now)

    def together(self, proc, calls, now):
        """Many calls as one statement: the answers by their places, from 0; a call that is not there was not done."""
        t = pg_together.Together(proc)
        args = []
        for a in t.args:
            each = [c.get(a.index) for c in calls]
            if a.source == "PG_ARG_TRIMMED":
                each = [None if v is None else v.rstrip(" ") for v in each]
            args.append({"PG_ARG_CLOCK": now, "PG_ARG_SLACK": SLACK}.get(a.source, each))
        kinds = ", ".join(f"%s::{a.kind}{'[]' if a in t.each else ''}" for a in t.args)
        self.cursor.execute(f"SELECT * FROM {t.name}({kinds})", args)
        rows = [[bytes(v) if isinstance(v, memoryview) else v for v in row] for row in self.cursor.fetchall()]
        return {row[-1] - 1: self.answer(proc, t.one, [row], now) for row in rows}

    def answer(self, proc, f, rows, now):
        sets, offsets, at = [], {}, 5 + len(f.outputs)
        for i, s in enumerate(proc.steps):
            if s.kind == "ROWS":
                offsets[i] = at
                at += len(s.columns)
        for row in rows[:-1]:
            step = row[0]
            if proc.steps[step].kind == "MESSAGE":
                sets.append((step, row[2]))
                continue
            if not sets or sets[-1][0] != step:
                sets.append((step, []))
            if row[1] is None:
                sets[-1][1].append(tuple(row[offsets[step]:offsets[step] + len(proc.steps[step].columns)]))
        end = rows[-1]
        assert end[4] == now
        if end[0] >= 0:
            assert proc.steps[end[0]].kind == "CHECK" and end[3] == 0
            return ("error", f"{proc.steps[end[0]].number} {end[2]}")
        return ("done", end[1], end[5:5 + len(f.outputs)], sets, end[3])

    def table(self, name, columns):
        self.cursor.execute(f"SELECT {columns} FROM {name}")
        return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in self.cursor.fetchall()]


def sorted_rows(rows):
    return sorted(rows, key=lambda r: tuple((v is not None, str(type(v)), v if v is not None else 0) for v in r))


class Inputs:
    """Values that meet each other: few keys, and the edges."""

    def __init__(self, seed, now):
        self.r, self.now = random.Random(seed), now

    def value(self, p):
        r, name = self.r, p.name.lower()
        if r.random() < 0.12 and not p.not_null:
            return None
        if p.range:
            return max(p.range[0], min(p.range[1], r.choice([0, 1, 2, 3, 5, 10, 20])))
        kind = p.type.name
        if kind == "bit":
            return r.randint(0, 1)
        if kind == "datetime":
            return self.now + r.choice([-40000, -300, -1, 0, 1, 300, 40000]) if r.random() < 0.9 else 76683386879999
        if kind == "date":
            return self.now // 25920000 + 693595 + r.choice([-1, 0, 0, 1])
        if kind == "uniqueidentifier":
            return r.choice(GUIDS)
        if pg_sql.kind(p.type) == "int8":
            return r.choice([-1, 2**31 - 1]) if r.random() < 0.03 else r.randint(1, 4)
        if pg_sql.kind(p.type) == "bytea":
            return r.choice([b"", b"\0", b"abc", b"x" * 2000, b"y" * 100001])
        if "id" in name:
            return r.choice(["a", "A", "b", "a ", "ä", "aa", "\U0001F600"])
        return r.choice(["", "t", "text ", "ß", "Z", "z"])

    def rows(self, step):
        out = set()
        for _ in range(self.r.randint(0, 5)):
            out.add((self.r.randint(1, 4), self.r.randint(1, 3), self.r.randint(1, 4)))
        last = [GUIDS[k[2] % 5] if step.fields[-1] == "$wsi" else k[2] * 7 if k[2] != 2 else None for k in sorted(out)]
        return [k + (v,) for k, v in zip(sorted(out), last)]

    def natives(self, proc):
        given = {}
        for s in proc.steps:
            if not s.fields or s.native in given:
                continue
            if s.native == "group_items":
                given[s.native] = [(i, f"in{i}", f"out{i}") for i in range(1, self.r.randint(1, 5))]
            elif s.native in pg_function.OF_THE_CHANGED:
                given[s.native] = sorted({row[:2] for rows in given.values() for row in rows})
            else:
                given[s.native] = self.rows(s)
        return given


def compare_tables(here, there, service, where):
    names = [r[0] for r in here.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
    for name in names:
        columns = [r[1] for r in here.db.execute(f"PRAGMA table_info({name})")]
        # numbers of rows count on their own on each side; checksums are other ones
        wanted = ", ".join(BY_IDENTIFIER.get((name, c), c) for c in columns if c not in ("n", "sum"))
        if wanted:
            assert sorted_rows(here.table(name, wanted)) == sorted_rows(there.table(name, wanted)), (service.name, name, where)


def many_calls(inputs, proc):
    """Calls that differ in what they are about."""
    def about(values):
        return tuple(v.rstrip(" ") if isinstance(v, str) else v for v in (values[k] for k in proc.together.keys))

    made = [{i: inputs.value(p) for i, p in enumerate(proc.params) if not p.output} for _ in range(inputs.r.randint(2, 9))]
    return list({about(values): values for values in made}.values())


def run_together(here, there, proc, calls, now):
    """Those that the statement did, then the others by themselves: SQLite runs all of them in that order. How many went together."""
    done = there.together(proc, calls, now)
    for i in sorted(range(len(calls)), key=lambda i: i not in done):
        got = done[i] if i in done else there.call(proc, calls[i], now, 0, {})
        assert here.call(proc, calls[i], now, 0, {}) == got, (proc.name, calls, i)
    return len(done)


@pytest.mark.parametrize("name", [n for n in sorted(CALLS) if any(p.together for p in SERVICES[n].procs)])
def test_calls_that_go_together(pg, name):
    """TOGETHER gives what the steps give, one call after another."""
    service = SERVICES[name]
    here, there = SqliteStore(service), PostgresStore(pg.load(name, f"together_{name}"))
    now = 2**41
    inputs, count = Inputs("together " + name, now), {}
    procs = [p for p in service.procs if pg_function.has_function(service, p)]
    weights = [0 if p.name.startswith(("proc_Delete", "proc_JobsExpire", "proc_Cancel", "procession_")) else
               8 if p.together or p.name.startswith(("proc_Add", "proc_Submit")) else 1 for p in procs]
    for k in range(800):
        inputs.now = now = now + inputs.r.choice([0, 1, 300, 18000])
        proc = inputs.r.choices(procs, weights)[0]
        if proc.together:
            count[proc.name] = count.get(proc.name, 0) + run_together(here, there, proc, many_calls(inputs, proc), now)
            compare_tables(here, there, service, (k, proc.name))
            continue
        values = {i: inputs.value(p) for i, p in enumerate(proc.params) if not p.output}
        natives = inputs.natives(proc)
        for s in proc.steps:
            values.update({t: "name" for t in s.targets[-1:] if s.kind == "NATIVE"})
        assert here.call(proc, values, now, 0, natives) == there.call(proc, values, now, 0, natives), (k, proc.name)
    assert all(count.get(p.name, 0) >= 5 for p in procs if p.together), count


@pytest.mark.parametrize("name", sorted(CALLS))
def test_random_calls(pg, name):
    service = SERVICES[name]
    here, there = SqliteStore(service), PostgresStore(pg.load(name, f"same_{name}"))
    now = 2**41
    inputs, seen = Inputs(name, now), {}
    procs = [p for p in service.procs if pg_function.has_function(service, p)]
    weights = [1 if p.name.startswith(("proc_DeleteExpired", "proc_JobsExpire", "proc_CancelAll", "proc_MIP_GetScheduledJobsInI")) else
               12 if p.name.startswith(("proc_Add", "proc_MIP_Add", "proc_Submit")) else 6 for p in procs]
    for k in range(CALLS[name]):
        now += inputs.r.choice([0, 1, 300, 18000, 20000])
        inputs.now = now
        proc = inputs.r.choices(procs, weights)[0]
        values = {i: inputs.value(p) for i, p in enumerate(proc.params) if not p.output}
        for s in proc.steps:
            if s.kind == "NATIVE":
                values.update({t: None for t in s.targets})
                if s.targets:
                    values[s.targets[-1]] = "name"
        natives, literal = inputs.natives(proc), inputs.r.choice([0, 0, 1])
        got = [store.call(proc, values, now, literal, natives) for store in (here, there)]
        where = (k, proc.name, {p.name: values.get(i) for i, p in enumerate(proc.params)}, literal)
        assert got[0] == got[1], where
        seen.setdefault(proc.name, set()).add(got[0][0])
        if k % 25 == 0:
            compare_tables(here, there, service, where)
    compare_tables(here, there, service, "the end")
    assert {p.name for p in procs if "done" not in seen.get(p.name, ())} == set()
