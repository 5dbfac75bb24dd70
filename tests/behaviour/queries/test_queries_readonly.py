"""Reading is all that SELECT can do: nothing in a batch reaches the tables, the store's own language or another file."""
import pytest

from support.calls import open_path

CHANGES = ("INSERT INTO dbo.Items VALUES ('a', 0, 1, NULL, 1, '2030-01-01', 1)", "INSERT INTO Items (Id) SELECT 'x'", "UPDATE dbo.Items SET LockCookie = 9",
           "DELETE FROM dbo.Items", "DELETE dbo.Items", "TRUNCATE TABLE dbo.Items", "DROP TABLE dbo.Items", "DROP VIEW dbo.Items", "CREATE TABLE x (a int)",
           "ALTER TABLE dbo.Items ADD x int", "MERGE dbo.Items USING dbo.Items ON 1 = 1 WHEN MATCHED THEN DELETE", "SELECT * INTO copy FROM dbo.Items",
           "DROP DATABASE StateService", "CREATE DATABASE other", "CREATE PROCEDURE p AS SELECT 1", "DROP PROCEDURE proc_AddItem", "REPLACE INTO Items VALUES (1)",
           "WITH x AS (SELECT 1 AS a) DELETE FROM dbo.Items", "BULK INSERT dbo.Items FROM 'x'", "BACKUP DATABASE StateService TO DISK = 'x'")
STORE = ("PRAGMA table_info(item)", "PRAGMA journal_mode = DELETE", "ATTACH 'x.db' AS x", "ATTACH DATABASE '/etc/passwd' AS x", "VACUUM", "VACUUM INTO '/tmp/x'", "REINDEX",
         "SELECT * FROM sqlite_master", "SELECT * FROM sqlite_schema", "SELECT * FROM main.sqlite_master", "SELECT * FROM dbo.sqlite_master", "SELECT * FROM item", "SELECT * FROM main.item",
         "SELECT * FROM body", "SELECT * FROM pragma_table_info('item')", "SELECT name FROM pragma_database_list", "SELECT * FROM [sqlite_master]", "SELECT * FROM \"sqlite_master\"",
         "SELECT * FROM temp.sqlite_temp_master", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('/tmp/x', 'y')", "SELECT sqlite_version()",
         "SELECT rowid FROM dbo.Items", "SELECT * FROM dbo.Items; PRAGMA user_version = 5", "SELECT Id FROM dbo.Items UNION ALL SELECT name FROM sqlite_master",
         "SELECT (SELECT name FROM sqlite_master LIMIT 1)", "SELECT randomblob(1000000000)", "SELECT zeroblob(2000000000)", "EXPLAIN SELECT 1", "SELECT * FROM json_each('[1]')",
         "SELECT * FROM generate_series(1, 10)", "SELECT * FROM OPENROWSET(BULK 'x', SINGLE_BLOB) y", "EXEC xp_cmdshell 'id'", "SELECT * FROM StateService.sys.sqlite_master",
         "SELECT * FROM login", "SELECT * FROM master.dbo.login", "SELECT * FROM system.login")


@pytest.fixture
def witness(db, key):
    """One row, of this test: the others of the shared server expire and are renewed while it runs."""
    assert db.call("proc_AddItem", id=key, item=b"data", timeout=20).status == 0
    row = f"SELECT * FROM dbo.Items WHERE Id = '{key}'"
    before = db.batch(row).rows
    assert len(before) == 1
    yield before
    assert db.batch(row).rows == before
    assert db.call("proc_GetItemWithoutLock", id=key).out["item"] == b"data"


@pytest.mark.parametrize("text", CHANGES)
def test_nothing_can_be_changed(db, witness, text):
    result = db.batch(text)
    assert result.errors and result.errors[0][1] > 10, result
    assert not result.sets


@pytest.mark.parametrize("text", STORE)
def test_the_store_is_out_of_reach(db, witness, text):
    result = db.batch(text)
    assert result.errors, result
    for _, rows in result.sets:         # a first statement may have been all right
        assert not any("CREATE" in str(value) or "root:" in str(value) for row in rows for value in row)


@pytest.mark.parametrize("path", ("pytds", "wire"))
def test_through_parameters_and_prepared_texts(server, witness, path):
    with open_path(path, server, "StateService") as db:
        for text in ("EXEC('DELETE FROM dbo.Items')", "EXEC sp_executesql N'DROP TABLE Items'", "EXEC sp_executesql N'SELECT * FROM sqlite_master'"):
            assert db.batch(text).errors, text
        strings = ("'; DELETE FROM item; --", "' UNION SELECT sql FROM sqlite_master --")
        for text in strings:
            quoted = text.replace("'", "''")
            assert db.batch(f"SELECT COUNT(*) FROM dbo.Items WHERE Id = '{quoted}'").rows == [(0,)]
            assert db.batch(f"SELECT '{quoted}' AS [x'; DROP]").rows == [(text,)]


def test_views_hide_what_is_not_granted(server, db, key):
    """A login without rights on a database reads nothing of it, by whatever name it asks."""
    from support import wiretypes as t
    from support.wire import Param, ServerError, Wire
    name = "reader" + key[2:10]
    with Wire(server).login(database="master") as admin:
        admin.rpc("procession_login_add", [Param(t.nvarchar(name), "@name"), Param(t.nvarchar("Secret-12"), "@password")]).ok()
    with pytest.raises(ServerError) as e:
        Wire(server).login(user=name, password="Secret-12", database="StateService")
    assert e.value.number in (4060, 916)
    with Wire(server).login(user=name, password="Secret-12", database="") as w:
        for text in ("SELECT * FROM StateService.dbo.Items", "USE StateService SELECT * FROM dbo.Items", "EXEC StateService.dbo.proc_DeleteExpiredItems"):
            assert w.batch(text).errors, text
