"""Servers that start, and tables of other versions. An empty database is filled once, whoever comes first; tables that an older program left are
brought up to date once; a server whose tables are those of a newer program says so, and does nothing with them."""
import contextlib
import pathlib
import subprocess
import threading
import time
import uuid

import pytest
from test_faults import wait_ready

from support import postgres
from support.calls import open_path
from support.server import Server, ServerFailed

OLDER, CODE, DATABASE = pathlib.Path(__file__).with_name("older_state.sql"), "procession_stateservice_c361be4e", "StateService"


def make_older(pg, name):
    """The tables of StateService are taken out, and those of an older program put in their place."""
    with contextlib.closing(pg.connect(name)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT version, identity FROM procession_stateservice.store")
        version, identity = cursor.fetchone()
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'procession_stateservice%'")
        for (schema,) in cursor.fetchall():
            cursor.execute(f'DROP SCHEMA "{schema}" CASCADE')
        subprocess.run([postgres.PROGRAMS / "psql", "-q", "-X", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", OLDER, pg.conninfo(name)], check=True)
        cursor.execute("UPDATE procession_stateservice.store SET identity = %s", (identity,))
        # its items have expired when the test is old: some of their years more
        cursor.execute("UPDATE procession_stateservice.item SET expires = expires + 18000::int8 * 1440 * 36500, sweep = sweep + 1440 * 36500")
    return version


def start_at_once(servers):
    failed = []

    def start(server):
        try:
            server.start()
        except ServerFailed as why:
            failed.append(str(why))

    threads = [threading.Thread(target=start, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def new_database(pg):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    return name


@contextlib.contextmanager
def several(settings, count, **more):
    """Not started yet."""
    made = [Server(settings=settings, start_timeout=120, **more) for _ in range(count)]
    try:
        yield made
        for server in made:
            server.stop()
    finally:
        for server in made:
            server.kill()
            server.remove()


@pytest.mark.parametrize("attempt", range(4))
def test_an_empty_database_is_filled_once_by_servers_that_start_at_once(pg, attempt):
    """Each has a password of its own for sa: one of them counts, at all. What is made is what one server alone makes."""
    name = new_database(pg)
    with several({"engine": "postgres", "postgres": pg.conninfo(name)}, 3) as servers:
        for n, server in enumerate(servers):
            server.password = f"Procession-{n}"
        start_at_once(servers)
        right = [n for n in range(3) if all(opens(server, f"Procession-{n}") for server in servers)]
        wrong = [n for n in range(3) if not any(opens(server, f"Procession-{n}") for server in servers)]
        assert len(right) == 1 and len(wrong) == 2
        for server in servers:
            server.password = f"Procession-{right[0]}"
        with contextlib.closing(pg.connect(name)) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT count(*), count(DISTINCT lower(name)) FROM procession_system.database")
            assert cursor.fetchone() == (5, 5)          # master, and one of each service
            cursor.execute("SELECT count(*) FROM procession_system.login")
            assert cursor.fetchone() == (1,)
            cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname ~ '^procession'")
            assert cursor.fetchone() == (1 + 2 * 5,)       # what all share; tables, and functions with views, of five
        for n, server in enumerate(servers):
            with open_path("wire", server, DATABASE) as db:
                assert db.call("proc_AddItem", id=f"of {n}", item=b"x", timeout=20).error is None
                assert db.batch("SELECT COUNT(*) FROM Items").rows == [(n + 1,)]


def opens(server, password):
    try:
        with open_path("wire", server, DATABASE, user="sa", password=password):
            return True
    except Exception:           # pylint: disable=broad-except
        return False


def test_an_older_schema_is_brought_up_to_date_once_by_servers_that_start_at_once(pg):
    name = new_database(pg)
    settings = {"engine": "postgres", "postgres": pg.conninfo(name)}
    with Server(settings=settings):
        pass
    newest = make_older(pg, name)
    with several(settings, 2) as servers:
        start_at_once(servers)
        for server in servers:
            with open_path("wire", server, DATABASE) as db:
                assert db.batch("SELECT Id, Locked, LockCookie, Bytes FROM Items ORDER BY Id").rows == \
                    [("kept", False, 1, 3), ("locked", True, 2, 6), ("null", False, 1, None)]
                assert db.call("proc_GetItemWithoutLock", id="kept").out["item"] == b"\x00\x01\x02"
        with open_path("wire", servers[0], DATABASE) as db:
            assert db.call("proc_ReleaseItemLock", id="locked", lockCookie=2).error is None
            assert db.call("proc_GetItemWithLock", id="locked").out["lockCookie"] == 3
        with contextlib.closing(pg.connect(name)) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT version FROM procession_stateservice.store")
            assert cursor.fetchall() == [(newest,)]
            cursor.execute(f"SELECT count(*) FROM pg_namespace WHERE nspname = '{CODE}'")
            assert cursor.fetchone() == (0,)            # functions and views of the older program


def sessions_since(pg, name):
    """When the oldest session that runs calls was made."""
    with contextlib.closing(pg.connect(name)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT min(backend_start), now() FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^procession .*/'")
        return cursor.fetchone()


def test_sessions_of_servers_that_are_there_end_when_tables_are_brought_up_to_date(pg):
    """They were made with the tables as they had been; what is made anew looks at the version first."""
    name = new_database(pg)
    settings = {"engine": "postgres", "postgres": pg.conninfo(name)}
    with Server(settings=settings) as there, open_path("wire", there, DATABASE) as db:
        assert db.batch("SELECT COUNT(*) FROM Items").rows == [(0,)]
        make_older(pg, name)
        _, before = sessions_since(pg, name)
        with Server(settings=settings):
            assert db.call("proc_AddItem", id="new", item=b"x", timeout=20).error is None
            assert db.batch("SELECT Id FROM Items ORDER BY Id").rows == [("kept",), ("locked",), ("new",), ("null",)]
            assert sessions_since(pg, name)[0] > before


def test_tables_of_a_newer_program_are_told_from_by_a_server_that_is_there(pg):
    """As by one that starts: at once, in plain words, to clients and to a balancer; when the tables are its own again it goes on."""
    name = new_database(pg)

    def newer(by):
        with contextlib.closing(pg.connect(name)) as connection:
            cursor = connection.cursor()
            cursor.execute(f"UPDATE procession_stateservice.store SET version = version + {by}")
            cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^procession .*/'")

    with Server(settings={"engine": "postgres", "postgres": pg.conninfo(name), "http": "127.0.0.1:0"}) as server, open_path("wire", server, DATABASE) as db, \
            open_path("wire", server, "WordAutomation") as other:
        assert db.batch("EXEC proc_AddItem 'before', 0x01, 20").error is None
        newer(1)
        for text in ("EXEC proc_AddItem 'meanwhile', 0x01, 20", "SELECT COUNT(*) FROM Items", "BEGIN TRAN EXEC proc_AddItem 'meanwhile', 0x01, 20"):
            began = time.monotonic()
            told = db.batch(text)
            assert told.error == 50021 and "newer program" in told.errors[0][2], told
            assert time.monotonic() - began < 20            # and not after failover_timeout
        db.batch("IF @@TRANCOUNT > 0 ROLLBACK")
        assert other.batch("EXEC proc_HasActiveJobs").error is None
        assert "newer program" in wait_ready(server, 503)
        newer(-1)
        assert db.batch("SELECT Id FROM Items").rows == [("before",)]
        wait_ready(server, 200)
