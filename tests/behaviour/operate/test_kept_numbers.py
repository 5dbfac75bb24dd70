"""Numbers that are kept by counting, items and documents by state: the same as looking, whatever was called, undone, or ended by a crash.
With PostgreSQL one server counts them now and then."""
import random
import re
import time
import urllib.request

import pytds
import pytest

from support.numbers import numbers
from support.server import Server

ROUNDS = 8
JOB_STATES = ("unsubmitted", "waiting", "running", "succeeded", "failed", "canceled")
LOOK_AT_JOBS = """SELECT SUM(CASE WHEN j.CancelTime IS NULL AND j.Submitted = 0 AND i.StopTime IS NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN j.CancelTime IS NULL AND j.Submitted = 1 AND i.StopTime IS NULL AND i.StartTime IS NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN j.CancelTime IS NULL AND j.Submitted = 1 AND i.StopTime IS NULL AND i.StartTime IS NOT NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN i.StopTime IS NOT NULL AND i.ErrorCode IS NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN i.StopTime IS NOT NULL AND i.ErrorCode IS NOT NULL THEN 1 ELSE 0 END),
    SUM(CASE WHEN j.CancelTime IS NOT NULL AND i.StopTime IS NULL THEN 1 ELSE 0 END)
    FROM dbo.Items i JOIN dbo.Jobs j ON j.JobId = i.JobId"""
LOOK_AT_ITEMS = "SELECT COUNT(*), COALESCE(SUM(Bytes), 0), COALESCE(SUM(CASE WHEN Locked = 1 THEN 1 ELSE 0 END), 0) FROM dbo.Items"
SPACE = {"word": "http://schemas.microsoft.com/office/server/word/2009/08/", "translation": "http://schemas.microsoft.com/office/server/translation/2010/11/"}
DATABASE = {"word": "WordAutomation", "translation": "Translation"}


def connect(server, database):
    return pytds.connect(server.host, database, "sa", server.password, port=server.port, autocommit=True, login_timeout=60)


def ask(db, text):
    with db.cursor() as cursor:
        cursor.execute(text)
        return [tuple(row) for row in cursor.fetchall()]


def told_jobs(db, database):
    found = numbers(ask(db, "EXEC procession_stats"))
    return tuple(found.get(("procession_job_items", database, state)) for state in JOB_STATES)


def told_items(db, database):
    found = numbers(ask(db, "EXEC procession_stats"))
    return tuple(found.get((f"procession_state_{what}", database, None)) for what in ("items", "bytes", "locks"))


def agree(db, database, told, look, timeout=30):
    """What deleted jobs left is counted until it is removed, and PostgreSQL counts now and then: so there is some time."""
    deadline = time.monotonic() + timeout
    while True:
        seen = tuple(n or 0 for n in ask(db, look)[0])
        if told(db, database) == seen:
            return seen
        assert time.monotonic() < deadline, (told(db, database), seen)
        time.sleep(0.05)


def attempt(db, text):
    """Some of the calls are meant to fail."""
    try:
        with db.cursor() as cursor:
            cursor.execute(text)
            while cursor.nextset():
                pass
    except pytds.Error:
        pass


def state_call(rng):
    name, cookie = f"i{rng.randrange(12)}", rng.randrange(1, 6)
    data = "NULL" if rng.random() < 0.1 else "0x" + "ab" * rng.choice((0, 1, 30, 5000))
    return rng.choice((
        f"EXEC proc_AddItem '{name}', {data}, 20", f"EXEC proc_AddItem '{name}', {data}, 20", f"EXEC proc_DeleteItem '{name}', {cookie}",
        f"DECLARE @a varbinary(max), @b bit, @c int, @d int; EXEC proc_GetItemWithLock '{name}', @a OUTPUT, @b OUTPUT, @c OUTPUT, @d OUTPUT",
        f"DECLARE @a varbinary(max), @b bit, @c int, @d int; EXEC proc_GetItemWithoutLock '{name}', @a OUTPUT, @b OUTPUT, @c OUTPUT, @d OUTPUT",
        f"EXEC proc_UpdateItem '{name}', {data}, 20, {cookie}", f"EXEC proc_ReleaseItemLock '{name}', {cookie}"))


