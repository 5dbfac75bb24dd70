"""Workers report: items start, succeed, fail, are tried again."""
import uuid

import pytest

from support.jobs import FAR, LONG_AGO, PART, WORKER, WORKER2, near, next_tick, utc
from support.proves import proves

# proc_UpdateSucceededItem


@proves("WORD-UpdateSucceededItem-03", "TRAN-UpdateSucceededItem-03", "WORD-Model-05", "TRAN-Model-04")
def test_success_stops_the_item_now(db):
    db.new_job()
    db.start(1)
    before = utc()
    db.succeed(1)
    assert near(db.item().StopTime, before, utc())


@proves("WORD-UpdateSucceededItem-04", "TRAN-UpdateSucceededItem-04")
def test_success_clears_an_earlier_error(db):
    db.new_job(attempts=1)
    db.start(1)
    db.fail(1, error=42)
    assert db.item().ErrorCode == 42
    db.succeed(1)
    assert db.item().ErrorCode is None and db.counts() == {"Total": 1, "Succeeded": 1}


@proves("WORD-UpdateSucceededItem-05", "TRAN-UpdateSucceededItem-05")
def test_success_takes_the_worker_away(db):
    db.new_job()
    db.start(1)
    assert db.stored().WorkerServerInstance == WORKER
    db.succeed(1)
    assert db.stored().WorkerServerInstance is None


@proves("WORD-UpdateSucceededItem-07", "TRAN-UpdateSucceededItem-06")
def test_success_changes_only_its_own_item(db):
    db.new_job(1, items=(1, 2))
    db.add_group(1, 2, items=(1,))
    db.new_job(2, items=(1,))
    db.start(1, 2)
    before, others = db.stored(), [db.item(2), db.item(1, group=2), db.item(1, job=2)]
    next_tick()
    db.succeed(1)
    after = db.stored()
    assert (after.StartTime, after.AttemptsRemaining) == (before.StartTime, before.AttemptsRemaining) and after.StopTime is not None
    assert [db.item(2), db.item(1, group=2), db.item(1, job=2)] == others


@proves("WORD-UpdateSucceededItem-07", "TRAN-UpdateSucceededItem-06")
@pytest.mark.parametrize("state", ("unsubmitted", "not started", "canceled", "stopped"))
def test_success_is_taken_in_any_state(db, state):
    db.new_job(submitted=state != "unsubmitted")
    if state in ("canceled", "stopped"):
        db.start(1)
    if state == "canceled":
        db.cancel()
    if state == "stopped":
        db.succeed(1)
    first = db.item()
    next_tick()
    db.succeed(1)
    after = db.item()
    assert after.StopTime is not None and after.StopTime != first.StopTime and after.StartTime == first.StartTime
    assert db.active() == 0


@proves("WORD-UpdateSucceededItem-07", "TRAN-UpdateSucceededItem-06", "WORD-UpdateFailedItem-06", "TRAN-UpdateFailedItem-06",
        "WORD-UpdateConversionBatch-09", "TRAN-UpdateConversionBatch-09")
@pytest.mark.parametrize("end", ("succeed", "fail", "report"))
def test_an_item_that_ends_leaves_the_same_item_of_other_jobs_active(db, end):
    for job in (1, 2, 3):
        db.new_job(job, attempts=1)
        db.start(1, job=job)
    for job, active in ((2, [1, 3]), (1, [3])):
        if end == "report":
            db.report(failed=[(job, 1, 1, 5)])
        else:
            getattr(db, end)(1, job=job)
        assert db.listed(ActiveOnly=1) == active
    assert [db.counts(job) for job in (1, 2)] == [{"Total": 1, "Succeeded" if end == "succeed" else "Failed": 1}] * 2
    assert db.counts(3) == {"Total": 1, "InProgress": 1}


# proc_UpdateFailedItem


@proves("WORD-UpdateFailedItem-03", "TRAN-UpdateFailedItem-03", "WORD-GetConversionBatch-12", "TRAN-GetConversionBatch-12", "TRAN-GetConversionBatchInterleaved-12")
def test_a_failed_item_with_attempts_left_is_handed_out_again(db):
    db.new_job()
    db.start(1)
    assert db.handed() == []
    db.fail(1, no_retry=0)
    row, = db.handed()
    assert db.item().StartTime is None and not row.InProgress and row.StartTime is None
    if not db.word:
        assert db.handed(proc="proc_GetConversionBatchInterleaved") == [row]


