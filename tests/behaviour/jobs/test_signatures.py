"""Every procedure as a driver sees it: signature, NULLs, status, result sets, column metadata."""
import datetime
import re
import struct

import pytest

from support import wiretypes as t
from support.clients import WAYS, CallError
from support.jobs import ERRATA, columns, good, opened, parameters, prepare
from support.proves import proves
from support.store import ways
from support.wire import Param, Wire


@pytest.fixture(params=ERRATA)
def errata(request):
    return request.param


@pytest.fixture(params=[*zip(("corrected", "literal", "literal", "corrected"), WAYS)][:ways(4, 2)], ids="-".join)
def setting(request):
    """errata and way of calling"""
    return request.param


def declared(name, length):
    """A type with its length as a declaration has it: metadata gives the unbounded ones as -1 or as the largest number."""
    if name not in ("varchar", "nvarchar", "varbinary"):
        return name
    return f"{name}({'max' if length in (-1, 0, 2147483647, 1073741823) else length})"


ODBC = {        # TYPE_NAME, PRECISION, LENGTH; the unbounded types under the names of those from before them
    "bit": ("bit", 1, 1), "tinyint": ("tinyint", 3, 1), "smallint": ("smallint", 5, 2), "int": ("int", 10, 4), "bigint": ("bigint", 19, 8),
    "uniqueidentifier": ("uniqueidentifier", 36, 16), "datetime": ("datetime", 23, 16), "date": ("date", 10, 20), "xml": ("ntext", 1073741823, 2147483646),
    "nvarchar(max)": ("ntext", 1073741823, 2147483646), "varbinary(max)": ("image", 2147483647, 2147483647),
}


def in_odbc(kind):
    """What sp_sproc_columns says of a declared type."""
    if kind in ODBC:
        return ODBC[kind]
    name, length = re.fullmatch(r"(varchar|nvarchar|varbinary)\((\d+)\)", kind).groups()
    return name, int(length), int(length) * (2 if name == "nvarchar" else 1)


def typed(kind, value):
    """A value in exactly the declared type, for an RPC."""
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return t.int_(value, {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}[kind])
    if kind == "bit":
        return t.bit(value)
    if kind == "uniqueidentifier":
        return t.Type(0x24, 16), None if value is None else value.bytes_le
    if kind == "datetime":
        days = (value - datetime.datetime(1900, 1, 1)) if value is not None else None
        return t.Type(0x6F, 8), None if value is None else struct.pack("<iI", days.days, days.seconds * 300)
    if kind == "date":
        return t.Type(0x28), None if value is None else (value.toordinal() - 1).to_bytes(3, "little")
    if kind == "nvarchar(max)":
        return t.nvarchar_max(value)
    if kind == "varbinary(32)":
        return t.varbinary(value, 32)
    if kind == "varbinary(max)":
        return t.varbinary_max(value)
    assert kind == "xml"
    return t.Type(0xF1), None if value is None else value.encode("utf-16-le")


def rpc(db, proc, args):
    """The raw answer to a call with every argument in its declared type."""
    kinds = {p.name: p.type for p in parameters(db.service, proc)}
    with Wire(db.server).login(database=db.database) as w:
        return w.rpc(proc, [Param(typed(kinds[name], value), "@" + name) for name, value in args.items()])


