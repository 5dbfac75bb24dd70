"""The seven procedures: what each does to the store, and what it must leave alone."""
import contextlib
import datetime
import threading
import time
import uuid

import pytest
from schedulejobs import COLUMNS, DUE, FOREVER, IMPORT, OFFICE, add, by_id, job, ok, row_of, rows_of, stored, violates

from support import wire
from support import wiretypes as t
from support.calls import create_database, open_path, paths
from support.logins import PASSWORD, new_login
from support.proves import proves
from support.store import stored as behind
from support.server import Server
from support.signature import check_arguments, check_metadata
from support.wire import Param, ServerError, Wire

ADD, MODIFY, REFRESH, REMOVE = ("proc_MIP_AddScheduledJob", "proc_MIP_ModifyScheduledJob", "proc_MIP_RefreshScheduledJob", "proc_MIP_RemoveScheduledJob")
ALL, BY_ID, INTERVAL = "proc_MIP_GetScheduledJobs", "proc_MIP_GetScheduledJobById", "proc_MIP_GetScheduledJobsInInterval"
EIGHT = [("JobId", "uniqueidentifier", False), ("Assembly", "nvarchar(256)", False), ("Class", "nvarchar(256)", False), ("Recurrence", "nvarchar(64)", False),
         ("JobData", "ntext", False), ("NextDueTime", "datetime", False), ("Disabled", "bit", False), ("DisplayName", "nvarchar(256)", False)]
SIGNATURES = {ADD: EIGHT, MODIFY: EIGHT, ALL: [], BY_ID: EIGHT[:1], INTERVAL: [EIGHT[5]], REFRESH: [EIGHT[0], EIGHT[5]], REMOVE: EIGHT[:1]}
OPTIONAL = {ADD: ("Recurrence", "JobData", "Disabled", "DisplayName"), MODIFY: ("Recurrence", "JobData", "Disabled", "DisplayName")}


# Signatures and calls

@proves("SCHED-AddScheduledJob-01", "SCHED-GetScheduledJobById-01", "SCHED-GetScheduledJobsInInterval-01", "SCHED-ModifyScheduledJob-01", "SCHED-RefreshScheduledJob-01",
        "SCHED-RemoveScheduledJob-01", "SCHED-GetScheduledJobs-01")
@pytest.mark.parametrize("proc", SIGNATURES)
def test_metadata_of_the_parameters(rpc, proc):
    check_metadata(rpc, proc, SIGNATURES[proc])


@proves("SCHED-AddScheduledJob-01", "SCHED-GetScheduledJobById-01", "SCHED-GetScheduledJobsInInterval-01", "SCHED-ModifyScheduledJob-01", "SCHED-RefreshScheduledJob-01",
        "SCHED-RemoveScheduledJob-01", "SCHED-Transport-01", "SCHED-Transport-02")
@pytest.mark.parametrize("path", ("pytds", "wire", "batch"))
@pytest.mark.parametrize("proc", [p for p in SIGNATURES if SIGNATURES[p]])
def test_arguments(server, database, path, proc):
    def good():
        values = job()
        if proc in (MODIFY, REFRESH, REMOVE):
            ok(db.call(ADD, **values))
        return {name: values[name] for name, _, _ in SIGNATURES[proc]}

    with open_path(path, server, database, "ScheduledJobs") as db:
        check_arguments(db, proc, good, OPTIONAL.get(proc, ()))


@proves("SCHED-AddScheduledJob-01", "SCHED-AddScheduledJob-09")
def test_what_is_left_out_takes_its_default(db):
    values = job()
    ok(db.call(ADD, **{name: values[name] for name in ("JobId", "Assembly", "Class", "NextDueTime")}))
    assert by_id(db, values["JobId"]) == row_of({**values, "Recurrence": None, "JobData": None, "Disabled": 0, "DisplayName": None})


