"""A worker from its start to its end: it finds work, reports, gives back, and waits for its server."""
import contextlib
import http.server
import itertools
import json
import os
import re
import signal
import socket
import threading
import time

import pytest

from support import documents
from support.logins import PASSWORD, new_login
from support.withoutbell import without_bell
from support.workers import KEEP, LIMIT, Queue, both_services, is_whole_pdf, procession, wait_for

JOBS = itertools.count(1)


def test_short_documents_end_to_end(queue, folder, new_worker):
    """Submitted while the worker waits, converted and reported; those that fail say why, and whether they were tried again."""
    folder.fill(4)
    (folder.path / "broken.docx").write_bytes(b"no document at all")
    job, worker = next(JOBS), new_worker().start()
    wait_for("the connection", lambda: worker.events("connected"))
    queue.add(job, folder.names + ["broken.docx", "missing.docx"], folder.path)
    counts = queue.wait(job)
    assert (counts["succeeded"], counts["failed"]) == (4, 2)
    assert queue.errors(job) == {1: None, 2: None, 3: None, 4: None, 5: 17, 6: 2}
    assert all(is_whole_pdf(path) for path in folder.outputs())
    assert not folder.parts()
    said = {line["input"]: line for line in worker.history()}
    assert said["broken.docx"]["name"] == "InputFileCorrupt" and said["broken.docx"]["final"]
    assert said["missing.docx"]["name"] == "InputFileNotFound" and "missing.docx" in said["missing.docx"]["text"]
    assert len(worker.history()) == 2       # neither is tried again
    worker.stop()


def test_new_work_is_told_by_the_server(queue, folder, new_worker):
    """Between two looks, which are an hour apart: whatever is submitted, also while another document is converted."""
    folder.fill(3)
    worker = new_worker(interval=3600000).start()
    wait_for("the connection", lambda: worker.events("connected"))
    jobs = [next(JOBS) for _ in folder.names]
    for job, name in zip(jobs, folder.names):
        queue.add(job, [name], folder.path)
        assert queue.wait(job)["succeeded"] == 1
    begun = time.monotonic()
    worker.stop()
    assert time.monotonic() - begun < 60        # nor does its end wait for the server


def test_a_server_that_tells_nothing_is_asked_once_an_interval(queue, own_server, folder, new_worker):
    """The worker finds out once, and then looks by itself; the connection is not lost for it."""
    folder.fill(2)
    with without_bell(own_server) as other:
        worker = new_worker(server=other, interval=200).start("--encrypt", "off")
        wait_for("the worker to find out", lambda: other.asked)
        for name in folder.names:
            job = next(JOBS)
            queue.add(job, [name], folder.path)
            assert queue.wait(job)["succeeded"] == 1
        job = next(JOBS)
        queue.add(job, ["missing.docx", "neither.docx"], folder.path)
        assert queue.wait(job)["failed"] == 2
        worker.stop()
        assert sorted(other.asked) == ["procession_item_failed", "procession_wait_for_work", "procession_worker_here"]
        assert len(worker.events("connected")) == 1 and not worker.events("server") and len(worker.events("reason-not-told")) == 1
        assert len(worker.history()) == 2


def calls(queue):
    """How often which procedure of the database was called, since the server began."""
    rows = queue.run("EXEC procession_stats")
    return {row[2]: row[4] for row in rows if row[0] == "procession_calls_total" and row[1] == "WordAutomation" and row[2]}


def test_a_worker_asks_little_while_idle_and_nothing_while_busy(queue, folder, new_worker):
    """At most once an interval, with one cheap call; and with no place free it does not ask."""
    (folder.path / "long.docx").write_bytes(documents.endless())
    worker = new_worker(slots=1, interval=200, time_limit=4).start()
    wait_for("the connection", lambda: worker.events("connected"))
    begun, before = time.monotonic(), calls(queue)
    wait_for("ten questions", lambda: asked(queue, before) >= 10)
    assert asked(queue, before) <= (time.monotonic() - begun) / 0.2 + 2
    assert {name for name, n in calls(queue).items() if n > before.get(name, 0)} <= {"proc_GetConversionBatch", "procession_worker_here"}
    job = next(JOBS)
    queue.add(job, ["long.docx"], folder.path, attempts=1)
    wait_for("the document", lambda: worker.events("begun"))
    before = calls(queue)
    assert queue.wait(job)["failed"] == 1 and queue.errors(job) == {1: 11}
    assert worker.history()[0]["name"] == "Timeout"
    assert asked(queue, before) < 10, "some three seconds would be fifteen questions"
    worker.stop()


