"""Packets and messages: any legal split is the same message (wire notes 2)."""
import struct

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Param, Wire

from statecalls import add, get


def cut(body, kind, sizes):
    """One message in packets with bodies of these sizes, the rest in the last."""
    out, pos = b"", 0
    for i, n in enumerate(list(sizes) + [len(body) - sum(sizes)]):
        part = body[pos:pos + n]
        pos += n
        out += struct.pack(">BBHHBB", kind, tds.EOM if i == len(sizes) else 0, len(part) + 8, 0, i & 0xFF, 0) + part
    assert pos == len(body)
    return out


def test_a_batch_split_at_every_place(wire):
    body = tds.batch_body("SELECT 'split', @@SPID")
    for place in range(len(body) + 1):
        wire.send(cut(body, tds.BATCH, [place]))
        assert wire.answer().rows == [["split", wire.spid]]


def test_an_rpc_split_at_every_place(wire):
    body = tds.rpc_body([(10, [Param(t.nvarchar("SELECT @a, @b")), Param(t.nvarchar("@a int, @b varbinary(max)")), Param(t.int_(5), "@a"),
                               Param(t.varbinary_max(b"1234567890"), "@b", chunk=3)])])
    for place in range(len(body) + 1):
        wire.send(cut(body, tds.RPC, [place]))
        assert wire.answer(tds.RPC).rows == [[5, b"1234567890"]]


def test_one_byte_of_body_a_packet(wire):
    body = tds.batch_body("SELECT 'small'")
    wire.send(cut(body, tds.BATCH, [1] * (len(body) - 1)))
    assert wire.answer().value == "small"


def test_empty_packets_in_between(wire):
    body = tds.batch_body("SELECT 'empty'")
    wire.send(cut(body, tds.BATCH, [0, 5, 0, 0, 7, 0]))
    assert wire.answer().value == "empty"


def test_one_byte_a_segment_from_the_first_byte_on(server, witness):
    """Everything, PRELOGIN and LOGIN7 included, arrives byte by byte."""
    with Wire(server) as w:
        plain = w.send_clear

        def trickle(data):
            for i in range(len(data)):
                plain(data[i:i + 1])

        w.send_clear = trickle
        w.login()
        assert w.batch("SELECT 'slow'").value == "slow"
        assert w.rpc("proc_RefreshItemExpiration", [Param(t.varchar("x"))]).status == 0


def test_one_byte_a_segment_in_tls(server, witness):
    with Wire(server, encryption=tds.ENCRYPT_ON) as w:
        plain = w.send_clear
        w.send_clear = lambda data: [plain(data[i:i + 1]) for i in range(len(data))]
        w.login()
        assert w.batch("SELECT 'slow'").value == "slow"


def test_everything_at_once(server, witness):
    """PRELOGIN, LOGIN7 and three batches in one segment, before any answer: each is answered in turn."""
    with Wire(server) as w:
        w.send(tds.packets(tds.PRELOGIN, tds.prelogin()) + tds.packets(tds.LOGIN7, tds.login7(password=server.password)) +
               b"".join(tds.packets(tds.BATCH, tds.batch_body(f"SELECT {i}")) for i in range(3)))
        w.read_raw_message()
        w.finish_login()
        assert [w.answer().value for _ in range(3)] == [0, 1, 2]


def test_requests_wait_for_their_turn(wire):
    """A client that does not wait gets the answers in order."""
    wire.send(b"".join(tds.packets(tds.BATCH, tds.batch_body(f"SELECT {i}")) for i in range(300)))
    assert [wire.answer().value for _ in range(300)] == list(range(300))


@pytest.mark.parametrize("size", (512, 4096, 32767))
def test_large_values_in_every_packet_size(server, witness, key, size):
    data = bytes(range(256)) * 2000
    with Wire(server).login(packet_size=size) as w:
        assert w.packet_size == size
        add(w, key, data).ok()
        assert get(w, key).outputs["@item"] == data


def test_plp_leaves_in_small_chunks(wire, key):
    """tedious copies its buffer until a chunk is complete: SQL Server's size is about 8000 bytes."""
    add(wire, key, b"z" * 100000).ok()
    value = [v for v in get(wire, key).all("returnvalue") if v.name == "@item"][0]
    assert len(value.chunks) > 1 and max(value.chunks) <= 16384


@pytest.mark.parametrize("version", (tds.V71R1, tds.V72, tds.V74))
def test_several_rpcs_in_one_message(server, witness, key, version):
    """wire notes 14.5: each but the last ends with DONEPROC MORE|RPCINBATCH; an error in one does not stop the next."""
    with Wire(server, version).login() as w:
        one = [Param(t.varchar(key)), Param(t.varbinary(b"x")), Param(t.int_(20))]
        answer = w.rpcs([("proc_AddItem", one), ("proc_AddItem", one), ("proc_Nothing", []), ("proc_RefreshItemExpiration", [Param(t.varchar(key))])])
        ends = answer.all("doneproc")
        assert len(ends) == 4 and answer.numbers == [2627, 2812]
        assert [e.status & (tds.MORE | tds.RPCINBATCH) for e in ends] == [0x81, 0x81, 0x81, 0]
        assert [bool(e.status & tds.ERROR) for e in ends][2:] == [True, False]
        assert answer.status == 0


def test_a_separator_after_the_last_rpc_is_ignored(wire, key):
    answer = wire.rpcs([("proc_RefreshItemExpiration", [Param(t.varchar(key))])], trailing=True)
    assert answer.status == 0 and not answer.errors


def test_no_exec_flag(wire, key):
    """0xFE: the RPC before it is not executed."""
    params = [Param(t.varchar(key)), Param(t.varbinary(b"x")), Param(t.int_(20))]
    body = tds.all_headers(tds.V74) + tds.rpc_one("proc_AddItem", params) + b"\xfe" + tds.rpc_one("proc_RefreshItemExpiration", [Param(t.varchar(key))])
    wire.send_message(tds.RPC, body)
    wire.answer(tds.RPC)
    assert get(wire, key).outputs["@locked"] is None


def test_empty_batch(wire):
    answer = wire.batch("")
    assert answer.kinds == ["done"] and answer.last.status == 0


def test_many_short_requests(wire):
    for i in range(500):
        assert wire.batch(f"SELECT {i}").value == i
