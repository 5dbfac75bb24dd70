"""A disk that is really full: a small file system of its own. What cannot be written is refused with 1105 and the remedy, and works again when there is room."""
import os
import shutil
import subprocess
import tempfile

import pytest

from support.calls import open_path
from support.server import Server

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


@pytest.fixture
def server():
    folder = tempfile.mkdtemp(prefix="procession-full-")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True, check=False).returncode != 0:
        os.rmdir(folder)
        pytest.skip("may not mount a file system")
    made = Server(settings={"log_level": "warn", "sweep_interval": 0}, data=folder + "/data")
    try:
        made.start()
        yield made
        made.stop()
    finally:
        made.kill()
        made.remove()
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


def fill_up(server):
    path = server.data / "ballast"
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass
    assert shutil.disk_usage(server.data).free < 4096
    return path


def test_full_and_free_again(server):
    with open_path("wire", server, "StateService") as db:
        for i in range(50):
            assert db.call("proc_AddItem", id=f"k{i}", item=bytes(2000), timeout=1000).status == 0
        ballast = fill_up(server)
        numbers = set()
        for i in range(2000):                   # the log has some room of its own left
            result = db.call("proc_AddItem", id=f"n{i}", item=bytes(100000), timeout=1000)
            if result.error is not None:
                numbers.add(result.error)
                assert "Free disk space" in result.errors[0][2]
            if len(numbers) > 0 and i > 100:
                break
        assert numbers == {1105}
        for name in ("proc_GetItemWithLock", "proc_GetItemWithoutLock"):
            for i in range(50):
                result = db.call(name, id=f"k{i}")
                if result.error is None:        # its renewal, and its lock, found room, or stand under a promise
                    assert result.out["item"] in (bytes(2000), None)
                else:
                    assert result.error == 1105 and "Free disk space" in result.errors[0][2]
        assert db.batch("SELECT COUNT(*) FROM dbo.Items WHERE Id LIKE 'k%'").rows == [(50,)]     # reading needs no room
        ballast.unlink()
        for i in range(50):
            assert db.call("proc_GetItemWithoutLock", id=f"k{i}").error is None
        assert db.call("proc_AddItem", id="after", item=bytes(100000), timeout=1000).error is None
