"""The command `procession` as people and scripts use it, against a real server."""
import json
import os
import subprocess

import pytest

from support.certificate import certificate
from support.server import Server, command_binary


class Cli:
    def __init__(self, server):
        self.server = server
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PROCESSION_")}

    def run(self, *args, stdin="", connect=True, env=None):
        where = ["--server", self.server.address, "--password-file", str(self.server.dir / "password")] if connect else []
        return subprocess.run([str(command_binary()), *where, *args], input=stdin, capture_output=True, text=True, timeout=60,
                              env=dict(self.env, **(env or {})), start_new_session=True)

    def ok(self, *args, **options):
        result = self.run(*args, **options)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def json(self, *args, **options):
        return json.loads(self.ok("--json", *args, **options))


@pytest.fixture
def cli(server):
    return Cli(server)


def test_status_names_the_server_and_its_databases(cli):
    answer = cli.json("status")
    assert answer["server"][0]["login"] == "sa"
    assert {"StateService", "WordAutomation", "Translation", "ScheduledJobs"} <= {d["name"] for d in answer["databases"]}
    assert "StateService" in cli.ok("status")
    assert answer["certificate"][0]["days_left"] > 30 and not answer["certificate"][0]["warning"]


def test_a_certificate_that_expires_soon_is_told_by_status(tmp_path):
    with Server(settings=certificate(tmp_path, 10)) as server:
        told = Cli(server).json("status")["certificate"][0]
        assert 9 <= told["days_left"] <= 10 and told["warning"]
        assert told["warning"] in Cli(server).ok("status")


def test_a_windows_name_needs_no_password(cli):
    name = "EXAMPLE.ORG\\alice"
    assert cli.json("login", "add", name, "--windows", "--database", "StateService")
    assert any(login["name"] == name for login in cli.json("login", "list"))
    assert cli.run("login", "add", name, "--windows", "--generate").returncode == 2
    assert cli.run("login", "add", "alice", "--windows").returncode != 0


def test_a_generated_password_lets_the_new_login_in(cli, tmp_path):
    made = cli.json("login", "add", "generated", "--generate", "--admin")
    assert len(made["password"]) == 24
    secret = tmp_path / "secret"
    secret.write_text(made["password"] + "\n")
    environment = {"PROCESSION_SERVER": cli.server.address, "PROCESSION_USER": "generated", "PROCESSION_PASSWORD_FILE": str(secret)}
    assert cli.json("status", connect=False, env=environment)["server"][0]["login"] == "generated"


def test_a_login_is_added_disabled_enabled_and_listed(cli):
    assert cli.ok("login", "add", "clerk", "--password-stdin", "--database=StateService", stdin="long enough\n") == "login added\n"
    assert cli.ok("login", "disable", "clerk") == "login disabled\n"
    clerk = next(row for row in cli.json("login", "list") if row["name"] == "clerk")
    assert (clerk["disabled"], clerk["admin"], clerk["default_database"]) == (1, 0, "StateService")
    assert cli.ok("login", "enable", "clerk") == "login enabled\n"
    assert cli.ok("login", "passwd", "clerk", stdin="another long one\n") == "password changed\n"
    assert "clerk" in cli.ok("login", "list")


def test_rights_are_set_and_taken_away(cli):
    cli.ok("login", "add", "reader", "--generate")
    cli.ok("grant", "reader", "StateService", "execute,select")
    assert {"login": "reader", "database": "StateService", "rights": "execute,select"} in cli.json("grant", "list")
    cli.ok("grant", "reader", "StateService", "none")
    assert not [row for row in cli.json("grant", "list") if row["login"] == "reader"]


def test_a_database_is_created_checked_and_listed(cli):
    cli.ok("database", "create", "Second State", "--service", "state", "--errata", "literal")
    row = next(d for d in cli.json("database", "list") if d["name"] == "Second State")
    assert (row["service"], row["errata"]) == ("state", "literal")
    assert cli.json("database", "check", "Second State")[0]["report"].strip() == "ok"


def test_what_the_server_refuses_is_status_1_with_its_text(cli):
    result = cli.run("database", "check", "Nowhere")
    assert result.returncode == 1
    assert "There is no database 'Nowhere'" in result.stderr
    result = cli.run("--json", "login", "add", "shorty", stdin="short\n")
    assert result.returncode == 1
    assert json.loads(result.stderr)["error"] == 50020


def test_a_wrong_password_is_refused(cli, tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("not it\n")
    result = cli.run("status", "--password-file", str(wrong))
    assert result.returncode == 1
    assert "18456" in result.stderr


def test_the_whole_connection_can_be_encrypted(cli):
    offset = len(cli.server.log())
    assert cli.json("--encrypt", "require", "login", "list")
    assert "tls=login" not in cli.server.log()[offset:]


def test_a_certificate_is_checked_when_asked(cli, tmp_path):
    assert cli.json("--encrypt", "require", "--ca-file", cli.server.certificate, "login", "list")
    other = tmp_path / "other.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other", "-keyout", str(tmp_path / "key"), "-out", str(other)],
                   check=True, capture_output=True)
    assert cli.run("--encrypt", "require", "--ca-file", str(other), "login", "list").returncode == 3


def test_the_data_folder_tells_address_and_password(new_server):
    server = new_server(password=None)
    assert Cli(server).json("--data", str(server.data), "status", connect=False)["server"][0]["login"] == "sa"


def test_an_unreachable_server_is_status_3(cli):
    result = cli.run("status", "--server", "127.0.0.1:1")
    assert result.returncode == 3
    assert "127.0.0.1:1: cannot connect: Connection refused" in result.stderr


@pytest.mark.parametrize("args, part", [
    ([], "Usage: procession COMMAND"),
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["login"], "'login' needs a further word"),
    (["login", "add"], "this command takes: NAME"),
    (["login", "list", "--generate"], "--generate is no option of this command"),
    (["--colour", "status"], "unknown option '--colour'"),
    (["status", "--server"], "--server needs a value"),
    (["status", "--json=yes"], "--json takes no value"),
    (["database", "create", "X"], "--service is missing"),
    (["grant", "a", "b"], "LOGIN DATABASE"),
    (["a"] * 9, "unknown command"),
])
def test_wrong_usage_is_status_2_and_says_what_is_right(cli, args, part):
    result = cli.run(*args, connect=False)
    assert result.returncode == 2
    assert part in result.stderr


@pytest.mark.parametrize("args", [["--help"], ["help"], ["login", "--help"], ["--version"], ["--help-man"]])
def test_help_goes_to_standard_output(cli, args):
    result = cli.run(*args, connect=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "procession" in result.stdout.lower()
