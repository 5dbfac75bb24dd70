"""`procession translate` and `procession worker translate` against a real server, with the real Apertium."""
import datetime
import json
import os
import shutil
import subprocess
import uuid
from xml.sax.saxutils import quoteattr

import pytds
import pytest

import translatedocuments as made
from support.server import SANITIZER, command_binary
from translateengine import LIMIT, needs_apertium, settings

pytestmark = needs_apertium
SPACE = "http://schemas.microsoft.com/office/server/translation/2010/11/databaseJobAdd"
PARTITIONS = (uuid.UUID(int=1), uuid.UUID(int=2))


def procession(*words, home, status=0):
    """The command, run to its end."""
    env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""}
    done = subprocess.run([str(command_binary()), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=LIMIT, check=False)
    assert not SANITIZER.search(done.stderr), done.stderr
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "documents"
    path.mkdir()
    made.docx(path / "letter.docx")
    made.txt(path / "note.txt")
    made.html(path / "page.html")
    return path


def test_a_folder_without_any_server(folder, home):
    done = procession("translate", folder, "--from", "en", "--to", "es", home=home)
    assert "3 of 3 documents translated" in done.stdout
    assert sorted(p.name for p in folder.iterdir()) == ["letter.docx", "letter.es.docx", "note.es.txt", "note.txt", "page.es.html", "page.html"]
    assert (folder / "note.es.txt").read_text(encoding="utf-8") == "La casa es en el cerro.\n\nMi perro es grande.\n"
    assert b"grande" in made.parts_of(folder / "letter.es.docx")["word/document.xml"]


def test_what_it_made_is_not_translated_again(folder, home):
    before = {"letter.docx", "note.txt", "page.html", "letter.es.docx", "note.es.txt", "page.es.html"}
    for more in (), (), ("--skip-existing",):
        procession("translate", folder, "--from", "en", "--to", "es", *more, home=home)
        assert {p.name for p in folder.iterdir()} == before
    # Whoever names it means it; and without its original it is a document like others.
    (folder / "note.txt").unlink()
    procession("translate", folder / "letter.es.docx", "--from", "es", "--to", "ca", home=home)
    procession("translate", folder, "--from", "es", "--to", "ca", home=home, status=1)      # page.html has no Spanish
    assert {"letter.es.ca.docx", "note.es.ca.txt"} <= {p.name for p in folder.iterdir()}


def test_failures_are_shown_and_counted(folder, home):
    (folder / "bad.docx").write_bytes(b"no document")
    done = procession("translate", folder / "bad.docx", folder / "note.txt", "--from", "en", "--to", "es", "--json", home=home, status=1)
    said = json.loads(done.stdout)
    assert (said["succeeded"], said["failed"]) == (1, 1) and "InputFileCorrupt" in done.stdout
    assert "en to de" in procession("translate", folder / "note.txt", "--from", "en", "--to", "de", home=home, status=1).stdout


def test_another_engine_by_an_option(folder, home):
    procession("translate", folder / "note.txt", "--from", "en", "--to", "de", "--engine", "en-de=lines /bin/sed s/house/Haus/", home=home)
    assert "The Haus" in (folder / "note.de.txt").read_text()
    assert "apertium" in procession("translate", folder / "note.txt", "--from", "en", "--to", "de", "--engine", "en-de=apertum", home=home, status=2).stderr


def test_languages_are_asked_for(folder, home):
    assert "--from en --to es" in procession("translate", folder / "note.txt", "--to", "es", home=home, status=2).stderr
    assert "no language" in procession("translate", folder / "note.txt", "--from", "en", "--to", "spanish", home=home, status=2).stderr


def test_the_quota_of_a_day(folder, home):
    """[MS-TSSPROC] 3.1.5.2: a job over the limit is refused as a whole, and its items are not counted."""
    procession("translate", folder / "note.txt", "--from", "en", "--to", "es", "--max-items-per-day", 2, home=home)
    assert "24 hours" in procession("translate", folder / "note.txt", folder / "page.html", "--from", "en", "--to", "es", "--max-items-per-day", 2, home=home, status=1).stderr
    assert not (folder / "page.es.html").exists()
    procession("translate", folder / "page.html", "--from", "en", "--to", "es", "--max-items-per-day", 2, home=home)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs libreoffice-writer (tools/setup.sh test)")
def test_rtf_and_doc_by_way_of_the_converter(folder, home):
    (folder / "letter.rtf").write_bytes(rb"{\rtf1\ansi The {\b big} house is on the hill.\par}")
    procession("convert", folder / "letter.docx", "--to", "doc", home=home)
    assert (folder / "letter.doc").read_bytes().startswith(b"\xd0\xcf\x11\xe0")
    procession("translate", folder / "letter.rtf", folder / "letter.doc", "--from", "en", "--to", "es", home=home)
    assert (folder / "letter.es.doc").read_bytes().startswith(b"\xd0\xcf\x11\xe0")
    rtf = (folder / "letter.es.rtf").read_bytes()
    assert rtf.startswith(b"{\\rtf") and b"casa" in rtf and b"cerro" in rtf


# --- the worker -----------------------------------------------------------------------------------------------------------------

class Queue:
    def __init__(self, server, folder):
        self.server, self.folder = server, folder

    def run(self, text, *args):
        s = self.server
        with pytds.connect(s.host, "Translation", "sa", s.password, port=s.port, autocommit=True, login_timeout=120) as db:
            with db.cursor() as cursor:
                cursor.execute(text, args or None)
                return cursor.fetchall() if cursor.description else []

    def add(self, job, names, partition=None, job_settings=None, attempts=2):
        items = "".join(f"<item id=\"{n}\" in={quoteattr(name)} out={quoteattr(name.replace('.', '.es.'))}/>" for n, name in enumerate(names, 1))
        self.run("EXEC proc_AddJob @JobId = %s, @UserToken = 0x00, @PartitionId = %s, @Settings = %s, @ItemCount = %s", job, partition and str(partition),
                 job_settings or settings(), len(names))
        self.run("EXEC proc_AddGroup @JobId = %s, @GroupId = 1, @InputRoot = %s, @OutputRoot = %s, @MaxAttemptsCount = %s, @JobXml = %s",
                 job, str(self.folder), str(self.folder), attempts, f'<group xmlns="{SPACE}">{items}</group>')
        self.run("EXEC proc_SubmitJob @JobId = %s", job)

    def items(self, job):
        return self.run("SELECT ItemId, ErrorCode, StopTime, AttemptsRemaining FROM dbo.Items WHERE JobId = %s ORDER BY ItemId", job)

    def work(self, home, *more, engines=""):
        config = home / "worker.ini"
        config.write_text(f"[worker]\nroots = {self.folder}\n[engines]\n{engines}")
        password = home / "password"
        password.write_text(self.server.password + "\n")
        password.chmod(0o600)
        return procession("worker", "translate", "--once", "--config", config, "--server", self.server.address, "--password-file", password, "--state", home / "state",
                          *more, home=home)


@pytest.fixture
def queue(new_server, folder):
    return Queue(new_server(), folder)


def test_a_worker_translates_what_waits(queue, folder, home):
    """Errors have their numbers; what another attempt cannot help is not tried again; items are counted as they were added."""
    (folder / "bad.docx").write_bytes(b"no document")
    queue.add(1, ["letter.docx", "note.txt", "bad.docx", "missing.txt"])
    queue.add(2, ["page.html"], job_settings=settings("en", "de"))
    queue.add(3, ["page.html"], job_settings="<settings/>")
    queue.work(home)
    assert [error for _, error, *_ in queue.items(1)] == [None, None, 17, 2]
    assert [error for _, error, *_ in queue.items(2) + queue.items(3)] == [109, 104]
    assert (folder / "note.es.txt").exists() and not (folder / "bad.es.docx").exists()
    now = datetime.datetime.now(datetime.timezone.utc)
    count = queue.run("DECLARE @n int; EXEC @n = proc_GetItemCount @PartitionId = '00000000-0000-0000-0000-000000000000', @Hour = %s, @Date = %s; SELECT @n",
                      now.hour, now.date().isoformat())
    assert count == [(6,)]


def test_jobs_of_one_do_not_wait_for_jobs_of_many(queue, folder, home):
    """[MS-TSSPROC] 3.1.5.6: what is handed out is spread over the partitions."""
    many = [f"many{i}.txt" for i in range(10)]
    for name in many + ["one.txt"]:
        made.txt(folder / name)
    queue.add(1, many, partition=PARTITIONS[0])
    queue.add(2, ["one.txt"], partition=PARTITIONS[1])
    queue.work(home, "--jobs", 2)
    assert all(error is None for _, error, *_ in queue.items(1) + queue.items(2))
    stops = sorted(stop for _, _, stop, _ in queue.items(1))
    assert queue.items(2)[0][2] <= stops[4], (queue.items(2), stops)


def test_the_worker_has_engines_of_its_file(queue, folder, home):
    made.txt(folder / "other.txt")  # with an output of its own: a file that exists would end the second attempt
    queue.add(1, ["note.txt"], job_settings=settings("en", "de"))
    queue.add(2, ["other.txt"], job_settings="<s SourceLanguage='en' TargetLanguage='fr'/>", attempts=2)
    queue.work(home, engines="en-de = lines /bin/sed s/house/Haus/\nen-fr = lines /bin/false\n")
    assert [error for _, error, *_ in queue.items(1)] == [None] and "Haus" in (folder / "note.es.txt").read_text()
    # An engine that died may live again: both attempts were used.
    assert [(error, left) for _, error, _, left in queue.items(2)] == [(24, 0)]
