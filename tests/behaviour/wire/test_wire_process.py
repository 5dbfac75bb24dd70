"""The process: ready line, signals, drain, restart, what the log says and what it never says."""
import re
import signal
import subprocess
import time

import pytest

from support import wire as tds
from support import wiretypes as t
from support.server import Server, ServerFailed, binary
from support.wire import Closed, Param, ServerError, Wire

from statecalls import add, get, present


def test_sigterm_lets_a_running_request_finish(new_server, key):
    """Drain: idle sessions end, nobody new comes in, what runs is answered, status 0."""
    server = new_server()
    with Wire(server).login() as idle, Wire(server).login() as busy:
        busy.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:02' SELECT 'finished'"))
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
        assert idle.is_closed(5)
        with pytest.raises((OSError, ServerError)):
            Wire(server, timeout=2).login()
        assert busy.answer().value == "finished"
        assert busy.is_closed(5)
    server.stop()


def test_second_sigterm_stops_at_once(new_server):
    server = new_server()
    with Wire(server).login() as busy:
        busy.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:25' SELECT 1"))
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.alive
        start = time.monotonic()
        server.signal(signal.SIGTERM)
        server.process.wait(10)
        assert time.monotonic() - start < 8
    server.kill()


def test_drain_timeout(new_server):
    server = new_server(settings={"drain_timeout": 1})
    with Wire(server).login() as busy:
        busy.send_message(tds.BATCH, tds.batch_body("WAITFOR DELAY '00:00:25' SELECT 1"))
        time.sleep(0.2)
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 10


def test_an_open_transaction_does_not_hold_the_stop(new_server, key):
    server = new_server()
    with Wire(server).login() as w:
        w.begin().ok()
        add(w, key).ok()
        start = time.monotonic()
        server.stop()
        assert time.monotonic() - start < 20
    server.start()
    with Wire(server).login() as w:
        assert not present(w, key)


def test_what_was_answered_survives_kill_9(new_server, key):
    server = new_server()
    with Wire(server).login() as w:
        for i in range(50):
            add(w, f"{key}-{i}", b"%d" % i).ok()
    server.restart(kill=True)
    with Wire(server).login() as w:
        for i in range(50):
            assert get(w, f"{key}-{i}").outputs["@item"] == b"%d" % i


def test_password_stays_over_a_restart(new_server):
    server = new_server()
    server.restart()
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1


def test_generated_password(new_server):
    """Without --sa-password-file one is made, shown once and kept in DIR/sa-password, mode 0600."""
    server = new_server(password=None)
    path = server.data / "sa-password"
    assert path.stat().st_mode & 0o777 == 0o600
    password = path.read_text().strip()
    assert len(password) >= 16
    with Wire(server).login(password=password) as w:
        assert w.batch("SELECT 1").value == 1
    assert password not in server.log()


def test_two_servers_do_not_share_a_folder(new_server):
    server = new_server()
    second = Server(data=server.data, start_timeout=10)
    with pytest.raises(ServerFailed):
        second.start()
    second.remove()
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1


def test_listening_on_a_taken_port_fails_clearly(new_server):
    server = new_server()
    second = Server(settings={"listen": server.address}, start_timeout=10)
    with pytest.raises(ServerFailed) as e:
        second.start()
    assert str(server.port) in str(e.value)
    second.remove()


@pytest.mark.parametrize("flags", (["--no-such-flag"], ["--encrypt", "maybe"], ["--max-connections", "0"], ["--login-timeout", "soon"], ["--listen", "nonsense"], ["--config", "/no/such/file"]))
def test_bad_settings_are_told(tmp_path, flags):
    done = subprocess.run([str(binary()), "--data", str(tmp_path / "d"), *([] if "--listen" in flags else ["--listen", "127.0.0.1:0"]), *flags], capture_output=True, text=True, timeout=30)
    assert done.returncode not in (0, -6, -11) and done.stderr.strip() and "Sanitizer" not in done.stderr
    assert flags[0].lstrip("-").replace("-", "_") in done.stderr.replace("-", "_") or flags[-1] in done.stderr


def test_help(tmp_path):
    done = subprocess.run([str(binary()), "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and all(flag in done.stdout for flag in ("--data", "--listen", "--encrypt", "--max-connections", "--drain-timeout"))


def test_log_lines_of_a_session(new_server):
    """logfmt; session, peer, login and database in each line of a session; the reason of a refusal is in the log only."""
    server = new_server(settings={"log_level": "debug"})
    with Wire(server).login(app="my app") as w:
        w.batch("SELECT 1")
    for password in ("wrong-secret-password", server.password):
        with pytest.raises(ServerError):
            Wire(server).login(user="no\"body\nlevel=fake", password=password)
    server.wait_log(r"session=\d+\b.*peer=127\.0\.0\.1:\d+.*login=sa\b.*database=StateService")
    lines = [line for line in server.log().splitlines() if line.strip()]
    assert all(re.match(r"time=\S+ level=(error|warn|info|debug) event=", line) for line in lines), [x for x in lines if not x.startswith("time=")][:5]
    assert not [line for line in lines if line.startswith("level=fake")]
    server.wait_log(r"level=\w+ event=\S*login\S*.*no")


def test_no_secret_is_ever_logged(new_server):
    """Passwords, right or wrong, in no form; nor the data of calls."""
    server = new_server(settings={"log_level": "debug"}, password="TopSecret-4711-äöü")
    with Wire(server).login() as w:
        add(w, "some-key", b"PRIVATE-DATA-0815").ok()
        w.batch("EXEC proc_AddItem 'k2', 0x505249564154452d32, 20")
    with pytest.raises(ServerError):
        Wire(server).login(password="Guess-9999")
    with pytest.raises(ServerError):
        Wire(server).login(user="Guess-in-user", password="x")
    server.stop()
    text = server.log() + "\n".join(server.stdout_lines)
    for secret in ("TopSecret-4711", "Guess-9999", "PRIVATE-DATA-0815", tds.obfuscate("TopSecret-4711-äöü").hex()):
        assert secret not in text
    for path in server.data.rglob("*"):
        if path.is_file() and path.name != "sa-password":
            assert b"TopSecret-4711" not in path.read_bytes(), path


def test_sighup_changes_the_log_level(new_server):
    server = new_server(config={"log_level": "error"})
    start = len(server.log())
    Wire(server).login().close()
    time.sleep(0.2)
    quiet = server.log()[start:]
    assert "level=info" not in quiet and "level=debug" not in quiet
    server.write_config(log_level="debug")
    server.signal(signal.SIGHUP)
    deadline = time.monotonic() + 10
    while "level=info" not in server.log()[start:] and "level=debug" not in server.log()[start:]:
        assert time.monotonic() < deadline, "still quiet"
        Wire(server).login().close()
        time.sleep(0.05)


def test_sighup_with_a_bad_file_changes_nothing(new_server):
    server = new_server(config={"log_level": "info"})
    (server.dir / "config.ini").write_text("log_level = shouting\nno_such_setting = 1\n")
    server.signal(signal.SIGHUP)
    server.wait_log(r"level=(error|warn)")
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1


def test_settings_from_the_environment(new_server):
    server = new_server(env={"PROCESSION_MAX_CONNECTIONS": "1", "PROCESSION_ADMIN_RESERVED_CONNECTIONS": "0"})
    with Wire(server).login():
        with pytest.raises((ServerError, Closed)):
            Wire(server).login()


def test_listens_on_several_addresses(new_server):
    server = new_server(settings={"listen": "127.0.0.1:0,[::1]:0"})
    with Wire(server).login() as w:
        assert w.batch("SELECT 1").value == 1
