"""Translation jobs alone: what must not be NULL, users, partitions, sharing among partitions, expiry of jobs and items."""
import datetime

import pytest

from support.jobs import FAR, FLAGS, LONG_AGO, PART, PART2, ZERO, next_tick
from support.proves import proves

MIXED = "proc_GetConversionBatchInterleaved"
TICK = datetime.timedelta(milliseconds=4)


@proves("TRAN-Model-08", "TRAN-Xml-14")
def test_an_item_needs_an_output_file(db):
    db.add_job(1)
    db.refuses(6906, "proc_AddGroup", **db.group_args(1, items=[(1, "a", "b"), (2, "c", None)]))
    db.add_group(1, items=[(1, "a", "")])
    assert db.item().OutputFile == ""


@pytest.mark.parametrize("proc, name", (
    pytest.param("proc_AddGroup", "InputRoot", marks=proves("TRAN-Model-12")), pytest.param("proc_AddGroup", "OutputRoot", marks=proves("TRAN-Model-13")),
    pytest.param("proc_AddJob", "Settings", marks=proves("TRAN-Model-16")), pytest.param("proc_AddJob", "UserToken", marks=proves("TRAN-Model-23"))))
def test_what_must_not_be_null_may_be_empty(db, proc, name):
    db.add_job(1)
    args = db.group_args(1) if proc == "proc_AddGroup" else db.job_args(2)
    db.refuses(515, proc, **{**args, name: None})
    if db.sends_empty:
        db.ok(proc, **{**args, name: b"" if name == "UserToken" else ""})
        job = 1 if proc == "proc_AddGroup" else db.add_group(2) or 2
        row, = db.start(1, job=job)
        assert getattr(row, name) in (b"", "")


@proves("TRAN-Model-07", "TRAN-Model-08")
def test_files_and_roots_are_not_joined(db):
    db.add_job(1)
    db.add_group(1, InputRoot="http://contoso.com/in", OutputRoot="http://contoso.com/out", items=[(1, "a/b.docx", "c.docx")])
    db.submit(1)
    assert (db.item().InputFile, db.handed()[0].OutputFile) == ("a/b.docx", "c.docx")
    assert (db.groups(1)[0].InputRoot, db.start(1)[0].OutputRoot) == ("http://contoso.com/in", "http://contoso.com/out")


@proves("TRAN-Model-23", "TRAN-AddJob-03", "TRAN-UpdateConversionBatch-16")
def test_the_token_comes_back_byte_for_byte(db):
    token = bytes(range(256)) * 40
    db.new_job(1, partition=PART, UserToken=token)
    row, = db.start(1)
    assert bytes(row.UserToken) == token and row.PartitionId == PART


@proves("TRAN-GetJobs-03", "TRAN-Model-22", "TRAN-AddJob-03")
def test_jobs_of_one_user(db):
    for job, user in enumerate(("anna@contoso.com", "Anna@contoso.com", "żółw", None), 1):
        db.add_job(job, UserId=user)
    assert db.listed(UserId="anna@contoso.com") == [1] and db.listed(UserId="ANNA@CONTOSO.COM") == [] and db.listed(UserId="żółw") == [3]
    assert db.listed(UserId="anna@contoso.com  ") == [1]       # trailing spaces mean nothing
    assert db.listed(UserId=None) == db.listed() == [1, 2, 3, 4]
    db.add_job(5, UserId="berta ")
    assert db.listed(UserId="berta") == db.listed(UserId="berta   ") == [5]


@proves("TRAN-GetJobs-07")
def test_the_user_filter_combines_with_the_others(db):
    for job, part in ((1, PART), (2, PART2), (3, PART)):
        db.new_job(job, partition=part, submitted=job != 3, UserId="u")
    assert db.listed(UserId="u") == [] and db.listed(UserId="u", PartitionId=PART) == [1, 3] and db.listed(UserId="u", PartitionId=PART, SubmittedOnly=1) == [1]


@proves("TRAN-GetItems-05", "TRAN-GetJobStatus-03")
def test_items_of_a_partition(db):
    db.new_job(1, partition=PART)
    db.new_job(2)
    flags = dict.fromkeys(FLAGS, 1)

    def seen(job, *part):
        return len(db.ok("proc_GetItems", JobId=job, GroupId=1, **flags, **({"PartitionId": part[0]} if part else {})).rows)
    assert [seen(1, PART), seen(1, PART2), seen(1, ZERO), seen(1, None), seen(1)] == [1, 0, 0, 0, 0]
    assert [seen(2, PART), seen(2, ZERO), seen(2, None), seen(2)] == [0, 0, 1, 1]
    assert len(db.groups(1)) == 1       # which does not filter by NULL


# Sharing among partitions


def shares(rows):
    """How many rows each job has."""
    return [sum(1 for r in rows if r.JobId == job) for job in sorted({r.JobId for r in rows})]


