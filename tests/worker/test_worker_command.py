"""`procession convert` and `procession jobs`, as somebody uses them who has nothing else."""
import fcntl
import json
import os
import re
import signal
import subprocess
import tempfile

import pytest

from support.logins import PASSWORD, new_login
from support.server import command_binary
from support.workers import LIMIT, Queue, connection, is_whole_pdf, procession, wait_for


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


def own_pid(home):
    return int((home / ".local/share/procession/pid").read_text())


def test_a_folder_without_any_server(folder, home, new_worker):
    """It starts a server for itself and stops it; failures are a table and the exit status; jobs shows them afterwards."""
    folder.fill(3)
    (folder.path / "below").mkdir()
    (folder.path / "below/deep.docx").write_bytes((folder.path / "d1.docx").read_bytes())
    (folder.path / "bad.docx").write_bytes(b"not a document")
    for name in ("notes.xyz", "page.mht", "page.mhtml", "works.wps", "star.sxw"):      # the converter would refuse them by their bytes
        (folder.path / name).write_bytes(b"left alone")
    out = folder.path.parent / "pdf"
    done = procession("convert", folder.path, "--recursive", "--to", "pdf", "--out", out, home=home, check=1)
    assert "4 of 5 documents converted" in done.stdout and "1 failed" in done.stdout
    assert re.search(r"^bad\.docx +InputFileCorrupt +", done.stdout, re.M)
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*.pdf")) == ["below/deep.pdf", "d1.pdf", "d2.pdf", "d3.pdf"]
    assert all(is_whole_pdf(p) for p in out.rglob("*.pdf"))
    assert not os.path.exists(f"/proc/{own_pid(home)}"), "its server still runs"
    jobs = json.loads(procession("jobs", "list", "--json", home=home, check=0).stdout)
    assert [(j["Service"], j["State"], j["Documents"], j["Done"], j["Failed"]) for j in jobs] == [("convert", "failed", 5, 4, 1)]
    job = jobs[0]["Job"]
    items = json.loads(procession("jobs", "items", job, "--failed", "--json", home=home, check=0).stdout)
    assert [(i["Input"], i["Error"], i["Name"]) for i in items] == [("bad.docx", 17, "InputFileCorrupt")]
    assert "name" in items[0]["Why"] or items[0]["Why"]
    shown = json.loads(procession("jobs", "show", job, "--json", home=home, check=0).stdout)
    assert shown["Done"] == 4 and shown["groups"][0]["InputRoot"] == str(folder.path)
    procession("jobs", "watch", job, home=home, check=1)


def test_json_skip_existing_and_names_that_meet(folder, home, new_worker):
    folder.fill(1)
    (folder.path / "d1.txt").write_text("plain text\n")
    told = json.loads(procession("convert", folder.path, "--json", home=home, check=0).stdout)
    assert (told["documents"], told["succeeded"], told["failed"], told["failures"]) == (2, 2, 0, [])
    assert sorted(p.name for p in folder.path.glob("*.pdf")) == ["d1.docx.pdf", "d1.txt.pdf"]
    (folder.path / "d1.txt").unlink()
    procession("convert", "d1.docx", home=home, cwd=folder.path, check=0)
    done = procession("convert", "--skip-existing", "d1.docx", home=home, cwd=folder.path, check=0)
    assert "exists already" in done.stderr
    done = procession("convert", "--to", "docx", "d1.docx", home=home, cwd=folder.path, check=2)
    assert "replace itself" in done.stderr
    done = procession("convert", "--to", "xls", "d1.docx", home=home, cwd=folder.path, check=2)
    assert "xls" in done.stderr
    done = procession("convert", "nowhere.docx", home=home, cwd=folder.path, check=2)
    assert "nowhere.docx" in done.stderr


def test_the_server_of_the_command_inherits_no_descriptor(home):
    """It may outlive the command that started it, and then all that this one was given: another's lock, the end of a pipe."""
    folder = home / ".local/share/procession"
    folder.mkdir(parents=True, mode=0o700)
    with open(folder / "commands", "w", encoding="utf-8") as commands, tempfile.TemporaryFile() as given:
        fcntl.flock(commands, fcntl.LOCK_SH)            # as another command does: the server stays
        os.set_inheritable(given.fileno(), True)
        procession("jobs", "list", home=home, check=0, pass_fds=(given.fileno(),))
        pid = own_pid(home)
        try:
            same = [n for n in os.listdir(f"/proc/{pid}/fd") if os.path.samestat(os.stat(f"/proc/{pid}/fd/{n}"), os.fstat(given.fileno()))]
            assert same == []
        finally:
            os.kill(pid, signal.SIGTERM)
    wait_for("its end", lambda: not os.path.exists(f"/proc/{pid}"))


