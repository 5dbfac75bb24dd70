"""`make dist`: the archive has all that is needed to build, and nothing is fetched."""
import subprocess
import tempfile

import pytest

from conftest import ROOT

OFFLINE = ["unshare", "--net"]
ALONE = subprocess.run([*OFFLINE, "true"], capture_output=True, check=False).returncode == 0
pytestmark = [pytest.mark.long, pytest.mark.skipif(not ALONE, reason="no network namespace can be made here")]


def test_the_archive_builds_without_a_network():
    archive = subprocess.run([ROOT / "tools" / "dist.sh"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="dist-") as folder:
        subprocess.run(["tar", "-xf", ROOT / archive, "-C", folder, "--strip-components=1"], check=True)
        done = subprocess.run([*OFFLINE, "tools/build.sh", "plain"], cwd=folder, capture_output=True, text=True, check=False, timeout=3600)
        assert done.returncode == 0, done.stdout + done.stderr
        for program in ("processiond", "procession"):
            said = subprocess.run([f"{folder}/build/{program}", "--version"], capture_output=True, text=True, check=True).stdout
            assert archive.split("procession-")[1].removesuffix(".tar.xz") in said
