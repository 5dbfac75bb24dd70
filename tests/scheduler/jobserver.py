"""A real server with its jobs as a test sees them: added and read with the real procedures through pytds, or changed in the store file while the server is down."""
import contextlib
import datetime
import sqlite3
import uuid

import pytds
from schedulerprogram import OFFICE, Scheduler, plain_command
from support.clock import ClockServer, find_library
from support.server import Server

DATABASE = "ScheduledJobs"
EPOCH = datetime.datetime(1900, 1, 1)
NEVER = datetime.datetime(9999, 12, 31, 23, 59, 59, 997000)


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z"))


class JobServer(Server):
    """Keeps its port over restarts, so that a scheduler finds it again."""

    def start(self):
        super().start()
        self.settings["listen"] = self.address
        return self

    def call(self, proc, **args):
        """The rows of the call and its return code. (Of login_timeout pytds gives one try 8 %.)"""
        with pytds.connect(dsn=self.host, port=self.port, user="sa", password=self.password, database=DATABASE, autocommit=True, timeout=60,
                           login_timeout=600) as conn, conn.cursor() as cur:
            cur.callproc(proc, {"@" + name: value for name, value in args.items()})
            names = [d[0] for d in cur.description or []]
            rows = [dict(zip(names, row)) for row in cur.fetchall()] if names else []
            while cur.nextset():
                pass
            return rows, cur.get_proc_return_status()

    def add(self, id, class_, due, recurrence=None, data=None, disabled=0, name=None, assembly=OFFICE):
        _, status = self.call("proc_MIP_AddScheduledJob", JobId=id, Assembly=assembly, Class=class_, Recurrence=recurrence, JobData=data,
                              NextDueTime=due, Disabled=disabled, DisplayName=name)
        assert status == 0, f"the server refused job {id}"

    def jobs(self):
        """{identifier: row}"""
        rows, _ = self.call("proc_MIP_GetScheduledJobs")
        return {str(row["JobId"]).upper(): row for row in rows}

    def wipe(self):
        for id in self.jobs():
            self.call("proc_MIP_RemoveScheduledJob", JobId=id)
        assert self.jobs() == {}

    def edit(self, id, **columns):
        """What no client may write: the store file is changed while the server is down."""
        self.stop()
        with contextlib.closing(sqlite3.connect(self.store_file())) as db, db:
            changed = db.execute(f"UPDATE job SET {', '.join(name + ' = ?' for name in columns)} WHERE id IN (?, ?)",
                                 [*columns.values(), uuid.UUID(id).bytes, uuid.UUID(id).bytes_le]).rowcount
            assert changed == 1, f"{changed} rows of job {id}"
        self.start()

    def store_file(self):
        with contextlib.closing(sqlite3.connect(self.data / "system.db")) as db:
            return self.data / db.execute("SELECT file FROM database WHERE name = ?", [DATABASE]).fetchone()[0]


class ClockJobServer(JobServer, ClockServer):
    """The same under a clock of its own."""

    def scheduler(self, folder, zone="UTC", config="clock_check = 10\nmax_running = 100\nlog_level = debug", **options):
        """A scheduler on the same clock, with the interval that it has without a setting."""
        env = dict(LD_PRELOAD=str(find_library()), FAKETIME_TIMESTAMP_FILE=str(self.clock), FAKETIME_NO_CACHE="1", FAKETIME_DONT_FAKE_MONOTONIC="1",
                   FAKETIME_DONT_RESET="1", FAKETIME_FMT="%s", TZ=zone)
        return Scheduler(folder, self.address, self.dir / "password", interval=None, config=config, env=env, binary=plain_command(), **options)


def ticks(text):
    """A due time as the store has it."""
    return round((moment(text) - EPOCH).total_seconds() * 300)
