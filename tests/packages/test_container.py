"""The Containerfile: an image is built of the packages on a fresh Debian, and a server started in it answers."""
import json
import shutil
import subprocess
import tempfile

import pytest

import machine
from conftest import ROOT

BUILDER = shutil.which("buildah")
pytestmark = [pytest.mark.long,
              pytest.mark.skipif(machine.why_not() is not None, reason=str(machine.why_not())),
              pytest.mark.skipif(BUILDER is None, reason="buildah is not installed")]


class Images:
    """Buildah with a store of its own. Its isolation is chroot, which needs no runtime and no cgroups of a certain kind."""

    def __init__(self, folder):
        self.folder = folder
        self.options = ["--root", f"{folder}/store", "--runroot", f"{folder}/run", "--storage-driver", "vfs"]

    def __call__(self, *words):
        done = subprocess.run([BUILDER, *self.options, *map(str, words)], capture_output=True, text=True, check=False, timeout=1800)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    def import_base(self):
        """An image of a fresh Debian by the name that is returned."""
        folder = self.folder / "base"
        machine.copy_base(folder)
        made = self("from", "scratch")
        self("add", made, folder, "/")
        self("commit", "--rm", made, "localhost/base")
        shutil.rmtree(folder)
        return "localhost/base"


@pytest.fixture
def images():
    with tempfile.TemporaryDirectory(prefix="images-", ignore_cleanup_errors=True) as folder:
        yield Images(machine.pathlib.Path(folder))


def test_a_server_in_a_container_answers(images, packages, tmp_path):
    (tmp_path / "build" / "deb").mkdir(parents=True)
    for package in packages.values():
        shutil.copy(package, tmp_path / "build" / "deb")
    images("build", "--isolation=chroot", "--build-arg", f"BASE={images.import_base()}", "-t", "localhost/procession",
           "-f", ROOT / "Containerfile", tmp_path)
    image = json.loads(images("inspect", "--type", "image", "localhost/procession"))["OCIv1"]["config"]
    assert image["User"] == "procession" and "/var/lib/procession" in image["Volumes"] and "1433/tcp" in image["ExposedPorts"]

    container = images("from", "localhost/procession")
    inside = [BUILDER, *images.options, "run", "--isolation=chroot", "--user", image["User"], container, "--"]
    # The last --listen counts: a free port, because this network is everybody's.
    with subprocess.Popen([*inside, *image["Entrypoint"], "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as server:
        assert any(line.startswith("ready ") for line in server.stdout)
        try:
            done = subprocess.run([*inside, "procession", "--data", "/var/lib/procession", "sql", "-c", "SELECT SUSER_SNAME()"],
                                  capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode == 0 and "sa" in done.stdout, done.stderr
        finally:
            server.terminate()
