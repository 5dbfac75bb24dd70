"""FreeTDS' command-line programs: tsql and bsqldb, in every version of TDS they speak."""
import time

import pytest

from harness import run

VERSIONS = ("71", "72", "73", "74")


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


class Tsql:
    name = "tsql"

    def __init__(self, env):
        self.env = env

    def __call__(self, section, text, user="sa", password=None, database="StateService", options="q"):
        command = ["tsql", "-S", section, "-U", user, "-P", password or self.env.password, "-D", database, "-o", options]
        done = run(command, self.env.environment(), 30, input=text + "\nGO\nexit\n")
        return done.stdout + done.stderr


class Bsqldb:
    name = "bsqldb"

    def __init__(self, env):
        self.env = env

    def __call__(self, section, text, user="sa", password=None, database="StateService"):
        command = ["bsqldb", "-S", section, "-U", user, "-P", password or self.env.password, "-D", database, "-t", "|"]
        done = run(command, self.env.environment(), 30, input=text + "\n")
        return done.stdout + done.stderr


def both(feature):
    """Parametrises a test over the two programs."""
    kinds = [pytest.param(kind, marks=pytest.mark.feature(kind.name, feature), id=kind.name) for kind in (Tsql, Bsqldb)]
    return pytest.mark.parametrize("kind", kinds)


GET = "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '{0}', @i output, @l output, @a output, @c output select @i as item, @c as cookie, case when @l is null then 'absent' else 'present' end as there"


@both("connect")
def test_connects_without_tls(env, kind, version):
    assert "StateService" in kind(env)("plain" + version, "select db_name() as db")


@both("tls")
@pytest.mark.parametrize("mode", ("login", "tls"))
def test_connects_with_tls(env, kind, version, mode):
    assert "1234" in kind(env)(mode + version, "select 1234 as x")


@both("wrong_password")
def test_wrong_password(env, kind, version):
    out = kind(env)("plain" + version, "select 1", user="nobody", password="wrong")
    assert "18456" in out and "Login failed for user 'nobody'" in out


@both("missing_database")
def test_missing_database(env, kind, version):
    out = kind(env)("plain" + version, "select 1", database="Nowhere")
    assert "4060" in out and "Nowhere" in out


@both("batch")
def test_batch(env, kind, version):
    key = env.key()
    out = kind(env)("plain" + version, f"exec proc_AddItem @id = '{key}', @item = 0xABCD01, @timeout = 20\nGO\n" + GET.format(key))
    assert "abcd01" in out.lower() and "present" in out, out


@both("values")
def test_values(env, kind, version):
    key = env.key()
    data = "5a" * 9000
    out = kind(env)("plain" + version, f"exec proc_AddItem '{key}', 0x{data}, 20\nGO\n" + GET.format(key) + "\nGO\nselect N'żółw €' as t, cast(null as int) as n")
    assert data in out.lower() and "żółw €" in out, out[:500]


@pytest.mark.feature("tsql", "status")
def test_return_status(env, version):
    assert "return status = 0" in Tsql(env)("plain" + version, "exec proc_RefreshItemExpiration 'nothing'", options="h")


@both("errors")
def test_error_numbers(env, kind, version):
    key = env.key()
    out = kind(env)("plain" + version, f"exec proc_AddItem '{key}', null, 20\nGO\nexec proc_AddItem '{key}', null, 20\nGO\nexec proc_AddItem 'k'\nGO\nexec proc_Nothing\nGO\nselect 4711 as x")
    if kind is Bsqldb:      # it stops at the first error
        assert "2627" in out and "4711" not in out, out
        assert "201" in kind(env)("plain" + version, "exec proc_AddItem 'k'")
        assert "2812" in kind(env)("plain" + version, "exec proc_Nothing")
    else:
        assert all(number in out for number in ("2627", "201", "2812", "4711")), out


@both("transactions")
def test_transactions(env, kind, version):
    tool = kind(env)
    a, b = env.key("a"), env.key("b")
    tool("plain" + version, f"begin tran\nexec proc_AddItem '{a}', 0x01, 20\nrollback tran\nGO\nbegin tran exec proc_AddItem '{b}', 0x01, 20 commit tran")
    assert "absent" in tool("plain" + version, GET.format(a)) and "present" in tool("plain" + version, GET.format(b))


@both("transactions")
def test_a_transaction_left_open_is_rolled_back(env, kind):
    key = env.key()
    tool = kind(env)
    tool("plain74", f"begin tran\nexec proc_AddItem '{key}', 0x01, 20")
    start = time.monotonic()
    assert "absent" in tool("plain74", GET.format(key))
    assert time.monotonic() - start < 20
