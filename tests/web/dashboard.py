"""A server with a dashboard, with real data in every database, and load behind it."""
import datetime
import itertools
import json
import pathlib
import shutil
import subprocess
import threading

from support.jobs import Jobs
from support.server import Server
from support.store import stored
from support.wire import Wire

HERE = pathlib.Path(__file__).resolve().parent
BROWSER = HERE / "browser"
WORKER = "b00ae9a1-0474-474e-b348-f6a8bcc95331"
PARTITION = "93572c0a-d9e1-1395-dab3-932eac7ba30c"
SCHEDULED = "b00ae9a1-0474-474e-b348-f6a8bcc9533{}"
READER = ("reader", "reader-Password1")
HOUR = 3600 * 300                       # in ticks
OLD = {4: 3, 9: 72, 14: 240, 19: 1440}  # how many hours ago these jobs were made, all of them Letters
LARGE = (8, 130, 101, 2)                # a job of Translation: its documents, how many are done, and how many failed
NAMES = ["Quarterly report", "Contracts to PDF", "Handbook", "Invoices of October", "Letters"]


def available():
    """Whether a browser and its driver are here; otherwise why not."""
    if shutil.which("chromium") is None:
        return "Chromium is not installed"
    if not (BROWSER / "node_modules" / "playwright-core").exists():
        return "npm ci was not run in tests/web/browser"
    return None


def sql(server, database, *texts):
    with Wire(server).login(database=database) as w:
        return [w.batch(text).ok() for text in texts]


def rows(server, database, text, login=None):
    user, password = login or ("sa", server.password)
    with Wire(server).login(user=user, password=password, database=database) as w:
        return w.batch(text).ok().rows


class Service:
    """As much of support.jobs.Jobs as its documents need."""

    def __init__(self, service):
        self.service = service


def add_job(server, service, database, job, items, name, partition=None, submit=True, settings="<x/>"):
    xml = Jobs.group_xml(Service(service), items=range(1, items + 1))
    part = f"'{partition}'" if partition else "NULL"
    first = (f"EXEC proc_AddJob @JobId = {job}, @PartitionId = {part}, @Settings = N'{settings}', @Name = N'{name}'"
             + (", @UserToken = 0x00" if service == "translation" else ""))
    group = (f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @InputRoot = N'/srv/in', @OutputRoot = N'/srv/out', "
             f"@MaxAttemptsCount = 2, @JobXml = N'{xml}'")
    texts = [first, group] + ([f"EXEC proc_SubmitJob @JobId = {job}"] if submit else [])
    sql(server, database, *texts)


def work(server, service, database, job, done, failed, first=1):
    ids = range(first, done + failed + 1)
    xml = Jobs.batch_xml(Service(service), start=[(job, 1, n, WORKER) for n in ids])
    texts = [f"EXEC proc_UpdateConversionBatch @BatchXml = N'{xml}'"]
    for n in ids:
        texts.append(f"EXEC proc_UpdateSucceededItem @JobId = {job}, @GroupId = 1, @ItemId = {n}" if n <= done else
                     f"EXEC proc_UpdateFailedItem @JobId = {job}, @GroupId = 1, @ItemId = {n}, @NoRetry = 1, @ErrorCode = {4 + n % 3}")
    texts += [f"EXEC procession_item_failed @JobId = {job}, @GroupId = 1, @ItemId = {n}, @ErrorCode = {4 + n % 3}, @Reason = N'no room on the disk', "
              "@Worker = N'host1'" for n in ids if n > done]
    sql(server, database, *texts)


