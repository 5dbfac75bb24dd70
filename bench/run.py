"""Runs the measurements: `make bench`, or tools/bench.sh with the flags below.

Every scenario measures Procession and its peers one after the other on the same machine, writes bench/results/NAME.json, and at the end
bench/report.py draws docs/performance.md from all files there. How and why: docs/performance-notes.md."""
import argparse
import concurrent.futures
import contextlib
import datetime
import json
import math
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import machine
import operating
import report
import scaleout
import translation
from convert import convert
from daemons import BENCH, Echo, Postgres, Procession, Redis, Store

ROOT = BENCH.parent
COUNTS = (1, 8, 32, 128, 1024)
WORKLOADS = ("select1", "state_read", "state_rw", "word_cycle", "translate_cycle", "sched_cycle", "state_32k")
PG_DATABASE = {"select1": "state", "state_read": "state", "state_rw": "state", "state_32k": "state", "word_cycle": "word",
               "translate_cycle": "translation", "sched_cycle": "schedule"}
PG_CALLS = {"select1": 1, "state_read": 1, "state_rw": 2, "state_32k": 2, "word_cycle": 16, "translate_cycle": 16, "sched_cycle": 5}
# Peers that are compared by some workloads only.
ONLY = {"echo": ("select1", "state_read", "state_rw"), "store": ("state_read", "state_rw"), "relaxed": ("state_rw", "state_32k")}
SERVICE_URI = {"word_cycle": "http://schemas.microsoft.com/office/server/word/2009/08/",
               "translate_cycle": "http://schemas.microsoft.com/office/server/translation/2010/11/"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def settle():
    """What the run before has left to be written is written, and its servers are at rest, before the next."""
    os.sync()
    time.sleep(0.5)


def median_of_log(folder, calls):
    """Half of the transactions that pgbench wrote down took less; divided by their calls."""
    times = [int(line.split()[2]) for path in folder.iterdir() for line in path.read_text().splitlines()]
    return {"p50_us": statistics.median(times) / calls} if times else {}


class Bench:
    """The tools, the folder of this run, and what all scenarios do: load a server, take the better of some rounds, save."""

    def __init__(self, args, folder):
        self.args = args
        self.folder = pathlib.Path(folder)
        self.tools = pathlib.Path(args.tools)
        self.seconds = args.seconds or (10 if args.full else 1.5)
        self.rounds = 4
        self.stack = contextlib.ExitStack()
        self.flush_us = machine.flush_us(folder)
        self.versions = {"postgresql": Postgres.version(), "redis": Redis.version()}

    def server(self, name, *flags):
        p = Procession(self.folder / name, self.args.server, *flags)
        self.stack.callback(p.stop)
        return p.start()

    def peer(self, daemon):
        self.stack.callback(daemon.stop)
        return daemon.start()

    def load(self, daemon, workload, connections=32, seconds=None, warmup=0.5, **options):
        command = [self.tools / "load", "--server", daemon.address, "--workload", workload, "--connections", connections, "--seconds",
                   seconds or self.seconds, "--warmup", warmup, "--pid", daemon.pid]
        if isinstance(daemon, Procession):
            command += ["--password-file", daemon.password]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-")] + ([] if value is True else [value])
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{workload}: {done.stderr.strip()}")
        result = json.loads(done.stdout)
        say(f"  {type(daemon).__name__.lower():11} {workload:17} {connections:5} connections "
            f"{result['calls_per_s']:10.0f} calls/s  p50 {result['p50_us']:8.0f} µs  p99 {result['p99_us']:8.0f} µs")
        return result

    def load_later(self, *args, **options):
        """Once the connections of the run before are gone: while thousands of them close, new ones all go to the event loop that is quicker at it."""
        time.sleep(2)
        return self.load(*args, **options)

    def store(self, store, workload, connections):
        result = store.run(workload, connections, self.seconds)
        say(f"  {'store':11} {workload:17} {connections:5} connections {result['calls_per_s']:10.0f} calls/s")
        return result

    def pgbench(self, pg, workload, connections):
        """One run of pgbench; its transactions are several calls. Its time includes connecting, so that a slow start wants more of it."""
        for factor in (1, 4, 16):
            result = self.pgbench_once(pg, workload, connections, factor * (self.seconds + connections / 100))
            if result:
                say(f"  {'postgres':11} {workload:17} {connections:5} connections {result['calls_per_s']:10.0f} calls/s  mean {result['mean_us']:7.0f} µs")
                return result
        raise RuntimeError(f"pgbench {workload}: no transaction was finished")

    def pgbench_once(self, pg, workload, connections, seconds):
        variables = {"clients": connections, "body": "\\x" + os.urandom(32768 if workload == "state_32k" else 1024).hex()}
        if workload in SERVICE_URI:
            variables |= job_documents(SERVICE_URI[workload])
        batch = [] if os.sched_getscheduler(0) == os.SCHED_RR else ["chrt", "--batch", "0"]
        command = [*batch, "pgbench", "-n", "-M", "prepared", "-h", "127.0.0.1", "-p", pg.port, "-U", "bench", "-c", connections, "-j",
                   min(2, connections), "-T", math.ceil(seconds), "-f", BENCH / f"peers/postgres/{workload}.pgbench"]
        log = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        command += ["--log", "--log-prefix", log / "times"] if connections == 1 else []
        command += [x for k, v in variables.items() for x in ("-D", f"{k}={v}")] + [PG_DATABASE[workload]]
        # Fresh statistics, and no dead rows of the run before: autovacuum would come too late for a run of seconds.
        pg.psql(PG_DATABASE[workload], "-c", "VACUUM ANALYZE")
        before = pg.cpu_seconds()
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0 or not re.search(r"failed transactions: 0 ", done.stdout):
            raise RuntimeError(f"pgbench {workload}: {done.stdout} {done.stderr}")
        count = int(re.search(r"actually processed: (\d+)", done.stdout)[1]) * PG_CALLS[workload]
        if count == 0:
            return None
        return {"workload": workload, "connections": connections, "calls": count,
                "calls_per_s": float(re.search(r"tps = ([\d.]+)", done.stdout)[1]) * PG_CALLS[workload],
                "mean_us": float(re.search(r"latency average = ([\d.]+)", done.stdout)[1]) * 1000 / PG_CALLS[workload],
                **median_of_log(log, PG_CALLS[workload]),
                "server_cpu_us_per_call": (pg.cpu_seconds() - before) * 1e6 / count}

    def alternate(self, *runs, rounds=None):
        """Each of the runs in turn, a few times; the best of each. Others on the machine disturb both sides, seldom the same way."""
        best = [None] * len(runs)
        for _ in range(rounds or self.rounds):
            for i, run in enumerate(runs):
                settle()
                result = run()
                if best[i] is None or result["calls_per_s"] > best[i]["calls_per_s"]:
                    best[i] = result
        return best

    def save(self, name, runs):
        out = {"name": name, "machine": machine.describe(self.folder), "commit": self.args.commit, "command": self.args.command,
               "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "peers": self.versions,
               "flush_us": round(self.flush_us, 1), "note": self.args.note, "runs": runs}
        path = pathlib.Path(self.args.results) / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report.dump(out))