@proves("WORD-UpdateFailedItem-04", "TRAN-UpdateFailedItem-04", "WORD-GetConversionBatch-11", "TRAN-GetConversionBatch-11", "TRAN-GetConversionBatchInterleaved-11")
def test_a_retry_has_no_worker(db):
    db.new_job()
    db.start(1)
    db.fail(1, no_retry=0)
    assert db.handed()[0].WorkerServerInstance is None and db.stored().WorkerServerInstance is None
    if not db.word:
        assert db.handed(proc="proc_GetConversionBatchInterleaved")[0].WorkerServerInstance is None


@proves("WORD-UpdateFailedItem-05", "TRAN-UpdateFailedItem-05")
def test_a_retry_changes_nothing_else(db):
    db.new_job(attempts=3)
    db.start(1)
    db.fail(1, no_retry=0, error=5)
    after = db.stored()
    assert (after.StopTime, after.ErrorCode, after.AttemptsRemaining) == (None, None, 2)
    if db.word:
        assert after.Reserved is None


@proves("WORD-UpdateFailedItem-05", "TRAN-UpdateFailedItem-05")
@pytest.mark.parametrize("error", (None, 3))
def test_a_retry_of_a_stopped_item_leaves_it_stopped(db, error):
    db.new_job(attempts=3)
    db.start(1)
    if error is None:
        db.succeed(1)
    else:
        db.report(failed=[(1, 1, 1, error)])
    before = db.stored()
    next_tick()
    db.fail(1, no_retry=0, error=5)
    after = db.stored()
    assert after.StartTime is None and (after.StopTime, after.ErrorCode, after.AttemptsRemaining) == (before.StopTime, error, 2)
    assert before.StopTime is not None and db.counts() == {"Total": 1, "NotStarted": 1} and db.handed(threshold=FAR) == []


@proves("WORD-UpdateFailedItem-06", "TRAN-UpdateFailedItem-06")
@pytest.mark.parametrize("no_retry, attempts", ((1, 1), (0, 1)))
def test_a_final_failure_stops_the_item_now(db, no_retry, attempts):
    db.new_job(attempts=attempts)
    db.start(1)
    before = utc()
    db.fail(1, no_retry=no_retry)
    if db.literal and no_retry == 0:
        assert db.item().StartTime is None      # 'or': an item without attempts is tried again
    else:
        assert near(db.item().StopTime, before, utc())
        assert db.counts() == {"Total": 1, "Failed": 1}


@proves("WORD-UpdateFailedItem-07", "TRAN-UpdateFailedItem-07")
@pytest.mark.parametrize("error, counted", ((13, "Failed"), (0, "Failed"), (-2147483648, "Failed"), (2147483647, "Failed"), (None, "Succeeded")))
def test_a_final_failure_keeps_its_error_code(db, error, counted):
    db.new_job(attempts=1)
    db.start(1)
    db.fail(1, error=error)
    assert db.item().ErrorCode == error and db.counts() == {"Total": 1, counted: 1}


@proves("WORD-UpdateFailedItem-09", "TRAN-UpdateFailedItem-08")
def test_a_final_failure_takes_the_worker_away(db):
    db.new_job(attempts=1)
    db.start(1)
    db.fail(1)
    assert db.stored().WorkerServerInstance is None


@proves("WORD-UpdateFailedItem-10", "TRAN-UpdateFailedItem-09")
def test_a_final_failure_ends_all_attempts(db):
    db.new_job(attempts=5)
    if not db.literal:
        db.start(1)
        db.fail(1, no_retry=1, error=1)
        assert db.stored().AttemptsRemaining == 0
        next_tick()
        first = db.item().StopTime
        db.fail(1, no_retry=0, error=2)     # would be a retry if an attempt were left
        assert db.item().StartTime is not None and db.item().ErrorCode == 2 and db.item().StopTime > first
    else:
        for _ in range(5):
            db.start(1)
        db.fail(1, no_retry=1, error=1)
        assert db.stored().AttemptsRemaining == 0 and db.item().StopTime is not None


