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


def add_until_full(db, size):
    """The WAL and the file have some room of their own left: until ten calls in a row are refused."""
    refused = 0
    for i in range(3000):
        result = db.call("proc_AddItem", id=f"n{size}-{i}", item=bytes(size), timeout=1000)
        refused = 0 if result.error is None else refused + 1
        assert result.error is None or (result.error == 1105 and "Free disk space" in result.errors[0][2])
        if refused == 10:
            return
    raise AssertionError("the disk is not full")


def test_full_and_free_again(server):
    keys = [f"k{i}" for i in range(50)]
    with open_path("wire", server, "StateService") as db:
        for key in keys:
            assert db.call("proc_AddItem", id=key, item=bytes(2000), timeout=1000).status == 0
        ballast = fill_up(server)
        for size in (100000, 3000, 10):
            add_until_full(db, size)
        locked = set()
        for name in ("proc_GetItemWithLock", "proc_GetItemWithoutLock"):        # both must renew the expiration, or fail
            results = {key: db.call(name, id=key) for key in keys}
            assert {result.error for result in results.values()} <= {None, 1105} and any(result.error == 1105 for result in results.values())
            assert all("Free disk space" in result.errors[0][2] for result in results.values() if result.error is not None)
            locked |= {key for key, result in results.items() if name == "proc_GetItemWithLock" and result.error is None}
        rows = db.batch("SELECT Id, Locked FROM dbo.Items WHERE Id LIKE 'k%'").rows     # reading needs no room
        assert sorted(rows) == sorted((key, key in locked) for key in keys)             # and what was refused has changed nothing
        ballast.unlink()
        for key in keys:
            assert db.call("proc_GetItemWithoutLock", id=key).error is None
        assert db.call("proc_AddItem", id="after", item=bytes(100000), timeout=1000).error is None
