"""Floods: strangers who log in, guess and connect by the thousand keep nobody out who belongs here (docs/security.md). Each address of 127/8 is somebody else; 127.0.0.1 is this machine."""
import contextlib
import os
import pathlib
import resource
import socket
import time

import pytest

from support import wire as tds
from support.numbers import counters
from support.plain import PlainServer
from support.server import Server, ServerFailed
from support.wire import Closed, ServerError, Wire

SECRET = "Secret-12"


def login_number(server, source=None, **fields):
    """Error number of a login, 0: it succeeded, None: closed without a word."""
    try:
        with Wire(server, source=source, timeout=60).login(**fields):
            return 0
    except ServerError as e:
        return e.number
    except Closed:
        return None


def add_shop(server):
    with Wire(server).login() as admin:
        admin.batch(f"EXEC procession_login_add @name = 'shop', @password = '{SECRET}', @default_database = 'StateService'").ok()
        admin.batch("EXEC procession_grant @login = 'shop', @database = 'StateService', @rights = 'execute, select'").ok()


# Logins


def guess(server, source, user):
    w = Wire(server, source=source, timeout=60)
    w.send(tds.packets(tds.PRELOGIN, tds.prelogin()) + tds.packets(tds.LOGIN7, tds.login7(user=user, password="wrong")))
    return w


def test_a_flood_of_logins_is_bounded_and_the_known_do_not_wait_for_it(new_server):
    server = new_server(settings={"login_queue": 40, "login_timeout": 60})
    add_shop(server)
    shop = {"source": "127.0.0.5", "user": "shop", "password": SECRET}
    assert login_number(server, **shop) == 0
    with Wire(server).login() as admin:
        flood = [guess(server, f"127.2.{i // 100}.{i % 100 + 1}", f"nobody{i}") for i in range(150)]
        assert login_number(server, **shop) == 0
        assert login_number(server) == 0
        now = counters(admin)
        assert 0 < now["logins_waiting"] <= 41, now             # the flood is still there
        refused = 0
        for w in flood:
            w.pre_answer = w.read_raw_message()
        for w in flood[::-1]:
            w.sock.settimeout(0.05)
            try:
                refused += w.answer().numbers == [40501]
            except TimeoutError:
                pass                                            # one of those that still wait
        assert refused >= 50
        for w in flood:
            w.close()


def test_one_address_cannot_fill_the_queue(new_server):
    """Addresses take turns, and in a full queue the one with most gives way."""
    server = new_server(settings={"login_queue": 40, "login_timeout": 60, "login_fail_limit": 100000})
    add_shop(server)
    with Wire(server).login() as admin:
        flood = [guess(server, "127.2.0.1", f"nobody{i}") for i in range(60)]
        assert login_number(server, source="127.2.0.2", user="shop", password=SECRET) == 0
        assert counters(admin)["logins_waiting"] > 0
        for w in flood:
            w.close()


# Guessing


def test_guesses_from_everywhere_do_not_lock_a_login(new_server):
    server = new_server(settings={"login_fail_limit": 3, "login_fail_window": 3600})
    known, new, other = "127.0.0.5", "127.0.0.6", "127.0.0.7"
    assert login_number(server, source=known) == 0
    for i in range(4):
        assert login_number(server, source=f"127.3.0.{i + 1}", password="wrong") == 18456
    assert login_number(server, source="127.3.0.1") == 18456    # who failed has no turn
    assert login_number(server, source=known) == 0              # at once
    assert login_number(server) == 0                            # this machine
    assert login_number(server, source=new) == 0                # when its turn comes
    assert login_number(server, source="127.3.1.1", password="wrong") == 18456
    assert login_number(server, source=other) == 0
    assert login_number(server, source="127.3.0.1") == 18456
    server.check_log()


def logins_without_memory():
    """Numbers of logins while argon2 gets no memory; None where not even the connection got any."""
    with PlainServer(settings={"login_fail_limit": 2, "login_fail_window": 3600}) as server:
        pid = server.process.pid
        pages = int(open(f"/proc/{pid}/statm", encoding="ascii").read().split()[0])
        before = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (pages * resource.getpagesize() + (14 << 20), before[1]))
        numbers = [login_number(server) for _ in range(5)]
        resource.prlimit(pid, resource.RLIMIT_AS, before)
        assert login_number(server) == 0
        if None not in numbers:
            server.wait_log("event=password_not_checked")
        return numbers


