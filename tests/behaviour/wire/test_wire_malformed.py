"""Malformed, truncated, oversized, out-of-order input: an error or the end of the connection, never a crash, a hang, or harm to others."""
import random
import struct

import pytest

from support import wire as tds
from support import wiretypes as t
from support.wire import Closed, Param, ServerError, Wire
from support.wiretypes import Malformed, Type


def header(kind, status, length):
    return struct.pack(">BBHHBB", kind, status, length, 0, 1, 0)


# The first bytes of a connection

GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "zeros": b"\0" * 100,
    "ones": b"\xff" * 100,
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "length 0": header(tds.PRELOGIN, 1, 0),
    "length 7": header(tds.PRELOGIN, 1, 7),
    "length 65535": header(tds.PRELOGIN, 1, 65535) + b"x" * 65527,
    "batch first": tds.packets(tds.BATCH, tds.batch_body("SELECT 1")),
    "rpc first": tds.packets(tds.RPC, tds.rpc_body([("p", [])])),
    "attention first": tds.packets(tds.ATTENTION, b""),
    "tm first": tds.packets(tds.TM, tds.tm_body(5, b"\0\0")),
    "bulk first": tds.packets(tds.BULK, b"x" * 100),
    "sspi first": tds.packets(tds.SSPI, b"x" * 100),
    "response first": tds.packets(tds.RESPONSE, b"x" * 100),
    "empty prelogin": tds.packets(tds.PRELOGIN, b""),
    "prelogin without end": tds.packets(tds.PRELOGIN, b"\0\0\x05\0\x06"),
    "prelogin offset outside": tds.packets(tds.PRELOGIN, bytes.fromhex("0000ff0006ff") + b"\0" * 6),
    "prelogin length outside": tds.packets(tds.PRELOGIN, bytes.fromhex("000006ffffff") + b"\0" * 6),
    "prelogin no version": tds.packets(tds.PRELOGIN, bytes.fromhex("01000600 01ff00".replace(" ", ""))),
    "prelogin short version": tds.packets(tds.PRELOGIN, bytes.fromhex("0000060001ff09")),
    "prelogin wild encryption": tds.packets(tds.PRELOGIN, tds.prelogin(0x55)),
    "tls record that is no hello": b"\x16\x03\x01\x00\x05hello" + b"\0" * 50,
    "tls alert": b"\x15\x03\x01\x00\x02\x02\x28",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_ends_the_connection(server, witness, name):
    with Wire(server) as w:
        try:
            w.send(GARBAGE[name])
        except Closed:
            return
        if name == "prelogin wild encryption":
            w.sock.settimeout(2)        # masked or refused: both are fine
            try:
                w.read_packet()
            except (Closed, TimeoutError):
                pass
            return
        assert w.is_closed(5), "neither answered nor closed"


@pytest.mark.parametrize("name", ("one byte", "half header", "header only", "half body"))
def test_a_client_that_vanishes(server, witness, name):
    message = tds.packets(tds.PRELOGIN, tds.prelogin())
    n = {"one byte": 1, "half header": 4, "header only": 8, "half body": 20}[name]
    w = Wire(server)
    w.send(message[:n])
    w.close()


# LOGIN7


def refused(server, body, kind=tds.LOGIN7):
    """The login is refused with an error or the connection ends."""
    with Wire(server) as w:
        w.hello()
        w.send(tds.packets(kind, body))
        try:
            answer = w.answer()
        except Closed:
            return None
        assert answer.errors, answer.summary()
        assert w.is_closed()
        return answer.numbers


def test_every_truncation_of_login7(server, witness):
    """Cut anywhere, with and without the length repaired: refused."""
    body = tds.login7(password=server.password, database="StateService", features=[(0x0A, b"\1")])
    for n in list(range(0, 100, 3)) + list(range(100, len(body), 17)):
        refused(server, body[:n])
        if n >= 4:
            refused(server, struct.pack("<I", n) + body[4:n])


FIELDS = {36: "host", 40: "user", 44: "password", 48: "app", 52: "server", 56: "extension", 60: "library", 64: "language", 68: "database", 78: "sspi", 86: "new password"}


@pytest.mark.parametrize("offset", FIELDS, ids=FIELDS.values())
@pytest.mark.parametrize("place, count", ((0xFFFF, 1), (94, 0xFFFF), (0xFFFE, 0xFFFF), (0, 60000), (93, 5)))
def test_login7_fields_that_leave_the_message(server, witness, offset, place, count):
    body = tds.login7(password=server.password, database="StateService", features=[(0x0A, b"\1")], option2=0x83 if offset == 78 else 3,
                      option3=1 if offset == 86 else 0, patch={offset: struct.pack("<HH", place, count)})
    with Wire(server) as w:
        w.hello()
        w.send(tds.packets(tds.LOGIN7, body))
        try:
            w.answer(check=False)       # ignored fields may be wrong; what matters is that nothing is read past the message
        except (Closed, Malformed):
            pass


