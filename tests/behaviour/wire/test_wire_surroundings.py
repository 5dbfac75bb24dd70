"""What surrounds the server: a standard error that nobody reads, systemd's watchdog, files that are open to others, settings at their bounds, suites of TLS."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import re
import select
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from support.certificate import certificate
from support import wire as tds
from support.server import ROOT, Server, ServerFailed
from support.wire import Wire

from statecalls import add, get


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, timeout=60, **options)


# --- standard error


class PipedServer(Server):
    """Its standard error is a pipe, which is read when the test says so."""

    def start(self):
        self.pipe, writer = os.pipe()
        real = subprocess.Popen

        def popen(*args, stderr=None, **options):
            return real(*args, stderr=writer, **options)

        subprocess.Popen = popen
        try:
            super().start()
        finally:
            subprocess.Popen = real
            os.close(writer)
        return self

    def read_on(self, until, timeout=30):
        """Reads and keeps what comes, until a line matches."""
        deadline = time.monotonic() + timeout
        with open(self.log_path, "ab") as log:
            while time.monotonic() < deadline:
                if re.search(until, self.log()):
                    return self.log()
                if select.select([self.pipe], [], [], 0.5)[0]:
                    log.write(os.read(self.pipe, 65536))
                    log.flush()
        raise AssertionError(f"nothing like {until!r} came\n{self.log_tail()}")


def test_a_standard_error_that_nobody_reads_stops_nobody():
    """A full pipe would hold the first thread that logs, and with it everything. Lines are kept, then dropped and counted, and the rest is in order."""
    server = PipedServer(settings={"log_level": "debug", "log_rate": 0}).start()
    try:
        with Wire(server).login() as w:
            for n in range(6000):       # two lines each, more than 1 MiB
                with contextlib.suppress(OSError):
                    socket.create_connection((server.host, server.port), timeout=20).close()
                if n % 500 == 0:
                    assert w.batch(f"SELECT {n}").value == n
            with Wire(server).login() as other:
                add(other, "piped").ok()
                assert get(other, "piped").outputs["@item"] is not None
            log = server.read_on(r"event=log_lines_dropped lines=\d+")
            assert w.batch("SELECT 'still here'").value == "still here"
        lines = log.splitlines()
        assert all(re.match(r"time=\S+ level=\w+ event=\w+", line) for line in lines[1:-1])
        times = [line.split(" ")[0] for line in lines[:-1]]
        assert sum(a > b for a, b in zip(times, times[1:])) <= len(times) // 100       # in the order in which they were written (threads may pass one another by a hair)
        ended = threading.Thread(target=lambda: server.read_on("event=stopped", 60))
        ended.start()
        server.signal(signal.SIGTERM)
        assert server.process.wait(40) == 0
        ended.join()
    finally:
        server.kill()
        os.close(server.pipe)
        server.remove()


def test_the_end_does_not_wait_for_a_standard_error_that_nobody_reads():
    server = PipedServer(settings={"log_level": "debug", "log_rate": 0}).start()
    try:
        os.read(server.pipe, 1 << 16)               # of the start; what is in it must fit into the smaller one
        fcntl.fcntl(server.pipe, 1031, 4096)        # F_SETPIPE_SZ
        for _ in range(200):
            socket.create_connection((server.host, server.port), timeout=20).close()
        server.signal(signal.SIGTERM)
        assert server.process.wait(30) == 0
    finally:
        server.kill()
        os.close(server.pipe)
        server.remove()


# --- systemd


class Notified:
    """The socket that systemd would give it."""

    def __init__(self, folder, usec):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / "notify"))
        self.env = {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": str(usec)}

    def hears(self, text, seconds):
        """How often it said so in this time."""
        deadline, n = time.monotonic() + seconds, 0
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                n += text in self.socket.recv(4096).decode().split("\n")
        return n

    def waits_for(self, text, seconds=20):
        self.socket.settimeout(seconds)
        while text not in self.socket.recv(4096).decode().split("\n"):
            pass


@contextlib.contextmanager
def stopped_thread(pid, name):
    """One thread of a process stands still, as if it hung; the others run. A tracer can do that."""
    tid = next(int(t.name) for t in pathlib.Path(f"/proc/{pid}/task").iterdir() if (t / "comm").read_text().startswith(name))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(0x4206, tid, None, None) < 0:        # PTRACE_SEIZE
        pytest.skip("this system lets nobody trace")
    assert libc.ptrace(0x4207, tid, None, None) == 0    # PTRACE_INTERRUPT
    os.waitpid(tid, 0x40000000)                         # __WALL
    try:
        yield
    finally:
        assert libc.ptrace(17, tid, None, None) == 0    # PTRACE_DETACH


def test_the_watchdog_hears_of_a_server_whose_loops_live(tmp_path):
    notified = Notified(tmp_path, 1_200_000)
    with Server(env=notified.env) as server:
        notified.waits_for("READY=1")
        for _ in range(4):
            notified.waits_for("WATCHDOG=1", 10)
        with stopped_thread(server.process.pid, "io"):
            notified.hears("WATCHDOG=1", 1)         # what was on its way
            assert notified.hears("WATCHDOG=1", 2) == 0
        notified.waits_for("WATCHDOG=1", 10)
        server.stop()
        notified.waits_for("STOPPING=1")


def test_without_a_watchdog_nobody_is_bothered(tmp_path):
    notified = Notified(tmp_path, 0)
    del notified.env["WATCHDOG_USEC"]
    with Server(env=notified.env):
        notified.waits_for("READY=1")
        assert notified.hears("WATCHDOG=1", 1) == 0


def test_the_unit_has_a_watchdog_and_a_bound_of_memory():
    unit = (ROOT / "packaging" / "systemd" / "processiond.service.in").read_text()
    assert re.search(r"^Type=notify$", unit, re.M) and re.search(r"^WatchdogSec=\d+", unit, re.M) and re.search(r"^MemoryMax=\d+%", unit, re.M)


# --- bounds


def settings_with_numbers():
    text = (ROOT / "src" / "config" / "settings.def").read_text()
    return re.findall(r'^SETTING_INT\((\w+), "[^"]*", "([^"]*)", (\d+), (\d+), "([^"]*)"', text, re.M)


def test_every_setting_works_at_its_upper_bound(key):
    """Nothing that is computed of them wraps: no limit ends what it should let live."""
    highest = {name: most for name, _, _, most, _ in settings_with_numbers()}
    del highest["drain_delay"]      # that one is for the end to wait
    assert len(highest) > 15
    with Server(settings=highest, start_timeout=120) as server, Wire(server).login() as w, Wire(server).login() as other:
        other.begin().ok()
        add(other, key).ok()
        time.sleep(2)
        assert w.batch("SELECT 1").value == 1
        assert get(other, key).outputs["@item"] is not None
        other.commit().ok()
        w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:01' SELECT 'waited'"))
        assert w.answer().value == "waited"


@pytest.mark.parametrize("seconds", (4294968, 4294967, 2147484))
def test_a_long_idle_timeout_is_not_a_short_one(new_server, seconds):
    """4294968 s are 2^32 ms and 704 more."""
    server = new_server(settings={"idle_timeout": seconds})
    with Wire(server).login() as w:
        time.sleep(1.6)
        assert w.batch("SELECT 1").value == 1


# --- files


@pytest.mark.parametrize("days, event", [(-1, "certificate_expired"), (10, "certificate_expires"), (100, None)])
def test_a_certificate_that_is_over_is_told(tmp_path, days, event):
    with Server(settings=certificate(tmp_path, days)) as server:
        log = server.log()
        assert (f"level=warn event={event} until=" in log and "remedy=" in log) if event else "event=certificate" not in log
        if event == "certificate_expires":
            assert re.search(r"days=(9|10) ", log)
        server.signal(signal.SIGHUP)
        server.wait_log("event=reload")
        assert server.log().count("event=certificate") == (2 if event else 0)


@pytest.mark.parametrize("mode, told", [(0o600, False), (0o640, True), (0o604, True), (0o400, False)])
def test_a_key_that_others_can_read_is_told(tmp_path, mode, told):
    pair = certificate(tmp_path, 100)
    pair["tls_key"].chmod(mode)
    with Server(settings=pair) as server:
        assert bool(re.search(f"level=warn event=key_file_open path={re.escape(str(pair['tls_key']))} mode={mode:04o} remedy=", server.log())) == told


@pytest.mark.parametrize("mode, told", [(0o600, False), (0o644, True)])
def test_files_with_secrets_that_others_can_read_are_told(tmp_path, mode, told):
    files = {"sa_password_file": tmp_path / "password", "ntlm_user_file": tmp_path / "users", "keytab": tmp_path / "keytab"}
    for path, text in zip(files.values(), ("Str0ng-enough!\n", "CORP:ann:Str0ng-enough!\n", "")):
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    with Server(settings=files, config={"ntlm": "on"}, password=None) as server:
        for name, event in (("sa_password_file", "password_file_open"), ("ntlm_user_file", "password_file_open"), ("keytab", "keytab_open")):
            assert bool(re.search(f"level=warn event={event} path={re.escape(str(files[name]))} mode={mode:04o} remedy=", server.log())) == told


def test_a_data_folder_that_others_can_open_is_told(new_server):
    server = new_server()
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700 and "_open " not in server.log()        # as the server makes it
    (server.dir / "password").chmod(0o600)
    server.stop()
    server.data.chmod(0o755)
    server.start()
    server.wait_log(r"level=warn event=data_folder_open path=\S+ mode=0755 remedy=")


# --- suites of TLS


def handshake(server, *options):
    """The suite that a client gets, or None."""
    done = subprocess.run(["openssl", "s_client", "-connect", server.address, "-alpn", "tds/8.0", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    found = re.search(r"Cipher is (\S+)", done.stdout)
    return found.group(1) if found and found.group(1) != "(NONE)" else None


WEAK = ["kRSA", "AES128-SHA", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA", "SHA1", "aNULL", "eNULL", "CAMELLIA"]
GOOD = ["ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA384"]


def test_suites_that_are_offered(server):
    for suite in WEAK:
        assert handshake(server, "-tls1_2", "-cipher", suite + ":@SECLEVEL=0") is None, suite
    for suite in GOOD:
        assert handshake(server, "-tls1_2", "-cipher", suite) == suite
    assert handshake(server, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0") is None
    assert handshake(server, "-tls1_3") == "TLS_AES_256_GCM_SHA384"


def test_suites_and_versions_are_settings(new_server):
    server = new_server(settings={"tls_ciphers": "ECDHE+AESGCM:AES128-SHA:ECDHE+AES+SHA1", "tls_ciphersuites": "TLS_AES_128_GCM_SHA256", "tls_min_version": "1.0"})
    assert handshake(server, "-tls1_2", "-cipher", "AES128-SHA:@SECLEVEL=0") == "AES128-SHA"
    assert handshake(server, "-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256") is None
    assert handshake(server, "-tls1", "-cipher", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0") == "ECDHE-RSA-AES128-SHA"
    assert handshake(server, "-tls1_3") == "TLS_AES_128_GCM_SHA256"
    server = new_server(settings={"tls_min_version": "1.3", "encrypt": "strict"})
    assert handshake(server, "-tls1_2") is None and handshake(server, "-tls1_3") is not None


@pytest.mark.parametrize("settings, why", [
    ({"tls_ciphers": "ECDHE+AESGCM:AES128-SAH"}, "tls_ciphers names 'AES128-SAH', which is no cipher suite"),
    ({"tls_ciphers": "HIGH:!ALL"}, "tls_ciphers leaves no cipher suite"),
    ({"tls_ciphersuites": "TLS_AES_128"}, "tls_ciphersuites names 'TLS_AES_128'"),
    ({"tls_min_version": "1.1"}, "TLS 1.0 and 1.1 have none of the cipher suites of tls_ciphers"),
    ({"tls_min_version": "1.3"}, "tls_min_version = 1.3 needs encrypt = strict"),
    ({"tls_min_version": "2"}, "takes one of 1.0|1.1|1.2|1.3"),
], ids=["suite", "none", "suite of 1.3", "old version", "new version", "no version"])
def test_suites_and_versions_that_cannot_be(settings, why):
    server = Server(settings=settings)
    try:
        with pytest.raises(ServerFailed) as e:
            server.start()
        assert why in str(e.value)
    finally:
        server.kill()
        server.remove()
