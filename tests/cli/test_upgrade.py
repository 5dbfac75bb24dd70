"""Data that release 0.1.0 has written is opened by this program with all that was in it (docs/upgrade.md).

The fixture is a data folder after a clean stop, made by a build of commit 9f13e3b with the calls below."""
import pathlib
import tarfile
import time

import pytds
import pytest

from support.jobs import PART, SPACES, WORKER
from support.numbers import numbers
from support.server import Server
from test_cli import Cli

SERVICES = {"word": "WordAutomation", "translation": "Translation"}


def job(service, number, items, submit=True, done=(), failed=(), running=()):
    """The calls that make a job with so many documents."""
    space, group = SPACES[service], f"@JobId = {number}, @GroupId = 1"
    documents = "".join(f'<item id="{n}" in="in{n}.docx" out="out{n}.pdf"/>' for n in range(1, items + 1))
    begun = "".join(f'<item job="{number}" group="1" id="{n}" wsi="{WORKER}"/>' for n in (*done, *failed, *running))
    yield (f"EXEC proc_AddJob @JobId = {number}, @PartitionId = '{PART}', @Settings = N'<settings/>', @Name = N'job {number}'"
           + (", @UserToken = 0x00" if service == "translation" else ""))
    yield (f"EXEC proc_AddGroup {group}, @InputRoot = N'/srv/in', @OutputRoot = N'/srv/out', @MaxAttemptsCount = 3, "
           f"@JobXml = N'<group xmlns=\"{space}databaseJobAdd\">{documents}</group>'")
    if submit:
        yield f"EXEC proc_SubmitJob @JobId = {number}"
    if begun:
        yield f"EXEC proc_UpdateConversionBatch @BatchXml = N'<batch xmlns=\"{space}databaseBatchUpdate\"><start>{begun}</start><failed/></batch>'"
    for n in done:
        yield f"EXEC proc_UpdateSucceededItem {group}, @ItemId = {n}"
    for n in failed:
        yield f"EXEC proc_UpdateFailedItem {group}, @ItemId = {n}, @NoRetry = 1, @ErrorCode = 7"


def all_jobs(service):
    """A job of each kind: finished, at work, not submitted, cancelled."""
    yield from job(service, 1, 3, done=(1, 2), failed=(3,))
    yield from job(service, 2, 6, done=(1,), failed=(2,), running=(3,))
    yield from job(service, 3, 2, submit=False)
    yield from job(service, 4, 3, done=(1,))
    yield f"EXEC proc_CancelJob @JobId = 4, @PartitionId = '{PART}'"


# What these jobs are, told by counting.
DOCUMENTS = {"unsubmitted": 2, "waiting": 3, "running": 1, "succeeded": 4, "failed": 2, "canceled": 2}
FIXTURE = pathlib.Path(__file__).parent / "data-0.1.0.tar.xz"
MADE = [
    ("master", "EXEC procession_login_add @name = 'shop', @password = 'a long secret', @default_database = 'StateService'"),
    ("master", "EXEC procession_grant @login = 'shop', @database = 'StateService', @rights = 'execute,select'"),
    ("master", "EXEC procession_database_create @name = 'Second', @service = 'state', @commit = 'relaxed', @commit_interval = 500"),
    ("StateService", "EXEC proc_AddItem 'old', 0x00112233, 525600000"),
    ("StateService", "EXEC proc_AddItem 'held', 0x4455, 525600000"),
    ("StateService", "DECLARE @d varbinary(max), @c int, @l bit, @a int EXEC proc_GetItemWithLock 'held', @d OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT"),
    ("Second", "EXEC proc_AddItem 'older', 0xFF, 525600000"),
    ("ScheduledJobs", "EXEC proc_MIP_AddScheduledJob @JobId = 'b00ae9a1-0474-474e-b348-f6a8bcc95331', @Assembly = N'Microsoft.Office.Server, "
                      "Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c', "
                      "@Class = N'Microsoft.Office.Server.Audience.AudienceCompilationJob', @Recurrence = N'daily at 01:00:00', "
                      "@NextDueTime = '2090-01-31T01:00:00', @DisplayName = N'nightly'"),
    ("Translation", f"EXEC proc_UpdateItemCount @PartitionId = '{PART}', @Hour = 7, @Date = '2090-01-31', @ItemCount = 5"),
    *((database, text) for service, database in SERVICES.items() for text in all_jobs(service)),
]


def connect(server, database, login="sa", password=None):
    return pytds.connect(server.host, database, login, password or server.password, port=server.port, autocommit=True, login_timeout=120)


def rows(server, database, text, **login):
    with connect(server, database, **login) as db:
        cursor = db.cursor()
        cursor.execute(text)
        return cursor.fetchall()


def make(server):
    """What the fixture was made with: run by hand against the old program (PROCESSIOND), which is then stopped;
    of its folder the *.db were packed."""
    for database, text in MADE:
        with connect(server, database) as db:
            db.cursor().execute(text)