def fill(server):
    for n in range(1, 41):
        items = 3 + n % 8
        add_job(server, "word", "WordAutomation", n, items, f"{NAMES[n % 5]} {n}", PARTITION if n > 35 else None, submit=n != 40)
        if n < 39:
            work(server, "word", "WordAutomation", n, items if n < 25 else items // 2, 0 if n % 6 or n < 25 else 1)
    add_job(server, "translation", "Translation", 7, 4, "Letters to Spanish")
    large, documents, done, failed = LARGE
    add_job(server, "translation", "Translation", large, documents, "Handbook to French")
    work(server, "translation", "Translation", large, done, failed)
    soon = datetime.datetime.utcnow() + datetime.timedelta(hours=2)
    schedule = [("Night report", "daily at 01:00:00"), ("Cache clean-up", "every 15 minutes at 00"), ("Weekly digest", "weekly at fri 22:00:00"), ("Once only", None)]
    for n, (name, recurrence) in enumerate(schedule):
        text = f"N'{recurrence}'" if recurrence else "NULL"
        sql(server, "ScheduledJobs", f"EXEC proc_MIP_AddScheduledJob @JobId = '{SCHEDULED.format(n)}', @Assembly = N'Microsoft.Office.Server, Version=12.0.0.0, "
            "Culture=neutral, PublicKeyToken=71e9bce111e9429c', @Class = N'Microsoft.Office.Server.Audience.AudienceCompilationJob', "
            f"@Recurrence = {text}, @NextDueTime = '{soon:%Y-%m-%dT%H:%M:%S}', @DisplayName = N'{name}'")
    now = datetime.datetime.utcnow()
    for n in range(24):
        due, took = now - datetime.timedelta(hours=24 - n, minutes=3), datetime.timedelta(seconds=40 + 7 * n)
        sql(server, "ScheduledJobs", f"EXEC procession_run_ended @JobId = '{SCHEDULED.format(n % 3)}', @DueTime = '{due:%Y-%m-%dT%H:%M:%S}', @StartTime = '{due:%Y-%m-%dT%H:%M:%S}', "
            f"@EndTime = '{due + took:%Y-%m-%dT%H:%M:%S}', @Outcome = N'{'failed' if n == 20 else 'ok'}', @ExitStatus = {3 if n == 20 else 0}, "
            f"@DisplayName = N'{schedule[n % 3][0]}', @Scheduler = N'host1'")
    state = [f"EXEC proc_AddItem 'session-{n}', 0x{'ab' * (20 + n)}, {20 + n * 17 % 1400}" for n in range(120)]
    state += [f"DECLARE @d varbinary(max), @c int, @l bit, @a int EXEC proc_GetItemWithLock 'session-{n}', @d OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT" for n in range(5)]
    sql(server, "StateService", *state)
    sql(server, "master", f"EXEC procession_login_add '{READER[0]}', '{READER[1]}'", f"EXEC procession_grant '{READER[0]}', 'WordAutomation', 'select'")
    grow_old(server)


def grow_old(server):
    """No call makes a job in the past."""
    server.stop()
    with stored(server, "WordAutomation") as tables:
        for job, hours in OLD.items():
            assert tables.run("UPDATE job SET created = created - ? WHERE id = ?", hours * HOUR, job) == 1
    server.start()


class Load:
    """Clients that go on calling until they are stopped."""

    def __init__(self, server, clients=2):
        self.server, self.stop = server, threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(n,), daemon=True) for n in range(clients)]

    def run(self, n):
        with Wire(self.server).login(database="StateService") as w:
            for i in itertools.count():
                if self.stop.wait(0.01):
                    return
                w.batch(f"EXEC proc_RefreshItemExpiration 'session-{(i * 7 + n) % 120}'; SELECT * FROM dbo.Nothing" if i % 50 == 49 else
                        f"EXEC proc_RefreshItemExpiration 'session-{(i * 7 + n) % 120}'; SELECT COUNT(*) FROM dbo.Items")

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(30)


def browse(scenario, url, timeout=240, **options):
    """Runs one scenario in Chromium; what it prints last is its answer, as JSON."""
    done = subprocess.run(["node", str(BROWSER / "run.js"), scenario, url, json.dumps(options)], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"{scenario}: {done.stderr[-3000:]}\n{done.stdout[-1500:]}"
    lines = done.stdout.strip().splitlines()
    return json.loads(lines[-1]) if lines else None


__all__ = ["Server", "Load", "add_job", "available", "browse", "fill", "rows", "sql", "work"]
