"""The calls themselves: signatures, wrong arguments, text calls, limits, logins, permissions, the worked examples."""
import uuid

import pytest
from stateview import ABSENT, add, lock, peek, view

from support import wire
from support import wiretypes as t
from support.calls import create_database, open_path
from support.logins import PASSWORD, new_login
from support.proves import proves
from support.signature import check_arguments, check_metadata
from support.wire import Param, ServerError, Wire

GET = [("id", "varchar(512)", False), ("item", "varbinary(max)", True), ("locked", "bit", True), ("lockAgeInSeconds", "int", True), ("lockCookie", "int", True)]
SIGNATURES = {
    "proc_AddItem": [("id", "varchar(512)", False), ("item", "varbinary(max)", False), ("timeout", "int", False)],
    "proc_DeleteExpiredItems": [],
    "proc_DeleteItem": [("id", "varchar(512)", False), ("lockCookie", "int", False)],
    "proc_GetItemWithLock": GET,
    "proc_GetItemWithoutLock": GET,
    "proc_RefreshItemExpiration": [("id", "varchar(512)", False)],
    "proc_ReleaseItemLock": [("id", "varchar(512)", False), ("lockCookie", "int", False)],
    "proc_UpdateItem": [("id", "varchar(512)", False), ("item", "varbinary(max)", False), ("timeout", "int", False), ("lockCookie", "int", False)],
}


def values_of(proc):
    """Fresh valid values of each parameter."""
    some = {"id": "sig-" + uuid.uuid4().hex, "item": b"x" if proc in ("proc_AddItem", "proc_UpdateItem") else None, "timeout": 20, "locked": None,
            "lockAgeInSeconds": None, "lockCookie": 1 if "Get" not in proc else None}
    return {name: some[name] for name, _, _ in SIGNATURES[proc]}


@proves("STATE-AddItem-01", "STATE-DeleteItem-01", "STATE-GetItemWithLock-01", "STATE-GetItemWithoutLock-01", "STATE-RefreshItemExpiration-01",
        "STATE-ReleaseItemLock-01", "STATE-UpdateItem-01", "STATE-DeleteExpiredItems-01", "STATE-Types-01")
@pytest.mark.parametrize("proc", SIGNATURES)
def test_metadata_of_the_parameters(pytds_db, proc):
    check_metadata(pytds_db, proc, SIGNATURES[proc])


@proves("STATE-AddItem-01", "STATE-DeleteItem-01", "STATE-GetItemWithLock-01", "STATE-GetItemWithoutLock-01", "STATE-RefreshItemExpiration-01",
        "STATE-ReleaseItemLock-01", "STATE-UpdateItem-01", "STATE-Transport-01", "STATE-Transport-02")
@pytest.mark.parametrize("path", ("pytds", "wire", "batch"))
@pytest.mark.parametrize("proc", [p for p in SIGNATURES if SIGNATURES[p]])
def test_arguments(server, path, proc):
    with open_path(path, server, "StateService") as db:
        check_arguments(db, proc, lambda: values_of(proc))


@proves("STATE-Transport-01")
@pytest.mark.parametrize("proc", SIGNATURES)
def test_answer_to_an_rpc_is_status_outputs_done(rpc, proc):
    values = values_of(proc)
    answer = rpc.wire.rpc(proc, [Param({"id": t.varchar, "item": t.varbinary_max, "locked": t.bit}.get(n, t.int_)(values[n]), "@" + n, output=o)
                                 for n, _, o in SIGNATURES[proc]]).ok()
    outputs = sum(o for _, _, o in SIGNATURES[proc])
    assert answer.kinds == ["returnstatus"] + ["returnvalue"] * outputs + ["doneproc"]
    assert answer.status == 0
    assert [v.type.code for v in answer.all("returnvalue")] == [0xA5, 0x68, 0x26, 0x26][:outputs]


@proves("STATE-Input-03")
def test_wrong_calls(rpc, key):
    for number, proc, values in ((2812, "proc_Nothing", {}), (8145, "proc_AddItem", {"id": key, "item": b"x", "timeuot": 20}),
                                 (8144, "proc_RefreshItemExpiration", {"id": key, "x": 1, "y": 2})):
        answer = rpc.call(proc, **values)
        assert answer.error in ((8144, 8145) if number == 8144 else (number,)) and answer.errors[0][1] == 16 and answer.status is None
    assert rpc.positional("proc_RefreshItemExpiration", key, 1).error == 8144
    twice = [Param(t.varchar(key), "@id"), Param(t.varchar(key), "@ID")]
    assert rpc.wire.rpc("proc_DeleteItem", twice).numbers == [8143]
    assert rpc.wire.rpc("proc_RefreshItemExpiration", [Param(t.varchar(key), "@id", output=True)]).numbers == [8162]
    assert rpc.batch(f"EXEC proc_DeleteItem @id = '{key}', @id = '{key}'").error == 8143
    assert rpc.batch(f"DECLARE @x varchar(20) EXEC proc_RefreshItemExpiration @id = @x OUTPUT").error == 8162
    assert rpc.batch("EXEC dbo.proc_Nothing").error == 2812
    assert rpc.batch(f"EXEC proc_DeleteItem '{key}', 1, 2").error == 8144
    assert peek(rpc, key) == ABSENT


