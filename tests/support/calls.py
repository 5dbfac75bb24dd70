"""One way to call a procedure, whatever carries it: the paths give the same Result for the same call.

    with open_path("pytds", server, "StateService") as db:
        r = db.call("proc_AddItem", id="a", item=b"x", timeout=20)
        assert r.status == 0 and r.error is None

Paths: pytds (RPC by name), wire (RPC of our own strict client), batch (EXEC text through it), pymssql (EXEC text through FreeTDS).
The signatures are those of the specifications, typed in from signatures.md.
"""
import contextlib
import datetime
import uuid

import pytds

from support import wiretypes as t
from support.wire import Param, Wire

OUTPUT = "output"       # after the type: an OUTPUT parameter

_JOB = [("JobId", "bigint"), ("GroupId", "smallint"), ("ItemId", "int")]
_SCHED = [("JobId", "guid"), ("Assembly", "nvarchar"), ("Class", "nvarchar"), ("Recurrence", "nvarchar"), ("JobData", "ntext"),
          ("NextDueTime", "datetime"), ("Disabled", "bit"), ("DisplayName", "nvarchar")]
_GET = [("id", "varchar"), ("item", "varbinary", OUTPUT), ("locked", "bit", OUTPUT), ("lockAgeInSeconds", "int", OUTPUT), ("lockCookie", "int", OUTPUT)]
_FLAGS = [(name, "bit") for name in ("NotSubmitted", "NotStarted", "InProgress", "Succeeded", "Failed", "Canceled")]
_PARTITION = ("PartitionId", "guid")
_GROUP = [("JobId", "bigint"), ("GroupId", "smallint"), ("InputRoot", "nvarchar"), ("OutputRoot", "nvarchar"), ("MaxAttemptsCount", "smallint"), ("JobXml", "xml")]
_EXPIRE = [("TimeThreshold", "datetime"), _PARTITION, ("AllPartitions", "bit"), ("JobId", "bigint"), ("IncludeActiveJobs", "bit")]
_BATCH = [("NumberOfConversionsInBatch", "int"), ("InProgressThreshold", "datetime")]
_COUNT = [_PARTITION, ("Hour", "int"), ("Date", "date")]

SIGNATURES = {
    "StateService": {
        "proc_AddItem": [("id", "varchar"), ("item", "varbinary"), ("timeout", "int")],
        "proc_DeleteExpiredItems": [],
        "proc_DeleteItem": [("id", "varchar"), ("lockCookie", "int")],
        "proc_GetItemWithLock": _GET,
        "proc_GetItemWithoutLock": _GET,
        "proc_RefreshItemExpiration": [("id", "varchar")],
        "proc_ReleaseItemLock": [("id", "varchar"), ("lockCookie", "int")],
        "proc_UpdateItem": [("id", "varchar"), ("item", "varbinary"), ("timeout", "int"), ("lockCookie", "int")],
    },
    "ScheduledJobs": {
        "proc_MIP_AddScheduledJob": _SCHED,
        "proc_MIP_GetScheduledJobs": [],
        "proc_MIP_GetScheduledJobById": [("JobId", "guid")],
        "proc_MIP_GetScheduledJobsInInterval": [("NextDueTime", "datetime")],
        "proc_MIP_ModifyScheduledJob": _SCHED,
        "proc_MIP_RefreshScheduledJob": [("JobId", "guid"), ("NextDueTime", "datetime")],
        "proc_MIP_RemoveScheduledJob": [("JobId", "guid")],
    },
    "WordAutomation": {
        "proc_UpdateSucceededItem": _JOB + [("Reserved", "varbinary")],
        "proc_UpdateFailedItem": _JOB + [("NoRetry", "bit"), ("ErrorCode", "int"), ("Reserved", "varbinary")],
        "proc_UpdateConversionBatch": [("BatchXml", "xml")],
        "proc_SubmitJob": [("JobId", "bigint")],
        "proc_JobsExpire": _EXPIRE,
        "proc_HasActiveJobs": [],
        "proc_GetJobStatus": [("JobId", "bigint"), _PARTITION],
        "proc_GetJobs": [_PARTITION, ("UserTokenSid", "varbinary"), ("UserTokenGroups", "varbinary"), ("ActiveOnly", "bit"), ("SubmittedOnly", "bit")],
        "proc_GetItems": [("JobId", "bigint"), ("GroupId", "smallint"), _PARTITION] + _FLAGS,
        "proc_GetGroups": [("JobId", "bigint"), _PARTITION],
        "proc_GetConversionBatch": _BATCH,
        "proc_CancelJob": [("JobId", "bigint"), _PARTITION],
        "proc_CancelAllActiveJobs": [],
        "proc_AddJob": [("JobId", "bigint"), ("UserTokenHeader", "varbinary"), ("UserTokenSid", "varbinary"), ("UserTokenGroups", "varbinary"), _PARTITION,
                        ("Settings", "nvarchar"), ("Name", "nvarchar")],
        "proc_AddGroup": _GROUP,
    },
    "Translation": {
        "proc_AddGroup": _GROUP,
        "proc_AddJob": [("JobId", "bigint"), ("UserId", "nvarchar"), ("UserToken", "varbinary"), _PARTITION, ("Settings", "nvarchar"), ("Name", "nvarchar"),
                        ("ItemCount", "int"), ("MaxItemsPerDay", "int"), ("MaxItemsPerPartitionPerDay", "int")],
        "proc_CancelAllActiveJobs": [],
        "proc_CancelJob": [("JobId", "bigint"), _PARTITION],
        "proc_GetConversionBatch": _BATCH,
        "proc_GetConversionBatchInterleaved": _BATCH,
        "proc_GetGroups": [("JobId", "bigint"), _PARTITION],
        "proc_GetItemCount": _COUNT,
        "proc_GetItems": [("JobId", "bigint"), ("GroupId", "smallint"), _PARTITION] + _FLAGS,
        "proc_GetJobs": [_PARTITION, ("UserId", "nvarchar"), ("ActiveOnly", "bit"), ("SubmittedOnly", "bit")],
        "proc_GetJobStatus": [("JobId", "bigint"), _PARTITION],
        "proc_HasActiveJobs": [],
        "proc_JobsExpire": _EXPIRE,
        "proc_SubmitJob": [("JobId", "bigint")],
        "proc_UpdateConversionBatch": [("BatchXml", "xml")],
        "proc_UpdateFailedItem": _JOB + [("NoRetry", "bit"), ("ErrorCode", "int")],
        "proc_UpdateItemCount": _COUNT + [("ItemCount", "int")],
        "proc_UpdateSucceededItem": _JOB,
    },
}
SERVICE_OF = {"StateService": "state", "ScheduledJobs": "schedule", "WordAutomation": "word", "Translation": "translation"}


