"""Limits: each has a default, a setting and a clear error (promise "bounded")."""
import socket
import struct
import threading
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Closed, Param, ServerError, Wire

from statecalls import add, get, present


def test_connections(new_server):
    """The one too many is told 17809; a place that becomes free can be taken."""
    server = new_server(settings={"max_connections": 3, "admin_reserved_connections": 0})
    held = [Wire(server).login() for _ in range(3)]
    with pytest.raises((ServerError, Closed)) as e:
        Wire(server).login()
    assert isinstance(e.value, ServerError) and e.value.number == 17809, e.value
    assert all(w.batch("SELECT 1").value == 1 for w in held)
    held.pop().close()
    deadline = time.monotonic() + 5
    while True:
        try:
            held.append(Wire(server).login())
            break
        except (ServerError, Closed):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    for w in held:
        w.close()


@pytest.fixture(scope="module")
def impatient(request):
    from support.server import Server
    with Server(settings={"login_timeout": 1, "idle_timeout": 2, "max_request_size": 1 << 20, "max_value_size": 400000, "login_fail_limit": 100000}) as made:
        yield made


def stalls(w, limit=6):
    start = time.monotonic()
    assert w.is_closed(limit), "the server waits for ever"
    return time.monotonic() - start


def test_a_client_that_says_nothing(impatient):
    with Wire(impatient) as w:
        assert stalls(w) < 4


def test_a_client_that_stops_in_the_middle(impatient):
    for message in (b"\x12", tds.packets(tds.PRELOGIN, tds.prelogin())[:20], tds.packets(tds.PRELOGIN, tds.prelogin()), tds.packets(tds.LOGIN7, tds.login7())[:50]):
        with Wire(impatient) as w:
            w.send(message)
            assert stalls(w) < 4


def test_a_client_that_stops_in_the_tls_handshake(impatient):
    with Wire(impatient, encryption=tds.ENCRYPT_ON) as w:
        w.pre()
        w.send_clear(tds.packets(tds.PRELOGIN, b"\x16\x03\x01\x02\x00\x01"))
        assert stalls(w) < 4
    with Wire(impatient) as w:
        w.send_clear(b"\x16\x03\x01\x02\x00\x01")
        assert stalls(w) < 4


def test_one_byte_a_third_of_a_second(impatient):
    """A slow login does not get more time because it is alive."""
    message = tds.packets(tds.LOGIN7, tds.login7(password=impatient.password))
    start = time.monotonic()
    with Wire(impatient) as w:
        try:
            for i in range(12):
                w.send(message[i:i + 1])
                time.sleep(0.3)
                if w_closed_now(w):
                    break
            else:
                raise AssertionError("still open")
        except Closed:
            pass
    assert time.monotonic() - start < 4


def w_closed_now(w):
    w.sock.setblocking(False)
    try:
        return w.sock.recv(100) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        w.sock.settimeout(w.timeout)


def test_idle_connections_are_closed(impatient):
    with Wire(impatient).login() as idle, Wire(impatient).login() as busy:
        for _ in range(8):
            assert busy.batch("SELECT 1").value == 1
            time.sleep(0.4)
        assert idle.is_closed(3)
        assert busy.batch("SELECT 1").value == 1
        # a request that runs longer is not idle
        assert busy.batch("WAITFOR DELAY '00:00:03' SELECT 2").value == 2


@pytest.mark.parametrize("encryption", (tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_ON))
def test_request_larger_than_the_limit(impatient, key, encryption):
    """Read to its end without being kept, then 50005; the session goes on."""
    message = tds.packets(tds.BATCH, tds.batch_body("-- " + "x" * (15 << 20)))
    with Wire(impatient, encryption=encryption).login() as w:
        before = impatient.memory_kib()
        for i in range(0, len(message), 65536):
            w.send(message[i:i + 65536])
        answer = w.answer(check=False)
        assert answer.numbers == [50005] and "max_request_size" in answer.errors[0].text
        assert impatient.memory_kib() - before < 20000
        assert w.batch("SELECT 1").value == 1


def test_value_larger_than_the_limit(impatient, key):
    with Wire(impatient).login() as w:
        assert add(w, key, b"x" * 400001).numbers == [50005]
        add(w, key, b"x" * 400000).ok()
        assert not get(w, key + "no").errors


def test_before_login_only_a_little_is_taken(server, witness):
    """A stranger cannot make the server keep more than a few KiB."""
    before = server.memory_kib()
    many = []
    for kind in (tds.PRELOGIN, tds.LOGIN7):
        for _ in range(20):
            w = Wire(server)
            many.append(w)
            try:
                for _ in range(200):
                    w.send(struct.pack(">BBHHBB", kind, 0, 4096, 0, 1, 0) + b"x" * 4088)
            except (Closed, TimeoutError, OSError):
                pass
    assert server.memory_kib() - before < 30000
    for w in many:
        assert w.is_closed()
        w.close()


def test_never_ending_requests_are_not_kept(server, witness):
    """Messages without end are bounded: here some MiB of a batch without EOM, from several clients, then they vanish."""
    clients = [Wire(server).login() for _ in range(4)]
    for w in clients:
        packet = struct.pack(">BBHHBB", tds.BATCH, 0, 4096, 0, 1, 0) + b"x" * 4088
        w.send(packet * 500)
    assert witness.batch("SELECT 1").value == 1
    for w in clients:
        w.close()


