"""The HTTP side without a browser: health, readiness, limits, certificates, and clients that send nonsense."""
import base64
import concurrent.futures
import http.client
import random
import re
import shutil
import signal
import socket
import ssl
import time

import pytest

from support.powerloss import PowerServer
from support.server import Server
from support.store import sqlite_only
from support.wire import Wire


def address(server):
    """(scheme, host, port) as the server printed it."""
    for line in reversed(server.stdout_lines):
        match = re.search(r"(https?)://(.+):(\d+)/$", line)
        if match:
            return match.group(1), match.group(2).strip("[]"), int(match.group(3))
    raise AssertionError("the server printed no address for HTTP")


def get(server, path, method="GET", body=None, headers=None):
    _, host, port = address(server)
    connection = http.client.HTTPConnection(host, port, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


@pytest.fixture(scope="module")
def web():
    made = Server(settings={"http": "127.0.0.1:0"}).start()
    yield made
    made.stop()
    made.remove()


def still_serves(server):
    with Wire(server).login(database="StateService") as w:
        w.batch("SELECT COUNT(*) FROM dbo.Items").ok()
    assert get(server, "/healthz")[:2] == (200, "ok\n")


def test_healthy_and_ready(web):
    assert get(web, "/healthz")[:2] == (200, "ok\n")
    assert get(web, "/readyz")[:2] == (200, "ok\n")
    status, body, _ = get(web, "/healthz", method="HEAD")
    assert (status, body) == (200, "")


def test_metrics_are_for_this_machine(web):
    status, body, headers = get(web, "/metrics")
    assert status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE procession_" in body


def test_off_unless_it_is_asked_for(server):
    assert not any("http://" in line for line in server.stdout_lines)


def test_pages_cannot_be_framed_or_load_foreign_things(web):
    headers = get(web, "/healthz")[2]
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_what_is_not_there_and_other_methods(web):
    assert get(web, "/nothing")[0] == 404
    assert get(web, "/healthz", method="POST", body="x")[0] == 405
    assert get(web, "/../../etc/passwd")[0] == 404


def test_a_damaged_database_is_not_ready(new_server):
    server = new_server(settings={"http": "127.0.0.1:0"})
    server.stop()
    (server.data / "Translation.db").unlink()
    server.start()
    status, body, _ = get(server, "/readyz")
    assert status == 503 and "Translation: damaged" in body and "StateService" not in body
    assert get(server, "/healthz")[0] == 200
    up = dict(re.findall(r'^procession_database_up\{database="(\w+)"\} (\S+)$', get(server, "/metrics")[1], re.M))
    assert up == {"StateService": "1", "WordAutomation": "1", "Translation": "0", "ScheduledJobs": "1", "master": "1"}


@pytest.fixture
def slow_disk():
    """A server that is ready, and that has to read from its disk what somebody has changed since: its readers have nothing of that."""
    with PowerServer(settings={"http": "127.0.0.1:0"}) as server:
        until_ready(server)
        for n, database in enumerate(("WordAutomation", "Translation")):
            with Wire(server).login(database=database) as w:
                w.batch("EXEC proc_AddJob @JobId = 1, @Settings = N'<x/>'" + (", @UserToken = 0x00" if n else "")).ok()
        yield server


hanging = sqlite_only("the disk under a file does not answer; of PostgreSQL, tests/postgres/test_faults.py has it")


@hanging
def test_a_database_that_hangs_is_not_ready_and_the_others_serve(slow_disk):
    """A read that never ends. /readyz has an end, each time; when the disk answers again, so does the database."""
    slow_disk.hold_reads("Translation")
    try:
        for _ in range(2):
            status, body, _ = get(slow_disk, "/readyz")
            assert (status, body) == (503, "Translation: no answer within a second\n")
            still_serves(slow_disk)
    finally:
        slow_disk.let_read()
    until_ready(slow_disk)
    with Wire(slow_disk).login(database="Translation") as w:
        assert w.batch("SELECT COUNT(*) FROM dbo.Jobs").ok().rows[0][0] == 1


@hanging
def test_who_asks_while_databases_do_not_answer_is_told_so(slow_disk):
    """Not what was so when somebody looked last, for the seconds that two databases take."""
    late, reasons = (503, "no answer within a second\n"), (503, "WordAutomation: no answer within a second\nTranslation: no answer within a second\n")
    told, deadline = set(), time.monotonic() + 60

    def ask():
        while late not in told and time.monotonic() < deadline:
            told.add(get(slow_disk, "/readyz")[:2])

    slow_disk.hold_reads("WordAutomation", "Translation")
    try:
        with concurrent.futures.ThreadPoolExecutor() as balancers:
            for balancer in [balancers.submit(ask) for _ in range(2)]:
                balancer.result()
        assert {late, reasons} <= told, told
    finally:
        slow_disk.let_read()


def until_ready(server):
    deadline = time.monotonic() + 60
    while get(server, "/readyz")[:2] != (200, "ok\n"):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_that_stops_is_not_ready(new_server):
    """drain_delay: a load balancer is told, and everything else goes on."""
    server = new_server(settings={"http": "127.0.0.1:0", "drain_delay": 3600})
    until_ready(server)
    server.signal(signal.SIGTERM)
    server.wait_log("event=stopping", timeout=60)
    deadline = time.monotonic() + 60
    while get(server, "/readyz")[:2] != (503, "the server is stopping\n"):
        assert time.monotonic() < deadline
    still_serves(server)
    server.kill()                   # it would stay for an hour
    server.check_log()


def test_too_much_is_refused(web):
    assert get(web, "/healthz", headers={"X-Long": "x" * 40000})[0] in (400, 413, 431)
    status, _, _ = get(web, "/readyz", method="POST", body=b"x" * 200000)
    assert status == 413
    still_serves(web)


def test_a_thousand_connections_are_bounded(web):
    _, host, port = address(web)
    held = []
    try:
        for _ in range(1000):
            held.append(socket.create_connection((host, port), timeout=30))
    except OSError:
        pass        # refused: as good
    with Wire(web).login(database="StateService") as w:
        w.batch("EXEC proc_AddItem 'through', 0x01, 20").ok()
        w.batch("EXEC proc_DeleteItem 'through', NULL")
    for each in held:
        each.close()
    deadline = time.monotonic() + 60
    while True:
        try:
            still_serves(web)
            break
        except (OSError, http.client.HTTPException):
            assert time.monotonic() < deadline
            time.sleep(0.2)


def test_nonsense_is_answered_or_closed(web):
    _, host, port = address(web)
    chance = random.Random(17)
    heads = [b"GET /healthz HTTP/1.1\r\n", b"POST /api/login HTTP/1.1\r\nContent-Length: ", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
             b"GET /\x00 HTTP/1.1\r\n\r\n", b"GET " + b"/a" * 20000, b"GET /readyz HTTP/9.9\r\nHost: \r\n\r\n",
             b"POST /readyz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"GET /%ff%00%zz?a=%&&=&% HTTP/1.1\r\nHost: x\r\n\r\n"]
    for n in range(300):
        with socket.create_connection((host, port), timeout=30) as s:
            data = bytearray(chance.choice(heads) + bytes(chance.randrange(256) for _ in range(chance.randrange(200))))
            for _ in range(n % 4):
                data[chance.randrange(len(data))] = chance.randrange(256)
            try:
                s.sendall(data)
                s.settimeout(0.02)      # an answer, or none: half a request is waited for
                s.recv(65536)
            except OSError:
                pass
    still_serves(web)


def pem_of(host, port):
    return ssl.get_server_certificate((host, port), timeout=60)


def test_elsewhere_it_is_https_with_the_servers_certificate_which_is_read_again(new_server, tmp_path):
    server = new_server(settings={"http": "0.0.0.0:0"})
    scheme, _, port = address(server)
    assert scheme == "https"
    assert pem_of("127.0.0.1", port).split() == (server.data / "server.crt").read_text().split()
    other = tmp_path / "other"
    with Server(data=other):
        pass
    for name in ("server.crt", "server.key"):
        shutil.copy2(other / name, server.data / name)
    server.signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while True:
        try:
            if pem_of("127.0.0.1", port).split() == (other / "server.crt").read_text().split():
                break
        except OSError:
            pass
        assert time.monotonic() < deadline, "the new certificate is not used"
        time.sleep(0.1)
    context = ssl.create_default_context(cafile=str(other / "server.crt"))
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=context)
    connection.request("GET", "/readyz")
    assert connection.getresponse().status == 200
    connection.close()


def test_metrics_elsewhere_need_a_login_that_may_monitor(new_server):
    server = new_server(settings={"http": "0.0.0.0:0"})
    with Wire(server).login(database="master") as w:
        w.batch("EXEC procession_login_add 'scraper', 'scraper-Password1'; EXEC procession_grant 'scraper', 'master', 'monitor'").ok()
        w.batch("EXEC procession_login_add 'other', 'other-Password1'").ok()
    context = ssl.create_default_context(cafile=server.certificate)
    context.check_hostname = False

    def scrape(login):
        connection = http.client.HTTPSConnection("127.0.0.1", address(server)[2], timeout=60, context=context)
        headers = {} if login is None else {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()}
        connection.request("GET", "/metrics", headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def logins():
        with Wire(server).login(database="master") as w:
            return dict(w.batch("SELECT label, CAST(value AS int) FROM sys.procession_numbers WHERE name = 'procession_logins_total'").ok().rows)

    before = logins()
    assert [scrape(x) for x in (None, "scraper:wrong", "other:other-Password1", "nonsense", "scraper:scraper-Password1")] == [401, 401, 401, 401, 200]
    after = logins()        # with a login of its own
    assert after["refused"] - before["refused"] == 2 and after["accepted"] - before["accepted"] == 2
    server.wait_log("event=login_failed .*login=scraper program=metrics")
    server.wait_log('event=login_failed .*login=other program=metrics reason="the right monitor is missing"')


def test_plain_http_is_refused_by_https(new_server):
    server = new_server(settings={"http": "0.0.0.0:0"})
    with socket.create_connection(("127.0.0.1", address(server)[2]), timeout=30) as s:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" not in s.recv(4096)


def test_an_address_that_is_taken_says_so(web):
    _, host, port = address(web)
    made = Server(settings={"http": f"{host}:{port}"})
    with pytest.raises(AssertionError) as e:
        made.start()
    assert "Cannot listen for HTTP" in str(e.value)
    made.process = None
    made.remove()


@pytest.mark.long
def test_a_request_that_trickles_is_ended(web):
    _, host, port = address(web)
    with socket.create_connection((host, port), timeout=60) as s:
        began = time.monotonic()
        with pytest.raises(OSError):
            for _ in range(100):
                s.sendall(b"X")
                time.sleep(0.5)
                s.settimeout(0.01)
                try:
                    if s.recv(10) == b"":
                        raise OSError("closed")
                except TimeoutError:
                    pass
        assert time.monotonic() - began < 40
