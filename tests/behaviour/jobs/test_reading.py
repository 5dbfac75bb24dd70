"""What the reading procedures show: proc_GetJobStatus, proc_GetJobs, proc_GetItems, proc_GetGroups."""
import pytest

from support.jobs import FLAGS, PART, PART2, ZERO, next_tick
from support.proves import proves


def every_class(db):
    """Job 1: running, one item a class; job 2: unsubmitted; job 3: canceled; job 4: canceled before it was submitted. In each of them an item
    1 waits, 2 is in progress, 3 succeeded, 4 failed, 5 failed before a start, 6 succeeded before one."""
    for job in (1, 2, 3, 4):
        db.new_job(job, items=(1, 2, 3, 4, 5, 6), attempts=1, submitted=job in (1, 3))
        db.start(2, 3, 4, job=job)
        db.succeed(3, 6, job=job)
        db.fail(4, job=job)
        db.report(failed=[(job, 1, 5, 6)])
    db.cancel(3)
    db.cancel(4)


@proves("WORD-GetJobStatus-06", "TRAN-GetJobStatus-06")
def test_total_is_the_number_of_items(db):
    db.add_job(1)
    assert db.counts(1) == {}
    db.add_group(1, 1, items=(1, 2))
    assert db.counts(1)["Total"] == 2
    db.add_group(1, 2, items=(1, 2, 3))
    db.new_job(2, items=(1,))
    assert db.counts(1)["Total"] == 5 and db.counts(2)["Total"] == 1


@proves("WORD-GetJobStatus-07", "TRAN-GetJobStatus-07", "WORD-GetJobStatus-08", "TRAN-GetJobStatus-08", "WORD-GetJobStatus-09", "TRAN-GetJobStatus-09",
        "WORD-GetJobStatus-10", "TRAN-GetJobStatus-10", "WORD-GetJobStatus-11", "TRAN-GetJobStatus-11", "WORD-GetJobStatus-12", "TRAN-GetJobStatus-12")
def test_every_item_is_counted_in_its_class(db):
    every_class(db)
    assert db.counts(1) == {"Total": 6, "NotStarted": 3, "InProgress": 1, "Succeeded": 1, "Failed": 1}
    assert db.counts(2) == {"Total": 6, "NotSubmitted": 6}
    assert db.counts(3) == {"Total": 6, "Canceled": 2, "Succeeded": 1, "Failed": 1}     # what stopped without a start counts nowhere
    assert db.counts(4) == {"Total": 6}                                                  # canceled before submission: nowhere


@proves("WORD-GetJobStatus-08", "TRAN-GetJobStatus-08")
def test_an_item_failed_before_it_started_counts_as_not_started(db):
    db.new_job()
    db.report(failed=[(1, 1, 1, 6)])
    assert db.counts() == {"Total": 1, "NotStarted": 1}


@proves("WORD-GetJobStatus-02", "TRAN-GetJobStatus-02")
def test_a_job_that_is_not_there_has_no_row(db):
    db.add_job(1)
    assert len(db.ok("proc_GetJobStatus", JobId=1).rows) == 1
    assert db.ok("proc_GetJobStatus", JobId=2).rows == [] and db.ok("proc_GetJobStatus", JobId=None).rows == []


@proves("WORD-GetJobStatus-03", "TRAN-GetJobStatus-03")
def test_status_of_a_partition(db):
    db.new_job(1, partition=PART)
    db.new_job(2)

    def seen(job, **args):
        return len(db.ok("proc_GetJobStatus", JobId=job, **args).rows)
    assert (seen(1, PartitionId=PART), seen(1, PartitionId=PART2), seen(1, PartitionId=ZERO)) == (1, 0, 0)
    assert (seen(2, PartitionId=PART), seen(2, PartitionId=ZERO), seen(2), seen(2, PartitionId=None)) == (0, 0, 1, 1)
    assert seen(1) == seen(1, PartitionId=None) == (1 if db.word else 0)     # NULL filters nothing in one, and equals only NULL in the other


@proves("WORD-GetJobStatus-13", "TRAN-GetJobStatus-13", "WORD-Model-27", "TRAN-Model-24")
@pytest.mark.parametrize("name", ("letters", None, "żółw 😀 \u4f60\u597d", "a'b;--<x>&", "n" * 5000))
def test_the_name_comes_back(db, name):
    db.add_job(1, Name=name)
    assert db.ok("proc_GetJobStatus", JobId=1).rows[0].Name == name and db.job(1).Name == name