def test_a_client_that_never_reads(server, witness, key):
    """Back-pressure: the answers wait in the client's window, not in the server's memory."""
    add(witness, key, b"x" * (4 << 20)).ok()
    with Wire(server).login() as w:
        before = server.memory_kib()
        text = f"DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithoutLock '{key}', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT SELECT @i"
        w.send(tds.packets(tds.BATCH, tds.batch_body(text)) * 40)
        time.sleep(1)
        assert server.memory_kib() - before < 60000
        assert witness.batch("SELECT 1").value == 1
        for _ in range(40):
            assert len(w.answer().value) == 4 << 20


def guess(server):
    with pytest.raises(ServerError):
        Wire(server).login(password="wrong")


def test_password_guessing_is_slowed_down(new_server):
    """After the limit a login from that address is tried once a second; the right password gets in when its turn comes."""
    server = new_server(settings={"login_fail_limit": 3, "login_fail_window": 3600})
    with Wire(server).login() as inside:
        for _ in range(3):
            with pytest.raises(ServerError) as e:
                Wire(server).login(password="wrong")
            assert (e.value.number, e.value.token.state) == (18456, 1)
        guesses = [threading.Thread(target=guess, args=(server,)) for _ in range(3)]
        begin = time.monotonic()
        for one in guesses:                                 # at once: on a busy machine one alone may take a second
            one.start()
        for one in guesses:
            one.join()
        assert time.monotonic() - begin >= 2                # two of them waited for their turn
        assert inside.batch("SELECT 1").value == 1
        with Wire(server).login() as w:
            assert w.batch("SELECT 1").value == 1
    server.wait_log("event=login_slowed")


def test_a_program_with_a_wrong_password_keeps_nobody_else_out(new_server):
    """One login fails a dozen times from this machine; logins that were never seen before get in at once, and its own right password too."""
    server = new_server(settings={"login_fail_limit": 3, "login_fail_window": 3600})
    with Wire(server).login() as admin:
        for name in ("broken", "shop"):
            admin.batch(f"EXEC procession_login_add @name = '{name}', @password = 'right-{name}-1', @default_database = 'StateService'").ok()
            admin.batch(f"EXEC procession_grant @login = '{name}', @database = 'StateService', @rights = 'execute'").ok()
    for _ in range(12):
        with pytest.raises(ServerError):
            Wire(server).login(user="broken", password="wrong")
    with Wire(server).login(user="shop", password="right-shop-1"):
        server.wait_log("event=login .*login=shop")
    assert not [line for line in server.log().splitlines() if "event=login_slowed" in line and "login=shop" in line]
    with Wire(server).login(user="broken", password="right-broken-1"):
        pass


def test_execution_timeout(new_server):
    server = new_server(settings={"execution_timeout": 1})
    with Wire(server).login() as w:
        start = time.monotonic()
        answer = w.batch("WAITFOR DELAY '00:00:20' SELECT 1")
        assert answer.numbers == [50001] and time.monotonic() - start < 6
        assert w.batch("SELECT 1").value == 1


def test_prepared_handles_are_bounded(new_server):
    server = new_server(settings={"max_prepared": 5})
    with Wire(server).login() as w:
        def prepare():
            return w.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar(None)), Param(t.nvarchar("SELECT 1"))])
        handles = [prepare().ok().outputs[0] for _ in range(5)]
        assert len(set(handles)) == 5 and prepare().errors
        w.rpc(15, [Param(t.int_(handles[0]))]).ok()
        prepare().ok()


def test_cursors_are_bounded(new_server):
    server = new_server(settings={"max_prepared": 5})
    with Wire(server).login() as w:
        def open_cursor():
            return w.rpc(2, [Param(t.int_(None), output=True), Param(t.nvarchar("SELECT 1 AS n"))] + [Param(t.int_(n), output=True) for n in (8, 1, 0)])

        def rows(cursor):
            return w.rpc(7, [Param(t.int_(n)) for n in (cursor, 1, 0, 1)]).ok().rows
        cursors = [open_cursor().ok().outputs[0] for _ in range(5)]
        answer = open_cursor()
        assert len(set(cursors)) == 5 and answer.numbers == [50005, 16945] and "max_prepared" in answer.errors[0].text
        assert w.batch("SELECT 5").value == 5 and [rows(c) for c in cursors] == [[[1, 1]]] * 5, "those that were there stay"
        w.rpc(9, [Param(t.int_(cursors[0]))]).ok()
        assert rows(open_cursor().ok().outputs[0]) == [[1, 1]]


def test_hundred_connections_at_once(server, witness):
    many = [Wire(server).login() for _ in range(100)]
    for i, w in enumerate(many):
        w.send_message(tds.BATCH, tds.batch_body(f"SELECT {i}"))
    assert [w.answer().value for w in many] == list(range(100))
    for w in many:
        w.close()


def test_a_thousand_connections_come_and_go(server, witness):
    """No descriptor and no memory is lost."""
    for _ in range(300):
        w = Wire(server)
        w.close()
    before = server.memory_kib()
    for _ in range(1000):
        w = Wire(server)
        w.send(tds.packets(tds.PRELOGIN, tds.prelogin()))
        w.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        w.close()
    assert server.memory_kib() - before < 40000
