"""Jobs come into being: proc_AddJob, proc_AddGroup, proc_SubmitJob, and what the model allows."""
import pytest

from support.jobs import FAR, PART, near, next_tick, utc
from support.proves import proves

LEAST, MOST = -2**63, 2**63 - 1


@proves("WORD-AddJob-04", "TRAN-AddJob-04", "WORD-Model-19", "WORD-Model-21", "TRAN-Model-19", "WORD-Model-18", "TRAN-Model-17", "TRAN-Model-18")
def test_a_new_job_is_created_now_and_neither_submitted_nor_canceled(db):
    before = utc()
    db.add_job(1)
    job = db.job(1)
    assert near(job.CreateTime, before, utc()) and job.CancelTime is None and job.Submitted is False


@proves("WORD-AddJob-03", "TRAN-AddJob-03", "WORD-Model-17", "TRAN-Model-16")
@pytest.mark.parametrize("settings", ("<settings/>", "anything", "<not well formed", "żółw 😀", "a 'quote' and; --more", " spaces at the end  ", "s" * 20000))
def test_settings_are_kept_and_not_read(db, settings):
    db.new_job(1, Settings=settings)
    assert db.groups(1)[0].Settings == settings
    assert db.report(start=[(1, 1, 1)])[0].Settings == settings


@proves("WORD-Model-17", "TRAN-Model-16")
def test_empty_settings_stay_empty(db):
    if db.sends_empty:
        db.new_job(1, Settings="")
        assert db.groups(1)[0].Settings == ""


@proves("WORD-Model-16", "TRAN-Model-15")
@pytest.mark.parametrize("job", (LEAST, -1, 0, 1, MOST))
def test_any_bigint_is_a_job(db, job):
    db.new_job(job)
    assert db.job(job).JobId == job and db.keys() == [(job, 1, 1)] and db.counts(job)["Total"] == 1
    db.start(1, job=job)
    db.succeed(1, job=job)
    assert db.counts(job) == {"Total": 1, "Succeeded": 1}


@proves("WORD-AddJob-05", "TRAN-AddJob-05", "WORD-Model-16", "TRAN-Model-15", "WORD-Input-02", "TRAN-Input-02")
def test_a_second_job_with_the_same_number_is_refused(db):
    db.add_job(1, Name="first")
    error = db.refuses(2627, "proc_AddJob", **db.job_args(1, Name="second", Settings="other"))
    assert error.severity in (14, None) and "The duplicate key value is (1)." in error.text and db.job(1).Name == "first"


@proves("WORD-AddGroup-04", "TRAN-AddGroup-03")
def test_a_group_has_its_roots(db):
    db.add_job(1)
    db.add_group(1, 7, InputRoot="http://contoso.com/ä", OutputRoot="\\\\share\\out")
    group, = db.groups(1)
    assert (group.GroupId, group.InputRoot, group.OutputRoot) == (7, "http://contoso.com/ä", "\\\\share\\out")


@proves("WORD-AddGroup-05", "TRAN-AddGroup-04")
def test_items_begin_without_times_error_and_worker(db):
    db.new_job(1, items=(1, 2, 3))
    assert [(i.ItemId, i.StartTime, i.StopTime, i.ErrorCode) for i in db.items()] == [(n, None, None, None) for n in (1, 2, 3)]
    assert {r.WorkerServerInstance for r in db.handed()} == {None} and db.stored(1).WorkerServerInstance is None


@proves("WORD-AddGroup-06", "TRAN-AddGroup-05", "WORD-Model-06", "TRAN-Model-05")
@pytest.mark.parametrize("attempts", (0, 2, 255))
def test_attempts_begin_as_told(db, attempts):
    db.new_job(1, items=(1, 2), attempts=attempts)
    assert [r.AttemptsRemaining for r in db.handed()] == [attempts, attempts]


@proves("WORD-AddGroup-06", "TRAN-AddGroup-05", "WORD-Model-06", "TRAN-Model-05", "WORD-Input-01", "TRAN-Input-01")
@pytest.mark.parametrize("attempts", (-1, 256, 32767, -32768))
def test_attempts_that_no_tinyint_holds_are_refused(db, attempts):
    db.add_job(1)
    db.refuses(220, "proc_AddGroup", **db.group_args(1, attempts=attempts))


