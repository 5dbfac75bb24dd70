"""What operating the server costs those who call it: its numbers scraped, and backups taken beside the load. Both sides of each comparison
take turns in one run."""
import concurrent.futures
import contextlib
import http.client
import subprocess
import threading
import time
import urllib.parse

import turns

CONNECTIONS = 32
MEASURED = ("workload", "connections", "calls_per_s", "p50_us", "p99_us", "p999_us", "max_us", "server_cpu_us_per_call")


def load(bench, server, workload, seconds):
    """What of a run is kept: the ratios are those of the rounds, so that every round goes into the results."""
    result = bench.load(server, workload, CONNECTIONS, seconds, 0.3)
    return {key: result[key] for key in MEASURED}


def kept(found, **more):
    """The rounds of all sides as rows of the results."""
    return [{**result, "what": what, "round": i, **more} for what, results in found.items() for i, result in enumerate(results)]


class Beside:
    """Does something again and again in a thread, from the start of a load to its end. What fails there fails the load."""

    def __init__(self, step, pause):
        self.step, self.pause = step, pause
        self.seconds = []       # that each step took
        self.over = threading.Event()

    def repeat(self):
        due = time.monotonic()
        while not self.over.is_set():
            began = time.monotonic()
            self.step()
            self.seconds.append(time.monotonic() - began)
            due += self.pause
            self.over.wait(max(0, due - time.monotonic()))

    def run(self, work):
        """The result of work, with how often the step was done meanwhile and how long it took in the mean."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            thread = pool.submit(self.repeat)
            try:
                result = work()
            finally:
                self.over.set()
            thread.result()
        return {**result, "beside": len(self.seconds), "beside_ms": round(1000 * sum(self.seconds) / len(self.seconds), 2)}


# ---- metrics ----

def scrape(server):
    """What Prometheus does; its connection stays open, too."""
    address = urllib.parse.urlsplit(server.http)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)

    def once():
        try:
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as e:
            raise RuntimeError(f"/metrics: {e!r}") from e
        if answer.status != 200 or b"\nprocession_calls_total{" not in text:
            raise RuntimeError(f"/metrics: status {answer.status}, or no numbers in it")
    return connection, once


def scraped(bench, server, workload, seconds):
    connection, once = scrape(server)
    with contextlib.closing(connection):
        return Beside(once, 1).run(lambda: load(bench, server, workload, seconds))


def metrics(bench):
    """What the numbers cost: the HTTP side off, and on with /metrics scraped once a second, in turns."""
    servers = [bench.server(f"metrics-{i}") for i in (1, 2)]
    for server in servers:
        bench.load(server, "state_fill", 64)
    seconds = bench.args.seconds or (10 if bench.args.full else 1)
    rounds = max(1, (bench.args.rounds or 8) // 2)
    runs = []
    # Half of the rounds each server has the one part, then the other: where its files happen to lie on the disk cancels out.
    for half, (off, on) in enumerate((servers, servers[::-1])):
        off.flags, on.flags = (), ("--http", "127.0.0.1:0")
        for server in servers:
            server.restart()
            bench.load(server, "state_read", CONNECTIONS, 0.3, 0.2)
        for workload in ("state_rw", "state_read", "select1"):
            found = turns.in_turns(rounds, lambda: load(bench, off, workload, seconds), lambda: scraped(bench, on, workload, seconds))
            runs += kept(dict(zip(("off", "scraped"), found)), half=half)
            bench.save("metrics", runs)


# ---- backup ----

def backup_command(bench, server):
    """As packaging/systemd/procession-backup.service runs it: behind everybody else. The server's part of the work has no such rank."""
    archive = bench.folder / "backup.tar.zst"
    command = ["nice", "-n", "10", "ionice", "-c", "3", bench.tools / "src/cli/procession", "--server", server.address, "--password-file", server.password,
               "backup", archive]

    def once():
        done = subprocess.run([str(c) for c in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"procession backup: {done.stderr.strip()}")
        archive.unlink()
    return once


def backup(bench):
    """state_rw while backups of 100,000 items of 1 KiB are taken one after the other, and without them, in turns."""
    server = bench.server("backup")
    bench.load(server, "state_fill", 64)
    once = backup_command(bench, server)
    began = time.monotonic()
    once()
    # A turn shall see more than the beginning of a backup, which takes longer beside the load.
    seconds = bench.args.seconds or (20 if bench.args.full else min(6, max(4, 3 * (time.monotonic() - began))))
    found = turns.in_turns(bench.args.rounds or 5, lambda: load(bench, server, "state_rw", seconds),
                           lambda: Beside(once, 0).run(lambda: load(bench, server, "state_rw", seconds)))
    bench.save("backup", kept(dict(zip(("alone", "backups"), found)), seconds=round(seconds, 1)))
