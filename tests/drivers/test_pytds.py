"""python-tds: a pure Python driver; RPC by name, TM requests, all versions."""
import time

import pytds
import pytest

VERSIONS = {"7.1": pytds.tds_base.TDS71, "7.2": pytds.tds_base.TDS72, "7.3": pytds.tds_base.TDS73A, "7.4": pytds.tds_base.TDS74}
feature = lambda name: pytest.mark.feature("pytds", name)    # noqa: E731


def connect(env, version="7.4", server=None, **options):
    server = server or env.server
    options = {"database": "StateService", "user": "sa", "password": env.password, "autocommit": True, "login_timeout": 15, "timeout": 60, **options}
    return pytds.connect(dsn=server.host, port=server.port, tds_version=VERSIONS[version], **options)


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@feature("connect")
def test_connects_without_tls(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute("select db_name(), 1, null, N'ü€😀'")
        assert cur.fetchall() == [("StateService", 1, None, "ü€😀")]


@feature("tls")
@pytest.mark.parametrize("login_only", (False, True))
def test_connects_with_tls(env, version, login_only):
    server = env.server if login_only else env.tls_server
    with connect(env, version, server=server, cafile=server.certificate, validate_host=False, enc_login_only=login_only) as conn, conn.cursor() as cur:
        cur.execute("select 1")
        assert cur.fetchall() == [(1,)]


@feature("wrong_password")
def test_wrong_password(env, version):
    with pytest.raises(pytds.Error) as e:
        connect(env, version, user="nobody", password="wrong")
    assert "Login failed for user 'nobody'" in str(e.value) and e.value.number == 18456


@feature("missing_database")
def test_missing_database(env):
    with pytest.raises(pytds.Error) as e:
        connect(env, database="Nowhere", login_timeout=2)       # pytds tries again until its time-out
    assert 'Cannot open database "Nowhere"' in str(e.value) and "Login failed for user" in str(e.value)


@feature("rpc_output")
def test_output_parameters(env, version):
    key = env.key()
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("proc_AddItem", (key, pytds.Binary(b"\1\2\3"), 20))
        # pytds' get_proc_outputs works for outputs that come first only: cursor.return_value and the raw list are used
        cur.callproc("dbo.proc_GetItemWithLock", {"@id": key, "@item": pytds.output(param_type="VARBINARY(8000)"), "@locked": pytds.output(param_type="BIT"),
                                                  "@lockAgeInSeconds": pytds.output(param_type="INT"), "@lockCookie": pytds.output(param_type="INT")})
        values = {p.column_name: p.value for p in cur._session.output_params.values()}
        assert values == {"@item": b"\1\2\3", "@locked": False, "@lockAgeInSeconds": 0, "@lockCookie": 2}


@feature("rpc_results")
def test_result_set_of_a_procedure(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("sp_stored_procedures", ())
        names = [row[2] for row in cur.fetchall()]
        assert any(name.startswith("proc_AddItem") for name in names)


@feature("batch")
def test_batch(env, version):
    key = env.key()
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute(f"exec proc_AddItem @id = '{key}', @item = 0x0102, @timeout = 20")
        cur.execute("declare @i varbinary(max), @l bit, @a int, @c int;\n"
                    f"exec proc_GetItemWithoutLock '{key}', @i output, @l output, @a output, @c output;\nselect @i as item, @l as locked, @c as cookie")
        while cur.description is None:
            assert cur.nextset()
        assert [d[0] for d in cur.description] == ["item", "locked", "cookie"]
        assert cur.fetchall() == [(b"\1\2", False, 1)]


@feature("prepared")
def test_parameters(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        for i in (1, 2, None):
            cur.execute("select %s, %s", (i, f"text {i}"))
            assert cur.fetchall() == [(i, f"text {i}")]


@feature("values")
def test_values(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        for size in (0, 1, 8000, 8001, 1 << 20):
            key, data = env.key(), bytes(i & 0xFF for i in range(min(size, 255))) * (size // 255 + 1)
            data = data[:size]
            cur.callproc("proc_AddItem", (key, pytds.Binary(data), 20))
            cur.execute(f"declare @i varbinary(max), @l bit, @a int, @c int; exec proc_GetItemWithoutLock '{key}', @i output, @l output, @a output, @c output; select @i")
            while cur.description is None:
                assert cur.nextset()
            assert cur.fetchall() == [(data,)]
        key = env.key("ünïcode€")
        cur.callproc("proc_AddItem", (key, None, 20))
        text = ("żółw " if version == "7.1" else "żółw 😀 ") * 3000       # at 7.1 pytds miscounts long text with characters beyond U+FFFF
        cur.execute("select %s, %s", (text, None))
        assert cur.fetchall() == [(text, None)]


@feature("values")
def test_32_mib(env):
    data = bytes(range(256)) * (1 << 17)
    key = env.key()
    with connect(env) as conn, conn.cursor() as cur:
        cur.callproc("proc_AddItem", (key, pytds.Binary(data), 20))
        cur.execute(f"declare @i varbinary(max), @l bit, @a int, @c int; exec proc_GetItemWithoutLock '{key}', @i output, @l output, @a output, @c output; select @i")
        while cur.description is None:
            assert cur.nextset()
        assert cur.fetchone()[0] == data


@feature("status")
def test_return_status(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("proc_RefreshItemExpiration", (env.key(),))
        cur.nextset()
        assert cur.get_proc_return_status() == 0


@feature("errors")
def test_error_numbers(env, version):
    key = env.key()
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.callproc("proc_AddItem", (key, None, 20))
        for number, call in ((2627, lambda: cur.callproc("proc_AddItem", (key, None, 20))), (201, lambda: cur.callproc("proc_AddItem", (key,))),
                             (2812, lambda: cur.callproc("proc_Nothing", ())), (102, lambda: cur.execute("exec exec exec ("))):
            with pytest.raises(pytds.Error) as e:
                call()
                cur.nextset()
            assert getattr(e.value, "number", None) in (number, 156), e.value
        cur.execute("select 1")
        assert cur.fetchall() == [(1,)]


def present(cur, key):
    cur.execute(f"declare @i varbinary(max), @l bit, @a int, @c int; exec proc_GetItemWithoutLock '{key}', @i output, @l output, @a output, @c output; select @l")
    while cur.description is None:
        assert cur.nextset()
    return cur.fetchone()[0] is not None


@feature("transactions")
def test_transactions(env, version):
    with connect(env, version, autocommit=False) as conn, connect(env, version) as other, conn.cursor() as cur, other.cursor() as look:
        for end, there in ((conn.rollback, False), (conn.commit, True), (conn.rollback, False)):
            key = env.key()
            cur.callproc("proc_AddItem", (key, pytds.Binary(b"x"), 20))
            assert present(cur, key)
            end()
            assert present(look, key) == there


@feature("cancel")
def test_cancel(env, version):
    """pytds has no call that cancels from another thread: what its cancel() does is done here while the statement runs."""
    with connect(env, version) as conn, conn.cursor() as cur:
        start = time.monotonic()
        cur._session.submit_plain_query("waitfor delay '00:00:20'")
        cur._session.cancel_if_pending()
        assert time.monotonic() - start < 10
        cur.execute("select 7")
        assert cur.fetchall() == [(7,)]


@feature("cancel")
def test_connection_is_usable_after_unread_rows(env, version):
    with connect(env, version) as conn, conn.cursor() as cur:
        cur.execute("exec sp_stored_procedures")
        cur.cancel()
        cur.execute("select 7")
        assert cur.fetchall() == [(7,)]


@feature("pool_reset")
def test_pool_reset(env):
    options = {"pooling": True, "autocommit": False}
    key = env.key()
    conn = connect(env, **options)
    with conn.cursor() as cur:
        cur.callproc("proc_AddItem", (key, pytds.Binary(b"x"), 20))
        cur.execute("set nocount on")
    conn.close()        # the transaction is open: the next user must not see it
    with connect(env, **options) as conn, conn.cursor() as cur:
        assert not present(cur, key)
        conn.rollback()
