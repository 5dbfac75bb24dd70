"""Nobody's batch stops the others: what is short stays fast however it is written, what is long runs beside the loops and can be ended by everything that ends requests."""
import signal
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.server import Server
from support.wire import Param, Wire

PROMPT = 5          # seconds, on a busy machine under a sanitizer

# Texts that once took minutes, and what they answer. The first pattern is hopeless for a matcher that tries all ways to spread the text over its '%'.
HOPELESS = "%a" * 100 + "b"
SHORT = {
    "like": (f"IF REPLICATE('a', 250) LIKE '{HOPELESS}' SELECT 1 ELSE SELECT 0", 0),
    "like-in-a-view": (f"SELECT COUNT(*) FROM sys.objects WHERE REPLICATE('a', 250) + name LIKE '{HOPELESS}#'", 0),
    "set-in-a-view": (f"SELECT COUNT(*) FROM sys.objects WHERE REPLICATE('a', 250) + name LIKE '{'%[a-c]' * 60}#'", 0),
    "instr-in-a-view": ("SELECT COUNT(*) FROM sys.objects WHERE CHARINDEX(REPLICATE(CAST('a' AS varchar(max)), 300000) + 'b', "
                        "REPLICATE(CAST('a' AS varchar(max)), 600000) + name) > 0", 0),
    "patindex": (f"SELECT PATINDEX('{HOPELESS}', REPLICATE('a', 250))", 0),
    "charindex": ("SELECT CHARINDEX(REPLICATE(CAST('a' AS varchar(max)), 1000000) + 'b', REPLICATE(CAST('a' AS varchar(max)), 2000000))", 0),
    "declares": ("".join(f"DECLARE @v{i} int\n" for i in range(50000)) + "SELECT 7", 7),
    "uses": ("".join(f"DECLARE @v{i} int\n" for i in range(10000)) + "".join(f"SET @v{i} = 1\n" for i in range(9000, 10000)) + "SELECT @v9999", 1),
    "conditions": ("SELECT COUNT(*) FROM sys.objects WHERE " + " OR ".join(["name IS NULL"] * 900), 0),
    "values": ("SELECT COUNT(*) FROM sys.objects WHERE object_id IN (" + ", ".join(["-1"] * 30000) + ")", 0),
    "texts": ("SELECT COUNT(*) FROM sys.objects WHERE name IN (" + ", ".join(["'#'"] * 3900) + ")", 0),
    "assignments": ("DECLARE " + ", ".join(f"@v{i} sysname" for i in range(1900)) + " SELECT " + ", ".join(f"@v{i} = name" for i in range(1900)) +
                    " FROM sys.objects SELECT 3", 3),
}


@pytest.mark.parametrize("name", SHORT)
def test_what_is_short_is_fast(server, witness, name):
    text, expected = SHORT[name]
    with Wire(server, timeout=60).login() as w:
        start = time.monotonic()
        answer = w.batch(text).ok()
        assert time.monotonic() - start < 20
        assert [list(row) for row in answer.results[-1][1]] == [[expected]]


def test_a_pattern_of_a_procedure(server, witness):
    with Wire(server, timeout=60).login() as w:
        start = time.monotonic()
        w.batch(f"EXEC sp_tables @table_name = '{'%e' * 60}#'").ok()
        w.batch(f"EXEC sp_stored_procedures @sp_name = '{'%o' * 60}#'").ok()
        assert time.monotonic() - start < 20


def test_results_are_bounded_before_they_are_made(server, witness):
    """SQL Server's own rule for values that are not max; for the others the setting max_value_size, told at once."""
    long_a = "REPLICATE(CAST('a' AS varchar(max)), 900000000)"
    with Wire(server, timeout=60).login() as w:
        assert w.batch("SELECT LEN(REPLICATE('a', 2147483647))").value == 8000
        assert w.batch("SELECT LEN(REPLICATE(N'a', 2147483647))").value == 4000
        assert w.batch("SELECT LEN(REPLACE(REPLICATE('a', 8000), 'a', REPLICATE('b', 8000)))").value == 8000
        start = time.monotonic()
        for text in (f"SELECT LEN({long_a.replace('900000000', '2147483647')})", "DECLARE @s varchar(max) = REPLICATE(CAST('ab' AS varchar(max)), 2147483647)",
                     "SELECT LEN(REPLACE(REPLICATE(CAST('a' AS varchar(max)), 200000), 'a', REPLICATE('b', 8000)))"):
            answer = w.batch(text, check=False)
            assert answer.numbers == [50005] and "max_value_size" in answer.errors[0].text, (text, answer.errors)
        assert time.monotonic() - start < 20
        assert w.batch("SELECT 1").value == 1


