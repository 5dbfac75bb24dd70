"""The two job services for tests: signatures as the specifications have them, and calls in the words of a job's life.

`jobs_fixture("word", "translation")` makes a fixture that runs a test on each service, under both errata settings, and by
each way of calling. The database is empty when a test begins, so JobIds are small constants.
"""
import datetime
import itertools
import re
import time
import uuid
from xml.sax.saxutils import quoteattr

import pytest

from support import clients
from support.clients import CallError
from support.store import ways

SPACES = {"word": "http://schemas.microsoft.com/office/server/word/2009/08/", "translation": "http://schemas.microsoft.com/office/server/translation/2010/11/"}
PREFIX = {"word": "WORD", "translation": "TRAN"}
ERRATA = ("corrected", "literal")
WORKER = uuid.UUID("b00ae9a1-0474-474e-b348-f6a8bcc95331")
WORKER2 = uuid.UUID("0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0")
PART = uuid.UUID("93572c0a-d9e1-1395-dab3-932eac7ba30c")
PART2 = uuid.UUID("11111111-2222-3333-4444-555555555555")
ZERO = uuid.UUID(int=0)
LONG_AGO = datetime.datetime(2008, 1, 31, 1, 1, 1)
FAR = datetime.datetime(9000, 1, 1)
FLAGS = ("NotSubmitted", "NotStarted", "InProgress", "Succeeded", "Failed", "Canceled")
COUNTS = ("Total",) + FLAGS

_ITEM = "@JobId bigint!, @GroupId smallint!, @ItemId int!"
_PARTED = "@JobId bigint!, @PartitionId uniqueidentifier = null"
_BATCH = "@NumberOfConversionsInBatch int!, @InProgressThreshold datetime!"
_FLAGS = ", ".join(f"@{f} bit" for f in FLAGS)
_EXPIRE = "@TimeThreshold datetime = null, @PartitionId uniqueidentifier = null, @AllPartitions bit = null, @JobId bigint = null, @IncludeActiveJobs bit"
# Parameters in order: '!' may not be NULL, '= null' may be left out.
SIGNATURES = {
    "word": {
        "proc_UpdateSucceededItem": _ITEM + ", @Reserved varbinary(max) = null",
        "proc_UpdateFailedItem": _ITEM + ", @NoRetry bit, @ErrorCode int, @Reserved varbinary(max) = null",
        "proc_UpdateConversionBatch": "@BatchXml xml!",
        "proc_SubmitJob": "@JobId bigint!",
        "proc_JobsExpire": _EXPIRE,
        "proc_HasActiveJobs": "",
        "proc_GetJobStatus": "@JobId bigint, @PartitionId uniqueidentifier = null",
        "proc_GetJobs": "@PartitionId uniqueidentifier = null, @UserTokenSid varbinary(max) = null, @UserTokenGroups varbinary(max) = null, @ActiveOnly bit, @SubmittedOnly bit",
        "proc_GetItems": "@JobId bigint, @GroupId smallint, @PartitionId uniqueidentifier = null, " + _FLAGS,
        "proc_GetGroups": _PARTED,
        "proc_GetConversionBatch": _BATCH,
        "proc_CancelJob": _PARTED,
        "proc_CancelAllActiveJobs": "",
        "proc_AddJob": "@JobId bigint!, @UserTokenHeader varbinary(32) = null, @UserTokenSid varbinary(max) = null, @UserTokenGroups varbinary(max) = null, "
                       "@PartitionId uniqueidentifier = null, @Settings nvarchar(max), @Name nvarchar(max) = null",
        "proc_AddGroup": "@JobId bigint!, @GroupId smallint!, @InputRoot nvarchar(max) = null, @OutputRoot nvarchar(max) = null, @MaxAttemptsCount smallint!, @JobXml xml!",
    },
    "translation": {
        "proc_AddGroup": "@JobId bigint!, @GroupId smallint!, @InputRoot nvarchar(max)!, @OutputRoot nvarchar(max)!, @MaxAttemptsCount smallint!, @JobXml xml!",
        "proc_AddJob": "@JobId bigint!, @UserId nvarchar(max) = null, @UserToken varbinary(max)!, @PartitionId uniqueidentifier = null, @Settings nvarchar(max)!, "
                       "@Name nvarchar(max) = null, @ItemCount int = null, @MaxItemsPerDay int = null, @MaxItemsPerPartitionPerDay int = null",
        "proc_CancelAllActiveJobs": "",
        "proc_CancelJob": _PARTED,
        "proc_GetConversionBatch": _BATCH,
        "proc_GetConversionBatchInterleaved": _BATCH,
        "proc_GetGroups": _PARTED,
        "proc_GetItemCount": "@PartitionId uniqueidentifier!, @Hour int!, @Date date!",
        "proc_GetItems": "@JobId bigint!, @GroupId smallint!, @PartitionId uniqueidentifier = null, " + _FLAGS,
        "proc_GetJobs": "@PartitionId uniqueidentifier = null, @UserId nvarchar(max) = null, @ActiveOnly bit, @SubmittedOnly bit",
        "proc_GetJobStatus": "@JobId bigint, @PartitionId uniqueidentifier = null",
        "proc_HasActiveJobs": "",
        "proc_JobsExpire": _EXPIRE + "!",
        "proc_SubmitJob": "@JobId bigint!",
        "proc_UpdateConversionBatch": "@BatchXml xml!",
        "proc_UpdateFailedItem": _ITEM + ", @NoRetry bit, @ErrorCode int",
        "proc_UpdateItemCount": "@PartitionId uniqueidentifier!, @Hour int!, @Date date!, @ItemCount int!",
        "proc_UpdateSucceededItem": _ITEM,
    },
}
_STATUS = ", ".join(f"{c} int" for c in COUNTS) + ", Name nvarchar(max)?"
_JOBS = "JobId bigint, CreateTime datetime, CancelTime datetime?, Submitted bit, Name nvarchar(max)?"
_HANDED = ("JobId bigint, GroupId smallint, ItemId int, InProgress bit, InputFile nvarchar(max), OutputFile nvarchar(max){}, AttemptsRemaining tinyint, "
           "WorkerServerInstance uniqueidentifier?, StartTime datetime?, CreateTime datetime")
