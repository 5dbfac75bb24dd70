"""proc_GetConversionBatch (and its interleaved form): what is handed out, in which order, how much of it."""
import datetime

import pytest

from support.jobs import FAR, LONG_AGO, PART, PART2, WORKER, next_tick
from support.proves import proves

PLAIN, MIXED = "proc_GetConversionBatch", "proc_GetConversionBatchInterleaved"


def procs(db):
    return (PLAIN,) if db.word else (PLAIN, MIXED)


@proves("WORD-GetConversionBatch-03", "TRAN-GetConversionBatch-03", "TRAN-GetConversionBatchInterleaved-03", "WORD-Model-22", "TRAN-Model-20")
def test_only_waiting_items_of_submitted_jobs_are_handed_out(db):
    db.new_job(1, items=(1, 2, 3), attempts=1)      # 1 started, 2 finished, 3 waits
    db.new_job(2, submitted=False)
    db.new_job(3)
    db.cancel(3)
    db.new_job(4)
    db.report(failed=[(4, 1, 1, 5)])                # stopped without ever starting
    db.start(1, 2)
    db.succeed(2)
    for proc in procs(db):
        assert db.keys(proc=proc) == [(1, 1, 3)]
    db.submit(2)
    for proc in procs(db):
        assert sorted(db.keys(proc=proc)) == [(1, 1, 3), (2, 1, 1)]


@proves("WORD-GetConversionBatch-04", "TRAN-GetConversionBatch-04", "TRAN-GetConversionBatchInterleaved-04")
def test_a_started_item_is_stale_only_before_the_threshold(db):
    db.new_job(1)
    db.start(1)
    began = db.item().StartTime
    tick = datetime.timedelta(milliseconds=4)
    for proc in procs(db):
        assert db.keys(threshold=began - tick, proc=proc) == []
        assert db.keys(threshold=began, proc=proc) == []
        assert db.keys(threshold=began + tick, proc=proc) == [(1, 1, 1)]


@proves("WORD-GetConversionBatch-04", "TRAN-GetConversionBatch-04", "TRAN-GetConversionBatchInterleaved-04")
@pytest.mark.parametrize("state", ("canceled", "unsubmitted", "stopped"))
def test_these_are_never_stale(db, state):
    db.new_job(submitted=state != "unsubmitted")
    db.start(1)
    if state == "canceled":
        db.cancel()
    if state == "stopped":
        db.succeed(1)
    for proc in procs(db):
        assert db.handed(threshold=FAR, proc=proc) == []


def three_stale_five_new(db):
    db.new_job(1, items=range(1, 9))
    db.start(2, 5, 8)


@proves("WORD-GetConversionBatch-05")
def test_word_caps_stale_and_new_items_together(db):
    three_stale_five_new(db)
    if db.word:
        assert db.keys(4, FAR) == [(1, 1, 1), (1, 1, 2), (1, 1, 3), (1, 1, 4)]
        assert db.keys(3) == [(1, 1, 1), (1, 1, 3), (1, 1, 4)]


@proves("TRAN-GetConversionBatch-05", "TRAN-GetConversionBatchInterleaved-05")
def test_translation_gives_every_stale_item_besides(db):
    three_stale_five_new(db)
    for proc in procs(db) if not db.word else ():
        assert db.keys(4, FAR, proc=proc) == [(1, 1, i) for i in (1, 2, 3, 4, 5, 6, 8)]
        assert db.keys(3, proc=proc) == [(1, 1, 1), (1, 1, 3), (1, 1, 4)]


@proves("WORD-GetConversionBatch-06", "TRAN-GetConversionBatch-06", "TRAN-GetConversionBatchInterleaved-06")
def test_the_number_is_a_maximum(db):
    db.new_job(1, items=(1, 2, 3, 4, 5))
    db.start(5)
    for proc in procs(db):
        assert len(db.handed(10, FAR, proc)) == 5 and len(db.handed(2147483647, FAR, proc)) == 5
        assert db.keys(0, FAR, proc) == ([] if db.word else [(1, 1, 5)])
        assert db.keys(0, LONG_AGO, proc) == []
        error = db.refuses(127, proc, NumberOfConversionsInBatch=-1, InProgressThreshold=FAR)
        assert error.severity in (15, None)


@proves("WORD-GetConversionBatch-07", "TRAN-GetConversionBatch-07", "TRAN-GetConversionBatchInterleaved-07")
def test_handing_out_claims_nothing(db):
    db.new_job(1, items=(1, 2), attempts=1)
    db.start(1)
    other = db.another()
    for proc in procs(db):
        before = db.everything()
        first = db.handed(threshold=FAR, proc=proc)
        assert [(r.ItemId, r.AttemptsRemaining) for r in first] == [(1, 0), (2, 1)]     # without attempts, and yet handed out
        assert other.call(proc, NumberOfConversionsInBatch=1000, InProgressThreshold=FAR).rows == first == db.handed(threshold=FAR, proc=proc)
        assert db.everything() == before
    other.close()


