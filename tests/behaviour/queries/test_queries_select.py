"""SELECT: columns, filters, order, groups, joins, over the wire and through drivers."""
import datetime
import uuid

import pytest

from support.calls import open_path

QUERIES = {
    "SELECT JobId, Name FROM dbo.Jobs ORDER BY JobId": [(1, "one"), (2, "two"), (3, None)],
    "SELECT JobId FROM Jobs WHERE PartitionId = '00000000-0000-0000-0000-000000000007' ORDER BY JobId DESC": [(3,), (2,)],
    "SELECT JobId FROM [dbo].[Jobs] WHERE PartitionId IS NULL": [(1,)],
    "SELECT TOP 2 ItemId FROM dbo.Items WHERE JobId = 2 ORDER BY ItemId DESC": [(3,), (2,)],
    "SELECT TOP (1) j.JobId AS number FROM dbo.Jobs AS j ORDER BY j.JobId": [(1,)],
    "SELECT COUNT(*) FROM dbo.Items": [(6,)],
    "SELECT COUNT(OutputFile), COUNT(DISTINCT InputFile) FROM dbo.Items": [(4, 3)],
    "SELECT JobId, COUNT(*), MIN(ItemId), MAX(ItemId), SUM(ItemId) FROM dbo.Items GROUP BY JobId ORDER BY JobId": [(1, 3, 1, 3, 6), (2, 3, 1, 3, 6)],
    "SELECT JobId FROM dbo.Items GROUP BY JobId HAVING SUM(AttemptsRemaining) > 3": [(2,)],
    "SELECT j.Name, i.InputFile FROM dbo.Jobs j JOIN dbo.Items i ON i.JobId = j.JobId WHERE i.OutputFile IS NULL ORDER BY j.JobId": [("one", "b.docx"), ("two", "b.docx")],
    "SELECT j.JobId, g.InputRoot FROM dbo.Jobs j LEFT JOIN dbo.Groups g ON g.JobId = j.JobId ORDER BY j.JobId": [(1, "in1"), (2, "in2"), (3, None)],
    "SELECT DISTINCT AttemptsRemaining FROM dbo.Items ORDER BY AttemptsRemaining": [(1,), (2,)],
    "SELECT ItemId FROM dbo.Items WHERE (InputFile LIKE 'b%' OR InputFile LIKE '_.d%x' AND ItemId > 2) AND JobId BETWEEN 1 AND 1 ORDER BY 1": [(2,), (3,)],
    "SELECT JobId FROM dbo.Jobs WHERE JobId IN (1, 3, 99) AND NOT Name = N'x' OR JobId = 3 ORDER BY JobId": [(1,), (3,)],
    "SELECT JobId, CASE WHEN Submitted = 1 THEN 'yes' ELSE 'no' END FROM dbo.Jobs ORDER BY JobId": [(1, "yes"), (2, "no"), (3, "no")],
    "SELECT ISNULL(Name, 'none') + '!' FROM dbo.Jobs ORDER BY JobId DESC": [("none!",), ("two!",), ("one!",)],
    "SELECT JobId FROM dbo.Jobs WHERE EXISTS (SELECT 1 FROM dbo.Items i WHERE i.JobId = Jobs.JobId) ORDER BY JobId": [(1,), (2,)],
    "SELECT JobId, Unfinished FROM dbo.Jobs ORDER BY Unfinished, JobId": [(3, 0), (1, 2), (2, 3)],
    "SELECT COUNT(*) FROM dbo.Items WHERE StopTime IS NOT NULL AND StopTime < '2100-01-01' AND StopTime > '2020-01-01T00:00:00'": [(1,)],
    "SELECT JobId FROM dbo.Jobs WHERE CreateTime > GETUTCDATE()": [],
}


@pytest.mark.parametrize("text", QUERIES)
def test_select(filled, text):
    result = filled.batch(text)
    assert result.error is None, result
    assert result.rows == QUERIES[text]


@pytest.mark.parametrize("path", ("pytds", "pymssql"))
def test_select_through_drivers(server, filled, path):
    with open_path(path, server, filled.database, "WordAutomation") as db:
        rows = db.batch("SELECT * FROM dbo.Jobs ORDER BY JobId").dicts()
        assert [row["JobId"] for row in rows] == [1, 2, 3]
        assert list(rows[0]) == ["JobId", "Name", "CreateTime", "CancelTime", "Submitted", "PartitionId", "Settings", "Unfinished"]
        assert uuid.UUID(str(rows[1]["PartitionId"])) == uuid.UUID(int=7) and rows[0]["CancelTime"] is None
        assert abs(rows[0]["CreateTime"] - datetime.datetime.utcnow()) < datetime.timedelta(minutes=10)


def test_parameters(filled):
    from support import wiretypes as t
    from support.wire import Param
    answer = filled.wire.executesql("SELECT ItemId FROM dbo.Items WHERE JobId = @j AND InputFile = @f", "@j bigint, @f nvarchar(20)",
                                    [Param(t.int_(2, 8), "@j"), Param(t.nvarchar("c.docx"), "@f")]).ok()
    assert answer.rows == [[3]]
    assert filled.batch("DECLARE @n int SELECT @n = COUNT(*) FROM dbo.Items WHERE JobId = 1 SELECT @n + 1").rows == [(4,)]


def test_columns_of_a_view(filled):
    columns = filled.wire.batch("SELECT * FROM dbo.Items WHERE 1 = 0").ok().columns
    assert [c.name for c in columns] == ["JobId", "GroupId", "ItemId", "InputFile", "OutputFile", "StartTime", "StopTime", "AttemptsRemaining", "WorkerServerInstance",
                                         "ErrorCode", "Reserved"]
    assert [(c.type.code, c.type.size) for c in columns][:2] in ([(0x7F, 8), (0x34, 2)], [(0x26, 8), (0x26, 2)])


def test_views_of_every_service(server):
    for database, views in (("StateService", ("Items",)), ("ScheduledJobs", ("ScheduledJobs",)), ("WordAutomation", ("Jobs", "Groups", "Items")),
                            ("Translation", ("Jobs", "Groups", "Items", "ItemCounts"))):
        with open_path("wire", server, database) as db:
            for view in views:
                assert db.batch(f"SELECT * FROM dbo.{view}").error is None
            listed = {row[0] for row in db.batch("SELECT name FROM sys.views").rows}
            assert listed == set(views)


def test_mistakes(filled):
    for number, text in ((208, "SELECT * FROM dbo.Nothing"), (207, "SELECT Wrong FROM dbo.Jobs"), (102, "SELECT FROM WHERE"), (208, "SELECT * FROM job")):
        result = filled.batch(text)
        assert result.error == number or (number == 102 and result.error == 156), (text, result)
        assert filled.batch("SELECT 1").rows == [(1,)]