@proves("STATE-Input-04", "STATE-Input-01")
def test_arguments_that_do_not_convert(rpc, pytds_db, key):
    add(rpc, key)
    before = view(rpc, key)
    for bad in ("abc", "1.5e", "99999999999", "0x10", "1 2"):
        for db in (rpc, pytds_db):
            assert db.call("proc_UpdateItem", id=key, item=b"x", timeout=bad, lockCookie=1).error == 8114
            assert db.call("proc_DeleteItem", id=key, lockCookie=bad).error == 8114
        assert rpc.batch(f"EXEC proc_AddItem @id = '{key}2', @item = 0x00, @timeout = '{bad}'").error == 8114
    assert rpc.call("proc_DeleteItem", id=key, lockCookie=t.int_(2**31, 8)).error == 8114
    assert rpc.call("proc_DeleteItem", id=key, lockCookie=t.int_(-2**31 - 1, 8)).error == 8114
    assert view(rpc, key) == before and peek(rpc, key + "2") == ABSENT


@proves("STATE-Transport-02", "STATE-Input-04")
def test_arguments_that_do_convert(rpc, key):
    assert rpc.batch(f"EXEC proc_AddItem @id = '{key}', @item = 0x1, @timeout = '20'").error is None       # 0x1 is 0x01
    assert peek(rpc, key) == (b"\1", False, 0, 1)
    assert rpc.batch(f"exec [dbo].[PROC_UPDATEITEM] '{key}', 0xABC, ' 30 ', 1").error is None
    assert view(rpc, key)[3] == 30 and peek(rpc, key)[0] == b"\x0a\xbc"
    assert rpc.batch(f"proc_DeleteItem '{key}', 1").error is None       # the first statement needs no EXEC
    assert peek(rpc, key) == ABSENT
    for cookie, spelling in enumerate(("StateService.dbo.proc_AddItem", "StateService..proc_AddItem", "[StateService].[dbo].[proc_AddItem]", "DBO.proc_additem"), 2):
        assert rpc.batch(f"EXEC {spelling} @ID = N'{key}', @Item = NULL, @TIMEOUT = 5").error is None, spelling
        assert rpc.batch(f"DECLARE @rc int EXEC @rc = proc_DeleteItem N'{key}', {cookie} SELECT @rc").rows == [(0,)]


@proves("STATE-Input-03")
def test_a_default_flag_on_a_required_parameter(rpc, key):
    assert rpc.wire.rpc("proc_RefreshItemExpiration", [Param(t.varchar(None, 10), "@id", default=True)]).numbers == [201]
    assert rpc.batch("EXEC proc_RefreshItemExpiration DEFAULT").error == 201


@proves("STATE-Input-01")
def test_the_first_of_several_faults(rpc, key):
    assert rpc.positional("proc_AddItem", None, b"x", "abc", 4).error == 8144
    assert rpc.call("proc_AddItem", id=None, wrong=1).error == 8145
    assert rpc.call("proc_AddItem", id=None, timeout="abc").error == 201
    assert rpc.call("proc_AddItem", id=None, item=b"x", timeout="abc").error == 8114
    assert rpc.call("proc_AddItem", id=None, item=b"x", timeout=0).error == 515
    assert rpc.call("proc_AddItem", id=key, item=b"x", timeout=0).error == 50003
    assert rpc.call("proc_AddItem", id=key + "日", item=b"x", timeout=None).error == 50004


@proves("STATE-Input-06")
def test_values_above_the_limit(new_server):
    server = new_server(settings={"max_value_size": 100000})
    for path in ("pytds", "wire"):
        with open_path(path, server, "StateService") as db:
            add(db, path + "a", b"x" * 100000)
            result = db.call("proc_AddItem", id=path + "b", item=b"x" * 100001, timeout=20)
            assert result.error == 50005 and result.status is None
            assert peek(db, path + "b") == ABSENT
            assert peek(db, path + "a")[0] == b"x" * 100000


@proves("STATE-Auth-01", "STATE-Prereq-01")
def test_logins(server):
    with pytest.raises(ServerError) as e:
        Wire(server).login(user="clerk" + uuid.uuid4().hex[:8], password="Wrong-1")
    assert e.value.number == 18456
    with pytest.raises(ServerError) as e:
        Wire(server).login(database="Nowhere")
    assert e.value.number == 4060