def asked(queue, before):
    return calls(queue).get("proc_GetConversionBatch", 0) - before.get("proc_GetConversionBatch", 0)


def test_a_server_that_is_away_is_tried_ever_more_seldom(new_server, folder, new_worker):
    server = new_server()
    worker = new_worker(server=server).start()
    wait_for("the connection", lambda: worker.events("connected"))
    server.kill()
    with socket.create_server((server.host, server.port)) as nobody:        # counts who comes, and answers nothing
        came = []
        for _ in range(4):
            nobody.settimeout(LIMIT)
            nobody.accept()[0].close()
            came.append(time.monotonic())
    waited = [later - earlier for earlier, later in zip(came, came[1:])]
    assert waited[-1] > 1.5 * waited[0] and waited[-1] >= 0.9, waited
    worker.kill()


def test_who_is_too_late_reports_nothing(queue, folder, new_worker):
    """What it had is another's by then: neither the output nor the report may be its own."""
    held, short = threading.Event(), documents.docx(documents.paragraph("from elsewhere"))
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            if len(seen) == 1:
                held.wait(LIMIT)
            self.send_response(200)
            self.send_header("Content-Length", str(len(short)))
            self.end_headers()
            self.wfile.write(short)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        settings = {"time_limit": 4, "stale_after": 5, "hosts": f"127.0.0.1:{site.server_port}"}
        late, other = new_worker(**settings), new_worker(**settings)
        job = next(JOBS)
        queue.add(job, ["some.docx"], f"http://127.0.0.1:{site.server_port}", out_root=folder.path, attempts=5)
        late.start()
        wait_for("the first to fetch it", lambda: seen)
        other.start()
        assert queue.wait(job)["succeeded"] == 1
        made = (folder.path / "some.pdf").stat().st_mtime_ns
        held.set()
        wait_for("the first to notice", lambda: late.events("too-late"))
        assert "how=\"too late\"" in late.events("ended")[0] and late.history() == []
        assert queue.counts(job)["succeeded"] == 1 and queue.errors(job) == {1: None}
        assert (folder.path / "some.pdf").stat().st_mtime_ns == made and not folder.parts()
        late.stop()
        other.stop()
        site.shutdown()


def test_why_it_failed_is_told_to_the_server(queue, own_server, folder, new_worker, tmp_path):
    """Those who look are elsewhere than the worker and its history: the command of somebody else, and the dashboard (tests/web)."""
    (folder.path / "broken.docx").write_bytes(b"no document at all")
    job, worker = next(JOBS), new_worker()
    queue.add(job, ["broken.docx"], folder.path)
    assert worker.start("--once").process.wait(180) == 0
    why = worker.history()[0]["text"]
    assert queue.run("SELECT ItemId, ErrorCode, Reason, Worker FROM dbo.Failures WHERE JobId = %s", job) == [(1, 17, why, socket.gethostname())]
    items = json.loads(procession("jobs", "items", job, "--json", server=own_server, home=tmp_path, check=0).stdout)
    assert [item["Why"] for item in items] == [why]


def test_once_ends_when_nothing_waits(queue, folder, new_worker):
    folder.fill(2)
    job, worker = next(JOBS), new_worker()
    queue.add(job, folder.names, folder.path)
    assert worker.start("--once").process.wait(180) == 0
    assert queue.counts(job)["succeeded"] == 2


def test_once_says_at_once_what_is_wrong(own_server, folder, new_worker):
    """Nothing is tried again: a server that is not there, a login, a database, a right. Only what worked before is waited for."""
    secret = folder.path / "secret"
    secret.write_text(PASSWORD + "\n")
    clerk = ("--user", new_login(own_server, "WordAutomation", "select"), "--password-file", str(secret))
    for options, status, words in ((("--server", "127.0.0.1:1"), 3, "cannot connect"),
                                   (("--user", "nobody-at-all"), 1, "Login failed"),
                                   (("--database", "StateService"), 1, "'StateService' has no conversion jobs"),
                                   (clerk, 1, "permission was denied")):
        worker = new_worker()
        assert worker.start("--once", *options).process.wait(180) == status, worker.log()
        assert words in worker.log().splitlines()[-1], worker.log()
        assert len(worker.events("server")) < 6, worker.log()        # eight in a minute: one as a rule, more where the machine is busy