@proves("SCHED-GetScheduledJobById-01")
def test_data_larger_than_the_buffers_of_a_socket(db):
    """It is read by the thread that also sends it."""
    values = add(db, Class="Microsoft.Office.Server.UserProfiles.UserProfileGradualUpgradeChangeJob", JobData="0;2008-01-31;" + "Zeile und Zahl 0123456789 " * 300_000)
    for _ in range(2):
        assert by_id(db, values["JobId"]) == row_of(values)


@proves("SCHED-GetScheduledJobs-01", "SCHED-Input-03")
def test_wrong_calls(rpc):
    assert rpc.batch("EXEC proc_MIP_GetScheduledJobs 1").error == 8146
    assert rpc.batch("EXEC proc_MIP_GetScheduledJobs @x = 1").error == 8146
    assert rpc.call("proc_MIP_Nothing").error == 2812
    assert rpc.call(BY_ID, JobIdd=1).error == 8145
    assert rpc.positional(BY_ID, uuid.uuid4(), 1).error == 8144
    guid = lambda: t.nvarchar(str(uuid.uuid4()))      # noqa: E731
    answer = rpc.wire.rpc(REFRESH, [Param(guid(), "@JobId"), Param(guid(), "@jobid")])
    assert answer.numbers == [8143] and answer.status is None
    answer = rpc.wire.rpc(REMOVE, [Param(guid(), "@JobId", output=True)])
    assert answer.numbers == [8162] and answer.status is None
    assert all(token.severity == 16 for token in answer.errors)


@proves("SCHED-Input-04", "SCHED-Input-02", "SCHED-Input-01")
def test_arguments_that_do_not_convert(db):
    values = add(db)
    before = stored(db)
    for name, bad in (("JobId", "abc"), ("JobId", "E252E760-7AFE-4AA4-9045-DA86CDF0DEF"), ("NextDueTime", "notadate"), ("NextDueTime", "2030-02-30"),
                      ("NextDueTime", "10000-01-01"), ("Disabled", "maybe")):
        for proc in (ADD, MODIFY):
            result = db.call(proc, **{**values, name: bad})
            assert result.error == 8114 and result.status is None and not result.sets, (name, bad, result)
    assert db.call(REFRESH, JobId=values["JobId"], NextDueTime="x").error == 8114
    assert db.call(REMOVE, JobId="x").error == 8114
    assert db.call(BY_ID, JobId="x").error == 8114
    assert db.call(INTERVAL, NextDueTime="x").error == 8114
    assert stored(db) == before


@proves("SCHED-Transport-02")
def test_arguments_that_do_convert(rpc):
    key = uuid.uuid4()
    ok(rpc.call(ADD, **job(JobId="{" + str(key).upper() + "}", NextDueTime="Jan 31 2030 01:00:00:000AM", Disabled="0")))
    assert by_id(rpc, key)[5:7] == (DUE, False)
    result = rpc.batch(f"DECLARE @rc int EXEC @rc = [dbo].[PROC_MIP_REMOVESCHEDULEDJOB] '{key}' SELECT @rc")
    assert result.rows == [(0,)] and stored(rpc) == set()


@proves("SCHED-Input-06")
def test_values_above_the_limit(new_server):
    server = new_server(settings={"max_value_size": 100000})
    with open_path("wire", server, "ScheduledJobs") as db:
        result = db.call(ADD, **job(Class="Microsoft.Office.Server.UserProfiles.UserProfileGradualUpgradeChangeJob", JobData="0;2008-01-31;" + "x" * 100001))
        assert result.error == 50005, result
        assert stored(db) == set()
        add(db)
        assert len(stored(db)) == 1


@proves("SCHED-Init-01")
@pytest.mark.parametrize("hello", (False, True), ids=("as the first message", "after PRELOGIN"))
def test_no_call_before_a_login(server, rpc, hello):
    """The bytes of a good call, without a login before them: the connection ends, and nothing has happened."""
    values = add(rpc)
    before = stored(rpc)
    call = wire.rpc_body([(REMOVE, [Param((t.Type(0x24, 16), values["JobId"].bytes_le), "@JobId")])])
    with Wire(server) as stranger:
        if hello:
            stranger.pre()
        stranger.send_message(wire.RPC, call)
        assert stranger.is_closed()
    assert len(before) == 1 and stored(rpc) == before
    rpc.wire.send_message(wire.RPC, call)               # the same bytes after a login
    assert rpc.wire.answer(wire.RPC).ok().status == 0 and len(stored(rpc)) == 0