def begin(folder, home):
    env = dict(os.environ, HOME=str(home), XDG_DATA_HOME="", XDG_STATE_HOME="")
    env.pop("PROCESSION_SERVER", None)
    process = subprocess.Popen([str(command_binary()), "convert", str(folder.path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    wait_for("the first output", lambda: any(p.exists() for p in folder.outputs()) or process.poll() is not None)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_resume_goes_on_after_an_interruption(folder, home, new_worker, how):
    """By Ctrl-C, or killed with its server left alone: nothing is done twice that was reported."""
    folder.fill(12)
    process = begin(folder, home)
    process.send_signal(how)
    said = process.communicate(timeout=LIMIT)[0]
    if how == signal.SIGINT:
        assert "--resume" in said
        assert process.returncode == 1
    times = {p: p.stat().st_mtime_ns for p in folder.outputs() if p.exists()}
    done = procession("convert", "--resume", home=home, check=0)
    assert "12 of 12 documents converted" in done.stdout
    assert all(is_whole_pdf(p) for p in folder.outputs()) and not folder.parts()
    # At most what was between its output and its report when the process died.
    assert sum(p.stat().st_mtime_ns != t for p, t in times.items()) <= 4
    assert not os.path.exists(f"/proc/{own_pid(home)}")


def test_queue_leaves_it_to_workers_and_watch_tells_the_end(own_server, folder, home, new_worker):
    folder.fill(3)
    told = json.loads(procession("convert", folder.path, "--queue", "--json", "--name", "letters", server=own_server, home=home, check=0).stdout)
    assert told["documents"] == 3
    queue, job = Queue(own_server), told["job"]
    assert queue.counts(job)["not_started"] == 3
    watching = subprocess.Popen([str(command_binary()), "jobs", "watch", str(job), *connection(own_server)], stderr=subprocess.PIPE, text=True)
    worker = new_worker().start()
    assert "3 of 3" in watching.communicate(timeout=LIMIT)[1]
    assert watching.returncode == 0
    worker.stop()
    listed = procession("jobs", "list", "--service", "convert", server=own_server, check=0).stdout
    assert re.search(rf"{job} +letters +done +3 +3 +0", listed)


def clerk(server, folder):
    """Options of somebody who may use the queue, and no more."""
    secret = folder / "secret"
    secret.write_text(PASSWORD + "\n")
    return "--server", server.address, "--user", new_login(server, "WordAutomation", "execute,select"), "--password-file", secret


def test_a_worker_that_stands_does_it(own_server, folder, home, new_worker, tmp_path):
    """The command leaves its job to it and looks on; who adds jobs needs no further right to see it."""
    folder.fill(3)
    (folder.path / "bad.docx").write_bytes(b"not a document")
    who, worker = clerk(own_server, tmp_path), new_worker().start()
    wait_for("the connection", lambda: worker.events("connected"))
    done = procession("convert", folder.path, *who, home=home, check=1)
    assert "3 of 4 documents converted" in done.stdout and re.search(r"^bad\.docx +InputFileCorrupt +", done.stdout, re.M)
    assert "A worker does it" in done.stderr and "4 of 4, 1 failed" in done.stderr
    assert len(worker.events("ended")) == 4 and all(is_whole_pdf(path) for path in folder.outputs())
    # What it cannot reach it would claim all the same: such a job is not even added.
    jobs = Queue(own_server).run("SELECT JobId FROM dbo.Jobs")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "d1.docx").write_bytes((folder.path / "d1.docx").read_bytes())
    for paths in ([elsewhere], [folder.path, "--out", elsewhere]):
        done = procession("convert", *paths, *who, home=home, check=1)
        assert f"may not use '{elsewhere}', only: {folder.path}" in done.stderr and "roots" in done.stderr
    assert Queue(own_server).run("SELECT JobId FROM dbo.Jobs") == jobs
    worker.stop()
    done = procession("convert", elsewhere, *who, home=home, check=0)
    assert "1 of 1 documents converted" in done.stdout and "A worker does it" not in done.stderr


def test_a_worker_that_goes_leaves_the_rest_to_the_command(own_server, folder, home, new_worker):
    folder.fill(30)
    worker = new_worker(slots=1, grace=0).start()
    wait_for("the connection", lambda: worker.events("connected"))
    env = dict(os.environ, HOME=str(home), XDG_DATA_HOME="", XDG_STATE_HOME="")
    process = subprocess.Popen([str(command_binary()), "convert", str(folder.path), *connection(own_server)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    wait_for("a document", lambda: worker.events("begun"))
    worker.stop()
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0 and "30 of 30 documents converted" in out and "the rest is done here" in err, out + err
    assert all(is_whole_pdf(path) for path in folder.outputs()) and not folder.parts()


def test_cancel_and_jobs_that_are_not_there(own_server, folder, home):
    folder.fill(2)
    told = json.loads(procession("convert", folder.path, "--queue", "--json", server=own_server, home=home, check=0).stdout)
    procession("jobs", "cancel", told["job"], server=own_server, check=0)
    assert Queue(own_server).counts(told["job"])["canceled"] == 2
    procession("jobs", "watch", told["job"], server=own_server, check=1)
    assert "no job 4711" in procession("jobs", "show", 4711, server=own_server, check=1).stderr
    assert "no number" in procession("jobs", "items", "x", server=own_server, check=2).stderr
    assert "convert or translate" in procession("jobs", "list", "--service", "x", server=own_server, check=2).stderr