@proves("WORD-UpdateFailedItem-03", "TRAN-UpdateFailedItem-03", "WORD-UpdateFailedItem-11", "TRAN-UpdateFailedItem-10")
@pytest.mark.parametrize("no_retry, attempts, corrected, literal", (
    (0, 2, "retry", "retry"), (0, 1, "final", "retry"), (1, 2, "final", "retry"), (1, 1, "final", "final"), (None, 2, "final", "retry"), (None, 1, "final", "final")))
def test_who_is_tried_again(db, no_retry, attempts, corrected, literal):
    """One attempt is used by the start, so attempts - 1 remain."""
    db.new_job(attempts=attempts)
    db.start(1)
    db.fail(1, no_retry=no_retry)
    outcome = "retry" if db.item().StartTime is None else "final"
    assert outcome == (literal if db.literal else corrected)
    assert db.counts() == {"Total": 1, "NotStarted" if outcome == "retry" else "Failed": 1}


@proves("WORD-UpdateFailedItem-03", "TRAN-UpdateFailedItem-03", "WORD-UpdateFailedItem-05", "TRAN-UpdateFailedItem-05")
@pytest.mark.parametrize("attempts", (1, 5))
def test_a_failure_is_about_one_item(db, attempts):
    """Others have the same numbers in another job or another group, and another number of attempts."""
    for job in (1, 2, 3):
        db.add_job(job)
        for group in (1, 2, 3):
            db.add_group(job, group, (1, 2, 3), attempts=attempts if (job, group) == (2, 2) else 6 - attempts)
        db.submit(job)
    every = [(job, group, item) for job in (1, 2, 3) for group in (1, 2, 3) for item in (1, 2, 3)]
    db.report(start=every)
    before = {key: db.stored(key[2], key[0], key[1]) for key in every}
    next_tick()
    db.fail(2, job=2, group=2, no_retry=0)
    after = {key: db.stored(key[2], key[0], key[1]) for key in every}
    assert [key for key in every if after[key] != before[key]] == [(2, 2, 2)]
    assert (after[2, 2, 2].StartTime is None) == (attempts > 1 or db.literal)


@proves("WORD-UpdateFailedItem-12")
def test_two_attempts_are_two_starts(db):
    db.new_job(attempts=2)
    starts = 0
    while db.handed() and starts < 3:
        db.start(1)
        db.fail(1, no_retry=0)
        starts += 1
    assert starts == (3 if db.literal else 2)       # the literal rule never stops trying


@proves("WORD-UpdateSucceededItem-08", "TRAN-UpdateSucceededItem-06", "WORD-UpdateFailedItem-13", "TRAN-UpdateFailedItem-11")
@pytest.mark.parametrize("job, group, item", ((9, 1, 1), (1, 9, 1), (1, 1, 9)))
def test_reports_about_unknown_items_change_nothing(db, job, group, item):
    db.new_job()
    db.start(1)
    db.leaves("proc_UpdateSucceededItem", JobId=job, GroupId=group, ItemId=item)
    db.leaves("proc_UpdateFailedItem", JobId=job, GroupId=group, ItemId=item, NoRetry=1, ErrorCode=1)


# proc_UpdateConversionBatch


@proves("WORD-UpdateConversionBatch-04", "TRAN-UpdateConversionBatch-04", "WORD-Model-04", "TRAN-Model-04")
def test_a_start_sets_the_time(db):
    db.new_job(items=(1, 2))
    before = utc()
    db.start(1)
    assert near(db.item(1).StartTime, before, utc()) and db.item(2).StartTime is None
    assert db.counts() == {"Total": 2, "InProgress": 1, "NotStarted": 1}


@proves("WORD-UpdateConversionBatch-05", "TRAN-UpdateConversionBatch-05", "WORD-Xml-11", "TRAN-Xml-11")
def test_a_start_names_the_worker(db):
    db.new_job(items=(1, 2))
    db.report(start=[(1, 1, 1, WORKER), (1, 1, 2, WORKER2)])
    assert [(r.ItemId, r.WorkerServerInstance) for r in db.handed(threshold=FAR)] == [(1, WORKER), (2, WORKER2)]


@proves("WORD-UpdateConversionBatch-06", "TRAN-UpdateConversionBatch-06", "WORD-Model-06", "TRAN-Model-05")
def test_each_start_uses_an_attempt_and_stops_at_zero(db):
    db.new_job(attempts=2)
    seen = [db.handed()[0].AttemptsRemaining]
    for _ in range(3):
        db.start(1)
        seen.append(db.handed(threshold=FAR)[0].AttemptsRemaining)
    assert seen == [2, 1, 0, 0]