@proves("SCHED-Auth-01", "SCHED-Prereq-01")
def test_logins(server):
    with pytest.raises(ServerError) as e:
        Wire(server).login(user="sa", password="wrong", database="ScheduledJobs")
    assert e.value.number == 18456
    with pytest.raises(ServerError) as e:
        Wire(server).login(database="ScheduledJob")
    assert e.value.number == 4060
    with open_path("pytds", server, "ScheduledJobs") as db:
        assert db.call(ALL).status == 0


@proves("SCHED-Prereq-02")
def test_permission(server, rpc, database):
    values = add(rpc, NextDueTime=datetime.datetime(2020, 1, 1), Recurrence=None)
    with open_path("wire", server, database, "ScheduledJobs", user=new_login(server, database, "select"), password=PASSWORD) as clerk:
        for proc, some in ((ADD, job()), (MODIFY, {**values, "DisplayName": "another"}), (REFRESH, {"JobId": values["JobId"], "NextDueTime": FOREVER}),
                           (REMOVE, {"JobId": values["JobId"]}), (BY_ID, {"JobId": values["JobId"]}), (INTERVAL, {"NextDueTime": FOREVER}), (ALL, {})):
            refusal = clerk.call(proc, **some)
            assert refusal.error == 229 and refusal.errors[0][1] == 14 and refusal.status is None and not refusal.sets, (proc, refusal)
        assert clerk.batch("SELECT JobId FROM dbo.ScheduledJobs").rows == [(values["JobId"],)]      # what it was given works
    assert stored(rpc) == {row_of(values)}


@proves("SCHED-Prereq-02")
def test_no_right_at_all(server, rpc, database):
    values = add(rpc)
    with Wire(server).login(user=new_login(server), password=PASSWORD, database="") as w:
        answer = w.batch(f"EXEC {database}.dbo.{REMOVE} '{values['JobId']}'")
        assert answer.numbers == [916]
    assert stored(rpc) == {row_of(values)}


# Result set

@proves("SCHED-ResultSet-01", "SCHED-ResultSet-10", "SCHED-GetScheduledJobs-03", "SCHED-GetScheduledJobs-05", "SCHED-GetScheduledJobById-02",
        "SCHED-GetScheduledJobsInInterval-02", "SCHED-Transport-01")
def test_columns(rpc):
    def check(answer, rows):
        assert answer.kinds == ["colmetadata"] + ["row"] * rows + ["doneinproc", "returnstatus", "doneproc"], answer.summary()
        columns = answer.all("colmetadata")[0].columns
        assert [c.name for c in columns] == COLUMNS
        assert [(c.type.code, c.type.size) for c in columns][:4] == [(0xE7, 512), (0xE7, 512), (0x24, 16), (0xE7, 128)]
        assert columns[4].type.code == 0x23                                     # text
        assert columns[5].type.code in (0x3D, 0x6F) and columns[6].type.code in (0x32, 0x68) and (columns[7].type.code, columns[7].type.size) == (0xE7, 512)
        assert [c.name for c in columns if c.flags & 1] == ["Recurrence", "JobData", "DisplayName"]      # may be NULL
        assert answer.status == 0

    calls = [(ALL, []), (BY_ID, [Param(t.nvarchar(str(uuid.uuid4())), "@JobId")]), (INTERVAL, [Param(t.nvarchar("2040-01-01"), "@NextDueTime")])]
    for proc, params in calls:
        check(rpc.wire.rpc(proc, params).ok(), 0)
    values = add(rpc)
    calls[1] = (BY_ID, [Param(t.nvarchar(str(values["JobId"])), "@JobId")])
    for proc, params in calls:
        check(rpc.wire.rpc(proc, params).ok(), 1)


