"""Calls that are wrong, callers that may not, values that are odd or too large: all refused, and nothing changed."""
import uuid

import pytest

from support import clients, wiretypes as t
from support.clients import CallError
from support.jobs import FLAGS, LONG_AGO, PART, SIGNATURES, good, new_database, prepare
from support.proves import proves
from support.wire import BATCH, RPC, Param, Wire, rpc_body


def refused_text(db, number, text):
    """The batch fails with this number and leaves everything as it was."""
    before = db.everything()
    with pytest.raises(CallError) as caught:
        db.client.run(text)
    assert caught.value.number == number and db.everything() == before, str(caught.value)


# The call itself


@proves("WORD-Input-03", "TRAN-Input-03", "WORD-Input-02", "TRAN-Input-02")
@pytest.mark.parametrize("number, text", (
    (2812, "EXEC proc_NoSuchThing @JobId = 2"), (8145, "EXEC proc_CancelJob @JobId = 1, @Nobody = 2"), (8144, "EXEC proc_SubmitJob 1, 2"),
    (8143, "EXEC proc_CancelJob @JobId = 1, @JobId = 1"), (8162, "DECLARE @j bigint = 1; EXEC proc_SubmitJob @JobId = @j OUTPUT")))
def test_wrong_calls_in_a_batch(few, number, text):
    db = few
    prepare(db)
    refused_text(db, number, text)


@proves("WORD-Input-03", "TRAN-Input-03", "WORD-Input-02", "TRAN-Input-02")
def test_wrong_calls_by_rpc(one_way):
    db, one = one_way, t.int_(1, 8)
    prepare(db)
    before = db.everything()
    with Wire(db.server).login(database=db.database) as w:
        for number, proc, params in (
                (2812, "proc_NoSuchThing", [Param(one, "@JobId")]), (8145, "proc_CancelJob", [Param(one, "@JobId"), Param(one, "@Nobody")]),
                (8144, "proc_SubmitJob", [Param(one), Param(one)]), (8143, "proc_CancelJob", [Param(one, "@JobId"), Param(one, "@jobid")]),
                (8162, "proc_SubmitJob", [Param(one, "@JobId", output=True)]), (201, "proc_SubmitJob", []),
                (201, "proc_SubmitJob", [Param(one, "@JobId", default=True)]), (8146, "proc_HasActiveJobs", [Param(one)])):
            answer = w.rpc(proc, params)
            assert answer.numbers == [number] and answer.errors[0].severity == 16 and answer.status is None, (number, answer.summary())
    assert db.everything() == before


@proves("WORD-Transport-02", "TRAN-Transport-02")
@pytest.mark.parametrize("name", ("proc_SubmitJob", "dbo.proc_SubmitJob", "[dbo].[proc_SubmitJob]", "{db}.dbo.proc_SubmitJob", "{db}..proc_SubmitJob", "DBO.PROC_SUBMITJOB"))
def test_names_of_procedures(few, name):
    db = few
    prepare(db)
    db.ok(name.format(db=f"[{db.database}]"), JOBID=1)
    assert db.job(1).Submitted is True


@proves("WORD-Transport-02", "TRAN-Transport-02")
def test_arguments_are_converted(db):
    """Numbers, GUIDs, bits and times as text, as the examples have them."""
    prepare(db)
    more = "" if db.word else ", @UserToken = 0x1"
    db.client.run(f"exec dbo.proc_AddJob @JobId = '7', @PartitionId = '{{{str(PART).upper()}}}', @Settings = 'text'{more}")
    roots = "" if db.word else "@InputRoot = 'a', @OutputRoot = 'b', "
    db.client.run(f"EXEC proc_AddGroup @JobId = N'7', @GroupId = ' 3 ', {roots}@MaxAttemptsCount = '2', @JobXml = '{db.group_xml()}'; exec proc_SubmitJob '7'")
    rows = db.client.run("exec dbo.proc_GetConversionBatch @NumberOfConversionsInBatch = '2', @InProgressThreshold = 'Jan 31 2008 01:01:01:000AM'").rows
    assert [tuple(r)[:3] for r in rows] == [(7, 3, 1)]
    flags = ", ".join(f"@{f} = '{v}'" for f, v in zip(FLAGS, ("true", "1", "TRUE", "2", "false", "0")))
    assert len(db.client.run(f"exec proc_GetItems @JobId = '7', @GroupId = '3', @PartitionId = '{PART}', {flags}").rows) == 1