class Result:
    """What came back: status (None: none was sent), out, rows and columns (None: no result set), sets, error (first number), errors, infos."""

    def __init__(self, status=None, out=None, sets=(), errors=(), infos=()):
        self.status, self.out = status, dict(out or {})
        self.sets = list(sets)                                  # (columns, rows)
        self.errors, self.infos = list(errors), list(infos)     # (number, class, text)

    @property
    def error(self):
        return self.errors[0][0] if self.errors else None

    @property
    def rows(self):
        return [tuple(row) for row in self.sets[0][1]] if self.sets else None

    @property
    def columns(self):
        return self.sets[0][0] if self.sets else None

    def dicts(self):
        return [dict(zip(self.columns, row)) for row in self.rows]

    def __repr__(self):
        return f"Result(status={self.status}, out={self.out}, sets={self.sets}, errors={self.errors}, infos={self.infos})"


def quote(text):
    return "N'" + text.replace("'", "''") + "'"


def literal(value, kind):
    """A constant of a batch, as the examples of the specifications write them."""
    if value is None:
        return "NULL"
    if isinstance(value, (bytes, bytearray)):
        return "0x" + bytes(value).hex()
    if isinstance(value, uuid.UUID):
        return f"'{value}'"
    if isinstance(value, datetime.datetime):
        return "'" + value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03d}'"
    if isinstance(value, datetime.date):
        return f"'{value.isoformat()}'"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return quote(value)
    return str(value)


def typed(value, kind):
    """A wire type for the value of a parameter."""
    if isinstance(value, tuple):
        return value                                            # (Type, raw) made by the test
    if value is None or kind not in ("varchar", "nvarchar", "ntext", "xml"):
        if isinstance(value, str):
            return t.nvarchar_max(value)
        if kind == "guid":
            return t.Type(0x24, 16), None if value is None else value.bytes_le
        if kind in ("datetime", "date"):
            return datetime_(value)
        if kind in ("bit",) and value in (None, 0, 1):
            return t.bit(None if value is None else int(value))
        if kind == "varbinary":
            return t.varbinary_max(value)
        if kind in ("int", "bit"):
            return t.int_(value) if value is None or -2**31 <= value < 2**31 else t.int_(value, 8)
        if kind == "bigint":
            return t.int_(value, 8)
        if kind == "smallint":
            return t.int_(value, 2) if value is None or -2**15 <= value < 2**15 else t.int_(value, 8)
        return t.nvarchar_max(None)
    if not isinstance(value, str):
        return t.int_(value) if isinstance(value, int) else t.varbinary_max(value)
    return t.nvarchar(value) if len(value) <= 2000 else t.nvarchar_max(value)