@proves("SCHED-AddScheduledJob-09", "SCHED-AddScheduledJob-11", "SCHED-AddScheduledJob-12", "SCHED-GetScheduledJobById-03", "SCHED-GetScheduledJobById-04",
        "SCHED-GetScheduledJobById-05", "SCHED-ResultSet-03", "SCHED-ResultSet-04", "SCHED-ResultSet-05", "SCHED-ResultSet-06", "SCHED-ResultSet-08", "SCHED-ResultSet-09")
def test_what_was_added_is_read(db):
    jobs = [add(db), add(db, Recurrence=None, DisplayName=None), add(db, Class=IMPORT, JobData="IsIncremental#False", NextDueTime=datetime.datetime(2001, 2, 3, 4, 5, 6, 7000)),
            add(db, JobData="", Disabled=1, NextDueTime=FOREVER, DisplayName="żółw 日本"), add(db, JobId=uuid.UUID(int=0))]
    for _ in range(2):
        assert stored(db) == {row_of(j) for j in jobs}
        for j in jobs:
            assert by_id(db, j["JobId"]) == row_of(j)
    assert by_id(db, uuid.uuid4()) is None
    assert by_id(db, None) is None


@proves("SCHED-GetScheduledJobs-02", "SCHED-GetScheduledJobs-03", "SCHED-GetScheduledJobs-04")
def test_a_thousand_jobs(rpc):
    assert stored(rpc) == set()
    jobs = [job(Recurrence=None if i % 2 else "hourly at 00", DisplayName=str(i), NextDueTime=DUE + datetime.timedelta(minutes=i - 500)) for i in range(1000)]
    rpc.wire.batch("BEGIN TRAN").ok()
    for j in jobs:
        ok(rpc.call(ADD, **j))
    rpc.wire.batch("COMMIT").ok()
    assert stored(rpc) == {row_of(j) for j in jobs}
    taken = rows_of(rpc.call(INTERVAL, NextDueTime=DUE))
    assert taken == {row_of(j) for j in jobs[:500]}
    assert stored(rpc) == {row_of(j) for i, j in enumerate(jobs) if i >= 500 or i % 2 == 0}


@proves("SCHED-Model-03", "SCHED-AddScheduledJob-10", "SCHED-AddScheduledJob-11")
def test_a_job_id_is_taken_once(db):
    values = add(db)
    violates(db, ADD, "JobId", **{**values, "DisplayName": "second"})
    assert stored(db) == {row_of(values)}
    ok(db.call(REMOVE, JobId=values["JobId"]))
    ok(db.call(ADD, **values))                  # a removed job's id is free again


# Interval

@proves("SCHED-GetScheduledJobsInInterval-03", "SCHED-GetScheduledJobsInInterval-04", "SCHED-GetScheduledJobsInInterval-05", "SCHED-GetScheduledJobsInInterval-07",
        "SCHED-GetScheduledJobsInInterval-08", "SCHED-Model-02", "SCHED-Model-04")
def test_jobs_before_the_time(db):
    tick = datetime.timedelta(microseconds=3000)
    once = [add(db, Recurrence=None, NextDueTime=due) for due in (datetime.datetime(1800, 1, 1), DUE - tick, DUE, DUE + tick)]
    often = [add(db, NextDueTime=due) for due in (datetime.datetime(1800, 1, 1), DUE - tick, DUE, DUE + tick)]
    off = [add(db, Recurrence=r, Disabled=1, NextDueTime=FOREVER) for r in (None, "hourly at 00")]
    assert rows_of(db.call(INTERVAL, NextDueTime=DUE)) == {row_of(j) for j in once[:2] + often[:2]}
    assert stored(db) == {row_of(j) for j in once[2:] + often + off}
    assert rows_of(db.call(INTERVAL, NextDueTime=DUE)) == {row_of(j) for j in often[:2]}
    assert by_id(db, once[0]["JobId"]) is None
    for nothing in (None, datetime.datetime(1753, 1, 1)):
        result = db.call(INTERVAL, NextDueTime=nothing)
        assert rows_of(result) == set() and result.status == 0
    assert rows_of(db.call(INTERVAL, NextDueTime=FOREVER)) == {row_of(j) for j in once[2:] + often}
    assert stored(db) == {row_of(j) for j in often + off}


