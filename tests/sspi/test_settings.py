"""Mechanisms that are switched off, the mapping of principals, and channel binding."""
import hashlib
import ssl

import pytest

import gss
import login
from support.wire import ENCRYPT_OFF, ENCRYPT_ON, V80, ServerError, Wire
from test_ntlm import ntlm


def number(server, initiator, **options):
    with pytest.raises(ServerError) as e:
        login.log_in(server, initiator, **options)
    return e.value.number


@pytest.mark.parametrize("spnego", (False, True), ids=("raw", "spnego"))
def test_kerberos_off(new_realm, ticket, spnego):
    realm = new_realm(kerberos="off")
    assert number(realm.server, gss.Initiator(realm.spn, gss.SPNEGO if spnego else gss.KERBEROS, env=ticket)) == 18456
    with login.log_in(realm.server, ntlm(mech=gss.SPNEGO if spnego else gss.NTLM)) as w:
        assert login.who(w) == "CORP\\bob"


@pytest.mark.parametrize("spnego", (False, True), ids=("raw", "spnego"))
def test_ntlm_off(new_realm, ticket, spnego):
    realm = new_realm(ntlm="off")
    assert number(realm.server, ntlm(mech=gss.SPNEGO if spnego else gss.NTLM)) == 18456
    with login.log_in(realm.server, gss.Initiator(realm.spn, gss.SPNEGO if spnego else gss.KERBEROS, env=ticket)) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"


def test_all_off(new_realm, ticket):
    realm = new_realm(ntlm="off", kerberos="off")
    assert number(realm.server, gss.Initiator(realm.spn, env=ticket, flags=0)) == 18452
    realm.server.wait_log("login_failed.*integrated login is not configured")


def test_no_keytab(new_realm, ticket, tmp_path):
    """The server starts, says what it lacks, and takes passwords."""
    realm = new_realm(ntlm="off", keytab=tmp_path / "none")
    realm.server.wait_log("mechanism_off mechanism=kerberos reason=")
    assert number(realm.server, gss.Initiator(realm.spn, env=ticket, flags=0)) == 18452


def test_guessing(new_realm):
    """Failures of integrated logins count for their address alone: after as many as four logins may have it is tried once a second, and a right one gets in."""
    realm = new_realm(login_fail_limit=1, login_fail_window=600)
    with Wire(realm.server).login() as admin:
        admin.batch("EXEC procession_login_add @name = 'shop', @password = 'Secret-12', @default_database = 'master'").ok()
    waiting = [Wire(realm.server) for _ in range(3)]
    agreed = [w.hello() for w in waiting]
    right = [ntlm() for _ in waiting]
    for _ in range(4):
        assert number(realm.server, ntlm(password="wrong")) == 18456
    mark = len(realm.server.log())
    for w, how, initiator in zip(waiting, agreed, right):       # together: the first has its turn, the others wait for theirs
        login.send_login(w, initiator.step(), how)
    for w, initiator in zip(waiting, right):
        with login.drive(w, initiator):
            assert login.who(w) == "CORP\\bob"
    realm.server.wait_log("login_slowed", start=mark)
    assert "login_failed" not in realm.server.log()[mark:]
    Wire(realm.server).login(user="shop", password="Secret-12", database="master").close()
    Wire(realm.server).login().close()


def test_waiting_in_vain(new_realm):
    """One has a turn each second, and nobody waits for more than eight: the others are told so, by another state than that of a wrong password."""
    realm = new_realm(login_fail_limit=1, login_fail_window=600, login_timeout=60)
    for _ in range(4):
        assert number(realm.server, ntlm(password="wrong")) == 18456
    crowd = [Wire(realm.server) for _ in range(14)]
    agreed = [w.hello() for w in crowd]
    for w, how in zip(crowd, agreed):
        login.send_login(w, ntlm().step(), how)
    answers = [login.message(w)[0] for w in crowd]
    assert {(a.number, a.state) for a in answers if a.kind == "error"} == {(18456, 2)}, answers
    assert "sspi" in {a.kind for a in answers}, "somebody had a turn"
    realm.server.wait_log("login_failed.*too many failures, waited for its turn in vain")
    for w in crowd:
        w.close()


# Principals without a login of their own


