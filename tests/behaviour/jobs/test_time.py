"""Both job services while the clock moves: years pass, days and years end, and nothing happens unless somebody calls."""
import collections
import datetime
import itertools

import pytest

from support import clients
from support.clock import ClockServer
from support.jobs import ERRATA, FAR, PART, PART2, ZERO, Jobs, new_database
from support.proves import proves
from support.store import sqlite_only, stored

BEGIN = datetime.datetime(2027, 12, 31, 22, 30, 0)


@pytest.fixture(scope="module")
def later():
    """A server whose clock stands still until the test moves it."""
    with ClockServer(BEGIN) as server:
        yield server


_numbers = itertools.count(1)


@pytest.fixture(params=[(s, e) for s in ("word", "translation") for e in ERRATA], ids="-".join)
def db(request, later):
    # Well before the years that tests set, however many tests came before: a clock does not go back in PostgreSQL.
    later.set(BEGIN + datetime.timedelta(days=next(_numbers)))
    service, errata = request.param
    name = f"{service}-{errata}-{next(_numbers)}"
    new_database(later, name, service, errata)
    made = Jobs(later, service, errata, "pytds-rpc", name)
    made.clock = later
    yield made
    made.close()


def moved(db, **delta):
    db.clock.advance(**delta)
    return db.clock.now


@proves("WORD-Model-04", "WORD-Model-05", "WORD-Model-19", "WORD-Model-20", "TRAN-Model-04", "WORD-AddJob-04", "TRAN-AddJob-04", "WORD-CancelJob-03", "TRAN-CancelJob-03")
def test_every_time_is_that_of_its_call(db):
    seen = []
    created = db.clock.now
    db.new_job(1)
    seen.append((db.job(1).CreateTime, created))
    started = moved(db, days=400, hours=3)
    db.start(1)
    seen.append((db.item().StartTime, started))
    stopped = moved(db, hours=2)
    db.succeed(1)
    seen.append((db.item().StopTime, stopped))
    canceled = moved(db, days=30)
    db.cancel(1)
    seen.append((db.job(1).CancelTime, canceled))
    assert all(value == when for value, when in seen), seen
    assert db.job(1).CreateTime == seen[0][0]


@proves("WORD-Model-28", "TRAN-Model-25")
def test_years_change_nothing(db):
    db.new_job(1, items=(1, 2, 3))
    db.start(1, 2)
    db.succeed(1)
    db.new_job(2, submitted=False)
    db.new_job(3)
    db.cancel(3)
    before = db.everything()
    moved(db, days=3650)
    assert db.everything() == before and db.counts(1) == {"Total": 3, "Succeeded": 1, "InProgress": 1, "NotStarted": 1}
    assert [r.ItemId for r in db.handed()] == [3]


@proves("WORD-GetConversionBatch-04", "TRAN-GetConversionBatch-04", "TRAN-GetConversionBatchInterleaved-04")
def test_an_item_becomes_stale_over_the_end_of_the_year(db):
    """A worker asks for what has been in progress for more than an hour."""
    db.clock.set(datetime.datetime(2030, 12, 31, 23, 30))
    db.new_job(1)
    db.start(1)
    for minutes, stale in ((20, False), (35, False), (10, True)):
        now = moved(db, minutes=minutes)
        for proc in ("proc_GetConversionBatch",) if db.word else ("proc_GetConversionBatch", "proc_GetConversionBatchInterleaved"):
            assert bool(db.handed(threshold=now - datetime.timedelta(hours=1), proc=proc)) == stale
    db.start(1)
    assert db.item().StartTime == db.clock.now and db.handed(threshold=db.clock.now - datetime.timedelta(hours=1)) == []
    assert len(db.handed(threshold=FAR)) == 1


@proves("WORD-JobsExpire-03", "TRAN-JobsExpire-07", "TRAN-JobsExpire-10")
def test_jobs_of_the_year_before_last_expire(db):
    db.new_job(1)
    db.start(1)
    db.succeed(1)
    moved(db, days=400)
    db.new_job(2)
    db.start(1, job=2)
    db.succeed(1, job=2)
    moved(db, days=30)
    db.ok("proc_JobsExpire", TimeThreshold=db.clock.now - datetime.timedelta(days=365), IncludeActiveJobs=0)
    assert db.all_jobs() == [2]


