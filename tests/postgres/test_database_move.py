"""procession database move: from files to PostgreSQL and back while clients work, compared row by row and byte by byte, counted exactly; broken off wherever it is,
by Ctrl-C, kill -9 of the command, of the server, of PostgreSQL: the database is as a whole here or there, and nothing is left of the other."""
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import tarfile
import threading
import time
import uuid
import zlib

import pytest

from support.postgres import Postgres, Standby
from support.server import Server, command_binary
from support.store import sqlite_only
from support.wire import Closed
from test_sharing import open_path, opens, rows, until

pytestmark = sqlite_only("starts servers of both engines itself")

SERVICES = {"StateService": "state", "WordAutomation": "word", "Translation": "translation", "ScheduledJobs": "schedule"}
WORD_GROUP = '<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"><item id="1" in="a.docx" out="a.pdf"/><item id="2" in="ü" out="€"/></group>'
TRANSLATION_GROUP = WORD_GROUP.replace("server/word/2009/08", "server/translation/2010/11")
OWN = {("item", "sum"), ("promise", "until")}       # each engine has its own


@contextlib.contextmanager
def installation(pg, **settings):
    """A server with files that knows a PostgreSQL of its own."""
    name = "m" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    with Server(settings={"postgres": pg.conninfo(name), "server_name": "files", **settings}, start_timeout=120) as server:
        yield server


@pytest.fixture(scope="module")
def both(pg):
    with installation(pg) as server:
        yield server


def command(server, *args):
    return [str(command_binary()), "--server", server.address, "--password-file", str(server.dir / "password"), *args]


def run(server, *args):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROCESSION_")}
    return subprocess.run(command(server, *args), capture_output=True, text=True, timeout=120, env=env, stdin=subprocess.DEVNULL, check=False)


def move(server, name, to):
    done = run(server, "database", "move", name, "--to", to)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(server, name, to, why):
    done = run(server, "database", "move", name, "--to", to)
    assert done.returncode == 1 and why in done.stderr, done.stderr


def engine_of(server, name):
    return next(r["engine"] for r in rows(server, "EXEC procession_database_list") if r["name"] == name)


@contextlib.contextmanager
def postgres(pg, server):
    with contextlib.closing(pg.connect(server.settings["postgres"].rpartition("=")[2])) as connection:
        yield connection.cursor()


def schemas(pg, server, begins="procession_"):
    with postgres(pg, server) as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s) AND nspname NOT LIKE 'procession_system%%' ORDER BY 1", (begins,))
        return [row[0] for row in cursor.fetchall()]


def files(server, name):
    return sorted(f for f in os.listdir(server.data) if f.startswith(name))


def done(db, text):
    answer = db.batch(text)
    assert answer.error is None, (text, answer.errors)
    return answer


# ---- what a database has