@proves("SCHED-GetScheduledJobsInInterval-06")
def test_a_one_time_job_goes_to_one_caller(server, database, rpc):
    with paths("wire", server, database, 6, "ScheduledJobs") as several:
        for _ in range(8):
            jobs = [add(rpc, Recurrence=None) for _ in range(3)]
            answers, barrier = [], threading.Barrier(len(several))

            def take(db):
                barrier.wait()
                answers.append(rows_of(db.call(INTERVAL, NextDueTime=FOREVER)))

            threads = [threading.Thread(target=take, args=(db,)) for db in several]
            [each.start() for each in threads]
            [each.join() for each in threads]
            assert sum(len(a) for a in answers) == 3 and set().union(*answers) == {row_of(j) for j in jobs}
            assert stored(rpc) == set()


@proves("SCHED-GetScheduledJobsInInterval-08", "SCHED-GetScheduledJobById-04", "SCHED-AddScheduledJob-11", "SCHED-ModifyScheduledJob-11", "SCHED-RefreshScheduledJob-06",
        "SCHED-RemoveScheduledJob-04")
def test_a_call_that_fails_gives_status_1(server):
    """Behind the server's back the table gets another name: each call fails while it runs, with an error and then status 1."""
    name = "Broken" + uuid.uuid4().hex[:8]
    create_database(server, name, "schedule")
    with open_path("wire", server, name, "ScheduledJobs") as db, behind(server, name) as tables:
        values = add(db, Recurrence=None)
        tables.run("ALTER TABLE job RENAME TO away")
        try:
            for proc, some in ((INTERVAL, {"NextDueTime": FOREVER}), (BY_ID, {"JobId": values["JobId"]}), (ADD, job()), (MODIFY, values),
                               (REFRESH, {"JobId": values["JobId"], "NextDueTime": FOREVER}), (REMOVE, {"JobId": values["JobId"]})):
                result = db.call(proc, **some)
                assert result.errors and result.errors[0][1] > 10 and result.status == 1, (proc, result)
        finally:
            tables.run("ALTER TABLE away RENAME TO job")
        assert rows_of(db.call(INTERVAL, NextDueTime=FOREVER)) == {row_of(values)}


# Modify, Refresh, Remove

@proves("SCHED-ModifyScheduledJob-09", "SCHED-ModifyScheduledJob-11", "SCHED-ModifyScheduledJob-12")
def test_modify_replaces_everything(db):
    values, other = add(db), add(db)
    changed = job(JobId=values["JobId"], Class=IMPORT, JobData="IsIncremental#True", Recurrence="hourly at 15", NextDueTime=DUE + datetime.timedelta(days=1), DisplayName="new")
    ok(db.call(MODIFY, **changed))
    assert stored(db) == {row_of(changed), row_of(other)}
    ok(db.call(MODIFY, **{name: values[name] for name in ("JobId", "Assembly", "Class", "NextDueTime")}))
    assert stored(db) == {row_of({**values, "Recurrence": None, "JobData": None, "Disabled": 0, "DisplayName": None}), row_of(other)}
    ok(db.call(MODIFY, **{**values, "Disabled": 1, "NextDueTime": FOREVER}))
    assert by_id(db, values["JobId"])[5:7] == (FOREVER, True)


@proves("SCHED-ModifyScheduledJob-10", "SCHED-RefreshScheduledJob-05", "SCHED-RemoveScheduledJob-03", "SCHED-Input-07")
def test_unknown_jobs(db):
    add(db)
    violates(db, MODIFY, "JobId", **job())
    for key, says in ((uuid.uuid4(), "@JobId names no job."), (None, "@JobId must not be NULL.")):
        violates(db, REFRESH, says=says, JobId=key, NextDueTime=DUE)
        violates(db, REMOVE, says=says, JobId=key)


