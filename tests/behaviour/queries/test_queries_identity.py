"""Functions that say who asks, where, and what he may: their answers are those of the catalogue views and of the rights that were granted."""
import pytest

from support.calls import create_database, open_path

SECRET = "Secret-12"
LOGINS = {"runner": "execute", "reader": "select", "nobody": None}


@pytest.fixture(scope="module")
def granted(own_server):
    """Logins that may execute, read, or do nothing in StateService, and a database created while the server ran."""
    with open_path("wire", own_server, "master", "StateService") as admin:
        for name, right in LOGINS.items():
            assert admin.batch(f"EXEC procession_login_add @name = '{name}', @password = '{SECRET}'").error is None
            if right:
                assert admin.batch(f"EXEC procession_grant @login = '{name}', @database = 'StateService', @rights = '{right}'").error is None
    create_database(own_server, "Later", "word")
    return own_server


def connect(path, server, login="sa", database="StateService"):
    password = {} if login == "sa" else {"user": login, "password": SECRET}
    return open_path(path, server, database, "StateService", **password)


@pytest.fixture(params=("pymssql", "pytds"))
def db(request, granted):
    with connect(request.param, granted) as path:
        yield path


def value(db, expression):
    result = db.batch("SELECT " + expression)
    assert result.error is None, (expression, result)
    return result.rows[0][0]


def pairs(db, text):
    result = db.batch(text)
    assert result.error is None, (text, result)
    return dict(result.rows)


# databases

def test_databases_have_the_numbers_of_the_view(db):
    known = pairs(db, "SELECT name, database_id FROM sys.databases")
    assert len(known) == 6 and len(set(known.values())) == 6
    assert known == pairs(db, "SELECT name, dbid FROM sys.sysdatabases")
    for name, number in known.items():
        assert value(db, f"DB_ID('{name}')") == number
        assert value(db, f"DB_ID(N'{name.upper()}')") == number
        assert value(db, f"DB_NAME({number})") == name
    assert value(db, "DB_ID()") == known["StateService"] and value(db, "DB_NAME()") == "StateService"
    assert [value(db, e) for e in ("DB_ID('Nothing')", "DB_ID(NULL)", "DB_NAME(999)", "DB_NAME(-1)", "DB_NAME(NULL)")] == [None] * 5


def test_the_numbers_stay_over_a_restart(granted):
    with connect("pytds", granted) as db:
        before = pairs(db, "SELECT name, database_id FROM sys.databases")
    granted.restart()
    with connect("pytds", granted) as db:
        assert {name: value(db, f"DB_ID('{name}')") for name in before} == before


def test_the_number_follows_use(db):
    known = pairs(db, "SELECT name, database_id FROM sys.databases")
    assert db.batch("USE Later SELECT DB_ID(), DB_NAME()").sets[-1][1] == [(known["Later"], "Later")]
    assert db.batch("USE master SELECT DB_ID(), DB_NAME()").sets[-1][1] == [(1, "master")]
    assert db.batch("USE StateService SELECT DB_ID()").sets[-1][1] == [(known["StateService"],)]


def test_a_database_without_access_has_its_number(granted):
    """As in SQL Server, where everybody may see which databases there are."""
    with connect("pymssql", granted, "nobody", "master") as db:
        known = pairs(db, "SELECT name, database_id FROM sys.databases")
        assert value(db, "DB_ID('StateService')") == known["StateService"]
        assert value(db, "HAS_DBACCESS('StateService')") == 0 and value(db, "HAS_DBACCESS('Nothing')") is None
    with connect("pymssql", granted, "reader") as db:
        assert value(db, "HAS_DBACCESS('StateService')") == 1 and value(db, "HAS_DBACCESS('Later')") == 0


# objects