# Parameters


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-01")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-01")),
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-01")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-01")),
    pytest.param("word", "proc_JobsExpire", marks=proves("WORD-JobsExpire-01")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-01")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-01")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-01")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-01")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-01")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-01")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-01")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-01")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-01")),
    pytest.param("translation", "proc_AddJob", marks=proves("TRAN-AddJob-01")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-01")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-01")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-01")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-01")),
    pytest.param("translation", "proc_GetItemCount", marks=proves("TRAN-GetItemCount-01")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-01")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-01")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-01")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-01")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-01")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-01")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-01")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-01")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-01")),
))
@proves("WORD-Transport-01", "TRAN-Transport-01")
def test_signature(server, setting, service, proc):
    """By name and by position, with and without the optional ones; each required one left out is error 201."""
    db = opened(server, service, *setting)
    args, declared = good(db, proc), parameters(service, proc)
    for call in (lambda: db.call(proc, **args), lambda: db.call(proc, *args.values()), lambda: db.call(proc, **{p.name: args[p.name] for p in declared if p.required})):
        prepare(db)
        assert call().status == 0 or proc == "proc_GetItemCount"
    prepare(db)
    for left_out in declared:
        if left_out.required:
            error = db.refuses(201, proc, **{k: v for k, v in args.items() if k != left_out.name})
            assert proc in error.text and "@" + left_out.name in error.text


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-01")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-01")),
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-01")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-01")),
    pytest.param("word", "proc_JobsExpire", marks=proves("WORD-JobsExpire-01")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-01")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-01")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-01")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-01")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-01")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-01")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-01")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-01")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-01")),
    pytest.param("translation", "proc_AddJob", marks=proves("TRAN-AddJob-01")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-01")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-01")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-01")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-01")),
    pytest.param("translation", "proc_GetItemCount", marks=proves("TRAN-GetItemCount-01")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-01")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-01")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-01")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-01")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-01")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-01")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-01")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-01")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-01")),
))
@proves("WORD-Transport-01", "TRAN-Transport-01")
def test_declared_types_over_rpc(server, errata, service, proc):
    """Every argument in exactly its declared type; status and result sets come as tokens."""
    db = opened(server, service, errata, "pytds-rpc")
    prepare(db)
    answer = rpc(db, proc, good(db, proc))
    assert answer.errors == [] and answer.status is not None and answer.last.kind == "doneproc"
    for p in parameters(service, proc):
        if not p.not_null and (proc, p.name) != ("proc_AddJob", "UserTokenHeader") and not p.name.startswith("UserToken"):
            prepare(db)
            assert rpc(db, proc, {**good(db, proc), p.name: None}).errors == [], p.name


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-01")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-01")),
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-01")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-01")),
    pytest.param("word", "proc_JobsExpire", marks=proves("WORD-JobsExpire-01")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-01")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-01")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-01")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-01")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-01")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-01")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-01")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-01")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-01")),
    pytest.param("translation", "proc_AddJob", marks=proves("TRAN-AddJob-01")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-01")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-01")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-01")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-01")),
    pytest.param("translation", "proc_GetItemCount", marks=proves("TRAN-GetItemCount-01")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-01")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-01")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-01")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-01")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-01")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-01")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-01")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-01")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-01")),
))
def test_drivers_are_told_the_signature(server, service, proc):
    db = opened(server, service, "corrected", "pytds-batch")
    result, *rows = db.call("sp_procedure_params_100_managed", procedure_name=proc).rows
    assert result.PARAMETER_TYPE == 4
    assert [(r.PARAMETER_NAME[1:], declared(r.TYPE_NAME, r.CHARACTER_MAXIMUM_LENGTH)) for r in rows] == [(p.name, p.type) for p in parameters(service, proc)]
    rows = [r for r in db.call("sp_sproc_columns", procedure_name=proc).rows if r.COLUMN_NAME != "@RETURN_VALUE"]
    assert [(r.ORDINAL_POSITION, r.COLUMN_NAME[1:], r.TYPE_NAME, r.PRECISION, r.LENGTH) for r in rows] == \
        [(i, p.name, *in_odbc(p.type)) for i, p in enumerate(parameters(service, proc), 1)]


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_HasActiveJobs", marks=proves("WORD-HasActiveJobs-01")),
    pytest.param("word", "proc_CancelAllActiveJobs", marks=proves("WORD-CancelAllActiveJobs-01")),
    pytest.param("translation", "proc_CancelAllActiveJobs", marks=proves("TRAN-CancelAllActiveJobs-01")),
    pytest.param("translation", "proc_HasActiveJobs", marks=proves("TRAN-HasActiveJobs-01")),
))
def test_procedures_without_parameters(server, setting, service, proc):
    db = opened(server, service, *setting)
    prepare(db)
    db.refuses(8146, proc, 1)
    db.refuses(8146, proc, JobId=1)
    assert db.call(proc).status == 0


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-02")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-02")),
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-02")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-02")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-02")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-02")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-02")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-02")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-02", "WORD-AddGroup-03")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-02")),
    pytest.param("translation", "proc_AddJob", marks=proves("TRAN-AddJob-02")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-02")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-02")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-02")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-02")),
    pytest.param("translation", "proc_GetItemCount", marks=proves("TRAN-GetItemCount-02")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-02")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-02")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-02")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-02")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-02")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-02")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-02")),
))
def test_null_is_refused_where_it_must_not_be(server, setting, service, proc):
    db = opened(server, service, *setting)
    prepare(db)
    refused = [p.name for p in parameters(service, proc) if p.not_null]
    assert refused
    for name in refused:
        error = db.refuses(515, proc, **{**good(db, proc), name: None})
        assert proc in error.text and "@" + name in error.text


