"""The worked examples of chapter 4 at their own time, January 2008, as text and by RPC; what is passive stays passive."""
import datetime
import uuid

import pytest
from schedulejobs import CHANGE, FOREVER, IMPORT, OFFICE, add, by_id, job, ok, row_of, rows_of, stored, violates

from support.calls import open_path
from support.clock import ClockServer
from support.proves import proves

KEY = uuid.UUID("E252E760-7AFE-4AA4-9045-DA86CDF0DEF7")
CALL = """exec dbo.proc_MIP_{verb}ScheduledJob
@JobId = 'E252E760-7AFE-4AA4-9045-DA86CDF0DEF7',
@Assembly = 'Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c ',
@Class = 'Microsoft.Office.Server.UserProfiles.UserProfileImportJob',
@Recurrence = 'daily between {hour}:00:00 and {hour}:00:00',
@NextDueTime = '{due}',
@JobData = N'IsIncremental#True',
@Disabled = 0,
@DisplayName = N'User Profile Incremental Import Job'
"""


def row(hour, due):
    return (OFFICE, IMPORT, KEY, f"daily between {hour:02d}:00:00 and {hour:02d}:00:00", "IsIncremental#True", due, False, "User Profile Incremental Import Job")


@pytest.fixture(scope="module")
def clock():
    with ClockServer("2008-01-31 00:59:59") as made:
        yield made


@pytest.fixture
def db(clock):
    clock.set("2008-01-31 00:59:59")
    with open_path("wire", clock, "ScheduledJobs") as path:
        for stale in stored(path):
            path.call("proc_MIP_RemoveScheduledJob", JobId=stale[2])
        yield path


FIRST, SECOND = datetime.datetime(2008, 1, 31, 1), datetime.datetime(2008, 2, 1, 1)


@proves("SCHED-Example-01", "SCHED-Example-02", "SCHED-Example-03", "SCHED-Transport-02")
def test_examples_as_text(clock, db):
    def run(text):
        answer = db.batch(text)
        assert answer.error is None and not answer.infos and answer.status == 0, answer
        return answer

    run(CALL.format(verb="Add", hour="01", due="Jan 31 2008 01:00:00:000AM"))
    assert rows_of(run("exec dbo.proc_MIP_GetScheduledJobsInInterval\n@NextDueTime = 'Jan 31 2008 01:01:01:000AM'\n")) == {row(1, FIRST)}
    run("exec dbo.proc_MIP_RefreshScheduledJob\n@JobId = 'E252E760-7AFE-4AA4-9045-DA86CDF0DEF7',\n@NextDueTime = 'Feb 01 2008 01:00:00:000AM'\n")
    assert rows_of(run("exec dbo.proc_MIP_GetScheduledJobById\n@JobId = 'E252E760-7AFE-4AA4-9045-DA86CDF0DEF7'\n")) == {row(1, SECOND)}
    run(CALL.format(verb="Modify", hour="06", due="Feb 01 2008 06:00:00:000AM"))
    assert stored(db) == {row(6, datetime.datetime(2008, 2, 1, 6))}
    run("exec dbo.proc_MIP_RemoveScheduledJob\n@JobId = 'E252E760-7AFE-4AA4-9045-DA86CDF0DEF7'\n")
    assert stored(db) == set()


@proves("SCHED-Example-01", "SCHED-Example-02", "SCHED-Example-03", "SCHED-Transport-01")
def test_examples_by_rpc(clock, db):
    values = job(JobId=KEY, Class=IMPORT, Recurrence="daily between 01:00:00 and 01:00:00", JobData="IsIncremental#True", NextDueTime=FIRST,
                 DisplayName="User Profile Incremental Import Job")
    with open_path("pytds", clock, "ScheduledJobs") as driver:
        ok(driver.call("dbo.proc_MIP_AddScheduledJob", **values))
        assert rows_of(driver.call("dbo.proc_MIP_GetScheduledJobsInInterval", NextDueTime=datetime.datetime(2008, 1, 31, 1, 1, 1))) == {row(1, FIRST)}
        ok(driver.call("dbo.proc_MIP_RefreshScheduledJob", JobId=KEY, NextDueTime=SECOND))
        assert by_id(driver, KEY) == row(1, SECOND)
        ok(driver.call("dbo.proc_MIP_ModifyScheduledJob", **{**values, "Recurrence": "daily between 06:00:00 and 06:00:00", "NextDueTime": datetime.datetime(2008, 2, 1, 6)}))
        assert by_id(driver, KEY) == row(6, datetime.datetime(2008, 2, 1, 6))
        ok(driver.call("dbo.proc_MIP_RemoveScheduledJob", JobId=KEY))
        assert stored(driver) == set()


@proves("SCHED-RefreshScheduledJob-03")
@pytest.mark.parametrize("now", ("2008-01-31 00:59:59", "2024-02-29 23:59:59.997", "2025-12-31 23:59:59.500", "2038-01-19 03:14:08"))
def test_refresh_is_later_than_now(clock, db, now):
    clock.set(now)
    values = add(db, NextDueTime=FIRST)
    tick = datetime.timedelta(microseconds=10000)
    ok(db.call("proc_MIP_RefreshScheduledJob", JobId=values["JobId"], NextDueTime=clock.now + tick))
    for due in (clock.now, clock.now - tick):
        violates(db, "proc_MIP_RefreshScheduledJob", "NextDueTime", JobId=values["JobId"], NextDueTime=due)


@proves("SCHED-Model-04")
def test_an_overdue_job_stays_overdue(clock, db):
    jobs = [add(db, NextDueTime=FIRST), add(db, NextDueTime=FIRST, Recurrence=None), add(db, Disabled=1, NextDueTime=FOREVER)]
    clock.advance(days=3000)
    assert stored(db) == {row_of(j) for j in jobs} and jobs[0]["Class"] == CHANGE
