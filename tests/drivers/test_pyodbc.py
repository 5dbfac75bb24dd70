"""pyodbc over FreeTDS' ODBC driver."""
import os
import threading
import time

import pyodbc
import pytest

feature = lambda name: pytest.mark.feature("pyodbc", name)    # noqa: E731


@pytest.fixture(params=("7.1", "7.2", "7.3", "7.4"))
def version(request):
    return request.param


@pytest.fixture(autouse=True)
def freetds(env):
    os.environ["FREETDSCONF"] = str(env.freetds_conf())


def connect(env, version="7.4", autocommit=True, server=None, encryption="off", **options):
    server = server or env.server
    options = {"UID": "sa", "PWD": env.password, "DATABASE": "StateService", **options}
    text = f"DRIVER=FreeTDS;SERVER={server.host};PORT={server.port};TDS_Version={version};Encryption={encryption};ClientCharset=UTF-8;"
    return pyodbc.connect(text + "".join(f"{k}={v};" for k, v in options.items()), autocommit=autocommit, timeout=15)


GET = ("declare @i varbinary(max), @l bit, @a int, @c int; exec proc_GetItemWithoutLock ?, @i output, @l output, @a output, @c output; "
       "select @i as item, @l as locked, @c as cookie")


def get(cur, key):
    cur.execute(GET, key)
    while cur.description is None:
        assert cur.nextset()
    return tuple(cur.fetchone())


@feature("connect")
def test_connects_without_tls(env, version):
    with connect(env, version) as conn:
        assert tuple(conn.execute("select db_name(), 1, null, N'ü€'").fetchone()) == ("StateService", 1, None, "ü€")


@feature("tls")
@pytest.mark.parametrize("mode", ("request", "require"))
def test_connects_with_tls(env, version, mode):
    with connect(env, version, server=env.server if mode == "request" else env.tls_server, encryption=mode) as conn:
        assert conn.execute("select 1").fetchone()[0] == 1


@feature("wrong_password")
def test_wrong_password(env, version):
    with pytest.raises(pyodbc.Error) as e:
        connect(env, version, UID="nobody", PWD="wrong")
    assert "18456" in str(e.value) and "Login failed for user 'nobody'" in str(e.value)


@feature("missing_database")
def test_missing_database(env, version):
    with pytest.raises(pyodbc.Error) as e:
        connect(env, version, DATABASE="Nowhere")
    assert "18456" in str(e.value)


@feature("rpc_results")
def test_result_set_of_a_procedure(env, version):
    with connect(env, version) as conn:
        assert any(row[2].startswith("proc_AddItem") for row in conn.execute("{call sp_stored_procedures}").fetchall())


@feature("batch")
def test_batch(env, version):
    key = env.key()
    with connect(env, version) as conn:
        cur = conn.cursor()
        cur.execute(f"exec proc_AddItem @id = '{key}', @item = 0x0102, @timeout = 20")
        cur.execute(GET.replace("?", f"'{key}'"))
        while cur.description is None:
            assert cur.nextset()
        assert [d[0] for d in cur.description] == ["item", "locked", "cookie"] and tuple(cur.fetchone()) == (b"\1\2", False, 1)


@feature("prepared")
def test_prepared(env, version):
    with connect(env, version) as conn:
        cur = conn.cursor()
        keys = [env.key() for _ in range(3)]
        for key in keys:
            cur.execute("{call proc_AddItem (?, ?, ?)}", key, key.encode(), 20)
        for key in keys:
            assert get(cur, key) == (key.encode(), False, 1)


@feature("values")
def test_values(env, version):
    with connect(env, version) as conn:
        cur = conn.cursor()
        for size in (1, 8000, 8001, 1 << 20):
            key, data = env.key(), os.urandom(size)
            cur.execute("exec proc_AddItem ?, ?, ?", key, data, 20)     # FreeTDS fails by itself on {call} with more than 8000 bytes
            assert get(cur, key)[0] == data
        cur.execute("{call proc_AddItem (?, ?, ?)}", env.key("ünïcode"), None, 20)
        assert tuple(cur.execute("select ?, ?", "żółw " * 300, None).fetchone()) == ("żółw " * 300, None)