def test_objects_have_the_numbers_of_the_views(db):
    procedures = pairs(db, "SELECT name, object_id FROM sys.procedures")
    views = pairs(db, "SELECT name, object_id FROM sys.views")
    assert procedures["proc_AddItem"] != procedures["proc_DeleteItem"] and len(views) == 1
    assert {**procedures, **views} == pairs(db, "SELECT name, object_id FROM sys.objects")
    for name, number in procedures.items():
        for form in (name, f"dbo.{name}", f"[dbo].[{name}]", f"StateService.dbo.{name}", f"stateservice..[{name.upper()}]"):
            assert value(db, f"OBJECT_ID('{form}')") == number, form
        assert value(db, f"OBJECT_ID(N'{name}', 'P')") == number and value(db, f"OBJECT_ID('{name}', 'V')") is None
        assert value(db, f"OBJECT_NAME({number})") == name and value(db, f"OBJECT_SCHEMA_NAME({number})") == "dbo"
        assert value(db, f"OBJECTPROPERTY({number}, 'IsProcedure')") == 1 and value(db, f"OBJECTPROPERTY({number}, 'IsView')") == 0
    for name, number in views.items():
        assert value(db, f"OBJECT_ID('{name}')") == value(db, f"OBJECT_ID('dbo.{name}', 'V')") == number
        assert value(db, f"OBJECT_ID('{name}', 'P')") is None and value(db, f"OBJECT_ID('{name}', 'U')") is None
        assert value(db, f"OBJECT_NAME({number})") == name and value(db, f"OBJECTPROPERTY({number}, 'IsView')") == 1


def test_objects_by_names_that_are_put_together_from_columns(db):
    named = "SELECT OBJECT_ID({}) FROM sys.all_objects o JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE o.object_id = {}"
    number = value(db, "OBJECT_ID('Items')")
    for form in ("o.name", "'[' + o.name + ']'", "s.name + '.' + o.name", "'[' + s.name + '].[' + o.name + ']'", "QUOTENAME(s.name) + '.' + o.name",
                 "DB_NAME() + '.' + s.name + '.' + UPPER(o.name)", "DB_NAME() + '..' + o.name", "o.name, 'V'", "o.name, o.type", "o.name + '  '"):
        assert db.batch(named.format(form, number)).rows == [(number,)], form
    for form in ("o.name, 'P'", "'Translation.dbo.' + o.name", "s.name + '.' + o.name + 'x'", "'sys.' + o.name"):
        assert db.batch(named.format(form, number)).rows == [(None,)], form
    who = value(db, "OBJECT_ID('sp_who')")
    assert db.batch(named.format("o.name", who)).rows == db.batch(named.format("s.name + '.' + o.name, 'P'", who)).rows == [(who,)]


def test_objects_of_the_system(db):
    everything = {(name, schema): number for name, number, schema in
                  db.batch("SELECT name, object_id, schema_id FROM sys.all_objects").rows}
    for name, schema, schema_name in (("sp_who", 4, "sys"), ("databases", 4, "sys"), ("TABLES", 3, "INFORMATION_SCHEMA"), ("procession_grant", 1, "dbo")):
        number = everything[name, schema]
        assert value(db, f"OBJECT_ID('{schema_name}.{name}')") == number, name
        assert value(db, f"OBJECT_NAME({number})") == name and value(db, f"OBJECT_SCHEMA_NAME({number})") == schema_name
    assert value(db, "OBJECT_ID('sp_who')") == everything["sp_who", 4]


def test_objects_that_do_not_exist(db):
    for text in ("'proc_Nothing'", "'proc_AddJob'", "'guest.proc_AddItem'", "'Nothing.dbo.proc_AddItem'", "'[proc_AddItem'", "''", "NULL", "'a.b.c.d.e'", "'procession_clean'"):
        assert value(db, f"OBJECT_ID({text})") is None, text
    assert [value(db, e) for e in ("OBJECT_NAME(1)", "OBJECT_NAME(NULL)", "OBJECT_SCHEMA_NAME(1)", "OBJECTPROPERTY(1, 'IsView')")] == [None] * 4


def test_objects_of_another_database(granted, db):
    number = value(db, "OBJECT_ID('Later.dbo.proc_AddJob')")
    assert number is not None and value(db, f"OBJECT_NAME({number})") is None
    assert value(db, f"OBJECT_NAME({number}, DB_ID('Later'))") == "proc_AddJob"
    assert db.batch(f"USE Later SELECT object_id FROM sys.procedures WHERE name = 'proc_AddJob' USE StateService").sets[-1][1] == [(number,)]
    with connect("pytds", granted, "runner") as other:
        assert value(other, "OBJECT_ID('Later.dbo.proc_AddJob')") is None
        assert value(other, f"OBJECT_NAME({number}, DB_ID('Later'))") is None


