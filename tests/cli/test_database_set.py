"""The settings of a database: when a call is answered, and how the specification is read. By the command, by drivers, across a restart, and while calls run."""
import json
import threading

import pytest
from test_cli import Cli

from support.calls import open_path
from support.wire import Wire


@pytest.fixture
def cli(server):
    return Cli(server)


@pytest.fixture
def name(cli, request):
    """A database of the test's own."""
    made = "Set " + request.node.name.split("[")[0][5:40].replace("_", "-")
    if made not in [row["name"] for row in cli.json("database", "list")]:
        cli.ok("database", "create", made, "--service", "state")
    return made


def settings(cli, name):
    row = next(row for row in cli.json("database", "list") if row["name"] == name)
    return row["commit"], row["commit_interval"], row["errata"]


def test_a_new_database_is_durable(cli, name):
    assert settings(cli, name) == ("durable", 1000, "corrected")
    assert settings(cli, "WordAutomation")[:2] == ("durable", 1000)
    head, *rows = cli.ok("database", "list").splitlines()
    assert "commit " in head and "commit_interval" in head
    assert all(row.split().index("durable") for row in rows if row.split()[1] in ("WordAutomation", "Translation"))


def test_each_setting_is_changed_alone(cli, name):
    assert cli.ok("database", "set", name, "--commit", "relaxed") == "database changed\n"
    assert settings(cli, name) == ("relaxed", 1000, "corrected")
    cli.ok("database", "set", name, "--commit-interval", "10")
    assert settings(cli, name) == ("relaxed", 10, "corrected")
    cli.ok("database", "set", name, "--errata=literal")
    assert settings(cli, name) == ("relaxed", 10, "literal")
    cli.ok("database", "set", name, "--commit", "DURABLE", "--commit-interval", "60000", "--errata", "corrected")
    assert settings(cli, name) == ("durable", 60000, "corrected")


def test_how_much_ahead_reads_store_an_expiration(cli, name):
    def slack():
        return next(row["renewal_slack"] for row in cli.json("database", "list") if row["name"] == name)
    assert slack() == 0
    cli.ok("database", "set", name, "--renewal-slack", "90")
    assert slack() == 90
    cli.ok("database", "set", name, "--commit", "durable")
    assert slack() == 90
    for wrong in ("-1", "3601"):
        assert "0 to 3600" in cli.run("database", "set", name, "--renewal-slack=" + wrong).stderr
    cli.ok("database", "create", name + " 2", "--service", "state", "--renewal-slack", "7")
    assert [row["renewal_slack"] for row in cli.json("database", "list") if row["name"] == name + " 2"] == [7]


def test_the_result_as_json(cli, name):
    assert cli.json("database", "set", name, "--commit", "relaxed") is not None
    made = name + " 2"
    text = cli.ok("--json", "database", "create", made, "--service", "schedule", "--commit", "relaxed", "--commit-interval", "250", "--errata", "literal")
    json.loads(text)                            # one document, though it takes two calls
    assert settings(cli, made) == ("relaxed", 250, "literal")


def test_created_as_it_shall_be(cli, name):
    made = name + " 2"
    assert cli.ok("database", "create", made, "--service", "state", "--commit", "relaxed") == "database created\n"
    assert settings(cli, made) == ("relaxed", 1000, "corrected")
    with open_path("pytds", cli.server, made, kind="StateService") as db:
        assert db.call("proc_AddItem", id="a", item=b"x", timeout=5).status == 0
        assert db.call("proc_GetItemWithoutLock", id="a").out["item"] == b"x"


def test_a_wrong_setting_creates_nothing(cli):
    for options in (("--commit", "never"), ("--commit-interval", "9"), ("--commit-interval", "60001")):
        assert cli.run("database", "create", "Not Made", "--service", "state", *options).returncode == 1
    assert "Not Made" not in [row["name"] for row in cli.json("database", "list")]


@pytest.mark.parametrize("options, text", (
    (("--commit", "sometimes"), "'durable' or 'relaxed', not 'sometimes'"),
    (("--commit-interval", "9"), "from 10 to 60000, not 9"),
    (("--commit-interval", "60001"), "from 10 to 60000, not 60001"),
    (("--commit-interval", "-1"), "from 10 to 60000, not -1"),
    (("--errata", "loose"), "'corrected' or 'literal', not 'loose'"),
))
def test_what_is_refused_changes_nothing(cli, name, options, text):
    before = settings(cli, name)
    result = cli.run("database", "set", name, "--commit", "relaxed", *options)
    assert result.returncode == 1 and text in result.stderr
    result = cli.run("--json", "database", "set", name, *options)
    assert result.returncode == 1 and json.loads(result.stderr)["error"] == 50020
    assert settings(cli, name) == before


