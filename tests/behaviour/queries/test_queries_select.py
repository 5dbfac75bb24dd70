"""SELECT: columns, filters, order, groups, joins, over the wire and through drivers."""
import datetime
import random
import uuid

import pytest

from support.calls import open_path
from support.logins import PASSWORD, new_login
from support.wire import Wire

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
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[a-b]%' ORDER BY 1": [(1,), (2,)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[AC].D%'": [(1,), (3,)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[^b].docx' ORDER BY 1": [(1,), (3,)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile NOT LIKE '[^B-C]%' ORDER BY 1": [(2,), (3,)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[xyz]%'": [],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[abc'": [],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '_[.]d!ocx' ESCAPE '!' ORDER BY 1": [(1,), (2,), (3,)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[a-z].d*x'": [],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 1 AND InputFile LIKE '[a-z]?docx'": [],
    "SELECT DISTINCT InputFile FROM dbo.Items WHERE InputFile LIKE '[a-b!]%!%' ESCAPE '!' OR InputFile LIKE '[c-d]%' ORDER BY 1": [("c.docx",)],
    "SELECT ItemId FROM dbo.Items WHERE JobId = 2 AND ItemId LIKE '[13]' ORDER BY 1": [(1,), (3,)],
    "SELECT name FROM sys.views WHERE name LIKE '[GJ]%s' ORDER BY name": [("Groups",), ("Jobs",)],
    "SELECT g.InputRoot, j.JobId FROM dbo.Groups g RIGHT JOIN dbo.Jobs j ON g.JobId = j.JobId ORDER BY j.JobId": [("in1", 1), ("in2", 2), (None, 3)],
    "SELECT g.InputRoot, j.JobId FROM dbo.Groups g RIGHT OUTER JOIN dbo.Jobs j ON g.JobId = j.JobId AND j.JobId <> 1 ORDER BY j.JobId":
        [(None, 1), ("in2", 2), (None, 3)],
    "SELECT a.JobId, b.JobId FROM dbo.Jobs a FULL JOIN dbo.Jobs b ON a.JobId = b.JobId + 1 ORDER BY ISNULL(a.JobId, 9), b.JobId":
        [(1, None), (2, 1), (3, 2), (None, 3)],
    "SELECT COUNT(*), COUNT(a.JobId), COUNT(b.ItemId) FROM dbo.Jobs a FULL OUTER JOIN dbo.Items b ON a.JobId = b.JobId AND b.ItemId = 1": [(7, 3, 6)],
    "SELECT j.JobId, i.ItemId FROM dbo.Items i JOIN dbo.Groups g ON g.JobId = i.JobId AND i.ItemId = 2 RIGHT JOIN dbo.Jobs j ON j.JobId = g.JobId ORDER BY 1":
        [(1, 2), (2, 2), (3, None)],
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


def test_names_of_another_database_are_for_those_who_may_read_there(server, filled):
    """An ordinary login with the right in two databases; where it has none there is 916, and 229 where it may only call procedures."""
    clerk = new_login(server, "StateService", "select")
    with Wire(server).login(database="master") as admin:
        for database, right in ((filled.database, "select"), ("ScheduledJobs", "execute")):
            admin.batch(f"EXEC procession_grant @login = '{clerk}', @database = '{database}', @rights = '{right}'").ok()
    with Wire(server).login(clerk, PASSWORD, database="StateService") as w:
        assert w.batch(f"SELECT j.JobId, i.ItemId FROM {filled.database}.dbo.Jobs j JOIN [{filled.database}]..Items i ON i.JobId = j.JobId WHERE i.ItemId = 2 ORDER BY 1").ok().rows == [[1, 2], [2, 2]]
        assert w.batch(f"SELECT name FROM {filled.database}.sys.views WHERE name IN ('Jobs', 'Items') ORDER BY 1").ok().rows == [["Items"], ["Jobs"]]
        assert w.batch(f"SELECT COUNT(*) FROM {filled.database}.sys.all_objects WHERE name = 'proc_AddJob'").ok().value == 1
        assert w.batch("SELECT DB_NAME(), COUNT(*) FROM dbo.Items WHERE 1 = 0").ok().rows == [["StateService", 0]], "it stands where it stood"
        assert w.batch("SELECT COUNT(*) FROM Translation.dbo.Jobs").numbers == [916]
        assert w.batch("SELECT COUNT(*) FROM Translation.sys.all_objects").numbers == [916]
        assert w.batch("SELECT COUNT(*) FROM ScheduledJobs.dbo.ScheduledJobs").numbers == [229]


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


@pytest.mark.parametrize("text, nullable", (
    ("SELECT i.ItemId, j.JobId FROM dbo.Items i RIGHT JOIN dbo.Jobs j ON 1 = 0", (True, False)),
    ("SELECT i.ItemId, j.JobId FROM dbo.Items i FULL JOIN dbo.Jobs j ON 1 = 0", (True, True)),
    ("SELECT i.ItemId, j.JobId FROM dbo.Items i LEFT JOIN dbo.Jobs j ON 1 = 0", (False, True)),
    ("SELECT i.ItemId, j.JobId FROM dbo.Items i JOIN dbo.Jobs j ON 1 = 0", (False, False)),
    ("SELECT i.ItemId, g.GroupId, j.JobId FROM dbo.Items i JOIN dbo.Groups g ON 1 = 0 RIGHT JOIN dbo.Jobs j ON 1 = 0", (True, True, False)),
))
def test_outer_joins_make_columns_nullable(filled, text, nullable):
    """A driver reads a column that it was told is not nullable as if it were not."""
    answer = filled.wire.batch(text).ok()
    assert tuple(bool(c.flags & 1) for c in answer.columns) == nullable
    star = filled.wire.batch(text.replace("i.ItemId, j.JobId", "i.*, j.*").replace("i.ItemId, g.GroupId, j.JobId", "i.*, g.*, j.*")).ok()
    flags = {c.name: bool(c.flags & 1) for c in star.columns}
    assert flags["ItemId"] == nullable[0] and bool(star.columns[[c.name for c in star.columns].index("CreateTime") - 2].flags & 1) == nullable[-1]


def test_like_means_the_same_for_columns_and_constants(filled):
    """Two programs decide: the store over rows, the evaluator over constants."""
    chooser = random.Random(4711)
    pieces = ("a", "e", "i", "t", "T", "%", "%", "_", "[", "]", "^", "-", "*", "?", "[a-f]", "[^m-z]", "[_]", "[%]", "[tx]", "[]x]", "[^]x]", "\\", "!", "!%", "![", "\u00e9")
    names = [row[0] for row in filled.batch("SELECT name FROM sys.types").rows]
    for _ in range(150):
        like = "LIKE N'" + "".join(chooser.choices(pieces, k=chooser.randint(1, 7))) + "'" + chooser.choice(("", " ESCAPE '!'"))
        rows = filled.batch(f"SELECT name FROM sys.types WHERE name {like}").rows
        constants = filled.batch("SELECT " + ", ".join(f"CASE WHEN N'{name}' {like} THEN 1 ELSE 0 END" for name in names)).rows[0]
        assert {row[0] for row in rows} == {name for name, matches in zip(names, constants) if matches}, like


def test_like_wants_one_escape_character(filled):
    for escape in ("''", "'!!'"):
        for text in (f"SELECT 1 WHERE 'a' LIKE 'a' ESCAPE {escape}", f"SELECT ItemId FROM dbo.Items WHERE InputFile LIKE 'a' ESCAPE {escape}"):
            assert filled.batch(text).error == 506, text


PAGES = {
    "common table expression": ("WITH x AS (SELECT JobId FROM dbo.Jobs) SELECT * FROM x ORDER BY 1", [(1,), (2,), (3,)]),
    "its columns renamed": (";WITH x (a) AS (SELECT 1) SELECT a FROM x", [(1,)]),
    "Hibernate": ("WITH query AS (SELECT inner_query.*, ROW_NUMBER() OVER (ORDER BY CURRENT_TIMESTAMP) AS __hibernate_row_nr__ FROM (SELECT TOP(3) JobId AS id"
                  " FROM dbo.Jobs ORDER BY JobId) inner_query) SELECT id FROM query WHERE __hibernate_row_nr__ >= 2 AND __hibernate_row_nr__ < 4", [(2,), (3,)]),
    "Sequel": ("SELECT [JobId] FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY [JobId]) AS [x_sequel_row_number_x] FROM [Jobs]) AS [t1]"
               " WHERE ([x_sequel_row_number_x] > 1) ORDER BY [x_sequel_row_number_x]", [(2,), (3,)]),
    "DBIx::Class": ("SELECT [JobId] FROM (SELECT [JobId], ROW_NUMBER() OVER( ORDER BY [JobId] DESC ) AS [rno__row__index] FROM (SELECT [me].[JobId] FROM [Jobs] [me]) [me])"
                    " [me] WHERE [rno__row__index] >= 1 AND [rno__row__index] <= 2", [(3,), (2,)]),
    "knex": ("SELECT [JobId] FROM [Jobs] ORDER BY (SELECT 0) OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", [(2,)]),
    "partitions": ("SELECT JobId, ItemId, ROW_NUMBER() OVER (PARTITION BY JobId ORDER BY ItemId DESC) FROM dbo.Items WHERE ItemId > 1 ORDER BY 1, 2",
                   [(1, 2, 2), (1, 3, 1), (2, 2, 2), (2, 3, 1)]),
}


@pytest.mark.parametrize("who", PAGES)
def test_pages(filled, who):
    text, rows = PAGES[who]
    result = filled.batch(text)
    assert result.error is None, result
    assert result.rows == rows


BLANKS = ("type = 'P'", "type = 'P '", "type = N'P  '", "type IN ('P', 'X')", "'p' = type", "type NOT IN ('V', 'S') AND type < 'Q'", "CASE type WHEN 'P' THEN 1 END = 1",
          "type LIKE 'P'", "type BETWEEN 'P' AND 'P'", "type = (SELECT 'P')", "NULLIF(type, 'P') IS NULL", "type = RTRIM(type) AND type > 'O' AND type <= 'P'")


@pytest.mark.parametrize("where", BLANKS)
def test_blanks_at_the_end_do_not_count(server, where):
    with open_path("wire", server, "StateService") as db:
        assert db.batch(f"SELECT COUNT(*) FROM sys.procedures WHERE {where}").rows == [(8,)]
        assert db.batch(f"DECLARE @p nvarchar(9) = 'P' SELECT COUNT(*) FROM sys.procedures WHERE type = @p AND {where}").rows == [(8,)]


def test_blanks_at_the_end_do_not_count_in_the_data(filled):
    assert filled.batch("SELECT JobId FROM dbo.Jobs WHERE Name = 'two  '").rows == [(2,)]
    assert filled.batch("SELECT a.JobId FROM dbo.Jobs a JOIN dbo.Jobs b ON a.Name = b.Name + ' ' ORDER BY 1").rows == [(1,), (2,)]
    assert filled.batch("SELECT COUNT(*) FROM (SELECT Name FROM dbo.Jobs WHERE JobId < 3 UNION SELECT Name + '  ' FROM dbo.Jobs WHERE JobId < 3) t").rows == [(2,)]
    assert filled.batch("SELECT JobId FROM dbo.Jobs WHERE Name = 'TWO'").rows == [], "case counts, as the procedures have it"


def test_views_of_another_database(server, filled):
    name = filled.batch("SELECT DB_NAME()").rows[0][0]
    with open_path("wire", server, "StateService") as db:
        assert db.batch(f"SELECT JobId, Name FROM {name}.dbo.Jobs ORDER BY 1").rows == [(1, "one"), (2, "two"), (3, None)]
        assert db.batch(f"SELECT COUNT(*) FROM [{name}]..Items").rows == [(6,)]
        assert db.batch(f"SELECT COUNT(*) FROM {name}.sys.all_objects WHERE name = 'proc_AddJob' AND type = 'P'").rows == [(1,)]
        assert db.batch("SELECT COUNT(*) FROM sys.all_objects WHERE name = 'proc_AddJob'").rows == [(0,)]
        assert db.batch(f"SELECT Id FROM dbo.Items, {name}.dbo.Jobs").error == 50008
        assert db.batch("SELECT * FROM NoSuch.dbo.Jobs").error == 208
        assert db.batch(f"SELECT * FROM {name}.dbo.NoSuch").error == 208
        assert db.batch("SELECT DB_NAME()").rows == [("StateService",)]
    with open_path("wire", server, "StateService", user=new_login(server, "StateService"), password=PASSWORD) as stranger:
        for view in ("dbo.Jobs", "sys.objects"):
            assert stranger.batch(f"SELECT * FROM {name}.{view}").error == 916


def test_views_of_every_service(server):
    for database, views in (("StateService", ("Items",)), ("ScheduledJobs", ("ScheduledJobs", "Runs")), ("WordAutomation", ("Jobs", "Groups", "Items", "Failures")),
                            ("Translation", ("Jobs", "Groups", "Items", "ItemCounts", "Failures"))):
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
