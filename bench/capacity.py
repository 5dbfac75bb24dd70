#!/usr/bin/env python3
"""A day of a large installation, replayed: how many machines it takes, what waits at a fail-over, what breaks first.

    bench/capacity.py                          1,000,000,000 items a day, from the measured costs of bench/results/postgres.json
    bench/capacity.py --items 5e7 --shards 1 --servers 2 --fail 14:00:25 --json

The databases are spread over shards (see DISTRIBUTED), each a PostgreSQL primary with a synchronous standby; servers stand in front of all. The
day is cut into seconds. In each, calls arrive as the curve of the day says, pass the servers, wait for their shard while it has no primary, and
are done as fast as processor and WAL of the shard allow. Nothing is random: the same arguments give the same day. Clients that wait for
an answer send nothing meanwhile, so real queues are shorter; the work is the same."""
import argparse
import dataclasses
import json
import math
import pathlib
import sys

RESULTS = pathlib.Path(__file__).resolve().parent / "results/postgres.json"
SECONDS = 24 * 3600

# By which identifier a row finds its shard. Every primary key begins with the column of its table; where that is n, a number of the shard's own,
# the table that gives n has the identifier as a key of its own. tests/postgres/test_capacity.py compares this with the schemas.
# {service: {table: (column, identifier of the calls)}}; None: one row, or a list, of each shard's own.
_JOBS = {t: ("n", "JobId") for t in ("job", "job_text", "grp", "item", "item_text", "garbage", "failure")}
_JOBS["standing"] = None        # workers that are there: they ask each shard
DISTRIBUTED = {
    "state": {"item": ("n", "id"), "body": ("n", "id"), "gone": ("n", "id"), "promise": None, "forgotten": None},
    "word": {**_JOBS, "item_reserved": ("n", "JobId")},
    "translation": {**_JOBS, "quota": ("part", "PartitionId")},
    "schedule": {"job": ("id", "JobId"), "run": ("n", "JobId")},
}


@dataclasses.dataclass
class Costs:
    """Of one call, or one item. The defaults are those of the prototype (docs/scale-out.md), used for what was not measured."""
    database_us: float = 58         # processor time of PostgreSQL
    server_us: float = 20           # of our servers
    wal_bytes: float = 950          # of PostgreSQL's WAL
    calls_per_item: float = 2.4     # brought, taken in a batch, reported
    bytes_per_item: float = 400     # stored, with indexes
    source: str = "the prototype"


@dataclasses.dataclass
class Plan:
    items: float = 1e9              # a day
    peak: float = 2.0               # the busiest second, to the mean of the day
    keep_days: int = 7
    shards: int = 8
    servers: int = 4
    shard_cores: int = 8
    server_cores: int = 8
    wal_mb: float = 200             # what a shard's disk and network take of the WAL, a second
    disk_tb: float = 2.0            # of a shard
    skew: float = 0.1               # the largest shard has so much more than its share
    patience: float = 30            # failover_timeout


@dataclasses.dataclass
class Trouble:
    at: int                         # second of the day
    seconds: int
    what: str                       # "shard" (the largest one) or "server"


def measured(path=RESULTS, workload="word_cycle"):
    """The costs of a call of that workload, as far as the benchmark has measured them."""
    costs = Costs()
    try:
        runs = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["runs"]
    except (OSError, ValueError, KeyError):
        return costs
    for r in runs:
        if r.get("what") == "calls" and r.get("server") == "procession" and r.get("workload") == workload:
            costs.database_us = r.get("behind_cpu_us_per_call", costs.database_us)
            costs.server_us = r.get("server_cpu_us_per_call", costs.server_us)
            costs.source = f"{pathlib.Path(path).name}, {workload}"
        if r.get("what") == "written" and r.get("workload") == workload:
            costs.wal_bytes, costs.bytes_per_item = r["wal_bytes_per_call"], r["bytes_per_item"]
    return costs


