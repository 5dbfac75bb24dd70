"""Compiles every statement of the declarations with SQLite against the declared schema: a slip in SQL is found at build time, with its line.

Also compares the number of columns that a step selects with what it declares.
"""
import os
import sqlite3

from .declare import DeclarationError
from . import emit_c, emit_meta, sqltext


def shown(service, proc):
    return f"procedures/{service.name}/{os.path.basename(proc.path)}"


def verify_view(db, view):
    """Compiles its text, and makes it, for those that read it."""
    names = ", ".join([f'"{c.name}"' for c in view.columns] + view.hidden)
    try:
        if view.inline:
            db.execute("SELECT * FROM (" + view.sql.replace("$rows", "'[]'") + ")")
            return
        db.execute(f'CREATE VIEW "{view.store_name}"({names}) AS {view.sql}')
        db.execute(f'SELECT * FROM "{view.store_name}"')
    except sqlite3.Error as e:
        raise DeclarationError(view.path, view.line, f"{view.schema}.{view.name}: {e}") from None


def open_store(service):
    """An empty store of the service in memory."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.create_function("checksum", 1, lambda value: 0, deterministic=True)     # of store/sqlite/checksum.c
    db.create_function("verified", 2, lambda value, sum_: value, deterministic=True)
    for number, migration in enumerate(service.migrations, 1):
        try:
            db.executescript(migration)
        except sqlite3.Error as e:
            raise DeclarationError(service.schema_path, 1, f"migration {number}: {e}") from None
    for view in service.views:
        verify_view(db, view)
    for view in service.views:
        if not view.inline:
            db.execute(f'DROP VIEW "{view.store_name}"')
    try:
        db.executescript(emit_c.views_sql(service))
        for _, name in ((v.schema, v.name) for v in service.views if v.schema == "dbo" and service.name != "system"):
            db.execute(f'SELECT * FROM "{name}"')
    except sqlite3.Error as e:
        raise DeclarationError(service.views[0].path, 1, str(e)) from None
    return db


def verify_step(db, service, proc, step):
    if step.table:
        try:
            db.execute(f"SELECT {step.column}, rowid FROM {step.table}")
        except sqlite3.Error as e:
            raise DeclarationError(shown(service, proc), step.line, str(e)) from None
    if step.stmt is None:
        return
    binds = [None] * len(step.stmt.binds)
    try:
        if len(sqltext.split_statements(step.stmt.sql + ";")) != 1:
            raise DeclarationError(shown(service, proc), step.stmt.line, "a step has one statement")
        db.execute("EXPLAIN " + step.stmt.sql, binds)
        if step.kind not in ("RUN", "EACH"):
            db.execute("SAVEPOINT verify")
            try:
                found = db.execute(step.stmt.sql, binds).description
            except sqlite3.IntegrityError:      # NULLs everywhere: compiles, but cannot be run
                return
            finally:
                db.execute("ROLLBACK TO verify")
                db.execute("RELEASE verify")
            wanted = len(step.columns) if step.kind == "ROWS" else len(step.targets) if step.kind == "SET" else 1
            if found is None or len(found) != wanted:
                raise DeclarationError(shown(service, proc), step.stmt.line,
                                       f"the SQL gives {len(found or ())} columns, {wanted} are declared")
    except sqlite3.Error as e:
        raise DeclarationError(shown(service, proc), step.stmt.line, f"{e} in: {step.stmt.sql}") from None


def verify_numbers(db, service):
    """As many as are declared are counted, and what keeps them compiles."""
    if not service.numbers:
        return
    path = f"procedures/{service.name}/numbers.sql"
    db.create_function("tally", -1, lambda *args: None)
    try:
        found = len(db.execute(service.numbers_sql).description)
        db.executescript(emit_c.numbers_kept_sql(service))
    except sqlite3.Error as e:
        raise DeclarationError(path, 1, str(e)) from None
    if found != len(service.numbers):
        raise DeclarationError(path, 1, f"the SQL counts {found} numbers, {len(service.numbers)} are declared")


def unique_keys(db):
    """Every key that SQLite can name in a failure: "item.n, item.grp, item.id"."""
    found = set()
    for table, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        keys = [[c[1] for c in sorted(db.execute(f'PRAGMA table_info("{table}")'), key=lambda c: c[5]) if c[5]]]
        for index in db.execute(f'PRAGMA index_list("{table}")').fetchall():
            if index[2]:
                keys.append([c[2] for c in db.execute(f'PRAGMA index_info("{index[1]}")')])
        found.update(", ".join(f"{table}.{column}" for column in key) for key in keys)
    return found


def verify_constraints(db, service):
    """A text whose key is none of the schema's would never be told."""
    keys = unique_keys(db)
    for number, key, _ in service.constraints:
        if number == 2627 and key not in keys:
            raise DeclarationError(service.schema_path, 1, f"-- ERROR 2627 {key}: the schema has no such key")


def verify(services):
    for service in services:
        db = open_store(service)
        verify_constraints(db, service)
        if service.name == "system" and service.migrations:
            try:
                db.executescript(emit_meta.script(services)[0])
            except sqlite3.Error as e:
                raise DeclarationError(service.schema_path, 1, f"the metadata does not fit the meta_ tables: {e}") from None
        verify_numbers(db, service)
        for proc in service.procs:
            for step in proc.steps:
                verify_step(db, service, proc, step)
        db.close()