def test_an_interval_is_a_number(cli, name):
    result = cli.run("database", "set", name, "--commit-interval", "soon")
    assert result.returncode == 1 and "converting" in result.stderr
    assert settings(cli, name)[1] == 1000


@pytest.mark.parametrize("database", ("Nowhere", "master"))
def test_only_databases_of_services_have_settings(cli, database):
    result = cli.run("database", "set", database, "--commit", "relaxed")
    assert result.returncode == 1 and f"There is no database '{database}' with settings" in result.stderr
    assert settings(cli, "master")[0] == "durable"


@pytest.mark.parametrize("args, part", (
    (("set",), "this command takes: NAME"),
    (("set", "StateService"), "nothing to set"),
    (("set", "StateService", "--commit"), "--commit needs a value"),
    (("set", "StateService", "--service", "state"), "--service is no option of this command"),
    (("list", "--commit", "relaxed"), "--commit is no option of this command"),
))
def test_wrong_usage(cli, args, part):
    result = cli.run("database", *args)
    assert result.returncode == 2 and part in result.stderr


def test_help_says_what_can_be_lost(cli):
    text = cli.ok("database", "set", "--help", connect=False)
    for part in ("--commit WHEN", "--commit-interval MS", "--errata READING", "loss of power"):
        assert part in text


@pytest.mark.parametrize("path", ("pytds", "pymssql", "wire"))
def test_by_drivers(cli, name, path):
    with open_path(path, cli.server, "master", kind="StateService") as db:
        assert db.batch(f"EXEC procession_database_set @name = '{name}', @commit = 'relaxed', @commit_interval = 20").error is None
        assert settings(cli, name) == ("relaxed", 20, "corrected")
        assert db.batch(f"EXEC procession_database_set '{name.upper()}', 'durable', 1000").error is None
        assert settings(cli, name) == ("durable", 1000, "corrected")
        assert db.batch(f"EXEC procession_database_set '{name}', 'never'").error == 50020


@pytest.mark.parametrize("path", ("pytds", "pymssql", "wire"))
def test_only_an_admin_may(cli, name, path):
    if "no-admin" not in [row["name"] for row in cli.json("login", "list")]:
        cli.ok("login", "add", "no-admin", "--password-stdin", stdin="long enough\n")
    cli.ok("grant", "no-admin", name, "execute,select")
    with open_path(path, cli.server, name, kind="StateService", user="no-admin", password="long enough") as db:
        assert db.call("proc_AddItem", id=path, item=b"x", timeout=5).error is None
        assert db.batch(f"EXEC procession_database_set '{name}', 'relaxed'").error == 229
    assert settings(cli, name)[0] == "durable"


def test_settings_survive_the_server(new_server):
    server = new_server()
    cli = Cli(server)
    cli.ok("database", "set", "StateService", "--commit", "relaxed", "--commit-interval", "77", "--errata", "literal")
    cli.ok("database", "create", "More", "--service", "word", "--commit", "relaxed")
    for kill in (False, True):
        server.restart(kill)
        assert settings(cli, "StateService") == ("relaxed", 77, "literal")
        assert settings(cli, "More") == ("relaxed", 1000, "corrected")
        assert settings(cli, "Translation") == ("durable", 1000, "corrected")
        with open_path("pytds", server, "StateService") as db:
            assert db.call("proc_AddItem", id=f"{kill}", item=b"x", timeout=5).status == 0


def test_changed_while_calls_run(cli, name):
    """Back and forth; every call is answered, and none is lost or done twice."""
    stop, counts, problems = threading.Event(), [0, 0, 0], []

    def work(number):
        try:
            with open_path("pytds", cli.server, name, kind="StateService") as db:
                while not stop.is_set():
                    counts[number] += 1
                    result = db.call("proc_AddItem", id=f"{number}-{counts[number]}", item=b"x", timeout=5)
                    assert result.error is None and result.status == 0, result
        except Exception as e:      # noqa: BLE001 — shown below
            problems.append(e)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(3)]
    for thread in threads:
        thread.start()
    with Wire(cli.server).login(database="master") as w:
        for turn in range(30):
            w.batch(f"EXEC procession_database_set '{name}', '{('relaxed', 'durable')[turn % 2]}', {(10, 60000, 100)[turn % 3]}").ok()
    stop.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "a call was not answered"
    assert problems == []
    with open_path("wire", cli.server, name, kind="StateService") as db:
        assert db.batch("SELECT COUNT(*) FROM dbo.Items").rows == [(sum(counts),)]