@proves("WORD-AddGroup-02", "WORD-AddGroup-03", "TRAN-AddGroup-02")
def test_null_is_refused_with_its_type_too(one_way):
    db = one_way
    prepare(db)
    for p in parameters(db.service, "proc_AddGroup"):
        if p.not_null:
            answer = rpc(db, "proc_AddGroup", {**good(db, "proc_AddGroup"), p.name: None})
            assert answer.numbers == [515] and answer.status is None


# Answers


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-09")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-14")),
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-17")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-05")),
    pytest.param("word", "proc_JobsExpire", marks=proves("WORD-JobsExpire-12")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-14")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-12")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-15")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-08")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-14")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-08")),
    pytest.param("word", "proc_CancelAllActiveJobs", marks=proves("WORD-CancelAllActiveJobs-05")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-06")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-10")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-09")),
    pytest.param("translation", "proc_CancelAllActiveJobs", marks=proves("TRAN-CancelAllActiveJobs-05")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-08")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-14")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-14")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-08")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-16")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-11")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-14")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-15")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-05")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-17")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-12")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-07")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-07")),
))
def test_status_zero_after_success(server, setting, service, proc):
    db = opened(server, service, *setting)
    prepare(db)
    assert db.call(proc, **good(db, proc)).status == 0


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateSucceededItem", marks=proves("WORD-UpdateSucceededItem-10")),
    pytest.param("word", "proc_UpdateFailedItem", marks=proves("WORD-UpdateFailedItem-15")),
    pytest.param("word", "proc_SubmitJob", marks=proves("WORD-SubmitJob-06")),
    pytest.param("word", "proc_JobsExpire", marks=proves("WORD-JobsExpire-13")),
    pytest.param("word", "proc_HasActiveJobs", marks=proves("WORD-HasActiveJobs-04")),
    pytest.param("word", "proc_CancelJob", marks=proves("WORD-CancelJob-09")),
    pytest.param("word", "proc_CancelAllActiveJobs", marks=proves("WORD-CancelAllActiveJobs-06")),
    pytest.param("word", "proc_AddJob", marks=proves("WORD-AddJob-07")),
    pytest.param("word", "proc_AddGroup", marks=proves("WORD-AddGroup-11")),
    pytest.param("translation", "proc_AddGroup", marks=proves("TRAN-AddGroup-10")),
    pytest.param("translation", "proc_AddJob", marks=proves("TRAN-AddJob-15")),
    pytest.param("translation", "proc_CancelAllActiveJobs", marks=proves("TRAN-CancelAllActiveJobs-06")),
    pytest.param("translation", "proc_CancelJob", marks=proves("TRAN-CancelJob-09")),
    pytest.param("translation", "proc_GetItemCount", marks=proves("TRAN-GetItemCount-09")),
    pytest.param("translation", "proc_HasActiveJobs", marks=proves("TRAN-HasActiveJobs-04")),
    pytest.param("translation", "proc_JobsExpire", marks=proves("TRAN-JobsExpire-16")),
    pytest.param("translation", "proc_SubmitJob", marks=proves("TRAN-SubmitJob-06")),
    pytest.param("translation", "proc_UpdateFailedItem", marks=proves("TRAN-UpdateFailedItem-13")),
    pytest.param("translation", "proc_UpdateItemCount", marks=proves("TRAN-UpdateItemCount-08")),
    pytest.param("translation", "proc_UpdateSucceededItem", marks=proves("TRAN-UpdateSucceededItem-08")),
))
def test_no_result_set(server, setting, service, proc):
    db = opened(server, service, *setting)
    prepare(db)
    assert db.call(proc, **good(db, proc)).sets == []
    prepare(db)
    answer = rpc(db, proc, good(db, proc))
    assert set(answer.kinds) <= {"returnstatus", "doneproc", "doneinproc"} and answer.status is not None


def nothing_found(db, proc):
    args = good(db, proc)
    if "JobId" in args:
        return {**args, "JobId": 99}
    if "BatchXml" in args:
        return {**args, "BatchXml": db.batch_xml()}
    return args


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-14")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-04")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-09")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-12")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-05")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-08")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-08")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-08")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-05")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-13")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-08")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-04")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-14")),
))
def test_exactly_one_result_set_also_without_rows(server, setting, service, proc):
    db = opened(server, service, *setting)
    names = [c[0] for c in columns(service, proc)]
    prepare(db)
    if "Get" not in proc or "Batch" not in proc:
        found = db.call(proc, **{k: v for k, v in good(db, proc).items() if not k.startswith("User")})
        assert len(found.sets) == 1 and found.sets[0][0] == names and len(found.rows) == 1
    db.wipe()
    result = db.call(proc, **nothing_found(db, proc))
    assert result.rows == [] and result.status == 0
    if not result.quiet:
        assert [s[0] for s in result.sets] == [names]
    answer = rpc(db, proc, nothing_found(db, proc))
    assert len(answer.all("colmetadata")) == 1 and answer.rows == [] and [c.name for c in answer.columns] == names