@proves("WORD-AddGroup-06", "TRAN-AddGroup-05")
def test_an_item_without_attempts_can_be_started_once_and_not_retried(db):
    db.new_job(1, attempts=0)
    db.start(1)
    db.fail(1, no_retry=0)
    assert db.counts() == {"Total": 1, "NotStarted" if db.literal else "Failed": 1}


@proves("WORD-AddGroup-08", "TRAN-AddGroup-07", "WORD-Model-15", "TRAN-Model-14")
def test_a_group_of_an_unknown_job_is_refused(db):
    db.add_job(1)
    db.refuses(547, "proc_AddGroup", **db.group_args(2))


@proves("WORD-AddGroup-08", "TRAN-AddGroup-07", "WORD-Model-12", "TRAN-Model-10")
def test_a_second_group_with_the_same_number_is_refused(db):
    db.new_job(1, items=(1, 2))
    error = db.refuses(2627, "proc_AddGroup", **db.group_args(1, 1, items=(3,), InputRoot="other", OutputRoot="other"))
    assert "object 'dbo.Groups'. The job has a group with this GroupId already." in error.text
    assert [i.ItemId for i in db.items()] == [1, 2]


@proves("WORD-AddGroup-08", "TRAN-AddGroup-07", "WORD-Model-02", "TRAN-Model-02", "WORD-Input-02", "TRAN-Input-02")
def test_an_item_twice_in_a_group_refuses_the_whole_group(db):
    db.add_job(1)
    error = db.refuses(2627, "proc_AddGroup", **db.group_args(1, 1, items=(1, 2, 3, 1)))
    assert "object 'dbo.Items'. The group names one ItemId twice." in error.text
    assert db.groups(1) == [] and db.items() == []
    db.add_group(1, 1)


@proves("WORD-Model-01", "TRAN-Model-01")
def test_groups_of_one_job_can_use_the_same_item_numbers(db):
    db.new_job(1, items=(1,))
    db.add_group(1, 2, items=[(1, "second", "second")])
    assert db.keys() == [(1, 1, 1), (1, 2, 1)]
    db.start(1, group=2)
    assert db.item(1, group=1).StartTime is None and db.item(1, group=2).StartTime is not None and db.item(1, group=2).InputFile == "second"


@proves("WORD-Model-11", "TRAN-Model-09")
def test_jobs_can_use_the_same_group_numbers(db):
    for job in (1, 2):
        db.new_job(job, items=(job,))
    assert db.keys() == [(1, 1, 1), (2, 1, 2)]


@proves("WORD-Model-11", "TRAN-Model-09", "WORD-Xml-13", "TRAN-Xml-13")
def test_a_group_needs_an_item(db):
    db.add_job(1)
    db.refuses((6908, 6965, 6923), "proc_AddGroup", **db.group_args(1, items=()))
    assert db.groups(1) == []


@pytest.mark.parametrize("args, number", (
    pytest.param({"JobId": None}, 515, marks=proves("WORD-Model-03", "TRAN-Model-03", "WORD-Model-13", "TRAN-Model-11")),
    pytest.param({"GroupId": None}, 515, marks=proves("WORD-Model-03", "TRAN-Model-03", "WORD-Model-13", "TRAN-Model-11")),
    pytest.param({"item": ' in="a" out="b"'}, 6906, marks=proves("WORD-Model-03", "TRAN-Model-03")),
    pytest.param({"item": ' id="1" out="b"'}, 6906, marks=proves("WORD-Model-08", "TRAN-Model-07"))))
def test_keys_and_input_files_are_never_null(db, args, number):
    db.add_job(1)
    if "item" in args:
        args = {"JobXml": db.group_xml().replace(' id="1" in="in1.docx" out="out1.pdf"', args["item"])}
        assert "in1.docx" not in args["JobXml"]
    db.refuses(number, "proc_AddGroup", **{**db.group_args(1), **args})


@proves("WORD-AddGroup-09", "TRAN-AddGroup-08")
def test_groups_can_be_added_late(db):
    db.new_job(1)
    db.add_group(1, 2, items=(5,))
    assert db.keys() == [(1, 1, 1), (1, 2, 5)]
    db.cancel(1)
    db.add_group(1, 3, items=(6, 7))
    assert db.handed() == [] and db.counts(1) == {"Total": 4, "Canceled": 4}


