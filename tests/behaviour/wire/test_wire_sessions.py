"""One number names a session everywhere: @@SPID, the packets' header, the log, sp_who."""
import time

import pytest

from support import wire as tds
from support.calls import open_path
from support.wire import ServerError, Wire

SECRET = "Secret-12"


@pytest.fixture(scope="module")
def crowd(own_server):
    """A server with a login that is no administrator."""
    with Wire(own_server).login() as admin:
        admin.batch(f"EXEC procession_login_add @name = 'shop', @password = '{SECRET}', @default_database = 'StateService'").ok()
        admin.batch("EXEC procession_grant @login = 'shop', @database = 'StateService', @rights = 'execute'").ok()
    return own_server


def who(w, *args):
    """{spid: row} of sp_who; texts without the blanks of nchar."""
    answer = w.batch(" ".join(("EXEC sp_who",) + args)).ok()
    names = [c.name for c in answer.columns]
    rows = [dict(zip(names, (v.strip() if isinstance(v, str) else v for v in row))) for row in answer.rows]
    assert len({row["spid"] for row in rows}) == len(rows)
    return {row["spid"]: row for row in rows}


def wait_for(question, timeout=20):
    """The first answer that is true: what another session does is seen a little later."""
    deadline = time.monotonic() + timeout
    while True:
        answer = question()
        if answer:
            return answer
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_number_is_the_same_everywhere(new_server):
    server = new_server()
    many = [Wire(server).login(app=f"app{i}") for i in range(5)]
    assert [w.spid for w in many] == [51, 52, 53, 54, 55]
    for i, w in enumerate(many):
        assert w.batch("SELECT @@SPID").value == w.spid
        server.wait_log(rf"event=login session={w.spid} .*app=app{i}\b")
        w.close()
        server.wait_log(rf"event=disconnect session={w.spid} ")
    with Wire(server).login() as w:
        w.send(tds.packets(0x77, b"?"))
        server.wait_log(rf"event=protocol_error session={w.spid} ")
    with Wire(server).login() as w:                     # numbers are not given again at once: the log stays readable
        assert w.spid == 57


def test_an_administrator_sees_everybody(crowd):
    with Wire(crowd).login(host="desk-1") as admin, Wire(crowd).login(user="shop", password=SECRET, host="desk-2") as shop:
        shop.batch("USE master").ok()
        seen, server = who(admin), admin.batch("SELECT @@SERVERNAME").value
        assert set(seen) >= {admin.spid, shop.spid}
        assert seen[admin.spid] == {"spid": admin.spid, "ecid": 0, "status": "runnable", "loginame": "sa", "hostname": "desk-1", "blk": "0",
                                    "dbname": "StateService", "cmd": "EXECUTE", "request_id": 0, "server": server}
        assert seen[shop.spid] == {"spid": shop.spid, "ecid": 0, "status": "sleeping", "loginame": "shop", "hostname": "desk-2", "blk": "0",
                                   "dbname": "master", "cmd": "AWAITING COMMAND", "request_id": 0, "server": server}
        assert list(seen) == sorted(seen)
        shop.batch("USE StateService").ok()
        assert who(admin)[shop.spid]["dbname"] == "StateService"
        shop.close()
        wait_for(lambda: shop.spid not in who(admin))


def test_others_see_themselves(crowd):
    with Wire(crowd).login(), Wire(crowd).login(user="shop", password=SECRET), Wire(crowd).login(user="shop", password=SECRET) as own:
        assert list(who(own)) == [own.spid]
        assert list(who(own, "'shop'")) == [own.spid]
        with pytest.raises(ServerError) as e:
            who(own, "'sa'")
        assert e.value.number == 15007


def test_only_some(crowd):
    with Wire(crowd).login() as admin, Wire(crowd).login(user="shop", password=SECRET) as shop:
        assert list(who(admin, "'SHOP'")) == [shop.spid]
        assert list(who(admin, "'active'")) == [admin.spid]
        assert list(who(admin, f"'{shop.spid}'")) == [shop.spid]
        assert who(admin, "'999'") == {}
        with pytest.raises(ServerError) as e:
            who(admin, "'nobody here'")
        assert e.value.number == 15007 and "nobody here" in e.value.token.text


def test_a_session_before_its_login_is_not_there(crowd):
    with Wire(crowd).login() as admin, Wire(crowd) as stranger:
        stranger.pre()
        assert {row["loginame"] for row in who(admin).values()} <= {"sa", "shop"}


def test_a_session_that_waits_is_seen_waiting(crowd):
    """blk names the session whose transaction stands in the way."""
    with Wire(crowd).login() as admin, Wire(crowd).login() as holder, Wire(crowd).login() as waiting, Wire(crowd).login() as second:
        holder.batch("BEGIN TRANSACTION EXEC proc_AddItem 'held', 0x01, 20").ok()
        for i, w in enumerate((waiting, second)):
            w.send_message(tds.BATCH, tds.batch_body(f"EXEC proc_AddItem 'waits{i}', 0x02, 20"))
        seen = wait_for(lambda: [s for s in (who(admin),) if s[waiting.spid]["blk"] != "0" and s[second.spid]["blk"] != "0"])[0]
        for w in (waiting, second):
            assert {k: seen[w.spid][k] for k in ("status", "blk", "cmd")} == {"status": "suspended", "blk": str(holder.spid), "cmd": "EXECUTE"}
        assert (seen[holder.spid]["status"], seen[holder.spid]["blk"]) == ("sleeping", "0")
        holder.batch("COMMIT").ok()
        waiting.answer().ok()
        second.answer().ok()
        assert who(admin)[waiting.spid]["blk"] == "0"
        wait_for(lambda: who(admin)[waiting.spid]["cmd"] == "AWAITING COMMAND")


def test_waitfor_is_seen(crowd):
    with Wire(crowd).login() as admin, Wire(crowd).login() as w:
        w.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:10:00'"))
        seen = wait_for(lambda: [s for s in (who(admin)[w.spid],) if s["cmd"] == "WAITFOR"])[0]
        assert (seen["status"], seen["blk"]) == ("suspended", "0")


@pytest.mark.parametrize("path", ("pymssql", "pytds"))
def test_through_drivers(crowd, path):
    with open_path(path, crowd, "StateService") as a, open_path(path, crowd, "StateService", user="shop", password=SECRET) as b:
        spids = [db.batch("SELECT @@SPID").rows[0][0] for db in (a, b)]
        seen = {row["spid"]: row["loginame"].strip() for row in a.batch("EXEC sp_who").dicts()}
        assert [seen[spid] for spid in spids] == ["sa", "shop"]
        assert [row["spid"] for row in b.batch("EXEC sp_who").dicts()] == spids[1:]