# Type codes on the wire: not NULL, may be NULL. A fixed type says that a column has no NULLs; the others say it by a flag.
CODES = {"tinyint": (t.Type(0x30, 1), t.Type(0x26, 1)), "smallint": (t.Type(0x34, 2), t.Type(0x26, 2)), "int": (t.Type(0x38, 4), t.Type(0x26, 4)),
         "bigint": (t.Type(0x7F, 8), t.Type(0x26, 8)), "bit": (t.Type(0x32, 1), t.Type(0x68, 1)), "datetime": (t.Type(0x3D, 8), t.Type(0x6F, 8)),
         "uniqueidentifier": (t.Type(0x24, 16),) * 2, "nvarchar(max)": (t.Type(0xE7, t.MAX),) * 2, "varbinary(max)": (t.Type(0xA5, t.MAX),) * 2,
         "varbinary(32)": (t.Type(0xA5, 32),) * 2}


@pytest.mark.parametrize("service, proc", (
    pytest.param("word", "proc_UpdateConversionBatch", marks=proves("WORD-UpdateConversionBatch-15")),
    pytest.param("word", "proc_GetJobStatus", marks=proves("WORD-GetJobStatus-05")),
    pytest.param("word", "proc_GetJobs", marks=proves("WORD-GetJobs-10")),
    pytest.param("word", "proc_GetItems", marks=proves("WORD-GetItems-13")),
    pytest.param("word", "proc_GetGroups", marks=proves("WORD-GetGroups-06")),
    pytest.param("word", "proc_GetConversionBatch", marks=proves("WORD-GetConversionBatch-09")),
    pytest.param("translation", "proc_GetConversionBatch", marks=proves("TRAN-GetConversionBatch-09")),
    pytest.param("translation", "proc_GetConversionBatchInterleaved", marks=proves("TRAN-GetConversionBatchInterleaved-09")),
    pytest.param("translation", "proc_GetGroups", marks=proves("TRAN-GetGroups-06")),
    pytest.param("translation", "proc_GetItems", marks=proves("TRAN-GetItems-14")),
    pytest.param("translation", "proc_GetJobs", marks=proves("TRAN-GetJobs-09")),
    pytest.param("translation", "proc_GetJobStatus", marks=proves("TRAN-GetJobStatus-05")),
    pytest.param("translation", "proc_UpdateConversionBatch", marks=proves("TRAN-UpdateConversionBatch-15")),
))
def test_column_metadata(server, errata, service, proc):
    db = opened(server, service, errata, "pytds-rpc")
    prepare(db)
    found = rpc(db, proc, good(db, proc)).columns
    expected = columns(service, proc)
    assert [c.name for c in found] == [name for name, _, _ in expected]
    for column, (name, kind, nullable) in zip(found, expected):
        assert column.type == CODES[kind][nullable], f"{name} is {column.type}"
        assert bool(column.flags & 1) == nullable, f"{name}: the flag of NULL"
    with db.client.conn.cursor() as cur:
        prepare(db)
        cur.callproc(proc, {"@" + k: db.client.param(v) for k, v in good(db, proc).items()})
        assert [(d[0], bool(d[6])) for d in cur.description] == [(name, nullable) for name, _, nullable in expected]
        cur.fetchall()


@proves("TRAN-UpdateConversionBatch-18")
def test_the_batch_of_translation_has_no_user_id(server, setting):
    db = opened(server, "translation", *setting)
    prepare(db)
    names, _ = db.call("proc_UpdateConversionBatch", BatchXml=db.batch_xml([(1, 1, 1)])).sets[0]
    assert len(names) == 7 and "UserId" not in names


def test_a_refused_call_has_no_status(one_way):
    db = one_way
    prepare(db)
    for args in ({"JobId": None}, {"JobId": 1}):
        answer = rpc(db, "proc_AddJob", {**good(db, "proc_AddJob"), **args})
        assert len(answer.errors) == 1 and answer.status is None and answer.last.kind == "doneproc" and answer.last.status & 2
    with pytest.raises(CallError):
        db.call("proc_AddJob", JobId=None)
