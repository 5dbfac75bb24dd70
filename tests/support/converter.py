"""The converter's engine, driven without a server by tests/support/enginedriver.c: what the worker does, line by line.

    with Converter(slots=2) as converter:
        result = converter.convert(tmp_path, "a.docx", content, "a.pdf")
"""
import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading
import time

import pytest

from support.server import ROOT, SANITIZER

BUILD = pathlib.Path(os.environ.get("PROCESSION", ROOT / "build/asan/src/cli/procession")).resolve().parents[2]
DRIVER = BUILD / "tests/support/enginedriver"
LIBEXEC = BUILD / "src/convert"
LIMIT = 120

OK, OUTPUT_WRITE, WORKER_FAILED, TIMEOUT, CORRUPT, ENCRYPTED, UNSUPPORTED = 0, 8, 10, 11, 17, 19, 21
SETTINGS_INVALID, OUTPUT_UNSUPPORTED, OUT_OF_MEMORY, CANCELLED, UNPACKED, SETTING_UNSUPPORTED = 104, 105, 106, 107, 108, 112


def need_office():
    if not pathlib.Path("/usr/lib/libreoffice/program/libswlo.so").exists():
        pytest.skip("libreoffice-writer is not installed")
    if not DRIVER.exists():
        pytest.skip(f"{DRIVER} is not built")


class Result:
    def __init__(self, fields, output):
        self.id, self.error, self.size, self.cpu_ms, self.wall_ms = map(int, fields[:5])
        self.text, self.output = fields[5], pathlib.Path(output)

    def __repr__(self):
        return f"error {self.error}: {self.text}" if self.error else f"{self.size} bytes"


class Converter:
    def __init__(self, prefix=(), libexec=LIBEXEC, **options):
        need_office()
        self.outputs, self.results, self.log, self.next_id = {}, {}, [], 0
        self.answers = queue.Queue()
        self.process = subprocess.Popen(
            [*prefix, str(DRIVER), *(f"{k}={v}" for k, v in options.items())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, bufsize=1, env=dict(os.environ, PROCESSION_LIBEXEC=str(libexec), LANG="C.UTF-8"))
        threading.Thread(target=self._read, args=(self.process.stdout, self.answers.put), daemon=True).start()
        self.logger = threading.Thread(target=self._read, args=(self.process.stderr, self.log.append), daemon=True)
        self.logger.start()
        self.greeting = self.answers.get(timeout=LIMIT)

    @staticmethod
    def _read(stream, put):
        for line in stream:
            put(line.rstrip("\n"))
        put("")

    def __enter__(self):
        assert self.greeting == "ready", self.greeting
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(LIMIT)
        self.logger.join(LIMIT)
        assert not SANITIZER.search("\n".join(self.log)), "\n".join(self.log)

    # documents

    def submit(self, source, output, settings="", attempt=1, seconds=100):
        self.next_id += 1
        self.outputs[self.next_id] = output
        self.process.stdin.write(f"convert\t{self.next_id}\t{source}\t{output}\t{attempt}\t{seconds}\t{settings}\n")
        return self.next_id

    def cancel(self, number):
        self.process.stdin.write(f"cancel\t{number}\n")

    def wait(self, number, seconds=LIMIT):
        end = time.monotonic() + seconds
        while number not in self.results:
            line = self.answers.get(timeout=max(0.1, end - time.monotonic()))
            kind, *fields = line.split("\t")
            assert kind == "result", f"{line}\n" + "\n".join(self.log[-20:])
            self.results[int(fields[0])] = Result(fields, self.outputs[int(fields[0])])
        return self.results[number]

    def convert(self, folder, name, content, output, settings="", **options):
        source = pathlib.Path(folder) / name
        source.write_bytes(content)
        return self.wait(self.submit(source, pathlib.Path(folder) / output, settings, **options))

    def settings(self, **values):
        return "".join(f"<{k}>{v}</{k}>" for k, v in values.items())

    # processes

    def wait_for_log(self, pattern, count=1, seconds=LIMIT):
        end = time.monotonic() + seconds
        while sum(bool(re.search(pattern, line)) for line in self.log) < count:
            assert time.monotonic() < end, "\n".join(self.log)
            time.sleep(0.02)

    def converter_pid(self, seconds=LIMIT):
        """The newest procession-converter."""
        self.wait_for_log("event=converter-ready")
        return max(children(self.process.pid))

    def document_pid(self, seconds=LIMIT):
        """A process that works on a document."""
        end = time.monotonic() + seconds
        while True:
            for pid in children(self.converter_pid()):
                return pid
            assert time.monotonic() < end
            time.sleep(0.01)


def children(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(p) for p in text.split()]


def job(**values):
    """Settings of a job: job(OutputFormat="PDF", fixed={"UsePDFA": "true"})."""
    fixed = values.pop("fixed", None)
    inner = "".join(f"<{k}>{v}</{k}>" for k, v in values.items())
    if fixed:
        inner += "<FixedFormatSettings>" + "".join(f"<{k}>{v}</{k}>" for k, v in fixed.items()) + "</FixedFormatSettings>"
    return f"<ConversionJobSettings>{inner}</ConversionJobSettings>"


def tool(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} (poppler-utils) is not installed")
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, timeout=LIMIT).stdout


def pdf_text(path):
    return " ".join(tool("pdftotext", path, "-").split())


def pdf_info(path):
    return dict((k.strip(), v.strip()) for k, _, v in (line.partition(":") for line in tool("pdfinfo", path).splitlines()))
