"""Both job services while the clock moves: years pass, days and years end, and nothing happens unless somebody calls."""
import datetime
import itertools

import pytest

from support import clients
from support.clock import ClockServer
from support.jobs import ERRATA, FAR, PART, ZERO, Jobs, new_database
from support.proves import proves

BEGIN = datetime.datetime(2027, 12, 31, 22, 30, 0)


@pytest.fixture(scope="module")
def later():
    """A server whose clock stands still until the test moves it."""
    with ClockServer(BEGIN) as server:
        yield server


_numbers = itertools.count(1)


@pytest.fixture(params=[(s, e) for s in ("word", "translation") for e in ERRATA], ids="-".join)
def db(request, later):
    later.set(BEGIN + datetime.timedelta(days=100 * next(_numbers)))
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
    db.new_job(2)
    db.ok("proc_JobsExpire", **middle)
    assert db.all_jobs() == [2]


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


@proves("WORD-Transport-01", "TRAN-Transport-01")
def test_jobs_are_there_for_the_next_connection(db):
    db.new_job(1, Name="kept")
    other = clients.connect("pymssql-rpc", db.server, db.database)
    assert [r.Name for r in other.call("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0).rows] == ["kept"]
    other.close()