_ITEMS = "ItemId int, StartTime datetime?, StopTime datetime?, ErrorCode int?, InputFile nvarchar(max), OutputFile nvarchar(max){}"
_GROUPS = "GroupId smallint, InputRoot nvarchar(max){0}, OutputRoot nvarchar(max){0}, CreateTime datetime, CancelTime datetime?, Submitted bit, Settings nvarchar(max){0}"
# Columns in order: '?' may be NULL.
COLUMNS = {
    "word": {
        "proc_UpdateConversionBatch": "JobId bigint, GroupId smallint, InputRoot nvarchar(max)?, OutputRoot nvarchar(max)?, Settings nvarchar(max)?, "
                                      "UserTokenHeader varbinary(32)?, UserTokenSid varbinary(max)?, UserTokenGroups varbinary(max)?",
        "proc_GetJobStatus": _STATUS,
        "proc_GetJobs": _JOBS,
        "proc_GetItems": _ITEMS.format("?"),
        "proc_GetGroups": _GROUPS.format("?"),
        "proc_GetConversionBatch": _HANDED.format("?"),
    },
    "translation": {
        "proc_UpdateConversionBatch": "JobId bigint, GroupId smallint, InputRoot nvarchar(max), OutputRoot nvarchar(max), Settings nvarchar(max), "
                                      "PartitionId uniqueidentifier?, UserToken varbinary(max)",
        "proc_GetJobStatus": _STATUS,
        "proc_GetJobs": _JOBS,
        "proc_GetItems": _ITEMS.format(""),
        "proc_GetGroups": _GROUPS.format(""),
        "proc_GetConversionBatch": _HANDED.format(""),
        "proc_GetConversionBatchInterleaved": _HANDED.format(""),
    },
}