def batch_xml(service, starts, failed):
    def item(job, n, rest):
        return f'<item job="{job}" group="1" id="{n}" {rest}/>'
    wsi = 'wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331"'
    return (f'<batch xmlns="{SPACE[service]}databaseBatchUpdate"><start>{"".join(item(j, n, wsi) for j, n in starts)}</start>'
            f'<failed>{"".join(item(j, n, chr(101) + "rr=" + chr(34) + "7" + chr(34)) for j, n in failed)}</failed></batch>')


def job_call(service, rng):
    job, item = rng.randrange(1, 8), rng.randrange(1, 5)
    items = "".join(f'<item id="{i}" in="{i}.docx" out="{i}.pdf"/>' for i in range(1, 5))
    group = f'<group xmlns="{SPACE[service]}databaseJobAdd">{items}</group>'
    rest = ", @UserToken = 0x01, @Settings = N'<s/>'" if service == "translation" else ", @Settings = N'<s/>'"
    expire = f"EXEC proc_JobsExpire @AllPartitions = 1, @JobId = {job}, @IncludeActiveJobs = {rng.randrange(2)}"
    return rng.choice((
        f"EXEC proc_AddJob @JobId = {job}{rest}", f"EXEC proc_SubmitJob {job}", f"EXEC proc_SubmitJob {job}",
        f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @InputRoot = N'i', @OutputRoot = N'o', @MaxAttemptsCount = 2, @JobXml = N'{group}'",
        f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @InputRoot = N'i', @OutputRoot = N'o', @MaxAttemptsCount = 2, @JobXml = N'{group}'",
        f"EXEC proc_UpdateConversionBatch N'{batch_xml(service, [(job, item), (job, item % 4 + 1)], [])}'",
        f"EXEC proc_UpdateConversionBatch N'{batch_xml(service, [(job, item)], [(job, item % 4 + 1)])}'",
        f"EXEC proc_UpdateSucceededItem {job}, 1, {item}", f"EXEC proc_UpdateFailedItem {job}, 1, {item}, {rng.randrange(2)}, 5",
        f"EXEC proc_UpdateFailedItem {job}, 1, {item}, 1, NULL", f"EXEC proc_CancelJob {job}", expire if rng.random() < 0.3 else f"EXEC proc_SubmitJob {job}"))


def in_a_transaction(rng, calls):
    """Committed, rolled back, or back to a savepoint; a call that fails in it ends or spares it, as ever."""
    text, end = "BEGIN TRANSACTION; " + calls[0], rng.randrange(3)
    if end == 2:
        return f"{text}; SAVE TRANSACTION s; {calls[1]}; {calls[2]}; ROLLBACK TRANSACTION s; IF @@TRANCOUNT > 0 COMMIT"
    return f"{text}; {calls[1]}; IF @@TRANCOUNT > 0 {'COMMIT' if end == 0 else 'ROLLBACK'}"


def do_at_random(db, rng, call, n):
    for _ in range(n):
        if rng.random() < 0.2:
            calls = [call(rng) for _ in range(3)]
            attempt(db, in_a_transaction(rng, [c for c in calls if "DECLARE" not in c] + ["SELECT 1"] * 3))
            attempt(db, "IF @@TRANCOUNT > 0 ROLLBACK")
        else:
            attempt(db, call(rng))


