"""Runs declared procedures on SQLite in memory, as the executor would: enough to test their SQL before and without the server."""
import os
import re
import sqlite3
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True

from procgen_lib import declare, emit_c, emit_meta  # noqa: E402


def checksum(value):
    data = value.encode() if isinstance(value, str) else value
    return 0x4E554C4C if data is None else (zlib.crc32(data) + 2**31) % 2**32 - 2**31


def verified(value, sum_):
    if checksum(value) != sum_:
        raise ValueError("the checksum of a stored value is wrong")
    return value


class Failed(Exception):
    def __init__(self, number, text):
        super().__init__(f"{number}: {text}")
        self.number = number


class Store:
    """One service's store. call() gives an object with outputs, results (lists of dicts), messages and status."""

    def __init__(self, service, natives=None):
        services, _ = declare.read_all(os.path.join(ROOT, "procedures"))
        self.service = next(s for s in services if s.name == service)
        self.procs = {p.name.lower(): p for p in self.service.procs}
        self.natives = natives or {}
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.create_function("checksum", 1, checksum, deterministic=True)           # as engine/sqlite/store/checksum.c has them
        self.db.create_function("verified", 2, verified, deterministic=True)
        self.db.execute("PRAGMA foreign_keys = ON")
        for m in self.service.migrations:
            self.db.executescript(m)
        self.db.executescript(emit_c.views_sql(self.service))
        if service == "system":
            self.db.executescript(emit_meta.script(services)[0])
        self.now, self.literal, self.login, self.database = 45_000 * 86400 * 300, 0, "sa", "master"

    def call(self, name, /, **args):
        return Walk(self, self.procs[name.lower()], args).run()


class Walk:
    def __init__(self, store, proc, args):
        self.store, self.proc = store, proc
        self.variables = proc.params + proc.locals
        self.values = [None] * len(self.variables)
        for i, p in enumerate(proc.params):
            given = {k.lower(): v for k, v in args.items()}
            if not p.output:
                self.values[i] = given.get(p.name[1:].lower(), p.default)
        self.results, self.messages, self.status = [], [], 0

    def bind(self, bind, fields=()):
        source, index = bind
        s = self.store
        return {"BIND_PARAM": lambda: self.values[index], "BIND_TRIMMED": lambda: self.values[index] and self.values[index].rstrip(" "), "BIND_NOW": lambda: s.now, "BIND_LITERAL": lambda: s.literal, "BIND_SLACK": lambda: 0,
                "BIND_LOGIN": lambda: s.login, "BIND_DATABASE": lambda: s.database, "BIND_FIELD": lambda: fields[index]}[source]()

    def query(self, stmt, fields=()):
        return self.store.db.execute(stmt.sql, [self.bind(b, fields) for b in stmt.binds]).fetchall()

    def text(self, step):
        names = {p.name: self.values[i] for i, p in enumerate(self.variables)}
        return re.sub(r"\{(@\w+)\}", lambda m: str(names[m.group(1)]), step.text)

    def run(self):
        self.store.db.execute("SAVEPOINT call")
        try:
            self.steps()
        except Exception:
            self.store.db.execute("ROLLBACK TO call")
            raise
        finally:
            self.store.db.execute("RELEASE call")
        self.outputs = {p.name: self.values[i] for i, p in enumerate(self.proc.params) if p.output}
        return self

    def steps(self):
        at = 0
        while at < len(self.proc.steps):
            step = self.proc.steps[at]
            at += 1
            if step.kind == "NATIVE":
                out = self.store.natives[step.native](*[self.bind(a) for a in step.args])
                for target, value in zip(step.targets, out or ()):
                    self.values[target] = value
                continue
            if step.kind == "FETCH":
                found = self.store.db.execute(f"SELECT {step.column} FROM {step.table} WHERE rowid = ?", (self.bind(step.args[0]),)).fetchone()
                self.values[step.targets[0]] = found[0]
                continue
            if step.kind == "EACH":
                for fields in self.store.natives[step.native](*[self.bind(a) for a in step.args]):
                    self.query(step.stmt, fields)
                continue
            if step.native:                     # ROWS … EACH
                rows = [r for f in self.store.natives[step.native](*[self.bind(a) for a in step.args]) for r in self.query(step.stmt, f)]
            elif step.test:
                rows = [((self.bind(step.args[0]) is None) == (step.test == "TEST_NULL"),)]
            else:
                rows = self.query(step.stmt) if step.stmt else [(step.number if step.kind == "RETURN" else 0,)]
            if step.kind == "SET" and rows:
                for target, value in zip(step.targets, rows[0]):
                    self.values[target] = value
            elif step.kind == "ROWS":
                self.results.append([dict(zip([c.name for c in step.columns], r)) for r in rows])
            elif step.kind == "IF" and not rows[0][0]:
                at = step.jump
            elif step.kind == "CHECK" and not rows[0][0]:
                raise Failed(step.number, self.text(step))
            elif step.kind == "MESSAGE":
                self.messages.append((step.number, self.text(step)))
            elif step.kind == "RETURN":
                self.status = rows[0][0]
                return