# proc_GetJobs


@proves("WORD-GetJobs-02", "TRAN-GetJobs-02", "WORD-Model-23", "TRAN-Model-21")
def test_jobs_of_a_partition(db):
    db.add_job(1, PART)
    db.add_job(2, PART2)
    db.add_job(3)
    db.add_job(4, ZERO)
    assert (db.listed(PartitionId=PART), db.listed(PartitionId=PART2), db.listed(PartitionId=ZERO)) == ([1], [2], [4])
    assert db.listed() == db.listed(PartitionId=None) == ([1, 2, 3, 4] if db.word else [3])


def jobs_in_every_state(db):
    db.new_job(1, items=(1, 2))                         # running
    db.start(1)
    db.new_job(2)                                       # finished
    db.succeed(1, job=2)
    db.new_job(3)                                       # canceled
    db.cancel(3)
    db.new_job(4, submitted=False)                      # under construction
    db.new_job(5, items=())                             # submitted, without items
    db.add_job(6)                                       # empty


@proves("WORD-GetJobs-05", "TRAN-GetJobs-04", "WORD-GetJobs-06", "TRAN-GetJobs-05")
def test_active_jobs_only(db):
    jobs_in_every_state(db)
    assert db.listed(ActiveOnly=1) == [1, 4]
    assert db.active() == 1      # the job under construction is listed, and yet not active


@proves("WORD-GetJobs-07", "TRAN-GetJobs-06")
def test_submitted_jobs_only(db):
    jobs_in_every_state(db)
    assert db.listed(SubmittedOnly=1) == [1, 2, 3, 5]


@proves("WORD-GetJobs-08", "TRAN-GetJobs-07")
def test_filters_combine_and_null_filters_nothing(db):
    jobs_in_every_state(db)
    assert db.listed(ActiveOnly=None, SubmittedOnly=None) == db.listed() == [1, 2, 3, 4, 5, 6]
    assert db.listed(ActiveOnly=1, SubmittedOnly=1) == [1] and db.listed(ActiveOnly=None, SubmittedOnly=1) == [1, 2, 3, 5]
    db.new_job(7, partition=PART)
    db.new_job(8, partition=PART, submitted=False)
    assert db.listed(PartitionId=PART, ActiveOnly=1) == [7, 8] and db.listed(PartitionId=PART, ActiveOnly=1, SubmittedOnly=1) == [7]


