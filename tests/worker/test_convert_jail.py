"""What a document can reach, which is nothing; who may run the converter; and what happens when its processes are killed."""
import contextlib
import http.server
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import pytest

from support import documents as made
from support.converter import LIBEXEC, OK, WORKER_FAILED, Converter, children, pdf_text, tool

PLAIN = made.docx(made.paragraph("a whole document"))
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(scope="module")
def converter():
    with Converter(slots=2) as c:
        yield c


@contextlib.contextmanager
def web_server(content):
    """Counts the requests that it gets."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def linking(target):
    """Documents that refer to a picture, and to a text, elsewhere."""
    link = f'<Relationship Id="p1" Type="{made.R}/image" Target="{target}" TargetMode="External"/>'
    field = (f'<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>INCLUDEPICTURE "{target}" \\d</w:instrText></w:r>'
             '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>')
    return {
        "a.docx": made.docx(made.paragraph("linked") + made.picture("p1", linked=True) + field, relations=link),
        "a.html": f'<html><body><p>linked</p><img src="{target}"><iframe src="{target}"></iframe></body></html>'.encode(),
        "a.odt": made.odt('<text:p>linked<draw:frame svg:width="4cm" svg:height="4cm"><draw:image '
                          f'xlink:href="{target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>'
                          f'<text:section text:name="s"><text:section-source xlink:href="{target}"/><text:p>inside</text:p></text:section>'),
    }


def pictures_in(path):
    """Those of our size: in place of a picture that is not there LibreOffice draws one of its own."""
    return sum(line.split()[3:5] == ["37", "37"] for line in tool("pdfimages", "-list", path).splitlines())


@pytest.mark.parametrize("jail", ["on", "off"])
def test_links_are_not_fetched(tmp_path, jail):
    """Three walls: the settings of LibreOffice (src/convert/profile.c), the filter that lets no process have a socket, also where
    the jail is off (src/jail/filter.c), and the jail's own network. With the first two opened this is red without the jail, and
    still green in it. That LibreOffice by itself would ask is seen below, with the same documents."""
    with web_server(made.png()) as (address, seen), Converter(slots=1, jail=jail) as converter:
        for name, content in linking(f"{address}/picture.png").items():
            for attempt in 1, 2:        # by both ways
                result = converter.convert(tmp_path, name, content, name + ".pdf", attempt=attempt)
                assert result.error == OK, result
                assert "linked" in pdf_text(result.output)
        assert seen == []


def plain_office(profile, *words):
    """LibreOffice as people run it, with settings that allow everything."""
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        '<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse">'
        '<value>0</value></prop></item></oor:items>')
    return ["soffice", "--headless", "--norestore", f"-env:UserInstallation={profile.as_uri()}", *map(str, words)]


@pytest.mark.long
def test_plain_libreoffice_would_fetch_these_links(converter, tmp_path):
    """Else nothing would be proved above."""
    with web_server(made.png()) as (address, seen):
        names = {"docx": "a.docx", "html": "b.html", "odt": "c.odt"}
        for kind, name in names.items():
            (tmp_path / name).write_bytes(linking(f"{address}/of-{kind}.png")[f"a.{kind}"])
        done = subprocess.run(plain_office(tmp_path / "profile", "--convert-to", "pdf", "--outdir", tmp_path,
                                           *(tmp_path / name for name in names.values())), capture_output=True, text=True, timeout=300, check=False)
        assert set(seen) == {f"/of-{kind}.png" for kind in names}, done.stdout + done.stderr


@pytest.mark.long
def test_plain_libreoffice_would_run_this_macro(converter, tmp_path):
    """Opened where macros are allowed, the document of the test below does what it must not do there."""
    (tmp_path / "a.odt").write_bytes(made.odt_with_macro(tmp_path / "ran"))
    with subprocess.Popen(plain_office(tmp_path / "profile", tmp_path / "a.odt"), start_new_session=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as office:
        try:
            deadline = time.monotonic() + 120
            while not (tmp_path / "ran").exists() and time.monotonic() < deadline:
                time.sleep(0.2)
        finally:
            os.killpg(office.pid, signal.SIGKILL)
    assert (tmp_path / "ran").exists()


def test_files_outside_are_not_read(converter, tmp_path):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="procession-test-"))
    try:
        folder.chmod(0o755)
        (folder / "secret.png").write_bytes(made.png(37, 37))
        for name, content in linking((folder / "secret.png").as_uri()).items():
            for attempt in 1, 2:
                result = converter.convert(tmp_path, name, content, name + ".pdf", attempt=attempt)
                assert result.error == OK, result
                assert pictures_in(result.output) == 0, name
    finally:
        shutil.rmtree(folder)
    assert pictures_in(converter.convert(tmp_path, "b.docx", made.docx_with_picture("own", size=37), "b.pdf").output) == 1


@pytest.mark.parametrize("jail", ["on", "off"])
def test_macros_are_not_run(tmp_path, jail):
    """Without the jail, too: there the macro could write to the file. What keeps it from running is how LibreOffice is asked: it runs
    macros where a load says so (EnableMacrosExecution=true,MacroSecurityLevel=0 among the options in src/convert/job.c). With that, and
    macros allowed in src/convert/profile.c, this is red without the jail, and still green in it. The second attempt converts without
    opening (--convert-to), and so LibreOffice runs none whatever its settings are."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="procession-test-"))
    try:
        folder.chmod(0o777)
        with Converter(slots=1, jail=jail) as converter:
            for attempt in 1, 2:
                result = converter.convert(tmp_path, "a.odt", made.odt_with_macro(folder / "ran"), "a.pdf", attempt=attempt)
                assert result.error == OK, result
        assert list(folder.iterdir()) == []
    finally:
        shutil.rmtree(folder)