class Day:
    """Replays one; what came of it is in its fields."""

    def __init__(self, plan, costs, troubles=()):
        self.plan, self.costs, self.troubles = plan, costs, list(troubles)
        self.shard_rate = min(plan.shard_cores * 1e6 / costs.database_us, plan.wal_mb * 1e6 / costs.wal_bytes)
        self.server_rate = plan.server_cores * 1e6 / costs.server_us
        self.mean = plan.items * costs.calls_per_item / SECONDS
        self.arrived = self.done = self.too_late = 0.0
        self.longest_wait = self.longest_queue = 0.0
        self.busy_seconds = 0           # in which somebody waited for more than a second
        self.waited = 0.0               # calls that did
        self._run()

    def arriving(self, second):
        """Calls in this second: most at 14:00."""
        return self.mean * (1 + (self.plan.peak - 1) * math.cos(2 * math.pi * (second - 14 * 3600) / SECONDS))

    def _down(self, second, what):
        return [t.at + t.seconds - second for t in self.troubles if t.what == what and t.at <= second < t.at + t.seconds]

    def _wait(self, calls, queue, rate, pause):
        """calls join a queue that is worked off at that rate once the pause is over."""
        wait = pause + queue / rate if rate > 0 else math.inf
        self.longest_wait = max(self.longest_wait, wait)
        if wait > 1:
            self.busy_seconds += 1
            self.waited += calls
        if wait > self.plan.patience:
            self.too_late += calls

    def _run(self):
        plan = self.plan
        # all shards but the largest are alike: one stands for them
        largest = (1 + plan.skew) / plan.shards if plan.shards > 1 else 1.0
        parts = [[largest, 1, 0.0]] + ([[(1 - largest) / (plan.shards - 1), plan.shards - 1, 0.0]] if plan.shards > 1 else [])
        front = 0.0
        for second in range(SECONDS):
            calls = self.arriving(second)
            self.arrived += calls
            servers = (plan.servers - len(self._down(second, "server"))) * self.server_rate
            if front + calls > servers:
                self._wait(calls, front + calls - servers, servers, 0)
            passed = min(front + calls, servers)
            front += calls - passed
            for i, part in enumerate(parts):
                share, count, queue = part
                down = self._down(second, "shard") if i == 0 else []
                here = passed * share
                if down or queue + here > self.shard_rate:
                    self._wait(here * count, queue + here - (0 if down else self.shard_rate), self.shard_rate, max(down, default=0))
                worked = 0.0 if down else min(queue + here, self.shard_rate)
                part[2] = queue + here - worked
                self.done += worked * count
                self.longest_queue = max(self.longest_queue, part[2])
        self.left = front + sum(count * queue for _, count, queue in parts)

    def uses(self):
        """Share of each resource that the busiest second takes, the most used first."""
        plan, costs, peak = self.plan, self.costs, self.mean * self.plan.peak
        largest = peak * ((1 + plan.skew) / plan.shards if plan.shards > 1 else 1.0)
        out = {
            "processor of the largest shard": largest * costs.database_us / (plan.shard_cores * 1e6),
            "WAL of the largest shard": largest * costs.wal_bytes / (plan.wal_mb * 1e6),
            "disk of the largest shard": plan.items * plan.keep_days * costs.bytes_per_item * largest / peak / (plan.disk_tb * 1e12),
            "processors of the servers, one of them gone":
                peak * costs.server_us / (max(plan.servers - 1, 1) * plan.server_cores * 1e6),
        }
        return dict(sorted(out.items(), key=lambda kv: -kv[1]))

    def report(self):
        return {"calls_at_peak": self.mean * self.plan.peak, "uses": self.uses(), "longest_wait_s": self.longest_wait,
                "longest_queue": self.longest_queue, "waited_more_than_a_second": self.waited, "told_50013": self.too_late,
                "arrived": self.arrived, "done": self.done, "left": self.left}


