"""Jobs come to an end: proc_CancelJob, proc_CancelAllActiveJobs, proc_HasActiveJobs, and what proc_JobsExpire does in both services."""
import datetime
import time

import pytest

from support.jobs import PART, PART2, ZERO, near, next_tick, utc
from support.proves import proves
from support.store import stored


@proves("WORD-CancelJob-03", "TRAN-CancelJob-03")
def test_cancel_sets_the_time(db):
    db.new_job(1)
    before = utc()
    db.cancel(1)
    assert near(db.job(1).CancelTime, before, utc()) and db.counts(1) == {"Total": 1, "Canceled": 1}


@proves("WORD-CancelJob-04", "TRAN-CancelJob-04")
def test_cancel_concerns_one_job(db):
    db.new_job(1)
    db.new_job(2)
    db.cancel(2)
    assert db.job(1).CancelTime is None and db.job(2).CancelTime is not None
    db.leaves("proc_CancelJob", JobId=3)


@proves("WORD-CancelJob-05", "TRAN-CancelJob-05", "WORD-Model-23", "TRAN-Model-21")
def test_cancel_needs_the_right_partition(db):
    db.new_job(1, partition=PART)
    db.new_job(2)
    for job, args in ((1, {}), (1, {"PartitionId": None}), (1, {"PartitionId": PART2}), (1, {"PartitionId": ZERO}), (2, {"PartitionId": PART}), (2, {"PartitionId": ZERO})):
        db.leaves("proc_CancelJob", JobId=job, **args)
    db.ok("proc_CancelJob", JobId=1, PartitionId=PART)
    db.ok("proc_CancelJob", JobId=2)
    assert db.job(1).CancelTime is not None and db.job(2).CancelTime is not None


@proves("WORD-CancelJob-06", "TRAN-CancelJob-06")
def test_a_second_cancel_keeps_the_first_time(db):
    db.new_job(1)
    db.cancel(1)
    next_tick()
    db.leaves("proc_CancelJob", JobId=1)


# proc_CancelAllActiveJobs


@proves("WORD-CancelAllActiveJobs-02", "TRAN-CancelAllActiveJobs-02", "WORD-CancelAllActiveJobs-03", "TRAN-CancelAllActiveJobs-03",
        "WORD-CancelAllActiveJobs-04", "TRAN-CancelAllActiveJobs-04")
def test_cancel_all_active_jobs(db):
    db.new_job(1, items=(1, 2), partition=PART)             # not started
    db.new_job(2, partition=PART2)                          # in progress
    db.start(1, job=2)
    db.new_job(3)                                           # finished
    db.start(1, job=3)
    db.succeed(1, job=3)
    db.new_job(4)                                           # finished without a start: active here only
    db.report(failed=[(4, 1, 1, 1)])
    db.new_job(5, submitted=False)
    db.new_job(6, items=(), submitted=False)
    db.new_job(7, items=())                                 # submitted, without items
    db.new_job(8)
    db.cancel(8)
    db.new_job(9, submitted=False)                          # finished before it was submitted
    db.start(1, job=9)
    db.succeed(1, job=9)
    earlier = db.job(8).CancelTime
    next_tick()
    before = utc()
    db.ok("proc_CancelAllActiveJobs")
    after = utc()
    canceled = {j: db.job(j).CancelTime for j in range(1, 10)}
    now = {j for j, t in canceled.items() if t is not None and near(t, before, after)}
    assert now == {1, 2, 4, 5, 6, 9} and len({canceled[j] for j in now}) == 1
    assert canceled[3] is None and canceled[7] is None and canceled[8] == earlier
    assert [db.job(j).Submitted for j in range(1, 10)] == [True, True, True, True, False, False, True, True, False]


# proc_HasActiveJobs


def jobs_one_by_one(db):
    """Yields (what was done, number of active jobs in the corrected reading, number of canceled ones with unfinished items)."""
    yield "nothing", 0, 0
    db.new_job(1, items=(1, 2), submitted=False, partition=PART)
    yield "unsubmitted", 0, 0
    db.new_job(2, items=())
    yield "without items", 0, 0
    db.new_job(4, submitted=False)
    db.cancel(4)
    yield "canceled before it was submitted", 0, 0
    db.submit(1)
    yield "submitted", 1, 0
    db.new_job(3)
    db.start(1, job=3)
    yield "two submitted", 2, 0
    db.cancel(3)
    yield "one canceled", 1, 1
    db.start(1)
    db.succeed(1)
    yield "one of two items finished", 1, 1
    db.report(failed=[(1, 1, 2, 1)])
    yield "all finished", 0, 1
    db.succeed(1, job=3)
    yield "the canceled one finished, too", 0, 0


@proves("WORD-HasActiveJobs-02", "WORD-HasActiveJobs-03", "TRAN-HasActiveJobs-02", "TRAN-HasActiveJobs-03")
def test_active_jobs_are_counted(db):
    for what, active, canceled in jobs_one_by_one(db):
        expected = int((canceled if db.literal else active) > 0) if db.word else active
        assert db.active() == expected, what


# proc_JobsExpire, as far as both services agree


def expire(db, **args):
    db.ok("proc_JobsExpire", **{"IncludeActiveJobs": 1, **args})
    return db.all_jobs()


@proves("WORD-JobsExpire-02", "TRAN-JobsExpire-04", "WORD-Model-23", "TRAN-Model-21")
@pytest.mark.parametrize("args, left", (
    ({}, [1, 2]), ({"PartitionId": None}, [1, 2]), ({"PartitionId": PART}, [2, 3]), ({"PartitionId": ZERO}, [1, 2, 3]), ({"AllPartitions": 1}, []),
    ({"AllPartitions": 1, "PartitionId": PART}, []), ({"AllPartitions": 0, "PartitionId": PART2}, [1, 3]), ({"AllPartitions": None, "PartitionId": PART2}, [1, 3])))