def tables_of(connection):
    return [r[0] for r in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'procession_file' ORDER BY 1")]


def columns_of(connection, table):
    return [r[1] for r in connection.execute(f"PRAGMA table_info({table})")]


def shape_of(server):
    """The tables of each service, from its file."""
    shapes = {}
    for name in SERVICES:
        with contextlib.closing(sqlite3.connect(server.data / f"{name}.db")) as c:
            shapes[name] = {t: [col for col in columns_of(c, t) if (t, col) not in OWN] for t in tables_of(c)}
    return shapes


def in_file(server, name, shape):
    with contextlib.closing(sqlite3.connect(server.data / f"{name}.db")) as c:
        c.text_factory = bytes
        found = {t: sorted(map(repr, c.execute(f"SELECT {', '.join(cols)} FROM {t}"))) for t, cols in shape.items()}
        last = {k.decode(): v for k, v in c.execute("SELECT name, seq FROM sqlite_sequence")} if c.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchone() else {}
        return found, last


def as_kept(value):
    """What PostgreSQL keeps for U+0000 and lone surrogates, as SQLite has it."""
    if isinstance(value, memoryview):
        return bytes(value)
    if not isinstance(value, str):
        return value
    text = "".join(c if ord(c) < 0x10f7ff else "\0" if ord(c) == 0x10f7ff else chr(0xd800 + ord(c) - 0x10f800) for c in value)
    return text.encode("utf-8", "surrogatepass")


def in_postgres(pg, server, name, shape):
    with postgres(pg, server) as cursor:
        found = {}
        for table, cols in shape.items():
            cursor.execute("SELECT {} FROM procession_{}.{}".format(", ".join(f'"{c}"' for c in cols), name.lower(), table))
            found[table] = sorted(repr(tuple(map(as_kept, row))) for row in cursor.fetchall())
        return found


LARGE = bytes(range(256)) * 16384       # 4 MiB


def fill(server):
    """Something in every table, and what is hard to carry: NULL, nothing, U+0000, half a character, 4 MiB, gaps in numbers."""
    with open_path("wire", server, "StateService") as db:
        done(db, "EXEC proc_AddItem N'no data €', 0x, 20")
        for i in range(50):
            done(db, f"EXEC proc_AddItem 'k{i}', 0x{i:02x}ff, {1 + i}")
        done(db, "EXEC proc_AddItem 'null', NULL, 600")
        done(db, "EXEC proc_GetItemWithLock 'k1', NULL, NULL, NULL, NULL; EXEC proc_GetItemWithLock 'k2', NULL, NULL, NULL, NULL")
        done(db, "EXEC proc_DeleteItem 'k9', 1")
    with open_path("pytds", server, "StateService") as db:
        assert db.call("proc_AddItem", id="large", item=LARGE, timeout=20).error is None
    for database, group, add in (("WordAutomation", WORD_GROUP, "EXEC proc_AddJob {0}, NULL, NULL, NULL, NULL, N'<s/>', N'job {0}'"),
                                 ("Translation", TRANSLATION_GROUP, "EXEC proc_AddJob {0}, N'u', 0x01, NULL, N'<s/>', N'job {0}', 2, 1000, 1000")):
        with open_path("wire", server, database) as db:
            for job in range(1, 6):
                done(db, add.format(job))
                done(db, f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @InputRoot = N'i', @OutputRoot = N'o', @MaxAttemptsCount = 2, @JobXml = N'{group}'")
            done(db, "EXEC proc_SubmitJob 1; EXEC proc_SubmitJob 2")
    with open_path("wire", server, "WordAutomation") as db:
        done(db, "DECLARE @s nvarchar(99) = N'a' + NCHAR(0) + NCHAR(55296) + N'€😀' EXEC proc_AddJob 6, NULL, NULL, NULL, NULL, @s, N''")
    with open_path("wire", server, "ScheduledJobs") as db:
        for i in range(5):
            done(db, f"EXEC proc_MIP_AddScheduledJob '{uuid.UUID(int=i)}', N'Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c', "
                     f"N'Microsoft.Office.Server.Audience.AudienceCompilationJob', N'daily at 01:00:00', NULL, '2030-01-31T01:00:00', 0, N'job {i}'")


def test_all_four_there_and_back_row_by_row(pg, both):
    fill(both)
    shapes = shape_of(both)
    before = {name: in_file(both, name, shapes[name]) for name in SERVICES}
    assert all(before[name][0][table] for name, table in (("StateService", "body"), ("WordAutomation", "item_text"), ("Translation", "quota"), ("ScheduledJobs", "job")))
    for name in SERVICES:
        assert "moved to postgres" in move(both, name, "postgres")
        assert engine_of(both, name) == "postgres" and in_postgres(pg, both, name, shapes[name]) == before[name][0]
        assert run(both, "database", "check", name).returncode == 0
        until(lambda n=name: not files(both, n))
    with postgres(pg, both) as cursor:
        cursor.execute("SELECT data FROM procession_stateservice.body JOIN procession_stateservice.item USING (n) WHERE id = 'large'")
        assert bytes(cursor.fetchone()[0]) == LARGE
    refused(both, "StateService", "postgres", "is there already")
    with open_path("wire", both, "WordAutomation") as db:                   # numbers go on where they were
        done(db, "EXEC proc_AddJob 77, NULL, NULL, NULL, NULL, N'<s/>', N'last'")
    with postgres(pg, both) as cursor:
        cursor.execute("SELECT n FROM procession_wordautomation.job WHERE id = 77")
        assert cursor.fetchone()[0] == before["WordAutomation"][1]["job"] + 1
        cursor.execute("DELETE FROM procession_wordautomation.job WHERE id = 77; DELETE FROM procession_wordautomation.job_text WHERE name = 'last'")
    both.restart()                                                          # the rows say where they are
    for name in SERVICES:
        assert engine_of(both, name) == "postgres"
        move(both, name, "sqlite")
        after, last = in_file(both, name, shapes[name])
        assert after == before[name][0] and engine_of(both, name) == "sqlite"
        assert {k: v for k, v in last.items() if v} == {k: v + (name == "WordAutomation") for k, v in before[name][1].items() if v}
        assert run(both, "database", "check", name).returncode == 0
    until(lambda: not schemas(pg, both))
    both.restart()
    assert {engine_of(both, name) for name in SERVICES} == {"sqlite"}


# ---- while clients work

class Load:
    """Clients that count what was answered. A query may be told to come again; nobody sees another error."""

    def __init__(self, server):
        self.server, self.stop, self.wrong, self.added, self.counted, self.jobs, self.pairs = server, threading.Event(), [], [], {}, [], []
        self.threads = [threading.Thread(target=self.guard, args=(work, i)) for work in (self.add, self.count, self.transact, self.jobs_of, self.read) for i in range(2)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)

    def guard(self, work, i):
        try:
            with open_path("wire", self.server, "WordAutomation" if work == self.jobs_of else "StateService") as db:
                work(db, i)
        except Exception as e:      # pylint: disable=broad-except
            self.wrong.append(repr(e))

    def each(self, db, text):
        answer = db.batch(text)
        if answer.error is not None:
            self.wrong.append((text, answer.errors))
        return answer

    def add(self, db, i):
        n = 0
        while not self.stop.is_set():
            self.each(db, f"EXEC proc_AddItem 'add {i} {n}', 0x{n:08x}, 20")
            self.added.append(f"add {i} {n}")
            n += 1

    def count(self, db, i):
        self.each(db, f"EXEC proc_AddItem 'count {i}', 0x00000000, 20")
        n = 0
        while not self.stop.is_set():
            self.each(db, f"EXEC proc_UpdateItem 'count {i}', 0x{n + 1:08x}, 20, 1")
            self.each(db, f"EXEC proc_RefreshItemExpiration 'count {i}'")
            n += 1
            self.counted[i] = n

    def transact(self, db, i):
        n = 0
        while not self.stop.is_set():
            self.each(db, "BEGIN TRANSACTION")
            self.each(db, f"EXEC proc_AddItem 'one {i} {n}', 0x01, 20")
            self.each(db, f"EXEC proc_AddItem 'two {i} {n}', 0x01, 20")
            self.each(db, "COMMIT" if n % 3 else "ROLLBACK")
            if n % 3:
                self.pairs += [f"one {i} {n}", f"two {i} {n}"]
            n += 1

    def jobs_of(self, db, i):
        n = 0
        while not self.stop.is_set():
            job = 1000 + i * 1000000 + n
            self.each(db, f"EXEC proc_AddJob {job}, NULL, NULL, NULL, NULL, N'<s/>', N'load'")
            self.each(db, f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @MaxAttemptsCount = 2, @JobXml = N'{WORD_GROUP}'")
            self.jobs.append(job)
            n += 1

    def read(self, db, i):
        while not self.stop.is_set():
            answer = db.batch("SELECT COUNT(*) FROM dbo.Items WHERE Id LIKE 'add%'" if i else "EXEC proc_GetItemWithoutLock 'count 0', NULL, NULL, NULL, NULL")
            if answer.error not in (None, 50013):
                self.wrong.append(answer.errors)


def test_nothing_is_lost_or_done_twice_under_load(pg, both):
    with Load(both) as load:
        for to in ("postgres", "sqlite", "postgres"):
            for name in ("StateService", "WordAutomation"):
                before = len(load.added)
                said = move(both, name, to)
                assert int(said.split("held for ")[1].split()[0]) < 15000
                until(lambda b=before: len(load.added) > b + 20)
    assert not load.wrong, load.wrong[:3]
    assert len(load.added) > 100 and len(load.jobs) > 20 and len(load.pairs) > 10
    with postgres(pg, both) as cursor:
        cursor.execute("SELECT i.id, b.data FROM procession_stateservice.item i JOIN procession_stateservice.body b USING (n) WHERE i.id ~ '^(add|one|two|count) '")
        found = {key: bytes(data) for key, data in cursor.fetchall()}
        assert {k for k in found if k.startswith("add")} == set(load.added)
        assert all(int.from_bytes(found[k], "big") == int(k.split()[2]) for k in load.added)
        assert {k for k in found if k[:3] in ("one", "two")} == set(load.pairs)
        assert {i: int.from_bytes(found[f"count {i}"], "big") for i in range(2)} == load.counted
        cursor.execute("SELECT id, (SELECT count(*) FROM procession_wordautomation.item i WHERE i.n = j.n) FROM procession_wordautomation.job j WHERE id >= 1000")
        assert dict(cursor.fetchall()) == {job: 2 for job in load.jobs}
    for name in ("StateService", "WordAutomation"):
        assert run(both, "database", "check", name).returncode == 0
        move(both, name, "sqlite")


@pytest.mark.parametrize("to", ["postgres", "sqlite"])
def test_an_open_transaction_is_waited_for_and_goes_on(both, to):
    """One that has written keeps the database where it is until it ends; one that has only begun goes on in the other engine; so do sessions and their SELECTs."""
    with open_path("wire", both, "StateService") as writer, open_path("wire", both, "StateService") as idle:
        before = done(idle, "SELECT COUNT(*) FROM dbo.Items").rows[0][0]
        done(writer, f"BEGIN TRANSACTION; EXEC proc_AddItem 'open {to}', 0x01, 20")
        done(idle, "BEGIN TRANSACTION; SELECT 1")
        with commanded(both, to) as moving:
            until(lambda: state(both)["state"] == "running" and state(both)["seconds"] >= 1, 30)
            assert moving.poll() is None and engine_of(both, "StateService") != to
            done(writer, f"EXEC proc_AddItem 'open too {to}', 0x01, 20; COMMIT")
            assert moving.wait(60) == 0
        assert engine_of(both, "StateService") == to
        done(idle, f"EXEC proc_AddItem 'begun before {to}', 0x01, 20; COMMIT")
        for db in (writer, idle):
            assert done(db, "SELECT COUNT(*) FROM dbo.Items").rows == [(before + 3,)]


def test_a_backup_names_what_it_leaves_out(both, tmp_path):
    assert run(both, "database", "create", "Gone", "--service", "state").returncode == 0
    move(both, "Gone", "postgres")
    archive, note = tmp_path / "all.tar", "left out: Gone, which is in PostgreSQL"
    made = run(both, "--json", "backup", archive)
    assert made.returncode == 0 and json.loads(made.stdout)["left_out"] == ["Gone"] and note in made.stderr
    with tarfile.open(archive) as tar:
        manifest = json.load(tar.extractfile("manifest.json"))
    assert manifest["left_out"] == [{"name": "Gone", "service": "state", "engine": "postgres"}]
    assert "Gone" not in {d["name"] for d in manifest["databases"]} >= {"master", "StateService"}
    for args in (("backup", "check", archive), ("restore", archive, tmp_path / "data")):
        said = run(both, *args)
        assert said.returncode == 0 and note in said.stderr
    id_, = rows(both, "EXEC procession_backup_begin ''")
    with open_path("wire", both, "master") as db:
        until(lambda: done(db, "EXEC procession_backup_state").sets[0][1][0][1] == "ready")     # one that is ended sooner is in the way for a moment
        assert [tuple(row) for row in done(db, "EXEC procession_backup_state").sets[1][1]] == [("Gone", "state", "postgres")]
        done(db, f"EXEC procession_backup_end '{id_['id']}'")
    named = run(both, "backup", tmp_path / "one.tar", "--database", "Gone")
    assert named.returncode == 1 and "pg_basebackup" in named.stderr
    assert run(both, "database", "drop", "Gone", "--confirm", "Gone").returncode == 0
    made = run(both, "--json", "backup", tmp_path / "again.tar")
    assert made.returncode == 0 and json.loads(made.stdout)["left_out"] == [] and "left out" not in made.stderr


def test_what_is_refused(pg, both, tmp_path):
    assert run(both, "database", "move", "StateService").returncode == 2                      # --to is missing
    refused(both, "Nowhere", "postgres", "There is no database 'Nowhere'")
    refused(both, "master", "postgres", "There is no database 'master'")
    refused(both, "StateService", "sqlite", "is there already")
    refused(both, "StateService", "oracle", "to postgres or to sqlite")
    with postgres(pg, both) as cursor:
        cursor.execute("CREATE SCHEMA procession_translation")
    refused(both, "Translation", "postgres", 'has a schema "procession_translation" already')
    with postgres(pg, both) as cursor:
        cursor.execute("DROP SCHEMA procession_translation")
    with open_path("wire", both, "master") as db:
        done(db, "EXEC procession_login_add 'clerk', 'Procession-2'")
    with open_path("wire", both, "master", user="clerk", password="Procession-2") as db:
        assert db.batch("EXEC procession_database_move_begin 'StateService', 'postgres'").error == 229
    with Server() as alone:
        refused(alone, "StateService", "postgres", "Give it the setting postgres")
    with Server(settings={"postgres": f"host={tmp_path} dbname=nobody", "failover_timeout": 1}) as lost:
        refused(lost, "StateService", "postgres", "PostgreSQL cannot be used")
        assert engine_of(lost, "StateService") == "sqlite"


# ---- broken off

MANY = 30000


def stuff(server, n=MANY):
    """Many items, straight into the file of a server that stands still."""
    server.stop()
    with contextlib.closing(sqlite3.connect(server.data / "StateService.db")) as c:
        data = os.urandom(300)
        c.executemany("INSERT INTO item (n, id, cookie, locked, timeout, expires, sweep, sum, bytes) VALUES (?, ?, 1, 0, 360000, 76683386879999, 76683386879999, ?, 300)",
                      ((i, f"many {i}", zlib.crc32(data) - ((zlib.crc32(data) & 0x80000000) << 1)) for i in range(1, n + 1)))
        c.executemany("INSERT INTO body (n, data) VALUES (?, ?)", ((i, data) for i in range(1, n + 1)))
        c.commit()
    server.start()


@pytest.fixture(scope="module")
def large(pg):
    with installation(pg) as server:
        stuff(server)
        yield server


def begin(server, to="postgres"):
    with open_path("wire", server, "master") as db:
        return done(db, f"EXEC procession_database_move_begin 'StateService', '{to}'").rows[0][0]


def state(server):
    found = rows(server, "EXEC procession_database_move_state")
    return found[0] if found else {"state": "none", "phase": "", "rows": 0}


def reaches(server, phase):
    until(lambda: state(server)["phase"] == phase, 60)


@contextlib.contextmanager
def halted(pg, server):
    """The copy into PostgreSQL has begun, and waits at its last table."""
    begun = begin(server)
    with postgres(pg, server) as cursor:
        until(lambda: schemas(pg, server, "procession_stateservice"), 60)
        cursor.execute("BEGIN; LOCK TABLE procession_stateservice.promise IN ACCESS EXCLUSIVE MODE")
        until(lambda: state(server)["rows"] >= 2 * MANY, 60)
        assert state(server)["phase"] == "copying"
        yield begun
        with contextlib.suppress(Exception):        # PostgreSQL may be gone
            cursor.execute("ROLLBACK")


def count(server):
    with open_path("wire", server, "StateService") as db:
        return done(db, "SELECT COUNT(*) FROM dbo.Items WHERE Id LIKE 'many%'").rows[0][0]


def is_whole_in_files(pg, server):
    assert engine_of(server, "StateService") == "sqlite" and count(server) == MANY
    until(lambda: not schemas(pg, server), 60)
    with open_path("wire", server, "StateService") as db:
        done(db, f"EXEC proc_AddItem 'on {uuid.uuid4()}', 0x01, 20")


def test_a_row_that_is_changed_behind_its_back_is_noticed(pg, large):
    with halted(pg, large), contextlib.closing(sqlite3.connect(large.data / "StateService.db", timeout=30)) as c:
        c.execute("UPDATE item SET cookie = cookie + 1 WHERE n = 3")
        c.commit()
    until(lambda: state(large)["state"] != "running", 60)
    assert state(large)["state"] == "failed" and "The copy is not what was copied: table 'item'" in state(large)["reason"]
    is_whole_in_files(pg, large)


def commanded(server, to="postgres"):
    return subprocess.Popen(command(server, "database", "move", "StateService", "--to", to), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_command_that_ends_breaks_it_off(pg, large, number):
    with open_path("wire", large, "StateService") as db:
        done(db, "BEGIN TRANSACTION; EXEC proc_AddItem 'held', 0x01, 20")          # so that it does not come to its end before that
        before = large.log().count("event=database_not_moved")
        moving = commanded(large)
        until(lambda: state(large)["state"] == "running")
        moving.send_signal(number)
        if number == signal.SIGINT:
            assert moving.wait(60) == 1 and "the database is where it was" in moving.stderr.read()
        else:
            until(lambda: large.log().count("event=database_not_moved") > before, 60)      # nobody looks for ten seconds
        until(lambda: state(large)["state"] == "failed", 60)
        moving.communicate()
        done(db, "ROLLBACK")
    is_whole_in_files(pg, large)


@pytest.mark.parametrize("phase", ["copying", "switching"])
def test_a_server_that_is_killed_finds_it_where_it_was(pg, large, phase):
    with contextlib.suppress(ConnectionError, OSError, Closed):
        if phase == "copying":
            with halted(pg, large):
                large.kill()
        else:
            with open_path("wire", large, "StateService") as db:
                with halted(pg, large):
                    done(db, "BEGIN TRANSACTION; EXEC proc_AddItem 'never kept', 0x01, 20")
                reaches(large, phase)
                large.kill()
    large.start()
    is_whole_in_files(pg, large)


def test_a_server_that_is_killed_after_the_switch_finds_it_there(pg, large):
    """What it left behind is removed by the next start. A reader of the old schema keeps it from that until then."""
    move(large, "StateService", "postgres")
    assert count(large) == MANY and not files(large, "StateService")
    with postgres(pg, large) as reader:
        reader.execute("BEGIN; SELECT count(*) FROM procession_stateservice.item")
        begin(large, "sqlite")
        reaches(large, "cleaning")
        large.kill()
        large.start()
        assert engine_of(large, "StateService") == "sqlite" and count(large) == MANY
        reader.execute("ROLLBACK")
    is_whole_in_files(pg, large)


def test_postgres_that_is_killed_leaves_it_where_it_was():
    with Postgres() as pg, installation(pg, failover_timeout=2) as server:
        stuff(server)
        with halted(pg, server):
            pg.kill()
        until(lambda: state(server)["state"] == "failed", 60)
        assert engine_of(server, "StateService") == "sqlite" and count(server) == MANY
        pg.start()
        move(server, "StateService", "postgres")
        assert count(server) == MANY and not files(server, "StateService")


# ---- servers with engine = postgres

def test_servers_on_postgres_find_it_with_its_logins(pg):
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(installation(pg))
        with open_path("wire", first, "master") as db:
            done(db, "EXEC procession_login_add 'shop', 'Procession-3'; EXEC procession_grant 'shop', 'StateService', 'execute'")
            done(db, "EXEC procession_database_set 'StateService', @errata = 'literal', @renewal_slack = 60")
        with open_path("wire", first, "StateService") as db:
            done(db, "EXEC proc_AddItem 'kept', 0x1234, 20")
        for name in SERVICES:
            move(first, name, "postgres")
        second = stack.enter_context(Server(settings={**first.settings, "engine": "postgres", "server_name": "second"}, start_timeout=120))
        listed = {r["name"]: r for r in rows(second, "EXEC procession_database_list")}
        assert set(listed) == {*SERVICES, "master"} and {r["engine"] for r in listed.values()} == {"postgres"}
        assert (listed["StateService"]["errata"], listed["StateService"]["renewal_slack"]) == ("literal", 60)
        with open_path("wire", second, "StateService", user="shop", password="Procession-3") as db:
            assert db.batch("EXEC proc_AddItem 'kept', 0x1234, 20").error == 2627
            done(db, "EXEC proc_AddItem 'there', 0x01, 20")
        with open_path("wire", first, "StateService") as db:                    # both serve it
            assert db.batch("EXEC proc_AddItem 'there', 0x01, 20").error == 2627
        refused(first, "StateService", "sqlite", "Other servers use this database: second")
        first.stop()
        move(second, "StateService", "sqlite")                                 # an installation on PostgreSQL, with one database in its folder
        assert engine_of(second, "StateService") == "sqlite" and files(second, "StateService")
        third = stack.enter_context(Server(settings={**second.settings, "server_name": "third"}, start_timeout=120))
        row = next(r for r in rows(third, "EXEC procession_database_list") if r["name"] == "StateService")
        assert row["state"] == "elsewhere" and "at the server 'second'" in row["reason"]
        assert not opens(third, "StateService") and run(third, "status").returncode == 0
        move(second, "StateService", "postgres")
        until(lambda: opens(third, "StateService"))
        with open_path("wire", third, "StateService") as db:
            assert db.batch("EXEC proc_AddItem 'there', 0x01, 20").error == 2627
        first.start()
        with open_path("wire", first, "master") as db:                          # dropped there, it is gone for all
            done(db, "EXEC procession_database_drop 'StateService', @force = 1")
        until(lambda: not opens(second, "StateService"))
        until(lambda: not schemas(pg, first, "procession_state"))


# ---- what is answered is durable

def waits_for_standby(primary, what):
    """The session of this statement, once it waits."""
    found = []

    def look():
        with contextlib.closing(primary.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND starts_with(query, %s)", (what,))
            found[:] = [row[0] for row in cursor.fetchall()]
            return found

    until(look, 60)
    return found[0]


def test_the_switch_is_answered_when_the_standby_has_it():
    """Where the cluster itself waits for nobody; and where somebody ends the waiting, the database stays where it was."""
    with Postgres(settings={"wal_level": "replica", "synchronous_commit": "local"}) as primary, Standby(primary) as standby, \
            Server(settings={"postgres": primary.conninfo()}) as server, contextlib.ExitStack() as stack:
        primary.synchronous()
        with contextlib.closing(primary.connect()) as holder, contextlib.closing(primary.connect()) as other, \
                open_path("wire", server, "StateService") as db:
            done(db, "BEGIN TRANSACTION; EXEC proc_AddItem 'held', 0x01, 20")          # so that it does not come to its end before that
            moving, cursor = stack.enter_context(commanded(server)), other.cursor()
            until(lambda: _has_store(cursor), 60)
            holder.cursor().execute("BEGIN; LOCK TABLE procession_stateservice.store IN EXCLUSIVE MODE")
            done(db, "COMMIT")
            until(lambda: _waits_for_lock(cursor), 60)
            standby.freeze()
            try:
                holder.cursor().execute("ROLLBACK")
                cursor.execute("SELECT pg_cancel_backend(%s)", (waits_for_standby(primary, "UPDATE store SET service"),))
            finally:
                standby.thaw()
            assert moving.wait(60) == 1 and "standby has not confirmed" in moving.stderr.read()
        assert engine_of(server, "StateService") == "sqlite"
        until(lambda: run(server, "database", "move", "StateService", "--to", "postgres").returncode == 0, 60)
        assert engine_of(server, "StateService") == "postgres"


def _has_store(cursor):
    cursor.execute("SELECT to_regclass('procession_stateservice.store') IS NOT NULL")
    return cursor.fetchone()[0]


def _waits_for_lock(cursor):
    cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE store%'")
    return cursor.fetchone()[0] > 0
