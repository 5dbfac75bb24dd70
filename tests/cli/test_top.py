"""procession top: a live screen at a terminal of its own, and the same once or as JSON."""
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
import time

import pytds
import pytest

from support.server import Server, command_binary
from test_cli import Cli
from test_people import login_file

LEAVE = "\x1b[?1049l"


@pytest.fixture
def cli(server):
    return Cli(server)


class Screen:
    """procession top on a pseudo-terminal of this size; frames are what it drew, line by line."""

    def __init__(self, cli, *args, lines=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        command = [str(command_binary()), "--server", cli.server.address, "--password-file", str(cli.server.dir / "password"), "top", *args]
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.execv(command[0], command)
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        if select.select([self.master], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                self.text += os.read(self.master, 65536).decode("utf-8", "replace")

    def frames(self):
        whole = self.text.split("\x1b[H")[1:-1]     # the last one may not be there as a whole
        return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", frame).replace("\r", "").split("\n") for frame in whole]

    def wait(self, condition, timeout=60):
        deadline = time.monotonic() + timeout
        while True:
            self.read()
            for frame in reversed(self.frames()):
                if condition(frame):
                    return frame
            assert time.monotonic() < deadline, self.text[-3000:]

    def forget(self):
        self.text = ""

    def press(self, keys):
        os.write(self.master, keys)

    def end(self, timeout=60):
        """Its status, once it has left and the terminal is as it was."""
        deadline = time.monotonic() + timeout
        while True:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                break
            assert time.monotonic() < deadline, self.text[-3000:]
        self.read()
        assert self.text.rstrip().rfind(LEAVE) > self.text.rfind("\x1b[?1049h"), "the screen was not left"
        assert "\x1b[?25h" in self.text.split("\x1b[H")[-1]
        assert termios.tcgetattr(self.slave) == self.before
        os.close(self.master)
        os.close(self.slave)
        return os.waitstatus_to_exitcode(status)


def whole(frame):
    return any(line.startswith("SLOWEST PROCEDURES") for line in frame) and any("procession_stats" in line for line in frame)


def test_the_screen_fits_follows_the_window_and_q_quits(cli):
    screen = Screen(cli, "--interval", "0.2")
    frame = screen.wait(whole)
    assert len(frame) <= 24 and all(len(line) <= 80 for line in frame), frame
    text = "\n".join(frame)
    for word in ("calls/s", "errors/s", "waited p50", "ran p50", "queue", "sessions", "StateService", "BATCH", "q quits", "P99 MS"):
        assert word in text, word
    screen.forget()
    screen.resize(9, 40)
    frame = screen.wait(lambda f: f[0].startswith(frame[0].split()[0]) and max(map(len, f)) <= 40)
    assert len(frame) <= 9
    screen.resize(40, 132)
    screen.wait(lambda f: whole(f) and any("locked" in line for line in f))
    screen.press(b"q")
    assert screen.end() == 0


@pytest.mark.parametrize("how", ("^C", signal.SIGTERM, signal.SIGHUP, signal.SIGINT), ids=str)
def test_the_terminal_is_restored_however_it_ends(cli, how):
    screen = Screen(cli)
    screen.wait(lambda f: f[0] != "")
    if how == "^C":
        screen.press(b"\x03")
    else:
        os.kill(screen.pid, how)
    assert screen.end() == 0


def test_it_can_be_suspended(cli):
    screen = Screen(cli, "--interval", "0.2")
    screen.wait(whole)
    screen.press(b"\x1a")
    deadline = time.monotonic() + 60
    while os.waitpid(screen.pid, os.WNOHANG | os.WUNTRACED)[0] == 0:
        screen.read()
        assert time.monotonic() < deadline
    screen.read()
    assert LEAVE in screen.text and termios.tcgetattr(screen.slave) == screen.before
    screen.forget()
    os.kill(screen.pid, signal.SIGCONT)
    screen.wait(whole)
    screen.press(b"q")
    assert screen.end() == 0


def test_a_server_that_goes_and_comes_back():
    with Server() as server:
        screen = Screen(Cli(server), "--interval", "0.2")
        screen.wait(whole)
        port = server.port
        server.stop()
        screen.wait(lambda f: any("127.0.0.1" in line and ("connect" in line or "dead" in line or "EOF" in line) for line in f[-1:]))
        server.settings["listen"] = f"127.0.0.1:{port}"
        screen.forget()
        server.start()
        screen.wait(lambda f: whole(f) and not any("connect" in line for line in f[-1:]))
        screen.press(b"q")
        assert screen.end() == 0


def test_q_does_not_wait_for_a_server_that_hangs():
    with Server() as server:
        screen = Screen(Cli(server), "--interval", "0.2")
        screen.wait(whole)
        server.signal(signal.SIGSTOP)
        try:
            screen.wait(lambda f: "has not answered yet" in f[-1])
            screen.press(b"q")
            assert screen.end(timeout=20) == 0
        finally:
            server.signal(signal.SIGCONT)


def test_once_and_json_tell_what_happened_meanwhile(cli, server):
    stop = threading.Event()

    def work():
        with pytds.connect(server.host, "StateService", "sa", server.password, port=server.port, autocommit=True, login_timeout=120) as db:
            n = 0
            while not stop.is_set():
                db.cursor().execute(f"EXEC proc_AddItem 'top-{n}', 0x0102, 20")
                n += 1

    thread = threading.Thread(target=work)
    thread.start()
    idle = [pytds.connect(server.host, "StateService", "sa", server.password, port=server.port, login_timeout=120) for _ in range(5)]
    try:
        told = cli.json("top", "--once", "--interval", "1")
        shown = cli.ok("top", "--once", "--interval", "0.5")
    finally:
        stop.set()
        thread.join()
        for db in idle:
            db.close()
    assert told["calls_per_second"] > 0 and 0.9 < told["interval_seconds"] < 60
    added = next(p for p in told["slowest_procedures"] if p["procedure"] == "proc_AddItem")
    assert added["database"] == "StateService" and added["calls_per_second"] > 0 and added["errors_per_second"] == 0
    assert 0 < added["ran_ms"]["p50"] <= added["ran_ms"]["p99"]
    slowest = [p["ran_ms"]["p99"] for p in told["slowest_procedures"]]
    assert slowest == sorted(slowest, reverse=True)
    state = next(d for d in told["databases"] if d["database"] == "StateService")
    assert state["items"] > 0 and state["bytes"] >= 2 * state["items"] - 2 and state["up"] is True
    assert set(next(d for d in told["databases"] if d["database"] == "Translation")["documents"]) >= {"waiting", "running", "failed"}
    assert set(next(d for d in told["databases"] if d["database"] == "ScheduledJobs")["scheduled_jobs"]) == {"enabled", "disabled"}
    assert told["busiest_sessions"][0]["database"] == "StateService" and told["busiest_sessions"][0]["requests_per_second"] > 0
    assert "proc_AddItem" in shown and "\x1b" not in shown
    at_work, waiting = re.search(r"sessions (\d+) at work, (\d+) idle", shown).groups()
    assert int(at_work) <= 2 and int(waiting) >= 5              # the one that works and top itself; those that do nothing


def test_the_right_monitor_is_enough_and_needed(cli, tmp_path):
    secret = login_file(cli, tmp_path, "watcher")
    refused = cli.run("--user", "watcher", "--password-file", str(secret), "top", "--once", "--interval", "0.1")
    assert refused.returncode == 1 and "monitor" in refused.stderr
    cli.ok("grant", "watcher", "master", "monitor")
    assert "calls/s" in cli.ok("--user", "watcher", "--password-file", str(secret), "top", "--once", "--interval", "0.1")


def test_wrong_use_is_said(cli):
    assert "--interval takes" in cli.run("top", "--interval", "never").stderr
    nothing = cli.run("top")
    assert nothing.returncode == 2 and "needs a terminal" in nothing.stderr
    stopped = cli.run("top", "--once", "--server", "127.0.0.1:1", "--password-file", str(cli.server.dir / "password"), connect=False)
    assert stopped.returncode == 3
