"""A server that has the database locked for a transaction vanishes, and nobody tells PostgreSQL. Its machine is gone (root only: the machine is a network of
its own, whose cable is drawn), or it is frozen, and is the one that cleans up, or was alone (another one: test_attacks.py)."""
import contextlib
import time

import pytest
from test_attacks import add, count
from test_servers import opened, servers
from test_sharing import until

from support import network, postgres
from support.calls import open_path
from support.patroni import free_ports
from support.server import Server


class ElsewhereServer(Server):
    """A server on that machine."""

    def __init__(self, machine, **options):
        super().__init__(**options)
        self.machine = machine

    def arguments(self):
        return [*self.machine.enter("root", "root"), *super().arguments()]


@pytest.fixture(name="net")
def machines():
    reason = network.missing() or postgres.missing()
    if reason:
        pytest.skip(reason)
    with network.Network(1) as made:
        yield made


def test_what_a_vanished_machine_has_locked_is_free_soon(net):
    """No other server is there, which could end the session: PostgreSQL does, which hears nothing any more."""
    port, machine = free_ports(1)[0], net.machines[0]
    with postgres.Postgres(settings={"listen_addresses": net.here, "port": str(port)}) as pg:
        hba = pg.data / "pg_hba.conf"
        hba.write_text(hba.read_text() + f"host all all {net.prefix}.0/24 trust\n")
        with contextlib.closing(pg.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT pg_reload_conf()")
            settings = {"engine": "postgres", "postgres": f"host={net.here} port={port} user=postgres dbname=postgres", "listen": f"{machine.address}:0"}
            with ElsewhereServer(machine, settings=settings) as server, contextlib.ExitStack() as stack:
                db = stack.enter_context(open_path("wire", server, "StateService"))
                assert db.batch("BEGIN TRAN EXEC proc_AddItem 'lost', 0x01, 20").error is None
                machine.cut()
                began = time.monotonic()
                cursor.execute("BEGIN; SET LOCAL lock_timeout = '100s'; LOCK TABLE procession_stateservice.gate IN EXCLUSIVE MODE")
                assert time.monotonic() - began > 5         # it was there until then
                cursor.execute("SELECT count(*) FROM procession_stateservice.item")
                assert cursor.fetchone() == (0,)
                cursor.execute("ROLLBACK")
                machine.mend()
                told = db.batch("EXEC proc_AddItem 'lost too', 0x01, 20")
                assert told.error == 50013, told
                assert db.batch("EXEC proc_AddItem 'kept', 0x01, 20").error is None


# ---- frozen, on a machine that answers for it

def has_said(server, event):
    return f"event={event} " in server.log()


def test_what_the_frozen_server_that_cleans_up_has_locked_is_freed_by_the_next_one(pg):
    """PostgreSQL ends the session with the lock of who cleans up, which is silent for 10 s; whoever gets it frees the gate at once."""
    with servers(pg, 2) as made, contextlib.ExitStack() as stack:
        first = until(lambda: next((server for server in made if has_said(server, "cleans")), None))
        second, = (server for server in made if server is not first)
        other, db = opened(stack, second, path="wire"), opened(stack, first, path="wire")
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'k', 0x01, 20").error is None
        assert add(other, "k2") == 1222 and not has_said(second, "cleans")
        first.signal(19)
        try:
            began = time.monotonic()
            assert add(other, "k2", 60000) is None
            assert 5 < time.monotonic() - began < 20
            until(lambda: has_said(second, "cleans") and has_said(second, "gate_freed"))
        finally:
            first.signal(18)
        assert db.batch("EXEC proc_AddItem 'k3', 0x01, 20").error == 50013
        assert add(db, "k4", 60000) is None and count(other, "k") == 2
        until(lambda: has_said(first, "cleans_no_more"))


def test_a_server_that_was_frozen_for_hours_before_another_came_keeps_nothing(pg):
    """Those that are silent for an hour are forgotten, but not while their sessions are there."""
    with servers(pg, 1) as (first,), contextlib.ExitStack() as stack:
        db = opened(stack, first, path="wire")
        assert db.batch("BEGIN TRAN EXEC proc_AddItem 'k', 0x01, 20").error is None
        first.signal(19)
        try:
            with contextlib.closing(pg.connect(first.settings["postgres"].rpartition("=")[2])) as connection:
                connection.cursor().execute("UPDATE procession.server SET beat = beat - interval '2 h'")
            second = stack.enter_context(type(first)(settings=first.settings))
            other = opened(stack, second, path="wire")
            assert add(other, "k2", 60000) is None and count(other, "k") == 1
            until(lambda: has_said(second, "gate_freed"))
        finally:
            first.signal(18)
        assert db.batch("EXEC proc_AddItem 'k3', 0x01, 20").error == 50013