def test_nothing_stays_behind_without_a_jail(tmp_path):
    def left():
        return set(pathlib.Path("/tmp").glob("procession-convert-*"))

    before = left()
    with Converter(slots=1, jail="off") as converter:
        assert converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf").error == OK
        assert len(left() - before) == 1
    assert left() - before == set()


# --- who may run it ---

@ROOT_ONLY
def test_as_an_ordinary_user():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="procession-test-"))
    try:
        folder.chmod(0o777)
        program = shutil.copy(LIBEXEC / "procession-converter", folder)
        os.chmod(program, 0o755)
        from support import converter as module
        driver = shutil.copy(module.DRIVER, folder)
        os.chmod(driver, 0o755)
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        c = Converter.__new__(Converter)
        original, module.DRIVER = module.DRIVER, pathlib.Path(driver)
        try:
            c.__init__(prefix=become, libexec=folder, slots=1)
        finally:
            module.DRIVER = original
        with c:
            result = c.convert(folder, "a.docx", PLAIN, "a.pdf", attempt=1)
            assert result.error == OK, result
            assert pdf_text(result.output) == "a whole document"
            assert pathlib.Path(f"/proc/{c.converter_pid()}").stat().st_uid == 65534
    finally:
        shutil.rmtree(folder)


@ROOT_ONLY
@pytest.mark.parametrize("jail", ["on", "off"])
def test_where_root_has_started_libreoffice_before(tmp_path, jail):
    """It leaves a list of the machine's extensions that nobody else can read (here in a folder that only this test sees)."""
    left = ("mount -t tmpfs none /var/spool/libreoffice && mkdir -p /var/spool/libreoffice/uno_packages/cache && "
            'mkdir -m 700 /var/spool/libreoffice/uno_packages/cache/uno_packages && exec "$@"')
    with Converter(prefix=["unshare", "--mount", "sh", "-c", left, "sh"], slots=1, jail=jail) as converter:
        result = converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf", attempt=1)
        assert result.error == OK, result


@pytest.mark.parametrize("jail", ["on", "off"])
def test_as_root_of_a_container_without_other_users(tmp_path, jail):
    """There is no nobody to become."""
    with Converter(prefix=["unshare", "--user", "--map-root-user"], slots=1, jail=jail) as converter:
        result = converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf")
        assert result.error == OK, result
        assert pdf_text(result.output) == "a whole document"


