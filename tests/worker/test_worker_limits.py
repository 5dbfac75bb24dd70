"""What a worker gives a document: time after SIGTERM, another engine at the second attempt, and no more time than is left since its start."""
import http.server
import itertools
import os
import re
import signal
import threading
import time

import pytest

from support import documents
from support.workers import CONVERT, LIMIT, TRANSLATE, Queue, both_services, is_whole_pdf, wait_for

JOBS = itertools.count(1)
BROKEN = documents.docx("<w:p><w:r>")


def halt_engine(worker):
    """LibreOffice is ready, and does nothing until SIGCONT: what is submitted runs, and does not end."""
    ready = wait_for("LibreOffice", lambda: worker.events("converter-ready"))[-1]
    pid = int(re.search(r" pid=(\d+)", ready)[1])
    os.kill(pid, signal.SIGSTOP)
    return pid


def begun(worker, count=1):
    wait_for("a document that runs", lambda: len(worker.events("begun")) >= count)


# --- SIGTERM ---

def test_what_runs_may_finish_within_the_grace(queue, folder, new_worker):
    """Only what was not begun is left for others."""
    folder.fill(2)
    job, worker = next(JOBS), new_worker(slots=1, grace=LIMIT).start()
    engine = halt_engine(worker)
    queue.add(job, folder.names, folder.path)
    begun(worker)
    worker.process.send_signal(signal.SIGTERM)
    wait_for("the signal to be seen", lambda: worker.events("stopping"))
    os.kill(engine, signal.SIGCONT)
    assert worker.process.wait(LIMIT) == 0
    counts = queue.counts(job)
    assert (counts["succeeded"], counts["not_started"]) == (1, 1) and is_whole_pdf(folder.outputs()[0])
    queue.cancel(job)
    assert len(worker.events("begun")) == 1 and not folder.parts()


ENDLESS = {CONVERT: {}, TRANSLATE: {"engines": ["en-es = lines /bin/sleep 1000"]}}


def test_a_host_that_says_nothing_is_not_waited_for_at_the_end(queue, folder, new_worker):
    """Neither where a document is fetched from nor where one is stored: transfer_limit is two minutes."""
    asked, over = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def hang(self):
            asked.append(self.command)
            over.wait(LIMIT)

        do_GET = do_PUT = hang

        def do_DELETE(self):
            self.send_error(404)

        do_HEAD = do_DELETE

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        away, host = f"http://127.0.0.1:{site.server_port}", f"127.0.0.1:{site.server_port}"
        fetched, stored = next(JOBS), next(JOBS)
        folder.fill(1)
        queue.add(fetched, folder.names, away, out_root=folder.path)
        queue.add(stored, folder.names, folder.path, out_root=away)
        worker = new_worker(hosts=host, grace=1).start()
        wait_for("both to hang", lambda: {"GET", "PUT"} <= set(asked))
        began = time.monotonic()
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(60) == 0
        assert time.monotonic() - began < 60
        over.set()
        site.shutdown()
    counts = [queue.counts(job)["not_started"] for job in (fetched, stored)]
    for job in fetched, stored:
        queue.cancel(job)
    assert counts == [1, 1] and worker.history() == []


@both_services
@pytest.mark.parametrize("signals, grace", [(1, 1), (2, 3600)], ids=["after the grace", "at the second signal"])
def test_what_does_not_finish_is_put_back(own_server, folder, new_worker, service, signals, grace):
    """It did not fail: nobody is told of a failure, and another worker has it at once."""
    folder.fill(1)
    if service is CONVERT:
        (folder.path / folder.names[0]).write_bytes(documents.endless())
    job, queue, worker = next(JOBS), Queue(own_server, service), new_worker(service=service, grace=grace, **ENDLESS[service]).start()
    queue.add(job, folder.names, folder.path)
    begun(worker)
    for n in range(signals):
        worker.process.send_signal(signal.SIGTERM)
        wait_for("the signal to be seen", lambda n=n: len(worker.events("stopping")) > n)
    assert worker.process.wait(LIMIT) == 0
    counts = queue.counts(job)
    queue.cancel(job)
    assert counts["not_started"] == 1, counts
    assert 'how="given back"' in worker.events("ended")[0] and worker.history() == [] and not folder.parts()


# --- attempts ---

def test_the_second_attempt_after_a_failure_is_made_by_another_engine(queue, folder, new_worker):
    """The first dies of it, for all that the worker knows; soffice has words of its own for what it cannot read."""
    (folder.path / "broken.docx").write_bytes(BROKEN)
    job, worker = next(JOBS), new_worker().start()
    engine = halt_engine(worker)
    queue.add(job, ["broken.docx"], folder.path)
    begun(worker)
    os.kill(engine, signal.SIGKILL)
    assert queue.wait(job)["failed"] == 1
    worker.stop()
    first, second = worker.history()
    assert (first["name"], first["final"]) == ("WorkerFailed", False)
    assert (second["name"], second["final"]) == ("InputFileCorrupt", True) and "at a second attempt either" in second["text"]


# --- time ---

def test_a_slow_host_takes_its_time_from_the_engine(queue, folder, new_worker):
    """The limit counts from StartTime."""
    limit, held, endless = 5, 3, documents.endless()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(held)
            self.send_response(200)
            self.send_header("Content-Length", str(len(endless)))
            self.end_headers()
            self.wfile.write(endless)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        job, worker = next(JOBS), new_worker(time_limit=limit, hosts=f"127.0.0.1:{site.server_port}")
        queue.add(job, ["endless.docx"], f"http://127.0.0.1:{site.server_port}", out_root=folder.path, attempts=1)
        assert worker.start("--once").process.wait(LIMIT) == 0
        site.shutdown()
    said = worker.history()[0]
    assert said["name"] == "Timeout"
    # Where the machine is busy nothing may be left for the engine.
    had = re.search(r"took longer than (\d+) seconds", said["text"])
    assert int(had[1]) <= limit - held + 1 if had else "before the engine could begin" in said["text"], said
