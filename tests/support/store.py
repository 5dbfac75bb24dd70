"""Where the servers of a test keep their databases: STORE=sqlite (files, the default) or STORE=postgres.

With STORE=postgres one PostgreSQL of the tests' own serves all workers of a run (begun by tests/conftest.py): each data folder has a database
there, copied from one that a server has filled already. Servers whose clock the test sets have another one, which runs under the same clock.

    with stored(server, "StateService") as file:            # behind the server's back
        file.rows("SELECT cookie FROM item WHERE id = ?", key)

    @sqlite_only("the file is damaged by hand")             # above a test that is about SQLite's files
"""
import atexit
import contextlib
import functools
import hashlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import time

import pytest

from support import postgres

SHARED = "STORE_POSTGRES"           # in the environment of workers: the folder of the PostgreSQL that they share
TEMPLATE = "filled"
SETTINGS = {"max_connections": "400", "max_pred_locks_per_transaction": "256"}
_owner = {}                         # data folder: the cluster that has its database


def store():
    return os.environ.get("STORE", "sqlite")


def is_postgres():
    return store() == "postgres"


def sqlite_only(why):
    """A test about files of SQLite, or about what only that engine promises. tools/conformance.py shows the reason."""
    return pytest.mark.sqlite_only(why)


def long_on_postgres(why):
    """A test that takes seconds there: left to make test-long, which others of the same requirements do not need."""
    return pytest.mark.long_on_postgres(why)


def ways(every, few):
    """How a test calls: by every driver and way with SQLite; on PostgreSQL by a few, since these meet before any store. STORE_WAYS=all: by every."""
    return few if is_postgres() and os.environ.get("STORE_WAYS") != "all" else every


def skip_others(items):
    """Called with all tests: leaves out what this store cannot show."""
    for item in items if is_postgres() else ():
        mark = item.get_closest_marker("sqlite_only")
        if mark:
            item.add_marker(pytest.mark.skip(reason="SQLite only: " + mark.args[0]))
        if item.get_closest_marker("long_on_postgres"):
            item.add_marker(pytest.mark.long)


# ---- clusters

def begin_shared():
    """In the first process of a run: the PostgreSQL of all its workers."""
    if not is_postgres() or os.environ.get(SHARED):
        return
    missing = postgres.missing()
    if missing:
        pytest.exit(f"STORE=postgres: {missing}", 4)
    made = postgres.Postgres(settings=SETTINGS).start()
    atexit.register(made.remove)
    os.environ[SHARED] = str(made.folder)
    fill(made)


@functools.lru_cache
def cluster():
    """The one that all workers share; a program that is not pytest begins it here."""
    begin_shared()
    return postgres.Postgres(folder=os.environ[SHARED])


def fill(pg):
    """What every first start would make, once."""
    from support.server import Server       # which needs this file
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {TEMPLATE}")
    with Server(settings={"engine": "postgres", "postgres": pg.conninfo(TEMPLATE)}):
        pass


class ClockPostgres(postgres.Postgres):
    """One for the clock servers of this process, under the clock that these set."""

    def __init__(self):
        super().__init__(settings={**SETTINGS, "autovacuum": "off"})
        self.clock = self.folder / "clock"

    def environment(self):
        from support.clock import environment
        return {**super().environment(), **environment(self.clock)}


@functools.lru_cache
def clock_cluster():
    made = ClockPostgres()
    made.clock.write_text("1750000000.0\n")
    atexit.register(made.remove)
    made.start()
    fill(made)
    return made


# ---- databases

def database_name(data):
    return "p" + hashlib.sha256(str(data).encode()).hexdigest()[:20]


def database_for(data, password, clock=False):
    """The conninfo of the database of a data folder: as empty, and as lasting, as the folder."""
    pg, name = clock_cluster() if clock else cluster(), database_name(data)
    before = _owner.get(str(data))
    if before is None:
        from support.server import PASSWORD
        create(pg, name + (f" TEMPLATE {TEMPLATE}" if password == PASSWORD else ""))
    elif before is not pg:
        carry(before, pg, name)
    _owner[str(data)] = pg
    return pg.conninfo(name)


def create(pg, what, seconds=120):
    """Again while somebody is still in the template: the session of a server that has just ended, or one that clears up."""
    import psycopg2
    until = time.monotonic() + seconds
    with contextlib.closing(pg.connect()) as connection:
        while True:
            try:
                connection.cursor().execute(f"CREATE DATABASE {what}")
                return
            except psycopg2.errors.ObjectInUse:
                assert time.monotonic() < until, what


def carry(here, there, name):
    """A folder that servers of both kinds use, one after another: its database goes to the other clock."""
    with contextlib.closing(there.connect()) as connection:
        connection.cursor().execute(f"DROP DATABASE IF EXISTS {name}")
        connection.cursor().execute(f"CREATE DATABASE {name}")
    dump = subprocess.run([postgres.PROGRAMS / "pg_dump", here.conninfo(name)], check=True, stdout=subprocess.PIPE)
    subprocess.run([postgres.PROGRAMS / "psql", "-q", "-X", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", there.conninfo(name)], check=True, input=dump.stdout)


def forget(data):
    """The folder is gone, and with it its database."""
    pg = _owner.pop(str(data), None)
    if pg is not None:
        with contextlib.closing(pg.connect()) as connection:
            connection.cursor().execute(f"DROP DATABASE IF EXISTS {database_name(data)} WITH (FORCE)")


# ---- behind the server's back

class Stored:
    """The tables of one database. Statements have ? for values, and are what both kinds of store understand."""

    def __init__(self, connection, translate=str):
        self.connection, self.translate = connection, translate

    def run(self, sql, *values):
        """How many rows it changed."""
        cursor = self.connection.cursor()
        cursor.execute(self.translate(sql), values)
        return cursor.rowcount

    def run_many(self, sql, rows):
        """In one transaction."""
        cursor = self.connection.cursor()
        cursor.execute("BEGIN")
        cursor.executemany(self.translate(sql), rows)
        cursor.execute("COMMIT")

    def rows(self, sql, *values):
        cursor = self.connection.cursor()
        cursor.execute(self.translate(sql), values)
        return cursor.fetchall()


def place(server, database):
    """The file, or the schema, that has a database."""
    with _open_system(server) as system:
        return system.rows("SELECT file FROM database WHERE name = ?", database)[0][0]


@contextlib.contextmanager
def _open_file(path):
    with contextlib.closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as file:
        yield Stored(file)


@contextlib.contextmanager
def _open_schema(server, schema):
    pg = _owner[str(server.data)]
    with contextlib.closing(pg.connect(database_name(server.data), path=f'"{schema}", procession, pg_catalog')) as connection:
        yield Stored(connection, lambda sql: sql.replace("%", "%%").replace("?", "%s") + " ")


def _open_system(server):
    return _open_schema(server, "procession_system") if is_postgres() else _open_file(server.data / "system.db")


def stored(server, database):
    return _open_schema(server, place(server, database)) if is_postgres() else _open_file(server.data / place(server, database))


def remove_folder(data):
    """A data folder that a test has made."""
    forget(data)
    shutil.rmtree(pathlib.Path(data), ignore_errors=True)
