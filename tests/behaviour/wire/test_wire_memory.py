"""The sum of memory: what one client wants beyond its share is refused with 701, others go on, and what it had comes back."""
import contextlib
import pathlib
import struct
import time
import uuid

from support import wire as tds
from support import wiretypes as t
from support.numbers import counters
from support.server import is_sanitized
from support.wire import Closed, Param, Wire

from statecalls import add, get

MIB = 1 << 20
LIMIT = 64
SETTINGS = {"memory_limit": LIMIT, "login_memory_share": 75, "session_memory_share": 50, "cache_size": 16}


def resident(server):
    for line in pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


def is_bounded(server):
    """Pages of databases, stacks, spare blocks and the program come on top of the limit; none of them is what a client asked for."""
    assert is_sanitized() or resident(server) < (LIMIT + 300) * MIB, resident(server) // MIB


def prepare(w, text):
    return w.rpc(11, [Param(t.int_(None), output=True), Param(t.nvarchar("")), Param(t.ntext(text))])


def guest(server):
    """A session of another login, whose share nobody else can take."""
    with Wire(server).login() as w:
        w.batch("EXEC procession_login_add 'guest', 'Guest-Pass-1'").ok()
        w.batch("EXEC procession_grant 'guest', 'StateService', 'execute'").ok()
    return Wire(server).login(user="guest", password="Guest-Pass-1")


def works(w, size=MIB):
    key = "k-" + uuid.uuid4().hex
    assert w.batch("SELECT 17").value == 17
    add(w, key, b"g" * size).ok()
    assert get(w, key).ok().outputs["@item"] == b"g" * size


def test_prepared_statements(new_server):
    server = new_server(settings=SETTINGS)
    text = "SELECT 1 --" + "x" * 500000
    with guest(server) as other:
        for _ in range(2):                      # what the first one had came back with its end
            w = Wire(server).login()
            answers = []
            while not answers or (not answers[-1].numbers and len(answers) < 200):
                answers.append(prepare(w, text))
            assert 5 < len(answers) < 100
            assert answers[-1].numbers[0] == 701
            assert w.batch("SELECT 5").value == 5
            works(other)
            is_bounded(server)
            w.close()
            time.sleep(0.2)


def test_cursors(new_server):
    """The rows of a cursor are in its session's account: 701 when they are too many, and what is closed is free at once."""
    server = new_server(settings=SETTINGS)
    text = f"SELECT REPLICATE(CAST('x' AS varchar(max)), {5 * MIB}) AS x"
    with guest(server) as other, Wire(server).login() as admin, Wire(server).login() as w:
        def open_cursor():
            return w.rpc(2, [Param(t.int_(None), output=True), Param(t.nvarchar(text))] + [Param(t.int_(n), output=True) for n in (8, 1, 0)])
        before, cursors = counters(admin)["memory_used_bytes"], []
        while not (answer := open_cursor()).numbers and len(cursors) < 20:
            cursors.append(answer.outputs[0])
        assert 2 <= len(cursors) < 7 and answer.numbers[0] == 701, answer.summary()
        assert w.batch("SELECT 5").value == 5
        works(other)
        is_bounded(server)
        assert counters(admin)["memory_used_bytes"] - before > len(cursors) * 5 * MIB
        for c in cursors:
            w.rpc(9, [Param(t.int_(c))]).ok()
        assert counters(admin)["memory_used_bytes"] - before < MIB
        assert not open_cursor().numbers, "and may be taken again"


