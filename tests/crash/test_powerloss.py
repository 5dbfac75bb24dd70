"""The power goes while clients call at full speed: the machine finds what the disk had, and nothing else (support/powerloss.py).

Durable: every answered call is there. Relaxed: the database is whole and lacks at most the calls of one commit_interval. Calls that say FLUSH LATER: no item expires before
the time that its client was promised. What is there is always what was there at some moment: no later call without the earlier ones.

PROCESSION_KILL_SEED repeats a run.
"""
import datetime
import random
import shutil
import threading
import time

import pytest
import test_kill as work

from support.calls import open_path
from support.clock import ClockServer
from support.powerloss import PowerServer
from support.server import Server
from support.wire import Wire

TICK = datetime.timedelta(microseconds=3334)        # 1/300 s, the grain of every stored time
STATE = "StateService"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A data folder as the first start makes it: keys and hashes take a second."""
    folder = tmp_path_factory.mktemp("fresh") / "data"
    with Server(data=folder):
        pass
    return folder


@pytest.fixture
def power(fresh):
    made = PowerServer(settings={"log_level": "warn", "sweep_interval": 0})
    shutil.copytree(fresh, made.data)
    made.start()
    print(f"PROCESSION_KILL_SEED={work.SEED}")
    try:
        yield made
        made.stop()
    finally:
        made.kill()
        print(made.log_tail(20))
        made.remove()


def set_commit(server, commit, interval=None, database=STATE):
    with Wire(server).login(database="master") as w:
        w.batch(f"EXEC procession_database_set '{database}', '{commit}', {interval or 'NULL'}").ok()


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(clients, cut_at):
    """A driver has its own way to say that the server is gone, which is no problem once it is."""
    for client in clients:
        client.join(20)
        assert not client.is_alive()
        assert client.problem is None or client.ended >= cut_at, f"{type(client).__name__}: {client.problem!r}"


# --- durable


class DriverItems(work.Items):
    path = "pytds"


class FreetdsItems(work.Items):
    path = "pymssql"


class DriverJobs(work.Jobs):
    path = "pytds"


class Renewals(work.Client):
    """Calls that are not flushed by themselves, between those that are."""
    database, path = STATE, "pytds"

    def piece(self, n):
        return f"r{self.prefix}-{n // 50}"

    def work(self, db, key):
        if self.count % 50 == 0 or self.count == 1:
            self.ok(db.call("proc_AddItem", id=key, item=b"x", timeout=1000))
        self.ok(db.call("proc_GetItemWithoutLock", id=key))

    def check(self, db, server):
        there = {row[0] for row in db.batch(f"SELECT Id FROM dbo.Items WHERE Id LIKE 'r{self.prefix}-%'").rows}
        assert set(self.acked) <= there


DURABLE = (DriverItems, FreetdsItems, work.Items, work.Transactions, DriverJobs, work.Translations, work.Schedules, Renewals)


def test_durable_means_on_the_disk(power):
    rng = random.Random(work.SEED)
    for round_ in (1, 2):
        clients = [kind(power, number, round_) for number, kind in enumerate(DURABLE)]
        for client in clients:
            client.start()
        wait_for(lambda: all(len(client.acked) >= 3 for client in clients))     # noqa: B023 — called at once
        time.sleep(rng.uniform(0, 0.6))
        cut_at = time.monotonic()
        for _ in power.outcomes(work.SEED + round_, None):
            ended(clients, cut_at)
            for client in clients:
                with open_path("wire", power, client.database) as db:
                    client.check(db, power)
            work.check_files(power)
        power.start()


def log_header(server):
    path = server.data / (STATE + ".db-wal")
    return path.read_bytes()[:32] if path.exists() else b""


class LargeItems(work.Client):
    """Fills the WAL, so that it is copied into the file and begun anew while calls go on."""
    database = STATE

    def piece(self, n):
        return f"b{self.prefix}-{n}"

    def work(self, db, key):
        self.ok(db.call("proc_AddItem", id=key, item=key.encode() * 100000, timeout=1000))

    def check(self, db, server):
        lengths = dict(db.batch(f"SELECT Id, Bytes FROM dbo.Items WHERE Id LIKE 'b{self.prefix}-%'").rows)
        for key in self.acked:
            assert lengths.pop(key) == len(key) * 100000
        assert set(lengths) <= {self.doubtful}


def test_the_log_begins_anew_while_calls_go_on(power):
    clients = [LargeItems(power, 0, 1), work.Items(power, 1, 1)]
    header = None
    for client in clients:
        client.start()
    deadline = time.monotonic() + 60
    while header in (None, b"", log_header(power)):
        header = header or log_header(power)
        assert time.monotonic() < deadline and not any(client.problem for client in clients), [client.problem for client in clients]
        time.sleep(0.01)
    cut_at = time.monotonic()
    for _ in power.outcomes(work.SEED, None):
        ended(clients, cut_at)
        with open_path("wire", power, STATE) as db:
            for client in clients:
                client.check(db, power)
        work.check_files(power)


# --- relaxed


class Counting(threading.Thread):
    """Adds items 1, 2, 3 …; sent and acked: when, by the clock of this process."""

    def __init__(self, server, path, name, most=10**9):
        super().__init__(daemon=True)
        self.server, self.path, self.prefix, self.most = server, path, name, most
        self.sent, self.acked, self.problem, self.ended = [], [], None, None

    def run(self):
        try:
            with open_path(self.path, self.server, STATE) as db:
                while len(self.acked) < self.most:
                    self.sent.append(time.monotonic())
                    result = db.call("proc_AddItem", id=f"{self.prefix}-{len(self.sent)}", item=b"x" * 100, timeout=1000)
                    assert result.error is None and result.status == 0, result
                    self.acked.append(time.monotonic())
        except work.LOST:
            pass
        except Exception as e:      # noqa: BLE001 — shown by the test
            self.problem = e
        finally:
            self.ended = time.monotonic()

    def survived(self, db):
        """How many of the items are there: the first ones, without a gap, and no more than were sent."""
        rows = db.batch(f"SELECT Id FROM dbo.Items WHERE Id LIKE '{self.prefix}-%'").rows
        numbers = sorted(int(row[0].rsplit("-", 1)[1]) for row in rows)
        assert numbers == list(range(1, len(numbers) + 1)), "a later call is there without an earlier one"
        assert len(numbers) <= len(self.sent)
        return len(numbers)


def count(server, name):
    clients = [Counting(server, path, f"{name}{number}") for number, path in enumerate(("wire", "pytds", "wire", "pymssql"))]
    for client in clients:
        client.start()
    return clients


def lost_calls(server, clients):
    """Looks at each client; gives when the lost calls were answered."""
    with open_path("wire", server, STATE) as db:
        return [moment for client in clients for moment in client.acked[client.survived(db):]]


def check_bound(clients, lost, interval):
    """The promise: a call is answered only while the oldest change that could be lost is younger than the interval. Its answer arrives later than that change was made, and
    the last call that was answered was sent before it was answered: so this holds however slow the machine is. 2 ms: two clocks that count whole ones."""
    last = max(client.sent[len(client.acked) - 1] for client in clients if client.acked)
    if lost:
        print(f"{len(lost)} of {sum(len(client.acked) for client in clients)} calls lost, the oldest answered {last - min(lost):.3f} s before the last call")
        assert last - min(lost) < interval / 1000 + 0.002


@pytest.mark.parametrize("interval, least, most", ((500, 1.2, 2), (2000, 0, 0.5)))
def test_relaxed_loses_one_interval_at_most(power, interval, least, most):
    set_commit(power, "relaxed", interval)
    clients = count(power, "a")
    wait_for(lambda: power.ask_disk(STATE, "SELECT count(*) FROM item") != [(0,)])
    time.sleep(random.Random(work.SEED).uniform(least, most) * interval / 1000)
    cut_at = time.monotonic()
    for _ in power.outcomes(work.SEED, None):
        ended(clients, cut_at)
        check_bound(clients, lost_calls(power, clients), interval)
        work.check_files(power)


def test_a_late_flush_holds_answers_back(power):
    Counting(power, "wire", "first", most=1).run()      # the header of a new WAL is flushed with it
    set_commit(power, "relaxed", 100)
    power.hold_flush()
    clients = count(power, "a")
    wait_for(lambda: any(client.acked for client in clients))
    time.sleep(1)                               # ten intervals
    cut_at = time.monotonic()
    power.cut()
    ended(clients, cut_at)
    power.start()
    lost = lost_calls(power, clients)
    assert len(lost) == sum(len(client.acked) for client in clients), "something survived that was never flushed: this disk is no test"
    check_bound(clients, lost, 100)
    Counting(power, "wire", "second", most=1).run()
    power.hold_flush()
    clients = count(power, "b")                 # and when the disk comes back, so do the answers
    wait_for(lambda: any(client.acked for client in clients))
    time.sleep(0.3)
    before = [len(client.acked) for client in clients]
    power.let_flush()
    wait_for(lambda: all(len(client.acked) > n + 5 for client, n in zip(clients, before)))
    cut_at = time.monotonic()
    power.kill()
    ended(clients, cut_at)
    power.start()


def test_relaxed_is_flushed_without_further_calls(power):
    set_commit(power, "relaxed", 300)
    client = Counting(power, "pytds", "q", most=20)
    client.run()
    assert client.problem is None
    wait_for(lambda: power.ask_disk(STATE, "SELECT count(*) FROM item") == [(20,)])
    power.cut()
    power.start()
    assert lost_calls(power, [client]) == []


def add(wire, key):
    return wire.batch(f"EXEC proc_AddItem '{key}', 0x01, 20")


def keys(server):
    with Wire(server).login(database=STATE) as w:
        return [row[0] for row in w.batch("SELECT Id FROM dbo.Items ORDER BY Id").rows]


def add_until_taken(wire, key):
    """The server has to write its WAL once more before it answers again; nothing else may be the reason that it does not."""
    def taken():
        numbers = add(wire, key).numbers
        assert numbers in ([], [9001])
        return numbers == []
    wait_for(taken)


def test_a_durable_call_whose_flush_fails_is_refused_and_changes_nothing(power):
    with Wire(power).login(database=STATE) as w:
        add(w, "a").ok()
        power.break_disk()
        assert add(w, "b").numbers == [9001]
        assert add(w, "b2").numbers == [9001]
        assert w.batch("SELECT Id FROM dbo.Items").numbers == [9001]        # nor is anything shown that may be gone
        power.mend_disk()
        add_until_taken(w, "c")
        assert keys(power) == ["a", "c"]
    power.cut()
    power.start()
    assert keys(power) == ["a", "c"]


def test_a_relaxed_flush_that_fails_is_told_to_the_next_caller(power):
    set_commit(power, "relaxed", 100)
    with Wire(power).login(database=STATE) as w:
        add(w, "a").ok()
        power.break_disk()
        add(w, "b").ok()                        # answered before its flush, which fails
        wait_for(lambda: "flush_failed" in power.log_tail(50))
        assert add(w, "c").numbers == [9001]
        power.mend_disk()
        add_until_taken(w, "d")
        wait_for(lambda: power.ask_disk(STATE, "SELECT id FROM item ORDER BY id") == [("a",), ("b",), ("d",)])
    power.cut()
    power.start()
    assert keys(power) == ["a", "b", "d"]


def fail_one_flush(power, w):
    """In a relaxed database: "a" is on the disk, "b" is answered, and its flush fails. The disk is still broken then."""
    add(w, "a").ok()
    wait_for(lambda: power.ask_disk(STATE, "SELECT count(*) FROM item") == [(1,)])
    power.break_disk()
    add(w, "b").ok()
    wait_for(lambda: "flush_failed" in power.log_tail(50))


@pytest.mark.parametrize("later", ("relaxed", "durable"))
def test_one_failed_flush_is_not_forgotten(power, later):
    """The system takes the pages of the failed flush for clean. Whoever is answered after that must not depend on them."""
    set_commit(power, "relaxed", 100)
    with Wire(power).login(database=STATE) as w:
        fail_one_flush(power, w)
        power.mend_disk()
        set_commit(power, later, 100 if later == "relaxed" else None)
        answered = [key for key in (f"k{i:02}" for i in range(50)) if add(w, key).numbers == []]
        add_until_taken(w, "last")
        if later == "relaxed":
            time.sleep(0.5)                     # five intervals
    power.cut()
    power.start()
    assert set(keys(power)) >= {"a", "b", "last", *answered}


def test_a_flush_that_fails_until_the_server_stops(power):
    """Stopped as ever: the WAL stays, and the next start reads it from the beginning."""
    set_commit(power, "relaxed", 100)
    with Wire(power).login(database=STATE) as w:
        fail_one_flush(power, w)
    power.stop()
    power.mend_disk()
    power.start()
    assert keys(power) == ["a", "b"]            # the power was there all the time
    with Wire(power).login(database=STATE) as w:
        add(w, "c").ok()


@pytest.mark.parametrize("tail", ("", ".db"), ids=("all flushes", "flushes of the database"))
def test_a_checkpoint_whose_flush_fails(power, tail):
    """It fails when nobody calls, and the writer sleeps, who has to set it right."""
    large = b"x" * (16 << 20)                   # is worth a checkpoint at once
    file = power.data / (STATE + ".db")
    with open_path("wire", power, STATE) as db, Wire(power).login(database=STATE) as w:
        add(w, "a").ok()
        power.hold_flush(".db")
        assert db.call("proc_AddItem", id="large", item=large, timeout=1000).status == 0
        wait_for(lambda: file.stat().st_size > len(large))      # copied, but not flushed
        time.sleep(1.5)                         # the writer looks once more after a second, and is no test if it is late
        power.break_disk(tail)
        power.let_flush()
        if tail == "":
            wait_for(lambda: "event=mend_failed" in power.log_tail(50))
            assert add(w, "b").numbers == [9001]
            assert w.batch("SELECT Id FROM dbo.Items").numbers == [9001]
            assert "event=mended" not in power.log_tail(50)
            power.mend_disk()
        wait_for(lambda: "event=mended" in power.log_tail(50))
        add_until_taken(w, "c")
    power.cut()
    power.broken.unlink(missing_ok=True)
    power.start()
    with open_path("wire", power, STATE) as db:
        assert dict(db.batch("SELECT Id, Bytes FROM dbo.Items").rows) == {"a": 1, "c": 1, "large": len(large)}
        assert db.call("proc_GetItemWithoutLock", id="large").out["item"] == large


def test_from_relaxed_to_durable_while_calls_run(power):
    set_commit(power, "relaxed", 60000)
    clients = count(power, "a")
    wait_for(lambda: all(len(client.acked) > 20 for client in clients))
    set_commit(power, "durable")
    before = [len(client.sent) for client in clients]
    wait_for(lambda: all(len(client.acked) > n + 5 for client, n in zip(clients, before)))
    cut_at = time.monotonic()
    power.cut()
    ended(clients, cut_at)
    power.start()
    assert lost_calls(power, clients) == []     # the first durable call took all earlier ones with it


@pytest.mark.parametrize("settings", (("relaxed", 10), ("durable",)), ids=("shorter", "durable"))
def test_another_setting_counts_at_once(power, settings):
    """The flush that was to come in half a minute comes now, without a further call, and no call waits for it so long."""
    set_commit(power, "relaxed", 60000)
    client = Counting(power, "wire", "a", most=5)
    client.run()
    set_commit(power, *settings)
    wait_for(lambda: power.ask_disk(STATE, "SELECT count(*) FROM item") == [(5,)], 15)


def test_the_setting_is_in_force_after_a_restart(power):
    set_commit(power, "relaxed", 60000)
    with Wire(power).login(database="master") as w:
        w.batch("EXEC procession_database_create 'Second', 'state', NULL, 'relaxed', 60000").ok()
    for number, again in enumerate((False, True)):
        if again:
            power.restart()
        for name in (STATE, "Second"):
            with open_path("pymssql", power, name, kind=STATE) as db:
                assert db.call("proc_AddItem", id=f"{name}{again}", item=b"x", timeout=5).status == 0
            assert power.ask_disk(name, "SELECT count(*) FROM item") == [(number,)]     # the flush is due in half a minute


def test_the_end_of_the_server_alone_loses_nothing():
    server = Server(settings={"log_level": "warn"}).start()
    try:
        set_commit(server, "relaxed", 60000)
        for name in ("a", "b"):
            clients = count(server, name)
            wait_for(lambda: all(len(client.acked) > 20 for client in clients))     # noqa: B023 — called at once
            cut_at = time.monotonic()
            server.kill()
            ended(clients, cut_at)
            server.start()
            assert lost_calls(server, clients) == []
            work.check_files(server)
        server.stop()
    finally:
        server.kill()
        server.remove()


# --- flush later


def expirations(server):
    with open_path("wire", server, STATE) as db:
        return dict(db.batch("SELECT Id, Expires FROM dbo.Items").rows)


def renew(server):
    """Adds items, renews them again and again, gives the expirations that were promised at the least. The first renewal is flushed with the promise; no later one is."""
    promised = {}

    def renew_all():
        for minutes in (1, 10):
            key = f"item-{minutes}"
            now = datetime.datetime.utcnow()
            assert db.call("proc_GetItemWithoutLock", id=key).out["item"] == b"x"
            assert other.call("proc_RefreshItemExpiration", id=key).status == 0
            promised[key] = now + datetime.timedelta(minutes=minutes) - TICK

    with open_path("pytds", server, STATE) as db, open_path("pymssql", server, STATE) as other:
        for minutes in (1, 10):
            db.call("proc_AddItem", id=f"item-{minutes}", item=b"x", timeout=minutes)
        renew_all()
        enough = datetime.datetime.utcnow() + datetime.timedelta(seconds=0.2)
        while datetime.datetime.utcnow() < enough:
            renew_all()
        renew_all()
    return promised


def ticks(moment):
    return (moment - datetime.datetime(1900, 1, 1)) / datetime.timedelta(seconds=1) * 300


def test_no_item_expires_before_its_promise(power):
    for round_ in range(3):
        promised = renew(power)
        kept = dict(power.ask_disk(STATE, "SELECT id, expires FROM item"))
        assert round_ > 0 or all(kept[key] < ticks(promised[key]) for key in promised), "the renewals are on the disk: nothing to lose"
        power.cut(seed=work.SEED if round_ == 1 else None)
        power.start()
        found = expirations(power)
        assert all(found[key] >= promised[key] for key in promised), (found, promised)
    power.cut()                                 # nothing renewed since the last time: the promise is still kept
    power.start()
    assert expirations(power) == found
    power.restart()
    assert expirations(power) == found


def test_a_clean_stop_keeps_expirations_exact(power):
    promised = renew(power)
    found = expirations(power)
    longest = datetime.timedelta(seconds=100)   # a machine that stood still; the promise itself is for two minutes
    assert all(promised[key] <= found[key] <= promised[key] + longest for key in promised), (promised, found)
    power.stop()
    power.cut()                                 # and so it is on the disk
    power.start()
    assert expirations(power) == found


def test_the_sweep_keeps_the_promise_too(power):
    promised = renew(power)
    power.cut()
    power.start()
    found = expirations(power)["item-1"]
    power.stop()
    before, after = found - datetime.timedelta(seconds=1), found + datetime.timedelta(seconds=1)
    assert before > promised["item-1"]
    with ClockServer(data=power.data, start=before, settings={"sweep_interval": 0}) as clock, open_path("wire", clock, STATE) as db:
        assert db.call("proc_DeleteExpiredItems").status == 0
        assert db.batch("SELECT Id FROM dbo.Items WHERE Id = 'item-1'").rows == [("item-1",)]
        clock.set(after)
        assert db.call("proc_DeleteExpiredItems").status == 0
        assert db.batch("SELECT Id FROM dbo.Items").rows == [("item-10",)]
    power.start()
