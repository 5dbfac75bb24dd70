"""Where documents may be: folders that nothing leads out of, hosts of a list, and no redirect into the worker's own network."""
import base64
import http.server
import itertools
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from support.certificate import certificate
from support.workers import KEEP, REPLACE, is_whole_pdf, short_docx, wait_for

JOBS = itertools.count(1)


def run(queue, worker, names, root, **options):
    """Error codes of the items, in order."""
    job = next(JOBS)
    queue.add(job, names, root, **options)
    assert worker.start("--once").process.wait(180) == 0
    return [error for _, error in sorted(queue.errors(job).items())]


def test_no_way_leads_out_of_the_roots(queue, folder, new_worker, tmp_path):
    folder.fill(1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.docx").write_bytes(short_docx("secret"))
    os.symlink(outside / "secret.docx", folder.path / "link.docx")
    os.symlink(outside, folder.path / "away")
    os.symlink("d1.docx", folder.path / "inside.docx")
    worker = new_worker()
    assert run(queue, worker, ["d1.docx", "link.docx", "away/secret.docx", "../outside/secret.docx", "inside.docx"], folder.path) == [None, 102, 102, 102, None]
    assert run(queue, worker, ["secret.docx"], outside) == [102]
    targets = iter(["away/x.pdf", "../outside/y.pdf"])
    assert run(queue, worker, ["d1.docx", "d1.docx"], folder.path, out=lambda name: next(targets)) == [102, 102]
    assert run(queue, worker, ["d1.docx"], folder.path, out_root="file:///etc") == [102]
    assert run(queue, worker, ["d1.docx"], f"file://{folder.path}", out=lambda name: "new/folder/x%20y.pdf") == [None]
    assert is_whole_pdf(folder.path / "new/folder/x y.pdf")
    assert sorted(p.name for p in outside.iterdir()) == ["secret.docx"]


class Handler(http.server.BaseHTTPRequestHandler):
    """A host with what its methods say: PLAIN or DAV. What it answers is decided by answers(), which a test may replace."""

    def refused(self):
        """401 to who has not the login of the site, as a WebDAV server says it."""
        login = self.server.login
        if login is None or self.headers.get("Authorization") == "Basic " + base64.b64encode(login.encode()).decode():
            return False
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="documents"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def do_GET(self):
        if self.refused():
            return
        self.server.seen.append(("GET", self.path))
        if self.path in self.server.moved:
            self.send_response(302)
            self.send_header("Location", self.server.moved[self.path])
            self.end_headers()
            return
        data = self.server.files.get(self.path)
        self.say(200 if data is not None else 404, data or b"")

    def do_PUT(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.refused():
            return
        refused = self.headers.get("If-None-Match") == "*" and self.path in self.server.files and not self.server.careless
        if not refused:
            self.server.files[self.path] = data
        self.done(412 if refused else 201)

    def do_HEAD(self):
        if not self.refused():
            self.done(200 if self.path in self.server.files else 404)

    def do_DELETE(self):
        if not self.refused():
            self.done(204 if self.may() and self.server.files.pop(self.path, None) is not None else 404)

    def do_MOVE(self):
        if self.refused():
            return
        target = self.headers["Destination"].removeprefix(self.server.url)
        refused = self.may() and self.headers["Overwrite"] == "F" and target in self.server.files
        if self.may() and not refused:
            self.server.files[target] = self.server.files.pop(self.path)
        self.done(412 if refused else 201)

    def may(self):
        return self.command in self.server.methods

    def done(self, status):
        self.server.seen.append((self.command, self.path))
        if self.server.answers(self.command, self.path):
            self.say(status if self.may() else 501)
        else:
            self.close_connection = True

    def say(self, status, data=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


PLAIN, DAV = {"GET", "PUT"}, {"GET", "PUT", "HEAD", "DELETE", "MOVE"}


@pytest.fixture
def site():
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.login, made.seen, made.moved, made.files = None, [], {}, {"/a%20b.docx": short_docx("from elsewhere")}
    made.methods, made.careless, made.answers = PLAIN, False, lambda method, path: True
    made.url = f"http://127.0.0.1:{made.server_port}"
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def test_documents_of_a_host_in_the_list(queue, folder, new_worker, site):
    """Fetched by GET, stored by PUT; what is there is replaced only if the settings say so."""
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}", max_input=1)
    assert run(queue, worker, ["a%20b.docx", "none.docx"], site.url, settings=KEEP) == [None, 2]
    assert site.files["/a%20b.pdf"].startswith(b"%PDF-")
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [101]
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=REPLACE) == [None]
    site.files["/large.docx"] = b"x" * (2 << 20)
    assert run(queue, worker, ["large.docx"], site.url, out_root=folder.path) == [15]


def asked(site, *methods):
    return [(method, path) for method, path in site.seen if method in methods]


def test_an_output_on_a_webdav_host_is_whole_or_not_there(queue, folder, new_worker, site):
    """It gets its name by MOVE, after all of it was there; nothing else stays, and nothing gives way that may not."""
    site.methods = DAV
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}")
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [None]
    first = site.files["/a%20b.pdf"]
    assert first.startswith(b"%PDF-") and sorted(site.files) == ["/a%20b.docx", "/a%20b.pdf"]
    (method, part), = asked(site, "MOVE")
    assert re.fullmatch(r"/\.procession-[\w-]+\.part", part)
    assert asked(site, "PUT") == [("PUT", part.replace(".part", ".done")), ("PUT", part)]
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [101]
    assert site.files["/a%20b.pdf"] == first and len(asked(site, "PUT")) == 2      # it is not even converted
    site.files["/a%20b.pdf"] = b"old"
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=REPLACE) == [None]
    assert site.files["/a%20b.pdf"].startswith(b"%PDF-") and len(site.files) == 2


