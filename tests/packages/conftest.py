"""Tests of what is given away: packages, the archive of the source, the container."""
import os
import pathlib
import re
import subprocess

import pytest

import machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("procession", "procession-server")


def build(folder):
    """Unless another process of these tests has just built this commit."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    built = folder / "commit"
    if built.exists() and built.read_text() == commit:
        return
    done = subprocess.run([ROOT / "tools" / "deb.sh"], capture_output=True, text=True, check=False, timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"^[EW]: ", done.stdout, re.M), done.stdout
    built.write_text(commit)


@pytest.fixture(scope="session")
def packages():
    """The packages by name: what `make deb` makes of the commit, lintian's opinion included. PACKAGES names a folder that has them already."""
    if "PACKAGES" in os.environ:
        folder = pathlib.Path(os.environ["PACKAGES"])
    else:
        folder = ROOT / "build" / "deb"
        with machine.one_at_a_time("deb"):
            build(folder)
    return {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}