@proves("TRAN-GetConversionBatchInterleaved-15")
@pytest.mark.parametrize("n, expected", ((1, [1]), (3, [1, 1, 1]), (4, [2, 1, 1]), (6, [3, 2, 1]), (12, [9, 2, 1]), (100, [10, 2, 1])))
def test_partitions_share_evenly(db, n, expected):
    for job, (part, items) in enumerate(((PART, 10), (PART2, 2), (ZERO, 1)), 1):
        db.new_job(job, items=range(1, items + 1), partition=part)
        next_tick()
    assert shares(db.handed(n, proc=MIXED)) == expected


@proves("TRAN-GetConversionBatchInterleaved-16")
def test_jobs_without_partition_are_one_partition(db):
    db.new_job(1, items=range(1, 11), partition=PART)
    db.new_job(2, items=range(1, 6))
    db.new_job(3, items=range(1, 6))
    rows = db.handed(4, proc=MIXED)
    assert [(r.JobId, r.ItemId) for r in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]


@proves("TRAN-GetConversionBatchInterleaved-17", "TRAN-GetConversionBatchInterleaved-05")
def test_the_oldest_of_a_partition_go_first_and_stale_ones_count_for_nobody(db):
    for job, part in ((9, PART), (1, PART), (5, PART2)):
        db.new_job(job, items=(1, 2, 3), partition=part)
        next_tick()
    db.start(1, 2, job=9)
    assert db.keys(4, FAR, MIXED) == [(9, 1, 1), (9, 1, 2), (9, 1, 3), (1, 1, 1), (5, 1, 1), (5, 1, 2)]
    assert db.keys(4, LONG_AGO, MIXED) == [(9, 1, 3), (1, 1, 1), (5, 1, 1), (5, 1, 2)]


# proc_JobsExpire


def expire(db, **args):
    db.ok("proc_JobsExpire", **{"IncludeActiveJobs": 0, **args})
    return db.all_jobs()


@proves("TRAN-JobsExpire-05")
def test_a_job_named_by_its_number_goes_whatever_its_state(db):
    db.new_job(1, partition=PART)
    db.start(1)
    db.new_job(2, partition=PART)
    assert expire(db, JobId=1, TimeThreshold=LONG_AGO) == [1, 2] and expire(db, JobId=1, PartitionId=PART2) == [1, 2]
    assert expire(db, JobId=1, PartitionId=PART, TimeThreshold=LONG_AGO) == [2]
    assert expire(db, JobId=2, AllPartitions=1, TimeThreshold=LONG_AGO) == []


@proves("TRAN-JobsExpire-05", "TRAN-JobsExpire-09")
def test_a_number_leaves_the_items_of_others_alone(db):
    db.new_job(1)
    db.new_job(2, items=(1, 2))
    db.succeed(1, job=2)
    assert expire(db, JobId=1) == [2] and db.counts(2)["Total"] == 2


@proves("TRAN-JobsExpire-07", "TRAN-JobsExpire-13")
def test_canceled_jobs_go_by_the_time_of_canceling(db):
    for job in (1, 2, 3):
        db.new_job(job)
    next_tick()
    db.cancel(1)
    next_tick()
    db.cancel(2)
    first, second = db.job(1).CancelTime, db.job(2).CancelTime
    assert expire(db, TimeThreshold=first) == [1, 2, 3] and expire(db, TimeThreshold=second) == [2, 3]
    assert expire(db, TimeThreshold=second + TICK) == [3]
    db.cancel(3)
    assert expire(db) == []


@proves("TRAN-JobsExpire-08", "TRAN-JobsExpire-12")
def test_unsubmitted_jobs_go_only_with_a_threshold(db):
    db.new_job(1, submitted=False)
    next_tick()
    db.new_job(2, submitted=False)
    assert expire(db) == [1, 2]
    created = db.job(2).CreateTime
    assert expire(db, TimeThreshold=db.job(1).CreateTime) == [1, 2] and expire(db, TimeThreshold=created) == [2] and expire(db, TimeThreshold=created + TICK) == []


@proves("TRAN-JobsExpire-09", "TRAN-JobsExpire-14")
def test_finished_items_go_from_jobs_that_stay(db):
    db.new_job(1, items=(1, 2, 3))
    db.add_group(1, 2, items=(3, 7))            # an item 3 of its own
    db.start(1, 2, 3)
    db.succeed(1)
    next_tick()
    db.fail(2, error=3)
    if db.literal:
        db.report(failed=[(1, 1, 2, 3)])
    db.report(failed=[(1, 2, 3, 3), (1, 2, 7, 3)])
    first, second = db.item(1).StopTime, db.item(2).StopTime
    assert expire(db, TimeThreshold=first) == [1] and db.counts(1)["Total"] == 5
    assert expire(db, TimeThreshold=second) == [1] and [i.ItemId for i in db.items()] == [2, 3]      # stopped exactly then: stays
    assert expire(db) == [1] and [i.ItemId for i in db.items()] == [3] and db.items(1, 2) == []
    assert [g.GroupId for g in db.groups(1)] == [1, 2] and db.counts(1) == {"Total": 1, "InProgress": 1} and db.active() == 1
    db.succeed(3)
    assert db.active() == 0