def name_given(site, method, path):
    """The request that gives the output its name."""
    return method == "MOVE" if site.methods == DAV else (method, path) == ("PUT", "/a%20b.pdf")


@pytest.mark.parametrize("methods", [DAV, PLAIN], ids=["webdav", "plain"])
def test_the_answer_is_lost(queue, folder, new_worker, site, methods):
    """The output is there, and its own: it is looked at, not made again."""
    site.methods, lost = methods, []

    def answers(method, path):
        if name_given(site, method, path) and not lost:
            lost.append(path)
            return False
        return True

    site.answers = answers
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}")
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [None]
    assert lost and worker.history() == [] and sorted(site.files) == ["/a%20b.docx", "/a%20b.pdf"]


@pytest.mark.parametrize("methods, other", [(DAV, False), (DAV, True), (PLAIN, False)], ids=["webdav", "webdav-another-worker", "plain"])
def test_killed_between_the_output_and_its_report(queue, folder, new_worker, site, methods, other):
    """The next attempt knows what is there for its own, although nothing may be replaced: by the note beside it, or by what it has made itself."""
    settings = {"hosts": f"127.0.0.1:{site.server_port}", "time_limit": 4, "stale_after": 5} if other else {"hosts": f"127.0.0.1:{site.server_port}"}
    site.methods, first, killed = methods, new_worker(**settings), []

    def answers(method, path):
        if name_given(site, method, path) and not killed:
            killed.append(site.files["/a%20b.pdf"])
            first.kill()
            return False
        return True

    site.answers = answers
    job = next(JOBS)
    queue.add(job, ["a%20b.docx"], site.url, settings=KEEP)
    first.start()
    wait_for("the end of the first", lambda: killed)
    assert queue.counts(job)["in_progress"] == 1
    second = (new_worker(**settings) if other else first).start()
    assert queue.wait(job)["succeeded"] == 1
    second.stop()
    assert sorted(site.files) == ["/a%20b.docx", "/a%20b.pdf"] and site.files["/a%20b.pdf"] == killed[0]


@pytest.mark.parametrize("methods", [PLAIN, PLAIN | {"HEAD"}], ids=["get", "head"])
def test_a_host_that_ignores_conditions(queue, folder, new_worker, site, methods):
    """If-None-Match is not known to all: what is there is looked for before."""
    site.methods, site.careless = methods, True
    site.files["/a%20b.pdf"] = b"precious"
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}")
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [101]
    assert site.files["/a%20b.pdf"] == b"precious"


def test_hosts_that_are_not_in_the_list_are_not_asked(queue, folder, new_worker, site):
    assert run(queue, new_worker(), ["a%20b.docx"], site.url, out_root=folder.path) == [103]
    assert run(queue, new_worker(hosts=f"127.0.0.1:{site.server_port + 1 if site.server_port < 65535 else 1}"), ["a%20b.docx"], site.url, out_root=folder.path) == [103]
    # A pattern allows the name, but not an address of the own network.
    assert run(queue, new_worker(hosts="*"), ["a%20b.docx"], site.url, out_root=folder.path) == [103]
    assert site.seen == []


