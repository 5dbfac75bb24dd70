"""`procession schedule` as people use it, against a real server."""
import datetime
import json
import os
import re
import subprocess

import pytest

from support.proves import proves
from support.server import PASSWORD, command_binary

NEVER = "9999-12-31T23:59:59.997Z"
# Quotes, comments, markup and what a shell or a terminal would make of it.
EVIL = "'; DROP TABLE job; -- /* x */ <a>&amp;\" $(reboot) `id` %s \\ Ünïcödé 漢字"


class Command:
    def __init__(self, server):
        self.where = ["--server", server.address, "--password-file", str(server.dir / "password")]
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PROCESSION_")}

    def run(self, *args, env=None):
        return subprocess.run([str(command_binary()), "schedule", *args, *self.where], capture_output=True, text=True, timeout=60, env=dict(self.env, **(env or {})))

    def ok(self, *args, **options):
        done = self.run(*args, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *args, **options):
        return json.loads(self.ok("--json", *args, **options))

    def add(self, *args):
        return self.json("add", *args)["id"]

    def show(self, id):
        return self.json("show", id)


@pytest.fixture
def schedule(own_server):
    return Command(own_server)


# --- next: no server is asked

OCCURRENCES = [
    ("weekly between fri 22:00:00 and sun 06:00:00", "2026-11-16 00:00:00",
     ["2026-11-20T22:00:00Z", "2026-11-27T22:00:00Z"], "2026-11-22T06:00:00Z"),
    ("every 10 seconds", "2026-12-31 23:59:50", ["2027-01-01T00:00:00Z", "2027-01-01T00:00:10Z"], "2027-01-01T00:00:00Z"),
    ("every 30 minutes between 50 and 10", "2026-01-01 00:00:50", ["2026-01-01T00:30:50Z", "2026-01-01T01:00:50Z"], "2026-01-01T00:31:10Z"),
    ("hourly between 55 and 05", "2026-12-31 23:00:00", ["2026-12-31T23:55:00Z", "2027-01-01T00:55:00Z"], "2027-01-01T00:05:00Z"),
    ("hourly at 15", "2026-01-01 00:15:00", ["2026-01-01T01:15:00Z", "2026-01-01T02:15:00Z"], "2026-01-01T01:15:00Z"),
    ("daily between 22:00:00 and 06:00:00", "2026-02-28 22:00:00", ["2026-03-01T22:00:00Z", "2026-03-02T22:00:00Z"], "2026-03-02T06:00:00Z"),
    ("monthly at 31 00:00:00", "2028-01-31 00:00:00", ["2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"], "2028-02-29T00:00:00Z"),
    ("yearly at feb 30 12:00:00", "2026-12-31 00:00:00", ["2027-02-28T12:00:00Z", "2028-02-29T12:00:00Z"], "2027-02-28T12:00:00Z"),
    ("yearly between dec 31 23:00:00 and jan 01 01:00:00", "2026-01-01 00:00:00", ["2026-12-31T23:00:00Z", "2027-12-31T23:00:00Z"], "2027-01-01T01:00:00Z"),
]


@proves("SCHED-Recurrence-14")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Pacific/Kiritimati"])
@pytest.mark.parametrize("recurrence, start, begins, until", OCCURRENCES, ids=[o[0] for o in OCCURRENCES])
def test_next_shows_windows_and_instants_in_utc(recurrence, start, begins, until, zone):
    done = subprocess.run([str(command_binary()), "schedule", "next", recurrence, "--from", start, "--count", "2", "--json"], capture_output=True, text=True, timeout=20,
                          env=dict(os.environ, TZ=zone))
    rows = json.loads(done.stdout)
    assert [r["due"] for r in rows] == begins and rows[0]["until"] == until


def test_next_prints_a_table_for_people():
    done = subprocess.run([str(command_binary()), "schedule", "next", "weekly between fri 22:00:00 and sun 06:00:00", "--count", "5"], capture_output=True, text=True, timeout=20)
    lines = done.stdout.splitlines()
    assert len(lines) == 7 and all(re.fullmatch(r"Fri \d{4}-\d\d-\d\d 22:00:00  Sun \d{4}-\d\d-\d\d 06:00:00", line) for line in lines[2:])


