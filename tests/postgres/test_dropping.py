"""Dropping a database that PostgreSQL keeps: gone for all servers, its schemas are gone, and what a crash cuts short is finished or undone."""
import contextlib
import threading

import pytest

from support.wire import Closed, ServerError
from test_sharing import open_path, opens, rows, servers, until


@pytest.fixture(scope="module")
def two(pg):
    with servers(pg, 2) as made:
        yield made


def run(server, text, database="master"):
    with open_path("wire", server, database) as db:
        answer = db.batch(text)
        return (answer.error, answer.errors[0][2] if answer.error else "")


def done(server, text, database="master"):
    assert run(server, text, database) == (None, "")


@contextlib.contextmanager
def postgres(pg, server):
    with contextlib.closing(pg.connect(server.settings["postgres"].rpartition("=")[2])) as connection:
        yield connection.cursor()


def schemas(pg, server, begins):
    with postgres(pg, server) as cursor:
        cursor.execute("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s) ORDER BY 1", (begins,))
        return [row[0] for row in cursor.fetchall()]


def create_on_both(two, name, service="state"):
    done(two[0], f"EXEC procession_database_create '{name}', '{service}'")
    until(lambda: opens(two[1], name))


def login_error(server, database):
    try:
        with open_path("wire", server, database):
            return None
    except ServerError as e:
        return e.number


def test_a_database_is_gone_for_all_servers_and_its_schemas_are_gone(pg, two):
    create_on_both(two, "Short")
    done(two[1], "EXEC proc_AddItem 'old', 0x01, 20", "Short")
    assert len(schemas(pg, two[0], "procession_short")) == 2            # the tables; functions and views
    done(two[0], "EXEC procession_database_drop 'Short'")
    assert login_error(two[0], "Short") == 4060
    until(lambda: login_error(two[1], "Short") == 4060)
    until(lambda: not schemas(pg, two[0], "procession_short"))
    assert run(two[1], "EXEC procession_database_drop 'Short'")[0] == 50020
    assert "Short" not in [r["name"] for r in rows(two[1], "EXEC procession_database_list")]


def test_sessions_at_another_server_are_told_and_ended(two):
    """One that works, one whose transaction has written, one that only waits. No error of PostgreSQL's own is seen."""
    create_on_both(two, "Worked in")
    seen = []

    def work(begin, text):
        with contextlib.suppress(Closed, ConnectionError, OSError), open_path("wire", two[1], "Worked in") as db:
            assert db.batch(begin).error is None
            ready.release()
            while True:
                answer = db.batch(text)
                seen.append((answer.error, answer.errors[0][2] if answer.error else ""))

    ready = threading.Semaphore(0)
    threads = [threading.Thread(target=work, args=work_of) for work_of in (
        ("SELECT 1", "EXEC proc_RefreshItemExpiration 'a'"),
        ("SELECT 1", "SELECT COUNT(*) FROM dbo.Items"),
        ("BEGIN TRANSACTION; EXEC proc_AddItem 'b', 0x01, 20", "WAITFOR DELAY '00:00:30'"))]
    for thread in threads:
        thread.start()
        ready.acquire()
    done(two[0], "EXEC procession_database_drop 'Worked in'")
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    wrong = {(number, text) for number, text in seen if number not in (None, 50009) and (number, "'Worked in' does not exist" in text) != (911, True)}
    assert not wrong
    done(two[1], "SELECT 1")


def test_the_last_of_its_kind_is_dropped_with_force_only(pg):
    with servers(pg, 1) as (server,):
        number, text = run(server, "EXEC procession_database_drop 'Translation'")
        assert number == 50020 and "@force = 1" in text and opens(server, "Translation")
        done(server, "EXEC procession_database_drop 'Translation', 1")
        server.restart()
        assert login_error(server, "Translation") == 4060 and not schemas(pg, server, "procession_translation")


def rows_if_there(server, text, database):
    """None where the database has just gone for another one: its sessions are ended."""
    try:
        return rows(server, text, database)
    except Closed:
        return None


