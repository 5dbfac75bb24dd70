"""kill -9 of everything, again and again: every item ends once, its output is whole or not there."""
import os
import random
import signal
import time

import pytest

from support.workers import CONVERT, Queue, both_services, wait_for

DOCUMENTS = 14


def check(folder, counts, service=CONVERT):
    assert counts["succeeded"] == counts["total"], counts
    assert all(service.is_whole(path) for path in folder.outputs(service))
    assert not folder.parts()


def whole_or_not_there(folder, service=CONVERT):
    """At any moment: nothing half-made has the name of an output."""
    return all(service.is_whole(path) for path in folder.outputs(service) if path.exists())


@both_services
def test_kill_the_worker_again_and_again(own_server, folder, new_worker, service):
    """The next start gives back what the last one had, or reports it when its output was finished; existing outputs are not replaced, so nothing is made twice."""
    folder.fill(DOCUMENTS)
    queue, worker, chance = Queue(own_server, service), new_worker(service=service), random.Random(1)
    queue.add(1, folder.names, folder.path, attempts=100, settings=service.settings("NeverOverwrite"))
    for _ in range(5):
        before = len(worker.events("begun"))
        worker.start()
        wait_for("a document that runs", lambda: len(worker.events("begun")) > before or queue.is_over(1))
        time.sleep(chance.random() * 0.4)
        worker.kill()
        assert whole_or_not_there(folder, service)
    assert worker.start("--once").process.wait(180) == 0
    check(folder, queue.counts(1), service)


def test_kill_the_engine_and_its_children(queue, folder, new_worker):
    """The worker lives: what was lost is tried again with a new LibreOffice."""
    folder.fill(DOCUMENTS)
    worker, chance = new_worker(), random.Random(2)
    queue.add(2, folder.names, folder.path, attempts=100)
    worker.start()
    for turn in range(4):
        before = len(worker.events("begun"))
        wait_for("a document that runs", lambda: len(worker.events("begun")) > before or queue.is_over(2))
        below = worker.descendants()
        if below:
            pid, _ = below[0] if turn % 2 == 0 else below[-1]       # LibreOffice itself, or a document's process
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(chance.random() * 0.3)
        assert whole_or_not_there(folder)
    check(folder, queue.wait(2))
    worker.stop()


def test_kill_the_server_again_and_again(new_server, folder, new_worker):
    server = new_server()
    server.settings["listen"] = f"127.0.0.1:{server.port}"
    queue, chance = Queue(server), random.Random(3)
    folder.fill(DOCUMENTS)
    queue.add(3, folder.names, folder.path, attempts=100)
    worker = new_worker(server=server).start()
    for _ in range(4):
        before = len(worker.events("begun"))
        wait_for("a document that runs", lambda: len(worker.events("begun")) > before or queue.is_over(3))
        time.sleep(chance.random() * 0.3)
        server.restart(kill=True)
        assert whole_or_not_there(folder)
    check(folder, queue.wait(3))
    worker.stop()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_everything_is_killed_for_minutes(new_server, folder, new_worker, seed):
    """Two workers, their engines, documents' processes and the server, in any order, until all is done: nothing is made twice or left half-made."""
    chance, server = random.Random(seed), new_server()
    server.settings["listen"] = f"127.0.0.1:{server.port}"
    queue = Queue(server)
    folder.fill(150)
    queue.add(1, folder.names, folder.path, attempts=250)
    workers = [new_worker(server=server).start() for _ in range(2)]

    def kill_below(which):
        below = chance.choice(workers).descendants()
        if below:
            try:
                os.kill(below[which][0], signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_worker():
        worker = chance.choice(workers)
        worker.kill()
        worker.start()

    kinds = (kill_worker, lambda: kill_below(0), lambda: kill_below(-1), lambda: server.restart(kill=True))
    rounds = 0
    while not queue.is_over(1):
        time.sleep(chance.random())
        chance.choice(kinds)()
        rounds += 1
        for worker in workers:
            if worker.process.poll() is not None:       # its engine was killed three times before it was ready: as systemd does
                worker.start()
        assert whole_or_not_there(folder)
    check(folder, queue.counts(1))
    assert rounds > 10