def ticks(value):
    """Days and ticks of 1/300 s, the nearest one; value: a datetime."""
    day = value.replace(hour=0, minute=0, second=0, microsecond=0)
    microseconds = (value - day) // datetime.timedelta(microseconds=1)
    n = (microseconds * 3 + 5000) // 10000
    days = (day - datetime.datetime(1900, 1, 1)).days
    return (days + 1, 0) if n == 300 * 86400 else (days, n)


def datetime_(value):
    if value is None:
        return t.Type(0x6F, 8), None
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    days, n = ticks(value)
    return t.Type(0x6F, 8), days.to_bytes(4, "little", signed=True) + n.to_bytes(4, "little")


class Path:
    """A connection with call() and batch(). Subclasses carry."""

    def __init__(self, server, database, kind, user="sa", password=None):
        self.server, self.database, self.user, self.password = server, database, user, password or server.password
        self.signatures = SIGNATURES[kind or database]
        self.open()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def signature(self, proc):
        return self.signatures.get(proc.split(".")[-1], [])

    def parameters(self, proc, values):
        """The given ones in order of declaration, then names that the procedure does not have: (name, type, output, value)."""
        known = self.signature(proc)
        names = [p[0] for p in known]
        given = [(p[0], p[1], len(p) > 2, values.get(p[0])) for p in known if p[0] in values or (len(p) > 2 and "_only" not in values)]
        return given + [(name, "int", False, value) for name, value in values.items() if name not in names and name != "_only"]


class WirePath(Path):
    def open(self):
        self.wire = Wire(self.server, timeout=60).login(user=self.user, password=self.password, database=self.database)

    def close(self):
        self.wire.close()

    @staticmethod
    def result(answer):
        tokens = lambda kind: [(e.number, e.severity, e.text) for e in answer.all(kind)]     # noqa: E731
        return Result(answer.status, {name.lstrip("@"): value for name, value in answer.outputs.items() if isinstance(name, str)},
                      [([c.name for c in columns], rows) for columns, rows in answer.results], tokens("error"), tokens("info"))

    def call(self, proc, **values):
        params = [Param(typed(v, kind), "@" + name, output=out) for name, kind, out, v in self.parameters(proc, values)]
        return self.result(self.wire.rpc(proc, params))

    def positional(self, proc, *values):
        kinds = [(p[1], len(p) > 2) for p in self.signature(proc)] + [("int", False)] * 20
        return self.result(self.wire.rpc(proc, [Param(typed(v, kind), output=out) for v, (kind, out) in zip(values, kinds)]))

    def batch(self, text):
        return self.result(self.wire.batch(text))


SQL_TYPES = {"varchar": "varchar(512)", "varbinary": "varbinary(max)", "int": "int", "bit": "bit"}


def exec_text(proc, params):
    """DECLARE, EXEC and a SELECT of the outputs; params as Path.parameters gives them."""
    outs = [(name, kind) for name, kind, out, _ in params if out]
    head = "DECLARE " + ", ".join(f"@out_{name} {SQL_TYPES[kind]}" for name, kind in outs) + "\n" if outs else ""
    args = ", ".join(f"@{name} = @out_{name} OUTPUT" if out else f"@{name} = {literal(v, kind)}" for name, kind, out, v in params)
    tail = "\nSELECT " + ", ".join(f"@out_{name} AS {name}" for name, _ in outs) if outs else ""
    return head + f"EXEC {proc} {args}" + tail, [name for name, _ in outs]


class BatchPath(WirePath):
    """EXEC text through the strict client. Output values come back by SELECT."""

    def call(self, proc, **values):
        text, outs = exec_text(proc, self.parameters(proc, values))
        result = self.batch(text)
        if outs and result.sets:                # also after an error: a batch goes on behind a statement that failed
            columns, rows = result.sets.pop()
            result.out = dict(zip(columns, rows[0])) if not result.errors else {}
        return result

    def positional(self, proc, *values):
        outs = [len(p) > 2 for p in self.signature(proc)] + [False] * 20
        kinds = [p[1] for p in self.signature(proc)] + ["int"] * 20
        names = [f"@v{i}" for i, out in enumerate(outs[:len(values)]) if out]
        declare = "DECLARE " + ", ".join(f"{n} {SQL_TYPES[kinds[int(n[2:])]]}" for n in names) + "\n" if names else ""
        args = ", ".join(f"@v{i} OUTPUT" if outs[i] else literal(v, kinds[i]) for i, v in enumerate(values))
        return self.batch(f"{declare}EXEC {proc} {args}")