def test_a_right_password_is_not_wrong_when_memory_is_short():
    # On a busy machine the server was still growing when the limit was set, and refuses connections: that shows nothing.
    numbers = next((n for n in (logins_without_memory() for _ in range(5)) if None not in n), None)
    assert numbers == [40501] * 5


# Connections


def fill(server, count, source=None):
    return [Wire(server, source=source) for _ in range(count)]


def test_places_for_administrators(new_server):
    server = new_server(settings={"max_connections": 3, "admin_reserved_connections": 2, "login_timeout": 60})
    add_shop(server)
    time.sleep(0.2)
    shop = {"user": "shop", "password": SECRET}
    held = [Wire(server).login(**shop) for _ in range(3)]
    assert login_number(server, **shop) == 17809
    admins = [Wire(server).login() for _ in range(2)]
    assert [w.batch("SELECT 1").value for w in held + admins] == [1] * 5
    assert login_number(server) == 17809
    admins.pop().close()
    deadline = time.monotonic() + 10
    while login_number(server) != 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # Strangers who take all that there is above the maximum do not take what is this machine's.
    strangers = fill(server, 100, "127.4.0.1")
    assert login_number(server) == 0
    # They are closed one by one when they have had their time, so that an administrator from elsewhere comes in, too.
    time.sleep(2.1)
    assert login_number(server, source="127.0.0.5") == 0
    for w in held + admins + strangers:
        w.close()


class LimitedServer(Server):
    """With a limit of open files."""

    def __init__(self, files, **options):
        self.files = files
        super().__init__(**options)

    def arguments(self):
        return ["sh", "-c", f'ulimit -n {self.files}; exec "$@"', "sh"] + super().arguments()


def sockets(server):
    """How many it has open."""
    n = 0
    for each in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
        with contextlib.suppress(OSError):                      # closed meanwhile
            n += os.readlink(each).startswith("socket:")
    return n


def test_connections_leave_the_descriptors_that_files_need():
    """With few descriptors, strangers connect until they are refused; reading and logging in still work."""
    with LimitedServer(700, settings={"login_timeout": 60}) as server:
        for_files = int(server.wait_log(r"event=fewer_connections .*for_files=(\d+)").group(1))
        before = sockets(server)
        add_shop(server)
        with Wire(server).login() as admin, Wire(server).login(user="shop", password=SECRET) as shop:
            most = counters(admin)["connections_limit"]
            assert 50 < most < 600
            strangers = []
            for i in range(700):
                try:
                    strangers.append(Wire(server, source="127.5.0.1"))
                except OSError:
                    break
            assert sockets(server) - before <= 700 - for_files  # those that are being refused among them
            for database in ("StateService", "WordAutomation", "Translation", "ScheduledJobs"):
                admin.batch(f"USE {database}").ok()
                assert admin.batch("EXEC sp_tables").ok().rows is not None
                assert len(admin.batch("SELECT name FROM sys.procedures").ok().rows) > 0
            shop.batch("EXEC proc_AddItem 'k', 0x01, 20").ok()
            assert login_number(server) == 0                    # an administrator's place
            assert "Too many open files" not in server.log() and "unable to open" not in server.log()
            for w in strangers:
                w.close()


def test_too_few_descriptors_are_told_at_the_start():
    limited = LimitedServer(120)
    with pytest.raises(ServerFailed) as e:
        limited.start()
    limited.kill()
    assert "limit of open files" in str(e.value) and "ulimit -n" in str(e.value)
    limited.remove()


def test_who_comes_when_no_descriptor_is_left_is_turned_away_at_once():
    """The limit is lowered under the running server, as other files of the process would do; then it is raised again."""
    with Server() as server, Wire(server).login() as admin:
        pid = server.process.pid
        usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(map(int, os.listdir(f"/proc/{pid}/fd"))) + 1, usual[1]))
        strangers = []
        for _ in range(100):                                    # some numbers below the highest may be free
            strangers.append(socket.create_connection((server.host, server.port), timeout=60))
            admin.batch("SELECT 1").ok()
            if "event=accept " in server.log():
                break
        server.wait_log('level=warn event=accept error="Too many open files" remedy=')
        assert strangers[-1].recv(1) == b""                     # and does not wait for its own time-out
        resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
        with Wire(server).login() as w:
            w.batch("SELECT 1").ok()
        for s in strangers:
            s.close()
