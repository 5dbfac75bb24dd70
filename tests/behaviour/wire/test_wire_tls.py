"""TLS: what each setting of encrypt does with each kind of client, handshakes cut at will, garbage, a new certificate by SIGHUP (wire notes 4)."""
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.server import Server
from support.wire import Closed, Param, ServerError, Wire

OFF, ON, NOT_SUP, REQ = tds.ENCRYPT_OFF, tds.ENCRYPT_ON, tds.ENCRYPT_NOT_SUP, tds.ENCRYPT_REQ

# setting: {what the client sends: (what the server answers, what is agreed)}
NEGOTIATION = {
    "off": {OFF: (NOT_SUP, "none"), ON: (NOT_SUP, "closed"), NOT_SUP: (NOT_SUP, "none"), REQ: (NOT_SUP, "closed")},
    "on": {OFF: (OFF, "login"), ON: (ON, "all"), NOT_SUP: (NOT_SUP, "none"), REQ: (ON, "all")},
    "required": {OFF: (REQ, "all"), ON: (ON, "all"), NOT_SUP: (REQ, "closed"), REQ: (ON, "all")},
}


@pytest.fixture(scope="module", params=("off", "on", "required", "strict"))
def by_mode(request):
    with Server(settings={"encrypt": request.param, "login_fail_limit": 100000}) as made:
        made.mode = request.param
        yield made


def test_negotiation(by_mode):
    if by_mode.mode == "strict":
        for sent in (OFF, ON, NOT_SUP, REQ):
            with Wire(by_mode, encryption=sent) as w:
                w.send_message(tds.PRELOGIN, tds.prelogin(sent))
                assert w.is_closed()
        return
    for sent, (answered, agreed) in NEGOTIATION[by_mode.mode].items():
        with Wire(by_mode, encryption=sent) as w:
            options = w.pre()
            assert options[1][0] == answered, (by_mode.mode, sent)
            if agreed == "closed":
                assert w.is_closed()
        if agreed != "closed":
            with Wire(by_mode, encryption=sent).login() as w:
                assert (w.tls is not None) == (agreed == "all")
                assert w.batch("SELECT 1").value == 1


def test_strict_clients(by_mode):
    """TDS 8.0 is taken unless TLS is off."""
    if by_mode.mode == "off":
        with Wire(by_mode, strict=True) as w:
            with pytest.raises((Closed, ssl.SSLError)):
                w.login()
        return
    with Wire(by_mode, tds.V80, strict=True).login() as w:
        assert w.tls.version() == "TLSv1.3" and w.batch("SELECT 1").value == 1


def test_login_without_prelogin(by_mode):
    """A client without PRELOGIN cannot encrypt: 17835 where encryption is demanded."""
    with Wire(by_mode, tds.V71R1) as w:
        if by_mode.mode in ("off", "on"):
            w.login(skip_prelogin=True)
            assert w.batch("SELECT 1").value == 1
        else:
            with pytest.raises((ServerError, Closed)) as e:
                w.login(skip_prelogin=True)
            assert isinstance(e.value, Closed) or e.value.number == 17835


@pytest.mark.parametrize("split", (1, 7, 100, 4000))
def test_handshake_in_small_packets(server, witness, split):
    with Wire(server, encryption=ON) as w:
        w.pre()
        w.start_tls(split=split)
        w.send_message(tds.LOGIN7, tds.login7(password=server.password))
        w.finish_login()
        assert w.tls.version() == "TLSv1.2"
        assert w.batch("SELECT 1").value == 1


def test_wrapped_handshake_offers_tls_1_2_at_most(server, witness):
    """With 1.3 FreeTDS and jTDS hang: it is for TDS 8.0 only."""
    with Wire(server, encryption=ON) as w:
        w.pre()
        with pytest.raises((ssl.SSLError, Closed)):
            w.start_tls(context=w.tls_context(versions=(ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3)))


def test_old_tls_is_refused(server, witness):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with Wire(server, encryption=ON) as w:
        w.pre()
        with pytest.raises((ssl.SSLError, Closed)):
            w.start_tls(context=context)


def test_login_only_encryption_goes_on_in_clear(server, witness, key):
    """Only LOGIN7 is in TLS; what follows is clear both ways, without close_notify. Also when LOGIN7 and the next request come in one segment."""
    with Wire(server, encryption=OFF) as w:
        assert w.hello() == "login"
        login = tds.packets(tds.LOGIN7, tds.login7(password=server.password, database="StateService"))
        w.tls.write(login)
        record = w.tls_out.read()
        w.tls = None
        w.send_clear(record + tds.packets(tds.BATCH, tds.batch_body("SELECT 'clear'")))
        w.finish_login()
        assert w.answer().value == "clear"
        assert w.batch("SELECT 2").value == 2


