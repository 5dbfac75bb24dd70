"""Bits that a disk changes never come back as a value; what SQLite notices is in the log; a clean stop leaves whole files."""
import contextlib
import os
import random
import shutil
import sqlite3

import pytest

from support.calls import open_path
from support.server import Server
from support.wire import Wire

SEED = int(os.environ.get("PROCESSION_DAMAGE_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
SIZES = (10, 300, 3000, 20000, 150000, 400000)


@pytest.fixture
def server():
    made = Server(settings={"log_level": "info", "sweep_interval": 0}).start()
    print(f"PROCESSION_DAMAGE_SEED={SEED}")
    try:
        yield made
        made.stop()
    finally:
        made.kill()
        made.remove()


def fill(server, rng):
    values = {f"k{i}": rng.randbytes(SIZES[i % len(SIZES)]) for i in range(40)}
    with open_path("wire", server, "StateService") as db:
        for key, value in values.items():
            assert db.call("proc_AddItem", id=key, item=value, timeout=1000).status == 0
    return values


def table_pages(path, table):
    """The pages of a table, with those that its large values overflow into."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        pages = {row[0] for row in db.execute("SELECT pageno FROM dbstat WHERE name = ?", (table,))}
    return sorted(pages - {root})


def flip(path, pages, rng, bits):
    with open(path, "r+b") as f:
        for _ in range(bits):
            at = (rng.choice(pages) - 1) * 4096 + rng.randrange(4096)
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << rng.randrange(8)]))


def test_flipped_bits_are_an_error_and_never_a_value(server):
    rng = random.Random(SEED)
    values = fill(server, rng)
    server.stop()
    path = server.data / "StateService.db"
    flip(path, table_pages(path, "body"), rng, 24)
    server.start()
    wrong, numbers = [], []
    for name, outcome in (("proc_GetItemWithoutLock", "item"), ("proc_GetItemWithLock", "item")):
        with open_path("wire", server, "StateService") as db:
            for key, value in values.items():
                result = db.call(name, id=key)
                if result.error is not None:
                    numbers.append(result.error)
                elif result.out[outcome] != value:
                    wrong.append((key, len(value)))
    assert not wrong
    assert 824 in numbers and set(numbers) <= {824, 50010}      # 50010: SQLite has noticed itself
    assert "checksum of a stored value is wrong" in server.log()
    with Wire(server).login(database="master") as w:
        report = w.batch("EXEC procession_database_check 'StateService'")
    assert report.numbers or report.rows[0][1].strip() != "ok"


def test_one_flipped_bit_is_told_by_its_name_and_can_be_replaced(server):
    with open_path("wire", server, "StateService") as db:
        for key in ("good", "bad"):
            assert db.call("proc_AddItem", id=key, item=key.encode() * 1000, timeout=1000).status == 0
    server.stop()
    path = server.data / "StateService.db"
    data = bytearray(path.read_bytes())
    data[data.index(b"badbadbadbad") + 6] ^= 4
    path.write_bytes(data)
    server.start()
    with open_path("wire", server, "StateService") as db:
        assert db.call("proc_GetItemWithoutLock", id="good").out["item"] == b"good" * 1000
        result = db.call("proc_GetItemWithLock", id="bad")
        assert result.error == 824 and "'StateService'" in result.errors[0][2] and "procession database check" in result.errors[0][2]
        assert db.batch("SELECT Locked FROM dbo.Items WHERE Id = 'bad'").rows == [(False,)]     # refused as a whole
        report = db.batch("EXEC procession_database_check 'StateService'")
        assert "the data of item bad" in report.rows[0][1] and "good" not in report.rows[0][1]
        assert db.call("proc_UpdateItem", id="bad", item=b"new", timeout=10, lockCookie=1).status == 0
        assert db.call("proc_GetItemWithoutLock", id="bad").out["item"] == b"new"


def test_a_clean_stop_leaves_nothing_in_the_logs(server):
    with Wire(server).login(database="master") as w:
        w.batch("EXEC procession_login_add 'somebody', 'A-Password-1'").ok()
        w.batch("EXEC procession_grant 'somebody', 'StateService', 'execute'")
    fill(server, random.Random(1))
    for database in ("StateService", "WordAutomation", "Translation", "ScheduledJobs"):
        with Wire(server).login(database=database) as w:
            for view in ("dbo.Items", "dbo.Jobs", "dbo.ScheduledJobs"):
                w.batch(f"SELECT COUNT(*) FROM {view}")         # by connections that only read
    server.stop()
    assert [path.name for path in server.data.glob("*-wal") if path.stat().st_size > 0] == []
    copy = server.dir / "copy.db"
    shutil.copy(server.data / "system.db", copy)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        assert {name for (name,) in db.execute("SELECT name FROM login")} >= {"sa", "somebody"}
    server.start()


def test_what_sqlite_says_is_in_the_log(server):
    fill(server, random.Random(1))
    server.kill()
    server.start()
    server.wait_log(r"event=sqlite code=283 .*recovered \d+ frames from WAL file")