def job_documents(uri):
    """The XML of bench/workload_jobs.c; pgbench's script puts the job's number in."""
    items = "".join(f'<item id="{i}" in="letters/2026/letter-{i:04}.docx" out="letters/2026/letter-{i:04}.pdf"/>' for i in range(1, 11))
    starts = "".join(f'<item job="JOB" group="1" id="{i}" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331"/>' for i in range(1, 11))
    return {"group_xml": f'<group xmlns="{uri}databaseJobAdd">{items}</group>',
            "batch_xml": f'<batch xmlns="{uri}databaseBatchUpdate"><start>{starts}</start><failed/></batch>'}


# ---- scenarios ----

def peers_of(bench):
    """Those that are installed, filled."""
    peers = {"echo": bench.peer(Echo(bench.folder, bench.tools / "echo")), "store": Store(bench.folder, bench.tools / "store")}
    if bench.versions["redis"]:
        for mode in ("always", "everysec"):
            peers["redis_" + mode] = redis = bench.peer(Redis(bench.folder, mode))
            bench.load(redis, "redis_fill", 512)
    if bench.versions["postgresql"]:
        say("  postgres: creating the cluster and its items")
        peers["postgres"] = bench.peer(Postgres(bench.folder))
    return peers


def calls(bench):
    """Throughput and latency of the workloads over the numbers of connections, beside the peers."""
    server = bench.server("calls")
    bench.load(server, "state_fill", 512)
    peers = peers_of(bench)
    peers["relaxed"] = bench.server("relaxed")
    bench.load(peers["relaxed"], "text", 1, text="EXEC procession_database_set @name = 'StateService', @commit = 'relaxed'")
    bench.load(peers["relaxed"], "state_fill", 512)
    runs = []

    def wanted(name, workload, count):
        if name in ONLY:
            return workload in ONLY[name] and (count == 32 or (bench.args.full and name != "store"))
        if name.startswith("redis"):
            if not workload.startswith("state"):
                return False
            return count == 32 or (workload == "state_rw" and (count == 1 or name == "redis_always")) or bench.args.full
        return count == 32 or (workload == "state_rw" and count < 1024) or bench.args.full

    def runner(name, daemon, workload, count):
        if name == "postgres":
            return lambda: bench.pgbench(daemon, workload, count)
        if name == "store":
            return lambda: bench.store(daemon, workload, count)
        if name == "echo":
            sizes = runs_of_sizes[workload]
            return lambda: bench.load(daemon, "echo", count, request=round(sizes["request_bytes"]), answer=round(sizes["answer_bytes"]))
        return lambda: bench.load(daemon, workload if name == "relaxed" else "redis_" + workload, count)

    runs_of_sizes = {}
    for workload in WORKLOADS:
        for count in COUNTS:
            # The messages of echo are as long as those of the server.
            if count == COUNTS[0]:
                runs_of_sizes[workload] = bench.load(server, workload, 1, 0.3, 0.1)
            beside = [n for n in peers if wanted(n, workload, count)]
            best = bench.alternate(lambda: bench.load(server, workload, count), *(runner(n, peers[n], workload, count) for n in beside),
                                   rounds=None if count == 32 or (workload, count) == ("state_rw", 1) else 1)
            for name, result in zip(["procession", *beside], best):
                runs.append({**result, "server": name, "workload": workload})
            bench.save("calls", runs)


