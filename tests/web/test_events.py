"""Browsers that watch (server-sent events) and do not read, or leave: what they cost the others, and how soon their place is free."""
import contextlib
import http.client
import json
import socket
import time

import pytest

from dashboard import add_job, work
from support.server import Server
from support.store import long_on_postgres
from support.wire import Wire
from test_dashboard import Visitor
from test_health import address, still_serves

no_store = long_on_postgres("no database is asked for it")


@pytest.fixture(scope="module")
def web():
    with Server(settings={"http": "127.0.0.1:0", "sweep_interval": 0}) as made:
        yield made


class Stream:
    """A browser that watches: reads when it is asked to, never before. small: the kernel takes next to nothing for it."""

    def __init__(self, visitor, watch, small=False, source=None):
        _, host, port = address(visitor.server)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        if small:       # before it is connected: the server's side is sized by what it hears then
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, port))
        self.connection = http.client.HTTPConnection(host, port)
        self.connection.sock = self.socket
        self.connection.request("GET", f"/api/events?watch={watch}", headers={"Cookie": visitor.cookie})
        self.answer = self.connection.getresponse()

    def wait(self):
        """Until the first event begins; the rest of it is left where it is."""
        assert self.answer.read(1) == b"e"

    def next(self):
        """The data of the next event."""
        while True:
            line = self.answer.readline()
            assert line, "the stream has ended"
            if line.startswith(b"data: ") and line != b"data: {}\n":
                return json.loads(line[6:])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answer.close()
        self.connection.close()
        self.socket.close()


def test_for_a_browser_that_does_not_read_one_event_is_kept(web):
    """While a view changes again and again, and another browser sees each of the changes: then it is told what is so now, not what was so meanwhile."""
    job, documents = 60, 6
    add_job(web, "translation", "Translation", job, documents, "Slow reader", settings=f"<x>{'y' * 300000}</x>")
    work(web, "translation", "Translation", job, 1, 0)

    def done(event):
        return event["sets"][2]["rows"][0][2]

    v, watch = Visitor(web), f"job&db=Translation&id={job}"
    with Stream(v, watch, small=True) as slow, Stream(v, watch) as quick:
        assert done(quick.next()) == 1
        slow.wait()
        for n in range(2, documents + 1):
            work(web, "translation", "Translation", job, n, 0, first=n)
            while done(quick.next()) < n:
                pass
        assert [done(slow.next()), done(slow.next())] == [1, documents]


@no_store
def test_a_browser_that_never_reads_its_events_holds_nobody_up(web):
    v = Visitor(web)
    with contextlib.ExitStack() as held:
        for _ in range(20):
            held.enter_context(Stream(v, "overview", small=True))
        for _ in range(3):
            with Stream(v, "overview") as reads:
                reads.next()
        still_serves(web)
        assert v.get("/api/overview")[0] == 200


@no_store
def test_the_place_of_a_browser_that_leaves_is_free_again(new_server):
    """Sixty-four may watch; whoever comes then is told so, until they have gone. From several addresses: one may not have so many connections.
    They watch what does not change: nothing is sent by which the server would notice."""
    v = Visitor(new_server(settings={"http": "127.0.0.1:0"}))
    with contextlib.ExitStack() as all_of_them:
        for n in range(64):
            stream = all_of_them.enter_context(Stream(v, "logins", source=f"127.0.0.{2 + n % 4}"))
            assert stream.answer.status == 200
            stream.next()
        with Stream(v, "logins") as late:
            assert late.answer.status == 503 and b"Too many browsers watch." in late.answer.read()
        assert v.get("/api/me")[0] == 200
    began = time.monotonic()
    while True:
        with Stream(v, "logins") as late:
            if late.answer.status == 200:
                late.next()
                break
        assert time.monotonic() - began < 12, "nobody has noticed that they left"
        time.sleep(0.1)


def watching(sockets):
    """Those that were let in: the others were closed at once."""
    def open_still(s):
        try:
            s.setblocking(False)
            return s.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    return [s for s in sockets if open_still(s)]


@no_store
def test_a_thousand_browsers_are_bounded(web):
    """One address may have 64 connections; those beyond are closed at once, and calls over TDS do not notice any."""
    v = Visitor(web)
    _, host, port = address(web)
    request = f"GET /api/events?watch=sessions HTTP/1.1\r\nHost: x\r\nCookie: {v.cookie}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(1000):
            with contextlib.suppress(OSError):
                held.append(stack.enter_context(socket.create_connection((host, port), timeout=30)))
                held[-1].sendall(request)
        with Wire(web).login(database="StateService") as w:
            w.batch("SELECT TOP 1 Bytes FROM dbo.Items").ok()
        assert len(held) > 900
        deadline = time.monotonic() + 60
        while not 0 < len(watching(held)) <= 64:
            assert time.monotonic() < deadline, len(watching(held))
            time.sleep(0.05)
    deadline = time.monotonic() + 60
    while True:
        try:
            assert Visitor(web).get("/api/me")[0] == 200
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline
            time.sleep(0.2)