@proves("WORD-UpdateConversionBatch-07", "TRAN-UpdateConversionBatch-07")
def test_a_failure_in_a_batch_takes_the_worker_away(db):
    db.new_job()
    db.start(1)
    db.report(failed=[(1, 1, 1, 5)])
    assert db.stored().WorkerServerInstance is None


@proves("WORD-UpdateConversionBatch-08", "TRAN-UpdateConversionBatch-08", "WORD-Xml-11", "TRAN-Xml-11")
@pytest.mark.parametrize("error", (0, 10, -2147483648, 2147483647))
def test_a_failure_in_a_batch_keeps_its_error_code(db, error):
    db.new_job()
    db.start(1)
    db.report(failed=[(1, 1, 1, error)])
    assert db.item().ErrorCode == error and db.counts() == {"Total": 1, "Failed": 1}


@proves("WORD-Model-07", "TRAN-Model-06")
@pytest.mark.parametrize("attempts, worker, error", ((0, uuid.UUID(int=0), 0), (1, uuid.UUID(int=2**128 - 1), -1), (255, WORKER2, 2147483647), (128, WORKER, -2147483648)))
def test_attempts_workers_and_errors_are_kept_whatever_they_are(db, attempts, worker, error):
    db.new_job(items=(1, 2), attempts=attempts)
    assert [i.AttemptsRemaining for i in db.handed()] == [attempts, attempts]
    db.start(1, 2, worker=worker)
    begun = {i.ItemId: i for i in db.handed(threshold=FAR)}
    assert [(begun[n].WorkerServerInstance, begun[n].AttemptsRemaining) for n in (1, 2)] == [(worker, max(attempts - 1, 0))] * 2
    db.report(failed=[(1, 1, 1, error), (1, 1, 2, 17)])
    if not db.literal:                      # there an item with attempts left would be tried again
        db.fail(2, error=error)
    assert [i.ErrorCode for i in db.items()] == [error, 17 if db.literal else error]


@proves("WORD-UpdateConversionBatch-09", "TRAN-UpdateConversionBatch-09")
def test_a_failure_in_a_batch_stops_the_item_now(db):
    db.new_job(attempts=3)
    db.start(1)
    started, before = db.stored(), utc()
    next_tick()
    db.report(failed=[(1, 1, 1, 5)])
    after = db.stored()
    assert near(after.StopTime, before, utc()) and after.StopTime > started.StartTime
    assert (after.StartTime, after.AttemptsRemaining) == (started.StartTime, 2)
    assert db.active() == 0


@proves("WORD-UpdateConversionBatch-10", "TRAN-UpdateConversionBatch-10")
def test_unknown_items_of_a_batch_are_skipped(db):
    db.new_job(items=(1, 2))
    rows = db.report(start=[(9, 1, 1), (1, 1, 1), (1, 7, 1)], failed=[(1, 1, 8, 1), (1, 1, 2, 3), (5, 1, 2, 3)])
    assert [(r.JobId, r.GroupId) for r in rows] == [(1, 1)]
    assert db.item(1).StartTime is not None and db.item(2).ErrorCode == 3


@proves("WORD-UpdateConversionBatch-11", "TRAN-UpdateConversionBatch-11")
def test_an_item_in_both_sections_ends_as_failed(db):
    db.new_job(attempts=2)
    assert len(db.report(start=[(1, 1, 1)], failed=[(1, 1, 1, 9)])) == 1
    item = db.stored()
    assert item.StartTime == item.StopTime is not None
    assert (item.ErrorCode, item.AttemptsRemaining, item.WorkerServerInstance) == (9, 1, None)


@proves("WORD-UpdateConversionBatch-11", "TRAN-UpdateConversionBatch-11")
def test_an_item_named_twice_changes_once_and_the_last_word_counts(db):
    db.new_job(items=(1, 2), attempts=5)
    rows = db.report(start=[(1, 1, 1, WORKER), (1, 1, 2), (1, 1, 1, WORKER2)], failed=[(1, 1, 2, 3), (1, 1, 2, 4)])
    assert len(rows) == 1
    assert (db.stored(1).WorkerServerInstance, db.stored(1).AttemptsRemaining) == (WORKER2, 4)
    assert db.stored(2).ErrorCode == 4 and db.counts() == {"Total": 2, "InProgress": 1, "Failed": 1}
    db.succeed(1)
    assert db.active() == 0


