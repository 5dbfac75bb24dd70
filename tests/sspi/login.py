"""An integrated login over our own client, leg by leg."""
from support import wire as tds
from support.wire import LOGIN7, SSPI, ServerError, Wire, packets, parse

INTEGRATED = 0x83


def start(server, token, context=None, database="", **options):
    """Everything up to LOGIN7 with the first token."""
    w = Wire(server, **options)
    send_login(w, token, w.hello(context), database)
    return w


def send_login(w, token, agreed, database=""):
    body = tds.login7(user="", password="", database=database, version=w.asked, option2=INTEGRATED, sspi=token)
    first = packets(LOGIN7, body, 4096)
    if agreed == "login":
        w.send(first[:4096])
        w.tls = None
        first = first[4096:]
    if first:
        w.send(first)


def message(w):
    """The tokens of the server's next message."""
    return parse(raw(w), w.version)


def raw(w):
    """Body of the next message."""
    parts = []
    while True:
        kind, status, body = w.read_packet()
        assert kind == tds.RESPONSE
        parts.append(body)
        if status & tds.EOM:
            return b"".join(parts)


def send(w, token, kind=SSPI):
    w.send(packets(kind, token, 4096))


def refused(w):
    """The number of the error that ends the login; nothing follows it."""
    tokens = message(w)
    assert [t.kind for t in tokens] == ["error", "done"], tokens
    assert w.is_closed()
    return tokens[0].number


def finish(w):
    """The login response."""
    tokens = message(w)
    errors = [t for t in tokens if t.kind == "error"]
    if errors:
        raise ServerError(errors[-1])
    kinds = [t.kind for t in tokens]
    assert "sspi" not in kinds and "loginack" in kinds and kinds[-1] == "done", kinds
    return w


def drive(w, initiator, kind=SSPI):
    """All further legs and the response. Every token of the server is a message of its own."""
    while not initiator.done:
        tokens = message(w)
        if tokens[0].kind == "error":
            raise ServerError(tokens[0])
        assert [t.kind for t in tokens] == ["sspi"], tokens
        answer = initiator.step(tokens[0].data)
        if answer:
            send(w, answer, kind)
    return finish(w)


def log_in(server, initiator, kind=SSPI, **options):
    w = start(server, initiator.step(), **options)
    try:
        return drive(w, initiator, kind)
    except BaseException:
        w.close()
        raise


def who(w):
    return w.batch("SELECT suser_sname()").value
