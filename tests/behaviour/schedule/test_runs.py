"""procession_run_ended and dbo.Runs: how the last runs ended. Not of the specification."""
import datetime
import uuid

import pytest

from support.calls import create_database, open_path
from support.logins import PASSWORD, new_login
from support.signature import check_metadata
from support.store import stored
from support.wire import Wire

PROC = "procession_run_ended"
SIGNATURE = [("JobId", "uniqueidentifier", False), ("DueTime", "datetime", False), ("StartTime", "datetime", False), ("EndTime", "datetime", False),
             ("Outcome", "nvarchar(32)", False), ("ExitStatus", "int", False), ("DisplayName", "nvarchar(256)", False), ("Scheduler", "nvarchar(128)", False)]
REQUIRED = ("JobId", "DueTime", "StartTime", "EndTime", "Outcome")
COLUMNS = "JobId, DueTime, StartTime, EndTime, Outcome, ExitStatus, DisplayName, Scheduler"
# No value is another's, and the texts are as long as may be.
VALUES = {"DueTime": "'2030-01-31T01:00:00.003'", "StartTime": "'2030-01-31T01:00:01'", "EndTime": "'2030-01-31T01:02:00'", "Outcome": "N'" + "ż" * 32 + "'", "ExitStatus": "3",
          "DisplayName": "N'" + "ł" * 256 + "'", "Scheduler": "N'" + "ó" * 128 + "'"}
ROW = (datetime.datetime(2030, 1, 31, 1, 0, 0, 3000), datetime.datetime(2030, 1, 31, 1, 0, 1), datetime.datetime(2030, 1, 31, 1, 2), "ż" * 32, 3, "ł" * 256, "ó" * 128)
KEPT, KEPT_IN_ALL = 10, 10_000


@pytest.fixture(scope="module")
def database(server):
    name = "Runs" + uuid.uuid4().hex[:8]
    create_database(server, name, "schedule")
    return name


@pytest.fixture
def w(server, database):
    with Wire(server).login(database=database) as wire:
        yield wire


@pytest.fixture
def job():
    return uuid.uuid4()


def arguments(job, **changes):
    values = {"JobId": f"'{job}'", **VALUES, **changes}
    return {name: values[name] for name, _, _ in SIGNATURE}


def ended(w, job, **changes):
    text = ", ".join(f"@{name} = {value}" for name, value in arguments(job, **changes).items())
    return w.batch(f"DECLARE @rc int EXEC @rc = {PROC} {text} SELECT @rc", check=False)


def runs(w, job):
    return [tuple(row) for row in w.batch(f"SELECT {COLUMNS} FROM dbo.Runs WHERE JobId = '{job}' ORDER BY RunId").ok().rows]


def test_signature(server, database):
    with open_path("wire", server, database, "ScheduledJobs") as db:
        check_metadata(db, PROC, SIGNATURE)


def test_what_is_told_is_shown(w, job):
    answer = ended(w, job).ok()
    assert [[list(row) for row in rows] for _, rows in answer.results] == [[[0]]]           # the status, and no result set of its own
    w.batch(f"EXEC {PROC} " + ", ".join(arguments(job).values())).ok()                      # by position
    assert runs(w, job) == [(job, *ROW)] * 2


def test_what_may_be_left_out(w, job):
    w.batch(f"EXEC {PROC} " + ", ".join(f"@{name} = {value}" for name, value in arguments(job).items() if name in REQUIRED)).ok()
    ended(w, job, ExitStatus="NULL", DisplayName="NULL", Scheduler="NULL").ok()
    assert runs(w, job) == [(job, *ROW[:4], None, None, None)] * 2


@pytest.mark.parametrize("name", REQUIRED)
def test_what_may_not_be_null(w, job, name):
    before = w.batch("SELECT MAX(RunId) FROM dbo.Runs").value
    answer = ended(w, job, **{name: "NULL"})
    assert answer.errors and "@" + name in answer.errors[0].text
    assert w.batch("SELECT MAX(RunId) FROM dbo.Runs").value == before


def test_who_may_tell(server, database, w, job):
    with Wire(server).login(user=new_login(server, database, "select"), password=PASSWORD, database=database) as reader:
        assert ended(reader, job).numbers == [229] and runs(reader, job) == []
    with Wire(server).login(user=new_login(server, database, "execute"), password=PASSWORD, database=database) as scheduler:
        ended(scheduler, job).ok()
    assert len(runs(w, job)) == 1


def test_the_last_ten_of_each_job_are_kept(w, job):
    other = uuid.uuid4()
    ended(w, other, ExitStatus=77).ok()
    for n in range(KEPT + 3):
        ended(w, job, ExitStatus=n).ok()
        assert [row[5] for row in runs(w, job)] == list(range(n + 1))[-KEPT:]
    ended(w, other, ExitStatus=78).ok()
    assert [row[5] for row in runs(w, other)] == [77, 78]       # however much happened meanwhile


def test_as_many_as_are_kept_in_all(server, database, w, job):
    """Behind the server's back there are more: what was told first goes, whosever it is."""
    ended(w, job).ok()
    many = uuid.uuid4()
    ended(w, many).ok()
    with stored(server, database) as tables:
        tables.run("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < ?) INSERT INTO run (job, due, started, ended, outcome, status) "
                   "SELECT run.job, run.due, run.started, run.ended, run.outcome, i FROM run, c WHERE run.job = ?", KEPT_IN_ALL, many.bytes_le)
    last = uuid.uuid4()
    ended(w, last, ExitStatus=5).ok()
    assert w.batch("SELECT COUNT(*) FROM dbo.Runs").value == KEPT_IN_ALL
    assert runs(w, job) == [] and [row[5] for row in runs(w, last)] == [5]
    assert w.batch(f"SELECT MIN(ExitStatus), MAX(ExitStatus) FROM dbo.Runs WHERE JobId = '{many}'").ok().rows == [[2, KEPT_IN_ALL]]
