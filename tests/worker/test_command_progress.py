"""What people see while documents are worked on: one line that changes at a terminal, a line a document elsewhere."""
import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import pytest

from support import documents
from support.server import command_binary
from support.workers import CONVERT, LIMIT, TRANSLATE, procession, short_docx

FRAME = re.compile(r"\[([#.]{16})\] (\d+) of (\d+)(?:, (\d+) failed)?(?:  (\d+) a minute(?:  ([\w ]+) left)?)?(?:  (\S.*))?")
CLEAR = "\r\x1b[K"


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def three(tmp_path):
    """The first cannot be converted, the last takes a while; one after the other."""
    CONVERT.need()
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "bad.docx").write_bytes(b"no document at all")
    (folder / "short.docx").write_bytes(short_docx("short"))
    (folder / "größer.docx").write_bytes(documents.endless(12000))
    return folder


WORDS = ["convert", "bad.docx", "short.docx", "größer.docx", "--to", "pdf", "--jobs", "1"]


def at_a_terminal(words, home, cwd, columns=80):
    """Exit status, standard output, and what was drawn; standard output is no terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""}
    env.pop("PROCESSION_SERVER", None)
    pieces = []

    def read():
        with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as stream:     # the end of a terminal is an error
            while piece := stream.read(4096):
                pieces.append(piece)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    done = subprocess.run([str(command_binary()), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, env=env, cwd=cwd, text=True, timeout=LIMIT,
                          check=False)
    os.close(theirs)
    reader.join(LIMIT)
    return done.returncode, done.stdout, b"".join(pieces).decode()


def frames(drawn):
    """Each state of the line. Nothing else was written, and at the end nothing is left of it."""
    assert drawn.startswith(CLEAR) and drawn.endswith(CLEAR), drawn
    return drawn.split(CLEAR)[1:-1]


def test_one_line_at_a_terminal(three, home):
    """Done, failed, documents a minute, time left, current names."""
    status, out, drawn = at_a_terminal(WORDS, home, three)
    assert status == 1 and "2 of 3 documents converted" in out and "done    " not in out
    states = [FRAME.fullmatch(frame) for frame in frames(drawn)]
    assert all(states), drawn
    late = [s for s in states if s[2] == "2"][-1]
    assert (late[1].count("#"), late[3], late[4], late[7]) == (10, "3", "1", "größer.docx")
    assert int(late[5]) > 0 and re.fullmatch(r"(\d+ h )?(\d+ min )?(\d+ s)?", late[6])
    ended = [int(s[2]) for s in states]
    assert ended == sorted(ended)


def test_the_line_stays_one_line(three, home):
    """Cut where the terminal ends, and between two characters."""
    _, _, drawn = at_a_terminal(WORDS, home, three, columns=62)         # at 80 there is room for the name
    cut = frames(drawn)
    assert max(map(len, cut)) < 62 and "\n" not in drawn
    assert "2 of 3" in cut[-1] and "größer.docx" not in drawn


def test_with_json_nothing_is_drawn(three, home):
    status, out, drawn = at_a_terminal([*WORDS, "--json"], home, three)
    assert status == 1 and drawn == "" and out.startswith("{")


def check_plain(done, lines):
    """The beginnings of its first lines, in any order: one for each document."""
    said = done.stdout.splitlines()[:len(lines)]
    assert len(said) == len(lines) and all(any(s.startswith(line) for s in said) for line in lines), done.stdout
    assert "\x1b" not in done.stdout + done.stderr and "\r" not in done.stdout + done.stderr


def test_a_line_a_document_elsewhere(three, home):
    done = procession(*WORDS, home=home, cwd=three, check=1)
    check_plain(done, ["failed  bad.docx: InputFileCorrupt: ", "done    short.docx -> short.pdf", "done    größer.docx -> größer.pdf"])


def test_a_line_a_translation(tmp_path, home):
    TRANSLATE.need()
    (tmp_path / "bad.docx").write_bytes(b"no document at all")
    (tmp_path / "note.txt").write_text("The house is on the hill.\n")
    done = procession("translate", "bad.docx", "note.txt", "--from", "en", "--to", "es", home=home, cwd=tmp_path, check=1)
    check_plain(done, ["failed  bad.docx: InputFileCorrupt: ", "done    note.txt -> note.es.txt"])
