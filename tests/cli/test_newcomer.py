"""The scripts behind make run and make test, where things are not as they should be: packages that nobody may
install, a checkout that was moved, one that root has built."""
import contextlib
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
NOBODY = 65534


@pytest.fixture
def checkout():
    """A folder with the script and a small project, so that building takes a second. Anybody may look into it."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="newcomer-"))
    top.chmod(0o755)
    folder = top / "checkout"
    (folder / "tools").mkdir(parents=True)
    shutil.copy(TOOLS / "build.sh", folder / "tools")
    (folder / "meson.build").write_text("project('small', 'c')\nexecutable('small', 'small.c')\n")
    (folder / "meson_options.txt").write_text("option('tests', type: 'boolean')\n")
    (folder / "small.c").write_text("int main(void) { return 0; }\n")
    yield folder
    shutil.rmtree(top)


def build(folder, *before):
    return subprocess.run([*before, folder / "tools" / "build.sh", "plain"], capture_output=True, text=True, timeout=120, check=False)


def build_at_a_terminal(folder):
    ours, theirs = pty.openpty()
    done = subprocess.run([folder / "tools" / "build.sh", "plain"], stdin=theirs, stdout=theirs, stderr=theirs, timeout=120, check=False)
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError), open(ours, "rb", buffering=0) as stream:     # the end of a terminal is an error
        while piece := stream.read(4096):
            said += piece
    assert done.returncode == 0, said
    return said.decode()


def test_who_waits_at_a_terminal_sees_how_far_it_is(checkout):
    """Also when the first build was interrupted, or a file has changed since; and nothing when there is nothing to do."""
    assert "build: 100%" in build_at_a_terminal(checkout)
    (checkout / "small.c").write_text("int main(void) { return 1; }\n")
    assert "build: 100%" in build_at_a_terminal(checkout)
    assert build_at_a_terminal(checkout) == ""


def test_a_moved_checkout_is_built_anew(checkout):
    assert build(checkout).returncode == 0
    moved = checkout.rename(checkout.parent / "elsewhere")
    done = build(moved)
    assert done.returncode == 0 and "the checkout was moved: building build/meson anew" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr and (moved / "build" / "meson" / "small").exists()
    assert build(moved).stderr == ""                        # silent when all is well


@pytest.mark.skipif(os.getuid() != 0, reason="only root can build for another user to find")
def test_a_checkout_that_root_has_built_says_what_to_do(checkout):
    assert build(checkout).returncode == 0
    done = build(checkout, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    assert done.returncode == 1 and "sudo make clean" in done.stderr and len(done.stderr.splitlines()) == 1


def test_without_root_and_sudo_one_line_says_what_to_run(tmp_path):
    """On a system that has none of the packages; dpkg, id and the absence of sudo are the system's, not ours."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "env", "dirname", "sed", "tr", "sort", "cat", "apt-get"):
        (programs / name).symlink_to(shutil.which(name))
    for name, says in (("dpkg-query", "true"), ("id", "echo 1000")):
        (programs / name).write_text(f"#!/bin/sh\n{says}\n")
        (programs / name).chmod(0o755)
    done = subprocess.run([TOOLS / "setup.sh", "build"], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": str(programs)}, stdin=subprocess.DEVNULL, start_new_session=True)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "libuv1-dev" in line] == done.stderr.splitlines()[-1:]
    assert "apt-get install -y --no-install-recommends" in done.stderr