@proves("WORD-SubmitJob-03", "TRAN-SubmitJob-03", "WORD-Model-22", "TRAN-Model-20")
def test_submitting_hands_the_items_out(db):
    db.new_job(1, submitted=False)
    db.new_job(2, submitted=False)
    assert db.handed() == [] and db.job(1).Submitted is False
    db.submit(1)
    assert db.keys() == [(1, 1, 1)] and db.job(1).Submitted is True and db.job(2).Submitted is False


@proves("WORD-SubmitJob-03", "TRAN-SubmitJob-03")
@pytest.mark.parametrize("state", ("submitted", "canceled", "empty"))
def test_submitting_works_in_any_state(db, state):
    db.new_job(1, items=() if state == "empty" else (1,), submitted=state == "submitted")
    if state == "canceled":
        db.cancel(1)
    before = db.job(1)
    next_tick()
    db.submit(1)
    after = db.job(1)
    assert after.Submitted is True and (after.CreateTime, after.CancelTime, after.Name) == (before.CreateTime, before.CancelTime, before.Name)
    assert db.keys() == ([(1, 1, 1)] if state == "submitted" else [])


@proves("WORD-SubmitJob-04", "TRAN-SubmitJob-04")
def test_submitting_an_unknown_job_changes_nothing(db):
    db.new_job(1, submitted=False)
    db.leaves("proc_SubmitJob", JobId=2)


@proves("WORD-Model-20", "TRAN-Model-18", "WORD-CancelJob-03", "TRAN-CancelJob-03")
def test_cancel_time_is_null_until_the_job_is_canceled(db):
    db.new_job(1, partition=PART)
    assert db.job(1).CancelTime is None
    before = utc()
    db.cancel(1)
    assert near(db.job(1).CancelTime, before, utc())


@proves("WORD-Model-28", "TRAN-Model-25")
def test_nothing_changes_by_itself(one_way):
    """Neither time nor reading changes anything; with the clock moved on by a year see test_time.py."""
    db = one_way
    db.new_job(1, items=(1, 2, 3))
    db.start(1, 2)
    db.succeed(1)
    db.new_job(2, submitted=False)
    before = db.everything()
    for _ in range(20):
        next_tick()
        db.handed(), db.items(), db.counts(), db.listed(), db.groups(), db.active()
    assert db.everything() == before


@proves("WORD-SubmitJob-07", "TRAN-SubmitJob-07")
def test_a_job_without_groups_is_complete_when_it_is_submitted(few):
    """Clarification 16: nothing waits in it, nothing is handed out from it, and it does not count as active."""
    db = few
    db.add_job(1)
    db.submit(1)
    assert db.job(1).Submitted and db.counts(1) == {} and db.groups(1) == []
    assert db.handed() == [] and db.handed(threshold=FAR) == []
    assert db.active() == 0 and db.listed(ActiveOnly=1) == []
    db.new_job(2)
    assert db.keys() == [(2, 1, 1)]
    db.ok("proc_JobsExpire", IncludeActiveJobs=0, **({} if db.word else {"TimeThreshold": FAR}))
    assert 1 not in db.all_jobs()


@proves("WORD-Input-07", "TRAN-Input-07")
def test_text_with_nul_is_kept_whole(one_way):
    """Clarification 17, in every text column of a job and its group."""
    db = one_way
    text = "before\0after\0"
    db.add_job(1, Name="\0" + text, Settings=text, **({} if db.word else {"UserId": "u\0v"}))
    db.add_group(1, InputRoot="i\0n", OutputRoot="\0")
    db.submit(1)
    assert db.job(1).Name == "\0" + text
    assert db.ok("proc_GetJobStatus", JobId=1).rows[0].Name == "\0" + text
    row, = db.groups(1)
    assert (row.Settings, row.InputRoot, row.OutputRoot) == (text, "i\0n", "\0")
    given, = db.start(1)
    assert (given.Settings, given.InputRoot, given.OutputRoot) == (text, "i\0n", "\0")
    assert db.reader.run("SELECT Name, Settings FROM dbo.Jobs").rows == [("\0" + text, text)]
    if not db.word:
        assert db.listed(UserId="u\0v ") == [1] and db.listed(UserId="u") == db.listed(UserId="u\0") == db.listed(UserId="u\0w") == []
