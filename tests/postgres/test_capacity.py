"""The capacity plan: the replayed day agrees with what can be worked out by hand, and the schemas can be spread as the plan says."""
import dataclasses
import json
import pathlib
import sqlite3
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]

import capacity  # noqa: E402
from procgen_lib import declare  # noqa: E402

COSTS = capacity.Costs(database_us=100, server_us=20, wal_bytes=1000, calls_per_item=1, bytes_per_item=100)
# 1,000 calls/s all day long, for one shard that can do 10,000
FLAT = capacity.Plan(items=1000 * capacity.SECONDS, peak=1.0, shards=1, servers=2, shard_cores=1, server_cores=1, wal_mb=1000, skew=0)


def test_a_quiet_day_makes_nobody_wait():
    day = capacity.Day(FLAT, COSTS)
    assert (day.longest_wait, day.too_late, day.left) == (0, 0, 0)
    assert day.done == pytest.approx(FLAT.items)


def test_a_fail_over_is_worked_off_afterwards():
    """20 s without a primary: 20,000 calls wait; they are done with the 9,000 calls/s that are to spare."""
    day = capacity.Day(FLAT, COSTS, [capacity.Trouble(3600, 20, "shard")])
    assert day.longest_queue == pytest.approx(20000)
    assert 20 <= day.longest_wait <= 20.2
    assert day.busy_seconds == 20 + 1               # a second after the new primary came 12,000 calls are left, and then less than a second's
    assert (day.too_late, day.left) == (0, 0) and day.done == pytest.approx(FLAT.items)


def test_who_waits_longer_than_failover_timeout_is_told():
    """In second k of 40 a call waits for the other 40 - k, and a tenth of a second for each second of calls before it: more than 30 for k < 12."""
    day = capacity.Day(FLAT, COSTS, [capacity.Trouble(3600, 40, "shard")])
    assert day.too_late == pytest.approx(12 * 1000)


def test_a_shard_that_is_too_small_never_catches_up():
    day = capacity.Day(dataclasses.replace(FLAT, wal_mb=0.9), COSTS)        # 900 calls/s by its WAL
    assert day.left == pytest.approx(100 * capacity.SECONDS, rel=0.01)


def test_servers_that_are_gone_hold_calls_up():
    plan = dataclasses.replace(FLAT, items=60000 * capacity.SECONDS, shard_cores=10, servers=2)     # a server can do 50,000 calls/s
    assert capacity.Day(plan, COSTS).longest_wait == 0
    day = capacity.Day(plan, COSTS, [capacity.Trouble(3600, 10, "server")])
    assert day.longest_wait == pytest.approx(100000 / 50000, rel=0.1)


def test_the_largest_shard_is_the_one_that_counts():
    even, uneven = (capacity.Day(dataclasses.replace(FLAT, shards=4, skew=s), COSTS).uses() for s in (0, 0.5))
    name = "processor of the largest shard"
    assert uneven[name] == pytest.approx(1.5 * even[name])


def test_as_few_machines_as_do():
    costs = dataclasses.replace(COSTS, bytes_per_item=0)
    plan = capacity.fit(dataclasses.replace(FLAT, items=25000 * capacity.SECONDS), costs)       # 2.5 cores of PostgreSQL, half a core of ours
    assert (plan.shards, plan.servers) == (4, 2)
    assert max(capacity.Day(plan, costs).uses().values()) <= 0.7


def test_costs_are_those_that_were_measured(tmp_path):
    path = tmp_path / "postgres.json"
    path.write_text(json.dumps({"runs": [{"what": "calls", "server": "pgbench", "workload": "word_cycle", "behind_cpu_us_per_call": 1},
                                         {"what": "calls", "server": "procession", "workload": "word_cycle", "behind_cpu_us_per_call": 33,
                                          "server_cpu_us_per_call": 44},
                                         {"what": "written", "workload": "word_cycle", "wal_bytes_per_call": 555, "bytes_per_item": 222}]}))
    costs = capacity.measured(path)
    assert (costs.database_us, costs.server_us, costs.source) == (33, 44, "postgres.json, word_cycle")
    assert (costs.wal_bytes, costs.bytes_per_item) == (555, 222)
    assert capacity.measured(tmp_path / "none").source == "the prototype"


# ---- distribution

def tables(service):
    """{table: [columns of each key, the primary one first]}"""
    db, out = sqlite3.connect(":memory:"), {}
    db.create_function("checksum", 1, lambda v: 0)
    for script in service.migrations:
        db.executescript(script)
    for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").fetchall():
        primary = [c[1] for c in sorted(db.execute(f"PRAGMA table_info({name})"), key=lambda c: c[5]) if c[5]]
        others = [[c[2] for c in db.execute(f"PRAGMA index_info({i[1]})")] for i in db.execute(f"PRAGMA index_list({name})") if i[2] and i[3] != "pk"]
        out[name] = [primary] + others
    return out


SERVICES = {s.name: s for s in declare.read_all(str(ROOT / "procedures"))[0]}


@pytest.mark.parametrize("name", sorted(capacity.DISTRIBUTED))
def test_every_key_begins_with_the_column_of_distribution(name):
    """So that every row, and every check that it is the only one, is a matter of one shard."""
    found, wanted = tables(SERVICES[name]), capacity.DISTRIBUTED[name]
    assert set(found) == set(wanted)
    identifiers = {"JobId": "id", "id": "id", "PartitionId": "part"}
    for table, keys in found.items():
        if wanted[table] is None:
            continue
        column, identifier = wanted[table]
        assert keys[0][0] == column, f"{name}.{table}: the primary key {keys[0]} does not begin with {column}"
        for key in keys[1:]:        # a second key is that of the identifier, or has it: rows of other shards cannot collide with it
            assert identifiers[identifier] in key or key[0] == column, f"{name}.{table}: {key} would have to be looked for in every shard"
    # where n counts in each shard, some table turns the identifier into n
    for identifier in {w[1] for w in wanted.values() if w and w[0] == "n"}:
        assert any([identifiers[identifier]] in keys for keys in found.values()), identifier
