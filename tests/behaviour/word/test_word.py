"""Conversion jobs alone: user tokens, Reserved, optional output files, expiry of whole jobs."""
import itertools

import pytest

from support.jobs import LONG_AGO, PART, PART2, WORKER, next_tick
from support.proves import proves

TOKEN = {"UserTokenHeader": b"\x00" * 16, "UserTokenSid": b"\x01", "UserTokenGroups": b"\x02\x03"}


@proves("WORD-Model-09", "WORD-Xml-14")
def test_an_item_needs_no_output_file(db):
    db.new_job(1, items=[(1, "a.docx", None), (2, "b.docx", "")])
    assert [i.OutputFile for i in db.items()] == [None, ""] and [r.OutputFile for r in db.handed()] == [None, ""]


@proves("WORD-Model-14")
def test_a_group_needs_no_roots(db):
    db.new_job(1)
    db.add_group(1, 2, InputRoot=None, OutputRoot="out")
    assert [(g.InputRoot, g.OutputRoot) for g in db.groups(1)] == [(None, None), (None, "out")]


@proves("WORD-Model-17")
def test_settings_may_be_null(db):
    db.new_job(1, Settings=None)
    assert db.groups(1)[0].Settings is None and db.start(1)[0].Settings is None


# User tokens


@proves("WORD-Model-24", "WORD-Model-25", "WORD-Input-01", "WORD-Input-02")
@pytest.mark.parametrize("given", [c for n in (1, 2) for c in itertools.combinations(TOKEN, n)], ids="+".join)
def test_a_user_token_is_whole_or_not_there(db, given):
    db.refuses(547, "proc_AddJob", **db.job_args(1, **{k: TOKEN[k] for k in given}))
    db.add_job(1)
    db.add_job(2, **TOKEN)
    assert db.all_jobs() == [1, 2]


@proves("WORD-Model-25")
def test_an_empty_token_is_not_null(db):
    if db.sends_empty:
        db.new_job(1, **dict.fromkeys(TOKEN, b""))
        row, = db.start(1)
        assert (row.UserTokenHeader, row.UserTokenSid, row.UserTokenGroups) == (b"", b"", b"")
        db.refuses(547, "proc_AddJob", **db.job_args(2, UserTokenHeader=b"", UserTokenSid=b"\1"))


@proves("WORD-Model-26", "WORD-AddJob-03", "WORD-UpdateConversionBatch-16")
def test_tokens_come_back_byte_for_byte(db):
    token = {"UserTokenHeader": bytes(range(32)), "UserTokenSid": bytes(range(256)) * 20, "UserTokenGroups": b"\xff\x00\xfe"}
    db.new_job(1, partition=PART, **token)
    db.new_job(2)
    rows = db.report(start=[(1, 1, 1), (2, 1, 1)])
    assert [(r.JobId, r.UserTokenHeader, r.UserTokenSid, r.UserTokenGroups) for r in rows] == [(1, *token.values()), (2, None, None, None)]
    db.refuses(8152, "proc_AddJob", **db.job_args(3, **{**token, "UserTokenHeader": bytes(33)}))


@proves("WORD-GetJobs-03", "WORD-GetJobs-04")
def test_jobs_of_one_user(db):
    users = {1: (b"\x01", b"\x02"), 2: (b"\x01", b"\x03"), 3: (b"\x09", b"\x02"), 4: (b"\x01\x00", b"\x02")}
    for job, (sid, groups) in users.items():
        db.add_job(job, UserTokenHeader=b"\x07", UserTokenSid=sid, UserTokenGroups=groups)
    db.add_job(5)
    for job, (sid, groups) in users.items():
        assert db.listed(UserTokenSid=sid, UserTokenGroups=groups) == [job]
    assert db.listed(UserTokenSid=b"\x08", UserTokenGroups=b"\x02") == []
    everybody = [1, 2, 3, 4, 5]     # one half of a token filters nothing
    assert db.listed(UserTokenSid=b"\x01") == db.listed(UserTokenGroups=b"\x02") == db.listed(UserTokenSid=None, UserTokenGroups=b"\x02") == everybody


@proves("WORD-GetJobs-08")
def test_the_user_filter_combines_with_the_others(db):
    for job, partition in ((1, PART), (2, PART2), (3, PART)):
        db.new_job(job, partition=partition, submitted=job != 3, **TOKEN)
    user = {"UserTokenSid": TOKEN["UserTokenSid"], "UserTokenGroups": TOKEN["UserTokenGroups"]}
    assert db.listed(**user) == [1, 2, 3] and db.listed(PartitionId=PART, **user) == [1, 3] and db.listed(PartitionId=PART, SubmittedOnly=1, **user) == [1]


# Reserved


@proves("WORD-Model-10", "WORD-UpdateSucceededItem-06", "WORD-UpdateFailedItem-08")
def test_reserved_is_stored_and_shown_by_no_procedure(db):
    db.new_job(1, items=(1, 2), attempts=1)
    assert db.stored(1).Reserved is None
    db.start(1, 2)
    db.succeed(1, Reserved=b"\x01\x02")
    db.fail(2, Reserved=b"\x03")
    assert (db.stored(1).Reserved, db.stored(2).Reserved) == (b"\x01\x02", b"\x03")
    assert "Reserved" not in db.items()[0]._fields
    db.succeed(1)
    db.fail(2, Reserved=None)
    assert (db.stored(1).Reserved, db.stored(2).Reserved) == (None, None)


@proves("WORD-UpdateFailedItem-05")
def test_a_retry_leaves_reserved_alone(db):
    db.new_job(1, attempts=3)
    db.start(1)
    db.succeed(1, Reserved=b"\x01")
    db.fail(1, no_retry=0, Reserved=b"\x02")
    assert db.item().StartTime is None and db.stored().Reserved == b"\x01"