def tls(bench):
    """The same calls with and without TLS; and messages as long as those of select1 with nothing done in between."""
    server = bench.server("tls")
    bench.load(server, "state_fill", 512)
    echo = bench.peer(Echo(bench.folder, bench.tools / "echo"))
    secured = bench.peer(Echo(bench.folder, bench.tools / "echo", "--tls", server.folder / "data/server.crt", server.folder / "data/server.key"))
    small = bench.load(server, "select1", 1, 0.3, 0.1)
    sizes = {"request": round(small["request_bytes"]), "answer": round(small["answer_bytes"])}
    runs = bench.alternate(lambda: bench.load(echo, "echo", **sizes), lambda: bench.load(secured, "echo", tls=True, **sizes),
                           lambda: bench.load(server, "select1"), lambda: bench.load(server, "select1", tls=True))
    for workload in ("state_read", "state_rw"):
        runs += bench.alternate(lambda: bench.load(server, workload), lambda: bench.load(server, workload, tls=True))
    bench.save("tls", runs)


def login(bench):
    """A connection, a login, one call, and the end, over and over."""
    server = bench.server("login")
    runs = []
    for count in (1, 32):
        runs.append(bench.load(server, "select1", count, login_storm=True))
        runs.append(bench.load(server, "select1", count, login_storm=True, tls=True))
    bench.save("login", runs)


def idle_cpu(server, seconds):
    def ticks():
        text = pathlib.Path(f"/proc/{server.pid}/stat").read_text()
        return sum(int(x) for x in text[text.rindex(")") + 2:].split()[11:13])
    before = ticks()
    time.sleep(seconds)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / seconds


def idle(bench):
    """What connections cost that do nothing, and what they cost those that work."""
    many = min(10000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 300)
    server = bench.server("idle", "--max-connections", "12000")
    bench.load(server, "state_fill", 512)
    server.restart()
    time.sleep(1)
    runs = [{"what": "no connections", "cpu_share": idle_cpu(server, 3)}]
    for what, count, options in (("idle TLS connections", 1000, {"tls": True}), ("idle clear-text connections", many, {})):
        server.restart()
        # The first ones pay for what all share.
        bench.load(server, "select1", 8, 0.3, 0.1, **options)
        result = bench.load(server, "select1", 0, 3, 0.5, idle=count, **options)
        runs.append({"what": what, "connections": count, "kib_per_connection": (result["rss_kb"] - result["rss_before_kb"]) / count,
                     "cpu_share": result["server_cpu_s"] / result["seconds"]})
    for workload in ("select1", "state_read"):
        few, full = bench.alternate(lambda: bench.load_later(server, workload), lambda: bench.load_later(server, workload, idle=many - 32))
        runs.append({"what": f"{workload}, 32 connected", **few})
        runs.append({"what": f"{workload}, {many} connected, 32 active", **full})
    bench.save("idle", runs)


