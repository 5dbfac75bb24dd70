"""Clients call at full speed while the server is killed with -9, again and again.

After each restart: every call that was answered is there, no call is there by half, and the files are sound. A call that was under way when the
server died may be there or not, but whole.

PROCESSION_KILLS: how often (default 10).
"""
import os
import random
import sqlite3
import threading
import time
import uuid

from support.calls import open_path
from support.server import Server, ServerFailed
from support.wire import Closed, Malformed, Wire

KILLS = int(os.environ.get("PROCESSION_KILLS", "10"))
SEED = int(os.environ.get("PROCESSION_KILL_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
GROUP = 7                   # items in a group, calls in a transaction
LOST = (Closed, ConnectionError, OSError, Malformed)
WORD = "http://schemas.microsoft.com/office/server/word/2009/08"
TRANSLATION = "http://schemas.microsoft.com/office/server/translation/2010/11"
OFFICE = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
CHANGE = "Microsoft.Office.Server.UserProfiles.UserProfileChangeJob"


class Client(threading.Thread):
    """One connection that works until it is lost. acked: what was answered; doubtful: the piece of work in flight when the server went."""
    database, path = None, "wire"

    def __init__(self, server, number, round_):
        super().__init__(daemon=True)
        self.server, self.prefix, self.number = server, f"{round_}-{number}", round_ * 100 + number
        self.acked, self.doubtful, self.problem, self.count, self.ended = [], None, None, 0, None

    def run(self):
        try:
            with open_path(self.path, self.server, self.database) as db:
                while True:
                    self.count += 1
                    self.doubtful = self.piece(self.count)
                    self.work(db, self.doubtful)
                    self.acked.append(self.doubtful)
                    self.doubtful = None
        except LOST:
            pass
        except Exception as e:      # noqa: BLE001 — shown by the test
            self.problem = e
        finally:
            self.ended = time.monotonic()

    def ok(self, result):
        assert result.error is None and result.status == 0, result
        return result


class Items(Client):
    """StateService: an item is added and changed under its lock; each is one piece of work."""
    database = "StateService"

    def piece(self, n):
        return f"{self.prefix}-{n}"

    def work(self, db, key):
        self.ok(db.call("proc_AddItem", id=key, item=key.encode() * 50, timeout=1000))
        cookie = self.ok(db.call("proc_GetItemWithLock", id=key)).out["lockCookie"]
        self.ok(db.call("proc_UpdateItem", id=key, item=b"done" + key.encode() * 60, timeout=1000, lockCookie=cookie))

    def check(self, db, server):
        for key in self.acked:
            assert self.ok(db.call("proc_GetItemWithoutLock", id=key)).out == {"item": b"done" + key.encode() * 60, "locked": False, "lockAgeInSeconds": 0, "lockCookie": 2}
        if self.doubtful:
            out = self.ok(db.call("proc_GetItemWithoutLock", id=self.doubtful)).out
            key = self.doubtful.encode()
            assert (out["locked"], out["lockCookie"]) in ((None, None), (False, 1), (True, 2), (False, 2)), out
            assert out["item"] in {(None, None): (None,), (False, 1): (key * 50,), (True, 2): (None,), (False, 2): (b"done" + key * 60,)}[out["locked"], out["lockCookie"]]


class Transactions(Client):
    """StateService: explicit transactions of several calls; every other one is rolled back."""
    database = "StateService"

    def piece(self, n):
        return f"t{self.prefix}-{n}"

    def work(self, db, key):
        db.wire.begin()
        for i in range(GROUP):
            self.ok(db.call("proc_AddItem", id=f"{key}-{i}", item=b"x", timeout=1000))
        (db.wire.rollback if self.count % 2 else db.wire.commit)().ok()

    def check(self, db, server):
        counts = {}
        for (key,) in db.batch(f"SELECT Id FROM dbo.Items WHERE Id LIKE 't{self.prefix}-%'").rows:
            counts[key.rsplit("-", 1)[0]] = counts.get(key.rsplit("-", 1)[0], 0) + 1
        whole = {key for key in self.acked if int(key.rsplit("-", 1)[1]) % 2 == 0}
        assert set(counts) - {self.doubtful} == whole
        assert set(counts.values()) <= {GROUP}, counts
        assert self.doubtful not in counts or int(self.doubtful.rsplit("-", 1)[1]) % 2 == 0, "a transaction that was rolled back or never committed is there"


class Jobs(Client):
    """WordAutomation: a job with one group, submitted and reported on; the group is there with all of its items or not at all."""
    database, namespace = "WordAutomation", WORD

    def piece(self, n):
        return self.number * 1000000 + n

    def add_job(self, db, key):
        self.ok(db.call("proc_AddJob", JobId=key, Settings="s"))

    def work(self, db, key):
        items = "".join(f'<item id="{i}" in="{key}" out="o"/>' for i in range(GROUP))
        self.add_job(db, key)
        self.ok(db.call("proc_AddGroup", JobId=key, GroupId=1, InputRoot="i", OutputRoot="o", MaxAttemptsCount=1,
                        JobXml=f'<group xmlns="{self.namespace}/databaseJobAdd">{items}</group>'))
        self.ok(db.call("proc_SubmitJob", JobId=key))
        starts = "".join(f'<item job="{key}" group="1" id="{i}" wsi="{uuid.UUID(int=1)}"/>' for i in range(GROUP))
        self.ok(db.call("proc_UpdateConversionBatch", BatchXml=f'<batch xmlns="{self.namespace}/databaseBatchUpdate"><start>{starts}</start><failed/></batch>'))

    def check(self, db, server):
        low, high = self.number * 1000000, self.number * 1000000 + 999999
        jobs = {row[0]: row[1:] for row in db.batch(f"SELECT JobId, Submitted, Unfinished FROM dbo.Jobs WHERE JobId BETWEEN {low} AND {high}").rows}
        started, known = {}, {}
        for job, start in db.batch(f"SELECT JobId, StartTime FROM dbo.Items WHERE JobId BETWEEN {low} AND {high}").rows:
            known[job] = known.get(job, 0) + 1
            started.setdefault(job, set()).add(start)
        groups = {row[0] for row in db.batch(f"SELECT JobId FROM dbo.Groups WHERE JobId BETWEEN {low} AND {high}").rows}
        for key in self.acked:
            assert jobs[key] == (True, GROUP) and known[key] == GROUP and len(started[key]) == 1 and None not in started[key], key
        assert set(jobs) - set(self.acked) <= {self.doubtful}
        if self.doubtful in jobs:
            assert known.get(self.doubtful, 0) in (0, GROUP) and (self.doubtful in groups) == (self.doubtful in known)
            assert len(started.get(self.doubtful, {None})) == 1, "a batch of starts was done by half"
            assert jobs[self.doubtful][1] == known.get(self.doubtful, 0), "the number of unfinished items does not agree with the items"


class Translations(Jobs):
    """Translation: the same, with a count that is reserved together with the job."""
    database, namespace = "Translation", TRANSLATION

    def add_job(self, db, key):
        self.ok(db.call("proc_AddJob", JobId=key, UserToken=b"t", Settings="s", PartitionId=uuid.UUID(int=self.number), ItemCount=GROUP))

    def check(self, db, server):
        super().check(db, server)
        low, high = self.number * 1000000, self.number * 1000000 + 999999
        jobs = db.batch(f"SELECT COUNT(*) FROM dbo.Jobs WHERE JobId BETWEEN {low} AND {high}").rows[0][0]
        counted = db.batch(f"SELECT SUM(Items) FROM dbo.ItemCounts WHERE PartitionId = '{uuid.UUID(int=self.number)}'").rows[0][0] or 0
        assert counted == jobs * GROUP, "jobs and their reserved counts differ"


class Schedules(Client):
    """ScheduledJobs: jobs are added and modified."""
    database = "ScheduledJobs"

    def piece(self, n):
        return uuid.UUID(int=self.number * 1000000 + n)

    def values(self, key, name):
        return {"JobId": key, "Assembly": OFFICE, "Class": CHANGE, "Recurrence": "hourly at 00", "NextDueTime": "2090-01-01", "DisplayName": name * 20}

    def work(self, db, key):
        self.ok(db.call("proc_MIP_AddScheduledJob", **self.values(key, "first")))
        self.ok(db.call("proc_MIP_ModifyScheduledJob", **self.values(key, "second")))

    def check(self, db, server):
        names = {row[2]: row[7] for row in db.call("proc_MIP_GetScheduledJobs").rows}
        for key in self.acked:
            assert names[key] == "second" * 20
        mine = {key for key in names if key.int // 1000000 == self.number}
        assert mine - set(self.acked) <= {self.doubtful}
        assert names.get(self.doubtful) in (None, "first" * 20, "second" * 20)


KINDS = (Items, Items, Transactions, Jobs, Translations, Schedules)


def check_files(server):
    """By the administration procedure while it runs; by SQLite's own check of the files."""
    with Wire(server).login(database="master") as w:
        for name in ("StateService", "ScheduledJobs", "WordAutomation", "Translation"):
            rows = w.batch(f"EXEC procession_database_check @name = '{name}'").ok().rows
            assert [row[1].strip() for row in rows] == ["ok"], rows


def check_closed_files(data):
    found = sorted(data.glob("*.db"))
    assert len(found) >= 5
    for path in found:
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def test_killed_again_and_again():
    rng = random.Random(SEED)
    print(f"PROCESSION_KILL_SEED={SEED}")
    server = Server(settings={"log_level": "warn"}).start()
    answered = 0
    try:
        for round_ in range(1, KILLS + 1):
            clients = [kind(server, number, round_) for number, kind in enumerate(KINDS)]
            for client in clients:
                client.start()
            time.sleep(rng.uniform(0.2, 1.5))
            server.kill()
            for client in clients:
                client.join(20)
                assert not client.is_alive() and client.problem is None, f"{type(client).__name__}: {client.problem!r}"
            server.start()
            for client in clients:
                with open_path("wire", server, client.database) as db:
                    client.check(db, server)
                answered += len(client.acked)
            check_files(server)
        server.stop()
        check_closed_files(server.data)
        server.check_log()
    finally:
        server.kill()
        print(server.log_tail(20))
        server.remove()
    assert answered > 5 * KILLS, "the clients hardly worked"


def test_killed_at_the_first_start():
    """A folder that is half made must not stop the next start."""
    rng = random.Random(SEED)

    def start(server):
        try:
            server.start()
        except ServerFailed:
            pass                # as it was meant

    for _ in range(3):
        server = Server(settings={"log_level": "warn"})
        try:
            starter = threading.Thread(target=start, args=(server,), daemon=True)
            starter.start()
            deadline = time.monotonic() + 5
            while server.process is None and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.5))
            if server.process is not None:
                server.process.kill()
            starter.join(30)
            server.kill()
            server.start()
            with open_path("wire", server, "StateService") as db:
                assert db.call("proc_AddItem", id="after", item=b"x", timeout=5).status == 0
            check_files(server)
            server.stop()
        finally:
            server.kill()
            server.remove()


def test_the_log_grows_in_steps():
    """Few flushes also write the length of the file; and what lies behind the last commit is not taken for one."""
    server = Server(settings={"log_level": "warn"})
    names = [f"step-{n}" for n in range(60)]
    sizes = set()
    try:
        server.start()
        with open_path("wire", server, "StateService") as db:
            for name in names:
                assert db.call("proc_AddItem", id=name, item=name.encode() * 100, timeout=5).status == 0
                sizes.add((server.data / "StateService.db-wal").stat().st_size)
        server.kill()
        assert len(sizes) <= 2 and all(size % (1 << 20) == 0 for size in sizes), sizes
        server.start()
        with open_path("wire", server, "StateService") as db:
            assert sorted(row[0] for row in db.batch("SELECT Id FROM dbo.Items WHERE Id LIKE 'step-%'").rows) == sorted(names)
        check_files(server)
        server.stop()
    finally:
        server.kill()
        server.remove()