# Values


@proves("WORD-Input-04", "TRAN-Input-04", "WORD-Input-01", "TRAN-Input-01")
@pytest.mark.parametrize("proc, args", (
    ("proc_SubmitJob", {"JobId": "abc"}), ("proc_SubmitJob", {"JobId": "9223372036854775808"}), ("proc_AddGroup", {"GroupId": 70000}),
    ("proc_AddGroup", {"GroupId": -32769}), ("proc_AddGroup", {"GroupId": "1.5.2"}), ("proc_AddGroup", {"MaxAttemptsCount": 32768}),
    ("proc_CancelJob", {"PartitionId": "no guid"}), ("proc_CancelJob", {"PartitionId": "93572c0a-d9e1-1395-dab3-932eac7ba30"}),
    ("proc_JobsExpire", {"TimeThreshold": "yesterday"}), ("proc_JobsExpire", {"TimeThreshold": "2008-02-30"}), ("proc_JobsExpire", {"IncludeActiveJobs": "maybe"}),
    ("proc_GetConversionBatch", {"NumberOfConversionsInBatch": 2**31}), ("proc_UpdateFailedItem", {"ErrorCode": "12a"}),
    ("proc_UpdateFailedItem", {"ItemId": -2**31 - 1}), ("proc_GetConversionBatch", {"InProgressThreshold": "9999-12-31T23:59:59.999"})))
def test_values_that_do_not_convert(few, proc, args):
    db = few
    prepare(db)
    db.refuses(8114, proc, **{**good(db, proc), **args})


@proves("WORD-Input-05", "TRAN-Input-05")
def test_nothing_is_ever_cut(db):
    long = "ü" * 30000
    db.add_job(1, Name=long, Settings=long)
    db.add_group(1, InputRoot=long, OutputRoot=long, items=[(1, long, long)])
    assert db.job(1).Name == db.groups(1)[0].Settings == db.groups(1)[0].InputRoot == db.groups(1)[0].OutputRoot == long
    assert db.item().InputFile == db.item().OutputFile == long
    if db.word:
        token = {"UserTokenSid": b"\1", "UserTokenGroups": b"\2"}
        db.refuses(8152, "proc_AddJob", **db.job_args(2, UserTokenHeader=b"\7" * 33, **token))
        db.add_job(2, UserTokenHeader=b"\7" * 32, **token)


@proves("WORD-Input-06", "TRAN-Input-06", "TRAN-Input-05")
@pytest.mark.parametrize("limit, size", (("max_value_size", 200000), ("max_request_size", 200000)))
def test_values_beyond_the_limit(new_server, limit, size):
    """The limit is a setting; the connection stays usable and the value below it comes back whole."""
    small = new_server(settings={limit: 100000})
    for database, needed in (("WordAutomation", []), ("Translation", [Param(t.varbinary_max(b"\1"), "@UserToken")])):
        with Wire(small).login(database=database) as w:
            def add(text, answer_to):
                w.send_message(RPC, rpc_body([("proc_AddJob", [Param(t.int_(1, 8), "@JobId"), Param(t.nvarchar_max(text), "@Settings"), *needed])]))
                return w.answer(answer_to)
            # A request that is too large as a whole is refused before it is known to be an RPC.
            assert add("x" * size, BATCH if limit == "max_request_size" else RPC).numbers == [50005]
            assert add("x" * 40000, RPC).ok().status == 0
            assert w.batch("SELECT JobId, LEN(Settings) FROM dbo.Jobs").rows == [[1, 40000]]


