"""A real processiond for a test: own folder, own port, log shown when something fails.

    with Server() as server:
        connect(server.host, server.port, "sa", server.password)

PROCESSIOND names the binary (default: build/processiond in the tree). SERVER_CERTIFICATE names a folder with server.crt and server.key, which
every new server is given: making a key takes longer than the rest of a first start. tools/mutate.py, which starts thousands, sets it.
"""
import functools
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from support import store

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSWORD = "Procession-1"
DATABASE = "StateService"
# Far from UTC, on purpose: where UTC is promised, local time must look wrong on every machine.
ZONE = "<+0545>-5:45"
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer|SUMMARY: \w+Sanitizer")


def binary():
    return pathlib.Path(os.environ.get("PROCESSIOND", ROOT / "build" / "processiond")).resolve()


def command_binary():
    return pathlib.Path(os.environ.get("PROCESSION", ROOT / "build" / "procession")).resolve()


@functools.lru_cache
def is_sanitized():
    """Whether the binary carries a sanitizer: heavy tests are left out then."""
    return b"__asan_init" in binary().read_bytes() or b"__tsan_init" in binary().read_bytes()


class ServerFailed(AssertionError):
    pass


class Server:
    """One processiond and its folder. start/stop/kill/restart may be called as often as a test likes."""
    own_clock = False           # is its wall clock another than ours? Then PostgreSQL's is, too.

    def __init__(self, settings=None, config=None, password=PASSWORD, data=None, env=None, start_timeout=30):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="procession-test-"))
        self.data = pathlib.Path(data) if data else self.dir / "data"
        self.settings = dict(settings or {})        # become flags
        self.config = dict(config or {})            # becomes the file for --config, which SIGHUP reads again
        self.password = password
        self.env = dict(env or {})
        self.start_timeout = start_timeout
        self.log_path = self.dir / "log"
        self.stdout_lines = []
        self.process = None
        self.host = self.port = None

    # life

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                self.stop()
            else:
                self.kill()
                print(self.log_tail())
        finally:
            self.remove()

    def arguments(self):
        args = [str(binary()), "--data", str(self.data), "--listen", self.settings.get("listen", "127.0.0.1:0")]
        if self.password is not None:
            path = self.dir / "password"
            path.write_text(self.password + "\n", encoding="utf-8")
            path.chmod(0o600)
            args += ["--sa-password-file", str(path)]
        if self.config:
            self.write_config()
            args += ["--config", str(self.dir / "config.ini")]
        if store.is_postgres() and "engine" not in self.settings:
            args += ["--engine", "postgres", "--postgres", store.database_for(self.data, self.password, self.own_clock)]
        for name, value in self.settings.items():
            if name != "listen":
                args += ["--" + name.replace("_", "-"), str(value)]
        return args

    def give_certificate(self):
        folder = os.environ.get("SERVER_CERTIFICATE")
        if folder and not self.data.exists():
            self.data.mkdir(mode=0o700, parents=True)
            for name in ("server.crt", "server.key"):
                shutil.copy2(pathlib.Path(folder) / name, self.data / name)

    def write_config(self, **changes):
        self.config.update(changes)
        text = "".join(f"{name} = {value}\n" for name, value in self.config.items())
        (self.dir / "config.ini").write_text(text, encoding="utf-8")

    def start(self):
        if not binary().exists():
            raise ServerFailed(f"no server binary at {binary()}: build it, or set PROCESSIOND")
        self.give_certificate()
        env = {**os.environ, "TZ": ZONE, **self.env}
        env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        env.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.arguments(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=env)
        lines = queue.Queue()
        self._reader = threading.Thread(target=self._read_stdout, args=(self.process.stdout, lines), daemon=True)
        self._reader.start()
        deadline = time.monotonic() + self.start_timeout
        while True:
            try:
                line = lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise ServerFailed(f"the server was not ready in {self.start_timeout} s\n{self.log_tail()}") from None
            if line is None:
                raise ServerFailed(f"the server ended with status {self.process.wait()} before it was ready\n{self.log_tail()}")
            match = re.match(r"ready (.+):(\d+)$", line)
            if match:
                self.host, self.port = match.group(1), int(match.group(2))
                return self

    def _read_stdout(self, stream, lines):
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            self.stdout_lines.append(line)
            lines.put(line)
        lines.put(None)
        stream.close()

    def stop(self, timeout=40):
        """SIGTERM; the status must be 0 and the log free of sanitizer reports."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"SIGTERM did not stop the server in {timeout} s\n{self.log_tail()}") from None
        self._reader.join(5)
        self.process = None
        if status != 0:
            raise ServerFailed(f"the server ended with status {status}\n{self.log_tail()}")
        self.check_log()

    def kill(self):
        """kill -9: the crash that answered calls must survive."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self._reader.join(5)
            self.process = None

    def restart(self, kill=False):
        (self.kill if kill else self.stop)()
        return self.start()

    def signal(self, number):
        self.process.send_signal(number)

    def remove(self):
        if self.dir in self.data.parents:
            store.forget(self.data)
        shutil.rmtree(self.dir, ignore_errors=True)

    # looking at it

    @property
    def alive(self):
        return self.process is not None and self.process.poll() is None

    @property
    def certificate(self):
        """PEM file of the certificate that the server generated."""
        return str(self.data / "server.crt")

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace") if self.log_path.exists() else ""

    def log_tail(self, lines=80):
        return "---- log of the server, end ----\n" + "\n".join(self.log().splitlines()[-lines:])

    def check_log(self):
        match = SANITIZER.search(self.log())
        if match:
            text = self.log()
            raise ServerFailed("the log has a sanitizer report\n" + text[max(0, match.start() - 500):match.start() + 6000])

    def wait_log(self, pattern, timeout=10, start=0):
        """Waits until the log (from offset start) has a line that matches; gives the match."""
        deadline = time.monotonic() + timeout
        while True:
            match = re.search(pattern, self.log()[start:], re.M)
            if match:
                return match
            if time.monotonic() > deadline:
                raise AssertionError(f"no line in the log matches {pattern!r}\n{self.log_tail()}")
            time.sleep(0.02)

    def processor_seconds(self):
        """What it has worked so far, of all threads: other than time, this does not grow with the work of others."""
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        return sum(int(n) for n in text.rpartition(")")[2].split()[11:13]) / os.sysconf("SC_CLK_TCK")

    def memory_kib(self):
        """Resident memory now; 0 under a sanitizer, which keeps freed memory back."""
        if is_sanitized():
            return 0
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))