def test_sigterm_puts_back_what_runs(queue, folder, new_worker):
    """Nothing is lost: another worker does it."""
    folder.fill(6)
    job, worker = next(JOBS), new_worker(grace=0)
    queue.add(job, folder.names, folder.path, attempts=5)
    worker.start()
    wait_for("a document that runs", lambda: worker.events("begun"))
    worker.stop()
    counts = queue.counts(job)
    assert counts["in_progress"] == 0 and counts["failed"] == 0
    assert not folder.parts()
    assert new_worker().start("--once").process.wait(180) == 0
    assert queue.counts(job)["succeeded"] == 6


def test_an_existing_output_is_kept_unless_the_settings_say_so(queue, folder, new_worker):
    folder.fill(2)
    (folder.path / "d1.pdf").write_bytes(b"precious")
    job = next(JOBS)
    queue.add(job, folder.names, folder.path, settings=KEEP)
    assert new_worker().start("--once").process.wait(180) == 0
    assert queue.errors(job) == {1: 101, 2: None}
    assert (folder.path / "d1.pdf").read_bytes() == b"precious"
    job = next(JOBS)
    queue.add(job, folder.names[:1], folder.path)
    assert new_worker().start("--once").process.wait(180) == 0
    assert is_whole_pdf(folder.path / "d1.pdf")


def test_stale_items_are_taken_over_and_hopeless_ones_given_up(queue, folder, new_worker):
    """[MS-WORDSSP2] 3.2.5.11: what somebody began too long ago is begun again, by the engine of second attempts; or fails when its
    attempts are used up."""
    folder.fill(2)
    (folder.path / "broken.docx").write_bytes(documents.docx("<w:p><w:r>"))
    first, second, third = next(JOBS), next(JOBS), next(JOBS)
    queue.add(first, folder.names[:1], folder.path, attempts=9)     # in so little time soffice may need some of them
    queue.add(second, folder.names[1:], folder.path, attempts=1)
    queue.add(third, ["broken.docx"], folder.path, attempts=9)
    space = "http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate"
    started = "".join(f'<item job="{job}" group="1" id="1" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331"/>' for job in (first, second, third))
    queue.run("EXEC proc_UpdateConversionBatch @BatchXml = %s", f'<batch xmlns="{space}"><start>{started}</start><failed/></batch>')
    worker = new_worker(time_limit=4, stale_after=5).start()
    assert queue.wait(first)["succeeded"] == 1
    assert queue.wait(second)["failed"] == 1
    assert queue.errors(second) == {1: 9}
    wait_for("the reason", lambda: reasons(queue, second))
    assert reasons(queue, second) == [(9, "No worker finished it: all that began it died or fell silent.")]
    assert queue.wait(third)["failed"] == 1 and queue.errors(third) == {1: 17}
    said = {line["input"]: line for line in worker.history()}       # the last of each
    assert (said["d2.docx"]["error"], said["d2.docx"]["final"]) == (9, True)
    assert "at a second attempt either" in said["broken.docx"]["text"]
    worker.stop()


def reasons(queue, job):
    return queue.run("SELECT ErrorCode, Reason FROM dbo.Failures WHERE JobId = %s", job)


@pytest.mark.parametrize("how, error, why", [("killed", 9, "the worker died while it ran, and no attempt is left"),
                                             ("stopped", 107, "the worker was stopped, and no attempt is left")])
def test_who_loses_the_last_attempt_says_why(queue, folder, new_worker, how, error, why):
    """The item ends by it: in the history and on the server stands the reason, as of any other failure."""
    (folder.path / "long.docx").write_bytes(documents.endless())
    job, worker = next(JOBS), new_worker(grace=0)
    queue.add(job, ["long.docx"], folder.path, attempts=1)
    worker.start()
    wait_for("the document that runs", lambda: worker.events("begun"))
    if how == "killed":
        worker.kill()
        assert worker.start("--once").process.wait(LIMIT) == 0
    else:
        worker.stop()
    assert queue.errors(job) == {1: error}
    assert [(line["error"], line["final"], line["input"], line["text"]) for line in worker.history()] == [(error, True, "long.docx", why)]
    assert reasons(queue, job) == [(error, why)]


def test_a_server_that_goes_away_and_comes_back(new_server, folder, new_worker):
    """What ended meanwhile is reported afterwards, and the rest is done."""
    server = new_server()
    port = server.port
    queue = Queue(server)
    folder.fill(8)
    queue.add(1, folder.names, folder.path, attempts=9)
    worker = new_worker(server=server).start()
    wait_for("a document that runs", lambda: worker.events("begun"))
    server.kill()
    server.settings["listen"] = f"127.0.0.1:{port}"
    wait_for("the loss to be noticed", lambda: worker.events("server"))
    time.sleep(0.3)
    server.start()
    assert queue.wait(1)["succeeded"] == 8
    assert all(is_whole_pdf(path) for path in folder.outputs()) and not folder.parts()
    worker.stop()


