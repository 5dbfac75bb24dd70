"""pymssql: FreeTDS' db-lib under a Python DB-API."""
import os
import time

import pymssql
import pytest
from pymssql import _mssql

feature = lambda name: pytest.mark.feature("pymssql", name)    # noqa: E731


@pytest.fixture(params=("7.1", "7.2", "7.3"))
def version(request):
    return request.param


@pytest.fixture(autouse=True)
def freetds(env):
    os.environ["FREETDSCONF"] = str(env.freetds_conf())


def connect(env, version="7.3", server="plain", **options):
    # pymssql takes the name of a section of freetds.conf as its server
    options = {"user": "sa", "password": env.password, "database": "StateService", "autocommit": True, "login_timeout": 15, **options}
    port = (env.tls_server if server == "tls" else env.server).port
    return pymssql.connect(server=server + version.replace(".", ""), port=str(port), tds_version=version, **options)


@feature("connect")
def test_connects_without_tls(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute("select db_name(), 1, null, N'ü€'")
        assert cur.fetchall() == [("StateService", 1, None, "ü€")]


@feature("tls")
@pytest.mark.parametrize("mode", ("login", "tls"))
def test_connects_with_tls(env, version, mode):
    with connect(env, version, server=mode) as conn, conn.cursor() as cur:
        cur.execute("select 1")
        assert cur.fetchall() == [(1,)]


@feature("wrong_password")
def test_wrong_password(env, version):
    with pytest.raises(pymssql.OperationalError) as e:
        connect(env, version, user="nobody", password="wrong")
    assert "18456" in str(e.value)


@feature("missing_database")
def test_missing_database(env, version):
    with pytest.raises(pymssql.OperationalError) as e:
        connect(env, version, database="Nowhere")
    assert "18456" in str(e.value)


@feature("rpc_output")
def test_output_parameters(env, version):
    """callproc knows no binary type: the procedure object below it does."""
    key = env.key()
    with connect(env, version) as conn:
        proc = conn._conn.init_procedure("proc_AddItem")
        for value, kind, name in ((key, _mssql.SQLVARCHAR, "@id"), (b"\1\2\3", _mssql.SQLVARBINARY, "@item"), (20, _mssql.SQLINT4, "@timeout")):
            proc.bind(value, kind, name)
        assert proc.execute() == 0
        proc = conn._conn.init_procedure("proc_GetItemWithLock")
        proc.bind(key, _mssql.SQLVARCHAR, "@id")
        proc.bind(b"", _mssql.SQLVARBINARY, "@item", output=True, max_length=8000)
        proc.bind(False, _mssql.SQLBITN, "@locked", output=True)
        proc.bind(0, _mssql.SQLINT4, "@lockAgeInSeconds", output=True)
        proc.bind(0, _mssql.SQLINT4, "@lockCookie", output=True)
        assert proc.execute() == 0
        assert {name: value for name, value in proc.parameters.items() if name in ("@item", "@locked", "@lockAgeInSeconds", "@lockCookie")} == {"@item": b"\1\2\3", "@locked": False, "@lockAgeInSeconds": 0, "@lockCookie": 2}


@feature("rpc_results")
def test_result_set_of_a_procedure(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("sp_stored_procedures", ())
        cur.nextset()
        assert any(row[2].startswith("proc_AddItem") for row in cur.fetchall())


@feature("batch")
def test_batch(env, version):
    key = env.key()
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute("exec proc_AddItem @id = %s, @item = %s, @timeout = %d", (key, bytearray(b"\1\2"), 20))
        cur.execute("declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock %s, @i output, @l output, @a output, @c output "
                    "select @i as item, @l as locked, @c as cookie", key)
        assert cur.fetchall() == [(b"\1\2", False, 1)]


@feature("values")
def test_values(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        for size in (1, 8000, 8001, 1 << 20):
            key, data = env.key(), os.urandom(size)
            cur.execute("exec proc_AddItem @id = %s, @item = %s, @timeout = %d", (key, bytearray(data), 20))
            cur.execute("declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock %s, @i output, @l output, @a output, @c output select @i", key)
            assert cur.fetchall() == [(data,)]
        cur.execute("select %s, %s", ("żółw " * 500, None))
        assert cur.fetchall() == [("żółw " * 500, None)]


@feature("status")
def test_return_status(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("proc_RefreshItemExpiration", (env.key(),))
        cur.nextset()
        assert cur.returnvalue == 0


@feature("errors")
def test_error_numbers(env, version):
    key = env.key()
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute(f"exec proc_AddItem '{key}', 0x01, 20")
        for number, call in ((2812, lambda: cur.callproc("proc_Nothing", ())), (2627, lambda: cur.execute(f"exec proc_AddItem '{key}', null, 20")),
                             (201, lambda: cur.execute("exec proc_AddItem 'k'")), (2812, lambda: cur.execute("exec proc_Nothing"))):
            with pytest.raises(pymssql.Error) as e:
                call()
                cur.nextset()
            assert e.value.args[0] == number, e.value
        cur.execute("select 1")
        assert cur.fetchall() == [(1,)]


def present(cur, key):
    cur.execute("declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock %s, @i output, @l output, @a output, @c output select @l", key)
    return cur.fetchone()[0] is not None


@feature("transactions")
def test_transactions(env, version):
    with connect(env, version, autocommit=False) as conn, connect(env, version) as other, conn.cursor() as cur, other.cursor() as look:
        for end, there in ((conn.rollback, False), (conn.commit, True)):
            key = env.key()
            cur.execute("exec proc_AddItem %s, %s, 20", (key, bytearray(b"x")))
            assert present(cur, key)
            end()
            assert present(look, key) == there


@feature("cancel")
def test_cancel_by_time_out(env):
    with connect(env, timeout=1) as conn, conn.cursor() as cur:
        start = time.monotonic()
        with pytest.raises(pymssql.Error):
            cur.execute("waitfor delay '00:00:20'")
        assert time.monotonic() - start < 10


@feature("cancel")
def test_connection_is_usable_after_unread_rows(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute("exec sp_stored_procedures")
        cur.fetchone()
        conn._conn.cancel()
        cur.execute("select 7")
        assert cur.fetchall() == [(7,)]
