"""Commands for people who look after a server: ping, sql, state, sessions, logins, configuration, completion."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time

import pytds
import pytest

from support.server import command_binary
from test_cli import Cli


@pytest.fixture
def cli(server):
    return Cli(server)


def connect(server, login="sa", password=None, database="master"):
    return pytds.connect(server.host, database, login, password or server.password, port=server.port, autocommit=True, login_timeout=120)


def login_file(cli, tmp_path, name, *options):
    made = cli.json("login", "add", name, "--generate", *options)
    path = tmp_path / name
    path.write_text(made["password"] + "\n")
    return path


# ping

def test_ping_answers_any_login_and_tells_by_its_status(cli, tmp_path):
    secret = login_file(cli, tmp_path, "pinger")
    answer = cli.json("--user", "pinger", "--password-file", str(secret), "ping")
    assert answer["ok"] is True and answer["milliseconds"] >= 0
    assert "answers" in cli.ok("ping")
    assert cli.run("ping", "--user", "nobody").returncode == 1
    stopped = cli.run("ping", "--server", "127.0.0.1:1", "--password-file", str(secret), connect=False)
    assert stopped.returncode == 3 and "cannot connect" in stopped.stderr


# state

def test_items_are_counted_listed_and_deleted(cli, server):
    before = cli.json("state", "count")[0]
    with connect(server, database="StateService") as db:
        for name in ("person-1", "person-2", "other"):
            db.cursor().execute("EXEC proc_AddItem %s, 0x010203, 20", (name,))
        db.cursor().execute("DECLARE @a varbinary(max), @l bit, @t int, @c int; EXEC proc_GetItemWithLock 'person-2', @a OUTPUT, @l OUTPUT, @t OUTPUT, @c OUTPUT")
    count = cli.json("state", "count")[0]
    assert [count[n] - before[n] for n in ("items", "bytes", "locked")] == [3, 9, 1]
    assert [row["Id"] for row in cli.json("state", "list", "person-%")] == ["person-1", "person-2"]
    assert [row["Id"] for row in cli.json("state", "list", "--locked")] == ["person-2"]
    assert len(cli.json("state", "list", "--count", "1")) == 1
    assert cli.ok("state", "delete", "person-1") == "item deleted\n"
    refused = cli.run("state", "delete", "person-2")
    assert refused.returncode == 1 and "is locked" in refused.stderr
    assert cli.json("state", "delete", "person-2", "--force") == {"ok": True}
    assert "there is no item" in cli.run("state", "delete", "person-1").stderr
    assert cli.json("state", "count")[0]["items"] == before["items"] + 1
    assert cli.run("state", "list", "--count", "none").returncode == 2


# sessions, logins

def test_a_session_is_seen_and_ended(cli, server):
    with connect(server) as db:
        cursor = db.cursor()
        cursor.execute("SELECT @@SPID")
        number = cursor.fetchone()[0]
        row = next(r for r in cli.json("session", "list") if r["session"] == number)
        assert (row["login"], row["address"], row["status"]) == ("sa", "127.0.0.1", "sleeping")
        assert cli.ok("session", "end", str(number)) == "session ended\n"
        deadline = time.monotonic() + 60
        while any(r["session"] == number for r in cli.json("session", "list")):
            assert time.monotonic() < deadline
    assert cli.run("session", "end", "31999").returncode == 1
    assert cli.run("session", "end", "me").returncode == 2


def test_a_removed_login_is_gone_with_its_rights_and_sessions(cli, server, tmp_path):
    secret = login_file(cli, tmp_path, "leaver")
    cli.ok("grant", "leaver", "StateService", "select")
    with connect(server, login="leaver", password=secret.read_text().strip(), database="StateService") as db:
        cursor = db.cursor()
        cursor.execute("SELECT COUNT(*) FROM dbo.Items")
        assert cli.ok("login", "remove", "leaver") == "login removed\n"
        with pytest.raises(Exception):
            for _ in range(100):
                cursor.execute("SELECT COUNT(*) FROM dbo.Items")
                time.sleep(0.05)
    assert not [r for r in cli.json("login", "list") if r["name"] == "leaver"]
    assert not [r for r in cli.json("grant", "list") if r["login"] == "leaver"]
    assert cli.run("ping", "--user", "leaver", "--password-file", str(secret)).returncode == 1
    assert "There is no login" in cli.run("login", "remove", "leaver").stderr
    own = cli.run("login", "remove", "sa")
    assert own.returncode == 1 and ("last administrator" in own.stderr or "your own" in own.stderr)


# sql

def test_sql_shows_tables_messages_and_errors_with_lines(cli):
    shown = cli.ok("sql", "-c", "SELECT 1 AS a, 'x' AS b\nGO\nSELECT 2 AS c")
    assert shown.count("(1 row)") == 2 and shown.index("a  b") < shown.index("c")
    assert cli.run("sql", "-c", "PRINT 'hello'").stderr == "hello\n"
    failed = cli.run("sql", stdin="SELECT 1 AS before\nGO\n\nSELECT nothing FROM nowhere\nGO\nSELECT 2 AS after\n")
    assert failed.returncode == 1 and "before" in failed.stdout and "after" not in failed.stdout
    assert "line 4" in failed.stderr and "208" in failed.stderr
    assert cli.run("sql", "-c", "").returncode == 2


def test_sql_as_json_is_one_value_a_batch(cli):
    answer = json.loads(cli.ok("--json", "sql", "--database", "StateService", "-c", "SELECT DB_NAME() AS d, NULL AS n; PRINT 'm'; SELECT 2 AS e"))
    assert answer["results"] == [[{"d": "StateService", "n": None}], [{"e": 2}]] and answer["messages"] == ["m"]
    failed = cli.run("--json", "sql", "-c", "SELECT 1\nSELECT * FROM nowhere")
    assert json.loads(failed.stderr)["line"] == 2


def test_floats_have_the_fewest_digits_that_mean_the_same(cli):
    text = "SELECT CAST(0.1 AS float) AS a, CAST(0.1 AS real) AS b, CAST(1 AS float) / 3 AS c, CAST(12638255104 AS float) AS d"
    assert cli.json("sql", "-c", text)["results"] == [[{"a": 0.1, "b": 0.1, "c": 1 / 3, "d": 12638255104}]]
    assert cli.ok("sql", "-c", text).splitlines()[2].split() == ["0.1", "0.1", str(1 / 3), "12638255104"]


def test_sql_repeats_a_batch_and_takes_strings_that_look_like_go(cli):
    assert cli.ok("sql", stdin="SELECT 7 AS n\nGO 3\n").count("(1 row)") == 3
    assert "(1 row)" in cli.ok("sql", stdin="SELECT 'a\nGO\nb' AS t\nGO\n")


class Terminal:
    """A program at a pseudo-terminal."""

    def __init__(self, arguments, env):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(arguments[0], arguments, env)
        self.pid, self.text = pid, ""

    def expect(self, text, timeout=60):
        deadline = time.monotonic() + timeout
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    assert text in self.text, self.text
        before, _, self.text = self.text.partition(text)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_sql_at_a_terminal_edits_remembers_and_goes_on_after_errors(cli, server, tmp_path):
    env = dict(cli.env, TERM="dumb", XDG_STATE_HOME=str(tmp_path))
    arguments = [str(command_binary()), "--server", server.address, "--password-file", str(server.dir / "password"), "sql"]
    terminal = Terminal(arguments, env)
    terminal.expect("sql> ")
    terminal.type("SELECT 40 + 2\n")
    terminal.expect("-> ")
    terminal.type("AS answer;\n")
    terminal.expect("42")
    terminal.expect("sql> ")
    terminal.type("SELECT * FROM nowhere\nGO\n")
    terminal.expect("error 208, line 1")
    terminal.expect("sql> ")
    terminal.type("SELECT 'forgotten\n\x03")
    terminal.expect("sql> ")
    terminal.type("SELECT 'kept' AS x;\n")
    terminal.expect("kept")
    terminal.expect("(1 row)")
    terminal.type("quit\n")
    assert terminal.status() == 0
    assert "AS answer;" in (tmp_path / "procession" / "sql" / "history").read_text().replace("\\040", " ")


# configuration

def test_a_configuration_is_checked_without_a_server(cli, tmp_path):
    good = tmp_path / "good.ini"
    good.write_text("listen = 127.0.0.1:1500\nencrypt = required\n")
    rows = {r["setting"]: r["value"] for r in cli.json("config", "check", str(good), connect=False)}
    assert rows["listen"] == "127.0.0.1:1500" and rows["encrypt"] == "required"
    assert "takes it" in cli.ok("config", "check", str(good), connect=False)
    bad = tmp_path / "bad.ini"
    bad.write_text("listen = 127.0.0.1:1500\nio_threads = many\n")
    refused = cli.run("config", "check", str(bad), connect=False)
    assert refused.returncode == 1 and "bad.ini:2" in refused.stderr
    bad.write_text("tls_key = /nowhere/key.pem\n")
    assert "tls_key" in cli.run("config", "check", str(bad), connect=False).stderr
    assert cli.run("config", "check", str(tmp_path / "absent"), connect=False).returncode == 1


# words

@pytest.mark.parametrize("words, meant", [(["satus"], "status"), (["login", "ad"], "login add"), (["databse", "list"], "database"),
                                          (["status", "--sever", "x"], "--server"), (["jobs", "lsit"], "jobs list")])
def test_a_mistyped_word_is_answered_with_the_nearest(cli, words, meant):
    result = cli.run(*words, connect=False)
    assert result.returncode == 2 and f"did you mean '{meant}'?" in result.stderr


def test_a_word_that_is_near_to_none_is_answered_with_help(cli):
    result = cli.run("xylophone", connect=False)
    assert result.returncode == 2 and "--help" in result.stderr and "did you mean" not in result.stderr


def bash_completes(cli, tmp_path, *words):
    script = tmp_path / "procession.bash"
    script.write_text(cli.ok("--completion", "bash", connect=False))
    quoted = " ".join(f"'{w}'" for w in words)
    text = f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _procession; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes_commands_options_and_files(cli, tmp_path):
    assert "database" in bash_completes(cli, tmp_path, "procession", "da")
    assert set(bash_completes(cli, tmp_path, "procession", "jobs", "")) == {"list", "show", "items", "cancel", "watch"}
    assert bash_completes(cli, tmp_path, "procession", "login", "add", "x", "--gen") == ["--generate"]
    assert "--generate" not in bash_completes(cli, tmp_path, "procession", "login", "list", "--json", "--xx")
    name = tmp_path / "secret-of-mine"
    name.write_text("")
    assert bash_completes(cli, tmp_path, "procession", "status", "--password-file", str(tmp_path / "secret")) == [str(name)]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_its_script(cli, tmp_path):
    script = tmp_path / "_procession"
    script.write_text(cli.ok("--completion", "zsh", connect=False))
    assert script.read_text().startswith("#compdef procession")
    subprocess.run(["zsh", "-n", str(script)], check=True)
    assert cli.run("--completion", "tcsh", connect=False).returncode == 2


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("typed, becomes", [("procession datab", "database"), ("procession login rem", "remove"), ("procession login add x --gen", "--generate")])
def test_zsh_completes(cli, tmp_path, typed, becomes):
    (tmp_path / "_procession").write_text(cli.ok("--completion", "zsh", connect=False))
    terminal = Terminal([shutil.which("zsh"), "-f", "-i"], dict(cli.env, TERM="vt100", HOME=str(tmp_path), PS1="ready: "))
    terminal.type(f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; echo load''ed\n")
    terminal.expect("loaded")
    terminal.expect("ready: ")
    terminal.type(f"{typed}\t")
    terminal.expect(becomes)
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.status()


def test_the_manual_page_names_every_command(cli):
    page = cli.ok("--help-man", connect=False)
    for words in ("state count", "state delete", "ping", "sql", "login remove", "session end", "config check"):
        assert words in page
