"""Large values: what PostgreSQL and libpq can hold, and what a client is told beyond. The largest one: tests/behaviour/wire/test_wire_large.py.

The values are made by the servers, in batches. The plain build is used: memory is measured, and a sanitizer would make of this a test of patience.
"""
import contextlib
import threading
import time
import uuid

import pytest
from test_servers import at_once, opened

from support.plain import PlainServer

HALF = 600_000_000      # two of these are more than PostgreSQL can hold at once, four more than libpq
BYTES = "DECLARE @v varbinary(max) = CONVERT(varbinary(max), REPLICATE(CONVERT(varchar(max), '{}'), {})) "


@pytest.fixture(name="server", scope="module")
def one(pg):
    name = "d" + uuid.uuid4().hex[:12]
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
    with PlainServer(settings={"engine": "postgres", "postgres": pg.conninfo(name), "memory_limit": 16000}) as server:
        yield server


def test_a_large_value_leaves_no_memory_behind(server):
    """Neither written nor read, by itself or in a transaction."""
    with contextlib.ExitStack() as stack:
        db = opened(stack, server, path="wire")
        assert db.batch(BYTES.format("x", 100_000_000)).error is None           # the session keeps what its batches are made in
        before = server.resident_bytes()
        for begin, end in (("", ""), ("BEGIN TRAN ", " COMMIT")):
            assert db.batch(f"{begin}{BYTES.format('x', 100_000_000)} EXEC proc_AddItem 'large', @v, 20{end}").error is None
            assert db.batch(f"{begin}DECLARE @v varbinary(max) EXEC proc_GetItemWithoutLock 'large', @v OUTPUT, NULL, NULL, NULL "
                            f"SELECT DATALENGTH(@v){end}").rows == [(100_000_000,)]
            assert db.batch("EXEC proc_DeleteItem 'large', 1").error is None
            deadline = time.monotonic() + 10
            while server.resident_bytes() > before + (40 << 20):
                assert time.monotonic() < deadline, (before, server.resident_bytes())
                time.sleep(0.1)


@pytest.mark.long
def test_values_that_come_at_once_may_be_more_than_a_connection_can_hold(server):
    """They wait for a transaction, and then are one group."""
    with contextlib.ExitStack() as stack:
        first, clients = opened(stack, server, path="wire"), [opened(stack, server, path="wire") for _ in range(4)]
        assert first.batch("BEGIN TRAN EXEC proc_AddItem 'first', 0x01, 20").error is None
        for client in clients:
            client.wire.sock.settimeout(300)
        timer = threading.Timer(20, lambda: first.batch("COMMIT"))
        timer.start()
        answers = at_once([lambda i=i, c=c: c.batch(BYTES.format(i, HALF) + f"EXEC proc_AddItem 'at once {i}', @v, 20") for i, c in enumerate(clients)])
        assert [answer.error for answer in answers] == [None] * 4
        assert first.batch("SELECT Id, Bytes FROM dbo.Items WHERE Id LIKE 'at once%' ORDER BY Id").rows == [(f"at once {i}", HALF) for i in range(4)]
        assert "level=error" not in server.log()


@pytest.mark.long
@pytest.mark.parametrize("what", ("two arguments", "zeros"))
def test_more_than_a_row_can_hold_is_refused(server, what):
    """PostgreSQL would end the session. What stands for U+0000 there is four times as long."""
    character, n, token = ("N'x'", HALF, "@v") if what == "two arguments" else ("NCHAR(0)", HALF // 2, "0x01")
    with contextlib.ExitStack() as stack:
        db = opened(stack, server, "Translation", path="wire")
        refused = db.batch(f"{BYTES.format('x', HALF)} DECLARE @s nvarchar(max) = REPLICATE(CONVERT(nvarchar(max), {character}), {n}) DECLARE @p uniqueidentifier = NEWID() "
                           f"EXEC proc_AddJob @JobId = 1, @UserId = N'u', @UserToken = {token}, @PartitionId = @p, @Settings = @s, @Name = N'n', "
                           "@ItemCount = 1, @MaxItemsPerDay = 10, @MaxItemsPerPartitionPerDay = 10")
        assert refused.error == 50005 and "1000000000 bytes" in refused.errors[0][2], refused
        assert db.batch("SELECT COUNT(*) FROM dbo.Jobs").rows == [(0,)]


@pytest.mark.long
def test_a_row_that_postgresql_cannot_make_is_refused(server):
    with contextlib.ExitStack() as stack:
        db = opened(stack, server, "Translation", path="wire")
        added = db.batch(f"DECLARE @s nvarchar(max) = REPLICATE(CONVERT(nvarchar(max), N'x'), {HALF}) DECLARE @p uniqueidentifier = NEWID() "
                         "EXEC proc_AddJob @JobId = 2, @UserId = N'u', @UserToken = 0x01, @PartitionId = @p, @Settings = @s, @Name = N'n', "
                         "@ItemCount = 1, @MaxItemsPerDay = 10, @MaxItemsPerPartitionPerDay = 10")
        assert added.error is None, added
        for what in ("Settings, Settings AS again", "Settings + Settings"):
            refused = db.batch(f"SELECT {what} FROM dbo.Jobs")
            assert refused.error == 50005 and "1073741823 bytes" in refused.errors[0][2], refused
        assert db.batch("SELECT COUNT(*) FROM dbo.Jobs").rows == [(1,)]