def test_schemas(db):
    for name, number in pairs(db, "SELECT name, schema_id FROM sys.schemas").items():
        assert value(db, f"SCHEMA_ID('{name}')") == number and value(db, f"SCHEMA_NAME({number})") == name
    assert value(db, "SCHEMA_NAME()") == "dbo" and value(db, "SCHEMA_ID()") == 1
    assert value(db, "SCHEMA_NAME(77)") is None and value(db, "SCHEMA_ID('nothing')") is None


# logins and users

def test_the_administrator(db):
    assert [value(db, f) for f in ("SUSER_SNAME()", "SUSER_NAME()", "SYSTEM_USER", "ORIGINAL_LOGIN()")] == ["sa"] * 4
    assert value(db, "SUSER_ID()") == value(db, "SUSER_ID('SA')") == 1
    assert value(db, "SUSER_SID()") == value(db, "SUSER_SID('sa')") == b"\1"
    assert [value(db, f) for f in ("USER_NAME()", "USER", "CURRENT_USER", "SESSION_USER", "USER_NAME(1)")] == ["dbo"] * 5
    assert value(db, "USER_ID()") == value(db, "USER_ID('dbo')") == value(db, "DATABASE_PRINCIPAL_ID()") == 1
    assert [value(db, f) for f in ("SUSER_ID('nothing')", "SUSER_SID('nothing')", "SUSER_NAME(424242)", "SUSER_SNAME(0x424242)", "USER_NAME(424242)",
                                   "USER_ID('nothing')")] == [None] * 6


def test_every_login_has_its_own_number(granted, db):
    numbers = {name: value(db, f"SUSER_ID('{name}')") for name in LOGINS}
    sids = {name: value(db, f"SUSER_SID('{name}')") for name in LOGINS}
    assert None not in numbers.values() and len(set(numbers.values()) | {1}) == 4
    assert len(set(sids.values())) == 3 and {len(s) for s in sids.values()} == {16}
    for name, number in numbers.items():
        assert value(db, f"SUSER_NAME({number})") == name and value(db, f"SUSER_SNAME(0x{sids[name].hex()})") == name
        with connect("pytds", granted, name, "master") as own:
            assert value(own, "SUSER_ID()") == number and value(own, "SUSER_SID()") == sids[name] and value(own, "SUSER_SNAME()") == name
            assert value(own, f"SUSER_SNAME(0x{sids[name].hex()})") == name and value(own, "SUSER_NAME(1)") == "sa"
            for other in LOGINS:                        # the logins of others are not his business
                if other != name:
                    assert value(own, f"SUSER_ID('{other}')") is None and value(own, f"SUSER_NAME({numbers[other]})") is None


def test_users_of_a_database(granted, db):
    number = value(db, "USER_ID('runner')")
    assert number is not None and value(db, f"USER_NAME({number})") == "runner"
    assert value(db, "USER_ID('nobody')") is None and value(db, "USER_ID('guest')") == 2
    with connect("pymssql", granted, "runner") as own:
        assert value(own, "USER_NAME()") == value(own, "CURRENT_USER") == "runner" and value(own, "USER_ID()") == number
        assert own.batch("USE master SELECT USER_NAME(), USER_ID()").sets[-1][1] == [("guest", 2)]


# roles and permissions

def test_roles(granted, db):
    assert [value(db, f"IS_SRVROLEMEMBER('{r}')") for r in ("sysadmin", "SysAdmin", "dbcreator", "public", "nothing")] == [1, 1, 1, 1, None]
    assert [value(db, f"IS_SRVROLEMEMBER('sysadmin', '{who}')") for who in ("sa", "runner", "nothing")] == [1, 0, None]
    assert [value(db, f"IS_MEMBER('{r}')") for r in ("db_owner", "public", "db_datareader", "nothing")] == [1, 1, 0, None]
    assert [value(db, f"IS_ROLEMEMBER('{r}')") for r in ("db_owner", "public", "nothing")] == [1, 1, None]
    assert [value(db, f"IS_ROLEMEMBER('db_datareader', '{who}')") for who in ("reader", "runner", "nothing")] == [1, 0, None]
    with connect("pymssql", granted, "runner") as own:
        assert [value(own, f"IS_SRVROLEMEMBER('{r}')") for r in ("sysadmin", "dbcreator", "public", "nothing")] == [0, 0, 1, None]
        assert [value(own, f"IS_MEMBER('{r}')") for r in ("db_owner", "public", "db_datareader", "nothing")] == [0, 1, 0, None]
        assert value(own, "IS_SRVROLEMEMBER('sysadmin', 'sa')") is None
    with connect("pytds", granted, "reader") as own:
        assert value(own, "IS_MEMBER('db_datareader')") == 1