@proves("WORD-UpdateConversionBatch-12", "TRAN-UpdateConversionBatch-12")
@pytest.mark.parametrize("state", ("unsubmitted", "canceled", "finished"))
def test_starts_and_failures_are_taken_in_any_state(db, state):
    db.new_job(items=(1, 2), submitted=state != "unsubmitted")
    if state == "canceled":
        db.cancel()
    if state == "finished":
        db.start(1, 2)
        db.fail(1, 2, error=8)
        if db.literal:
            db.start(1, 2)
            db.fail(1, 2, error=8)
    before = db.item(1)
    next_tick()
    db.report(start=[(1, 1, 1, WORKER2)], failed=[(1, 1, 2, 77)])
    after = db.stored(1)
    assert after.StartTime is not None and after.StartTime != before.StartTime and after.WorkerServerInstance == WORKER2
    assert (after.StopTime, after.ErrorCode) == (before.StopTime, before.ErrorCode)      # a start touches neither
    assert db.item(2).ErrorCode == 77


@proves("WORD-UpdateConversionBatch-12", "TRAN-UpdateConversionBatch-12")
def test_the_newest_start_of_a_stale_item_wins(db):
    db.new_job(attempts=3)
    db.start(1, worker=WORKER)
    first = db.item().StartTime
    next_tick()
    db.start(1, worker=WORKER2)
    row, = db.handed(threshold=FAR)
    assert row.StartTime > first and row.WorkerServerInstance == WORKER2 and row.AttemptsRemaining == 1 and db.item().StopTime is None
    db.succeed(1)       # the first worker's late report is taken
    assert db.counts() == {"Total": 1, "Succeeded": 1}


@proves("WORD-UpdateConversionBatch-13", "TRAN-UpdateConversionBatch-13")
def test_all_times_of_one_call_are_one_instant(db):
    many = list(range(1, 301))
    db.new_job(1, items=many)
    db.new_job(2, items=(1,))
    db.report(start=[(1, 1, i) for i in many] + [(2, 1, 1)], failed=[(1, 1, i, 0) for i in many[:50]])
    times = {i.StartTime for i in db.items(1)} | {i.StopTime for i in db.items(1)} | {db.item(job=2).StartTime}
    assert len(times - {None}) == 1


@proves("WORD-UpdateConversionBatch-16", "TRAN-UpdateConversionBatch-16")
def test_a_batch_answers_with_the_groups_that_it_touched(db):
    for job in (2, 1):
        db.add_job(job, partition=PART, Settings=f"settings {job}")
        for group in (3, 1, 2):
            db.add_group(job, group, InputRoot=f"i{job}{group}", OutputRoot=f"o{job}{group}", items=(1, 2, 3))
    rows = db.report(start=[(2, 1, 1), (1, 3, 1), (1, 3, 2)], failed=[(1, 2, 1, 1), (1, 3, 3, 1)])
    assert [(r.JobId, r.GroupId, r.InputRoot, r.OutputRoot, r.Settings) for r in rows] == [
        (1, 2, "i12", "o12", "settings 1"), (1, 3, "i13", "o13", "settings 1"), (2, 1, "i21", "o21", "settings 2")]
    if not db.word:
        assert {(r.PartitionId, bytes(r.UserToken)) for r in rows} == {(PART, b"\x12\x34")}
    assert [(r.JobId, r.GroupId) for r in db.report(start=[(2, 3, 1)])] == [(2, 3)]
    assert [(r.JobId, r.GroupId) for r in db.report(failed=[(2, 3, 1, 0)])] == [(2, 3)]
    assert db.report(start=[(7, 1, 1)], failed=[(1, 1, 9, 1)]) == [] and db.report() == []


@proves("WORD-CancelJob-07", "TRAN-CancelJob-07")
def test_items_of_a_canceled_job_are_reported_but_not_handed_out(db):
    db.new_job(items=(1, 2))
    db.start(1)
    db.cancel()
    assert db.handed(threshold=FAR) == []
    db.succeed(1)
    assert db.counts() == {"Total": 2, "Succeeded": 1, "Canceled": 1}
    assert db.handed(threshold=LONG_AGO) == []