@feature("values")
def test_32_mib(env):
    key, data = env.key(), bytes(range(256)) * (1 << 17)
    with connect(env) as conn:
        cur = conn.cursor()
        cur.execute("exec proc_AddItem ?, ?, ?", key, data, 20)
        assert get(cur, key)[0] == data


@feature("status")
def test_return_status(env, version):
    with connect(env, version) as conn:
        cur = conn.cursor()
        cur.execute("declare @rc int; exec @rc = proc_RefreshItemExpiration ?; select @rc as rc", env.key())
        while cur.description is None:
            assert cur.nextset()
        assert cur.fetchone()[0] == 0


@feature("errors")
def test_error_numbers(env, version):
    key = env.key()
    with connect(env, version) as conn:
        cur = conn.cursor()
        cur.execute("{call proc_AddItem (?, ?, ?)}", key, b"x", 20)
        for number, text, args in ((2627, "{call proc_AddItem (?, ?, ?)}", (key, b"x", 20)), (201, "{call proc_AddItem (?)}", (key,)), (2812, "{call proc_Nothing}", ()),
                                   (2627, f"exec proc_AddItem '{key}', null, 20", ())):
            with pytest.raises(pyodbc.Error) as e:
                cur.execute(text, *args)
            assert f"({number})" in str(e.value), e.value
        assert cur.execute("select 1").fetchone()[0] == 1


@feature("transactions")
def test_transactions(env, version):
    with connect(env, version, autocommit=False) as conn, connect(env, version) as other:
        cur, look = conn.cursor(), other.cursor()
        for end, there in ((conn.rollback, False), (conn.commit, True)):
            key = env.key()
            cur.execute("{call proc_AddItem (?, ?, ?)}", key, b"x", 20)
            assert get(cur, key)[1] is False
            end()
            assert (get(look, key)[1] is not None) == there
        conn.rollback()


@feature("cancel")
def test_cancel(env):
    with connect(env) as conn:
        cur = conn.cursor()
        threading.Timer(0.5, cur.cancel).start()
        start = time.monotonic()
        with pytest.raises(pyodbc.Error):
            cur.execute("waitfor delay '00:00:20'")
        assert time.monotonic() - start < 10
        assert cur.execute("select 7").fetchone()[0] == 7


@feature("metadata")
def test_metadata(env, version):
    with connect(env, version) as conn:
        cur = conn.cursor()
        names = [row.procedure_name for row in cur.procedures().fetchall()]
        assert sum(name.startswith("proc_") for name in names) >= 8
        rows = cur.procedureColumns(procedure="proc_GetItemWithLock").fetchall()
        assert [row.column_name for row in rows] == ["@RETURN_VALUE", "@id", "@item", "@locked", "@lockAgeInSeconds", "@lockCookie"]


def test_what_is_in_dbo_is_the_databases_own(env):
    """A system view is found as dbo.sysobjects, too; no list shows it there."""
    with connect(env) as conn:
        assert [row.table_name for row in conn.cursor().tables(schema="dbo")] == ["Items"]
        assert "sysobjects" in [row.table_name for row in conn.cursor().tables(schema="sys")]
        assert [name for name, in conn.execute("SELECT name FROM sys.all_views WHERE schema_id = SCHEMA_ID('dbo')").fetchall()] == ["Items"]
        assert conn.execute("SELECT COUNT(*) FROM dbo.sysobjects WHERE name = 'Items' AND OBJECT_ID('dbo.sysobjects') IS NOT NULL").fetchone()[0] == 1
    with connect(env, DATABASE="master") as conn:
        assert [row.table_name for row in conn.cursor().tables(schema="dbo")] == ["spt_values"]