PERMISSIONS = {                                         # sa, runner, reader
    "'proc_AddItem', 'OBJECT', 'EXECUTE'": (1, 1, 0),
    "'dbo.proc_AddItem', 'object', 'execute'": (1, 1, 0),
    "'StateService.dbo.proc_AddItem', 'OBJECT', 'EXECUTE'": (1, 1, 0),
    "'proc_AddItem', 'OBJECT', 'ANY'": (1, 1, 1),
    "'sp_who', 'OBJECT', 'EXECUTE'": (1, 1, 1),
    "'procession_grant', 'OBJECT', 'EXECUTE'": (1, 0, 0),
    "'dbo.Items', 'OBJECT', 'SELECT'": (1, 0, 1),
    "'dbo.Items', 'OBJECT', 'INSERT'": (0, 0, 0),
    "'sys.databases', 'OBJECT', 'SELECT'": (1, 1, 1),
    "'proc_Nothing', 'OBJECT', 'EXECUTE'": (None, None, None),
    "'proc_AddItem', 'OBJECT', 'FLY'": (None, None, None),
    "'proc_AddItem', 'NOTHING', 'EXECUTE'": (None, None, None),
    "DB_NAME(), 'DATABASE', 'EXECUTE'": (1, 1, 0),
    "DB_NAME(), 'DATABASE', 'SELECT'": (1, 0, 1),
    "NULL, 'DATABASE', 'CONNECT'": (1, 1, 1),
    "DB_NAME(), 'DATABASE', 'CONTROL'": (1, 0, 0),
    "'Later', 'DATABASE', 'ANY'": (1, 0, 0),
    "'Nothing', 'DATABASE', 'ANY'": (None, None, None),
    "'dbo', 'SCHEMA', 'EXECUTE'": (1, 1, 0),
    "NULL, NULL, 'VIEW SERVER STATE'": (1, 0, 0),
    "NULL, NULL, 'CONTROL SERVER'": (1, 0, 0),
    "NULL, NULL, 'VIEW ANY DATABASE'": (1, 1, 1),
    "NULL, NULL, 'CONNECT SQL'": (1, 1, 1),
    "NULL, NULL, 'FLY'": (None, None, None),
}


def test_permissions_are_those_that_hold(granted):
    for i, login in enumerate(("sa", "runner", "reader")):
        with connect("pymssql", granted, login) as own:
            found = {text: value(own, f"HAS_PERMS_BY_NAME({text})") for text in PERMISSIONS}
            assert found == {text: expected[i] for text, expected in PERMISSIONS.items()}, login


def test_permissions_tell_what_happens(granted):
    """What the function promises is what a call meets."""
    for login in ("runner", "reader"):
        with connect("wire", granted, login) as own:
            executes = own.call("proc_DeleteExpiredItems").error is None
            reads = own.batch("SELECT * FROM dbo.Items").error is None
            assert value(own, "HAS_PERMS_BY_NAME('proc_DeleteExpiredItems', 'OBJECT', 'EXECUTE')") == int(executes)
            assert value(own, "HAS_PERMS_BY_NAME('dbo.Items', 'OBJECT', 'SELECT')") == int(reads)
            assert executes == (login == "runner") and reads == (login == "reader")


def test_a_grant_is_seen_at_once(granted):
    with connect("wire", granted) as admin, connect("pytds", granted, "nobody", "master") as own:
        question = "HAS_PERMS_BY_NAME('Later.dbo.proc_AddJob', 'OBJECT', 'EXECUTE')"
        assert value(own, question) is None
        assert admin.batch("EXEC procession_grant @login = 'nobody', @database = 'Later', @rights = 'execute'").error is None
        assert value(own, question) == 1
        assert admin.batch("EXEC procession_grant @login = 'nobody', @database = 'Later', @rights = 'none'").error is None
        assert value(own, question) is None


# properties

