"""The worked example of MS-TSSPROC (4), start to finish: as calls of each driver and as printed text."""
import pytest

from support.jobs import LONG_AGO, PART, WORKER, ZERO, utc
from support.proves import proves

GROUP = """<group
xmlns="http://schemas.microsoft.com/office/server/translation/2010/11/databaseJobAdd">
  <item id="1" in="Aenean%20nec.docx" out="Aenean%20nec_Thai.docx" />
  <item id="2" in="Fusce%20aliquet.docx" out="Fusce%20aliquet_Thai.docx" />
</group>"""
BATCH = """<batch
xmlns="http://schemas.microsoft.com/office/server/translation/2010/11/databaseBatchUpdate">
  <start>
    <item job="1" group="1" id="1" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
    <item job="1" group="1" id="2" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
  </start>
  <failed />
</batch>"""
TEXTS = {
    "AddJob": """exec dbo.proc_AddJob
@JobId = '1',
@UserId = 'user@contoso.com',
@UserToken = 0x1234567890,
@PartitionId = '93572c0a-d9e1-1395-dab3-932eac7ba30c',
@Settings = '<settings/>',
@Name = 'testJob',
@ItemCount = '2',
@MaxItemsPerDay = '1000',
@MaxItemsPerPartitionPerDay = '100'""",
    "AddGroup": f"""exec dbo.proc_AddGroup
@JobId = '1',
@GroupId = '1',
@InputRoot = 'http://contoso.com',
@OutputRoot = 'http://contoso.com',
@MaxAttemptsCount = '2',
@JobXml =
'{GROUP}'""",
    "SubmitJob": "exec dbo.proc_SubmitJob\n@JobId = '1'",
    "GetConversionBatch": """exec dbo.proc_GetConversionBatch
@NumberOfConversionsInBatch = 2,
@InProgressThreshold = 'Jan 31 2008 01:01:01:000AM'""",
    "UpdateConversionBatch": f"exec dbo.proc_UpdateConversionBatch\n@BatchXml = '{BATCH}'",
    "UpdateSucceededItem": "exec dbo.proc_UpdateSucceededItem\n@JobId = '1',\n@GroupId = '1',\n@ItemId = '1'",
    "UpdateFailedItem": """exec dbo.proc_UpdateFailedItem
@JobId = '1',
@GroupId = '1',
@ItemId = '2',
@ErrorCode = '1',
@NoRetry = '1'""",
}
CALLS = {
    "AddJob": dict(JobId=1, UserId="user@contoso.com", UserToken=bytes.fromhex("1234567890"), PartitionId=PART, Settings="<settings/>", Name="testJob", ItemCount=2,
                   MaxItemsPerDay=1000, MaxItemsPerPartitionPerDay=100),
    "AddGroup": dict(JobId=1, GroupId=1, InputRoot="http://contoso.com", OutputRoot="http://contoso.com", MaxAttemptsCount=2, JobXml=GROUP),
    "SubmitJob": dict(JobId=1),
    "GetConversionBatch": dict(NumberOfConversionsInBatch=2, InProgressThreshold=LONG_AGO),
    "UpdateConversionBatch": dict(BatchXml=BATCH),
    "UpdateSucceededItem": dict(JobId=1, GroupId=1, ItemId=1),
    "UpdateFailedItem": dict(JobId=1, GroupId=1, ItemId=2, NoRetry=1, ErrorCode=1),
}


@proves("TRAN-Example-01", "TRAN-Transport-02")
@pytest.mark.parametrize("form", ("calls", "text"))
def test_the_example(empty, form):
    """On a database of its own: the example begins without jobs and without counts."""
    db = empty

    def step(name):
        result = db.client.run(TEXTS[name]) if form == "text" else db.ok("dbo.proc_" + name, **CALLS[name])
        return result.sets[0][1] if result.sets else None
    assert [step(name) for name in ("AddJob", "AddGroup", "SubmitJob")] == [None, None, None]
    db.partitions[1] = PART
    assert [tuple(r)[:9] for r in step("GetConversionBatch")] == [
        (1, 1, 1, False, "Aenean%20nec.docx", "Aenean%20nec_Thai.docx", 2, None, None), (1, 1, 2, False, "Fusce%20aliquet.docx", "Fusce%20aliquet_Thai.docx", 2, None, None)]
    assert [tuple(r) for r in step("UpdateConversionBatch")] == [(1, 1, "http://contoso.com", "http://contoso.com", "<settings/>", PART, bytes.fromhex("1234567890"))]
    assert [db.stored(i).WorkerServerInstance for i in (1, 2)] == [WORKER, WORKER]
    step("UpdateSucceededItem")
    step("UpdateFailedItem")
    assert db.counts(1) == {"Total": 2, "Succeeded": 1, "NotStarted" if db.literal else "Failed": 1}
    now = utc()
    for part in (PART, ZERO):
        assert db.call("proc_GetItemCount", PartitionId=part, Hour=now.hour, Date=now.date()).status == (0 if db.literal else 2)