@proves("TRAN-JobsExpire-07", "TRAN-JobsExpire-10")
@sqlite_only("the clock goes back, which it never does for a database in PostgreSQL")
def test_jobs_expire_by_the_stops_that_their_items_have_when_the_clock_goes_back(db):
    """The last stop of a job is not the latest that there ever was: an item may stop again, at an earlier time."""
    if db.word:
        return
    db.clock.set(datetime.datetime(2030, 6, 1, 12))
    db.new_job(1, items=(1, 2))
    db.start(1, 2)
    db.succeed(1)
    db.clock.set(datetime.datetime(2030, 5, 1, 12))
    db.succeed(2)
    middle = {"TimeThreshold": datetime.datetime(2030, 5, 15), "IncludeActiveJobs": 0}
    db.ok("proc_JobsExpire", **middle)
    assert db.all_jobs() == [1]
    db.succeed(1)
    for job in (2, 3):
        db.new_job(job, items=(1, 2))
        db.clock.set(datetime.datetime(2030, 6, 1, 12))
        db.succeed(1, job=job)
        db.clock.set(datetime.datetime(2030, 5, 1, 12))
    db.ok("proc_JobsExpire", **middle)
    assert db.all_jobs() == [2, 3]              # what others have later keeps it from nothing
    db.succeed(2, job=2)
    db.ok("proc_JobsExpire", TimeThreshold=datetime.datetime(2030, 6, 1, 12), IncludeActiveJobs=0)
    assert db.all_jobs() == [2, 3]              # one of its items stopped exactly then
    db.ok("proc_JobsExpire", TimeThreshold=datetime.datetime(2030, 6, 1, 12, 0, 1), IncludeActiveJobs=0)
    assert db.all_jobs() == [3]


@proves("TRAN-JobsExpire-06")
def test_with_active_jobs_only_whole_jobs_go(db):
    """Also where items have stopped before the threshold and their job was created after it."""
    if db.word:
        return
    db.clock.set(datetime.datetime(2030, 6, 1, 12))
    db.new_job(1, items=(1, 2))
    db.clock.set(datetime.datetime(2030, 5, 1, 12))
    db.succeed(1)
    db.ok("proc_JobsExpire", TimeThreshold=datetime.datetime(2030, 5, 15), IncludeActiveJobs=1)
    assert db.all_jobs() == [1] and [i.ItemId for i in db.items()] == [1, 2]


def number(db, sql):
    """From the store of the database, beside the running server."""
    with stored(db.server, db.database) as tables:
        return tables.rows(sql)[0][0]


# Each job has items 1 to 3, of which these stop at these hours, in this order: the clock goes back as well, and some stop again.
STOPS = ("1@10 2@20 3@30", "1@30 2@20 3@10", "1@30 2@10 3@8 1@5", "1@10", "1@20 2@25 1@5", "1@5 2@15 3@15 1@25", "3@31 2@31 1@31 1@12", "2@12 2@26", "1@10 2@10.0001", "1@12 2@12 3@12", "1@31")


@proves("TRAN-JobsExpire-09", "TRAN-JobsExpire-10", "TRAN-JobsExpire-14", "TRAN-JobsExpire-17", "TRAN-UpdateSucceededItem-03", "TRAN-UpdateFailedItem-06",
        "TRAN-UpdateConversionBatch-09")
