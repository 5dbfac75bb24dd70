"""The manual: a page for each command, as make install puts it beside the program, and what completion knows of arguments."""
import json
import pathlib
import re
import subprocess

import pytest

from support.server import command_binary
from test_cli import Cli
from test_people import bash_completes

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def cli():
    return Cli(None)


def installed():
    """The commands whose pages are installed."""
    return re.findall(r"'(\w+)'", re.search(r"^foreach command : \[(.*)\]$", (ROOT / "packaging/meson.build").read_text(), re.M).group(1))


def test_every_command_has_a_page_and_every_page_a_command(cli):
    listed = re.findall(r"^  (\w+)", cli.ok("--help", connect=False).split("\nOptions", 1)[0], re.M)
    assert sorted(set(listed)) == sorted(installed())
    assert cli.run("--help-man", "nothing", connect=False).returncode == 2


def test_pages_and_alert_rules_are_installed():
    build = command_binary().resolve().parents[2]
    if not (build / "meson-info").exists():
        pytest.skip("the program is not where it was built")
    listed = subprocess.run(["meson", "introspect", "--installed", build], capture_output=True, text=True, check=True)
    places = set(json.loads(listed.stdout).values())
    assert all(any(place.endswith(f"/man/man1/procession-{command}.1") for place in places) for command in installed())
    assert any(place.endswith("/share/procession/prometheus/procession.rules.yml") for place in places)


@pytest.mark.parametrize("command", [None] + installed())
def test_a_page_is_taken_by_man_without_a_word(cli, command, tmp_path):
    page = tmp_path / "page.1"
    page.write_text(cli.ok("--help-man", *([command] if command else []), connect=False))
    made = subprocess.run(["groff", "-mandoc", "-Tutf8", "-wall", "-P-cbou", page], capture_output=True, text=True, check=True)
    assert made.stderr == "" and f"procession{'-' + command if command else ''} " in made.stdout
    assert "Exit" in made.stdout.title() and (command is None or f"procession {command}" in made.stdout)


def test_a_page_says_what_its_commands_need(cli):
    assert "needs any login" in cli.ok("--help-man", "ping", connect=False)
    assert "the right monitor" in cli.ok("--help-man", "top", connect=False)
    assert "the right execute" in cli.ok("--help-man", "jobs", connect=False)
    assert "asks no server" in cli.ok("--help-man", "restore", connect=False)
    assert "may administer" in cli.ok("--help-man", "login", connect=False)


def test_the_right_monitor_is_told_and_completed(cli, tmp_path):
    for words in (["--help-man"], ["--help-man", "grant"], ["grant", "--help"]):
        assert "monitor" in re.search(r"grant LOGIN DATABASE (\S+)", cli.ok(*words, connect=False)).group(1).split("|")
    assert set(bash_completes(cli, tmp_path, "procession", "grant", "web", "master", "")) == {"execute", "select", "execute,select", "monitor", "none"}
    assert bash_completes(cli, tmp_path, "procession", "grant", "web", "master", "mon") == ["monitor"]