def test_login7_wrong_total_length(server, witness):
    body = tds.login7(password=server.password)
    for length in (0, 1, 35, 93, len(body) + 1, 0x7FFFFFFF, 0xFFFFFFFF):
        refused(server, struct.pack("<I", length) + body[4:])


def test_login7_extension_that_lies(server, witness):
    good = tds.login7(password=server.password, features=[(0x0A, b"\1")])
    place = struct.unpack("<H", good[56:58])[0]
    for value in (1, 93, len(good), len(good) + 1, 0x7FFFFFFF, 0xFFFFFFFF):
        refused(server, good[:place] + struct.pack("<I", value) + good[place + 4:])
    start = struct.unpack("<I", good[place:place + 4])[0]
    for tail in (b"", b"\x0a", b"\x0a\xff\xff\xff\xff\1\xff", b"\x0a\1\0\0\0", b"\x0a\1\0\0\0\1", b"\x01\0\0\0\x80\xff"):
        body = good[:start] + tail
        refused(server, struct.pack("<I", len(body)) + body[4:])


def test_login7_random_changes(server, witness):
    """120 logins with a few bytes changed (fixed seed), sixty at a time: any answer or none, no harm."""
    rng = random.Random(20260101)
    good = tds.login7(password="wrong", database="StateService", features=[(0x0A, b"\1")])
    for _ in range(2):
        many = []
        for _ in range(60):
            body = bytearray(good)
            for _ in range(rng.randint(1, 6)):
                body[rng.randrange(len(body))] = rng.randrange(256)
            w = Wire(server)
            w.send(tds.packets(tds.LOGIN7, bytes(body)))
            many.append(w)
        for w in many:
            with w:
                try:
                    w.answer(check=False)
                except (Closed, Malformed, KeyError):
                    pass


def test_a_second_login_ends_the_session(server, witness):
    with Wire(server).login() as w:
        w.send_message(tds.LOGIN7, tds.login7(password=server.password))
        assert w.is_closed()


@pytest.mark.parametrize("kind", (0x00, 0x02, 0x04, 0x05, 0x08, 0x09, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x7F, 0xFF))
def test_messages_that_make_no_sense_after_login(server, witness, kind):
    with Wire(server).login() as w:
        w.send_message(kind, b"x" * 40)
        w.sock.settimeout(5)
        try:
            answer = w.answer(check=False)
            assert answer.errors
        except Closed:
            pass


# Packets of a session


@pytest.mark.parametrize("length", (0, 1, 7))
def test_packet_shorter_than_its_header(server, witness, length):
    with Wire(server).login() as w:
        w.send(header(tds.BATCH, 1, length) + b"x" * 30)
        assert w.is_closed()


def test_packet_larger_than_agreed(server, witness):
    """More than the agreed size, up to 32767, may be tolerated or refused; beyond it the connection ends."""
    with Wire(server).login(packet_size=512) as w:
        body = tds.batch_body("SELECT 1 -- " + "x" * 5000)
        w.send(tds.packets(tds.BATCH, body, 16000))
        try:
            assert w.answer().value == 1
        except Closed:
            pass
    with Wire(server).login() as w:
        try:
            w.send(header(tds.BATCH, 1, 65535) + b"x" * 65527)
        except Closed:
            return
        assert w.is_closed()


def test_another_type_in_the_middle_of_a_message(server, witness):
    with Wire(server).login() as w:
        body = tds.batch_body("SELECT 1")
        w.send(header(tds.BATCH, 0, 8 + 10) + body[:10] + header(tds.RPC, 1, 8 + len(body) - 10) + body[10:])
        assert w.is_closed()


def broken(wire, kind, body):
    """The request is answered with an error (then the session goes on) or the connection ends."""
    wire.send_message(kind, body)
    try:
        answer = wire.answer(kind, check=False)
    except Closed:
        return None
    assert answer.errors, answer.summary()
    return answer.numbers


HEADERS = {
    "total 0": struct.pack("<I", 0), "total 3": struct.pack("<I", 3), "total too long": struct.pack("<IIHQI", 1000, 18, 2, 0, 1), "total huge": struct.pack("<IIHQI", 0xFFFFFFFF, 18, 2, 0, 1),
    "length 0": struct.pack("<IIHQI", 22, 0, 2, 0, 1), "length 5": struct.pack("<IIHQI", 22, 5, 2, 0, 1), "length huge": struct.pack("<IIHQI", 22, 0xFFFFFFFF, 2, 0, 1),
    "no descriptor": struct.pack("<I", 4), "short descriptor": struct.pack("<IIHQ", 18, 14, 2, 0), "nothing": b"", "three bytes": b"\1\2\3",
}


