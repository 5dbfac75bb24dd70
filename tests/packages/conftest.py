"""Tests of what is given away: packages, the archive of the source, the container."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("procession", "procession-server")


@pytest.fixture(scope="session")
def packages():
    """The packages by name: what `make deb` makes of the commit, lintian's opinion included. PACKAGES names a folder that has them already."""
    if "PACKAGES" in os.environ:
        folder = pathlib.Path(os.environ["PACKAGES"])
    else:
        done = subprocess.run([ROOT / "tools" / "deb.sh"], capture_output=True, text=True, check=False, timeout=3600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not re.search(r"^[EW]: ", done.stdout, re.M), done.stdout
        folder = ROOT / "build" / "deb"
    return {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}