class PytdsPath(Path):
    def open(self):
        self.conn = pytds.connect(dsn=self.server.host, port=self.server.port, database=self.database, user=self.user, password=self.password,
                                  autocommit=True, login_timeout=20, timeout=60)
        self.cur = self.conn.cursor()

    def close(self):
        self.conn.close()

    @staticmethod
    def value(v, kind, output):
        types = {"varbinary": "VARBINARY(MAX)", "bit": "BIT", "int": "INT"}
        if output:
            return pytds.output(param_type=types[kind], value=v)
        if isinstance(v, (bytes, bytearray)):
            return pytds.Binary(bytes(v))
        return v

    def finish(self):
        """Reads everything; pytds raises at the end of a statement that failed."""
        sets, errors, session = [], [], self.cur._session
        while True:
            try:
                if self.cur.description:
                    sets.append(([d[0] for d in self.cur.description], [tuple(row) for row in self.cur.fetchall()]))
                if not self.cur.nextset():
                    break
            except pytds.Error:
                break
        status = session.ret_status if session.has_status else None
        out = {p.column_name.lstrip("@"): p.value for p in session.output_params.values()}
        errors = [(m["msgno"], m["severity"], m["message"]) for m in session.messages if m["priv_msg_type"]]
        infos = [(m["msgno"], m["severity"], m["message"]) for m in session.messages if not m["priv_msg_type"]]
        return Result(status, out, sets, errors, infos)

    def run(self, action):
        self.cur._session.has_status = False            # pytds keeps the status of the call before an error
        self.cur._session.output_params = {}
        try:
            action()
        except pytds.Error:
            pass
        return self.finish()

    def call(self, proc, **values):
        params = {"@" + name: self.value(v, kind, out) for name, kind, out, v in self.parameters(proc, values)}
        return self.run(lambda: self.cur.callproc(proc, params))

    def positional(self, proc, *values):
        kinds = [(p[1], len(p) > 2) for p in self.signature(proc)] + [("int", False)] * 20
        return self.run(lambda: self.cur.callproc(proc, tuple(self.value(v, kind, out) for v, (kind, out) in zip(values, kinds))))

    def batch(self, text):
        return self.run(lambda: self.cur.execute(text))


class PymssqlPath(Path):
    """EXEC text through FreeTDS. The status is asked for by name: DECLARE @rc int; EXEC @rc = proc …"""

    def open(self):
        import pymssql
        self.error_class = pymssql.Error
        self.conn = pymssql.connect(server=self.server.host, port=str(self.server.port), user=self.user, password=self.password, database=self.database,
                                    autocommit=True, login_timeout=20, timeout=60, charset="UTF-8")
        self.cur = self.conn.cursor()
        self.infos = []
        self.conn._conn.set_msghandler(self.message)

    def message(self, state, severity, server, proc, line, text):
        self.infos.append((state, severity, text.decode("utf-8", "replace")))

    def close(self):
        self.conn.close()

    def batch(self, text):
        self.infos.clear()
        sets = []
        try:
            self.cur.execute(text)
            while True:
                if self.cur.description:
                    sets.append(([d[0] for d in self.cur.description], [tuple(row) for row in self.cur.fetchall()]))
                if not self.cur.nextset():
                    break
        except self.error_class as e:
            number = e.args[0] if isinstance(e.args[0], int) else e.args[0][0]
            return Result(None, {}, sets, [(number, 0, str(e))], [])
        return Result(None, {}, sets, [], [])

    def call(self, proc, **values):
        text, outs = exec_text(proc, self.parameters(proc, values))
        text = "DECLARE @rc int\n" + text.replace(f"EXEC {proc}", f"EXEC @rc = {proc}", 1) + "\nSELECT @rc AS rc"
        result = self.batch(text)
        if not result.errors:
            result.status = result.sets.pop()[1][0][0]
            if outs:
                columns, rows = result.sets.pop()
                result.out = dict(zip(columns, rows[0]))
        return result


PATHS = {"pytds": PytdsPath, "wire": WirePath, "batch": BatchPath, "pymssql": PymssqlPath}


def open_path(name, server, database, kind=None, **login):
    """kind: the default name of the service, for a database of another name."""
    return PATHS[name](server, database, kind, **login)


@contextlib.contextmanager
def paths(name, server, database, count, kind=None):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(open_path(name, server, database, kind)) for _ in range(count)]


def create_database(server, name, service, errata=None):
    """A database of its own for a test; errata: corrected or literal."""
    with Wire(server).login(database="master") as w:
        args = [Param(t.nvarchar(name), "@name"), Param(t.nvarchar(service), "@service")]
        if errata:
            args.append(Param(t.nvarchar(errata), "@errata"))
        w.rpc("procession_database_create", args).ok()