@sqlite_only("the clock goes back, which it never does for a database in PostgreSQL")
def test_jobs_and_items_expire_by_the_stops_that_they_have(db):
    """By a threshold that moves on hour by hour: jobs all of whose items have stopped before it go, and such items of the other jobs."""
    if db.word:
        return
    begin = datetime.datetime(2030, 6, 1)
    db.clock.set(begin)
    ways = ((PART, db.succeed), (PART2, db.fail), (None, lambda item, job: db.report(failed=[(job, 1, item, 3)])))
    stops, partition = {}, {}
    for job, ((part, stop), plan) in enumerate(itertools.product(ways, STOPS)):
        db.new_job(job, items=(1, 2, 3), attempts=0, partition=part)
        partition[job] = part
        stops.update({(job, item): None for item in (1, 2, 3)})
        for item, hour in (step.split("@") for step in plan.split()):
            db.clock.set(begin + datetime.timedelta(hours=float(hour)))
            stop(int(item), job=job)
            stops[job, int(item)] = db.clock.now
    for step, hour in enumerate((5, 5.1, 8.1, 10, 10.00005, 10.1, 12, 12.1, 15.1, 20, 20.1, 25.1, 26, 26.1, 30, 31, None)):
        threshold = None if hour is None else begin + datetime.timedelta(hours=hour)

        def over(job, stopped, among):
            return partition[job] in among and stopped is not None and (threshold is None or stopped < threshold)
        # One partition after the other, and all at once, by turns.
        for args, among in ((({"PartitionId": PART}, {PART}), ({"PartitionId": PART2}, {PART2}), ({}, {None})) if step % 2 else (({"AllPartitions": 1}, {PART, PART2, None}),)):
            gone = {job for job, _ in stops if all(over(j, s, among) for (j, _), s in stops.items() if j == job)}
            stops = {key: s for key, s in stops.items() if key[0] not in gone and not over(key[0], s, among)}
            db.ok("proc_JobsExpire", TimeThreshold=threshold, IncludeActiveJobs=0, **args)
            left = {(r.JobId, r.ItemId): r.StopTime for r in db.reader.run("SELECT JobId, ItemId, StopTime FROM dbo.Items").rows}
            assert left == stops and db.all_jobs() == sorted({job for job, _ in stops}), hour
            for table in ("item", "item_text"):         # which the procedures join
                assert number(db, f"SELECT count(*) FROM {table} WHERE n IN (SELECT n FROM job)") == len(stops)
    assert db.active() == len({job for job, _ in stops}) == 15


@proves("TRAN-AddJob-06", "TRAN-AddJob-07", "TRAN-AddJob-11", "TRAN-GetItemCount-03")
def test_what_was_reserved_counts_for_24_hours(db):
    """From the hour of the reservation on, over the end of the year."""
    if db.word:
        return
    db.clock.set(datetime.datetime(2031, 12, 31, 22, 40))
    limits = {"PartitionId": PART, "ItemCount": 6, "MaxItemsPerDay": 10, "MaxItemsPerPartitionPerDay": 10}
    assert db.call("proc_AddJob", **db.job_args(1, **limits)).status == 0
    statuses = []
    for job, hours in enumerate((1, 1, 20, 1), 2):       # at 23:40, 00:40, 20:40 and 21:40 the slot of 22 o'clock is still in the window
        moved(db, hours=hours)
        statuses.append(db.call("proc_AddJob", **db.job_args(job, **limits)).status)
    moved(db, hours=1)                                  # 22:40 of the next day
    statuses.append(db.call("proc_AddJob", **db.job_args(9, **limits)).status)
    assert statuses == ([0] * 5 if db.literal else [1, 1, 1, 1, 0])
    rows = db.reader.run("SELECT PartitionId, Hour, Items FROM dbo.ItemCounts ORDER BY Hour").rows
    assert [tuple(r) for r in rows] == ([] if db.literal else [(PART, datetime.datetime(2031, 12, 31, 22), 6), (PART, datetime.datetime(2032, 1, 1, 22), 6)])
    assert db.call("proc_GetItemCount", PartitionId=ZERO, Hour=22, Date=datetime.date(2031, 12, 31)).status == (0 if db.literal else 6)


@proves("TRAN-AddJob-06", "TRAN-AddJob-07", "TRAN-AddJob-11")
def test_the_limits_look_at_this_hour_and_the_23_before_it(db):
    """In the first instant of an hour: what was counted a day ago is over, and what clients announced for later hours is not yet."""
    if db.word:
        return
    now = datetime.datetime(2032, 6, 1, 10)
    db.clock.set(now)
    for hours, n in ((-24, 1000), (-23, 3), (0, 4), (1, 1000), (24 * 400, 1000)):
        at = now + datetime.timedelta(hours=hours)
        db.ok("proc_UpdateItemCount", PartitionId=PART, Hour=at.hour, Date=at.date(), ItemCount=n)

    def added(job, items, **limits):
        return db.call("proc_AddJob", **db.job_args(job, PartitionId=PART, ItemCount=items, **limits)).status == 0
    for limit in ("MaxItemsPerDay", "MaxItemsPerPartitionPerDay"):
        assert not added(1, 4, **{limit: 10})
    assert added(1, 3, MaxItemsPerDay=10, MaxItemsPerPartitionPerDay=10)
    assert added(2, 1, MaxItemsPerDay=10) == db.literal         # counted in this very hour
    assert db.reader.run(f"SELECT Items FROM dbo.ItemCounts WHERE Hour = '{clients.stamp(now)}'").rows == [(4 if db.literal else 7,)]
    assert added(3, 2147483647)                                 # without limits as many as there can be
    status = db.call("proc_GetItemCount", PartitionId=PART, Hour=now.hour, Date=now.date()).status
    assert status == (7 if db.literal else 2147483647)


