"""Table variables, as mssql-jdbc uses them for getColumns(), getImportedKeys() and getIndexInfo(): DECLARE @t TABLE, INSERT @t EXEC, SELECT … FROM @t."""
import uuid

import pytest

from support import wire as tds
from support import wiretypes as t
from support.calls import create_database, open_path
from support.logins import PASSWORD, new_login
from support.wire import Param, Wire

DATABASES = "DECLARE @t TABLE (name sysname, size int NULL, remarks varchar(254)) INSERT INTO @t EXEC sp_databases "
TEXTS = ("plain", "it's \"quoted\" \\ and / [1]", "nul\0inside", "tab\tline\nfeed \x01\x1f\x7f", "  blanks  ", "Über 😀 €", "lone \ud83d high", "")


def test_rows_of_a_procedure_under_other_names(db):
    direct = [tuple(row) for row in db.batch("EXEC sp_databases").rows]
    answer = db.wire.batch(DATABASES + "SELECT name AS TABLE_CAT, CAST(size AS bigint) AS size, remarks, 1 AS one FROM @t ORDER BY TABLE_CAT").ok()
    assert [c.name for c in answer.columns] == ["TABLE_CAT", "size", "remarks", "one"]
    assert [bool(c.flags & 1) for c in answer.columns][:3] == [False, True, True], "sysname is NOT NULL, others may be"
    assert [tuple(row[:3]) for row in answer.rows] == sorted(direct, key=lambda row: row[0].lower()) and len(direct) > 4


def test_it_is_a_source_like_others(db):
    def rows(text):
        answer = db.batch(DATABASES + text)
        assert answer.error is None, answer
        return answer.rows
    names = [row[0] for row in db.batch("SELECT name FROM sys.databases ORDER BY name").rows]
    assert rows("SELECT d.name FROM @t AS d JOIN sys.databases s ON s.name = d.name COLLATE database_default ORDER BY d.name") == [(n,) for n in names]
    assert rows("SELECT a.name FROM @t a LEFT JOIN @t b ON b.name = a.name + 'x' WHERE b.name IS NULL AND a.NAME = 'stateservice'") == [("StateService",)]
    assert rows("SELECT COUNT(*), MAX(name) FROM @t WHERE name LIKE 'WordAutom%n'") == [(1, "WordAutomation")]
    assert rows("SELECT name FROM @t WHERE name = 'master' UNION ALL SELECT name FROM sys.databases WHERE name = 'Translation' ORDER BY name") == [("master",), ("Translation",)]
    assert rows("DECLARE @n int SELECT @n = COUNT(*) FROM @t IF EXISTS (SELECT * FROM @t) SELECT @n, (SELECT TOP 1 name FROM @t ORDER BY name)") == [(len(names), names[0])]
    assert rows("INSERT @t EXEC sp_databases SELECT COUNT(*) FROM @t") == [(2 * len(names),)], "it gets more"
    assert rows("SELECT COUNT(*) FROM @t, dbo.Items WHERE 1 = 0") == [(0,)], "with a view of the service"
    assert db.batch("DECLARE @t TABLE (a int) SELECT a, COUNT(*) FROM @t GROUP BY a").rows == []


def test_the_insert_has_a_done_with_the_count(db):
    answer = db.wire.batch(DATABASES).ok()
    assert answer.kinds == ["done"] and answer.last.status & tds.COUNT and answer.last.command == 0xC3
    assert db.wire.batch(DATABASES + "SELECT @@ROWCOUNT").ok().value == answer.last.count > 4
    assert db.wire.batch("DECLARE @r int DECLARE @t TABLE (a sysname, b int, c varchar(9)) INSERT @t EXEC @r = sp_databases SELECT @r").ok().value == 0
    assert db.wire.executesql(DATABASES).ok().kinds[0] == "doneinproc"
    assert db.wire.executesql("SET NOCOUNT ON " + DATABASES + "SELECT COUNT(*) AS n FROM @t").ok().rows == [[answer.last.count]]


def test_any_text_comes_back_as_it_is(server):
    name = "Tables" + uuid.uuid4().hex[:8]
    create_database(server, name, "word")
    xml = '<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"><item id="1" in="a"/></group>'
    with open_path("wire", server, name, "WordAutomation") as db:
        assert db.call("proc_AddJob", JobId=1, Settings="<s/>").status == 0
        for group, text in enumerate(TEXTS):
            assert db.call("proc_AddGroup", JobId=1, GroupId=group, InputRoot=text, MaxAttemptsCount=1, JobXml=xml).status == 0
        columns = "GroupId smallint, InputRoot nvarchar(max), OutputRoot nvarchar(5), CreateTime nvarchar(30), CancelTime varchar(30), Submitted bit, Settings char(6)"
        answer = db.batch(f"DECLARE @t TABLE ({columns}) INSERT @t EXEC proc_GetGroups 1 SELECT GroupId, InputRoot, OutputRoot, Submitted, Settings FROM @t ORDER BY 1")
        assert answer.error is None and answer.rows == [(group, text, None, False, "<s/>  ") for group, text in enumerate(TEXTS)]
        narrow = columns.replace("nvarchar(max)", "nvarchar(4)")
        answer = db.batch(f"DECLARE @t TABLE ({narrow}) INSERT @t EXEC proc_GetGroups 1 SELECT COUNT(*) FROM @t")
        assert answer.error == 8152 and answer.rows == [(0,)], "nothing of it stays, and the batch goes on"