@pytest.mark.parametrize("args, why", [
    (["next", "every 5 minutes"], "two digits"),
    (["next", "daily at 25:00:00"], "is no recurrence"),
    (["next", "daily at 01:00:00", "--count", "0"], "--count takes"),
    (["next", "daily at 01:00:00", "--from", "soon"], "--from takes a date and time"),
    (["add", "DLImportJob", "--due", "12:00:00"], "--due takes a date and time"),
    (["add", "NoSuchJob", "--due", "now"], "there are: "),
    (["add", "DLImportJob"], "--due"),
    (["add", "DLImportJob", "--recurrence", "daily"], "is no recurrence"),
    (["add", "DLImportJob", "--due", "now", "--job-data", "x"], "takes no job data"),
    (["add", "UserProfileImportJob", "--due", "now"], "IsIncremental#True"),
    (["show", "--due", "now", "x"], "no option of this command"),
    (["remove", "x"], "identifier"),
    (["modify", "b00ae9a1-0474-474e-b348-f6a8bcc95331"], "nothing to change"),
])
def test_mistakes_are_found_before_anything_is_sent(args, why):
    done = subprocess.run([str(command_binary()), "schedule", *args, "--server", "127.0.0.1:9", "--password-file", "/dev/null"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and why in done.stderr, done.stderr


# --- with a server


def test_a_job_is_added_shown_listed_and_removed(schedule):
    id = schedule.add("DLImportJob", "--recurrence", "hourly between 50 and 10", "--name", "lists")
    job = schedule.show(id)
    assert job["class"].endswith(".DLImportJob") and job["recurrence"] == "hourly between 50 and 10" and job["name"] == "lists" and job["disabled"] == "0"
    assert job["next_due"][14:] == "50:00Z" and job["next_due"] <= job["starts"]
    row = next(r for r in schedule.json("list") if r["id"] == id)
    assert row["class"] == "DLImportJob" and row["next_due"] == job["next_due"] and row["job_data"] is None
    assert id in schedule.ok("list") and "hourly between" in schedule.ok("show", id)
    rows = schedule.json("next", id, "--count", "3")
    assert rows[0]["due"] == job["next_due"] and rows[0]["starts"] == job["starts"] and len(rows) == 3
    schedule.ok("remove", id)
    assert schedule.run("remove", id).returncode == 1 and schedule.run("show", id).returncode == 1
    assert id not in schedule.ok("list")


def test_list_is_a_table_for_people(schedule):
    """A line for the heads, one that underlines them, one for each job, columns under each other; control characters cannot steer the terminal."""
    ids = [schedule.add("DLImportJob", "--due", "2030-01-31 01:00:00", "--name", "first\x1b[2J"),
           schedule.add("UserProfileImportJob", "--recurrence", "weekly between fri 22:00:00 and sun 06:00:00", "--job-data", "IsIncremental#True", "--due", "2031-01-31 01:00:00")]
    lines = schedule.ok("list").splitlines()
    assert "\x1b" not in "".join(lines)
    rows = [next(line for line in lines if id in line) for id in ids]
    assert re.fullmatch(r"[- ]+", lines[1]) and len(lines) >= 4
    for column, cells in (("class", ("DLImportJob", "UserProfileImportJob")), ("next_due", ("Thu 2030-01-31 01:00:00", "Fri 2031-01-31 01:00:00"))):
        at = lines[0].index(column)
        assert [row[at:].startswith(cell + "  ") for row, cell in zip(rows, cells)] == [True, True], lines
    for id in ids:
        schedule.ok("remove", id)


@proves("SCHED-AddScheduledJob-10")
def test_each_job_gets_a_new_identifier(schedule):
    ids = {schedule.add("DLImportJob", "--due", "2030-01-31 01:00:00", "--name", "the same") for _ in range(5)}
    assert len(ids) == 5
    for id in ids:
        assert re.fullmatch(r"[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}", id)
        schedule.ok("remove", id)


def test_modify_changes_what_is_given_and_keeps_the_rest(schedule):
    id = schedule.add("UserProfileImportJob", "--recurrence", "daily at 01:00:00", "--job-data", "IsIncremental#True", "--name", "import", "--due", "2031-01-01 01:00:00")
    schedule.ok("modify", id, "--name", "other")
    job = schedule.show(id)
    assert (job["name"], job["recurrence"], job["job_data"], job["next_due"]) == ("other", "daily at 01:00:00", "IsIncremental#True", "2031-01-01T01:00:00Z")
    schedule.ok("modify", id, "--recurrence", "daily at 06:00:00", "--job-data", "IsIncremental#False")
    job = schedule.show(id)
    assert job["next_due"].endswith("T06:00:00Z") and job["next_due"] < "2031" and job["action"] == "full-import" and job["name"] == "other"
    assert schedule.run("modify", id, "--recurrence", "daily at 6:00").returncode == 2
    assert schedule.run("modify", id, "--job-data", "no").returncode == 2
    assert schedule.show(id) == job
    schedule.ok("modify", id, "--recurrence", "once", "--due", "2032-01-01T00:00:00+01:00")
    assert schedule.show(id)["recurrence"] is None and schedule.show(id)["next_due"] == "2031-12-31T23:00:00Z"
    schedule.ok("remove", id)


def test_disable_and_enable(schedule):
    id = schedule.add("DLImportJob", "--recurrence", "daily at 01:00:00")
    due = schedule.show(id)["next_due"]
    schedule.ok("disable", id)
    job = schedule.show(id)
    assert job["disabled"] == "1" and job["next_due"] == NEVER and "never" in schedule.ok("show", id)
    assert schedule.run("run", id).returncode == 2
    schedule.ok("enable", id)
    assert schedule.show(id)["next_due"] == due and schedule.show(id)["disabled"] == "0"
    once = schedule.add("DLImportJob", "--due", "2030-01-01", "--disabled")
    assert schedule.show(once)["next_due"] == NEVER
    assert schedule.run("enable", once).returncode == 2
    schedule.ok("enable", once, "--due", "2030-05-05 05:05:05")
    assert schedule.show(once)["next_due"] == "2030-05-05T05:05:05Z"
    schedule.ok("remove", id)
    schedule.ok("remove", once)


def test_run_makes_a_job_due_now(schedule):
    id = schedule.add("DLImportJob", "--recurrence", "yearly at feb 29 00:00:00")
    schedule.ok("run", id)
    due = datetime.datetime.fromisoformat(schedule.show(id)["next_due"].rstrip("Z"))
    assert abs(datetime.datetime.utcnow() - due) < datetime.timedelta(seconds=30)
    schedule.ok("remove", id)


@proves("SCHED-Security-01")
def test_no_text_acts_as_code(schedule):
    keep = schedule.add("DLImportJob", "--due", "2030-01-01")
    id = schedule.add("DLImportJob", "--due", "2030-01-01", "--name", EVIL)
    assert schedule.show(id)["name"] == EVIL
    upgrade = schedule.add("UserProfileGradualUpgradeChangeJob", "--due", "2030-01-01", "--job-data", "1;2026-01-01;'; DROP TABLE job; --")
    assert schedule.show(upgrade)["job_data"] == "1;2026-01-01;'; DROP TABLE job; --"
    assert schedule.run("show", "x' OR '1'='1").returncode != 0
    assert schedule.show(keep)["id"] == keep
    for each in (keep, id, upgrade):
        schedule.ok("remove", each)


@proves("SCHED-Prereq-01")
def test_the_database_must_exist(schedule):
    done = schedule.run("list", "--database", "NoSuchDatabase")
    assert done.returncode in (1, 3) and "4060" in done.stderr
    assert schedule.run("list", "--database", "ScheduledJobs").returncode == 0


@proves("SCHED-Prereq-02")
def test_a_login_without_the_right_is_refused(schedule, own_server, tmp_path):
    environment = [str(command_binary()), *schedule.where]
    subprocess.run(environment + ["login", "add", "nobody-in-particular", "--password-stdin"], input="long enough\n", text=True, check=True, timeout=60)
    secret = tmp_path / "secret"
    secret.write_text("long enough\n")
    where = ["--server", own_server.address, "--user", "nobody-in-particular", "--password-file", str(secret)]
    before = schedule.json("list")
    # Into the database, but not to execute: without any right it could not even connect (916).
    subprocess.run(environment + ["grant", "nobody-in-particular", "ScheduledJobs", "select"], check=True, timeout=60, stdout=subprocess.DEVNULL)
    for command in (["list"], ["add", "DLImportJob", "--due", "now"], ["remove", "b00ae9a1-0474-474e-b348-f6a8bcc95331"]):
        done = subprocess.run([str(command_binary()), "schedule", *command, *where], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "error 229" in done.stderr, done.stderr
    assert schedule.json("list") == before
    subprocess.run(environment + ["grant", "nobody-in-particular", "ScheduledJobs", "execute"], check=True, timeout=60, stdout=subprocess.DEVNULL)
    done = subprocess.run([str(command_binary()), "schedule", "list", *where], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert PASSWORD not in done.stderr