def best_of(results):
    """Of several runs each kind's best, and the most memory that one of them took."""
    best = dict(min(results, key=lambda r: r["p50_us"]))
    kinds = {k for r in results for k in r["kinds"]}
    best["kinds"] = {k: min((r["kinds"][k] for r in results if k in r["kinds"]), key=lambda x: x["p50_us"]) for k in kinds}
    best["peak_kb"] = max(r["peak_kb"] for r in results)
    best["rss_before_kb"] = results[0]["rss_before_kb"]
    return best


def large(bench):
    """Items from 1 KiB to 64 MiB: rates against the disk and against TCP, and memory. Server and peers take turns, three times; the best median of each counts."""
    server = bench.server("large")
    echo = bench.peer(Echo(bench.folder, bench.tools / "echo"))
    runs = []
    for size in (1 << 10, 32 << 10, 1 << 20, 16 << 20, 64 << 20):
        seconds = 1 if size < 16 << 20 else 2 if size < 64 << 20 else 4
        alone = Store(bench.folder, bench.tools / "store", f"item-{size}")
        peers, results = [], []
        server.restart()
        # A small one pays for what is kept open.
        bench.load(server, "state_large", 1, 0.3, 0.0, bytes=1024)
        for _ in range(3):
            store = alone.run("state_large", 1, seconds, bytes=size)
            peers.append({
                "disk_write_us": machine.write_seconds(bench.folder, size, 5) * 1e6,
                "sqlite_us": machine.update_seconds(bench.folder, size, 5) * 1e6,
                "store_us": store["update_p50_us"],
                "store_get_us": store["get_p50_us"],
                "send_us": bench.load(echo, "echo", 1, 0.7, 0.1, request=size, answer=64)["p50_us"],
                "echo_us": bench.load(echo, "echo", 1, 0.7, 0.1, request=200, answer=size)["p50_us"],
            })
            results.append(bench.load(server, "state_large", 1, seconds, 0.0, bytes=size))
        runs.append({**best_of(results), "bytes": size, **{k: min(p[k] for p in peers) for k in peers[0]}})
    bench.save("large", runs)


def widen_group(path, have, want):
    """Copies the items of the one group until there are as many as wanted. As XML they would be more than a parser should be made to take."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for k in range(1, want // have):
            db.execute("INSERT INTO item SELECT n, grp, id + ?, started, stopped, attempts, worker, error FROM item WHERE id <= ?", (k * have, have))
            db.execute("INSERT INTO item_text SELECT n, grp, id + ?, input, output FROM item_text WHERE id <= ?", (k * have, have))
        # word_items looks for the job by its number of items.
        db.execute("UPDATE job SET open = ?, id = id + ?", (want, want - have))


def items(bench):
    """One group of very many items: added in one call, read in one call."""
    runs = []
    server = bench.server("items")
    bench.load(server, "select1", 1, 0.2, 0.1)
    runs.append({"what": "proc_AddGroup", "items": 100000, **bench.load(server, "word_group", 1, items=100000)})
    bench.save("items", runs)
    server.stop()
    widen_group(server.folder / "data/WordAutomation.db", 100000, 1000000)
    server.start()
    bench.load(server, "select1", 1, 0.2, 0.1)
    runs.append({"what": "proc_GetItems", "items": 1000000, **bench.load(server, "word_items", 1, items=1000000)})
    bench.save("items", runs)


def fill(bench, server, service, jobs):
    """Jobs of 100 items, all but the last 50 finished. Returns a time (UTC) between the first hundredth of them and the rest."""
    bench.load(server, f"{service}_fill", 64, jobs=jobs, last_job=jobs // 100)
    time.sleep(0.05)
    between = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    time.sleep(0.05)
    bench.load(server, f"{service}_fill", 64, first_job=jobs // 100 + 1, jobs=jobs)
    return between


def expire(bench, server, service, jobs, before):
    """proc_JobsExpire of one job in a hundred while eight connections go on; and until what it leaves behind is gone."""
    database = {"word": "WordAutomation", "translation": "Translation"}[service]
    sql = f"EXEC {database}.dbo.proc_JobsExpire @AllPartitions = 1, @TimeThreshold = '{before}', @IncludeActiveJobs = 0"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        seconds = max(4, jobs / 10000)
        beside = pool.submit(bench.load, server, {"word": "word_cycle", "translation": "translate_cycle"}[service], 8, seconds)
        time.sleep(1)
        gone = bench.load(server, "text", 1, text=sql)
        return {**beside.result(), "what": "expire", "service": service, "items": 100 * jobs, "expire_us": gone["max_us"]}


def kill_under_load(server, bench):
    """kill -9 in the middle of calls, and the time of the next start."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        load = pool.submit(bench.load, server, "word_cycle", 8, 30)
        time.sleep(3)
        os.kill(server.pid, signal.SIGKILL)
        with contextlib.suppress(RuntimeError):
            load.result()
    server.stop()
    return server.start().start_seconds


