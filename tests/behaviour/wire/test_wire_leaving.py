"""Large values of OUTPUT parameters leave from where they lie, as the client takes them: whatever it does meanwhile, the answer is whole and in its place."""
import hashlib
import signal

import pytest

from support import wire as tds
from support import wiretypes as t
from support.plain import PlainServer
from support.server import Server
from support.store import sqlite_only
from support.wire import Param, Wire

from statecalls import add, get

SIZE = 24 << 20         # more than the buffers of a socket take


def pattern(n, seed=b"leaving"):
    block = hashlib.shake_256(seed).digest((1 << 16) + 7)
    return (block * (n // len(block) + 1))[:n]


def params(key):
    return [Param(t.varchar(key), "@id"), Param(t.varbinary_max(None), "@item", output=True), Param(t.bit(None), "@locked", output=True),
            Param(t.int_(None), "@lockAgeInSeconds", output=True), Param(t.int_(None), "@lockCookie", output=True)]


def ask(w, *keys):
    w.send_message(tds.RPC, tds.rpc_body([("proc_GetItemWithoutLock", params(key)) for key in keys], w.version))


@pytest.fixture(params=(tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_ON), ids=("clear", "tls"))
def w(request, server, witness):
    with Wire(server, encryption=request.param).login() as made:
        yield made


@pytest.mark.parametrize("size", ((64 << 10) - 1, 64 << 10, 100_000, 100_001, (4 << 20) - 1, 4 << 20, (4 << 20) + 8001, 9 << 20))
def test_the_value_and_what_follows_it(w, key, size):
    data = pattern(size)
    add(w, key, data).ok()
    for _ in range(2):
        answer = get(w, key).ok()
        assert answer.outputs["@item"] == data and answer.outputs["@locked"] is False and answer.outputs["@lockCookie"] == 1
    assert w.batch("SELECT 1").value == 1


@pytest.mark.parametrize("packet_size", (512, 8012, 32767))
def test_packets_of_all_sizes(server, key, packet_size):
    """8012: each takes just one chunk of the value and its length."""
    data = pattern(9 << 20)
    with Wire(server, encryption=tds.ENCRYPT_NOT_SUP).login(packet_size=packet_size) as w:
        add(w, key, data).ok()
        assert get(w, key).ok().outputs["@item"] == data
        assert w.batch("SELECT 1").value == 1


def test_attention_before_anything_was_read(w, key):
    """The value began to leave, so it is ended; then comes the acknowledgement."""
    data = pattern(SIZE)
    add(w, key, data).ok()
    ask(w, key)
    w.fill(8)
    w.attention()
    assert w.answer(tds.RPC).ok().outputs["@item"] == data
    w.acknowledgement()
    assert w.batch("SELECT 2").value == 2


def test_requests_that_come_before_the_answer_was_read(w, witness, key):
    data = pattern(SIZE)
    add(w, key, data).ok()
    for _ in range(3):
        ask(w, key)
    assert witness.batch("SELECT 3").value == 3
    for _ in range(3):
        assert w.answer(tds.RPC).ok().outputs["@item"] == data


def test_several_calls_in_one_message(w, key):
    first, second = pattern(5 << 20), pattern(4 << 20, b"second")
    add(w, key, first).ok()
    add(w, key + "2", second).ok()
    ask(w, key, key + "2", "nowhere", key)
    answer = w.answer(tds.RPC)
    assert not answer.errors
    assert [v.value for v in answer.all("returnvalue") if v.name == "@item"] == [first, second, None, first]


def test_a_client_that_goes_away(server, witness, key):
    add(witness, key, pattern(SIZE)).ok()
    for encryption in (tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_ON):
        for taken in (0, 8, 1 << 20):
            with Wire(server, encryption=encryption).login() as gone:
                ask(gone, key)
                gone.fill(taken)
    assert get(witness, key).ok().outputs["@item"] == pattern(SIZE)


@pytest.mark.parametrize("encryption", (tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_ON), ids=("clear", "tls"))
def test_a_server_that_is_told_to_stop(key, encryption):
    """What was answered reaches the client, as far as it has begun to leave."""
    data = pattern(SIZE)
    with Server() as server:
        with Wire(server, encryption=encryption).login() as w:
            add(w, key, data).ok()
            ask(w, key)
            w.fill(8)
            server.signal(signal.SIGTERM)
            server.wait_log("event=(stop|drain|shutdown)")
            assert w.answer(tds.RPC).ok().outputs["@item"] == data
            assert w.is_closed()


@pytest.mark.parametrize("encryption", (tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_ON), ids=("clear", "tls"))
@sqlite_only("libpq has a value twice, and its buffer grows by doubling: docs/scale-out.md has the numbers")
def test_a_value_that_is_read_is_in_memory_once(key, encryption):
    data = pattern(64 << 20)
    with PlainServer() as server:
        with Wire(server).login() as w:
            add(w, key, data).ok()
        server.restart()
        with Wire(server, encryption=encryption, timeout=60).login() as w:
            before = server.peak_bytes()
            assert get(w, key, "proc_GetItemWithLock").ok().outputs["@item"] == data
            assert server.peak_bytes() - before < 1.3 * len(data)