def test_login_only_with_two_packets(server, witness):
    """A LOGIN7 of several packets: only the first is in TLS (SqlClient, FreeTDS), or all are (pytds)."""
    body = tds.login7(password=server.password, app="a" * 128, host="h" * 128, server="s" * 128, library="l" * 128, features=[(0x77, b"x" * 5000)])
    packets = tds.packets(tds.LOGIN7, body)
    assert len(packets) > 4096
    for all_in_tls in (False, True):
        with Wire(server, encryption=OFF) as w:
            w.hello()
            if all_in_tls:
                w.send(packets)
                w.tls = None
            else:
                w.send(packets[:4096])
                w.tls = None
                w.send_clear(packets[4096:])
            w.finish_login()
            assert w.batch("SELECT 1").value == 1


def test_a_stray_alert_after_login_only(server, witness):
    """Clients that close their TLS layer may let an alert out: it is dropped."""
    with Wire(server, encryption=OFF) as w:
        w.hello()
        w.tls.write(tds.packets(tds.LOGIN7, tds.login7(password=server.password)))
        data = w.tls_out.read()
        try:
            w.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        alert = w.tls_out.read()
        w.tls = None
        w.send_clear(data + alert)
        w.finish_login()
        assert w.batch("SELECT 1").value == 1


def test_clear_bytes_before_the_handshake_are_not_used_after_it(server, witness):
    """What a man in the middle puts in clear before TLS must not be taken for the client's (as in CVE-2021-3935)."""
    with Wire(server, encryption=ON) as w:
        w.send(tds.packets(tds.PRELOGIN, tds.prelogin(ON)) + tds.packets(tds.LOGIN7, tds.login7(password=server.password)))
        try:
            w.read_raw_message()
            w.start_tls()
            w.send_message(tds.LOGIN7, tds.login7(password=server.password))
            w.finish_login()
        except (Closed, ssl.SSLError, AssertionError):
            return
        assert False, "the injected LOGIN7 was swallowed or used"


GARBAGE = {"zeros": b"\0" * 200, "text": b"hello hello hello", "hello cut": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 50, "record too long": b"\x16\x03\x03\xff\xff" + b"x" * 3000, "alert": b"\x15\x03\x03\x00\x02\x02\x28"}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_in_the_handshake(server, witness, name):
    with Wire(server, encryption=ON) as w:
        w.pre()
        w.send_clear(tds.packets(tds.PRELOGIN, GARBAGE[name]))
        if name != "hello cut":
            assert w.is_closed(5)


def test_garbage_after_the_handshake(server, witness):
    for junk in (b"\0" * 100, b"\x17\x03\x03\x00\x20" + b"x" * 32, tds.packets(tds.BATCH, tds.batch_body("SELECT 1"))):
        with Wire(server, encryption=ON).login() as w:
            w.send_clear(junk)
            assert w.is_closed(5)


def test_certificate_is_checked_by_a_careful_client(server, witness):
    """The generated certificate names localhost and 127.0.0.1; with it as CA a client verifies everything."""
    with Wire(server, encryption=ON) as w:
        w.login(context=w.tls_context(cafile=server.certificate))
        assert w.batch("SELECT 1").value == 1
        assert "localhost" in str(ssl._ssl._test_decode_cert(server.certificate)["subjectAltName"])


def test_alpn_of_somebody_else_is_refused(server, witness):
    with Wire(server, strict=True) as w:
        context = w.tls_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        with pytest.raises((ssl.SSLError, Closed)):
            w.start_tls(wrapped=False, context=context)
    with Wire(server, strict=True) as w:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        w.login(context=context)        # no ALPN at all is taken for TDS 8.0
        assert w.batch("SELECT 1").value == 1


def make_certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
                    "-keyout", str(folder / f"{name}.key"), "-out", str(folder / f"{name}.crt")], check=True, capture_output=True)
    return folder / f"{name}.crt", folder / f"{name}.key"


def peer_certificate(server):
    with Wire(server, encryption=ON) as w:
        w.pre()
        w.start_tls()
        return w.tls.getpeercert(binary_form=True)


def test_sighup_takes_a_new_certificate(new_server, tmp_path):
    server = new_server(config={"log_level": "info"})
    before = peer_certificate(server)
    with Wire(server, encryption=ON).login() as old:
        certificate, key = make_certificate(tmp_path, "renewed")
        shutil.copy(key, server.data / "server.key")
        shutil.copy(certificate, server.data / "server.crt")
        server.signal(signal.SIGHUP)
        deadline = time.monotonic() + 10
        while peer_certificate(server) == before:
            assert time.monotonic() < deadline, "the old certificate is still in use"
            time.sleep(0.05)
        assert old.batch("SELECT 1").value == 1
        # a broken file leaves the last good certificate in place
        (server.data / "server.crt").write_text("this is no certificate")
        now = peer_certificate(server)
        server.signal(signal.SIGHUP)
        time.sleep(0.5)
        assert server.alive and peer_certificate(server) == now
        assert old.batch("SELECT 1").value == 1


def test_own_certificate(new_server, tmp_path):
    certificate, key = make_certificate(tmp_path, "mine")
    server = new_server(settings={"tls_certificate": certificate, "tls_key": key})
    assert ssl.DER_cert_to_PEM_cert(peer_certificate(server)).strip() == certificate.read_text().strip()
    assert not os.path.exists(server.certificate)


def test_generated_key_is_private(server):
    assert (server.data / "server.key").stat().st_mode & 0o077 == 0