@pytest.mark.parametrize("service", DATABASE)
def test_documents_by_state_are_those_that_one_finds(server, service):
    rng, seen = random.Random(17), set()
    with connect(server, DATABASE[service]) as db:
        for _ in range(ROUNDS):
            do_at_random(db, rng, lambda r: job_call(service, r), 480 // ROUNDS)
            found = agree(db, DATABASE[service], told_jobs, LOOK_AT_JOBS)
            seen |= {state for state, n in zip(JOB_STATES, found) if n > 0}
    assert seen == set(JOB_STATES)


def test_items_bytes_and_locks_are_those_that_one_finds(server):
    rng, most = random.Random(18), (0, 0, 0)
    with connect(server, "StateService") as db:
        for _ in range(ROUNDS):
            do_at_random(db, rng, state_call, 480 // ROUNDS)
            most = tuple(map(max, most, agree(db, "StateService", told_items, LOOK_AT_ITEMS)))
    assert all(n > 0 for n in most)


LOOK_AT_SCHEDULES = "SELECT SUM(CASE WHEN Disabled = 0 THEN 1 ELSE 0 END), SUM(CASE WHEN Disabled = 1 THEN 1 ELSE 0 END) FROM dbo.ScheduledJobs"


def told_schedules(db, database):
    found = numbers(ask(db, "EXEC procession_stats"))
    return tuple(found.get(("procession_scheduled_jobs", database, state)) for state in ("enabled", "disabled"))


def schedule_call(rng):
    job = f"@JobId = '6f9619ff-8b86-d011-b42d-00c04fc9650{rng.randrange(6)}'"
    never = rng.random() < 0.5
    values = (f"{job}, @Assembly = N'Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c', "
              "@Class = N'Microsoft.Office.Server.Audience.AudienceCompilationJob', @Recurrence = N'daily at 01:00:00', "
              f"@NextDueTime = '{'9999-12-31T23:59:59.997' if never else '2090-01-31T01:00:00'}', @Disabled = {int(never)}, @DisplayName = N'kept'")
    return rng.choice((f"EXEC proc_MIP_AddScheduledJob {values}", f"EXEC proc_MIP_ModifyScheduledJob {values}",
                       f"EXEC proc_MIP_ModifyScheduledJob {values}", f"EXEC proc_MIP_RemoveScheduledJob {job}"))


def test_scheduled_jobs_are_those_that_one_finds(server):
    rng, most = random.Random(20), (0, 0)
    with connect(server, "ScheduledJobs") as db:
        for _ in range(ROUNDS):
            do_at_random(db, rng, schedule_call, 180 // ROUNDS)
            most = tuple(map(max, most, agree(db, "ScheduledJobs", told_schedules, LOOK_AT_SCHEDULES)))
        for n in range(6):
            attempt(db, f"EXEC proc_MIP_RemoveScheduledJob '6f9619ff-8b86-d011-b42d-00c04fc9650{n}'")
    assert all(n > 0 for n in most)


def test_they_are_right_after_a_crash_and_after_a_restart():
    rng = random.Random(19)
    with Server() as server:
        for end in ("kill", "restart", "kill"):
            with connect(server, "StateService") as db, connect(server, "WordAutomation") as jobs:
                do_at_random(db, rng, state_call, 40)
                do_at_random(jobs, rng, lambda r: job_call("word", r), 60)
            if end == "kill":
                server.kill()
                server.start()
            else:
                server.restart()
            with connect(server, "StateService") as db, connect(server, "WordAutomation") as jobs:
                assert agree(db, "StateService", told_items, LOOK_AT_ITEMS)[0] > 0
                assert sum(agree(jobs, "WordAutomation", told_jobs, LOOK_AT_JOBS)) > 0


def test_a_call_that_fails_halfway_counts_nothing(server):
    """Its group is run again: what the others did is counted once."""
    with connect(server, "WordAutomation") as db:
        before = agree(db, "WordAutomation", told_jobs, LOOK_AT_JOBS)
        twice = f'<group xmlns="{SPACE["word"]}databaseJobAdd"><item id="1" in="a" out="b"/><item id="1" in="a" out="b"/></group>'
        attempt(db, "EXEC proc_AddJob @JobId = 77, @Settings = N'<s/>'")
        attempt(db, f"EXEC proc_AddGroup @JobId = 77, @GroupId = 1, @MaxAttemptsCount = 2, @JobXml = N'{twice}'")
        assert agree(db, "WordAutomation", told_jobs, LOOK_AT_JOBS) == before


def test_prometheus_is_told_the_same():
    with Server(settings={"http": "127.0.0.1:0"}) as server, connect(server, "StateService") as db:
        attempt(db, "EXEC proc_AddItem 'one', 0x010203, 20")
        agree(db, "StateService", told_items, LOOK_AT_ITEMS)
        address = re.search(r"http://\S+", "\n".join(server.stdout_lines)).group()
        with urllib.request.urlopen(f"{address}metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        assert 'procession_state_bytes{database="StateService"} 3' in lines
        assert 'procession_state_locks{database="StateService"} 0' in lines
        assert 'procession_job_items{database="WordAutomation",state="waiting"} 0' in lines
