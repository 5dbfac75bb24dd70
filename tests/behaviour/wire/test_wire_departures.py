"""Clients that leave: in whatever phase, as often as they like, everything that the server had for them comes back."""
import socket
import struct
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.numbers import counters
from support.plain import PlainServer
from support.server import Server, is_sanitized
from support.wire import Param, Wire

STRANGER = "127.0.0.77"         # an address of its own, so that its failures do not count for the tests' administrator


def only_the_administrator(admin, timeout=30):
    """Waits until nothing is left of the others."""
    deadline = time.monotonic() + timeout
    while True:
        now = counters(admin)
        if (now["sessions_held"], now["sessions"], now["connections"], now["logins_waiting"]) == (1, 1, 1, 0):
            return
        assert time.monotonic() < deadline, f"left behind: {now}"
        time.sleep(0.05)


def leave(w, abruptly):
    if abruptly:
        w.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    w.close()


def ntlm_negotiate():
    return b"NTLMSSP\0" + struct.pack("<II", 1, 0xA2088207) + b"\0" * 16 + b"\x0a\0\0\0\0\0\0\x0f"


# What a client has done when it leaves. Each takes the server and gives the connection.

def connected(server, **options):
    return Wire(server, source=STRANGER, **options)


def after_prelogin(server):
    w = connected(server)
    w.pre()
    return w


def half_a_packet(server):
    w = connected(server)
    w.send(tds.packets(tds.PRELOGIN, tds.prelogin())[:11])
    return w


def in_the_handshake(server):
    w = connected(server, encryption=tds.ENCRYPT_ON)
    w.pre()
    w.send_clear(tds.packets(tds.PRELOGIN, b"\x16\x03\x01\x02\x00\x01"))
    return w


def in_the_strict_handshake(server):
    w = connected(server)
    w.send_clear(b"\x16\x03\x01\x02\x00\x01")
    return w


def after_the_handshake(server):
    w = connected(server, encryption=tds.ENCRYPT_ON)
    w.hello()
    return w


def half_a_login(server):
    w = connected(server)
    w.hello()
    w.send(tds.packets(tds.LOGIN7, tds.login7())[:60])
    return w


def while_hashing(server):
    """Or while waiting for it: nobody knows the password, so that nothing is remembered."""
    w = Wire(server, source="127.0.0.78")
    w.hello()
    w.send_message(tds.LOGIN7, tds.login7(password="wrong"))
    return w


def while_held_back(server):
    """The address has failed before: refused without hashing, and answered late."""
    w = connected(server)
    w.hello()
    w.send_message(tds.LOGIN7, tds.login7(password="wrong"))
    time.sleep(0.002)
    return w


def login_only_delay(server):
    """What jTDS gets 10 ms later: TDS 7.1, encryption of the login only, the right password."""
    w = Wire(server, tds.V71R1, encryption=tds.ENCRYPT_OFF)
    assert w.hello() == "login"
    w.send(tds.packets(tds.LOGIN7, tds.login7(password=server.password, database="StateService", version=tds.V71R1)))
    return w


def sspi_first_leg(server):
    w = Wire(server, source="127.0.0.79")
    w.hello()
    w.send_message(tds.LOGIN7, tds.login7(user="", option2=0x83, sspi=ntlm_negotiate()))
    return w


def sspi_second_leg(server):
    w = sspi_first_leg(server)
    assert w.answer(check=False).kinds in (["sspi"], ["error", "done"])     # refused where the NTLM mechanism is not installed
    return w


def logged_in(server):
    return Wire(server).login()


def in_a_request(server):
    w = logged_in(server)
    w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:10:00'"))
    return w


def while_a_cursor_opens(server):
    """Its text is so long that a work thread reads it."""
    w = logged_in(server)
    text = " UNION ALL ".join("SELECT 1 AS n" for _ in range(400)) + " " * 20000
    none = [Param(t.int_(None), output=True)]
    w.send_message(tds.RPC, tds.rpc_body([(2, none + [Param(t.ntext(text))] + none * 3)]))
    return w


