"""procession_run_ended and dbo.Runs: how the last runs ended. Not of the specification."""
import pytest

from support.wire import Wire

JOB = "6f9619ff-8b86-d011-b42d-00c04fc9770"


def ended(w, job, status):
    w.batch(f"EXEC procession_run_ended @JobId = '{job}', @DueTime = '2030-01-31T01:00:00', @StartTime = '2030-01-31T01:00:01', @EndTime = '2030-01-31T01:02:00', "
            f"@Outcome = N'failed', @ExitStatus = {status}, @DisplayName = N'a job', @Scheduler = N'host1'").ok()


def test_the_last_ten_of_each_job_are_kept(server):
    with Wire(server).login(database="ScheduledJobs") as w:
        for n in range(13):
            ended(w, JOB + "1", n)
        ended(w, JOB + "2", 77)
        rows = w.batch(f"SELECT ExitStatus, DisplayName, Outcome, Scheduler, DATEDIFF(second, StartTime, EndTime), DATEDIFF(second, DueTime, StartTime) FROM dbo.Runs "
                       f"WHERE JobId = '{JOB}1' ORDER BY RunId DESC").ok().rows
        assert [row[0] for row in rows] == list(range(12, 2, -1)) and {tuple(row[1:]) for row in rows} == {("a job", "failed", "host1", 119, 1)}
        assert [row[0] for row in w.batch(f"SELECT ExitStatus FROM dbo.Runs WHERE JobId = '{JOB}2'").ok().rows] == [77]


def test_a_run_needs_a_job_and_an_outcome(server):
    with Wire(server).login(database="ScheduledJobs") as w:
        before = w.batch("SELECT MAX(RunId) FROM dbo.Runs").ok().rows
        with pytest.raises(Exception, match="Outcome"):
            w.batch(f"EXEC procession_run_ended @JobId = '{JOB}1', @DueTime = '2030-01-31', @StartTime = '2030-01-31', @EndTime = '2030-01-31', @Outcome = NULL").ok()
        assert w.batch("SELECT MAX(RunId) FROM dbo.Runs").ok().rows == before
