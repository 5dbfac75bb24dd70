"""The scheduler and a real server: several schedulers, restarts, and a day of a busy schedule under a clock that the test moves."""
import collections
import datetime
import json
import subprocess
import time

import pytest

from jobserver import ClockJobServer
from schedulerprogram import Scheduler, plain_command, wait_until
from support.proves import proves
from support.server import Server, command_binary


def schedule(server, *args, binary=None, env=None):
    done = subprocess.run([str(binary or command_binary()), "schedule", *args, "--json", "--server", server.address, "--password-file", str(server.dir / "password")],
                          capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@proves("SCHED-Client-02", "SCHED-Client-12")
def test_a_real_server_hands_out_each_occurrence_once(tmp_path):
    with Server() as server:
        ids = [schedule(server, "add", "DLImportJob", "--due", "now", "--name", f"job {n}")["id"] for n in range(5)]
        often = schedule(server, "add", "UserProfileImportJob", "--recurrence", "every 02 seconds", "--job-data", "IsIncremental#True")["id"]
        with Scheduler(tmp_path, server.address, server.dir / "password", interval=2) as s:
            s.wait_runs(9, timeout=40)
            left = schedule(server, "list")
        runs = collections.Counter(r["ID"] for r in s.runs())
        assert all(runs[id] == 1 for id in ids) and [j["id"] for j in left] == [often]
        dues = [r["DUE"] for r in s.runs() if r["ID"] == often]
        assert len(dues) == len(set(dues))


def test_two_schedulers_share_the_jobs(tmp_path):
    with Server() as server:
        for n in range(20):
            schedule(server, "add", "DLImportJob", "--due", "now")
        often = [schedule(server, "add", "DLImportJob", "--recurrence", "every 02 seconds")["id"] for _ in range(5)]
        record = tmp_path / "record"
        with Scheduler(tmp_path, server.address, server.dir / "password", interval=1, record=record, name="a") as a:
            with Scheduler(tmp_path, server.address, server.dir / "password", interval=1, record=record, name="b") as b:
                a.wait_runs(40, timeout=60)
        handed = collections.Counter((r["ID"], r["DUE"]) for r in a.runs())
        assert set(handed.values()) == {1}, handed.most_common(3)
        assert len([k for k in handed if k[0] not in often]) == 20
        # one came in the middle of the other's transaction at the most: it waits, it does not fail
        assert "round-failed" not in a.log() + b.log()


def test_a_server_that_is_killed_costs_no_occurrence(tmp_path):
    server = Server(settings={"listen": "127.0.0.1:0"}).start()
    try:
        server.settings["listen"] = server.address
        often = schedule(server, "add", "DLImportJob", "--recurrence", "every 02 seconds")["id"]
        with Scheduler(tmp_path, server.address, server.dir / "password", interval=2) as s:
            s.wait_runs(1)
            server.kill()
            once_due = time.monotonic()
            s.wait_log("round-failed")
            server.start()
            once = schedule(server, "add", "AudienceCompilationJob", "--due", "now")["id"]
            wait_until(lambda: once in [r["ID"] for r in s.runs()], 60, s.log)
            before = len(s.runs())
            s.wait_runs(before + 2, timeout=40)
            assert time.monotonic() > once_due
        handed = collections.Counter((r["ID"], r["DUE"]) for r in s.runs())
        assert set(handed.values()) == {1} and often in {k[0] for k in handed}
    finally:
        server.kill()
        server.remove()


# --- under a clock that the test moves


@pytest.fixture(scope="module")
def clock_server():
    with ClockJobServer() as server:
        yield server


class Day:
    """A server and a scheduler on one clock, which the test moves minute by minute."""

    def __init__(self, server, tmp_path, start, zone="UTC"):
        self.server = server
        server.set(start)
        server.wipe()
        self.binary = plain_command()
        # The handlers are quick, and keep the moved clock: a shell that writes one line.
        self.scheduler = server.scheduler(tmp_path, zone, handlers={})
        self.env = self.scheduler.env
        handler = self.scheduler.folder / "handler.sh"
        handler.write_text('#!/bin/sh\nprintf "%s %s %s\\n" "$PROCESSION_JOB_ID" "$PROCESSION_JOB_DUE" "$(TZ=UTC date +%Y-%m-%dT%H:%M:%S)" >>"' + str(self.scheduler.record) + '"\n')
        handler.chmod(0o755)
        with open(self.scheduler.ini, "a") as f:
            for name in "DLImportJob", "AudienceCompilationJob", "UserProfileChangeJob":
                f.write(f"[handler:{name}]\ncommand = {handler}\n")
        self.ids = {}

    def add(self, recurrence, class_="DLImportJob", due=None):
        args = ["--recurrence", recurrence] if recurrence else []
        args += ["--due", due] if due else []
        id = schedule(self.server, "add", class_, *args, binary=self.binary, env=self.env)["id"]
        self.ids[id] = recurrence or "once"
        return id

    def __enter__(self):
        self.scheduler.start("--database", "ScheduledJobs")
        self.scheduler.wait_log("event=poll ")         # the first question is under the clock as it is now
        return self

    def __exit__(self, *error):
        if error[0]:
            print(self.scheduler.log()[-6000:])
        self.scheduler.end()

    def round(self, moment):
        """Sets the clock, at least an interval ahead, and waits until the server was asked and what is due has been started."""
        log = self.scheduler.log()
        asked = log.count("event=poll ")
        self.server.set(moment)
        wait_until(lambda: self.scheduler.log().count("event=poll ") > asked, 20, self.scheduler.log)
        return self.scheduler.log().count("event=started ")

    def runs(self):
        if not self.scheduler.record.exists():
            return []
        return [line.split() for line in self.scheduler.record.read_text().splitlines()]


def expected(recurrences, start, end):
    """(recurrence, due) of every occurrence in (start, end], for the forms used here."""
    found = []
    for recurrence in recurrences:
        kind, _, rest = recurrence.partition(" ")
        moment = start
        while moment < end:
            moment += datetime.timedelta(seconds=60)
            if kind == "hourly" and moment.minute == int(rest.split()[1]):
                found.append((recurrence, moment))
            if kind == "daily" and moment.strftime("%H:%M:%S") == rest.split()[1]:
                found.append((recurrence, moment))
            if kind == "weekly" and moment.strftime("%a %H:%M:%S").lower() == " ".join(rest.split()[1:]):
                found.append((recurrence, moment))
            if kind == "every" and (moment - start).seconds // 60 % int(rest.split()[0]) == 0:
                found.append((recurrence, moment))
    return found


BUSY = ["every 15 minutes at 00", "every 30 minutes at 00", "hourly at 05", "hourly at 35", "daily at 01:00:00", "daily at 02:30:00", "daily at 23:00:00", "weekly at sun 03:00:00"]


def run_a_day(day, start, hours):
    """Steps of a minute; a step waits until the server has moved every job that was due on to its next time and the handlers have ended."""
    jobs = expected(BUSY, start, start + datetime.timedelta(hours=hours))
    dues = sorted({moment for _, moment in jobs})
    want = 0
    moment = start
    for due in dues:
        want += sum(1 for _, m in jobs if m == due)
        # a minute before, so that the scheduler sees it coming; then the due time itself
        for step in (due - datetime.timedelta(seconds=30), due):
            if step > moment:
                moment = step
                day.server.set(step)
                if step == due:
                    wait_until(lambda: len(day.runs()) >= want, 30, lambda: f"{step}: {len(day.runs())} of {want}\n{day.scheduler.log()[-3000:]}")
    return jobs


@pytest.mark.parametrize("zone, start", [
    ("UTC", "2026-11-14 12:00:00"),
    ("Europe/Berlin", "2026-03-28 12:00:00"),      # the clocks go forward in the handler's country that night: all is UTC
    ("America/New_York", "2026-10-31 20:00:00"),   # and back
])
def test_a_day_of_a_busy_schedule_in_a_minute(tmp_path, clock_server, zone, start):
    begin = datetime.datetime.fromisoformat(start)
    day = Day(clock_server, tmp_path, start, zone)
    for recurrence in BUSY:
        first = min((m for r, m in expected([recurrence], begin, begin + datetime.timedelta(days=8))), default=None)
        day.add(recurrence, due=first.isoformat())
    with day:
        jobs = run_a_day(day, begin, 24)
        assert day.round(begin + datetime.timedelta(hours=24, seconds=61)) == len(jobs)
        runs = day.runs()
    got = collections.Counter((day.ids[id], due) for id, due, _ in runs)
    want = collections.Counter((r, m.strftime("%Y-%m-%dT%H:%M:%S.000Z")) for r, m in jobs)
    assert got == want
    for _, due, at in runs:
        assert at >= due[:19], "started before it was due"


def test_a_clock_that_is_set_back_repeats_nothing(tmp_path, clock_server):
    day = Day(clock_server, tmp_path, "2026-06-15 11:59:30")
    id = day.add("hourly at 00", due="2026-06-15T12:00:00")
    with day:
        day.server.set("2026-06-15 12:00:00")
        wait_until(lambda: len(day.runs()) == 1, 20, day.scheduler.log)
        day.server.set("2026-06-15 11:00:10")
        day.scheduler.wait_log("clock-set-back")
        for minute in range(8, 60, 7):
            assert day.round(f"2026-06-15 11:{minute:02}:10") == 1
        assert day.round("2026-06-15 12:00:30") == 1
        assert [r[:2] for r in day.runs()] == [[id, "2026-06-15T12:00:00.000Z"]]
        assert day.round("2026-06-15 12:59:30") == 1
        day.server.set("2026-06-15 13:00:00")
        wait_until(lambda: len(day.runs()) == 2, 20, day.scheduler.log)
    assert day.runs()[1][1] == "2026-06-15T13:00:00.000Z"


def test_a_machine_that_slept_runs_what_is_due_once(tmp_path, clock_server):
    day = Day(clock_server, tmp_path, "2026-06-15 11:59:30")
    day.add("hourly at 00", due="2026-06-15T12:00:00")
    day.add(None, class_="AudienceCompilationJob", due="2026-06-18T12:00:00")
    with day:
        day.server.set("2026-06-15 12:00:00")
        wait_until(lambda: len(day.runs()) == 1, 20, day.scheduler.log)
        day.server.set("2026-06-19 09:10:00")
        wait_until(lambda: len(day.runs()) >= 3, 20, day.scheduler.log)
        assert day.round("2026-06-19 09:12:00") == 3
        assert sorted(r[1] for r in day.runs()) == ["2026-06-15T12:00:00.000Z", "2026-06-15T13:00:00.000Z", "2026-06-18T12:00:00.000Z"]
        assert day.round("2026-06-19 09:59:30") == 3
        day.server.set("2026-06-19 10:00:00")
        wait_until(lambda: len(day.runs()) == 4, 20, day.scheduler.log)
    assert day.runs()[3][1] == "2026-06-19T10:00:00.000Z"


# What the calendar makes of a recurrence: the due times one after the other, each seen by a real server and a real scheduler.
CALENDAR = [
    ("monthly at 31 00:00:00", ["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"]),
    ("monthly at 30 23:59:59", ["2027-01-30 23:59:59", "2027-02-28 23:59:59", "2027-03-30 23:59:59"]),
    ("yearly at feb 29 12:00:00", ["2027-02-28 12:00:00", "2028-02-29 12:00:00", "2029-02-28 12:00:00"]),
    ("weekly at sun 00:00:00", ["2026-12-27", "2027-01-03", "2027-01-10"]),
    ("hourly at 59", ["2026-12-31 22:59:00", "2026-12-31 23:59:00", "2027-01-01 00:59:00"]),
    ("daily at 00:00:00", ["2028-02-28", "2028-02-29", "2028-03-01"]),
    ("every 45 minutes at 30", ["2026-12-31 22:45:30", "2026-12-31 23:30:30", "2027-01-01 00:15:30"]),
]


@pytest.mark.parametrize("recurrence, moments", CALENDAR, ids=[c[0] for c in CALENDAR])
def test_month_ends_leap_years_and_new_years(tmp_path, clock_server, recurrence, moments):
    dues = [datetime.datetime.fromisoformat(m) for m in moments]
    day = Day(clock_server, tmp_path, str(dues[0] - datetime.timedelta(seconds=30)))
    day.add(recurrence, due=dues[0].isoformat())
    with day:
        for n, due in enumerate(dues):
            # half a minute before, the scheduler takes it; at its time, and not before, it runs
            if n > 0:
                assert day.round(due - datetime.timedelta(seconds=30)) == n
            day.server.set(due)
            wait_until(lambda: len(day.runs()) > n, 20, day.scheduler.log)
    assert [r[1] for r in day.runs()] == [d.strftime("%Y-%m-%dT%H:%M:%S.000Z") for d in dues]


def test_windows_have_a_stable_spread(tmp_path, clock_server):
    """Each job starts at the place in its window that `schedule show` names: not all at once, not before, and at the same place the day after."""
    day = Day(clock_server, tmp_path, "2026-06-15 21:00:00")
    ids = [day.add("daily between 22:00:00 and 02:00:00", due="2026-06-15T22:00:00") for _ in range(6)]
    shown = {id: schedule(day.server, "show", id, binary=day.binary, env=day.env) for id in ids}
    starts = {id: datetime.datetime.fromisoformat(job["starts"].rstrip("Z")) for id, job in shown.items()}
    begin, end = datetime.datetime(2026, 6, 15, 22), datetime.datetime(2026, 6, 16, 2)
    assert all(begin <= at <= end for at in starts.values()) and len(set(starts.values())) > 1
    with day:
        started = 0
        # asked just before the window begins, each row is refreshed; the places are kept by the scheduler, also over its end
        assert day.round("2026-06-15 21:59:30") == 0
        wait_until(lambda: {job["NextDueTime"] for job in day.server.jobs().values()} == {datetime.datetime(2026, 6, 16, 22)}, 20, day.scheduler.log)
        day.scheduler.kill()
        asked = day.scheduler.log().count("event=poll ")
        day.scheduler.start("--database", "ScheduledJobs")
        wait_until(lambda: day.scheduler.log().count("event=poll ") > asked)
        for days in 0, 1:
            for id, at in sorted(starts.items(), key=lambda item: item[1]):
                at += datetime.timedelta(days=days)
                if at - day.server.now > datetime.timedelta(seconds=62):
                    assert day.round(at - datetime.timedelta(seconds=1)) == started, f"{id} began before {at}"
                started += 1
                day.server.set(at + datetime.timedelta(milliseconds=10))
                wait_until(lambda: len(day.runs()) >= started, 20, day.scheduler.log)
                assert day.runs()[-1][0] == id
    assert collections.Counter((id, due[:10]) for id, due, _ in day.runs()) == {(id, date): 1 for id in ids for date in ("2026-06-15", "2026-06-16")}


def test_run_brings_one_occurrence_forward(tmp_path):
    """`schedule run`: a scheduler takes it in its next round; then it is due again when it would have been anyway."""
    with Server() as server:
        id = schedule(server, "add", "DLImportJob", "--recurrence", "yearly at feb 29 00:00:00")["id"]
        due = schedule(server, "show", id)["next_due"]
        with Scheduler(tmp_path, server.address, server.dir / "password") as s:
            s.wait_log("event=connected")
            assert s.runs() == []
            assert schedule(server, "run", id) == {"ok": True, "id": id}
            run = s.wait_runs(1)[0]
            s.wait_history(1)
            assert run["ID"] == id and run["DUE"] < run["NEXT_DUE"] and schedule(server, "show", id)["next_due"] == due
        assert len(s.runs()) == 1
