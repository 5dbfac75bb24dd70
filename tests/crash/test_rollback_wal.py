"""A large transaction that is rolled back, and another program that writes to the same file: nothing of the first may reach the WAL later.

SQLite spills the pages of a large transaction into the write-ahead log before it is committed. What was rolled back must be forgotten by whoever still holds it in memory:
its place in the WAL may belong to another process by then.
"""
import shutil
import subprocess

import pytest

from support.server import Server
from support.wire import Wire

SQLITE = shutil.which("sqlite3")
FOREIGN = "PRAGMA busy_timeout=10000; PRAGMA wal_autocheckpoint=0; {} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "\
          "INSERT INTO foreign_rows SELECT i, randomblob(3000) FROM n;"


def sqlite(server, sql):
    return subprocess.run([SQLITE, str(server.data / "StateService.db"), sql], check=True, capture_output=True, text=True, timeout=120).stdout


def large(wire, key, mebibytes):
    return wire.batch(f"DECLARE @b varbinary(max) = CAST(REPLICATE(CAST('x' AS varchar(max)), {mebibytes << 20}) AS varbinary(max)) "
                      f"EXEC proc_AddItem '{key}', @b, 1000")


def roll_back(wire):
    wire.batch("BEGIN TRAN").ok()
    large(wire, "never", 12).ok()
    wire.batch("ROLLBACK").ok()


def roll_back_to_savepoint(wire):
    wire.batch("BEGIN TRAN SAVE TRAN s").ok()
    large(wire, "never", 12).ok()
    wire.batch("ROLLBACK TRAN s").ok()
    wire.batch("COMMIT").ok()


def lose_the_connection(wire):
    wire.batch("BEGIN TRAN").ok()
    large(wire, "never", 12).ok()
    wire.close()


@pytest.mark.skipif(SQLITE is None, reason="needs the program sqlite3")
@pytest.mark.parametrize("undo", (roll_back, roll_back_to_savepoint, lose_the_connection), ids=lambda f: f.__name__)
def test_what_was_rolled_back_never_reaches_the_wal(undo):
    with Server(settings={"log_level": "warn", "sweep_interval": 0}) as server:
        with Wire(server).login(database="StateService") as w:
            for i in range(200):
                w.batch(f"EXEC proc_AddItem 'k{i}', 0x01, 1000").ok()
        writer = Wire(server).login(database="StateService")
        undo(writer)
        sqlite(server, FOREIGN.format("CREATE TABLE foreign_rows (i INTEGER PRIMARY KEY, x BLOB);", 4500))
        with Wire(server).login(database="StateService") as w:
            w.batch("EXEC proc_AddItem 'after', 0x01, 1000").ok()
            assert sqlite(server, "PRAGMA integrity_check").strip() == "ok"
            found = w.batch("SELECT COUNT(*) FROM dbo.Items").rows
        assert found == [[201]]
        assert sqlite(server, "SELECT count(*), sum(length(x)) FROM foreign_rows; DROP TABLE foreign_rows;").strip() == "4500|13500000"