@pytest.mark.parametrize("name", HEADERS)
def test_all_headers_that_lie(server, witness, name):
    with Wire(server).login() as w:
        body = HEADERS[name] + ("SELECT 1".encode("utf-16-le") if len(HEADERS[name]) > 3 else b"")
        numbers = broken(w, tds.BATCH, body)
        if numbers is not None:
            assert w.batch("SELECT 1").value == 1


def test_unknown_headers_are_skipped(wire):
    body = struct.pack("<IIHIIHQI", 4 + 10 + 18, 10, 99, 0, 18, 2, 0, 1) + "SELECT 5".encode("utf-16-le")
    wire.send_message(tds.BATCH, body)
    assert wire.answer().value == 5


def test_text_with_an_odd_number_of_bytes(server, witness):
    with Wire(server).login() as w:
        if broken(w, tds.BATCH, tds.batch_body("SELECT 1") + b"x") is not None:
            assert w.batch("SELECT 1").value == 1


def test_lone_surrogates_in_a_batch(wire):
    answer = wire.batch("SELECT N'\ud800x'")
    assert answer.errors or answer.value == "\ud800x"
    assert wire.batch("SELECT 1").value == 1


HEAD = tds.all_headers(tds.V74)


def rpc_raw(proc, params):
    return HEAD + struct.pack("<H", len(proc)) + proc.encode("utf-16-le") + b"\0\0" + params


BAD_RPC = {
    "nothing": b"", "no name": HEAD, "half a name": HEAD + struct.pack("<H", 10) + b"abc", "name of 60000": HEAD + struct.pack("<H", 60000) + b"a\0" * 100,
    "no flags": HEAD + struct.pack("<H", 1) + b"p\0", "unknown type": rpc_raw("p", b"\0\0\x99"), "type cut": rpc_raw("p", b"\0\0\x26"), "intn of 3": rpc_raw("p", b"\0\0\x26\x03\x03abc"),
    "intn longer than announced": rpc_raw("p", b"\0\0\x26\x04\x08" + b"x" * 8), "bit of 2": rpc_raw("p", b"\0\0\x68\x01\x02\0\0"), "guid of 15": rpc_raw("p", b"\0\0\x24\x10\x0f" + b"x" * 15),
    "decimal precision 77": rpc_raw("p", b"\0\0\x6a\x11\x4d\0\x05\1\0\0\0\0"), "decimal scale": rpc_raw("p", b"\0\0\x6a\x05\x05\x06\x05\1\0\0\0\0"), "decimal of 30": rpc_raw("p", b"\0\0\x6a\x11\x26\0\x1e" + b"\1" * 30),
    "time scale 8": rpc_raw("p", b"\0\0\x29\x08\x05" + b"\0" * 5), "varchar past the end": rpc_raw("p", b"\0\0\xa7\x10\0" + t.COLLATION + b"\x10\0abc"),
    "varchar longer than announced": rpc_raw("p", b"\0\0\xa7\x02\0" + t.COLLATION + b"\x05\0abcde"), "varchar max 9000": rpc_raw("p", b"\0\0\xa7\x28\x23" + t.COLLATION + b"\x01\0a"),
    "nvarchar odd": rpc_raw("p", b"\0\0\xe7\x10\0" + t.COLLATION + b"\x03\0abc"), "text huge": rpc_raw("p", b"\0\0\x23\xff\xff\xff\x7f" + t.COLLATION + b"\xf0\xff\xff\x7fabc"),
    "image negative": rpc_raw("p", b"\0\0\x22\xff\xff\xff\x7f\xfe\xff\xff\xffabc"), "plp without end": rpc_raw("p", b"\0\0\xa5\xff\xff" + b"\xfe" + b"\xff" * 7 + b"\x03\0\0\0abc"),
    "plp chunk huge": rpc_raw("p", b"\0\0\xa5\xff\xff" + b"\xfe" + b"\xff" * 7 + b"\xff\xff\xff\xffabc"), "plp total lies": rpc_raw("p", b"\0\0\xa5\xff\xff" + struct.pack("<Q", 100) + b"\x03\0\0\0abc\0\0\0\0"),
    "plp total huge": rpc_raw("p", b"\0\0\xa5\xff\xff" + struct.pack("<Q", 1 << 62) + b"\x03\0\0\0abc\0\0\0\0"), "variant": rpc_raw("p", b"\0\0\x62\x49\x1f\0\0\x05\0\0\0\x38\x09abc"),
    "variant huge": rpc_raw("p", b"\0\0\x62\x49\x1f\0\0\xff\xff\xff\x7f\x38"), "udt": rpc_raw("p", b"\0\0\xf0\x01a"), "table": rpc_raw("p", b"\0\0\xf3\0\0\x01t\0\xff\xff"), "table cut": rpc_raw("p", b"\0\0\xf3\0\0\x01t\0\x05\0"),
    "name of 127": rpc_raw("p", b"\x7f" + b"a\0" * 20), "status flags": rpc_raw("p", b"\0\xff\x26\x04\x00"), "rest after separator": rpc_raw("p", b"\xff\x05"), "encrypted": rpc_raw("p", b"\0\x08\x26\x04\x04\1\0\0\0"),
}