@proves("STATE-Init-01")
@pytest.mark.parametrize("hello", (False, True), ids=("as the first message", "after PRELOGIN"))
def test_no_call_before_a_login(server, rpc, key, hello):
    """The bytes of a good call, without a login before them: the connection ends, and nothing has happened."""
    add(rpc, key)
    before = view(rpc, key)
    call = wire.rpc_body([("proc_DeleteItem", [Param(t.varchar(key), "@id"), Param(t.int_(1), "@lockCookie")])])
    with Wire(server) as stranger:
        if hello:
            stranger.pre()
        stranger.send_message(wire.RPC, call)
        assert stranger.is_closed()
    assert view(rpc, key) == before
    rpc.wire.send_message(wire.RPC, call)               # the same bytes after a login
    assert rpc.wire.answer(wire.RPC).ok().status == 0
    assert view(rpc, key) is None


@proves("STATE-Prereq-02")
def test_a_login_without_the_right_to_execute(server, rpc, key):
    name = new_login(server, "StateService", "select")
    add(rpc, key)
    before = view(rpc, key)
    with open_path("wire", server, "StateService", user=name, password=PASSWORD) as clerk:
        for proc in SIGNATURES:
            refusal = clerk.call(proc, **{**values_of(proc), **({"id": key} if SIGNATURES[proc] else {})})
            assert refusal.error == 229 and refusal.errors[0][1] == 14 and refusal.status is None, (proc, refusal)
            assert not any(refusal.out.values())
        assert view(clerk, key) == before               # what it was given works
    assert view(rpc, key) == before


@proves("STATE-Prereq-02")
def test_a_login_without_any_right(server):
    with pytest.raises(ServerError) as e:
        Wire(server).login(user=new_login(server), password=PASSWORD, database="StateService")
    assert e.value.number in (916, 4060)


# Worked examples

ID = "bb513e2c367a494fbf68e63241a19509_zMFtomz0mwgoHSRng157WFwiSCXs6YcdLRhiY5ms+78="


@pytest.fixture
def example(server):
    """A database that has never seen the identifier: the cookies are those of the text."""
    name = "Example" + uuid.uuid4().hex[:6]
    create_database(server, name, "state")
    with open_path("wire", server, name, "StateService") as db:
        yield db


@proves("STATE-Example-01", "STATE-Example-02", "STATE-Transport-02")
def test_examples_as_text(example):
    first = example.wire.batch(f"exec dbo.proc_AddItem\n@id=N'{ID}'\n,\n@item=0x14000102030BFF,@timeout=20")
    assert first.status == 0 and not first.errors and not first.results
    got = example.batch(f"declare @p2 varbinary(max), @p3 bit, @p4 int, @p5 int\nexec dbo.proc_GetItemWithLock\n@id=N'{ID}',@\nitem=@p2 output,\n".replace("@\nitem", "@item")
                        + "@locked=@p3 output,@lockAgeInSeconds=@p4 output,\n@lockCookie=@p5 output\nselect @p2, @p3, @p4, @p5")
    assert got.rows == [(bytes.fromhex("14000102030BFF"), False, 0, 2)] and got.status == 0
    for _ in range(7):                                          # the example's cookie is 9
        cookie = peek(example, ID)[3]
        example.call("proc_ReleaseItemLock", id=ID, lockCookie=cookie)
        assert lock(example, ID)[3] == cookie + 1
    update = example.wire.batch(f"exec dbo.proc_UpdateItem\n\n@id=N'{ID}',\n\n@item=0x1400AABB0BFF,\n\n@timeout=20,@lockCookie=9")
    assert update.status == 0 and not update.errors
    assert peek(example, ID) == (bytes.fromhex("1400AABB0BFF"), False, 0, 9)


@proves("STATE-Example-01", "STATE-Example-02")
def test_examples_by_rpc(server, example):
    with open_path("pytds", server, example.batch("SELECT DB_NAME()").rows[0][0], "StateService") as db:
        assert db.call("dbo.proc_AddItem", id=ID, item=b"\x14\0\x0b\xff", timeout=20).status == 0
        got = db.call("dbo.proc_GetItemWithLock", id=ID)
        assert got.out == {"item": b"\x14\0\x0b\xff", "locked": False, "lockAgeInSeconds": 0, "lockCookie": 2} and got.status == 0
        assert db.call("dbo.proc_UpdateItem", id=ID, item=b"\x14\1\x0b\xff", timeout=20, lockCookie=got.out["lockCookie"]).status == 0
        assert peek(db, ID) == (b"\x14\1\x0b\xff", False, 0, 2)


def test_a_database_of_another_name_and_reading(server, key):
    """The errata setting changes nothing in this service: the same calls, the same answers."""
    for errata in ("literal", "corrected"):
        name = f"State{errata}{uuid.uuid4().hex[:6]}"
        create_database(server, name, "state", errata)
        with open_path("pytds", server, name, "StateService") as db:
            add(db, key)
            assert lock(db, key) == (b"data", False, 0, 2)
            assert db.call("proc_AddItem", id=key, item=b"", timeout=1).error == 2627
            assert db.call("proc_DeleteItem", id=key, lockCookie=2).status == 0
            assert peek(db, key) == ABSENT