def test_the_name_is_free_again_at_once(pg, two):
    """Also while what the old one held is still in use, and is not deleted yet: the new one has nothing of it."""
    create_on_both(two, "Again")
    done(two[0], "EXEC proc_AddItem 'old', 0x01, 20", "Again")
    with postgres(pg, two[0]) as cursor:
        cursor.execute("BEGIN; SELECT * FROM procession_again.item")
        done(two[0], "EXEC procession_database_drop 'Again'")
        done(two[0], "EXEC procession_database_create 'Again', 'state'")
        done(two[0], "EXEC proc_AddItem 'new', 0x01, 20", "Again")
        cursor.execute("COMMIT")
    until(lambda: not [s for s in schemas(pg, two[0], "procession_again") if "dropped" in s or "-" in s])
    until(lambda: opens(two[1], "Again") and rows_if_there(two[1], "SELECT Id FROM dbo.Items", "Again") == [{"Id": "new"}])
    assert rows(two[0], "SELECT Id FROM dbo.Items", "Again") == [{"Id": "new"}]
    done(two[1], "EXEC procession_database_drop 'Again'")               # by the other one
    until(lambda: login_error(two[0], "Again") == 4060 and not schemas(pg, two[0], "procession_again"))
    done(two[0], "EXEC procession_database_create 'Again', 'schedule'")
    assert rows(two[0], "SELECT * FROM dbo.ScheduledJobs", "Again") == []


def test_another_database_whose_schema_begins_alike_stays(pg, two):
    """A long name is cut after thirty characters, and a number follows: as in the names of schemas with functions."""
    create_on_both(two, "a" * 30)
    create_on_both(two, "a" * 30 + "-and more")
    done(two[0], "EXEC proc_AddItem 'kept', 0x01, 20", "a" * 30 + "-and more")
    done(two[0], f"EXEC procession_database_drop '{'a' * 30}'")
    until(lambda: len(schemas(pg, two[0], "procession_" + "a" * 30)) == 2)
    assert rows(two[1], "SELECT Id FROM dbo.Items", "a" * 30 + "-and more") == [{"Id": "kept"}]


def drop_beside(server, name):
    """Begins a drop that somebody holds up; gives its thread."""
    def drop():
        with contextlib.suppress(Closed, ConnectionError, OSError):
            run(server, f"EXEC procession_database_drop '{name}'")

    thread = threading.Thread(target=drop)
    thread.start()
    return thread


def test_a_server_that_is_killed_before_the_row_is_gone_has_the_database_again(pg):
    """And a second server that starts meanwhile waits for the drop, instead of taking the database back."""
    with servers(pg, 2) as made:
        create_on_both(made, "Half")
        done(made[0], "EXEC proc_AddItem 'kept', 0x01, 20", "Half")
        made[1].stop()
        with postgres(pg, made[0]) as cursor:
            cursor.execute("BEGIN; LOCK TABLE procession_system.permission IN SHARE MODE")
            thread = drop_beside(made[0], "Half")
            until(lambda: "procession_half_dropped" in schemas(pg, made[0], "procession_half"))
            starting = threading.Thread(target=made[1].start)
            starting.start()
            until(lambda: waits_for_the_gate(pg, made[0]))
            assert "procession_half_dropped" in schemas(pg, made[0], "procession_half")
            made[0].kill()
            thread.join()
            with postgres(pg, made[1]) as other:                        # PostgreSQL notices when it has something to say
                other.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'procession_system.permission'::regclass AND NOT granted")
            cursor.execute("COMMIT")
        starting.join()
        made[1].wait_log("event=drop_undone")
        made[0].start()
        for server in made:
            assert rows(server, "SELECT Id FROM dbo.Items", "Half") == [{"Id": "kept"}]
            done(server, "EXEC proc_RefreshItemExpiration 'kept'", "Half")
        done(made[0], "EXEC procession_database_drop 'Half'")
        until(lambda: not schemas(pg, made[0], "procession_half"))


def waits_for_the_gate(pg, server):
    with postgres(pg, server) as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE relation = 'procession_system.gate'::regclass AND NOT granted")
        return cursor.fetchone()


def test_a_server_that_is_killed_after_the_row_is_gone_deletes_the_rest_when_it_starts(pg):
    with servers(pg, 1) as (server,):
        done(server, "EXEC procession_database_create 'Rest', 'state'")
        with postgres(pg, server) as cursor:
            cursor.execute("BEGIN; SELECT * FROM procession_rest.item")
            done(server, "EXEC procession_database_drop 'Rest'")
            assert "procession_rest_dropped" in schemas(pg, server, "procession_rest")
            server.kill()
            cursor.execute("COMMIT")
        server.start()
        assert login_error(server, "Rest") == 4060
        until(lambda: not schemas(pg, server, "procession_rest"))