@pytest.mark.parametrize("name", BAD_RPC)
def test_rpc_that_lies(server, witness, name):
    with Wire(server).login() as w:
        if broken(w, tds.RPC, BAD_RPC[name]) is not None:
            assert w.batch("SELECT 1").value == 1


def test_every_truncation_of_an_rpc(server, witness):
    body = tds.rpc_body([("proc_AddItem", [Param(t.varchar("cut"), "@id"), Param(t.varbinary_max(b"1234567890"), "@item", chunk=4), Param(t.int_(20), "@timeout")])])
    w = Wire(server).login()
    for n in range(len(body)):
        w.send_message(tds.RPC, body[:n])
        try:
            assert w.answer(tds.RPC, check=False).errors, n
        except Closed:
            w.close()
            w = Wire(server).login()
    w.close()
    assert witness.batch("DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithoutLock 'cut', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT SELECT @l").value is None


def test_rpc_random_changes(server, witness):
    """600 calls with a few bytes changed (fixed seed)."""
    rng = random.Random(42)
    good = tds.rpc_body([(10, [Param(t.nvarchar("SELECT @a, @b, @c, @d")), Param(t.nvarchar("@a int, @b varbinary(max), @c decimal(9,2), @d datetime2(3)")), Param(t.int_(5), "@a"),
                               Param(t.varbinary_max(b"1234567890"), "@b", chunk=3), Param((Type(0x6A, 5, 9, 2), b"\1\5\0\0\0"), "@c"), Param((Type(0x2A, 7, 0, 3), b"\0" * 7), "@d")])])
    w = Wire(server).login()
    for _ in range(600):
        body = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            body[rng.randrange(22, len(body))] = rng.randrange(256)
        w.send_message(tds.RPC, bytes(body))
        try:
            w.answer(tds.RPC, check=False)
        except (Closed, Malformed) as e:
            assert isinstance(e, Closed), e
            w.close()
            w = Wire(server).login()
        w.descriptor = 0
    w.close()


def test_too_many_parameters(wire):
    assert wire.rpc("proc_AddItem", [Param(t.int_(1))] * 2101).numbers in ([8003], [8144])
    assert wire.rpc("proc_AddItem", [Param(t.int_(1))] * 2100).numbers == [8144]


@pytest.mark.parametrize("payload", (b"", b"\5", b"\5\0", b"\5\0\0", b"\7\0\x50ab", b"\7\0\0\1", b"\x09\0\0", b"\5\0\x63\0", b"\x09\0\x03abc"))
def test_tm_requests_that_lie(server, witness, payload):
    with Wire(server).login() as w:
        w.send_message(tds.TM, tds.all_headers(tds.V74) + payload)
        try:
            w.answer(tds.TM, check=False)
            assert w.batch("ROLLBACK" if w.descriptor else "SELECT 1").kinds
        except Closed:
            pass


def test_deep_and_long_texts(wire):
    """No text makes the parser run out of stack."""
    for text in ("SELECT " + "(" * 20000 + "1" + ")" * 20000, "SELECT " + "-" * 1 + "+ -" * 20000 + "1", "SELECT 1" + " + 1" * 20000, "IF 1=1 " * 5000 + "SELECT 1", "BEGIN " * 5000 + "SELECT 1 " + "END " * 5000,
                 "SELECT '" + "x" * 100000, "SELECT /*" + "/*" * 50000, "EXEC (" * 1000, "SELECT CASE WHEN 1=1 THEN " * 3000, "a" * 100000, "@" * 1000, "SELECT " + ",".join("1" for _ in range(5000)),
                 "DECLARE " + ",".join(f"@v{i} int" for i in range(5000))):
        answer = wire.batch(text)
        assert answer.errors or answer.results or answer.kinds == ["done"]
        assert wire.batch("SELECT 1").value == 1


def test_recursive_executesql(wire):
    """Texts within texts end at a nesting limit."""
    text = "SELECT 1"
    for _ in range(12):
        text = "EXEC('" + text.replace("'", "''") + "')"
        if len(text) > 200000:
            break
    wire.batch(text)
    assert wire.batch("SELECT 1").value == 1