def half_a_request(server):
    w = logged_in(server)
    w.send(tds.packets(tds.BATCH, tds.batch_body("SELECT 1"))[:20])
    return w


def in_a_transaction(server):
    w = logged_in(server)
    w.batch("BEGIN TRANSACTION EXEC proc_AddItem 'left', 0x01, 20").ok()
    return w


def in_an_answer(server):
    w = logged_in(server)
    w.send_message(tds.BATCH, tds.batch_body("SELECT " + ", ".join(f"REPLICATE('x', 8000) AS c{i}" for i in range(50))))
    w.sock.recv(100)
    return w


PHASES = (connected, after_prelogin, half_a_packet, in_the_handshake, in_the_strict_handshake, after_the_handshake, half_a_login, while_hashing, while_held_back,
          login_only_delay, sspi_first_leg, sspi_second_leg, logged_in, in_a_request, while_a_cursor_opens, half_a_request, in_a_transaction, in_an_answer)


@pytest.fixture(scope="module")
def visited(tmp_path_factory):
    """A server, and its administrator who stays; the stranger's address is throttled for the rest of the time."""
    users = tmp_path_factory.mktemp("ntlm") / "users"
    users.write_text("CORP:alice:secret\n")
    with Server(settings={"login_fail_limit": 1, "login_fail_window": 3600}, config={"ntlm": "on", "ntlm_user_file": users}) as server:
        with Wire(server).login() as admin:
            with pytest.raises((tds.ServerError, tds.Closed)):
                Wire(server, source=STRANGER).login(password="wrong")
            only_the_administrator(admin)
            yield server, admin


@pytest.mark.parametrize("phase", PHASES, ids=lambda f: f.__name__)
def test_a_client_that_leaves(visited, phase):
    server, admin = visited
    for i in range(30):
        leave(phase(server), abruptly=i % 2 == 0)
    only_the_administrator(admin)
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1


def test_many_at_once(visited):
    """All phases side by side."""
    server, admin = visited
    for _ in range(3):
        held = [phase(server) for phase in PHASES for _ in range(4) if phase is not in_a_transaction]
        for i, w in enumerate(held):
            leave(w, abruptly=i % 3 == 0)
    only_the_administrator(admin)


def test_thousands_of_refusals_that_nobody_waits_for():
    """An attack on the session numbers and the memory: each login is refused late, and each client gone by then."""
    with PlainServer(settings={"login_fail_limit": 1, "login_fail_window": 3600}) as server, Wire(server).login() as admin:
        message = tds.packets(tds.PRELOGIN, tds.prelogin()) + tds.packets(tds.LOGIN7, tds.login7(password="wrong"))

        def visit(n):
            for _ in range(n):
                w = Wire(server, source=STRANGER)
                w.send(message)
                leave(w, abruptly=False)
            only_the_administrator(admin, 60)

        visit(1000)
        before = peak_kib(server)
        visit(5000)
        assert peak_kib(server) - before < 20000
        with Wire(server).login() as w:
            assert w.batch("SELECT 1").value == 1


def peak_kib(server):
    return server.peak_bytes() >> 10


def test_the_departed_are_not_hashed():
    """Their logins are taken out of the queue: whoever comes after them does not wait for them."""
    count = 200 if is_sanitized() else 1000
    with Server(settings={"login_fail_limit": 100000, "login_queue": 5000}) as server, Wire(server).login() as admin:
        for i in range(count):
            w = Wire(server, source=f"127.1.{i // 200}.{i % 200 + 1}")
            w.send(tds.packets(tds.PRELOGIN, tds.prelogin()) + tds.packets(tds.LOGIN7, tds.login7(user=f"nobody{i}", password="wrong")))
            leave(w, abruptly=True)
        only_the_administrator(admin, 30)
