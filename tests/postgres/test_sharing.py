"""What several servers of one installation do for each other: one of them cleans up; databases, sessions and failed logins are known to all."""
import contextlib
import json
import subprocess
import threading
import time
import uuid

import pytest

from support import calls
from support.numbers import numbers
from support.server import Server, command_binary

JOB = """EXEC proc_AddJob @JobId = 1, @Settings = N'<settings/>'
EXEC proc_AddGroup @JobId = 1, @GroupId = 1, @MaxAttemptsCount = 2,
    @JobXml = N'<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"><item id="1" in="a.docx" out="a.pdf"/></group>'
EXEC proc_SubmitJob @JobId = 1"""


def open_path(name, server, database, **login):
    return calls.open_path(name, server, database, kind="StateService", **login)


@contextlib.contextmanager
def servers(pg, count, **settings):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Server(settings={"engine": "postgres", "postgres": pg.conninfo(name), "server_name": f"s{i}", **settings},
                                          start_timeout=120))
               for i in range(count)]


@pytest.fixture(scope="module")
def two(pg):
    with servers(pg, 2, login_fail_limit=4) as made:
        yield made


def until(condition, seconds=20):
    """Waits until the condition holds; gives what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)
    return found


def rows(server, text, database="master"):
    with open_path("wire", server, database) as db:
        answer = db.batch(text)
        assert answer.error is None, answer.error
        return answer.dicts()


def opens(server, database, **options):
    """Whether a session can begin there."""
    try:
        with open_path("wire", server, database, **options):
            return True
    except Exception:      # pylint: disable=broad-except
        return False


# ---- one of them cleans up

def cleaners(server):
    return [r["name"] for r in rows(server, "EXEC procession_server_list") if r["cleans"] and r["status"] == "online"]


@contextlib.contextmanager
def items(pg, server):
    """A cursor of PostgreSQL itself, in the database StateService."""
    with contextlib.closing(pg.connect(server.settings["postgres"].rpartition("=")[2], "procession_stateservice")) as connection:
        yield connection.cursor()


def add_expired(pg, server):
    with open_path("wire", server, "StateService") as db:
        assert db.batch("EXEC proc_AddItem 'over', 0x01, 20").error is None
    with items(pg, server) as cursor:
        cursor.execute("UPDATE item SET expires = 1, sweep = 0")


def leftovers(pg, server):
    with items(pg, server) as cursor:
        cursor.execute("SELECT count(*) FROM item")
        return cursor.fetchone()[0]


def test_one_server_cleans_and_another_when_it_is_killed(pg):
    """Items that are over go on being removed after the server that does it was killed, and by one server at a time."""
    with servers(pg, 3, sweep_interval=1) as made:
        name, = until(lambda: cleaners(made[0]))
        first = int(name[1:])
        others = [s for i, s in enumerate(made) if i != first]
        add_expired(pg, others[0])
        until(lambda: leftovers(pg, others[0]) == 0)
        assert not any("event=cleans " in s.log() for s in others)
        made[first].kill()
        name, = until(lambda: [n for n in cleaners(others[0]) if n != f"s{first}"])
        add_expired(pg, others[0])
        until(lambda: leftovers(pg, others[0]) == 0)
        shown = {r["name"]: r["status"] for r in rows(others[0], "EXEC procession_server_list")}
        assert len(shown) == 3 and shown[name] == "online"
        made[first].start()
        until(lambda: len([r for r in rows(others[0], "EXEC procession_server_list") if r["status"] == "online"]) == 3)
        assert cleaners(made[first]) == [name]


# ---- what the databases hold is counted by that one, for all

def told_items(server):
    """(items, bytes on the disk); None: not told."""
    told = numbers(tuple(r.values()) for r in rows(server, "EXEC procession_stats"))
    return tuple(told.get((name, "StateService", None)) for name in ("procession_state_items", "procession_database_file_bytes"))


def test_one_server_counts_and_all_tell_also_when_it_is_gone(pg):
    with servers(pg, 2) as made:
        with open_path("wire", made[1], "StateService") as db:
            assert db.batch("EXEC proc_AddItem 'counted', 0x01, 20").error is None
        for server in made:
            assert until(lambda: told_items(server)[0] == 1 and told_items(server)[1]) > 8192
        first, = cleaners(made[0])
        counts = next(s for s in made if s.settings["server_name"] == first)
        other = next(s for s in made if s is not counts)
        counts.stop()
        with open_path("wire", other, "StateService") as db:
            assert db.batch("EXEC proc_AddItem 'after', 0x01, 20").error is None
        until(lambda: told_items(other)[0] == 2)


def test_what_cannot_be_counted_is_not_told_and_nobody_waits_for_it(pg):
    with servers(pg, 1) as (server,):
        until(lambda: told_items(server)[0] == 0)
        with items(pg, server) as cursor:
            cursor.execute("BEGIN")
            cursor.execute("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
            server.wait_log("event=counting_failed database=StateService", timeout=60)
            until(lambda: told_items(server)[0] is None)
            cursor.execute("ROLLBACK")
        with open_path("wire", server, "StateService") as db:
            assert db.batch("EXEC proc_AddItem 'free', 0x01, 20").error is None


# ---- databases

def test_a_database_that_one_server_creates_is_on_all(two):
    with open_path("wire", two[0], "master") as db:
        assert db.batch("EXEC procession_database_create 'Made there', 'state'").error is None
    until(lambda: opens(two[1], "Made there"), 5)
    for server, id_ in zip(two, ("a", "b")):
        with open_path("wire", server, "Made there") as db:
            assert db.batch(f"EXEC proc_AddItem '{id_}', 0x01, 20").error is None
    assert [r["Id"] for r in rows(two[1], "SELECT Id FROM dbo.Items ORDER BY Id", "Made there")] == ["a", "b"]


def test_settings_that_one_server_changes_count_on_all(two):
    """The literal proc_HasActiveJobs looks at canceled jobs only, the corrected one at the others: asked of the other server."""
    def answer(server):
        with open_path("wire", server, "Set there") as db:
            return db.batch("DECLARE @r int; EXEC @r = proc_HasActiveJobs; SELECT @r AS n").dicts()[0]["n"]

    def errata(reading):
        with open_path("wire", two[0], "master") as db:
            assert db.batch(f"EXEC procession_database_set 'Set there', @errata = '{reading}'").error is None

    with open_path("wire", two[0], "master") as db:
        assert db.batch("EXEC procession_database_create 'Set there', 'word'").error is None
    until(lambda: opens(two[1], "Set there"), 5)
    with open_path("wire", two[0], "Set there") as db:
        assert db.batch(JOB).error is None
    assert answer(two[1]) == 1
    errata("literal")
    until(lambda: answer(two[1]) == 0, 5)
    errata("corrected")
    until(lambda: answer(two[1]) == 1, 5)


def test_work_that_comes_by_one_server_wakes_those_who_wait_at_another(two):
    with open_path("wire", two[0], "master") as db:
        assert db.batch("EXEC procession_database_create 'Waited for', 'word'").error is None
    until(lambda: opens(two[1], "Waited for"), 5)
    time.sleep(2)                                               # a new database may be announced once for nothing
    wait = "DECLARE @seen int, @now int; EXEC @seen = procession_wait_for_work 0; EXEC @now = procession_wait_for_work {}, @seen; SELECT @now - @seen AS n"
    with open_path("wire", two[1], "Waited for") as waiter, open_path("wire", two[0], "Waited for") as db:
        assert waiter.batch(wait.format(1500)).dicts()[0]["n"] == 0         # and nobody rings for ever
        woken = []
        thread = threading.Thread(target=lambda: woken.append(waiter.batch(wait.format(25000)).dicts()[0]["n"]))
        began = time.monotonic()
        thread.start()
        time.sleep(0.5)
        assert db.batch(JOB).error is None
        thread.join()
        assert woken[0] > 0 and time.monotonic() - began < 20


# ---- who is there

def test_sp_who_shows_the_sessions_of_all_servers(two):
    with open_path("wire", two[0], "StateService") as db:
        spid = db.batch("SELECT @@SPID AS n").dicts()[0]["n"]
        seen = until(lambda: [r for r in rows(two[1], "EXEC sp_who") if r["spid"] == spid and r["server"] == "s0"], 5)
        assert (seen[0]["loginame"].strip(), seen[0]["dbname"].strip()) == ("sa", "StateService")
        assert {r["server"] for r in rows(two[1], "EXEC sp_who")} == {"s0", "s1"}
    until(lambda: not [r for r in rows(two[1], "EXEC sp_who") if r["spid"] == spid and r["server"] == "s0"], 5)


def test_kill_says_where_a_session_is(two):
    with open_path("wire", two[0], "master") as db:
        spid = db.batch("SELECT @@SPID AS n").dicts()[0]["n"]
        until(lambda: [r for r in rows(two[1], "EXEC sp_who") if r["spid"] == spid and r["server"] == "s0"], 5)
        with open_path("wire", two[1], "master") as other:
            answer = other.batch(f"KILL {spid}")
            assert answer.error == 6106 and f"s0 ({two[0].address})" in answer.errors[0][2]
            assert other.batch("KILL 32766").error == 6106
        assert db.batch("SELECT 1 AS n").error is None


def test_status_lists_the_servers(two):
    done = subprocess.run([command_binary(), "status", "--server", two[1].address, "--password-file", two[1].dir / "password", "--json"],
                          stdout=subprocess.PIPE, check=True)
    shown = json.loads(done.stdout)["servers"]
    assert {(r["name"], r["address"], r["status"]) for r in shown} == {(f"s{i}", s.address, "online") for i, s in enumerate(two)}
    assert sum(int(r["cleans"]) for r in shown) == 1


# ---- failed logins

def test_failures_at_one_server_slow_down_the_other(two):
    with open_path("wire", two[0], "master") as db:
        assert db.batch("EXEC procession_login_add 'guessed', 'Procession-2'").error is None
    for _ in range(4):
        assert not opens(two[0], "master", user="guessed", password="wrong")
    time.sleep(1.2)                                             # what is promised: within a second
    threads = [threading.Thread(target=opens, args=(two[1], "master"), kwargs={"user": "guessed", "password": "wrong"}) for _ in range(3)]
    for t in threads:                                           # fewer than the limit: by itself this server would let them be tried at once
        t.start()
    for t in threads:
        t.join()
    two[1].wait_log("event=login_slowed.*login=guessed")
    assert opens(two[1], "master", user="guessed", password="Procession-2")