def test_expiry_by_partition(db, args, left):
    db.new_job(1, partition=PART)
    db.new_job(2, partition=PART2)
    db.new_job(3)
    assert expire(db, **args) == left


@proves("WORD-JobsExpire-03", "WORD-JobsExpire-04", "TRAN-JobsExpire-06", "TRAN-JobsExpire-12", "WORD-JobsExpire-09")
def test_expiry_by_age(db):
    for job in (1, 2, 3):
        db.new_job(job)
        next_tick()
    second = db.job(2).CreateTime
    assert expire(db, TimeThreshold=db.job(1).CreateTime) == [1, 2, 3]
    assert expire(db, TimeThreshold=second) == [2, 3]           # created exactly then: stays
    assert expire(db, TimeThreshold=second + datetime.timedelta(milliseconds=4)) == [3]
    assert expire(db, TimeThreshold=None) == []


@proves("WORD-JobsExpire-05", "WORD-JobsExpire-06", "TRAN-JobsExpire-05", "WORD-JobsExpire-09")
def test_expiry_by_number(db):
    for job in (1, 2, 3):
        db.new_job(job)
    assert expire(db, JobId=9) == [1, 2, 3] and expire(db, JobId=2) == [1, 3] and expire(db, JobId=None) == []


@proves("WORD-JobsExpire-11", "TRAN-JobsExpire-03")
def test_groups_and_items_go_with_their_job(db):
    db.new_job(1, items=(1, 2))
    db.start(1)
    assert expire(db) == []
    assert db.groups(1) == [] and db.items(1) == [] and db.handed() == [] and db.ok("proc_GetJobStatus", JobId=1).rows == []
    assert db.everything()[:3] == [[], [], []]
    db.leaves("proc_UpdateSucceededItem", JobId=1, GroupId=1, ItemId=2)
    db.new_job(1, items=(1,))
    assert db.counts(1) == {"Total": 1, "NotStarted": 1} and db.item().StartTime is None


def test_the_rows_of_deleted_jobs_leave_the_store(one_way):
    """They are unreachable at once; the server removes them in its own time, and yet soon."""
    db = one_way
    for job, items in ((1, range(1, 1201)), (2, (1, 2)), (3, range(1, 700))):
        db.new_job(job, items=items)
        db.add_group(job, 2)
        if db.word:
            db.succeed(1, 2, job=job, Reserved=b"\x07")
        db.ok("procession_item_failed", JobId=job, GroupId=2, ItemId=1, ErrorCode=7, Reason="why")
    assert expire(db, JobId=1) == [2, 3] and expire(db, JobId=3) == [2]
    tables = ("item", "item_text", "grp", "job_text") + (("item_reserved",) if db.word else ())
    left = "SELECT (SELECT count(*) FROM garbage) + (SELECT count(*) FROM failure WHERE job NOT IN (SELECT n FROM job))" + "".join(f" + (SELECT count(*) FROM {t} WHERE n NOT IN (SELECT n FROM job))" for t in tables)
    with stored(db.server, db.database) as store:
        until = time.monotonic() + 60
        while store.rows(left) != [(0,)]:
            assert time.monotonic() < until, "rows are left"
            time.sleep(0.05)
    assert db.counts(2)["Total"] == 3 and [g.GroupId for g in db.groups(2)] == [1, 2]
    if db.word:
        assert [db.stored(item, 2).Reserved for item in (1, 2)] == [b"\x07", b"\x07"]
    before = db.server.processor_seconds()
    time.sleep(1)
    assert db.server.processor_seconds() - before < 0.5, "it goes on although nothing is left"


@proves("WORD-JobsExpire-08", "TRAN-JobsExpire-11")
def test_a_job_under_construction_is_kept(db):
    """A client that is still adding groups does not lose its job, except by the letter of the text."""
    db.add_job(1)
    db.ok("proc_JobsExpire", AllPartitions=1, IncludeActiveJobs=0)
    if db.literal:
        db.refuses(547, "proc_AddGroup", **db.group_args(1))
    else:
        db.add_group(1)
        assert db.counts(1) == {"Total": 1, "NotSubmitted": 1}


@proves("WORD-GetJobs-06", "TRAN-GetJobs-05", "WORD-HasActiveJobs-03", "TRAN-HasActiveJobs-03")
def test_a_job_of_several_groups_is_active_until_its_last_item_stops(db):
    for job in (2, 1):                      # the second one, of the same numbers, is never submitted
        db.add_job(job)
        for group in (1, 2, 3):
            db.add_group(job, group, tuple(range(1, group + 1)))
    db.submit(1)
    items = [(group, item) for group in (1, 2, 3) for item in range(1, group + 1)]
    for group, item in items:
        assert sorted(db.listed(ActiveOnly=1)) == [1, 2] and (db.active() == 1 or db.literal)
        db.report(start=[(1, group, item)])
        (db.succeed if item % 2 else db.fail)(item, group=group)
        (db.succeed if item % 2 else db.fail)(item, group=group)            # a second report changes nothing
        db.report(failed=[(1, group, item, 5)])
    assert db.listed(ActiveOnly=1) == [2] and db.active() == 0
    if not db.literal:                      # there some were put back, and stopped without another start
        db.ok("proc_CancelAllActiveJobs")
        assert db.job(1).CancelTime is None
