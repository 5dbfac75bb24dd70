"""What a newcomer does wrong, and the message that tells what to do instead."""
import os
import subprocess

import pytest

from support.server import Server, command_binary


@pytest.fixture(scope="module")
def server():
    with Server() as made:
        yield made


def run(server, *args, password=True):
    env = {k: v for k, v in os.environ.items() if not k.startswith("PROCESSION_")}
    where = ["--server", server.address] + (["--password-file", str(server.dir / "password")] if password else [])
    return subprocess.run([str(command_binary()), *where, *args], input="", capture_output=True, text=True, timeout=60, env=env,
                          start_new_session=True, check=False)


def test_an_id_that_is_none(server):
    done = run(server, "schedule", "show", "79C4")
    assert done.returncode == 2 and "schedule list shows them" in done.stderr


@pytest.mark.parametrize("command, database, things", [
    ("schedule list", "StateService", "scheduled jobs"),
    ("schedule add UserProfileImportJob --job-data IsIncremental#True --due now", "WordAutomation", "scheduled jobs"),
    ("jobs list", "StateService", "translation jobs"),
    ("jobs show 1", "master", "translation jobs"),
    ("jobs list --service convert", "Translation", "conversion jobs"),
    ("state count", "WordAutomation", "items"),
    ("state delete x", "Translation", "items"),
    ("convert /etc/hostname --to pdf", "Translation", "conversion jobs"),
])
def test_a_database_of_another_kind(server, command, database, things):
    done = run(server, *command.split(), "--database", database)
    assert done.returncode == 1 and f"'{database}' has no {things}: give --database one of the kind" in done.stderr


def test_a_scheduler_on_a_database_of_another_kind(server, tmp_path):
    settings = tmp_path / "scheduler.ini"
    settings.write_text("[handler:UserProfileImportJob]\ncommand = /bin/true\n")
    done = run(server, "scheduler", "--config", str(settings), "--state", str(tmp_path / "s"), "--once", "--database", "StateService")
    assert done.returncode == 1 and "'StateService' has no scheduled jobs" in done.stderr


def test_jobs_of_a_database_by_another_name(server):
    """Of both services only the one that it is of is asked, and nothing is said about the other."""
    assert run(server, "database", "create", "Second", "--service", "translation").returncode == 0
    done = run(server, "jobs", "list", "--database", "Second")
    assert done.returncode == 0 and done.stderr == ""
    assert "there is no job 7" in run(server, "jobs", "show", "7", "--database", "Second").stderr


def test_a_due_time_in_the_past_is_said(server):
    done = run(server, "schedule", "add", "UserProfileImportJob", "--job-data", "IsIncremental#True", "--due", "2020-01-01 00:00:00")
    assert done.returncode == 0 and "in the past" in done.stderr
    done = run(server, "schedule", "add", "UserProfileImportJob", "--job-data", "IsIncremental#True", "--due", "now")
    assert done.returncode == 0 and done.stderr == ""


def test_a_missing_password_is_wrong_usage(server, tmp_path):
    done = run(server, "status", password=False)
    assert done.returncode == 2 and "--password-file" in done.stderr
    settings = tmp_path / "scheduler.ini"
    settings.write_text("[handler:UserProfileImportJob]\ncommand = /bin/true\n")
    assert run(server, "scheduler", "--config", str(settings), "--state", str(tmp_path / "s"), "--once", password=False).returncode == 2


def test_a_certificate_that_does_not_fit(server, tmp_path):
    """The message names the address that was given, and what to look at; not a name of our own making."""
    other = tmp_path / "other.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(tmp_path / "key"), "-out", str(other),
                    "-subj", "/CN=other", "-days", "2"], check=True, capture_output=True)
    done = run(server, "--encrypt", "require", "--ca-file", str(other), "status")
    assert done.returncode == 3 and server.address in done.stderr and "--ca-file" in done.stderr
    assert "procession-server" not in done.stderr


def test_a_login_that_exists(server):
    assert run(server, "login", "add", "twice", "--generate").returncode == 0
    done = run(server, "login", "add", "twice", "--generate")
    assert done.returncode == 1 and "procession login passwd" in done.stderr
