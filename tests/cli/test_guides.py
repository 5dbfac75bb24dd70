"""The programs of docs/guides, run as they stand: what people copy must work."""
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

from support.calls import open_path

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs/guides"
JTDS = "/usr/share/java/jtds.jar"
NODE_MODULES = ROOT / "tests/drivers/node/node_modules"
WORD = "http://schemas.microsoft.com/office/server/word/2009/08/"


def need(*things):
    for thing in things:
        if not (pathlib.Path(thing).exists() or shutil.which(thing)):
            pytest.skip(f"{thing} is not installed")


@pytest.fixture
def run(own_server, tmp_path):
    place = dict(os.environ, PROCESSION_HOST=own_server.host, PROCESSION_PORT=str(own_server.port), PROCESSION_USER="sa",
                 PROCESSION_PASSWORD=own_server.password, NODE_PATH=str(NODE_MODULES))

    def program(*command, status=0):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=180, env=place, cwd=tmp_path)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return program


def test_producer_and_workers(run, own_server):
    """The producer waits until two workers have done its documents, each of them once; one fails for good after three attempts."""
    need("java", JTDS)
    names = [f"{n}.docx" for n in range(1, 31)] + ["broken.docx"]
    shown, done = {}, threading.Event()

    def produce():
        shown["producer"] = run("/usr/bin/python3", GUIDES / "producer.py", *names, status=1)
        done.set()

    def work(who):
        while not done.is_set():
            shown[who] = shown.get(who, "") + run("java", "-cp", JTDS, GUIDES / "Worker.java")

    threads = [threading.Thread(target=produce)] + [threading.Thread(target=work, args=(n,)) for n in ("one", "two")]
    for t in threads:
        t.start()
    for t in threads:
        t.join(170)
    assert "succeeded 30, failed 1" in shown["producer"]
    converted = re.findall(r"^(\S+) -> ", shown["one"] + shown["two"], re.M)
    assert sorted(converted) == sorted(n for n in names if n != "broken.docx")


def test_session_store(run):
    need("node", NODE_MODULES / "mssql")
    assert "{ visits: 8 }" in run("node", GUIDES / "session_store.js")


def test_scheduled_job(run, tmp_path):
    need("mcs", "mono")
    run("mcs", f"-out:{tmp_path}/job.exe", "-r:System.Data.dll", GUIDES / "ScheduledJob.cs")
    assert run("mono", tmp_path / "job.exe").splitlines() == ["stored: from the guide, daily at 01:00:00", "due: True", "removed"]


def test_the_documents_of_the_xml_page_are_taken(own_server):
    group, batch = re.findall(r"^```xml\n(.*?)^```$", (GUIDES / "xml.md").read_text(), re.M | re.S)
    with open_path("wire", own_server, "WordAutomation") as db:
        assert db.call("proc_AddJob", JobId=7, Settings="<s/>").status == 0
        assert db.call("proc_AddGroup", JobId=7, GroupId=1, InputRoot="in", MaxAttemptsCount=1, JobXml=group).status == 0
        result = db.call("proc_UpdateConversionBatch", BatchXml=batch)
        assert result.error is None and len(result.rows) == 1