def told(server):
    return numbers(rows(server, "master", "EXEC procession_stats"))


def counted(server):
    """The numbers of the server, once it has counted what is in the databases."""
    deadline = time.monotonic() + 60
    while not all((name, database, label) in told(server) for name, database, label in [
            ("procession_job_items", "WordAutomation", "waiting"), ("procession_job_items", "Translation", "waiting"),
            ("procession_state_items", "StateService", None)]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return told(server)


@pytest.fixture
def server(tmp_path):
    with tarfile.open(FIXTURE) as tar:
        tar.extractall(tmp_path)
    with Server(data=tmp_path / "data") as made:
        yield made


def test_data_of_the_first_release_is_opened_with_all_that_is_in_it(server, tmp_path):
    cli = Cli(server)
    databases = {d["name"]: d for d in cli.json("database", "list")}
    assert all(d["state"] == "online" for d in databases.values())
    assert (databases["Second"]["commit"], databases["Second"]["commit_interval"]) == ("relaxed", 500)
    assert rows(server, "StateService", "SELECT Id, Bytes, Locked FROM dbo.Items ORDER BY Id", login="shop", password="a long secret") == [
        ("held", 2, True), ("old", 4, False)]
    assert rows(server, "Second", "SELECT Id, Bytes FROM dbo.Items") == [("older", 1)]
    jobs = cli.json("schedule", "list")
    assert len(jobs) == 1 and "nightly" in str(jobs[0])
    for name in databases:
        assert cli.json("database", "check", name)[0]["report"].strip() == "ok"
    cli.ok("backup", str(tmp_path / "after.tar"))
    server.restart()
    assert rows(server, "StateService", "SELECT COUNT(*) FROM dbo.Items") == [(2,)]


@pytest.mark.parametrize("service", SERVICES)
def test_jobs_of_the_first_release_go_on(server, service):
    """Each as it was, counted as they are, and what came later works on them: reasons of failures, batches, the end of a job."""
    database = SERVICES[service]
    jobs = rows(server, database, "SELECT JobId, Name, Submitted, CASE WHEN CancelTime IS NULL THEN 0 ELSE 1 END, Unfinished, PartitionId "
                                  "FROM dbo.Jobs ORDER BY JobId")
    assert [tuple(j) for j in jobs] == [(n, f"job {n}", n != 3, int(n == 4), unfinished, PART) for n, unfinished in ((1, 0), (2, 4), (3, 2), (4, 2))]
    items = rows(server, database, "SELECT ItemId, InputFile, OutputFile, AttemptsRemaining, ErrorCode, CASE WHEN StartTime IS NULL THEN 0 ELSE 1 END, "
                                   "CASE WHEN StopTime IS NULL THEN 0 ELSE 1 END FROM dbo.Items WHERE JobId = 2 ORDER BY ItemId")
    state = {1: (2, None, 1, 1), 2: (0, 7, 1, 1), 3: (2, None, 1, 0)}
    assert [tuple(i) for i in items] == [(n, f"in{n}.docx", f"out{n}.pdf", *state.get(n, (3, None, 0, 0))) for n in range(1, 7)]
    numbered = counted(server)
    assert {state: numbered["procession_job_items", database, state] for state in DOCUMENTS} == DOCUMENTS
    taken = rows(server, database, "EXEC proc_GetConversionBatch @NumberOfConversionsInBatch = 10, @InProgressThreshold = '2008-01-31'")
    assert sorted(r[2] for r in taken if r[0] == 2) == [4, 5, 6] and {r[0] for r in taken} == {2}
    with connect(server, database) as db:
        for text in (f"EXEC proc_UpdateSucceededItem @JobId = 2, @GroupId = 1, @ItemId = {n}" for n in (3, 4, 5, 6)):
            db.cursor().execute(text)
        db.cursor().execute("EXEC procession_item_failed @JobId = 2, @GroupId = 1, @ItemId = 2, @ErrorCode = 7, @Reason = N'no paper', @Worker = N'host1'")
    assert rows(server, database, "SELECT JobId, ItemId, Reason FROM dbo.Failures") == [(2, 2, "no paper")]
    assert rows(server, database, "SELECT Unfinished FROM dbo.Jobs WHERE JobId = 2") == [(0,)]
    numbered = told(server)
    assert {state: numbered["procession_job_items", database, state] for state in DOCUMENTS} == {**DOCUMENTS, "waiting": 0, "running": 0, "succeeded": 8}


def test_what_the_first_release_kept_is_counted(server):
    numbered = counted(server)
    assert [numbered[f"procession_state_{what}", "StateService", None] for what in ("items", "bytes", "locks")] == [2, 6, 1]
    assert numbered["procession_scheduled_jobs", "ScheduledJobs", "enabled"] == 1
    assert rows(server, "Translation", "SELECT Items FROM dbo.ItemCounts WHERE Hour = '2090-01-31T07:00:00'") == [(5,)]