def fit(plan, costs, most=0.7):
    """The fewest shards, then servers, with no resource above that share in the busiest second."""
    def over(p, words):
        return any(v > most for k, v in Day.uses(Sketch(p, costs)).items() if words in k)
    plan = dataclasses.replace(plan, shards=1, servers=2)
    while over(plan, "shard"):
        plan = dataclasses.replace(plan, shards=plan.shards + 1)
    while over(plan, "servers"):
        plan = dataclasses.replace(plan, servers=plan.servers + 1)
    return plan


class Sketch:
    """As much of a Day as uses() looks at: nothing is replayed."""

    def __init__(self, plan, costs):
        self.plan, self.costs = plan, costs
        self.mean = plan.items * costs.calls_per_item / SECONDS


def show(plan, day, out=sys.stdout):
    r = day.report()
    print(f"{plan.items:,.0f} items a day, {r['calls_at_peak']:,.0f} calls/s at the peak; costs of {day.costs.source}: "
          f"{day.costs.database_us:.0f} µs of PostgreSQL, {day.costs.server_us:.0f} µs of a server, {day.costs.wal_bytes:.0f} bytes of WAL a call", file=out)
    print(f"{plan.shards} shards of {plan.shard_cores} cores (each with a synchronous standby), {plan.servers} servers of {plan.server_cores} cores, "
          f"{plan.keep_days} days kept", file=out)
    for name, use in r["uses"].items():
        print(f"  {name:<46} {100 * use:5.1f} %", file=out)
    for t in day.troubles:
        print(f"  {t.at // 3600:02}:{t.at // 60 % 60:02} a {t.what} gone for {t.seconds} s", file=out)
    print(f"  longest wait {r['longest_wait_s']:.1f} s, {r['longest_queue']:,.0f} calls in the longest queue, {r['waited_more_than_a_second']:,.0f} calls "
          f"waited for more than a second ({100 * r['waited_more_than_a_second'] / r['arrived']:.4f} %), {r['told_50013']:,.0f} were told 50013", file=out)


def trouble(text):
    """14:00:25 or 14:00:25:server"""
    parts = text.split(":")
    return Trouble(int(parts[0]) * 3600 + int(parts[1]) * 60, int(parts[2]), parts[3] if len(parts) > 3 else "shard")


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for f in dataclasses.fields(Plan) + dataclasses.fields(Costs):
        if f.name not in ("source", "shards", "servers"):
            p.add_argument("--" + f.name.replace("_", "-"), type=float if f.type in ("float", float) else int, default=None)
    p.add_argument("--shards", type=int, help="default: as few as do")
    p.add_argument("--servers", type=int, help="default: as few as do, with one to spare")
    p.add_argument("--workload", default="word_cycle", help="of bench/results/postgres.json")
    p.add_argument("--fail", type=trouble, action="append", metavar="HH:MM:SECONDS[:server]", help="the largest shard, or a server, is gone for so long; "
                   "default: a primary's process at the peak (4 s), its machine (19 s), a server for an hour")
    p.add_argument("--json", action="store_true")
    args = p.parse_args(argv)
    given = {k: v for k, v in vars(args).items() if v is not None}
    costs = dataclasses.replace(measured(workload=args.workload), **{k: v for k, v in given.items() if k in Costs.__dataclass_fields__})
    plan = fit(Plan(**{k: v for k, v in given.items() if k in Plan.__dataclass_fields__}), costs)
    plan = dataclasses.replace(plan, **{k: given[k] for k in ("shards", "servers") if k in given})
    day = Day(plan, costs, args.fail or [Trouble(14 * 3600, 4, "shard"), Trouble(15 * 3600, 19, "shard"), Trouble(13 * 3600, 3600, "server")])
    if args.json:
        print(json.dumps({"plan": dataclasses.asdict(plan), "costs": dataclasses.asdict(costs), **day.report()}, indent=1))
    else:
        show(plan, day)


if __name__ == "__main__":
    main()