@proves("WORD-GetJobs-11", "TRAN-GetJobs-10", "WORD-Model-18", "TRAN-Model-17")
def test_one_row_a_job_oldest_first(db):
    for job in (3, 1, 2):
        db.add_job(job, Name=f"job {job}")
        next_tick()
    db.submit(1)
    db.cancel(2)
    rows = db.ok("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0).rows
    assert [(r.JobId, r.Name, r.Submitted, r.CancelTime is None) for r in rows] == [
        (3, "job 3", False, True), (1, "job 1", True, True), (2, "job 2", False, False)]
    times = [r.CreateTime for r in rows]
    assert None not in times and times == sorted(times) and len(set(times)) == 3


# proc_GetItems


@proves("WORD-GetItems-02", "TRAN-GetItems-03", "WORD-GetItems-03", "TRAN-GetItems-04")
def test_items_of_one_group(db):
    for job in (1, 2):
        db.new_job(job, items=(10 * job, 10 * job + 1))
        db.add_group(job, 2, items=(100 * job,))
    assert [i.ItemId for i in db.items(1, 1)] == [10, 11] and [i.ItemId for i in db.items(2, 1)] == [20, 21]
    assert [i.ItemId for i in db.items(1, 2)] == [100] and [i.ItemId for i in db.items(2, 2)] == [200]
    assert db.items(3, 1) == [] and db.items(1, 3) == []


# Which items of every_class() belong to which class: {flag: {job: items}}
EVERY = {1, 2, 3, 4, 5, 6}
CLASSES = {"NotSubmitted": {2: EVERY}, "NotStarted": {1: {1, 5, 6}}, "InProgress": {1: {2}}, "Succeeded": {1: {3}, 3: {3}}, "Failed": {1: {4}, 3: {4}},
           "Canceled": {3: {1, 2}, 4: {1, 2}}}
ALL = dict.fromkeys((1, 2, 3, 4), EVERY)
CLASSLESS = {1: set(), 2: set(), 3: {5, 6}, 4: {3, 4, 5, 6}}


@pytest.mark.parametrize("flag", (
    pytest.param("NotSubmitted", marks=proves("WORD-GetItems-05", "TRAN-GetItems-06")),
    pytest.param("NotStarted", marks=proves("WORD-GetItems-06", "TRAN-GetItems-07")),
    pytest.param("InProgress", marks=proves("WORD-GetItems-07", "TRAN-GetItems-08")),
    pytest.param("Succeeded", marks=proves("WORD-GetItems-08", "TRAN-GetItems-09")),
    pytest.param("Failed", marks=proves("WORD-GetItems-09", "TRAN-GetItems-10")),
    pytest.param("Canceled", marks=proves("WORD-GetItems-10", "TRAN-GetItems-11"))))
def test_a_flag_of_zero_leaves_its_class_out(db, flag):
    every_class(db)
    for job, everything in ALL.items():
        without = {i.ItemId for i in db.items(job, **{flag: 0})}
        assert without == everything - CLASSES[flag].get(job, set()), f"job {job}"
        only = {i.ItemId for i in db.items(job, **{f: int(f == flag) for f in FLAGS})}
        assert only == CLASSES[flag].get(job, set()) | CLASSLESS[job], f"job {job}"


@proves("WORD-GetItems-11", "TRAN-GetItems-12")
def test_items_without_class_are_always_there_and_null_excludes_nothing(db):
    every_class(db)
    for job, everything in ALL.items():
        assert {i.ItemId for i in db.items(job)} == everything
        assert {i.ItemId for i in db.items(job, **dict.fromkeys(FLAGS))} == everything
        assert {i.ItemId for i in db.items(job, **dict.fromkeys(FLAGS, 0))} == CLASSLESS[job]


@proves("WORD-GetItems-14", "TRAN-GetItems-15")
def test_one_row_an_item(db):
    db.add_job(1)
    db.add_group(1, 1, items=[(5, "five.docx", "five.pdf"), (-1, "first.docx", "first.pdf"), (2147483647, "last.docx", "last.pdf"), (0, "zero.docx", "zero.pdf")])
    db.submit(1)
    db.report(start=[(1, 1, 0), (1, 1, 5)], failed=[(1, 1, 5, -3)])
    rows = db.items(1, 1)
    assert [(r.ItemId, r.InputFile, r.OutputFile, r.ErrorCode) for r in rows] == [
        (-1, "first.docx", "first.pdf", None), (0, "zero.docx", "zero.pdf", None), (5, "five.docx", "five.pdf", -3), (2147483647, "last.docx", "last.pdf", None)]
    assert [(r.StartTime is not None, r.StopTime is not None) for r in rows] == [(False, False), (True, False), (True, True), (False, False)]


# proc_GetGroups


@proves("WORD-GetGroups-03", "TRAN-GetGroups-03")
def test_groups_of_one_job(db):
    db.new_job(1)
    db.add_group(1, 2)
    db.new_job(2)
    assert [g.GroupId for g in db.groups(1)] == [1, 2] and [g.GroupId for g in db.groups(2)] == [1] and db.groups(3) == []


@proves("WORD-GetGroups-04", "TRAN-GetGroups-04", "WORD-Model-23", "TRAN-Model-21")
def test_groups_of_a_partition(db):
    db.new_job(1, partition=PART)
    db.new_job(2)
    assert [len(db.groups(1, PartitionId=p)) for p in (PART, PART2, None)] == [1, 0, 1] and len(db.groups(1)) == 1
    assert [len(db.groups(2, PartitionId=p)) for p in (PART, ZERO, None)] == [0, 0, 1]


@proves("WORD-GetGroups-07", "TRAN-GetGroups-07")
def test_one_row_a_group_with_what_its_job_says(db):
    db.add_job(1, Settings="<s>ä</s>")
    for group in (300, -5, 2):
        db.add_group(1, group, InputRoot=f"in {group}", OutputRoot=f"out {group}")
    job = db.job(1)
    rows = db.groups(1)
    assert [tuple(r) for r in rows] == [(g, f"in {g}", f"out {g}", job.CreateTime, None, False, "<s>ä</s>") for g in (-5, 2, 300)]
    db.submit(1)
    db.cancel(1)
    assert {(r.Submitted, r.CancelTime) for r in db.groups(1)} == {(True, db.job(1).CancelTime)} and db.job(1).CancelTime is not None
