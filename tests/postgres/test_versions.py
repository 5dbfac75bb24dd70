"""Tables that an older program left: brought up to date by the first server of a newer one that starts, once."""
import contextlib
import pathlib
import subprocess
import threading
import uuid

from support import postgres
from support.calls import open_path
from support.server import Server

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
    threads = [threading.Thread(target=server.start) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_older_schema_is_brought_up_to_date_once_by_servers_that_start_at_once(pg):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    settings = {"engine": "postgres", "postgres": pg.conninfo(name)}
    with Server(settings=settings):
        pass
    newest = make_older(pg, name)
    servers = [Server(settings=settings, start_timeout=120) for _ in range(2)]
    try:
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
        for server in servers:
            server.stop()
    finally:
        for server in servers:
            server.kill()
            server.remove()