def test_table_variables(new_server):
    """Their rows are in the session's account until the text ends; the INSERT that finds no room leaves nothing of itself."""
    server = new_server(settings=SETTINGS)
    columns = ", ".join(f"c{i} nvarchar(4000)" for i in range(29))
    text = f"SET NOCOUNT ON DECLARE @t TABLE ({columns}) DECLARE @n int = 0 WHILE @@ERROR = 0 BEGIN SET @n = @n + 1 INSERT @t EXEC sp_columns_100 '%' END SELECT @n AS n"
    with guest(server) as other, Wire(server).login() as admin, Wire(server).login() as w:
        before = counters(admin)["memory_used_bytes"]
        answer = w.batch(text)
        assert answer.numbers == [701] and 2 <= answer.rows[0][0] < 40, answer.summary()
        works(other)
        is_bounded(server)
        assert counters(admin)["memory_used_bytes"] - before < MIB
        assert w.batch(f"DECLARE @t TABLE ({columns}) INSERT @t EXEC sp_columns_100 '%' SELECT COUNT(*) AS n FROM @t WHERE c2 = 'databases' AND c3 = 'name'").ok().rows == [[1]]


def item_body(w, size):
    return tds.rpc_body([("proc_AddItem", [Param(t.varchar("h"), "@id"), Param(t.varbinary_max(bytes(size)), "@item"), Param(t.int_(20), "@timeout")])], w.version)


def test_requests(new_server):
    server = new_server(settings=SETTINGS)
    with guest(server) as other, Wire(server).login() as w:
        for _ in range(3):
            w.send_message(tds.RPC, item_body(w, 40 * MIB))
            assert w.answer(check=False).numbers == [701]
            works(w, 6 * MIB)
        half = [Wire(server).login() for _ in range(6)]         # requests that never end: half of each is there
        for h in half:
            h.send(tds.packets(tds.RPC, item_body(h, 20 * MIB))[:15 * MIB])
        works(other)
        is_bounded(server)
        for h in half:
            h.close()
        time.sleep(0.2)
        works(w, 6 * MIB)


def test_unread_items(new_server):
    """Values that wait for their clients are all of them in memory; whoever comes too late is told, and nothing is locked for him."""
    server = new_server(settings=SETTINGS)
    with guest(server) as other, Wire(server).login() as w:
        size = 12 * MIB
        for i in range(10):
            add(w, f"item-{i}", bytes([i]) * size).ok()
        unread = []
        for i in range(10):
            u = Wire(server).login()
            params = [Param(t.varchar(f"item-{i}"), "@id"), Param(t.varbinary_max(None), "@item", output=True), Param(t.bit(None), "@locked", output=True),
                      Param(t.int_(None), "@lockAgeInSeconds", output=True), Param(t.int_(None), "@lockCookie", output=True)]
            u.send_message(tds.RPC, tds.rpc_body([("proc_GetItemWithLock", params)], u.version))
            unread.append(u)
        time.sleep(1)
        works(other)
        is_bounded(server)
        answers = [u.answer(tds.RPC) for u in unread]
        refused = [i for i, a in enumerate(answers) if a.numbers == [701]]
        assert 1 <= len(refused) <= 9
        for i, a in enumerate(answers):
            if i not in refused:
                assert a.ok().outputs["@item"] == bytes([i]) * size
            else:
                again = get(w, f"item-{i}", "proc_GetItemWithLock").ok()
                assert again.outputs["@locked"] == 0 and again.outputs["@item"] == bytes([i]) * size
        for u in unread:
            u.close()


def test_two_logins_share_the_whole(new_server):
    """Each would have three quarters of it: together they have no more than there is."""
    server = new_server(settings=SETTINGS)
    with guest(server), Wire(server).login() as admin:
        half = [Wire(server).login(**who) for who in ({}, {"user": "guest", "password": "Guest-Pass-1"}) for _ in range(4)]
        for h in half:
            h.send(tds.packets(tds.RPC, item_body(h, 20 * MIB))[:15 * MIB])
        deadline, used = time.monotonic() + 20, 0
        while used < (LIMIT - 2) * MIB:                         # all but what is too little for anybody's next piece
            used = counters(admin)["memory_used_bytes"]
            assert time.monotonic() < deadline, used
            time.sleep(0.02)
        time.sleep(0.3)
        assert counters(admin)["memory_used_bytes"] <= LIMIT * MIB
        for h in half:
            h.close()


