"""The first minutes: what a first start prints, what it leaves behind when it fails, what a reload says."""
import os
import pathlib
import pty
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

from support.server import Server, binary


def first_start(data, *more):
    return subprocess.run([str(binary()), "--data", str(data), *more], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("listen", ["1.2.3.4:99", "nonsense", "taken"])
def test_a_first_start_that_fails_leaves_nothing_and_says_why_last(tmp_path, listen):
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = f"127.0.0.1:{other.getsockname()[1]}" if listen == "taken" else listen
        done = first_start(tmp_path / "data", "--listen", where)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("processiond: ") and where in done.stderr.splitlines()[-1]
    assert not (tmp_path / "data").exists()
    assert "New server" not in done.stdout


def test_a_folder_that_was_there_stays(tmp_path):
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "note").write_text("mine")
    assert first_start(tmp_path / "data", "--listen", "1.2.3.4:99").returncode == 1
    assert (tmp_path / "data" / "note").read_text() == "mine"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a folder for another user to find")
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_folder_of_another_user_says_whose_it_is(mode):
    """Somebody ran the first server as root."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="another-"))
    try:
        top.chmod(0o755)
        program = shutil.copy(binary(), top)
        (top / "data").mkdir()
        (top / "data").chmod(mode)
        (top / "data" / "lock").touch(0o600)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "--data", top / "data", "--listen", "127.0.0.1:0"],
                              capture_output=True, text=True, timeout=60, check=False)
    finally:
        shutil.rmtree(top)
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and f"mode {0o600 if mode == 0o755 else mode:04o}" in said, said
    assert "owner uid 0" in said and "runs as uid 65534" in said and "--data" in said, said


def start_and_read(data, stdout, read):
    """What a first start prints on stdout, up to its line "ready"."""
    with subprocess.Popen([str(binary()), "--data", str(data), "--listen", "127.0.0.1:0"], stdout=stdout, stderr=subprocess.DEVNULL) as process:
        said = b""
        while b"ready " not in said:
            piece = read(process)
            assert piece, said
            said += piece
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    return said.decode()


def test_the_password_is_shown_to_a_terminal_only(tmp_path):
    said = start_and_read(tmp_path / "a", subprocess.PIPE, lambda p: os.read(p.stdout.fileno(), 4096))
    password = (tmp_path / "a" / "sa-password").read_text().strip()
    assert password not in said and f"{tmp_path}/a/sa-password" in said
    ours, theirs = pty.openpty()
    said = start_and_read(tmp_path / "b", theirs, lambda _: os.read(ours, 4096))
    assert (tmp_path / "b" / "sa-password").read_text().strip() in said


def test_a_reload_says_what_needs_a_restart():
    with Server(config={"log_level": "info", "readers": 2}) as server:
        server.write_config(log_level="warn", readers=3)
        server.signal(signal.SIGHUP)
        server.wait_log('event=setting_changed setting=readers takes_effect="after a restart"')
        assert "setting=log_level" not in server.log()          # taken already: it says less from now on
        server.write_config(log_level="info", readers=3)
        server.signal(signal.SIGHUP)
        server.wait_log("event=reload ")