@proves("SCHED-RefreshScheduledJob-02", "SCHED-RefreshScheduledJob-03", "SCHED-RefreshScheduledJob-04", "SCHED-RefreshScheduledJob-06", "SCHED-RefreshScheduledJob-07")
def test_refresh(db):
    values, other = add(db, DisplayName="kept"), add(db)
    now = datetime.datetime.utcnow().replace(microsecond=0)
    for due in (now + datetime.timedelta(minutes=1), DUE, FOREVER):
        ok(db.call(REFRESH, JobId=values["JobId"], NextDueTime=due))
        assert stored(db) == {row_of({**values, "NextDueTime": due}), row_of(other)}
    for due in (now - datetime.timedelta(minutes=1), datetime.datetime(2008, 2, 1, 1), datetime.datetime(1753, 1, 1)):
        violates(db, REFRESH, says="@NextDueTime must be later than now (UTC).", JobId=values["JobId"], NextDueTime=due)
    violates(db, REFRESH, says="@NextDueTime must not be NULL.", JobId=values["JobId"], NextDueTime=None)
    disabled = add(db, Disabled=1, NextDueTime=FOREVER)
    violates(db, REFRESH, says="@NextDueTime of a disabled job is Dec 31 9999 11:59:59:997 PM.", JobId=disabled["JobId"], NextDueTime=DUE)
    ok(db.call(REFRESH, JobId=disabled["JobId"], NextDueTime=FOREVER))


@proves("SCHED-RefreshScheduledJob-05")
def test_refresh_of_a_job_that_was_handed_out(db):
    once = add(db, Recurrence=None)
    assert rows_of(db.call(INTERVAL, NextDueTime=FOREVER)) == {row_of(once)}
    violates(db, REFRESH, "JobId", JobId=once["JobId"], NextDueTime=DUE)


@proves("SCHED-RemoveScheduledJob-02", "SCHED-RemoveScheduledJob-03", "SCHED-RemoveScheduledJob-04", "SCHED-RemoveScheduledJob-05")
def test_remove(db):
    values, other = add(db), add(db)
    ok(db.call(REMOVE, JobId=values["JobId"]))
    assert stored(db) == {row_of(other)}
    violates(db, REMOVE, "JobId", JobId=values["JobId"])


@proves("SCHED-Model-01")
def test_jobs_outlive_connections_and_the_server(new_server):
    server = new_server()
    with open_path("pytds", server, "ScheduledJobs") as db:
        jobs = [add(db), add(db, Recurrence=None), add(db, Disabled=1, NextDueTime=FOREVER)]
    for kill in (False, True):
        server.restart(kill=kill)
        with open_path("pytds", server, "ScheduledJobs") as db:
            assert stored(db) == {row_of(j) for j in jobs}


@proves("SCHED-Input-07")
def test_the_answer_to_a_broken_rule(rpc):
    """No ERROR, one INFO of class 0 (10 on the wire is 0), status 1, no error bit."""
    for text in (f"EXEC {REMOVE} NULL", f"EXEC dbo.{ADD} '{uuid.uuid4()}', 'x', 'y', NULL, NULL, '2030-01-01'"):
        answer = rpc.wire.batch(text)
        assert not answer.errors and [i.number for i in answer.infos] == [50002] and answer.status == 1
        assert not any(token.status & 2 for token in answer.tokens if token.kind.startswith("done"))
    answer = rpc.wire.rpc(REMOVE, [Param(t.nvarchar(None), "@JobId")])
    assert answer.kinds == ["info", "returnstatus", "doneproc"] and answer.status == 1
    assert "JobId" in answer.infos[0].text and answer.infos[0].severity == 0