def test_rules(realm, kdc):
    """The first rule that fits gives the login; the session is that login's, the log names the principal."""
    env = kdc.ticket("staff/admin", "staffs-pw")
    mark = len(realm.server.log())
    with login.log_in(realm.server, gss.Initiator(realm.spn, env=env)) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"
    realm.server.wait_log(r'event=login .*login="TEST.LOCAL\\\\alice".*principal="TEST.LOCAL\\\\staff/admin"', start=mark)
    with login.log_in(realm.server, ntlm("CORP\\eve", "eves-pw")) as w:
        assert login.who(w) == "TEST.LOCAL\\alice"


def test_own_login_before_rules(realm):
    with login.log_in(realm.server, ntlm()) as w:
        assert login.who(w) == "CORP\\bob"


def test_rule_to_a_login_that_is_not_there(realm, kdc):
    assert number(realm.server, gss.Initiator(realm.spn, env=kdc.ticket("carol", "carols-pw"), flags=0)) == 18452


# Channel binding


def context(newest=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    if newest:
        made.maximum_version = newest
    return made


def bound(realm, make, data, mech, encryption=ENCRYPT_ON, strict=False, tls=None):
    """Logs in with a token bound to data(wire)."""
    w = Wire(realm.server, encryption=encryption, strict=strict, **({"version": V80} if strict else {}))
    try:
        agreed = w.hello(context(tls))
        initiator = make(mech=mech, bindings=data(w))
        login.send_login(w, initiator.step(), agreed)
        return login.drive(w, initiator)
    except BaseException:
        w.close()
        raise


def unique(w):
    return b"tls-unique:" + w.tls.get_channel_binding("tls-unique")


def end_point(w):
    return b"tls-server-end-point:" + hashlib.sha256(w.tls.getpeercert(binary_form=True)).digest()


@pytest.fixture
def kerberos(realm, ticket):
    return lambda **options: gss.Initiator(realm.spn, env=ticket, **options)


@pytest.mark.parametrize("encryption", (ENCRYPT_OFF, ENCRYPT_ON), ids=("login", "all"))
@pytest.mark.parametrize("data", (unique, end_point))
@pytest.mark.parametrize("mech", (gss.KERBEROS, gss.SPNEGO), ids=("kerberos", "spnego"))
def test_bound_kerberos(realm, kerberos, data, mech, encryption):
    with bound(realm, kerberos, data, mech, encryption) as w:
        assert w.tls is None or encryption == ENCRYPT_ON


@pytest.mark.parametrize("encryption", (ENCRYPT_OFF, ENCRYPT_ON), ids=("login", "all"))
def test_bound_ntlm(realm, encryption):
    bound(realm, ntlm, unique, gss.NTLM, encryption).close()


def test_bound_strict(realm, kerberos):
    """TLS 1.3 has no tls-unique."""
    bound(realm, kerberos, end_point, gss.KERBEROS, strict=True).close()
    bound(realm, ntlm, end_point, gss.NTLM, strict=True).close()
    bound(realm, kerberos, unique, gss.KERBEROS, strict=True, tls=ssl.TLSVersion.TLSv1_2).close()


@pytest.mark.parametrize("strict", (False, True))
@pytest.mark.parametrize("mech", (gss.KERBEROS, gss.SPNEGO, gss.NTLM), ids=("kerberos", "spnego", "ntlm"))
def test_bound_to_another_connection(realm, kerberos, mech, strict):
    """What somebody in the middle would send on."""
    make = ntlm if mech == gss.NTLM else kerberos
    mark = len(realm.server.log())
    with pytest.raises(ServerError) as e:
        bound(realm, make, lambda w: b"tls-unique:another one", mech, strict=strict)
    assert e.value.number == 18456
    realm.server.wait_log("login_failed.*number=18456", start=mark)


def test_replayed_bound_token(realm, kerberos):
    """The second try with the other binding does not open a way around the replay cache."""
    with Wire(realm.server, encryption=ENCRYPT_ON) as one, Wire(realm.server, encryption=ENCRYPT_ON) as other:
        agreed = one.hello(context())
        assert other.hello(context()) == agreed
        token = kerberos(bindings=end_point(one), flags=0).step()
        login.send_login(one, token, agreed)
        login.finish(one)
        mark = len(realm.server.log())
        login.send_login(other, token, agreed)      # the same certificate: the binding fits
        assert login.message(other)[0].number == 18456
        realm.server.wait_log("login_failed.*[Rr]eplay", start=mark)


def test_binding_off(new_realm, ticket):
    realm = new_realm(channel_binding="off")
    make = lambda **options: gss.Initiator(realm.spn, env=ticket, **options)    # noqa: E731
    bound(realm, make, lambda w: b"tls-unique:another one", gss.KERBEROS).close()
