"""What can be wrong with PostgreSQL, or on the way to it: a clear error or a retry, never a wrong answer."""
import contextlib
import http.client
import os
import re
import threading
import time
import uuid

import pytest

from support import postgres
from support import wire as tds
from support.calls import open_path
from support.proxy import Proxy
from support.server import Server
from support.wire import Wire

STATE = "StateService"


@pytest.fixture(name="name")
def database(pg):
    made = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {made}")
    return made


def server_for(conninfo, **settings):
    return Server(settings={"engine": "postgres", "postgres": conninfo, **settings})


def in_background(call):
    """Runs it beside the test; gives what ends it and gives its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()

    def result():
        thread.join(150)       # a machine that has much to do
        return results[0]

    return result


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_connections_that_are_cut_without_a_word_are_noticed(pg, name):
    """The old sessions live on at PostgreSQL, and hold what they hold; the calls are done by new ones, once."""
    with Proxy(pg.folder / ".s.PGSQL.5432") as proxy, server_for(f"host=127.0.0.1 port={proxy.port} user=postgres dbname={name}") as server, \
            open_path("wire", server, STATE) as db:
        assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
        assert db.batch("SELECT COUNT(*) FROM Items").rows == [(1,)]
        proxy.silence()
        assert db.call("proc_GetItemWithLock", id="a").out["lockCookie"] == 2
        until = time.monotonic() + 2        # longer than a proof of the primary lasts: its session was cut, too
        while time.monotonic() < until:
            assert db.batch("SELECT LockCookie FROM Items").rows == [(2,)]


@contextlib.contextmanager
def behind_a_proxy(pg, name):
    with Proxy(pg.folder / ".s.PGSQL.5432") as proxy, server_for(f"host=127.0.0.1 port={proxy.port} user=postgres dbname={name}") as server, \
            open_path("wire", server, STATE) as db:
        assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
        yield proxy, db


@pytest.mark.parametrize("what", ("answer", "commit"))
def test_a_call_whose_commit_is_in_doubt_is_done_once(pg, name, what):
    """The connection is cut just after the commit was done, or just before: the mark tells which, and a client sees success."""
    with behind_a_proxy(pg, name) as (proxy, db):
        for cookie in (2, 3, 4):
            getattr(proxy, f"lose_{what}")()
            got = db.call("proc_GetItemWithLock", id="a")
            assert (got.error, got.out["locked"], got.out["lockCookie"]) == (None, False, cookie)
            assert db.call("proc_ReleaseItemLock", id="a", lockCookie=cookie).error is None
        assert proxy.lost == 3
        # What was run again is counted, and what had been done was not run again. (Other commits go the same way: one may have been lost for ours.)
        counted = {tuple(row[:4]): row[4] for row in db.batch("EXEC procession_stats").rows}
        retries = counted["procession_commit_group_retries_total", STATE, None, "connection"]
        assert retries == 0 if what == "answer" else 0 < retries <= 3


def test_a_transaction_whose_commit_was_done_is_told_so(pg, name):
    with behind_a_proxy(pg, name) as (proxy, db):
        db.batch("BEGIN TRAN EXEC proc_AddItem 'b', 0x01, 20")
        proxy.lose_answer()
        assert db.batch("COMMIT").error is None
        assert proxy.lost == 1
        assert db.batch("SELECT COUNT(*) FROM Items WHERE Id = 'b'").rows == [(1,)]


def test_a_transaction_whose_commit_never_arrived_is_told_that_nothing_was_kept(pg, name):
    with behind_a_proxy(pg, name) as (proxy, db):
        db.batch("BEGIN TRAN EXEC proc_AddItem 'b', 0x01, 20")
        proxy.lose_commit()
        told = db.batch("COMMIT")
        assert told.error == 50013 and "not known" not in told.errors[0][2], told
        assert proxy.lost == 1
        assert db.batch("SELECT COUNT(*) FROM Items WHERE Id = 'b'").rows == [(0,)]


def test_no_connection_is_left(name):
    """max_connections: whoever has one goes on, others wait for one, and are told why there is none."""
    with postgres.Postgres(settings={"max_connections": "30", "superuser_reserved_connections": "0"}) as pg, \
            server_for(pg.conninfo(), failover_timeout=3) as server, open_path("wire", server, STATE) as db, \
            open_path("wire", server, "ScheduledJobs") as jobs, contextlib.ExitStack() as stack:
        assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
        taken = []
        with contextlib.suppress(Exception):
            while len(taken) < 40:
                taken.append(stack.enter_context(contextlib.closing(pg.connect())))
        assert db.call("proc_GetItemWithLock", id="a").out["lockCookie"] == 2
        told = jobs.batch("EXEC proc_MIP_GetScheduledJobs")
        assert told.error is None or (told.error == 50013 and "too many clients" in told.errors[0][2]), told
        waiting = in_background(lambda: jobs.batch("SELECT COUNT(*) FROM ScheduledJobs"))
        for each in taken:
            each.close()
        assert waiting().error is None


def test_a_new_password_is_read_from_its_file(pg, name, tmp_path):
    role, passfile = "r" + uuid.uuid4().hex[:8], tmp_path / "pgpass"

    def give(password):
        passfile.write_text(f"*:*:*:{role}:{password}\n")
        passfile.chmod(0o600)

    with contextlib.closing(pg.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE ROLE {role} LOGIN CREATEROLE PASSWORD 'first'; ALTER DATABASE {name} OWNER TO {role}")
        hba = pg.data / "pg_hba.conf"
        hba.write_text(f"local all {role} scram-sha-256\n" + hba.read_text())
        cursor.execute("SELECT pg_reload_conf()")
        give("first")
        with server_for(f"host={pg.folder} user={role} dbname={name} passfile={passfile}", failover_timeout=20) as server, \
                open_path("wire", server, STATE) as db:
            assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
            cursor.execute(f"ALTER ROLE {role} PASSWORD 'second'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'")
            waiting = in_background(lambda: db.call("proc_GetItemWithLock", id="a"))
            server.wait_log("password authentication failed")
            give("second")
            assert waiting().out["lockCookie"] == 2


def test_the_disk_is_full():
    if os.getuid() != 0:
        pytest.skip("a small file system is mounted by root only")
    with postgres.Postgres() as pg:
        with pg.small_tablespace(megabytes=40) as cursor:
            cursor.execute("CREATE DATABASE narrow TABLESPACE small")
            with contextlib.closing(pg.connect("narrow")) as inside, server_for(pg.conninfo("narrow")) as server, open_path("wire", server, STATE) as db:
                inside.cursor().execute("CREATE TABLE filler AS SELECT repeat(md5(n::text), 60) FROM generate_series(1, 2000) n")
                assert db.call("proc_AddItem", id="small", item=b"x", timeout=20).error is None
                full = None
                for n in range(100):
                    full = db.call("proc_AddItem", id=f"large-{n}", item=os.urandom(1 << 20), timeout=20)
                    if full.error is not None:
                        break
                assert full.error == 1105 or "full" in full.errors[0][2], full
                assert db.call("proc_GetItemWithLock", id="small").out["lockCookie"] in (2, None)
                inside.cursor().execute("DROP TABLE filler")
                wait_for(lambda: db.call("proc_AddItem", id="after", item=os.urandom(1000), timeout=20).error in (None, 2627))
                assert db.batch("SELECT COUNT(*) FROM Items WHERE Id = 'after'").rows == [(1,)]


def test_a_function_that_somebody_has_dropped_is_named_in_the_log(pg, name):
    """Clients are told what they are told of a dropped database; a start makes dropped functions and views again."""
    with server_for(pg.conninfo(name)) as server, contextlib.closing(pg.connect(name)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'procession_stateservice\\_%'")
        cursor.execute(f'DROP SCHEMA "{cursor.fetchone()[0]}" CASCADE')
        with open_path("wire", server, STATE) as db:
            assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error == 911
        server.wait_log("event=postgres_error database=StateService sqlstate=42883 message=.*proc_AddItem")
        server.restart()
        with open_path("wire", server, STATE) as db:
            assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None


def ready(server):
    line = next(l for l in server.stdout_lines if "http://" in l)
    host, port = re.search(r"http://([\d.]+):(\d+)", line).groups()
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def wait_ready(server, status):
    until = time.monotonic() + 60
    while True:
        told = ready(server)
        if told[0] == status:
            return told[1]
        assert time.monotonic() < until, told
        time.sleep(0.1)


def test_a_database_that_hangs_is_not_ready():
    """A balancer is told so at once, and not when somebody loses his patience; the process itself lives."""
    with postgres.Postgres() as pg, server_for(pg.conninfo(), failover_timeout=60, drain_timeout=2, http="127.0.0.1:0") as server:
        wait_ready(server, 200)
        pg.freeze()
        try:
            assert "StateService: no answer within a second" in wait_ready(server, 503)
        finally:
            pg.thaw()
        wait_ready(server, 200)


def test_a_server_stops_although_postgres_is_gone():
    with postgres.Postgres() as pg, server_for(pg.conninfo(), failover_timeout=60, drain_timeout=2) as server, \
            open_path("wire", server, STATE) as db, open_path("wire", server, STATE) as reader:
        assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
        pg.freeze()
        ends = [in_background(lambda: _quiet(lambda: db.call("proc_GetItemWithLock", id="a"))),
                in_background(lambda: _quiet(lambda: reader.batch("SELECT COUNT(*) FROM Items")))]
        time.sleep(1)
        began = time.monotonic()
        server.stop(timeout=25)
        assert time.monotonic() - began < 25
        for end in ends:
            end()


def _quiet(call):
    try:
        return call()
    except Exception as error:          # pylint: disable=broad-except
        return error                    # the connection ended with the server


def test_a_commit_that_no_standby_confirms_is_in_doubt_after_failover_timeout():
    with postgres.pair() as (primary, standby):
        with server_for(primary.conninfo(), failover_timeout=2) as server, open_path("wire", server, STATE) as db, \
                open_path("wire", server, STATE) as txn:
            assert db.call("proc_AddItem", id="a", item=b"x", timeout=20).error is None
            txn.batch("BEGIN TRAN EXEC proc_AddItem 'b', 0x01, 20")
            standby.freeze()
            told = txn.batch("COMMIT")
            assert told.error == 50013 and "not known" in told.errors[0][2], told
            told = db.call("proc_GetItemWithLock", id="a")
            assert told.error in (50013, 1222), told        # the commit before may still have the gate
            standby.thaw()
            wait_for(lambda: db.batch("SELECT COUNT(*) FROM Items WHERE Id = 'b'").rows == [(1,)])     # this one it was


def test_a_select_whose_first_rows_have_left_is_told_so(pg, name):
    """It cannot begin anew; nothing of that is about a primary that could not be reached."""
    with behind_a_proxy(pg, name) as (proxy, db), Wire(db.server).login() as w:
        for n in range(60):
            assert db.call("proc_AddItem", id=f"{n:04d}".ljust(400, "x"), item=b"x", timeout=20).error is None
        w.send_message(tds.BATCH, tds.batch_body("SELECT a.Id, b.Id, c.Id FROM dbo.Items a, dbo.Items b, dbo.Items c", w.version))
        w.inbuf += w.recv()                 # the first rows
        proxy.lead_to(proxy.path)
        told = w.answer(check=False).errors[0]
        assert (told.number, told.state) == (50013, 6) and "first rows" in told.text, told
        assert w.batch("SELECT COUNT(*) FROM dbo.Items").value == 61
