"""The exchange itself, with tokens that are broken, too many, in the wrong place or late. The server answers, or closes, and serves the others."""
import pathlib
import random
import shutil
import subprocess

import pytest

import gss
import login
from realm import Realm
from support import wire as tds
from support.wire import LOGIN7, SSPI, Closed, Wire
from test_ntlm import ntlm

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"


@pytest.fixture(autouse=True)
def others_are_served(realm):
    """A session that was there before is there afterwards."""
    with Wire(realm.server).login() as w:
        yield
        assert w.batch("SELECT 1").value == 1
    assert realm.server.alive


@pytest.fixture(scope="module")
def good(realm, ticket):
    """First tokens as real clients send them."""
    return {
        "kerberos": lambda: gss.Initiator(realm.spn, env=ticket).step(),
        "spnego": lambda: gss.Initiator(realm.spn, gss.SPNEGO, env=ticket).step(),
        "ntlm": lambda: ntlm().step(),
    }


GARBAGE = {
    "empty": b"", "one byte": b"\x60", "zeros": b"\0" * 100, "text": b"NTLMSSQ\0\1\0\0\0" + b"\0" * 40, "long": bytes(range(256)) * 16,
    "ntlm without flags": b"NTLMSSP\0\1\0\0\0", "ntlm type 3 first": b"NTLMSSP\0\3\0\0\0" + b"\0" * 80, "ntlm type 9": b"NTLMSSP\0\x09\0\0\0" + b"\0" * 80,
    "der without end": b"\x60\x84\xff\xff\xff\xff", "spnego without content": bytes.fromhex("600806062b0601050502"),
    "kerberos without content": bytes.fromhex("600b06092a864886f712010202"), "another mechanism": bytes.fromhex("600706052b05010502") + b"\0" * 20,
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage(realm, name):
    with login.start(realm.server, GARBAGE[name]) as w:
        try:
            assert login.refused(w) == 18456
        except Closed:
            assert name == "empty"


@pytest.mark.parametrize("kind", ("kerberos", "spnego", "ntlm"))
def test_truncated(realm, good, kind):
    whole = good[kind]()
    for n in sorted({*range(1, 24, 3), len(whole) // 2, len(whole) - 1}):
        with login.start(realm.server, whole[:n]) as w:
            tokens = login.message(w)
            assert tokens[0].kind == "error" or (kind == "ntlm" and n >= 16 and tokens[0].kind == "sspi"), (n, tokens)


@pytest.mark.parametrize("kind", ("kerberos", "spnego"))
def test_changed_bytes(realm, good, kind):
    """Every change of a Kerberos token is noticed, or harmless; none logs in as somebody else."""
    rng = random.Random(4)
    whole = good[kind]()
    for _ in range(20):
        changed = bytearray(whole)
        changed[rng.randrange(60, len(changed))] ^= 1 << rng.randrange(8)
        with login.start(realm.server, bytes(changed)) as w:
            tokens = login.message(w)
            assert tokens[0].kind in ("error", "sspi"), tokens


def test_second_leg_is_garbage(realm):
    for rubbish in (b"x", b"", b"NTLMSSP\0\3\0\0\0", b"NTLMSSP\0\3\0\0\0" + b"\xff" * 200, b"NTLMSSP\0\1\0\0\0" + b"\0" * 100, b"\xa1\x05\x30\x03\xa0\x03\x0a"):
        with login.start(realm.server, ntlm().step()) as w:
            assert login.message(w)[0].kind == "sspi"
            login.send(w, rubbish)
            try:
                assert login.refused(w) == 18456
            except Closed:
                assert rubbish == b""


def test_truncated_answers(realm):
    """Every length of the last NTLM message."""
    client = ntlm()
    with login.start(realm.server, client.step()) as w:
        whole = client.step(login.message(w)[0].data)
    for n in range(12, len(whole), max(1, len(whole) // 25)):
        with login.start(realm.server, ntlm().step()) as w:
            login.message(w)
            login.send(w, whole[:n])
            assert login.refused(w) == 18456


def spnego_loop():
    """A first token that offers a mechanism we have, without a token for it: SPNEGO asks again."""
    mech = bytes.fromhex("060a") + gss.NTLM
    types = b"\xa0" + bytes([len(mech) + 2]) + b"\x30" + bytes([len(mech)]) + mech
    inner = b"\x30" + bytes([len(types)]) + types
    body = b"\x06\x06" + gss.SPNEGO + b"\xa0" + bytes([len(inner)]) + inner
    return b"\x60" + bytes([len(body)]) + body


def test_legs_without_progress(realm):
    """SPNEGO asks for a token; what is none ends it."""
    with login.start(realm.server, spnego_loop()) as w:
        assert login.message(w)[0].kind == "sspi"
        login.send(w, bytes.fromhex("a1053003a00381"))
        assert login.refused(w) == 18456


@pytest.fixture(scope="module")
def many_legs(tmp_path_factory, kdc):
    """many_legs(n): a server whose NTLM is a mechanism that wants n legs."""
    folder = tmp_path_factory.mktemp("manylegs")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("a C compiler is missing")
    plugin, config = folder / "manylegs.so", folder / "mech"
    subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(plugin), str(PROGRAMS / "manylegs.c")], check=True, timeout=60)
    config.write_text(f"manylegs 1.3.6.1.4.1.311.2.2.10 {plugin}\n")
    made = []

    def make(n):
        made.append(Realm(kdc, tmp_path_factory.mktemp("realm"), env={"GSS_MECH_CONFIG": str(config), "MANYLEGS": str(n)}, kerberos="off"))
        return made[-1]

    yield make
    for each in made:
        each.stop()


TOKEN = b"NTLMSSP\0\1\0\0\0" + b"\0" * 28


def test_ten_legs_are_enough(many_legs):
    server = many_legs(10).server
    with login.start(server, TOKEN) as w:
        for _ in range(9):
            tokens = login.message(w)
            assert [(t.kind, t.data) for t in tokens] == [("sspi", b"go on")]
            login.send(w, TOKEN)
        login.finish(w)
        assert login.who(w) == "CORP\\bob"


@pytest.mark.parametrize("wanted", (11, 1000))
def test_eleven_legs_are_too_many(many_legs, wanted):
    """The mechanism would go on, and with its eleventh leg even be satisfied: the server does not ask it any more."""
    server = many_legs(wanted).server
    with login.start(server, TOKEN) as w:
        for _ in range(10):
            assert [t.kind for t in login.message(w)] == ["sspi"]
            login.send(w, TOKEN)
        assert login.refused(w) == 18456
    server.wait_log('login_failed.*reason="too many legs" number=18456 mechanism=ntlm')
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1


def test_token_in_many_packets(realm, ticket):
    """A token is a message: packets are only its carriage."""
    client = ntlm()
    with login.start(realm.server, client.step()) as w:
        answer = client.step(login.message(w)[0].data)
        w.send(tds.packets(SSPI, answer, 8 + 50))
        login.finish(w)


@pytest.mark.parametrize("kind", (tds.BATCH, tds.RPC, tds.PRELOGIN, tds.ATTENTION))
def test_other_messages_in_between(realm, kind):
    with login.start(realm.server, ntlm().step()) as w:
        login.message(w)
        w.send(tds.packets(kind, b"x" * 40))
        assert w.is_closed()


def test_second_login_in_between(realm):
    """A whole LOGIN7 where a token should be is a token, and a bad one."""
    with login.start(realm.server, ntlm().step()) as w:
        login.message(w)
        w.send(tds.packets(LOGIN7, tds.login7(user="sa", password=realm.server.password)))
        assert login.refused(w) == 18456


def test_token_too_long(realm):
    with login.start(realm.server, ntlm().step()) as w:
        login.message(w)
        with pytest.raises((Closed, AssertionError)):
            for _ in range(100):
                w.send(tds.packets(SSPI, b"\0" * 4088, last=0))
            w.send(tds.packets(SSPI, b"\0"))
            assert not w.is_closed()


def test_client_goes_away(realm):
    """In the middle of an exchange, and while a leg is being worked on."""
    for _ in range(5):
        login.start(realm.server, ntlm().step()).close()
        w = login.start(realm.server, ntlm().step())
        login.message(w)
        login.send(w, b"NTLMSSP\0\3\0\0\0" + b"\0" * 100)
        w.close()


def test_legs_sent_ahead(realm):
    """A client that does not wait: the second token is looked at after the first."""
    w = Wire(realm.server)
    body = tds.login7(user="", password="", option2=login.INTEGRATED, sspi=ntlm().step())
    with w:
        w.hello()
        w.send(tds.packets(LOGIN7, body) + tds.packets(SSPI, b"NTLMSSP\0\3\0\0\0" + b"\0" * 100))
        assert login.message(w)[0].kind == "sspi"
        assert login.refused(w) == 18456