def scale(bench):
    """The same calls on 10,000 items and on very many; expiry of one in a hundred; a start with very many."""
    jobs = {"small": 100, "big": 100000 if bench.args.full else 10000}
    servers = {name: bench.server("scale-" + name) for name in jobs}
    runs = []
    for service in ("word", "translation"):
        before = {name: fill(bench, server, service, jobs[name]) for name, server in servers.items()}
        cycle = {"word": "word_cycle", "translation": "translate_cycle"}[service]
        for workload in (f"{service}_batch100", f"{service}_status100", f"{service}_done", f"{service}_again", cycle):
            best = bench.alternate(*(lambda n=n: bench.load(servers[n], workload, 8, jobs=jobs[n]) for n in jobs))
            runs += [{**r, "items": 100 * jobs[n]} for n, r in zip(jobs, best)]
        runs.append(expire(bench, servers["big"], service, jobs["big"], before["big"]))
        bench.save("scale", runs)
    for name, server in servers.items():
        server.restart()
        runs.append({"what": "start", "items": 200 * jobs[name], "seconds_to_ready": server.start_seconds})
        runs.append({"what": "start after kill -9", "items": 200 * jobs[name], "seconds_to_ready": kill_under_load(server, bench)})
        server.stop()
    bench.save("scale", runs)


SCENARIOS = {f.__name__: f for f in (calls, tls, login, idle, large, items, scale, convert)}
SCENARIOS["translate"] = translation.scenario
SCENARIOS["postgres"] = scaleout.scenario
SCENARIOS["postgres_items"] = scaleout.items
SCENARIOS["metrics"] = operating.metrics
SCENARIOS["backup"] = operating.backup


def parse():
    p = argparse.ArgumentParser(prog="tools/bench.sh", description="Measures the server beside its peers.")
    p.add_argument("--only", action="append", choices=SCENARIOS, metavar="NAME", help="one scenario (may be repeated): " + ", ".join(SCENARIOS))
    p.add_argument("--full", action="store_true", help="longer, with all peers at all numbers of connections, and 10,000,000 items")
    p.add_argument("--seconds", type=float, help="of one measurement (1.5; with --full 10; metrics: 1, backup: 4 to 6)")
    p.add_argument("--rounds", type=int, help="of convert (2; with --full 3), postgres (3; 4), metrics (8), backup (5)")
    p.add_argument("--dir", default="/var/tmp", help="where the databases go: a folder on the disk to measure (%(default)s)")
    p.add_argument("--note", default="", help="a sentence about the run that goes into the results")
    p.add_argument("--results", default=str(BENCH / "results"), help="where the results go (%(default)s)")
    p.add_argument("--report", action="store_true", help="measure nothing; draw docs/performance.md again")
    args = p.parse_args()
    shown = [a for i, a in enumerate(sys.argv[1:]) if a != "--note" and sys.argv[i] != "--note"]
    args.command = shlex.join(["tools/bench.sh", *shown])
    # The tree may change while this runs; the server was built just before.
    args.commit = machine.commit()
    args.server = os.environ.get("PROCESSIOND", str(ROOT / "build/bench/src/daemon/processiond"))
    args.tools = os.environ.get("BENCH_TOOLS", str(ROOT / "build/bench"))
    return args


def run_scenario(args, name):
    say(f"{name}: {SCENARIOS[name].__doc__}")
    folder = tempfile.mkdtemp(prefix="procession-bench-", dir=args.dir)
    bench = Bench(args, folder)
    try:
        with bench.stack:
            SCENARIOS[name](bench)
    except (RuntimeError, subprocess.CalledProcessError) as e:
        # What was measured so far is saved; the other scenarios still run.
        say(f"{name}: {e}")
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return True


def main():
    args = parse()
    ok = True
    # Whoever stops the benchmark stops its servers too.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(130))
    if not args.report:
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        for name in args.only or SCENARIOS:
            ok = run_scenario(args, name) and ok
    report.write(pathlib.Path(args.results), ROOT)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