@proves("WORD-GetConversionBatch-10", "TRAN-GetConversionBatch-10", "TRAN-GetConversionBatchInterleaved-10")
def test_in_progress_tells_stale_from_new(db):
    db.new_job(1, items=(1, 2))
    db.start(2)
    for proc in procs(db):
        assert [(r.ItemId, r.InProgress, r.WorkerServerInstance) for r in db.handed(threshold=FAR, proc=proc)] == [(1, False, None), (2, True, WORKER)]


@proves("WORD-GetConversionBatch-11", "TRAN-GetConversionBatch-11", "TRAN-GetConversionBatchInterleaved-11",
        "WORD-GetConversionBatch-12", "TRAN-GetConversionBatch-12", "TRAN-GetConversionBatchInterleaved-12")
def test_new_rows_have_neither_worker_nor_start(db):
    db.new_job(1, items=(1, 2), attempts=5)
    db.start(1)
    db.fail(1, no_retry=0)
    for proc in procs(db):
        rows = db.handed(threshold=FAR, proc=proc)
        assert len(rows) == 2 and all((r.InProgress, r.WorkerServerInstance, r.StartTime) == (False, None, None) for r in rows)


@proves("WORD-GetConversionBatch-13", "TRAN-GetConversionBatch-13", "TRAN-GetConversionBatchInterleaved-13")
def test_rows_tell_what_was_added_and_reported(db):
    db.add_job(3)
    next_tick()
    db.add_group(3, 7, items=[(11, "a b.docx", "a b.pdf"), (12, "ü.docx", "")], attempts=9)
    db.submit(3)
    db.start(11, job=3, group=7)
    for proc in procs(db):
        stale, new = db.handed(threshold=FAR, proc=proc)
        assert stale[:7] == (3, 7, 11, True, "a b.docx", "a b.pdf", 8) and new[:7] == (3, 7, 12, False, "ü.docx", "", 9)
        assert stale.WorkerServerInstance == WORKER and stale.StartTime == db.item(11, 3, 7).StartTime
        assert stale.CreateTime == new.CreateTime == db.job(3).CreateTime


@proves("WORD-GetConversionBatch-15", "TRAN-GetConversionBatch-15")
def test_the_oldest_job_goes_first(db):
    for job in (5, 1, 3):
        db.add_job(job)
        next_tick()
    for job in (1, 3, 5):
        for group in (2, 1):
            db.add_group(job, group, items=(2, 1))
        db.submit(job)
    order = [(job, group, item) for job in (5, 1, 3) for group in (1, 2) for item in (1, 2)]
    assert db.keys() == order and db.keys(5) == order[:5]
    db.report(start=[(3, 1, 1), (5, 1, 1)])
    if db.word:
        assert db.keys(5, FAR) == order[:5]
    else:
        assert db.keys(5, FAR) == order[:6] + [(3, 1, 1)]       # five new ones and both stale ones, in one order


@proves("WORD-GetConversionBatch-15", "TRAN-GetConversionBatch-15")
def test_jobs_of_one_instant_go_by_number(one_way):
    """Many jobs in one batch, so that several share a tick of the clock."""
    db = one_way
    more = "" if db.word else ", @UserToken = 0x01"
    db.reader.run("".join(f"EXEC proc_AddJob @JobId = {job}, @Settings = N''{more};\n" for job in range(40, 0, -1)))
    roots = "" if db.word else "@InputRoot = '', @OutputRoot = '', "
    db.reader.run("".join(f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, {roots}@MaxAttemptsCount = 1, @JobXml = N'{db.group_xml((1,))}'; EXEC proc_SubmitJob {job};\n"
                          for job in range(1, 41)))
    created = {r.JobId: r.CreateTime for r in db.call("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0).rows}
    assert len(set(created.values())) < 40
    expected = sorted(created, key=lambda job: (created[job], job))
    assert [key[0] for key in db.keys()] == db.listed() == expected


@proves("TRAN-GetConversionBatchInterleaved-17")
def test_one_partition_interleaves_to_the_plain_order(db):
    if db.word:
        return
    for job in (4, 2):
        db.new_job(job, items=(3, 1, 2), partition=PART)
        next_tick()
    db.start(2, job=4)
    for n in (0, 1, 4, 100):
        assert db.keys(n, FAR, PLAIN) == db.keys(n, FAR, MIXED)
    db.new_job(9, items=(1, 2), partition=PART2)
    assert db.keys(2, FAR, MIXED) == [(4, 1, 1), (4, 1, 2), (9, 1, 1)]       # the stale item counts in nobody's share
    assert db.keys(4, LONG_AGO, MIXED) == [(4, 1, 1), (4, 1, 3), (9, 1, 1), (9, 1, 2)]