# What really takes long: minutes, if nobody ends it.
TEXT = "REPLICATE(CAST('a' AS varchar(max)), 8000000)"
QUOTED = TEXT.replace("'", "''")
PATTERN = "'%' + REPLICATE('a', 7000) + 'b%'"
HOGS = {
    "like": f"IF {TEXT} LIKE {PATTERN} SELECT 1",
    "patindex": f"SELECT PATINDEX({PATTERN}, {TEXT})",
    "like-in-a-view": f"SELECT COUNT(*) FROM sys.objects WHERE {TEXT} + name LIKE {PATTERN}",
    "loop": "EXEC ('SET NOCOUNT ON DECLARE @i int = 0 WHILE 1 = 1 SET @i = 1 - @i')",
    "long-loop": f"EXEC ('SET NOCOUNT ON DECLARE @s varchar(max) = {QUOTED} WHILE 1 = 1 SET @s = REVERSE(@s)')",
    "rpc": None,
    "describe": None,
}


def begin(w, name):
    if name == "rpc":
        text = f"SET NOCOUNT ON DECLARE @s varchar(max) = {TEXT} WHILE 1 = 1 SET @s = UPPER(LOWER(@s))"
        w.send_message(tds.RPC, tds.rpc_body([(10, [Param(t.nvarchar_max(text))])], w.version))
    elif name == "describe":
        text = f"SELECT name FROM sys.objects WHERE {TEXT} LIKE {PATTERN}"
        w.send_message(tds.RPC, tds.rpc_body([("sp_describe_first_result_set", [Param(t.nvarchar_max(text))])], w.version))
    else:
        w.send_message(tds.BATCH, tds.batch_body(HOGS[name], w.version))


def others_go_on(server, witness):
    """Somebody who is there, and somebody who comes."""
    for _ in range(3):
        start = time.monotonic()
        assert witness.batch("SELECT 1").value == 1
        assert witness.batch("SELECT COUNT(*) FROM sys.databases").value > 0
        with Wire(server).login() as fresh:
            assert fresh.batch("SELECT 2").value == 2
        assert time.monotonic() - start < PROMPT


def working(witness):
    """How many sessions do something, the witness not counted."""
    columns, rows = witness.batch("EXEC sp_who").ok().results[0]
    names = [c.name for c in columns]
    return sum(row[names.index("cmd")].strip() != "AWAITING COMMAND" for row in rows) - 1


def wait_until_idle(witness):
    deadline = time.monotonic() + 10
    while working(witness) > 0:
        assert time.monotonic() < deadline, "a request whose client has gone still runs"
        time.sleep(0.05)


@pytest.mark.parametrize("name", HOGS)
def test_two_at_once_and_attention(server, witness, name):
    with Wire(server).login() as a, Wire(server).login() as b:
        for w in (a, b):
            begin(w, name)
        time.sleep(0.2)
        if name != "like-in-a-view":            # two readers are all that there are: others read when these have ended
            others_go_on(server, witness)
        for w in (a, b):
            start = time.monotonic()
            w.attention()
            answer = w.answer(tds.RPC if name in ("rpc", "describe") else tds.BATCH, check=False)
            w.acknowledgement()
            assert time.monotonic() - start < PROMPT
            assert not answer.errors and answer.last.status & tds.ERROR
            assert w.batch("SELECT 3").value == 3


@pytest.mark.parametrize("name", HOGS)
def test_a_client_that_leaves(server, witness, name):
    w = Wire(server).login()
    begin(w, name)
    time.sleep(0.3)
    assert working(witness) == 1
    w.close()
    wait_until_idle(witness)


@pytest.fixture(scope="module")
def hasty():
    with Server(settings={"execution_timeout": 1, "drain_timeout": 1}) as made:
        yield made


@pytest.mark.parametrize("name", HOGS)
def test_execution_timeout(hasty, name):
    with Wire(hasty).login() as w:
        start = time.monotonic()
        begin(w, name)
        answer = w.answer(tds.RPC if name in ("rpc", "describe") else tds.BATCH, check=False)
        assert answer.numbers[:1] == [50001], answer.errors
        assert time.monotonic() - start < 1 + PROMPT
        assert w.batch("SELECT 3").value == 3


