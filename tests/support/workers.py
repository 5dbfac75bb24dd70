"""Workers and jobs of documents for tests: the real command `procession`, against a real server."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
from xml.sax.saxutils import quoteattr

import pytds
import pytest

from support import documents
from support.server import SANITIZER, command_binary

LIMIT = 180         # seconds; only a broken worker takes so long, however busy the machine is
REPLACE = "<ConversionJobSettings><OutputSaveBehavior>AlwaysOverwrite</OutputSaveBehavior></ConversionJobSettings>"
KEEP = "<ConversionJobSettings><OutputSaveBehavior>NeverOverwrite</OutputSaveBehavior></ConversionJobSettings>"


def wait_for(what, condition, limit=LIMIT):
    """Until the condition gives something true, which is then given back."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited {limit} s for {what}"
        time.sleep(0.05)


def is_whole_pdf(path):
    data = path.read_bytes()
    return data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF")


def short_docx(text):
    return documents.docx(documents.paragraph(text))


class Service:
    """What differs between the two services; documents are d1.docx, "This is d1.docx", and so on."""

    def __init__(self, name, database, space, output, word, default):
        self.name, self.database, self.output_name, self.word, self.default = name, database, output, word, default
        self.space = f"http://schemas.microsoft.com/office/server/{space}/databaseJobAdd"

    def __str__(self):
        return self.name

    def need(self):
        if not shutil.which("soffice" if self.name == "convert" else "apertium-wblank-mode"):
            pytest.skip(f"{self.name}: LibreOffice or Apertium is not installed (tools/setup.sh test)")

    def is_whole(self, path):
        if self.name == "convert":
            return is_whole_pdf(path)
        with zipfile.ZipFile(path) as z:
            return z.testzip() is None and self.word in z.read("word/document.xml")

    def settings(self, behaviour):
        return self.default.format(f"<OutputSaveBehavior>{behaviour}</OutputSaveBehavior>")


CONVERT = Service("convert", "WordAutomation", "word/2009/08", lambda name: name.rsplit(".", 1)[0] + ".pdf", b"",
                  "<ConversionJobSettings>{}</ConversionJobSettings>")
TRANSLATE = Service("translate", "Translation", "translation/2010/11", lambda name: name.replace(".", ".es.", 1), b"Esto es",
                    "<settings><SourceLanguage>en</SourceLanguage><TargetLanguage>es</TargetLanguage>{}</settings>")
both_services = pytest.mark.parametrize("service", [CONVERT, TRANSLATE], ids=str)


class Queue:
    """The jobs of a server: of the conversion service, or of the other one."""

    def __init__(self, server, service=CONVERT):
        self.server, self.service = server, service

    def run(self, text, *args):
        s = self.server
        with pytds.connect(s.host, self.service.database, "sa", s.password, port=s.port, autocommit=True, login_timeout=10 * LIMIT) as db:      # pytds gives one try 8 % of it
            with db.cursor() as cursor:
                cursor.execute(text, args or None)
                return cursor.fetchall() if cursor.description else []

    def add(self, job, names, root, out=None, attempts=3, settings=None, out_root=None):
        """names: of documents below root; out makes the name of each output."""
        out, settings = out or self.service.output_name, settings or self.service.settings("AlwaysOverwrite")
        items = "".join(f"<item id=\"{n}\" in={quoteattr(name)} out={quoteattr(out(name))}/>" for n, name in enumerate(names, 1))
        more = f", @UserToken = 0x00, @ItemCount = {len(names)}" if self.service is TRANSLATE else ""
        self.run(f"EXEC proc_AddJob @JobId = %s, @Settings = %s{more}", job, settings)
        self.run("EXEC proc_AddGroup @JobId = %s, @GroupId = 1, @InputRoot = %s, @OutputRoot = %s, @MaxAttemptsCount = %s, @JobXml = %s",
                 job, str(root), str(out_root or root), attempts, f'<group xmlns="{self.service.space}">{items}</group>')
        self.run("EXEC proc_SubmitJob @JobId = %s", job)

    def counts(self, job):
        names = ("total", "not_submitted", "not_started", "in_progress", "succeeded", "failed", "canceled")
        return dict(zip(names, self.run("EXEC proc_GetJobStatus @JobId = %s", job)[0]))

    def is_over(self, job):
        k = self.counts(job)
        return k if k["succeeded"] + k["failed"] + k["canceled"] == k["total"] else None

    def wait(self, job, limit=LIMIT):
        return wait_for(f"job {job}", lambda: self.is_over(job), limit)

    def cancel(self, job):
        """Nobody begins the rest of it."""
        self.run("EXEC proc_CancelJob @JobId = %s", job)

    def errors(self, job):
        return {item: error for item, error in self.run("SELECT ItemId, ErrorCode FROM dbo.Items WHERE JobId = %s", job)}


class Worker:
    """`procession worker convert`, or translate, with its folder of state; start, kill and stop as often as a test likes."""

    def __init__(self, server, root, slots=2, service=CONVERT, engines=(), prefix=(), **settings):
        self.server, self.slots, self.service, self.prefix = server, slots, service, prefix
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="procession-worker-"))
        self.state = self.dir / "state"
        self.log_path = self.dir / "log"
        password = self.dir / "password"
        password.write_text(server.password + "\n")
        password.chmod(0o600)
        lines = {"roots": str(root), "log_level": "debug", **settings}
        self.config = self.dir / "worker.ini"
        self.config.write_text("[worker]\n" + "".join(f"{k} = {v}\n" for k, v in lines.items() if v is not None) +
                               "".join(["[engines]\n", *(f"{line}\n" for line in engines)] if engines else []))
        self.process = None

    def command(self, *extra):
        return [*self.prefix, str(command_binary()), "worker", self.service.name, "--server", self.server.address, "--password-file", str(self.dir / "password"),
                "--config", str(self.config), "--state", str(self.state), "--jobs", str(self.slots), *extra]

    def start(self, *extra):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(*extra), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LIMIT)
        assert status == 0, self.log()[-4000:]

    def descendants(self):
        """Processes below the worker: (pid, name), the oldest first."""
        parents = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = re.match(r"\d+ \((.*)\) \S (\d+)", entry.read_text()).groups()
            except (OSError, AttributeError):
                continue
            parents.setdefault(int(rest), []).append((int(entry.parent.name), name))
        found, todo = [], [self.process.pid]
        while todo:
            children = sorted(parents.get(todo.pop(0), []))
            found += children
            todo += [pid for pid, _ in children]
        return found

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def events(self, name):
        return [line for line in self.log().splitlines() if f" event={name} " in line]

    def history(self):
        path = self.state / "history"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        report = SANITIZER.search(self.log())
        text = self.log()
        shutil.rmtree(self.dir, ignore_errors=True)
        assert not report, text[max(0, report.start() - 500):report.start() + 4000]


def connection(server):
    """Options that name the server, and the file with its password."""
    return ["--server", server.address, "--password-file", str(server.dir / "password")]


def procession(*args, home=None, server=None, cwd=None, limit=LIMIT, check=None, pass_fds=()):
    """The command, run to its end."""
    env = dict(os.environ)
    env.pop("PROCESSION_SERVER", None)
    if home is not None:
        env.update(HOME=str(home), XDG_DATA_HOME="", XDG_STATE_HOME="")
    words = [str(command_binary()), *map(str, args)]
    if server is not None:
        words += connection(server)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, cwd=cwd, timeout=limit, pass_fds=pass_fds)
    assert not SANITIZER.search(done.stderr), done.stderr
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done