NASTY = ("' OR 1 = 1 --", "'; DROP TABLE job; --", "\"; EXEC proc_CancelAllActiveJobs; /*", "<x a='1'>&amp;</x>", "%s %n {0} {@JobId} :now $job @JobId", "\\'\\\"\\\\", "]]>--><![CDATA[",
         "\u202eright to left \ufeff \U0001f600", "line\r\nbreak\ttab")


@proves("WORD-Security-01", "TRAN-Security-01")
@pytest.mark.parametrize("text", NASTY)
def test_no_value_acts_as_code(few, text):
    db = few
    user = {} if db.word else {"UserId": text}
    db.add_job(1, Settings=text, Name=text, **user)
    db.add_group(1, InputRoot=text, OutputRoot=text)
    db.submit(1)
    group = db.groups(1)[0]
    assert db.job(1).Name == group.Settings == group.InputRoot == group.OutputRoot == text
    if not db.word:
        assert db.listed(UserId=text) == [1] and db.listed(UserId=text + "x") == []
    attribute = text.replace("\r\n", " ").replace("\t", " ")        # XML's own normalization
    db.add_group(1, 2, items=[(1, attribute, attribute)])
    assert (db.item(group=2).InputFile, db.item(group=2).OutputFile) == (attribute, attribute)
    assert db.all_jobs() == [1] and db.job(1).CancelTime is None


# Who may call


@proves("WORD-Auth-01", "TRAN-Auth-01")
def test_a_password_opens_the_database(db):
    assert db.client.run("SELECT DB_NAME() AS name, SUSER_SNAME() AS login").rows[0] == (db.database, "sa")
    with pytest.raises(Exception) as caught:
        clients.connect(db.way, db.server, db.database, user="sa", password="not the password")
    assert "18456" in str(caught.value) or "Login failed" in str(caught.value)


@proves("WORD-Prereq-01", "TRAN-Prereq-01")
def test_an_unknown_database_is_refused(one_way):
    with pytest.raises(Exception) as caught:
        Wire(one_way.server).login(database="Nowhere")
    assert caught.value.number == 4060


@proves("WORD-Prereq-02", "TRAN-Prereq-02")
@pytest.mark.parametrize("rights, allowed", (("select", False), ("execute", True)))
def test_a_login_needs_the_right_to_execute(one_way, rights, allowed):
    db, name = one_way, "u" + uuid.uuid4().hex[:8]
    prepare(db)
    admin = clients.connect("pytds-rpc", db.server, "master")
    admin.call("procession_login_add", name=name, password="a long secret")
    admin.call("procession_grant", login=name, database=db.database, rights=rights)
    for way in clients.WAYS:
        caller = clients.connect(way, db.server, db.database, user=name, password="a long secret")
        before = db.everything()
        if allowed:
            assert caller.call("proc_CancelJob", JobId=1, PartitionId=PART).status == 0
            assert caller.call("proc_GetConversionBatch", NumberOfConversionsInBatch=1, InProgressThreshold=LONG_AGO).rows == []
        else:
            for proc in SIGNATURES[db.service]:
                with pytest.raises(CallError) as caught:
                    caller.call(proc, **good(db, proc))
                assert (caught.value.number, caught.value.severity) in ((229, 14), (229, None))
            assert db.everything() == before
        caller.close()
    admin.close()


def test_databases_do_not_mix(one_way):
    """What one database stores, another one of the same service does not show."""
    db, name = one_way, "apart " + uuid.uuid4().hex[:8]
    new_database(db.server, name, db.service, db.errata)
    db.new_job(1)
    other = clients.connect("pytds-rpc", db.server, name)
    assert other.call("proc_GetJobs", ActiveOnly=0, SubmittedOnly=0).rows == []
    other.call("proc_AddJob", **db.job_args(1, Name="there"))
    assert db.job(1).Name is None
    other.close()