def test_strangers_share_an_eighth(new_server):
    """Each has begun a login and goes no further."""
    server = new_server(settings={**SETTINGS, "memory_limit": 4, "login_timeout": 60})
    with Wire(server).login() as admin:
        before, strangers = counters(admin)["memory_used_bytes"], []
        for _ in range(200):
            strangers.append(Wire(server, source="127.0.0.99"))
            with contextlib.suppress(Closed, OSError):          # too many by then
                strangers[-1].pre()
                strangers[-1].send(struct.pack(">BBHHBB", tds.LOGIN7, 0, 4008, 0, 1, 0) + bytes(4000))
        share = 4 * MIB // 8
        assert share // 2 < counters(admin)["memory_used_bytes"] - before <= share + 16384       # of the administrator himself
        assert admin.batch("SELECT 1").value == 1
        server.wait_log('event=protocol_error .*peer=127.0.0.99.* reason="no memory is left for those who log in"')
        for w in strangers:
            w.close()


LOOP = "DECLARE @i int = 0 WHILE @i < {n} BEGIN SELECT @i, REPLICATE('x', 8000) SET @i = @i + 1 END"


def test_the_answer_of_a_batch_leaves_while_it_runs(new_server):
    """100 MB of answers in a server of 64: they are not kept, whoever reads gets all, and who does not read makes the batch wait."""
    server = new_server(settings=SETTINGS)
    with guest(server) as other, Wire(server).login() as w:
        unread = [Wire(server).login() for _ in range(4)]
        for u in unread:
            u.send_message(tds.BATCH, tds.batch_body(LOOP.format(n=12000), u.version))
        w.send_message(tds.BATCH, tds.batch_body(LOOP.format(n=12000), w.version))
        total, last = 0, False
        while not last:
            kind, status, body = w.read_packet()
            total, last = total + len(body), status & tds.EOM
        assert total > 12000 * 8000
        works(other)
        is_bounded(server)
        for u in unread:
            u.attention()
        time.sleep(0.3)
        for u in unread:
            u.close()
        assert w.batch("SELECT 6").value == 6


def test_an_unread_batch_ends(new_server):
    server = new_server(settings={**SETTINGS, "send_timeout": 2})
    with Wire(server).login() as back, Wire(server).login() as away:
        for w in (back, away):
            w.send_message(tds.BATCH, tds.batch_body(LOOP.format(n=12000), w.version))
        time.sleep(3)
        assert back.answer().numbers == [50013]
        assert back.batch("SELECT 5").value == 5
        time.sleep(8)                           # the batch's end, and a time-out more, without reading
        assert away.is_closed(20)


def test_one_statement_that_says_too_much(new_server):
    server = new_server(settings=SETTINGS)
    with guest(server) as other, Wire(server).login() as w:
        for text in ("SELECT 1 SELECT REPLICATE(CAST('x' AS varchar(max)), 60000000)", "DECLARE @x varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 60000000)"):
            answer = w.batch(text)
            assert answer.numbers == [701], answer.summary()
            assert w.batch("SELECT 5").value == 5
        works(other)
        is_bounded(server)


def test_the_sum_is_shown(new_server):
    """procession_stats shows what is used and what may be: a prepared statement counts until it is gone."""
    server = new_server(settings=SETTINGS)

    def used(w):
        now = counters(w)
        assert now["memory_limit_bytes"] == LIMIT * MIB
        return now["memory_used_bytes"]

    with Wire(server).login() as admin:
        before = used(admin)
        assert 0 < before < MIB
        with Wire(server).login() as w:
            prepare(w, "SELECT 1 --" + "x" * 500000).ok()
            assert used(admin) > before + 500000
        deadline = time.monotonic() + 10
        while used(admin) > before + 100000 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert used(admin) <= before + 100000
