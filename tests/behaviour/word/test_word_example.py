"""The worked example of MS-WORDSSP2 (4.1), start to finish: as calls of each driver and as printed text."""
import pytest

from support.jobs import LONG_AGO, PART, WORKER
from support.proves import proves

GROUP = """<group
xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd">
<item id="1" in="Aenean%20nec.docx" out="Aenean%20nec.pdf" />
<item id="2" in="Fusce%20aliquet.docx" out="Fusce%20aliquet.pdf" />
</group>"""
BATCH = """<batch
xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate">
 <start>
 <item job="1" group="1" id="1" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
 <item job="1" group="1" id="2" wsi="b00ae9a1-0474-474e-b348-f6a8bcc95331" />
 </start>
 <failed />
</batch>"""
# The texts as printed; the namespace of the batch is mended, it has a line break inside.
TEXTS = {
    "AddJob": """exec dbo.proc_AddJob
@JobId = '1',
@UserTokenHeader = 0x00000000000000000000000000000000,
@UserTokenGroups = 0x1,
@UserTokenSid = 0x1,
@PartitionId = '93572c0a-d9e1-1395-dab3-932eac7ba30c',
@Settings = '<settings/>',
@Name = 'testJob'""",
    "AddGroup": f"""exec dbo.proc_AddGroup
@JobId = '1',
@GroupId = '1',
@InputRoot = NULL,
@OutputRoot = NULL,
@MaxAttemptsCount = '2',
@JobXml =
'{GROUP}'""",
    "SubmitJob": "exec dbo.proc_SubmitJob\n@JobId = '1'",
    "GetConversionBatch": """exec dbo.proc_GetConversionBatch
@NumberOfConversionsInBatch = 2,
@InProgressThreshold = 'Jan 31 2008 01:01:01:000AM'""",
    "UpdateConversionBatch": f"exec dbo.proc_UpdateConversionBatch\n@BatchXml = '{BATCH}'",
    "UpdateSucceededItem": """exec dbo.proc_UpdateSucceededItem
@JobId = '1',
@GroupId = '1',
@ItemId = '1',
@Reserved = NULL""",
    "UpdateFailedItem": """exec dbo.proc_UpdateFailedItem
@JobId = '1',
@GroupId = '1',
@ItemId = '2',
@Reserved = NULL,
@ErrorCode = '1',
@NoRetry = '1'""",
}
CALLS = {
    "AddJob": dict(JobId=1, UserTokenHeader=bytes(16), UserTokenGroups=b"\x01", UserTokenSid=b"\x01", PartitionId=PART, Settings="<settings/>", Name="testJob"),
    "AddGroup": dict(JobId=1, GroupId=1, InputRoot=None, OutputRoot=None, MaxAttemptsCount=2, JobXml=GROUP),
    "SubmitJob": dict(JobId=1),
    "GetConversionBatch": dict(NumberOfConversionsInBatch=2, InProgressThreshold=LONG_AGO),
    "UpdateConversionBatch": dict(BatchXml=BATCH),
    "UpdateSucceededItem": dict(JobId=1, GroupId=1, ItemId=1, Reserved=None),
    "UpdateFailedItem": dict(JobId=1, GroupId=1, ItemId=2, NoRetry=1, ErrorCode=1, Reserved=None),
}


@proves("WORD-Example-01", "WORD-Example-02", "WORD-Transport-02")
@pytest.mark.parametrize("form", ("calls", "text"))
def test_the_canonical_example(db, form):
    def step(name):
        result = db.client.run(TEXTS[name]) if form == "text" else db.ok("dbo.proc_" + name, **CALLS[name])
        return result.sets[0][1] if result.sets else None
    assert [step(name) for name in ("AddJob", "AddGroup", "SubmitJob")] == [None, None, None]
    handed = step("GetConversionBatch")
    assert [tuple(r)[:9] for r in handed] == [
        (1, 1, 1, False, "Aenean%20nec.docx", "Aenean%20nec.pdf", 2, None, None), (1, 1, 2, False, "Fusce%20aliquet.docx", "Fusce%20aliquet.pdf", 2, None, None)]
    assert handed[0].CreateTime == handed[1].CreateTime
    assert [tuple(r) for r in step("UpdateConversionBatch")] == [(1, 1, None, None, "<settings/>", bytes(16), b"\x01", b"\x01")]
    assert [db.stored(i).WorkerServerInstance for i in (1, 2)] == [WORKER, WORKER]
    step("UpdateSucceededItem")
    step("UpdateFailedItem")
    if db.literal:      # one attempt is left, and the letter of the text tries it whatever @NoRetry says
        assert db.counts(1) == {"Total": 2, "Succeeded": 1, "NotStarted": 1}
        assert db.active() == 0      # no job is canceled, which the letter asks for
    else:
        assert db.counts(1) == {"Total": 2, "Succeeded": 1, "Failed": 1} and db.active() == 0
        assert (db.item(2).ErrorCode, db.item(1).ErrorCode) == (1, None)
