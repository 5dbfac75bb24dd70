"""Engines other than Apertium, and engines that die, hang or answer rubbish: each failure has its own error, and the next document is translated."""
import http.server
import json
import os
import pathlib
import signal
import tempfile
import threading
import time

import pytest

import translatedocuments as made
from translateengine import LIMIT, fails, needs_apertium, results, settings, start, succeeds, translate, translate_one

pytestmark = needs_apertium
UPPER = "/bin/sed -u 's/house/HAUS/g; s/The/Das/g'"


def lines(command):
    return ("--engine", "en-de=lines " + command)


GERMAN = settings("en", "de")


@pytest.fixture
def public_path():
    """A folder that everybody may read: in a jail that root starts a command is nobody, and /tmp is its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made_one:
        os.chmod(made_one, 0o755)
        yield pathlib.Path(made_one)


# --- commands -----------------------------------------------------------------------------------------------------------------

def test_a_command_that_reads_lines(tmp_path):
    source = tmp_path / "a.xlf"
    source.write_text(made.XLIFF12, encoding="utf-8")
    out = succeeds(source, tmp_path / "b.xlf", *lines(UPPER), job=GERMAN).read_text(encoding="utf-8")
    assert 'mt-suggestion">Das <g id="1">big <g id="2">green</g></g> HAUS<x id="3"/> is <ph id="4">&lt;br/&gt;</ph>here.</target>' in out
    docx = made.parts_of(succeeds(made.docx(tmp_path / "a.docx"), tmp_path / "b.docx", *lines(UPPER), job=GERMAN))
    assert b">Das <" in docx["word/document.xml"] and b"<w:b/>" in docx["word/document.xml"]


def test_a_command_knows_the_languages(tmp_path):
    out = succeeds(made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", *lines("/bin/sh -c 'sed \"s/$/ $0 $1/\"' {from} {to}"), job=GERMAN)
    assert "The house is on the hill. en de" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["document /bin/sed s/house/HAUS/", "document /bin/sh -c 'sed s/house/HAUS/ \"$0\" >\"$1\"' {input} {output}"])
def test_a_command_for_whole_documents(tmp_path, engine):
    source = made.txt(tmp_path / "a.txt")
    out = succeeds(source, tmp_path / "b.txt", "--engine", "en-de=" + engine, job=GERMAN)
    assert out.read_text() == source.read_text().replace("house", "HAUS")


def test_a_command_sees_neither_network_nor_files(tmp_path, public_path):
    secret = public_path / "secret"
    secret.write_text("secret")
    source = made.txt(tmp_path / "a.txt")
    script = f"cat {secret} /proc/self/environ /etc/passwd; ls / | tr \"\\n\" \" \"; (exec 3<>/dev/tcp/127.0.0.1/1) 2>&1; true"
    out = succeeds(source, tmp_path / "b.txt", "--engine", f"en-de=document /bin/bash -c '{script}'", job=GERMAN).read_text()
    assert "secret" not in out and "root:" not in out and "PATH" not in out
    assert "unreachable" in out or "not permitted" in out
    shown = succeeds(source, tmp_path / "c.txt", "--engine", f"en-de=document show={secret} /bin/cat {secret}", job=GERMAN)
    assert shown.read_text() == "secret"


@pytest.mark.parametrize("command, error, said", [
    ("/bin/cat", "TranslationUnchanged", "same"),
    ("/bin/false", "TranslationServiceUnavailable", "status 1"),
    ("/bin/sh -c 'echo the model is missing >&2; exit 7'", "TranslationServiceUnavailable", "the model is missing"),
    ("/bin/sh -c 'sh -c \"kill -9 \\$\\$\"'", "TranslationServiceUnavailable", "status 137"),
    ("/bin/sh -c 'cat >/dev/null'", "InputFileCannotBeTranslated", "0 pieces to 2"),
    ("/bin/sed p", "InputFileCannotBeTranslated", "4 pieces to 2"),
    ("/bin/sed 's/.*//'", "InputFileCannotBeTranslated", "cannot be understood"),
    (r"/bin/sed 's/house/\xff/'", "InputFileCannotBeTranslated", "UTF-8"),
    ("/usr/bin/yes rubbish", "InputFileCannotBeTranslated", "more than it was asked"),
    ("/no/such/command", "EngineMissing", "/no/such/command"),
])
def test_commands_that_fail(tmp_path, command, error, said):
    assert said in fails(error, made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", *lines(command), job=GERMAN)


@pytest.mark.parametrize("command, error", [("/bin/cat", "TranslationUnchanged"), ("/bin/true", "InputFileCannotBeTranslated"), ("/bin/false", "WorkerFailed")])
def test_commands_for_documents_that_fail(tmp_path, command, error):
    fails(error, made.docx(tmp_path / "a.docx"), tmp_path / "b.docx", "--engine", "en-de=document " + command, job=GERMAN)


def test_an_engine_that_hangs_is_ended_at_the_limit(tmp_path):
    begun = time.monotonic()
    assert "time limit" in fails("Timeout", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--seconds", 2, *lines("/bin/sleep 1000"), job=GERMAN)
    assert time.monotonic() - begun >= 2


def test_a_document_can_be_cancelled(tmp_path):
    fails("Cancelled", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--cancel-after", 300, *lines("/bin/sleep 1000"), job=GERMAN)


# --- Apertium -------------------------------------------------------------------------------------------------------------------

def test_a_pair_that_no_engine_has(tmp_path):
    assert "en to de" in fails("LanguagePairNotSupported", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", job=GERMAN)
    fails("LanguagePairNotSupported", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--engine", "*-*=none")


def test_a_translation_equal_to_its_input(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("Qwxyz zyxwq.\n\n12, 34\n")
    fails("TranslationUnchanged", source, tmp_path / "b.txt")
    xliff = tmp_path / "a.xlf"
    xliff.write_text('<xliff version="1.2"><file source-language="en"><body/></file></xliff>')
    fails("TranslationUnchanged", xliff, tmp_path / "b.xlf")


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(p) for p in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid):
    for child in children(pid):
        yield child
        yield from descendants(child)


def below(pid, name):
    return next((p for p in descendants(pid) if named(p).startswith(name)), None)


def named(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP])
def test_a_pipeline_that_dies_or_hangs_costs_one_document(tmp_path, stop):
    big = tmp_path / "big.txt"
    big.write_text("The house is on the hill.\n\n" * 100000)
    driver = start([(big, tmp_path / "big.es.txt"), (made.txt(tmp_path / "a.txt"), tmp_path / "b.txt")], "--seconds", 12 if stop == signal.SIGSTOP else 200)
    part = wait_for(lambda: below(driver.pid, "lt-proc"))
    wait_for(lambda: below(driver.pid, "translate-docum"))
    os.kill(part, stop)
    got = results(driver)
    assert got["big.txt"]["name"] == ("Timeout" if stop == signal.SIGSTOP else "TranslationServiceUnavailable"), got
    assert got["a.txt"]["error"] == 0, got
    assert (tmp_path / "b.txt").read_text().startswith("La casa")


def test_a_program_of_the_pipeline_that_is_not_there_is_named(tmp_path, public_path):
    modes = public_path / "modes"
    modes.mkdir(parents=True)
    (modes / "eng-spa.mode").write_text("lt-proc-that-is-not-there x\n")
    assert "lt-proc-that-is-not-there" in fails("EngineMissing", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--apertium", public_path)


def test_settings_that_cannot_be_done_are_refused(tmp_path):
    source, target = made.txt(tmp_path / "a.txt"), tmp_path / "b.txt"
    assert "TargetLanguage" in fails("SettingsInvalid", source, target, job="<settings/>")
    assert "Glossary" in fails("SettingsInvalid", source, target, job="<settings SourceLanguage='en' TargetLanguage='es' Glossary='x'/>")
    fails("SettingsInvalid", source, target, job="<settings SourceLanguage='../../etc' TargetLanguage='es'/>")


# --- a service of the LibreTranslate kind -----------------------------------------------------------------------------------------

class Service(http.server.ThreadingHTTPServer):
    """Answers as `answer` says: a function from the request to status and body; None is silence."""
    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.requests, self.silence = answer, [], threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def engine(self):
        return ("--engine", f"en-de=http://127.0.0.1:{self.server_port}/translate")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        answer = self.server.answer(request)
        if answer is None:
            self.server.silence.wait(LIMIT)
            return
        body = answer[1] if isinstance(answer[1], bytes) else json.dumps(answer[1]).encode()
        self.send_response(answer[0])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    made_ones = []

    def make(answer):
        made_ones.append(Service(answer))
        return made_ones[-1]

    yield make
    for each in made_ones:
        each.silence.set()
        each.shutdown()
        each.server_close()


def german(request):
    return 200, {"translatedText": [t.replace("house", "Haus").replace("The", "Das") for t in request["q"]]}


def test_a_service_translates(tmp_path, service):
    there = service(german)
    source = tmp_path / "a.xlf"
    source.write_text(made.XLIFF20, encoding="utf-8")
    out = succeeds(source, tmp_path / "b.xlf", *there.engine, job=GERMAN).read_text(encoding="utf-8")
    assert '<target>Das <pc id="1">green</pc> Haus<ph id="2" dataRef="d1"/> is here.</target>' in out
    assert [(r["source"], r["target"], r["format"]) for r in there.requests] == [("en", "de", "html")] and "api_key" not in there.requests[0]
    docx = made.parts_of(succeeds(made.docx(tmp_path / "a.docx"), tmp_path / "b.docx", *there.engine, job=GERMAN))
    assert b"Haus" in docx["word/document.xml"]


def test_a_service_gets_its_key_and_texts_in_portions(tmp_path, service):
    there = service(german)
    key = tmp_path / "key"
    key.write_text("s3cret\nmore\n")
    key.chmod(0o600)
    source = tmp_path / "a.txt"
    source.write_text("The house.\n\n" * 300)
    engine = (there.engine[0], there.engine[1] + f" key-file={key}")
    assert succeeds(source, tmp_path / "b.txt", *engine, job=GERMAN).read_text().count("Das Haus.") == 300
    assert sum(len(r["q"]) for r in there.requests) == 300 and max(len(r["q"]) for r in there.requests) <= 64
    assert {r["api_key"] for r in there.requests} == {"s3cret"}


@pytest.mark.parametrize("answer, error, said", [
    ((400, {"error": "de is not supported"}), "InputFileCannotBeTranslated", "de is not supported"),
    ((403, {"error": "Invalid API key"}), "InputFileCannotBeTranslated", "Invalid API key"),
    ((429, {"error": "Slowdown"}), "TranslationServiceUnavailable", "Slowdown"),
    ((500, b"<html>oops</html>"), "TranslationServiceUnavailable", "500"),
    ((200, b"rubbish"), "InputFileCannotBeTranslated", "something else"),
    ((200, {"translatedText": "one"}), "InputFileCannotBeTranslated", "something else"),
    ((200, {"translatedText": ["one"]}), "InputFileCannotBeTranslated", "something else"),
    ((200, {"translatedText": [1, 2]}), "InputFileCannotBeTranslated", "something else"),
    ((200, b"[" * 9000000), "InputFileCannotBeTranslated", "more than"),
    ((302, b""), "InputFileCannotBeTranslated", "302"),
])
def test_services_that_refuse_or_answer_rubbish(tmp_path, service, answer, error, said):
    assert said in fails(error, made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", *service(lambda _: answer).engine, job=GERMAN)


def test_a_service_that_is_not_there(tmp_path):
    fails("TranslationServiceUnavailable", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--engine", "en-de=http://127.0.0.1:1/translate", job=GERMAN)


def test_a_service_that_is_silent(tmp_path, service):
    fails("Timeout", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", "--seconds", 2, *service(lambda _: None).engine, job=GERMAN)


def test_an_answer_equal_to_the_question(tmp_path, service):
    fails("TranslationUnchanged", made.txt(tmp_path / "a.txt"), tmp_path / "b.txt", *service(lambda r: (200, {"translatedText": r["q"]})).engine, job=GERMAN)


def test_without_a_jail(tmp_path):
    """The administrator may choose so; translations are the same."""
    got = translate([(made.docx(tmp_path / "a.docx"), tmp_path / "b.docx"), (made.txt(tmp_path / "a.txt"), tmp_path / "b.txt")], "--off")
    assert all(r["error"] == 0 for r in got.values()), got
    assert translate_one(made.txt(tmp_path / "c.txt"), tmp_path / "d.txt", "--off", *lines(UPPER), job=GERMAN)["error"] == 0