@ROOT_ONLY
def test_root_does_not_lend_its_rights(converter, tmp_path):
    (tmp_path / "long.docx").write_bytes(made.endless())
    number = converter.submit(tmp_path / "long.docx", tmp_path / "long.pdf")
    pid = converter.document_pid()
    status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines())
    assert status["Uid"].split() == ["65534"] * 4
    end = time.monotonic() + 60
    while status["Seccomp"] != "2" and time.monotonic() < end:      # it is still copying the document
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines())
    assert (status["Seccomp"], int(status["CapEff"], 16), int(status["CapBnd"], 16), status["NoNewPrivs"]) == ("2", 0, 0, "1")
    for namespace in "user", "mnt", "net", "pid", "ipc", "uts":
        assert os.readlink(f"/proc/{pid}/ns/{namespace}") != os.readlink(f"/proc/self/ns/{namespace}")
    converter.cancel(number)
    converter.wait(number)


def forbidden(**options):
    """In a user namespace where no further one may be made."""
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    return Converter(prefix=["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"], slots=1, **options)


def test_it_refuses_to_start_where_namespaces_are_forbidden():
    refused = forbidden()
    refused.close()
    assert refused.greeting.startswith("refused\t")
    assert "user.max_user_namespaces" in refused.greeting and "jail = off" in refused.greeting
    assert refused.process.returncode == 3


def test_it_says_which_package_is_missing(tmp_path):
    refused = Converter(office=tmp_path)
    refused.close()
    assert "apt-get install libreoffice-writer" in refused.greeting


# --- killed ---

def long_document(converter, tmp_path):
    (tmp_path / "long.docx").write_bytes(made.endless())
    return converter.submit(tmp_path / "long.docx", tmp_path / "long.pdf")


def test_a_killed_document_is_reported_and_no_other_notices(converter, tmp_path):
    number = long_document(converter, tmp_path)
    before = converter.converter_pid()
    os.kill(converter.document_pid(), signal.SIGKILL)
    result = converter.wait(number)
    assert result.error == WORKER_FAILED and result.output.stat().st_size == 0
    assert converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf").error == OK
    assert converter.converter_pid() == before


def test_a_killed_converter_is_reported_and_replaced(converter, tmp_path):
    for _ in range(3):
        number = long_document(converter, tmp_path)
        document = converter.document_pid()
        ready = sum("converter-ready" in line for line in converter.log)
        os.kill(converter.converter_pid(), signal.SIGKILL)
        result = converter.wait(number)
        assert result.error == WORKER_FAILED and result.output.stat().st_size == 0
        assert not pathlib.Path(f"/proc/{document}").exists()
        converter.wait_for_log("converter-ready", ready + 1)
        after = converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf")
        assert pdf_text(after.output) == "a whole document"


def test_nothing_outlives_its_worker(tmp_path):
    converter = Converter(slots=1)
    long_document(converter, tmp_path)
    pids = [converter.converter_pid(), converter.document_pid()]
    converter.process.kill()
    converter.process.wait()
    end = time.monotonic() + 60
    while any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.05)


# --- renewed ---

def test_another_takes_over_after_some_documents(tmp_path):
    with Converter(slots=2, renew=3) as converter:
        numbers = []
        for i in range(10):
            (tmp_path / f"{i}.docx").write_bytes(PLAIN)
            numbers.append(converter.submit(tmp_path / f"{i}.docx", tmp_path / f"{i}.pdf"))
        assert [converter.wait(n).error for n in numbers] == [OK] * 10
        converter.wait_for_log("converter-renewed why=count", 2)
        assert len(children(converter.process.pid)) <= 3


@ROOT_ONLY
def test_another_takes_over_when_fonts_change(tmp_path):
    fonts = pathlib.Path("/usr/local/share/fonts")
    if not fonts.is_dir():
        pytest.skip(f"{fonts} is not there")
    with Converter(slots=1) as converter:
        assert converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf").error == OK
        before = converter.converter_pid()
        os.utime(fonts)
        end = time.monotonic() + 60
        while not any("converter-renewed why=fonts" in line for line in converter.log):
            assert time.monotonic() < end
            assert converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf").error == OK
            time.sleep(0.5)
        converter.wait_for_log("converter-ready", 2)
        assert converter.converter_pid() != before