def test_database_properties(db):
    text = "CAST(DATABASEPROPERTYEX('{}', '{}') AS nvarchar(128))"
    columns = db.batch("SELECT collation_name, state_desc, user_access_desc, recovery_model_desc FROM sys.databases WHERE name = 'Later'").rows[0]
    assert tuple(value(db, text.format("Later", p)) for p in ("Collation", "Status", "UserAccess", "Recovery")) == columns
    assert value(db, text.format("later", "updateability")) == "READ_WRITE"
    assert [value(db, text.format(*p)) for p in (("Nothing", "Status"), ("Later", "Nothing"))] == [None, None]
    assert [value(db, f"DATABASEPROPERTY({p})") for p in ("'Later', 'IsReadOnly'", "'Later', 'IsOffline'", "'Later', 'Nothing'", "'Nothing', 'IsReadOnly'")] \
        == [0, 0, None, None]


def test_server_properties(granted, db):
    text = "CAST(SERVERPROPERTY('{}') AS nvarchar(128))"
    version = value(db, text.format("ProductVersion"))
    assert [value(db, text.format(p)) for p in ("ProductMajorVersion", "ProductMinorVersion", "ProductBuild")] == version.split(".")[:3]
    assert value(db, "@@MICROSOFTVERSION") == int(version.split(".")[0]) << 24 | int(version.split(".")[2])
    assert value(db, text.format("ServerName")) == value(db, "@@SERVERNAME")
    assert value(db, "CAST(SERVERPROPERTY('ProcessID') AS int)") == granted.process.pid
    assert [value(db, text.format(p)) for p in ("InstanceName", "Nothing")] == [None, None]


def test_session_properties(granted):
    with connect("pytds", granted) as db:
        for option in ("ANSI_NULLS", "ANSI_WARNINGS", "ARITHABORT", "QUOTED_IDENTIFIER"):
            for state in ("ON", "OFF"):
                result = db.batch(f"SET {option} {state} SELECT CAST(SESSIONPROPERTY('{option}') AS int)")
                assert result.sets[-1][1] == [(int(state == "ON"),)], (option, state)
        assert value(db, "SESSIONPROPERTY('Nothing')") is None
        assert value(db, "CAST(CONNECTIONPROPERTY('auth_scheme') AS nvarchar(40))") == "SQL"


def test_context_info_is_kept(db):
    """SET CONTEXT_INFO: 128 bytes of the session's own, filled up with zeros."""
    assert value(db, "CONTEXT_INFO()") is None
    assert db.batch("SET CONTEXT_INFO 0x0102AB SELECT CONTEXT_INFO()").sets[-1][1] == [(b"\x01\x02\xab".ljust(128, b"\0"),)]
    assert db.batch("DECLARE @c varbinary(128) SET @c = CAST('me' AS varbinary(128)) SET CONTEXT_INFO @c").error is None
    assert value(db, "CAST(LEFT(CAST(CONTEXT_INFO() AS varchar(128)), 2) AS varchar(2))") == "me"
    assert db.batch("SET CONTEXT_INFO NULL").error is not None
    assert value(db, "DATALENGTH(CONTEXT_INFO())") == 128


def test_nesting(db):
    for text, level in (("SELECT @@NESTLEVEL", 0), ("EXEC('SELECT @@NESTLEVEL')", 1), ("EXEC sp_executesql N'SELECT @@NESTLEVEL'", 2),
                        ("EXEC('EXEC(''SELECT @@NESTLEVEL'')')", 2)):
        assert db.batch(text).rows == [(level,)], text


def test_connections_are_counted(granted):
    with connect("pytds", granted) as db:
        before = value(db, "@@CONNECTIONS")
        for _ in range(3):
            connect("wire", granted).close()
        assert value(db, "@@CONNECTIONS") == before + 3


def test_functions_that_are_not_known(db):
    assert db.batch("SELECT NOTHING(1)").error == 195


def test_definitions(db):
    """Of a name, and of all objects, as sys.sql_modules shows them."""
    for name in ("proc_AddItem", "Items", "sys.views", "sp_tables"):
        both = db.batch(f"SELECT OBJECT_DEFINITION(OBJECT_ID('{name}')), (SELECT definition FROM sys.all_sql_modules WHERE object_id = OBJECT_ID('{name}'))").rows
        assert both[0][0] == both[0][1] and len(both[0][0]) > 20, name
    assert db.batch("SELECT OBJECT_DEFINITION(1), OBJECT_DEFINITION(NULL)").rows == [(None, None)]
    rows = db.batch("SELECT o.name, OBJECT_DEFINITION(o.object_id), m.definition FROM sys.objects o JOIN sys.sql_modules m ON m.object_id = o.object_id").rows
    assert len(rows) > 8 and all(text == shown for _, text, shown in rows)