@proves("SCHED-Input-02")
def test_a_batch_goes_on_after_a_broken_rule(rpc):
    values = job()
    result = rpc.batch(f"DECLARE @a int, @b int EXEC @a = {REMOVE} '{values['JobId']}' "
                       f"EXEC @b = {ADD} '{values['JobId']}', N'{OFFICE}', N'{values['Class']}', NULL, NULL, '2030-01-01' SELECT @a, @b")
    assert result.rows == [(1, 0)] and len(stored(rpc)) == 1


# Status of a call that failed

@pytest.fixture(scope="module")
def narrow():
    """Two calls fill the queue, and an answer is small."""
    with Server(settings={"max_queue": 2, "max_result_size": 65536}) as made:
        yield made


CHANGES = ((ADD, job()), (MODIFY, job()), (REFRESH, {"JobId": uuid.uuid4(), "NextDueTime": DUE}), (REMOVE, {"JobId": uuid.uuid4()}), (INTERVAL, {"NextDueTime": DUE}))


@proves("SCHED-Input-09", "SCHED-RemoveScheduledJob-04")
@pytest.mark.parametrize("proc, values", CHANGES, ids=[c[0] for c in CHANGES])
@pytest.mark.parametrize("path", ("wire", "pytds", "batch"))
def test_who_waits_in_vain_has_failed(server, database, rpc, proc, values, path):
    """An RPC or EXEC that gives up behind an open transaction."""
    add(rpc, NextDueTime=datetime.datetime(2020, 1, 1), Recurrence=None)
    rpc.batch("BEGIN TRAN")
    held = add(rpc)
    with open_path(path, server, database, "ScheduledJobs") as db:
        db.batch("SET LOCK_TIMEOUT 100")
        result = db.call(proc, **values)
        assert result.error == 1222 and result.status == 1, result
    rpc.batch("ROLLBACK")
    assert by_id(rpc, held["JobId"]) is None


@proves("SCHED-Input-09")
def test_where_too_many_wait_a_call_has_failed(narrow):
    with paths("wire", narrow, "ScheduledJobs", 4) as (holder, *others):
        holder.batch("BEGIN TRAN")
        add(holder)
        answers, threads = [], []
        for db in others:
            threads.append(threading.Thread(target=lambda db=db: answers.append(db.call(REMOVE, JobId=uuid.uuid4()))))
            threads[-1].start()
        for _ in range(200):
            if answers:
                break
            time.sleep(0.02)
        holder.batch("ROLLBACK")
        for thread in threads:
            thread.join()
        assert sorted((a.error or 0, a.status) for a in answers) == [(0, 1), (0, 1), (50012, 1)]


@proves("SCHED-GetScheduledJobs-06")
def test_the_list_that_fails_has_no_status(narrow):
    """[MS-SSPSJ] 3.1.4.2: its status can only be 0. That of the others after the same error is 1."""
    with open_path("wire", narrow, "ScheduledJobs") as db:
        db.batch("BEGIN TRAN")
        large = add(db, Class="Microsoft.Office.Server.UserProfiles.UserProfileGradualUpgradeChangeJob", JobData="0;2008-01-31;" + "x" * 200_000)
        for proc, values, status in ((BY_ID, {"JobId": large["JobId"]}, 1), (ALL, {}, None)):
            result = db.call(proc, **values)
            assert result.error == 50005 and result.status == status and not result.sets, (proc, result)
        db.batch("ROLLBACK")


@proves("SCHED-Input-09")
def test_status_when_xact_abort_rolls_back(server, database, rpc):
    """The rollback comes between the call and its answer."""
    with open_path("wire", server, database, "ScheduledJobs") as db:
        rpc.batch("BEGIN TRAN")
        add(rpc)
        db.batch("SET XACT_ABORT ON SET LOCK_TIMEOUT 100 BEGIN TRAN")
        result = db.call(REMOVE, JobId=uuid.uuid4())
        assert result.error == 1222 and result.status == 1
        assert db.batch("SELECT @@TRANCOUNT").rows == [(0,)]
        rpc.batch("ROLLBACK")
