"""The execution time-out: a request that runs too long is stopped, undone and told so; the connection goes on."""
import signal
import threading
import time

import pytest
from stateview import ABSENT, add, peek

from support.calls import open_path
from support.proves import proves
from support.server import Server
from support.store import sqlite_only

LONG_READ = "SELECT COUNT(*) FROM sys.all_columns a CROSS JOIN sys.all_columns b CROSS JOIN sys.all_columns c CROSS JOIN sys.all_columns d"


@pytest.fixture(scope="module")
def short():
    with Server(settings={"execution_timeout": 1}) as server:
        yield server


@proves("STATE-Timer-01", "SCHED-Timer-01")
@pytest.mark.parametrize("path", ("pytds", "wire"))
@pytest.mark.parametrize("database", ("StateService", "ScheduledJobs", "WordAutomation", "Translation"))
def test_a_long_statement_is_stopped(short, path, database):
    with open_path(path, short, database) as db:
        begin = time.monotonic()
        result = db.batch(LONG_READ)
        assert result.error == 50001 and "1 second" in result.errors[0][2]
        assert 0.8 < time.monotonic() - begin < 8
        assert db.batch("SELECT 1").rows == [(1,)]


@proves("STATE-Timer-01")
def test_a_call_that_waits_behind_a_transaction(short, key):
    with open_path("wire", short, "StateService") as holder, open_path("pytds", short, "StateService") as other:
        add(other, key)
        holder.wire.begin()
        assert holder.call("proc_UpdateItem", id=key, item=b"held", timeout=5, lockCookie=1).status == 0
        begin = time.monotonic()
        result = other.call("proc_UpdateItem", id=key, item=b"late", timeout=5, lockCookie=1)
        assert result.error == 50001, result
        assert 0.8 < time.monotonic() - begin < 8
        holder.wire.rollback()
        assert peek(other, key)[0] == b"data"
        assert other.call("proc_UpdateItem", id=key, item=b"now", timeout=5, lockCookie=1).status == 0
        assert peek(other, key)[0] == b"now"


@proves("STATE-Timer-01")
def test_a_transaction_is_rolled_back_by_the_time_out(short, key):
    with open_path("wire", short, "StateService") as db, open_path("wire", short, "StateService") as other:
        result = db.batch(f"BEGIN TRAN EXEC proc_AddItem '{key}', 0x01, 20 " + LONG_READ)
        assert result.error == 50001
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        assert peek(other, key) == ABSENT and peek(db, key) == ABSENT


@proves("SCHED-Timer-01")
def test_a_scheduled_job_is_undone_by_the_time_out(short):
    job = ("EXEC proc_MIP_AddScheduledJob 'b00ae9a1-0474-474e-b348-f6a8bcc95331', N'Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, "
           "PublicKeyToken=71e9bce111e9429c', N'Microsoft.Office.Server.Audience.AudienceCompilationJob', NULL, NULL, '2030-01-01' ")
    with open_path("wire", short, "ScheduledJobs") as db:
        assert db.batch("BEGIN TRAN " + job + LONG_READ).error == 50001
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        assert db.call("proc_MIP_GetScheduledJobs").rows == []
        assert db.batch("BEGIN TRAN " + job + "COMMIT").status == 0
        assert len(db.call("proc_MIP_GetScheduledJobs").rows) == 1


ITEMS = 60_000


def add_group(db, number, xml, ret):
    ret.append(db.call("proc_AddGroup", JobId=77, GroupId=number, MaxAttemptsCount=1, JobXml=xml))


@proves("STATE-Timer-01", "STATE-Input-02")
@sqlite_only("who is stopped here is our server, and PostgreSQL goes on with the work")
def test_one_call_that_changes_much_is_undone_whole(short, key):
    """The databases share one timer. The server is stopped for longer than the time-out in the midst of a call, at several places of its way: some
    of them lie between its first change and its last. Whatever becomes of the call, it is done whole or not at all."""
    items = "".join(f'<item id="{i}" in="a{i}" out="b{i}"/>' for i in range(ITEMS))
    xml = f'<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd">{items}</group>'
    with open_path("wire", short, "WordAutomation") as db:
        assert db.call("proc_AddJob", JobId=77, Settings="s").status == 0
        begin, results, stored = time.monotonic(), [], 0
        add_group(db, 1, xml, results)
        whole = time.monotonic() - begin
        for number, part in enumerate((0.4, 0.6, 0.75, 0.9), 2):
            call = threading.Thread(target=add_group, args=(db, number, xml, results))
            call.start()
            time.sleep(whole * part)
            short.signal(signal.SIGSTOP)
            time.sleep(1.1)
            short.signal(signal.SIGCONT)
            call.join()
        for result in results:
            assert (result.error, result.status) in ((None, 0), (50001, None)), result
            stored += ITEMS if result.error is None else 0
        assert any(result.error == 50001 for result in results)
        assert len(db.call("proc_GetGroups", JobId=77).rows) == stored // ITEMS
        assert db.batch("SELECT COUNT(*) FROM dbo.Items").rows == [(stored,)]


@proves("STATE-Timer-01")
def test_waiting_for_the_client_is_not_counted(short, key):
    with open_path("wire", short, "StateService") as db:
        db.wire.begin()
        add(db, key)
        time.sleep(1.3)
        assert peek(db, key)[0] == b"data"
        db.wire.commit()
        assert peek(db, key)[0] == b"data"