# the same of columns

def test_names_and_numbers_of_columns(db):
    """The questions that tools ask of the catalogue, row by row."""
    for text, plain in (
            ("SELECT DB_NAME(database_id) FROM sys.databases ORDER BY database_id", "SELECT name FROM sys.databases ORDER BY database_id"),
            ("SELECT DB_ID(name) FROM sys.databases ORDER BY name", "SELECT database_id FROM sys.databases ORDER BY name"),
            ("SELECT OBJECT_NAME(object_id) FROM sys.all_objects ORDER BY object_id", "SELECT name FROM sys.all_objects ORDER BY object_id"),
            ("SELECT SCHEMA_NAME(schema_id) FROM sys.schemas ORDER BY schema_id", "SELECT name FROM sys.schemas ORDER BY schema_id"),
            ("SELECT SCHEMA_ID(name) FROM sys.schemas ORDER BY schema_id", "SELECT schema_id FROM sys.schemas ORDER BY schema_id"),
            ("SELECT OBJECT_SCHEMA_NAME(o.object_id) FROM sys.all_objects o ORDER BY o.object_id",
             "SELECT s.name FROM sys.all_objects o JOIN sys.schemas s ON s.schema_id = o.schema_id ORDER BY o.object_id")):
        rows = db.batch(text).rows
        assert rows and rows == db.batch(plain).rows, text
    assert db.batch("SELECT name FROM sys.procedures WHERE SCHEMA_NAME(schema_id) = 'DBO' AND OBJECT_NAME(object_id) = 'proc_additem'").rows == [("proc_AddItem",)]
    assert db.batch("SELECT TOP 1 OBJECT_NAME(schema_id), DB_NAME(object_id), SCHEMA_NAME(object_id) FROM sys.procedures").rows == [(None, None, None)]
    assert db.batch("SELECT name FROM sys.procedures WHERE object_id = OBJECT_ID('proc_AddItem')").rows == [("proc_AddItem",)]


# system procedures of another database

PROCEDURES = {"StateService": "proc_AddItem", "WordAutomation": "proc_GetJobs", "Translation": "proc_GetItemCount", "ScheduledJobs": "proc_MIP_GetScheduledJobs"}
VIEWS = {"StateService": "Items", "WordAutomation": "Jobs", "Translation": "ItemCounts", "ScheduledJobs": "ScheduledJobs"}


@pytest.mark.parametrize("path", ("wire", "pytds", "pymssql"))
@pytest.mark.parametrize("other", PROCEDURES)
def test_a_system_procedure_answers_for_the_database_that_its_name_says(granted, other, path):
    """EXEC Other..sp_tables asks about Other, wherever the session stands; also by RPC, with and without the owner and brackets."""
    with connect(path, granted) as db:
        def rows(text, qualified=other):
            result = db.batch(text)
            assert result.error is None and result.rows, (text, result)
            assert {row[0] for row in result.rows} == {qualified}, text
            return result.rows

        for prefix in (f"{other}..", f"[{other}].dbo.", f"{other.upper()}.sys."):
            names = {row[2].split(";")[0] for row in rows(f"EXEC {prefix}sp_stored_procedures")}
            assert PROCEDURES[other] in names and (other == "StateService" or "proc_AddItem" not in names)
            assert VIEWS[other] in {row[2] for row in rows(f"EXEC {prefix}sp_tables @table_type = \"'VIEW'\"")}
            assert rows(f"EXEC {prefix}sp_columns @table_name = '{VIEWS[other]}'")
            assert rows(f"EXEC {prefix}sp_tables @table_qualifier = '{other}'")
        rows(f"EXEC {other}..sp_sproc_columns @procedure_name = '{PROCEDURES[other]}'")
        assert "StateService" in {row[0] for row in db.batch("EXEC sp_stored_procedures").rows}      # nothing has moved
        assert value(db, "DB_NAME()") == "StateService"
        if other != "StateService":
            assert db.batch(f"EXEC {other}..sp_tables @table_qualifier = 'StateService'").error is not None


def test_a_system_procedure_of_a_database_without_access(granted):
    with connect("wire", granted, "runner") as db:
        assert db.batch("EXEC WordAutomation..sp_stored_procedures").error == 916
        assert db.batch("EXEC NoSuch..sp_stored_procedures").error is not None
        assert db.batch("EXEC StateService..sp_stored_procedures").rows
