"""What a call costs grows no faster than what it is about: CPU time of the server and of PostgreSQL, for two sizes, with a wide margin.

Four times the rows cost four times as much, and sixteen times where each looks at all others; at most nine are allowed.
"""
import contextlib
import os

import pytest

from support.calls import open_path
from support.server import Server

NAMESPACE = {"WordAutomation": "http://schemas.microsoft.com/office/server/word/2009/08/",
             "Translation": "http://schemas.microsoft.com/office/server/translation/2010/11/"}
WORKER = "b00ae9a1-0474-474e-b348-f6a8bcc95331"


def nanoseconds(pid):
    """Processor time of a process so far. A thread that has ended meanwhile is not counted."""
    total = 0
    with contextlib.suppress(FileNotFoundError):    # a session of PostgreSQL that has just ended
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
                total += int(f.read().split()[0])
    return total


class Costs:
    """A server, and the PostgreSQL behind it, if there is one."""

    def __init__(self, server, pg):
        self.server, self.pg, self.jobs = server, pg, 0

    def processes(self):
        yield self.server.process.pid
        if self.pg is None:
            return
        postmaster = int((self.pg.data / "postmaster.pid").read_text().split()[0])
        with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as f:
            yield from map(int, f.read().split())

    def of(self, work):
        """Sessions that end meanwhile take what they used along: what is measured here runs in those that stay."""
        before = {pid: nanoseconds(pid) for pid in self.processes()}
        work()
        return sum(max(nanoseconds(pid) - used, 0) for pid, used in before.items() if os.path.exists(f"/proc/{pid}"))


@pytest.fixture(scope="module", params=("sqlite", "postgres"))
def costs(request):
    if request.param == "sqlite":
        with Server() as server:
            yield Costs(server, None)
        return
    pg = request.getfixturevalue("pg")
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute("CREATE DATABASE cost")
    with Server(settings={"engine": "postgres", "postgres": pg.conninfo("cost")}) as server:
        yield Costs(server, pg)


def ok(answer):
    assert answer.error is None and answer.status == 0, answer.errors
    return answer


def new_job(costs, client, database, groups):
    """A submitted job, whose groups have so many items each."""
    costs.jobs += 1
    token = ", NULL, 0x01" if database == "Translation" else ", NULL, NULL, NULL"
    ok(client.batch(f"EXEC proc_AddJob {costs.jobs}{token}, NULL, '<settings/>', 'letters'"))
    added = []
    for number, items in enumerate(groups, 1):
        xml = "".join(f'<item id="{i}" in="a" out="b"/>' for i in range(items))
        added.append(f"EXEC proc_AddGroup {costs.jobs}, {number}, 'in/', 'out/', 2, '<group xmlns=\"{NAMESPACE[database]}databaseJobAdd\">{xml}</group>'")
    ok(client.batch("\n".join(added)))
    ok(client.batch(f"EXEC proc_SubmitJob {costs.jobs}"))
    return costs.jobs


def fail_all(costs, client, database, groups):
    """All items of a new job start in one call, and fail in another one; what both cost."""
    job = new_job(costs, client, database, groups)
    ids = [(g, i) for g, items in enumerate(groups, 1) for i in range(items)]

    def batch(start, failed):
        return lambda: ok(client.batch(f"EXEC proc_UpdateConversionBatch '<batch xmlns=\"{NAMESPACE[database]}databaseBatchUpdate\"><start>{start}</start>"
                                       f"<failed>{failed}</failed></batch>'"))
    cost = costs.of(batch("".join(f'<item job="{job}" group="{g}" id="{i}" wsi="{WORKER}"/>' for g, i in ids), ""))
    return cost + costs.of(batch("", "".join(f'<item job="{job}" group="{g}" id="{i}" error="7"/>' for g, i in ids)))


def look_at_statistics(costs):
    if costs.pg:
        with contextlib.closing(costs.pg.connect("cost")) as connection:
            connection.cursor().execute("VACUUM ANALYZE")


@pytest.mark.parametrize("database", sorted(NAMESPACE))
@pytest.mark.parametrize("groups", ([2000], [1] * 150), ids=("one-group", "a-group-each"))
def test_many_items_that_fail_in_one_call_cost_no_more_each(costs, database, groups):
    """Also where PostgreSQL looked at its statistics when all jobs were small."""
    with open_path("wire", costs.server, database) as client:
        for _ in range(20):
            fail_all(costs, client, database, [10])
        look_at_statistics(costs)
        fail_all(costs, client, database, [10])         # everything is prepared
        few = min(fail_all(costs, client, database, groups) for _ in range(2))
        many = fail_all(costs, client, database, [g * 4 for g in groups] if len(groups) == 1 else groups * 4)
    assert many < 9 * few, (many, few)


@pytest.mark.parametrize("database", sorted(NAMESPACE))
def test_the_next_batch_costs_the_same_whatever_waits(costs, database):
    """Also where PostgreSQL looked at its statistics at a moment when nothing waited."""
    def next_ones():
        for _ in range(40):
            rows = ok(client.batch("EXEC proc_GetConversionBatch 10, '2008-01-31'")).rows
            assert len(rows) == 10
    with open_path("wire", costs.server, database) as client:
        fail_all(costs, client, database, [500])
        look_at_statistics(costs)
        new_job(costs, client, database, [10])
        next_ones()
        few = min(costs.of(next_ones) for _ in range(3))
        for _ in range(5):
            new_job(costs, client, database, [1000] * 3)
        many = min(costs.of(next_ones) for _ in range(3))
    assert many < 3 * few, (many, few)