def test_no_redirect_leads_to_a_private_address(queue, folder, new_worker, site):
    site.moved = {"/moved.docx": f"{site.url}/a%20b.docx", "/far.docx": "http://other.example/x.docx", "/file.docx": "file:///etc/passwd"}
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}")
    assert run(queue, worker, ["moved.docx", "far.docx", "file.docx"], site.url, out_root=folder.path) == [103, 103, 103]
    assert ("GET", "/a%20b.docx") not in site.seen


@pytest.mark.parametrize("login, error", [(None, 3), ("clerk wrong", 3), ("clerk se-cret", None)])
def test_a_host_that_asks_who_it_is(queue, folder, new_worker, site, login, error):
    """Names and passwords are in the file of the setting netrc: for fetching and for storing."""
    site.login = "clerk:se-cret"
    netrc = folder.path / "netrc"
    if login is not None:
        name, password = login.split()
        netrc.write_text(f"machine 127.0.0.1 login {name} password {password}\n")
    worker = new_worker(hosts=f"127.0.0.1:{site.server_port}", netrc=netrc if login is not None else None)
    assert run(queue, worker, ["a%20b.docx"], site.url) == [error]
    assert run(queue, worker, ["a%20b.docx"], site.url, settings=KEEP) == [101 if error is None else error]
    assert ("/a%20b.pdf" in site.files) == (error is None)
    folder.fill(1)
    assert run(queue, worker, ["d1.docx"], folder.path, out_root=site.url) == [5 if error == 3 else None]
    if error is None:
        assert site.files["/a%20b.pdf"].startswith(b"%PDF-") and site.files["/d1.pdf"].startswith(b"%PDF-")


def with_certificate(site, folder):
    """From now on the site is https://localhost; returns its certificate."""
    files = certificate(folder, 2)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files["tls_certificate"], files["tls_key"])
    site.socket = context.wrap_socket(site.socket, server_side=True)
    site.url = f"https://localhost:{site.server_port}"
    return files["tls_certificate"]


def trusting(certificate_file, folder):
    """A machine whose administrator has added this certificate to those that it trusts, and no other."""
    folder.mkdir()
    shutil.copy(certificate_file, folder / "ca-certificates.crt")
    shutil.copy(certificate_file, folder / "own.crt")
    subprocess.run(["openssl", "rehash", folder], check=True, timeout=60)
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    return [*apart, "sh", "-c", 'mount --bind "$0" /etc/ssl/certs && exec "$@"', folder]


def test_a_host_that_the_machine_trusts(queue, folder, new_worker, site, tmp_path):
    prefix = trusting(with_certificate(site, tmp_path), tmp_path / "trusted")
    worker = new_worker(hosts=f"localhost:{site.server_port}", prefix=prefix)
    assert run(queue, worker, ["a%20b.docx"], site.url) == [None]
    assert asked(site, "GET", "PUT") == [("GET", "/a%20b.docx"), ("PUT", "/a%20b.pdf")] and site.files["/a%20b.pdf"].startswith(b"%PDF-")
    # Its certificate is of localhost.
    other = new_worker(hosts=f"127.0.0.1:{site.server_port}", prefix=prefix)
    assert run(queue, other, ["a%20b.docx"], site.url.replace("localhost", "127.0.0.1"), attempts=1) == [7]


def test_a_host_must_prove_who_it_is(queue, folder, new_worker, site, tmp_path):
    """https: nobody whom the machine trusts has signed its certificate."""
    with_certificate(site, tmp_path)
    worker = new_worker(hosts=f"localhost:{site.server_port}")
    assert run(queue, worker, ["a%20b.docx"], site.url, out_root=folder.path, attempts=1) == [7]
    assert "certificate" in worker.history()[0]["text"] and site.seen == []


def test_a_host_that_is_slow_is_given_up(queue, folder, new_worker):
    """transfer_limit: it takes the connection and answers nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        worker = new_worker(hosts=f"127.0.0.1:{port}", transfer_limit=1)
        begun = time.monotonic()
        assert run(queue, worker, ["a.docx"], f"http://127.0.0.1:{port}", out_root=folder.path, attempts=1) == [7]
        assert time.monotonic() - begun < 60
        assert "timed out" in worker.history()[0]["text"]