@pytest.mark.parametrize("text, number", (
    ("SELECT * FROM @t", 1087), ("INSERT @t EXEC sp_databases", 1087), ("DECLARE @t int INSERT @t EXEC sp_databases", 1087), ("DECLARE @t int SELECT * FROM @t", 1087),
    ("DECLARE @t TABLE (a int) SELECT @t", 137), ("DECLARE @t TABLE (a int) EXEC sp_databases @t", 137), ("DECLARE @t TABLE (a int), @t TABLE (a int)", 134),
    ("DECLARE @t TABLE (a int, A int)", 2705), ("DECLARE @t TABLE (a int) SELECT b FROM @t", 207), ("DECLARE @t TABLE (a nothing)", 2715),
    ("DECLARE @t TABLE (a sysname, b int) INSERT @t EXEC sp_databases", 213), ("DECLARE @t TABLE (a int, b int, c int) INSERT @t EXEC sp_databases", 8114),
    ("DECLARE @t TABLE (a sysname, b int, c varchar(254) NOT NULL) INSERT @t EXEC sp_databases", 515), ("DECLARE @t TABLE (a int) INSERT @t EXEC sp_nothing", 2812),
    ("DECLARE @t TABLE (a int PRIMARY KEY)", 50008), ("DECLARE @t TABLE (a int IDENTITY)", 50008), ("DECLARE @t TABLE (a varbinary(9))", 50008), ("DECLARE @t TABLE (a xml)", 50008),
    ("DECLARE @t TABLE (a int) INSERT @t VALUES (1)", 50008), ("DECLARE @t TABLE (a int) INSERT @t (a) EXEC sp_databases", 50008),
    ("DECLARE @t TABLE (a int) INSERT @t EXEC ('SELECT 1')", 50008), ("DECLARE @t TABLE (a int) INSERT @t EXEC sp_executesql N'SELECT 1'", 50008),
    ("DECLARE @t TABLE (a int) INSERT INTO t EXEC sp_databases", 50008), ("DECLARE @t TABLE (" + ", ".join(f"c{i} int" for i in range(257)) + ")", 50008),
))
def test_what_cannot_be(db, text, number):
    answer = db.batch(text)
    assert answer.error == number, answer
    assert db.batch(DATABASES + "SELECT COUNT(*) FROM @t").error is None


def test_an_error_leaves_what_was_there(db):
    answer = db.batch(DATABASES + "INSERT @t EXEC sp_tables SELECT COUNT(*) AS n FROM @t WHERE name = 'master' SELECT @@ERROR AS n")
    assert answer.error == 213 and answer.rows == [(1,)]


def test_prepared_and_described(server):
    """Nothing is run, and the columns are those of the SELECT; the parameters of the EXEC are found out too."""
    text = "DECLARE @t TABLE (a sysname, b sysname, c sysname, d varchar(32), e varchar(254)); INSERT INTO @t EXEC sp_tables @P0; SELECT c AS name FROM @t ORDER BY name"
    with Wire(server).login() as w:
        answer = w.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar("@P0 nvarchar(99)")), Param(t.nvarchar(text)), Param(t.int_(1))]).ok()
        assert [c.name for c in answer.columns] == ["name"]
        for name in ("Items", "databases"):
            assert w.rpc(12, [Param(t.int_(answer.outputs[0])), Param(t.nvarchar(name))]).ok().rows == [[name]]
        assert w.batch("SET FMTONLY ON " + text.replace("@P0", "N'Items'") + " SET FMTONLY OFF").ok().columns[0].name == "name"
        found = w.rpc("sp_describe_undeclared_parameters", [Param(t.nvarchar(text))]).ok().rows
        assert [row[1] for row in found] == ["@P0"]
        assert w.batch("SELECT 1").value == 1


def test_rights_are_those_of_the_procedure(server):
    text = "DECLARE @t TABLE (a int, b varchar(max), c varchar(max), d varchar(30), e varchar(30), f bit, g varchar(max)) INSERT @t EXEC WordAutomation..proc_GetGroups 1 SELECT COUNT(*) FROM @t"
    with Wire(server).login(new_login(server, "WordAutomation", "select"), PASSWORD, database="master") as clerk:
        assert clerk.batch(text).numbers[0] == 229
    with Wire(server).login(new_login(server, "WordAutomation", "execute"), PASSWORD, database="master") as clerk:
        assert clerk.batch(text).ok().rows[0][0] >= 0