def test_sigterm_ends_them(new_server):
    server = new_server(settings={"drain_timeout": 1})
    clients = [Wire(server).login() for _ in range(4)]
    for w, name in zip(clients, ("like", "loop", "long-loop", "describe")):
        begin(w, name)
    time.sleep(0.3)
    start = time.monotonic()
    server.stop()
    assert time.monotonic() - start < 10
    for w in clients:
        w.close()


def test_a_second_sigterm_ends_at_once(new_server):
    server = new_server(settings={"drain_timeout": 600})
    clients = [Wire(server).login() for _ in range(4)]
    for w, name in zip(clients, ("like", "loop", "long-loop", "like-in-a-view")):
        begin(w, name)
    time.sleep(0.3)
    server.signal(signal.SIGTERM)
    time.sleep(0.5)
    assert server.alive
    start = time.monotonic()
    server.signal(signal.SIGTERM)
    server.process.wait(10)
    assert time.monotonic() - start < PROMPT
    for w in clients:
        w.close()
    server.kill()


def test_variables_survive_the_move(server, witness):
    """A statement that is given up on the loop is done again elsewhere: once, not twice."""
    with Wire(server, timeout=60).login() as w:
        text = (f"DECLARE @a varchar(max) = 'x', @n int = 0, @s varchar(max) = {TEXT} "
                "SELECT @n = @n + 1, @a = @a + @s, @n += 1, @a = @a + REVERSE(@s), @n = @n + LEN(@a) "
                "SELECT @n, LEN(@a) UNION ALL SELECT LEN(@s), LEN(REPLACE(@s, 'a', 'bc')) PRINT 'once' SELECT @n")
        answer = w.batch(text).ok()
        assert [[list(row) for row in rows] for _, rows in answer.results] == [[[16000003, 16000001], [8000000, 16000000]], [[16000003]]]
        assert [m.text for m in answer.infos] == ["once"]


def test_use_in_a_long_batch(server, witness):
    with Wire(server, timeout=60).login() as w:
        text = f"DECLARE @s varchar(max) = {TEXT} SET @s = REVERSE(@s) USE master SELECT DB_NAME() SET @s = REVERSE(@s) USE StateService SELECT DB_NAME(), LEN(@s)"
        answer = w.batch(text).ok()
        assert [[list(row) for row in rows] for _, rows in answer.results] == [[["master"]], [["StateService", 8000000]]]


def test_long_texts_of_all_kinds(server, witness):
    """Compiled elsewhere: batch, sp_executesql, EXEC ('…'), sp_prepexec; with errors as ever."""
    pad = "/* " + "x" * 100000 + " */ "
    with Wire(server).login() as w:
        assert w.batch(pad + "SELECT 1").value == 1
        assert w.batch(pad + "SELECT FROM", check=False).numbers == [156]
        assert w.executesql(pad + "SELECT @a", "@a int", [Param(t.int_(5), "@a")]).value == 5
        assert w.batch(f"EXEC ('{pad}SELECT 6') SELECT 7").ok().results[-1][1][0][0] == 7
        assert w.batch(f"EXEC ('{pad}SELECT @x')", check=False).numbers == [137]
        assert w.batch("SELECT 8").value == 8


def test_a_login_with_many_long_batches(new_server):
    """It has half of the threads at most: the long batch of another login is answered all the same."""
    server = new_server(settings={"request_threads": 4})
    with Wire(server).login() as admin:
        admin.batch("EXEC master..procession_login_add @name = N'greedy', @password = N'Greedy-12'").ok()
        admin.batch("EXEC master..procession_login_add @name = N'modest', @password = N'Modest-12'").ok()
        hogs = [Wire(server).login("greedy", "Greedy-12", "master") for _ in range(6)]
        for w in hogs:
            begin(w, "like")
        time.sleep(0.3)
        with Wire(server).login("modest", "Modest-12", "master") as w:
            start = time.monotonic()
            assert w.batch("/* " + "x" * 100000 + " */ SELECT 1").value == 1
            assert w.batch(f"SELECT LEN(REVERSE({TEXT}))").value == 8000000
            assert time.monotonic() - start < PROMPT
        for w in hogs:
            w.close()
