"""Clocks that jump: the clock of a call is the database's, the same on all servers, and never goes back for a database."""
import contextlib
import datetime
import time

import pytest

from support import store
from support.calls import open_path
from support.clock import environment, find_library, plain_binary
from support.server import Server

DATABASE = "StateService"
HOUR = 3600


class JumpingServer(Server):
    """A server whose wall clock is that of the test; the PostgreSQL behind it has its own."""

    def __init__(self, settings):
        self.plain = plain_binary()
        super().__init__(settings=settings)
        self.clock = self.dir / "clock"
        self.env.update(environment(self.clock))
        self.set(time.time())

    def arguments(self):
        return [str(self.plain)] + super().arguments()[1:]

    def set(self, seconds):
        temporary = self.clock.with_suffix(".new")
        temporary.write_text(f"{seconds:.6f}\n")
        temporary.replace(self.clock)


def expires(db, key):
    return db.batch(f"SELECT Expires FROM Items WHERE Id = '{key}'").rows[0][0]


def test_the_clock_of_one_server_jumps(pg):
    """Neither is an item of others expired by it, nor do its own live longer, and its clean-up leaves them alone."""
    name = "jumping"
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    settings = {"engine": "postgres", "postgres": pg.conninfo(name), "sweep_interval": 1}
    with JumpingServer(settings) as jumping, Server(settings=settings) as steady, \
            open_path("wire", jumping, DATABASE) as here, open_path("wire", steady, DATABASE) as there:
        assert there.call("proc_AddItem", id="before", item=b"x", timeout=20).error is None
        for n, jump in enumerate((48 * HOUR, -48 * HOUR)):
            jumping.set(time.time() + jump)
            assert here.call("proc_AddItem", id=f"own-{n}", item=b"x", timeout=20).error is None
            assert there.call("proc_AddItem", id=f"other-{n}", item=b"x", timeout=20).error is None
            apart = expires(here, f"other-{n}") - expires(there, f"own-{n}")
            assert datetime.timedelta(0) <= apart < datetime.timedelta(minutes=5), apart
            assert here.call("proc_DeleteExpiredItems").error is None
            for db in (here, there):
                assert db.call("proc_GetItemWithoutLock", id="before").out["item"] == b"x"
                assert db.call("proc_GetItemWithoutLock", id=f"own-{n}").out["item"] == b"x"


@pytest.fixture(name="clocked")
def clocked_postgres():
    if find_library() is None:
        pytest.skip("libfaketime is not installed")
    made = store.ClockPostgres()
    made.clock.write_text("1750000000.0\n")
    try:
        yield made.start()
    finally:
        made.remove()


def test_the_clock_of_postgres_goes_back_at_a_restart(clocked):
    """For a server that was there, and for one that starts anew: what was written has the latest time that there is."""
    settings = {"engine": "postgres", "postgres": clocked.conninfo(), "failover_timeout": 120}
    with Server(settings=settings) as server, open_path("wire", server, DATABASE) as db:
        assert db.call("proc_AddItem", id="first", item=b"x", timeout=20).error is None
        first = expires(db, "first")
        clocked.stop("immediate")
        clocked.clock.write_text(f"{1750000000 - HOUR}.0\n")
        clocked.start()
        assert db.call("proc_AddItem", id="second", item=b"x", timeout=20).error is None
        assert expires(db, "second") >= first
        with Server(settings=settings) as fresh, open_path("wire", fresh, DATABASE) as other:
            assert other.call("proc_AddItem", id="third", item=b"x", timeout=20).error is None
            assert expires(other, "third") >= first
        clocked.clock.write_text(f"{1750000000 + 10 * 60}.0\n")
        assert db.call("proc_AddItem", id="fourth", item=b"x", timeout=20).error is None
        assert expires(db, "fourth") - first == datetime.timedelta(minutes=10)       # and when it has caught up, it counts again


def test_the_clock_of_postgres_goes_back_while_it_runs(clocked):
    """The server that has answered goes on from there at once; the other one has heard of it after a second or two, although it was idle."""
    settings = {"engine": "postgres", "postgres": clocked.conninfo()}
    with Server(settings=settings) as one, Server(settings=settings) as two, \
            open_path("wire", one, DATABASE) as here, open_path("wire", two, DATABASE) as there:
        assert here.call("proc_AddItem", id="first", item=b"x", timeout=20).error is None
        assert there.call("proc_GetItemWithoutLock", id="first").error is None     # with a session from before
        clocked.clock.write_text(f"{1750000000 + 600}.0\n")
        assert here.call("proc_AddItem", id="second", item=b"x", timeout=20).error is None
        second = expires(here, "second")
        clocked.clock.write_text(f"{1750000000 - HOUR}.0\n")
        assert here.call("proc_AddItem", id="third", item=b"x", timeout=20).error is None
        assert expires(here, "third") >= second

        def added(key):
            assert there.call("proc_AddItem", id=key, item=b"x", timeout=20).error is None
            return expires(there, key)

        for n in range(100):
            if added(f"other-{n}") >= second:
                break
            time.sleep(0.1)
        assert added("last") >= second


def test_the_latest_time_of_all_is_known_to_a_server_that_was_not_there(clocked):
    """The last commit before the restart is that of its own time: nobody else has written it down."""
    settings = {"engine": "postgres", "postgres": clocked.conninfo(), "failover_timeout": 120}
    with Server(settings=settings) as server, open_path("wire", server, DATABASE) as db:
        assert db.call("proc_AddItem", id="early", item=b"x", timeout=20).error is None
        clocked.clock.write_text(f"{1750000000 + HOUR}.0\n")
        assert db.call("proc_AddItem", id="last", item=b"x", timeout=20).error is None
        last = expires(db, "last")
    clocked.stop("immediate")
    clocked.clock.write_text("1750000000.0\n")
    clocked.start()
    with Server(settings=settings) as fresh, open_path("wire", fresh, DATABASE) as other:
        assert other.call("proc_AddItem", id="next", item=b"x", timeout=20).error is None
        assert expires(other, "next") >= last
