"""Readers who do not read, and SELECTs without an end: others go on reading, the WAL stays short, and each ends with a clear error."""
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.store import sqlite_only
from support.wire import Param, Wire

from statecalls import add

ITEMS = 120
ENDLESS = "SELECT a.Id, b.Id, c.Id FROM dbo.Items a, dbo.Items b, dbo.Items c"
LONG = "SELECT COUNT(*) FROM dbo.Items a, dbo.Items b, dbo.Items c, dbo.Items d, dbo.Items e"


def filled(new_server, **settings):
    server = new_server(settings={"readers": 1, **settings})
    with Wire(server).login() as w:
        for i in range(ITEMS):
            add(w, f"{i:04d}".ljust(400, "x")).ok()
    return server


def ask(server, text):
    """Sends it and reads nothing."""
    w = Wire(server).login()
    w.send_message(tds.BATCH, tds.batch_body(text, w.version))
    return w


def come_back(w):
    """Reads the answer as fast as it comes, before it is looked at."""
    raw, at, last = bytearray(w.inbuf), 0, False
    while not last:
        raw += w.recv()
        while at + 8 <= len(raw) and not last:
            last, at = raw[at + 1] & tds.EOM, at + int.from_bytes(raw[at + 2:at + 4], "big")
    w.inbuf = bytes(raw)
    return w.answer()


def promptly(w, text="SELECT COUNT(*) FROM dbo.Items", expected=ITEMS):
    start = time.monotonic()
    assert w.batch(text).ok().value == expected
    assert time.monotonic() - start < 10


def all_kinds_of_reads(server):
    with Wire(server, timeout=15).login() as w:
        promptly(w)
        assert len(w.rpc("sp_databases").ok().rows) > 0
        assert len(w.rpc("sp_stored_procedures", [Param(t.nvarchar("proc_AddItem"))]).ok().rows) == 1
        promptly(w, "SELECT COUNT(*) FROM sys.databases WHERE name = 'StateService'", 1)


@pytest.mark.parametrize("text", [ENDLESS, LONG])
def test_slow_selects_keep_nobody_from_reading(new_server, text):
    """With one reader: five clients that do not read, or five joins."""
    server = filled(new_server)
    slow = [ask(server, text) for _ in range(5)]
    time.sleep(0.5)
    all_kinds_of_reads(server)
    for w in slow:
        w.close()
    all_kinds_of_reads(server)


def test_slow_metadata_keeps_nobody_from_metadata(new_server):
    server = filled(new_server)
    names = ", ".join(f"sys.all_objects {c}" for c in "abcdefgh")
    slow = [ask(server, f"SELECT COUNT(*) FROM {names}") for _ in range(4)]
    time.sleep(0.5)
    all_kinds_of_reads(server)
    for w in slow:
        w.close()


def test_the_longest_unread_select_ends_when_all_readers_are_taken(new_server):
    server = filled(new_server)
    unread = [ask(server, ENDLESS) for _ in range(20)]
    time.sleep(1)
    with Wire(server, timeout=30).login() as w:
        promptly(w)
        for _ in range(3):
            assert len(w.rpc("sp_databases").ok().rows) > 0
    assert unread[0].answer().numbers == [50014]
    assert unread[0].batch("SELECT 5").value == 5
    for w in unread:
        w.close()


def test_a_select_that_is_not_read_ends(new_server):
    """Its client may come back within another time-out, and learns why; then the connection is closed."""
    server = filled(new_server, send_timeout=2)
    back, away = ask(server, ENDLESS), ask(server, ENDLESS)
    time.sleep(3)
    assert come_back(back).numbers == [50013]
    assert back.batch("SELECT 5").value == 5
    server.wait_log("the client does not read its answer", timeout=60)      # the query's end, and a time-out more, without reading
    assert away.is_closed(20)
    back.close()


def test_a_slow_client_is_not_a_stalled_one(new_server):
    """It takes 4 MB a second, so that the answer takes longer than the time-out."""
    server = filled(new_server, send_timeout=2)
    w = ask(server, "SELECT TOP 30000 a.Id, b.Id FROM dbo.Items a, dbo.Items b, dbo.Items c")
    raw, at, last = bytearray(w.inbuf), 0, False
    while not last:
        more = w.sock.recv(400000)
        assert more, "closed while it was being read"
        raw += more
        while at + 8 <= len(raw) and not last:
            last, at = raw[at + 1] & tds.EOM, at + int.from_bytes(raw[at + 2:at + 4], "big")
        time.sleep(0.1)
    assert len(raw) > 30000 * 800
    w.inbuf = b""
    assert w.batch("SELECT 5").value == 5
    w.close()


@sqlite_only("query_cost_limit has no meaning with PostgreSQL")
def test_a_select_has_a_cost(new_server):
    server = filled(new_server, query_cost_limit=1)
    with Wire(server).login() as w:
        answer = w.batch(LONG)
        assert answer.numbers == [8649] and "query_cost_limit" in answer.errors[0].text
        promptly(w)


@sqlite_only("the WAL is SQLite's")
def test_an_unread_select_does_not_pin_the_log(new_server):
    """It is ended when the WAL is too long, which can be begun anew then."""
    server = filled(new_server, max_wal_size=8)
    wal = server.data / "StateService.db-wal"
    w = ask(server, ENDLESS)
    time.sleep(0.5)
    size, since = 0, 0
    with Wire(server).login() as writer:
        for i in range(240):                    # MB; begun anew, the WAL is written from its beginning and grows no further
            add(writer, f"body-{i}", bytes([i]) * 1000000).ok()
            now = wal.stat().st_size
            size, since = (now, i) if now > size else (size, since)
            if i - since >= 40:
                break
            time.sleep(0.01)
    assert i - since >= 40, f"the WAL grew up to the end: {size} bytes"
    assert w.answer().numbers == [3966]
    assert w.batch("SELECT 5").value == 5
    w.close()
