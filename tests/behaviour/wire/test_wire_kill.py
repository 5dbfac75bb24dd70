"""KILL: an administrator ends a session, whatever it does; everybody else is told no."""
import time

import pytest

from support import wire as tds
from support.numbers import counters
from support.wire import Closed, Wire

from statecalls import add, present

PROMPT = 5
HOG = "IF REPLICATE(CAST('a' AS varchar(max)), 8000000) LIKE '%' + REPLICATE('a', 7000) + 'b%' SELECT 1"
VICTIMS = {
    "idle": None,
    "computing": HOG,
    "reading": HOG.replace("IF ", "SELECT COUNT(*) FROM sys.objects WHERE name + ").replace(" SELECT 1", ""),
    "waiting": "WAITFOR DELAY '00:05:00'",
    "slow": "SELECT a.name, b.name, c.name, REPLICATE('x', 4000) FROM sys.columns a, sys.columns b, sys.columns c",
}


def is_there(admin, spid):
    columns, rows = admin.batch("EXEC sp_who").ok().results[0]
    at = [c.name for c in columns].index("spid")
    return any(row[at] == spid for row in rows)


def doing(admin, spid):
    columns, rows = admin.batch("EXEC sp_who").ok().results[0]
    names = [c.name for c in columns]
    return [row[names.index("cmd")].strip() for row in rows if row[names.index("spid")] == spid]


def gone(admin, spid, connections=None):
    """The session, and when the number is given, its connection: also when its client reads nothing."""
    deadline = time.monotonic() + PROMPT
    while is_there(admin, spid) or (connections is not None and counters(admin)["connections"] > connections):
        assert time.monotonic() < deadline, f"session {spid} is still there"
        time.sleep(0.02)


@pytest.mark.parametrize("name", VICTIMS)
def test_ends_whatever_it_does(server, witness, name):
    with Wire(server).login() as admin, Wire(server).login() as victim:
        spid, others = victim.spid, counters(admin)["connections"] - 1
        assert is_there(admin, spid)
        if VICTIMS[name] is not None:
            victim.send_message(tds.BATCH, tds.batch_body(VICTIMS[name]))
            time.sleep(0.3)
        admin.batch(f"KILL {spid}").ok()
        gone(admin, spid, others)
        with pytest.raises((Closed, OSError)):
            while True:                 # what was on its way may still come
                if not victim.sock.recv(1 << 20):
                    raise Closed("end of stream")
        assert admin.batch(f"KILL {spid}", check=False).numbers == [6106]


def test_rolls_its_transaction_back(server, witness, key):
    with Wire(server).login() as victim, Wire(server).login() as waiting, Wire(server).login() as admin:
        victim.begin().ok()
        add(victim, key)
        waiting.send_message(tds.BATCH, tds.batch_body(f"EXEC dbo.proc_DeleteItem @id = '{key}-other', @lockCookie = 1"))
        time.sleep(0.2)
        assert doing(admin, waiting.spid) == ["EXECUTE"]
        admin.batch(f"KILL {victim.spid}").ok()
        waiting.answer(check=False)     # it had waited for the transaction
        assert not present(admin, key)


def test_ends_one_that_waits_for_another(server, witness, key):
    with Wire(server).login() as holder, Wire(server).login() as victim, Wire(server).login() as admin:
        spid = victim.spid
        holder.begin().ok()
        add(holder, key)
        victim.send_message(tds.BATCH, tds.batch_body(f"EXEC dbo.proc_DeleteItem @id = '{key}-other', @lockCookie = 1"))
        time.sleep(0.2)
        assert doing(admin, spid) == ["EXECUTE"]
        admin.batch(f"KILL {spid}").ok()
        gone(admin, spid)
        holder.rollback().ok()


def test_errors(server, witness):
    with Wire(server).login() as admin:
        own = admin.spid
        for text, expected in ((f"KILL {own}", 6104), ("KILL 32000", 6106), ("KILL 7", 6107), ("KILL 0", 6101), ("KILL -1", 6101), ("KILL 40000", 6101)):
            answer = admin.batch(text + " SELECT 1", check=False)
            assert answer.numbers == [expected] and answer.results[-1][1][0][0] == 1, text
        admin.batch("BEGIN TRAN").ok()
        assert admin.batch(f"KILL {own}", check=False).numbers == [6115]
        admin.batch("ROLLBACK").ok()


def test_is_for_administrators(server, witness):
    with Wire(server).login() as admin:
        admin.batch("EXEC master..procession_login_add @name = N'nokill', @password = N'No-Kill-1'", check=False)
        with Wire(server).login("nokill", "No-Kill-1", "master") as w:
            assert w.batch(f"KILL {admin.spid}", check=False).numbers == [6102]
        assert admin.batch("SELECT 1").value == 1


def test_many_at_once(server, witness):
    """Two administrators kill the same sessions while these leave by themselves: nothing is freed twice."""
    with Wire(server).login() as a, Wire(server).login() as b:
        for _ in range(10):
            victims = [Wire(server).login() for _ in range(5)]
            text = " ".join(f"KILL {v.spid}" for v in victims)
            for w in (a, b):
                w.send_message(tds.BATCH, tds.batch_body(text))
            for v in victims:
                v.close()
            for w in (a, b):
                assert set(w.answer(check=False).numbers) <= {6106}