# The class of an error, where it is not 16, as SQL Server has it.
CLASSES = {127: 15, 229: 14, 2627: 14}


class Parameter:
    def __init__(self, text):
        self.name, self.type, bang, default = re.fullmatch(r"@(\w+) ([a-z]+(?:\(\w+\))?)(!?)( = null)?", text).groups()
        self.not_null, self.required = bool(bang), not default


def parameters(service, proc):
    text = SIGNATURES[service][proc]
    return [Parameter(p) for p in text.split(", ")] if text else []


def columns(service, proc):
    """[(name, type, may be NULL)]"""
    return [(name, kind.rstrip("?"), kind.endswith("?")) for name, kind in (c.split(" ") for c in COLUMNS[service][proc].split(", "))]


def utc():
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


def next_tick():
    """Waits until the clock of the server shows another datetime tick (1/300 s)."""
    time.sleep(0.008)


class Jobs:
    """One database of a job service, called in one way."""

    def __init__(self, server, service, errata, way, database):
        self.server, self.service, self.errata, self.way, self.database = server, service, errata, way, database
        self.client = clients.connect(way, server, database)
        self.reader = clients.connect("pytds-batch", server, database)
        self.word, self.literal = service == "word", errata == "literal"
        self.sends_empty = way != "pymssql-rpc"     # DB-Library takes a zero-length parameter for NULL
        self.partitions = {}

    def close(self):
        self.client.close()
        self.reader.close()

    def wipe(self):
        self.partitions = {}
        self.reader.call("proc_JobsExpire", AllPartitions=1, IncludeActiveJobs=1)
        assert self.reader.run("SELECT JobId FROM dbo.Jobs").rows == []

    def another(self):
        """A second client of the same database."""
        return clients.connect("pytds-rpc", self.server, self.database)

    # documents

    def group_xml(self, items=(1,), space=None):
        """items: ids, or (id, in, out) with out None for none."""
        parts = []
        for item in items:
            number, source, target = item if isinstance(item, tuple) else (item, f"in{item}.docx", f"out{item}.pdf")
            parts.append(f'<item id="{number}" in={quoteattr(source)}' + (f" out={quoteattr(target)}" if target is not None else "") + "/>")
        return f'<group xmlns="{SPACES[self.service] if space is None else space}databaseJobAdd">{"".join(parts)}</group>'

    def batch_xml(self, start=(), failed=(), space=None):
        """start: (job, group, id[, worker]); failed: (job, group, id, error)."""
        begun = "".join(f'<item job="{s[0]}" group="{s[1]}" id="{s[2]}" wsi="{s[3] if len(s) > 3 else WORKER}"/>' for s in start)
        ended = "".join(f'<item job="{j}" group="{g}" id="{i}" error="{e}"/>' for j, g, i, e in failed)
        return f'<batch xmlns="{SPACES[self.service] if space is None else space}databaseBatchUpdate"><start>{begun}</start><failed>{ended}</failed></batch>'

    # calls

    def call(self, proc, *positional, **args):
        return self.client.call(proc, *positional, **args)

    def ok(self, proc, **args):
        """A call whose status must be 0."""
        result = self.call(proc, **args)
        assert result.status == 0, f"{proc} gave status {result.status}"
        return result

    def refuses(self, number, proc, *positional, **args):
        """The call fails with one of these numbers and leaves everything as it was."""
        before = self.everything()
        with pytest.raises(CallError) as caught:
            self.call(proc, *positional, **args)
        assert caught.value.number in (number if isinstance(number, (tuple, range, set)) else (number,)), str(caught.value)
        assert caught.value.severity in (None, CLASSES.get(caught.value.number, 16)), str(caught.value)
        assert self.everything() == before, f"{proc} failed with {caught.value.number} and yet changed something"
        return caught.value

    def everything(self):
        views = ["Jobs", "Groups", "Items"] + ([] if self.word else ["ItemCounts"])
        return [sorted(self.reader.run(f"SELECT * FROM dbo.{v}").rows, key=repr) for v in views]

    def leaves(self, proc, **args):
        """The call succeeds and changes nothing."""
        before = self.everything()
        result = self.ok(proc, **args)
        assert self.everything() == before, f"{proc} changed something"
        return result

    def job_args(self, job=1, **more):
        needed = {"Settings": "<settings/>"} if self.word else {"UserToken": b"\x12\x34", "Settings": "<settings/>"}
        return {"JobId": job, **needed, **more}

    def group_args(self, job=1, group=1, items=(1,), attempts=2, **more):
        needed = {} if self.word else {"InputRoot": "in/", "OutputRoot": "out/"}
        return {"JobId": job, "GroupId": group, **needed, "MaxAttemptsCount": attempts, "JobXml": self.group_xml(items), **more}

    def add_job(self, job=1, partition=None, **more):
        self.partitions[job] = partition
        args = self.job_args(job, **more)
        if partition is not None:
            args["PartitionId"] = partition
        self.ok("proc_AddJob", **args)
        return job

    def add_group(self, job=1, group=1, items=(1,), attempts=2, **more):
        self.ok("proc_AddGroup", **self.group_args(job, group, items, attempts, **more))

    def submit(self, job=1):
        self.ok("proc_SubmitJob", JobId=job)

    def new_job(self, job=1, items=(1,), partition=None, attempts=2, submitted=True, **more):
        """A job with one group, submitted unless told otherwise."""
        self.add_job(job, partition, **more)
        if items:
            self.add_group(job, 1, items, attempts)
        if submitted:
            self.submit(job)
        return job

    def cancel(self, job=1):
        self.ok("proc_CancelJob", JobId=job, **self.parted(job))

    def parted(self, job):
        part = self.partitions.get(job)
        return {} if part is None else {"PartitionId": part}

    def report(self, start=(), failed=()):
        return self.ok("proc_UpdateConversionBatch", BatchXml=self.batch_xml(start, failed)).rows

    def start(self, *ids, job=1, group=1, worker=WORKER):
        return self.report(start=[(job, group, i, worker) for i in ids])

    def succeed(self, *ids, job=1, group=1, **more):
        for i in ids:
            self.ok("proc_UpdateSucceededItem", JobId=job, GroupId=group, ItemId=i, **more)

    def fail(self, *ids, job=1, group=1, no_retry=1, error=7, **more):
        for i in ids:
            self.ok("proc_UpdateFailedItem", JobId=job, GroupId=group, ItemId=i, NoRetry=no_retry, ErrorCode=error, **more)

    # reads

    def handed(self, n=1000, threshold=LONG_AGO, proc="proc_GetConversionBatch"):
        return self.ok(proc, NumberOfConversionsInBatch=n, InProgressThreshold=threshold).rows

    def keys(self, *args, **more):
        """(job, group, item) of what is handed out."""
        return [(r.JobId, r.GroupId, r.ItemId) for r in self.handed(*args, **more)]

    def items(self, job=1, group=1, **flags):
        args = {f: 1 for f in FLAGS}
        args.update(flags)
        return self.ok("proc_GetItems", JobId=job, GroupId=group, **self.parted(job), **args).rows

    def item(self, item=1, job=1, group=1):
        return next(i for i in self.items(job, group) if i.ItemId == item)

    def stored(self, item=1, job=1, group=1):
        """The item with what no procedure shows, from the readable view."""
        return self.reader.run(f"SELECT * FROM dbo.Items WHERE JobId = {job} AND GroupId = {group} AND ItemId = {item}").rows[0]

    def counts(self, job=1):
        """{class: number} of proc_GetJobStatus without the zeros."""
        rows = self.ok("proc_GetJobStatus", JobId=job, **self.parted(job)).rows
        assert len(rows) == 1
        return {c: getattr(rows[0], c) for c in COUNTS if getattr(rows[0], c)}

    def listed(self, **args):
        """JobIds that proc_GetJobs gives."""
        return [r.JobId for r in self.ok("proc_GetJobs", **{"ActiveOnly": 0, "SubmittedOnly": 0, **args}).rows]

    def job(self, job=1):
        """The row of proc_GetJobs; a job with a partition is found under it."""
        rows = self.ok("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0, **self.parted(job)).rows
        return next(r for r in rows if r.JobId == job)

    def all_jobs(self):
        """JobIds of all partitions, by the readable view."""
        return sorted(r.JobId for r in self.reader.run("SELECT JobId FROM dbo.Jobs").rows)

    def groups(self, job=1, **more):
        return self.ok("proc_GetGroups", JobId=job, **more).rows

    def active(self):
        return self.call("proc_HasActiveJobs").status


_open = {}


def database(server, service, errata):
    """The database for a service and setting; made once a server."""
    if errata == "corrected":
        return {"word": "WordAutomation", "translation": "Translation"}[service]
    name = f"{service}-{errata}"
    if (server, name) not in _open:
        new_database(server, name, service, errata)
        _open[server, name] = True
    return name


def new_database(server, name, service, errata):
    admin = clients.connect("pytds-rpc", server, "master")
    admin.call("procession_database_create", name=name, service=service, errata=errata)
    admin.close()


def opened(server, service, errata, way):
    """A Jobs that is kept for the whole session, emptied."""
    key = (server, service, errata, way)
    if key not in _open:
        _open[key] = Jobs(server, service, errata, way, database(server, service, errata))
    _open[key].wipe()
    return _open[key]


# Each way of calling with each service and each setting once or twice: all of them together would only take longer.
SETTINGS = (("corrected", "pytds-rpc"), ("literal", "pytds-rpc")) + ways((("corrected", "pymssql-rpc"), ("literal", "pytds-batch"), ("corrected", "pymssql-batch")), ())
FEW = (("word", "corrected", "pytds-rpc"), ("translation", "literal", "pytds-batch")) + ways((("word", "literal", "pymssql-batch"), ("translation", "corrected", "pymssql-rpc")), ())


def jobs_fixture(*services, settings=SETTINGS, among=None):
    """A fixture that gives a Jobs for every service and setting, or for the combinations in among."""
    params = among or [(service, *setting) for service, setting in itertools.product(services, settings)]

    @pytest.fixture(params=params, ids=lambda p: "-".join(p))
    def fixture(request, server):
        return opened(server, *request.param)
    return fixture


def near(value, before, after):
    """Whether a stored time lies between two readings of the clock, give or take a tick."""
    tick = datetime.timedelta(milliseconds=4)
    return before - tick <= value <= after + tick


# Arguments of every procedure that are good when job 1 exists with group 1 and item 1, unsubmitted


def prepare(db):
    db.wipe()
    db.new_job(1, submitted=False, partition=PART)


def good(db, proc):
    """{parameter: value} with every parameter given, in the order of the declaration."""
    values = {
        "JobId": 2 if proc == "proc_AddJob" else 1, "GroupId": 2 if proc == "proc_AddGroup" else 1, "ItemId": 1, "PartitionId": PART, "Reserved": b"\x01",
        "NoRetry": 1, "ErrorCode": 3, "BatchXml": db.batch_xml([(1, 1, 1)]), "JobXml": db.group_xml((1, 2)), "MaxAttemptsCount": 2,
        "TimeThreshold": LONG_AGO, "AllPartitions": 0, "IncludeActiveJobs": 0, "UserTokenHeader": b"\x01" * 32, "UserTokenSid": b"\x02", "UserTokenGroups": b"\x03",
        "UserId": "user@contoso.com", "UserToken": b"\x12\x34", "Settings": "<settings/>", "Name": "a name", "ItemCount": 2, "MaxItemsPerDay": 2000000000,
        "MaxItemsPerPartitionPerDay": 2000000000, "InputRoot": "in", "OutputRoot": "out", "NumberOfConversionsInBatch": 5, "InProgressThreshold": LONG_AGO,
        "Hour": 10, "Date": datetime.date(2012, 7, 16), "ActiveOnly": 0, "SubmittedOnly": 0, **{f: 1 for f in FLAGS}}
    return {p.name: values[p.name] for p in parameters(db.service, proc)}