def round_robin(waiting, partition):
    """E-TRAN-09: the first of every partition, then the second of each …; a key begins with the times of its job."""
    turns = collections.Counter()
    numbered = []
    for key in sorted(waiting):
        turns[partition[key[1]]] += 1
        numbered.append((turns[partition[key[1]]], key))
    return [key for _, key in sorted(numbered)]


@proves("WORD-GetConversionBatch-15", "TRAN-GetConversionBatch-15", "TRAN-GetConversionBatch-04", "TRAN-GetConversionBatch-05",
        "TRAN-GetConversionBatchInterleaved-04", "TRAN-GetConversionBatchInterleaved-05", "TRAN-GetConversionBatchInterleaved-15",
        "TRAN-GetConversionBatchInterleaved-16", "TRAN-GetConversionBatchInterleaved-17")
def test_batches_of_every_size_are_what_the_order_says(db):
    """Jobs of the same instant, numbers of items and jobs that run against that of groups and times; some of everything has started, ended or is canceled."""
    partition = {8: PART, 7: PART, 3: PART, 5: PART2, 6: None, 2: PART2, 4: None, 1: PART, 9: PART, 10: PART2}
    created, waiting, stale = {}, [], []

    def add(*jobs):
        for job in jobs:
            db.add_job(job, partition[job])
            for group, ids in ((2, (1, 3)), (1, (9, 4, 3))):
                db.add_group(job, group, ids)
                waiting.extend((job, group, i) for i in ids)
            if job != 10:
                db.submit(job)
            created[job] = db.clock.now

    def start(*keys):
        db.report(start=keys)
        for key in keys:
            waiting.remove(key)
        return list(keys)
    add(8)
    moved(db, minutes=1)
    add(7, 3, 6, 5)
    stale += start((8, 1, 9), (8, 1, 4), (8, 1, 3), (8, 2, 1), (5, 2, 1))          # the oldest job has nothing left, and is not done
    db.report(failed=[(8, 2, 3, 5)])
    waiting.remove((8, 2, 3))
    moved(db, minutes=1)
    add(4, 2, 9, 1, 10)
    stale += start((7, 1, 4), (2, 2, 3), (9, 1, 4), (6, 1, 9), (10, 1, 4))
    threshold = moved(db, minutes=1)
    start((3, 1, 4), (1, 2, 1))                                         # at the threshold is not before it
    db.succeed(4, job=7)
    stale.remove((7, 1, 4))
    db.report(failed=[(4, 1, 4, 5)])                                    # ended without a start
    waiting.remove((4, 1, 4))
    db.cancel(9)
    waiting, stale = ([(created[k[0]], *k) for k in keys if k[0] not in (9, 10)] for keys in (waiting, stale))
    for n in (*range(len(waiting + stale) + 1), 1000):
        if db.word:
            batches = {"proc_GetConversionBatch": sorted(waiting + stale)[:n]}
        else:
            batches = {"proc_GetConversionBatch": sorted(sorted(waiting)[:n] + stale),
                       "proc_GetConversionBatchInterleaved": sorted(round_robin(waiting, partition)[:n] + stale)}
        for proc, expected in batches.items():
            rows = db.handed(n, threshold, proc)
            assert [(r.CreateTime, r.JobId, r.GroupId, r.ItemId) for r in rows] == expected, f"{proc} {n}"
            assert [bool(r.InProgress) for r in rows] == [key in stale for key in expected]


@proves("WORD-Transport-01", "TRAN-Transport-01")
def test_jobs_are_there_for_the_next_connection(db):
    db.new_job(1, Name="kept")
    other = clients.connect("pymssql-rpc", db.server, db.database)
    assert [r.Name for r in other.call("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0).rows] == ["kept"]
    other.close()