@proves("WORD-UpdateSucceededItem-06", "WORD-UpdateFailedItem-08")
@pytest.mark.parametrize("end", ("succeed", "fail"))
def test_what_is_reserved_belongs_to_one_item_of_one_group_of_one_job(db, end):
    """Written, written over and taken away, item by item; the others keep theirs."""
    for job in (1, 2):
        db.add_job(job)
        for group in (1, 2):
            db.add_group(job, group, items=(1, 2), attempts=1)
            db.start(1, 2, job=job, group=group)
    wanted = dict.fromkeys(itertools.product((1, 2), (1, 2), (1, 2)))
    for turn in ("first", "second", None):
        for job, group, item in wanted:
            wanted[job, group, item] = turn and f"{turn} {job} {group} {item}".encode()
            getattr(db, end)(item, job=job, group=group, Reserved=wanted[job, group, item])
            rows = db.reader.run("SELECT JobId, GroupId, ItemId, Reserved FROM dbo.Items").rows
            assert {tuple(r)[:3]: r.Reserved for r in rows} == wanted


# proc_GetItems


@proves("WORD-GetItems-04")
def test_items_are_listed_whatever_the_partition(db):
    db.new_job(1, items=(1, 2), partition=PART)
    flags = dict.fromkeys(("NotSubmitted", "NotStarted", "InProgress", "Succeeded", "Failed", "Canceled"), 1)
    seen = [db.ok("proc_GetItems", JobId=1, GroupId=1, **flags, **p).rows for p in ({}, {"PartitionId": None}, {"PartitionId": PART}, {"PartitionId": PART2})]
    assert len(seen[0]) == 2 and all(s == seen[0] for s in seen)


@proves("WORD-GetItems-02", "WORD-GetItems-03")
def test_null_names_no_item(db):
    db.new_job(1)
    assert db.items(None, 1) == [] and db.items(1, None) == []


# proc_JobsExpire


def lives(db):
    """One job of every kind: {name: JobId}."""
    db.new_job(1)                                   # running
    db.start(1, job=1)
    db.new_job(2)                                   # finished
    db.start(1, job=2)
    db.succeed(1, job=2)
    db.new_job(3)                                   # canceled, with an unfinished item
    db.cancel(3)
    db.new_job(4, submitted=False)                  # unsubmitted, with an item
    db.new_job(5, items=())                         # submitted, without items
    db.new_job(6, items=(), submitted=False)        # under construction
    db.new_job(7, items=(), submitted=False)        # canceled, without items
    db.cancel(7)
    db.new_job(8, submitted=False)                  # unsubmitted, all items finished
    db.report(failed=[(8, 1, 1, 0)])


@proves("WORD-JobsExpire-07", "WORD-JobsExpire-08", "WORD-JobsExpire-09")
@pytest.mark.parametrize("active, left", ((0, [1, 4, 6]), (None, [1, 4, 6]), (1, [])))
def test_active_jobs_are_kept_unless_asked_for(db, active, left):
    lives(db)
    db.ok("proc_JobsExpire", IncludeActiveJobs=active)
    assert db.all_jobs() == ([] if db.literal else left)


@proves("WORD-JobsExpire-10")
def test_all_criteria_must_hold(db):
    """Eight jobs that differ in partition, age and state; every pair of criteria leaves exactly those that break one."""
    kinds = {}
    for job, (part, finished) in enumerate(itertools.product((PART, PART2), (True, False)), 1):
        db.new_job(job, partition=part)
        kinds[job] = (part, "old", finished)
    next_tick()
    middle = None
    for job, (part, finished) in enumerate(itertools.product((PART, PART2), (True, False)), 5):
        db.new_job(job, partition=part)
        middle = middle or db.job(job).CreateTime
        kinds[job] = (part, "new", finished)
    for job, (_, _, finished) in kinds.items():
        if finished:
            db.succeed(1, job=job)
    before = set(kinds)
    db.ok("proc_JobsExpire", PartitionId=PART, TimeThreshold=LONG_AGO, IncludeActiveJobs=1)
    db.ok("proc_JobsExpire", PartitionId=PART2, JobId=1, IncludeActiveJobs=1)
    db.ok("proc_JobsExpire", AllPartitions=1, TimeThreshold=middle, JobId=8, IncludeActiveJobs=1)
    assert set(db.all_jobs()) == before
    db.ok("proc_JobsExpire", PartitionId=PART, TimeThreshold=middle, IncludeActiveJobs=0)
    before -= {j for j, (p, age, finished) in kinds.items() if p == PART and age == "old" and (finished or db.literal)}
    assert set(db.all_jobs()) == before
    db.ok("proc_JobsExpire", AllPartitions=1, JobId=6, IncludeActiveJobs=0)
    before -= {6} if db.literal else set()
    assert set(db.all_jobs()) == before
    db.ok("proc_JobsExpire", PartitionId=PART2, TimeThreshold=middle, IncludeActiveJobs=1)
    assert set(db.all_jobs()) == before - {3, 4}


@proves("WORD-JobsExpire-03")
def test_the_age_of_a_canceled_job_is_that_of_its_creation(db):
    db.new_job(1)
    created = db.job(1).CreateTime
    next_tick()
    db.cancel(1)
    db.ok("proc_JobsExpire", TimeThreshold=created, IncludeActiveJobs=0)
    assert db.all_jobs() == [1]
    db.ok("proc_JobsExpire", TimeThreshold=db.job(1).CancelTime, IncludeActiveJobs=0)
    assert db.all_jobs() == []


@proves("WORD-UpdateConversionBatch-05")
def test_a_worker_can_check_its_claim(db):
    db.new_job(1)
    db.start(1)
    assert db.stored().WorkerServerInstance == WORKER
