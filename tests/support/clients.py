"""One way of calling procedures for tests, four ways of doing it: pytds and pymssql, by RPC and by EXEC in a batch.

    client = connect("pymssql-rpc", server, "WordAutomation")
    result = client.call("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0)
    result.status, result.rows[0].JobId

An error is a CallError with the server's number. Arguments are Python values; how they travel is the driver's affair.
"""
import collections
import datetime
import uuid

import pymssql
import pytds
from pymssql import _mssql

WAYS = ("pytds-rpc", "pytds-batch", "pymssql-rpc", "pymssql-batch")


class CallError(Exception):
    """An ERROR of the server: number and class."""

    def __init__(self, number, severity, text):
        super().__init__(f"{number} class {severity}: {text}")
        self.number, self.severity, self.text = number, severity, text


class Result:
    """What a call brought back: the status and the result sets as (names, rows)."""

    def __init__(self, status, sets, quiet=False):
        self.status, self.sets, self.quiet = status, sets, quiet

    @property
    def rows(self):
        """Of the only result set. pymssql does not show one without rows after an RPC."""
        if self.quiet and not self.sets:
            return []
        assert len(self.sets) == 1, f"{len(self.sets)} result sets instead of one"
        return self.sets[0][1]


def rows_as(names, rows):
    kind = collections.namedtuple("Row", names, rename=True)
    return [kind(*row) for row in rows]


def literal(value):
    """A value as T-SQL constant."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return "0x" + value.hex()
    if isinstance(value, datetime.datetime):
        return "'" + stamp(value) + "'"
    if isinstance(value, (uuid.UUID, datetime.date)):
        return f"'{value}'"
    return "N'" + value.replace("'", "''") + "'"


def stamp(value):
    """ISO text of a time, to the millisecond, which is enough to name a tick."""
    return (value + datetime.timedelta(microseconds=500)).isoformat(timespec="milliseconds")


def text_of(proc, args, positional=()):
    parts = [literal(v) for v in positional] + [f"@{name} = {literal(v)}" for name, v in args.items()]
    return f"{proc} {', '.join(parts)}".rstrip()


def tidy(value):
    """Drivers differ in how they show GUIDs and in the third digit of a tick: one form for both."""
    if isinstance(value, datetime.datetime):
        return value.replace(microsecond=(value.microsecond + 500) // 1000 * 1000 % 1000000)
    return value


class Pytds:
    def __init__(self, server, database, user="sa", password=None, by_batch=False):
        self.conn = pytds.connect(dsn=server.host, port=server.port, user=user, password=password or server.password, database=database,
                                  autocommit=True, timeout=60)
        self.by_batch = by_batch

    def close(self):
        self.conn.close()

    def call(self, proc, *positional, **args):
        if self.by_batch:
            return self.run("EXEC " + text_of(proc, args, positional))
        with self.conn.cursor() as cur:
            return self.collect(cur, lambda: cur.callproc(proc, [self.param(v) for v in positional] if positional else {"@" + k: self.param(v) for k, v in args.items()}))

    def run(self, text):
        with self.conn.cursor() as cur:
            return self.collect(cur, lambda: cur.execute(text))

    @staticmethod
    def param(value):
        return pytds.Binary(value) if isinstance(value, (bytes, bytearray)) else value

    @staticmethod
    def collect(cur, act):
        sets = []
        try:
            act()
            while True:
                if cur.description:
                    names = [d[0] for d in cur.description]
                    sets.append((names, rows_as(names, [[tidy(v) for v in row] for row in cur.fetchall()])))
                if not cur.nextset():
                    break
        except pytds.Error as e:
            raise CallError(getattr(e, "number", None) or getattr(e, "msg_no", None), getattr(e, "severity", None), str(e)) from None
        return Result(cur._session.ret_status if cur._session.has_status else None, sets)


class Pymssql:
    def __init__(self, server, database, user="sa", password=None, by_batch=False):
        self.conn = _mssql.connect(server=server.host, port=str(server.port), user=user, password=password or server.password, database=database)
        self.conn.query_timeout = 60
        self.by_batch = by_batch

    def close(self):
        self.conn.close()

    def call(self, proc, *positional, **args):
        """By batch the status is fetched the way T-SQL does it, EXEC @status = …, because DB-Library shows none then."""
        if self.by_batch:
            result = self.run(f"DECLARE @status int; EXEC @status = {text_of(proc, args, positional)}; SELECT @status AS status")
            return Result(result.sets.pop()[1][0].status, result.sets)
        call = self.conn.init_procedure(proc)
        status = []

        def act():
            for value in positional:
                self.bind(call, value, "")
            for name, value in args.items():
                self.bind(call, value, "@" + name)
            status.append(call.execute())
        sets = self.collect(act)
        return Result(status[0], sets, quiet=True)

    def run(self, text):
        return Result(None, self.collect(lambda: self.conn.execute_query(text)))

    @staticmethod
    def bind(call, value, name):
        if value is None:
            return call.bind(None, _mssql.SQLVARCHAR, name, null=True)
        if isinstance(value, bool):
            return call.bind(int(value), _mssql.SQLBIT, name)
        if isinstance(value, int):
            return call.bind(value, _mssql.SQLINT4 if -2**31 <= value < 2**31 else _mssql.SQLINT8, name)
        if isinstance(value, (bytes, bytearray)):
            return call.bind(bytes(value), _mssql.SQLIMAGE if len(value) > 7900 else _mssql.SQLVARBINARY, name)
        text = stamp(value) if isinstance(value, datetime.datetime) else str(value)
        # DB-Library cuts a varchar after 8000 bytes; text (and image, above) are its types for more.
        return call.bind(text, _mssql.SQLTEXT if len(text.encode()) > 7900 else _mssql.SQLVARCHAR, name)

    def collect(self, act):
        sets = []
        try:
            act()
            while True:
                header = self.conn.get_header()
                if header:
                    names = [h[0] for h in header]
                    rows = [[tidy(row[i]) for i in range(len(names))] for row in self.conn]
                    sets.append((names, rows_as(names, rows)))
                if not self.conn.nextresult():
                    break
        except (_mssql.MSSQLDatabaseException, pymssql.Error) as e:
            raise CallError(getattr(e, "number", e.args[0]), getattr(e, "severity", None), str(e.args[-1])) from None
        return sets


def connect(way, server, database, **login):
    driver, form = way.split("-")
    return {"pytds": Pytds, "pymssql": Pymssql}[driver](server, database, by_batch=form == "batch", **login)