@both_services
def test_two_workers_never_have_the_same_item(own_server, folder, new_worker, service):
    """Also when they are handed out job by job in turn, as translations are."""
    folder.fill(16)
    jobs, queue, workers = (next(JOBS), next(JOBS)), Queue(own_server, service), [new_worker(service=service) for _ in range(2)]
    for job, names in zip(jobs, (folder.names[:8], folder.names[8:])):
        queue.add(job, names, folder.path)
    for worker in workers:
        worker.start("--once")
    for worker in workers:
        assert worker.process.wait(180) == 0
    assert [queue.counts(job)["succeeded"] for job in jobs] == [8, 8]
    assert all(service.is_whole(path) for path in folder.outputs(service))
    begun = [tuple(re.findall(r" (?:job|item)=(\d+)", line)) for worker in workers for line in worker.events("begun")]
    assert sorted(begun) == sorted((str(job), str(n)) for job in jobs for n in range(1, 9))


def test_sighup_reads_the_settings_again(queue, folder, new_worker):
    """What runs is finished, nothing is given back; settings that cannot be change nothing."""
    folder.fill(6)
    worker = new_worker().start()
    wait_for("the connection", lambda: worker.events("connected"))
    good = worker.config.read_text()
    worker.config.write_text(good + "time_limit = never\n")
    worker.process.send_signal(signal.SIGHUP)
    wait_for("the refusal", lambda: worker.events("settings"))
    assert "time_limit" in worker.events("settings")[0] and not worker.events("renewing")
    first, second = next(JOBS), next(JOBS)
    queue.add(first, folder.names, folder.path, attempts=1)
    wait_for("a document that runs", lambda: worker.events("begun"))
    worker.config.write_text(good.replace(f"roots = {folder.path}", f"roots = {folder.path.parent}"))
    (folder.path.parent / "outside.docx").write_bytes((folder.path / "d1.docx").read_bytes())
    worker.process.send_signal(signal.SIGHUP)
    wait_for("the new life", lambda: len(worker.events("worker")) == 2)
    queue.add(second, ["outside.docx"], folder.path.parent)
    assert queue.wait(first)["succeeded"] == 6 and queue.wait(second)["succeeded"] == 1
    assert worker.process.poll() is None
    worker.stop()


def test_one_folder_belongs_to_one_worker(queue, new_worker):
    """Also when somebody has tidied up in it."""
    first, second = new_worker().start(), new_worker()
    wait_for("the connection", lambda: first.events("connected"))
    second.state = first.state
    (first.state / "lock").unlink()
    assert second.start().process.wait(LIMIT) == 2
    assert "another worker uses the folder" in second.log()
    first.stop()


def descriptors(pid):
    """What a process has open, without the numbers that tell one from another of its kind."""
    found = []
    for entry in os.scandir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(re.sub(r"\[\d+\]", "[]", os.readlink(entry.path)))
    return sorted(found)


def test_a_new_life_begins_without_the_descriptors_of_the_old_one(queue, new_worker):
    """Least of all the old connection, which the server would count as a session."""
    worker = new_worker().start()
    for life in (1, 2, 3):
        wait_for("the connection", lambda: len(worker.events("connected")) == life)      # noqa: B023 — called at once
        here = descriptors(worker.process.pid)
        assert life == 1 or here == before, (before, here)
        before = here
        worker.process.send_signal(signal.SIGHUP)
    wait_for("the connection", lambda: len(worker.events("connected")) == 4)
    worker.stop()


def test_settings_that_cannot_be_are_refused(own_server, folder, new_worker):
    worker = new_worker(root="/nowhere/at/all")
    assert worker.start().process.wait(60) == 2
    assert "/nowhere/at/all" in worker.log()
    worker = new_worker(time_limit=100, stale_after=101)
    assert worker.start().process.wait(60) == 2
    assert "stale_after" in worker.log()


def test_the_file_may_be_that_of_a_translation_worker_as_well(folder, new_worker):
    """Their units read one. Other sections are mistakes."""
    for section, status in ("engines", 0), ("engine", 2):
        worker = new_worker()
        worker.config.write_text(worker.config.read_text() + f"[{section}]\nen-de = none\n")
        assert worker.start("--once").process.wait(180) == status, worker.log()
    assert "unknown section [engine]" in worker.log()