@proves("TRAN-JobsExpire-04", "TRAN-JobsExpire-09")
def test_items_of_other_partitions_stay(db):
    for job, part in ((1, PART), (2, PART2), (3, None)):
        db.new_job(job, items=(1, 2), partition=part)
        db.start(1, job=job)
        db.succeed(1, job=job)
    expire(db, PartitionId=PART)
    assert [db.counts(j)["Total"] for j in (1, 2, 3)] == [1, 2, 2]
    expire(db)
    assert [db.counts(j)["Total"] for j in (1, 2, 3)] == [1, 2, 1]
    expire(db, AllPartitions=1)
    assert [db.counts(j)["Total"] for j in (1, 2, 3)] == [1, 1, 1]


@proves("TRAN-JobsExpire-10", "TRAN-JobsExpire-14")
def test_jobs_go_when_all_their_items_are_old_enough(db):
    db.new_job(1, items=(1, 2))
    db.new_job(2)
    db.start(1, 2)
    db.succeed(1)
    next_tick()
    db.succeed(2)
    last = db.item(2).StopTime
    assert expire(db, TimeThreshold=last) == [1, 2] and [i.ItemId for i in db.items()] == [2]
    assert expire(db, TimeThreshold=last + TICK) == [2]
    db.report(failed=[(2, 1, 1, 0)])            # stopped without a start is stopped, too
    assert expire(db) == []


@proves("TRAN-JobsExpire-17")
def test_jobs_go_that_were_created_and_completed_before(db):
    """Between its creation and its end a job stays, whatever of it has ended."""
    db.new_job(1, items=(1, 2))
    created = db.job(1).CreateTime
    assert expire(db, TimeThreshold=FAR) == [1]                         # not completed
    next_tick()
    db.start(1, 2)
    db.report(failed=[(1, 1, 1, 3)])
    assert expire(db, TimeThreshold=created + TICK) == [1]              # half of it
    next_tick()
    db.report(failed=[(1, 1, 2, 3)])
    completed = db.item(2).StopTime
    assert created < completed
    for threshold in (created, created + TICK, completed):
        assert expire(db, TimeThreshold=threshold) == [1]
    next_tick()
    db.new_job(2)
    assert expire(db, TimeThreshold=completed + TICK) == [2]


REPORTS = {"succeeded": lambda db, group, item: db.succeed(item, group=group), "failed": lambda db, group, item: db.fail(item, group=group),
           "failed in a batch": lambda db, group, item: db.report(failed=[(1, group, item, 3)])}


@proves("TRAN-JobsExpire-10", "TRAN-UpdateSucceededItem-06", "TRAN-UpdateFailedItem-11", "TRAN-UpdateConversionBatch-10")
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("group, item", ((9, 1), (1, 9)))
def test_reports_about_items_that_a_job_does_not_have_keep_it_from_nothing(db, report, group, item):
    """They are items of another job, even."""
    db.new_job(1, attempts=0)
    db.new_job(2, items=(1, 9))
    db.add_group(2, 9)
    db.succeed(1)
    stopped = db.item(1).StopTime
    next_tick()
    next_tick()
    before = db.everything()
    REPORTS[report](db, group, item)
    assert db.everything() == before
    assert expire(db, TimeThreshold=stopped) == [1, 2] and expire(db, TimeThreshold=stopped + TICK) == [2]


@proves("TRAN-JobsExpire-11")
@pytest.mark.parametrize("submitted", (True, False))
def test_jobs_without_items(db, submitted):
    db.new_job(1, items=(), submitted=submitted)
    created = db.job(1).CreateTime
    kept = [] if db.literal else [1]
    assert expire(db, TimeThreshold=created) == kept
    if not db.literal:
        assert expire(db) == ([] if submitted else [1])
        if not submitted:
            assert expire(db, TimeThreshold=created + TICK) == []       # by the rule of unsubmitted jobs


@proves("TRAN-JobsExpire-06")
def test_active_jobs_go_when_asked_for(db):
    for job in (1, 2):
        db.new_job(job, items=(1, 2))
        db.start(1, job=job)
        next_tick()
    db.succeed(1, job=2)
    assert expire(db, IncludeActiveJobs=1, TimeThreshold=db.job(2).CreateTime) == [2] and db.counts(2)["Total"] == 2
    assert expire(db, IncludeActiveJobs=1) == []


@proves("TRAN-JobsExpire-07", "TRAN-JobsExpire-12")
def test_an_old_job_that_was_canceled_later_stays(db):
    """Where MS-WORDSSP2 looks at CreateTime, this looks at CancelTime."""
    db.new_job(1)
    next_tick()
    db.cancel(1)
    assert expire(db, TimeThreshold=db.job(1).CreateTime + TICK) == [1]
