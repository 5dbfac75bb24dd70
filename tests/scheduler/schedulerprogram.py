"""`procession scheduler` as a test runs it: configuration, handlers that leave a record, log."""
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from support import clock
from support.server import SANITIZER, command_binary

OFFICE = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
PROJECT = "Microsoft.Office.Project.Server.Administration, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
PROFILES = "Microsoft.Office.Server.UserProfiles."
CLASSES = ["UserProfileChangeJob", "UserProfileChangeCleanupJob", "UserProfileImportJob", "UserProfileGradualUpgradeChangeJob", "DLImportJob", "AudienceCompilationJob"]
# The handler's record: one line a run, with its time and all that it was told.
RECORD = '''#!/usr/bin/python3
import datetime, json, os, sys, time
told = {k.removeprefix("PROCESSION_JOB_"): v for k, v in os.environ.items() if k.startswith("PROCESSION_JOB_")}
told.update(at=datetime.datetime.utcnow().isoformat(), args=sys.argv[1:], pid=os.getpid())
fd = os.open(%(record)r, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(fd, (json.dumps(told) + "\\n").encode())
os.close(fd)
%(more)s
'''


def utc(seconds=0):
    """The text of a due time so many seconds from now."""
    return (datetime.datetime.utcnow() + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def plain_command():
    """A command without sanitizer, for libfaketime: beside the plain server."""
    named = os.environ.get("PROCESSION_PLAIN")
    server = clock.plain_binary()
    if named:
        return pathlib.Path(named).resolve()
    for path in (server.parent / "procession", server.parent.parent / "cli" / "procession"):
        if path.exists():
            return path.resolve()
    return command_binary()


class Scheduler:
    def __init__(self, folder, address, password_file, handlers=None, config="", record=None, interval=1, env=None, binary=None, state=True, user=None, name="scheduler"):
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir()
        self.record = pathlib.Path(record or self.folder / "record")
        self.log_path = self.folder / "log"
        self.ini = self.folder / "scheduler.ini"
        self.env = dict(os.environ, **(env or {}))
        lines = ["[scheduler]"] + ([f"interval = {interval}"] if interval else []) + ([f"state = {self.folder}/state"] if state else []) + [config]
        for class_, more in (dict.fromkeys(CLASSES, "") if handlers is None else handlers).items():
            command = self.folder / f"{class_}.py"
            command.write_text(RECORD % dict(record=str(self.record), more=more))
            command.chmod(0o755)
            lines += [f"[handler:{class_}]", f"command = {command} one 'two words'"]
        self.ini.write_text("\n".join(lines) + "\n")
        self.command = [str(binary or command_binary()), "scheduler", "--config", str(self.ini), "--server", address, "--password-file", str(password_file),
                        "--encrypt", "off", "--timeout", "30"] + (["--user", user] if user else [])
        self.process = None

    def start(self, *args):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command + list(args), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=self.env)
        return self

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.log())
        self.end()
        assert not SANITIZER.search(self.log()), self.log()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(20)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
                    raise AssertionError("two SIGTERM did not end the scheduler\n" + self.log()) from None

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, timeout=30):
        return self.process.wait(timeout)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def wait_log(self, pattern, timeout=20):
        return wait_until(lambda: re.search(pattern, self.log()), timeout, lambda: f"no line matches {pattern!r}:\n{self.log()}")

    def runs(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []

    def wait_runs(self, n, timeout=20):
        wait_until(lambda: len(self.runs()) >= n, timeout, lambda: f"{len(self.runs())} runs, not {n}:\n{self.log()}")
        return self.runs()

    def history(self):
        path = self.folder / "state" / "history"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def wait_history(self, n, timeout=20):
        wait_until(lambda: len(self.history()) >= n, timeout, lambda: f"{len(self.history())} ended, not {n}:\n{self.log()}")
        return self.history()

    def journal(self):
        return (self.folder / "state" / "journal").read_text()


def wait_until(condition, timeout=20, explain=lambda: "it did not happen"):
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(explain())
        time.sleep(0.02)
