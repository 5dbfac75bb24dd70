"""A machine with a server vanishes: nobody tells PostgreSQL, whose session has the database locked for a transaction. Root only: the machine is a network of
its own, whose cable is drawn."""
import contextlib
import time

import pytest

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
