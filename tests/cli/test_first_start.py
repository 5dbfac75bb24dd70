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


@pytest.mark.parametrize("option", ["--listen", "--http"])
@pytest.mark.parametrize("address", ["1.2.3.4:99", "nonsense", "taken"])
def test_a_first_start_that_fails_leaves_nothing_and_says_why_last(tmp_path, option, address):
    with socket.create_server(("127.0.0.1", 0)) as other:
        where = f"127.0.0.1:{other.getsockname()[1]}" if address == "taken" else address
        done = first_start(tmp_path / "data", *(["--listen", "127.0.0.1:0"] if option == "--http" else []), option, where)
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


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file for another user to find")
def test_a_file_of_another_user_says_whose_it_is():
    """Somebody has restored a backup as root."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="another-"))
    try:
        top.chmod(0o755)
        program, data = shutil.copy(binary(), top), top / "data"
        start_and_read(data, subprocess.PIPE, lambda p: os.read(p.stdout.fileno(), 4096))
        for path in (data, *data.rglob("*")):
            os.chown(path, 65534, 65534)
        os.chown(data / "StateService.db", 0, 0)
        (data / "StateService.db").chmod(0o400)
        with subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "--data", data, "--listen", "127.0.0.1:0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            said = next((line for line in process.stderr if "StateService.db" in line), "")
            process.terminate()
    finally:
        shutil.rmtree(top)
    assert "(owner uid 0, mode 0400; this program runs as uid 65534)" in said, said


def test_what_was_never_set_up_is_no_news(tmp_path):
    """Without a keytab Kerberos is off: whoever starts for the first time need not read of it."""
    with (tmp_path / "said").open("wb") as stderr:
        said = start_and_read(tmp_path / "data", subprocess.PIPE, lambda p: os.read(p.stdout.fileno(), 4096), stderr)
    assert "mechanism_off" not in said + (tmp_path / "said").read_text() and "event=ready" in (tmp_path / "said").read_text()


def start_and_read(data, stdout, read, stderr=subprocess.DEVNULL):
    """What a first start prints on stdout, up to its line "ready"."""
    with subprocess.Popen([str(binary()), "--data", str(data), "--listen", "127.0.0.1:0"], stdout=stdout, stderr=stderr) as process:
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
