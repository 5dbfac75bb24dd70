"""[MS-SSPSJ] 3.2: what the scheduler asks, and what it does with each row. The server is a fake that records every call."""
import datetime
import time

import pytest

from fakeserver import COLUMNS, NEVER
from schedulerprogram import CLASSES, OFFICE, PROFILES, PROJECT, utc, wait_until
from support.proves import proves

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
GET, REFRESH, ADD = "proc_MIP_GetScheduledJobsInInterval", "proc_MIP_RefreshScheduledJob", "proc_MIP_AddScheduledJob"
DL = PROFILES + "DLImportJob"


def moment(text):
    return datetime.datetime.fromisoformat(text)


@proves("SCHED-Client-01", "SCHED-Init-01")
def test_without_a_setting_the_timer_has_60_seconds(fake, scheduler):
    with scheduler(interval=None):
        wait_until(lambda: "COMMIT" in fake.names())
        asked = moment(fake.of(GET)[0]["@NextDueTime"]) - datetime.datetime.utcnow()
        assert 55 < asked.total_seconds() <= 60
        time.sleep(2)
        assert fake.names().count(GET) == 1
        assert fake.names()[0] == "login"


@proves("SCHED-Client-01", "SCHED-Client-02", "SCHED-Client-03")
def test_each_interval_asks_once_for_the_next_one(fake, scheduler):
    with scheduler(interval=2):
        wait_until(lambda: fake.names().count("COMMIT") >= 3)
    with fake.lock:
        calls = [c for c in fake.calls if c[0] == GET]
    for (_, args, at), (_, _, later) in zip(calls, calls[1:]):
        assert 1.5 < later - at < 4
        ahead = moment(args["@NextDueTime"]) - datetime.datetime.utcfromtimestamp(at)
        assert 1.5 < ahead.total_seconds() <= 2.1
    # one after the other, each answered before the next
    assert fake.names()[:7] == ["login", "BEGIN", GET, "COMMIT", "BEGIN", GET, "COMMIT"]


@pytest.mark.parametrize("class_, data, action", [
    pytest.param(PROFILES + "UserProfileChangeJob", None, "update-colleagues", marks=proves("SCHED-Client-05")),
    pytest.param(PROFILES + "UserProfileChangeCleanupJob", None, "delete-change-events", marks=proves("SCHED-Client-06")),
    pytest.param(PROFILES + "UserProfileGradualUpgradeChangeJob", "1;2026-01-01;t;u", "sync-changes", marks=proves("SCHED-Client-07")),
    pytest.param(PROFILES + "UserProfileImportJob", "IsIncremental#False", "full-import", marks=proves("SCHED-Client-08")),
    pytest.param(PROFILES + "UserProfileImportJob", "IsIncremental#True", "incremental-import", marks=proves("SCHED-Client-09")),
    pytest.param(DL, "", "import-distribution-lists", marks=proves("SCHED-Client-10")),
    pytest.param("Microsoft.Office.Server.Audience.AudienceCompilationJob", None, "compile-audiences", marks=proves("SCHED-Client-11")),
])
def test_each_class_runs_its_handler_once(fake, scheduler, class_, data, action):
    due = utc(-1)
    fake.add(ID, class_, due, "daily at 01:00:00", data, name="Zoë's job; rm -rf \"$HOME\"")
    with scheduler() as s:
        run = s.wait_runs(1)[0]
        wait_until(lambda: fake.names().count("COMMIT") >= 3)
    assert len(s.runs()) == 1
    assert run["ACTION"] == action and run["CLASS"] == class_ and run["CLASS_NAME"] == class_.split(".")[-1]
    assert run["ID"] == ID and run["ASSEMBLY"] == OFFICE and run["DATA"] == (data or "")
    assert run["DISPLAY_NAME"] == "Zoë's job; rm -rf \"$HOME\"" and run["args"] == ["one", "two words"]
    assert abs(moment(run["DUE"].rstrip("Z")) - moment(due)) < datetime.timedelta(milliseconds=5)
    assert run["NEXT_DUE"] == fake.jobs[ID]["NextDueTime"] + "Z"


@proves("SCHED-Client-04")
@pytest.mark.parametrize("name", ["PWASSPSubmitSiteCreationTimerJob", "PWASSPSubmitServerScheduledTimerJob"])
def test_project_classes_are_left_to_their_owner(fake, scheduler, name):
    class_, due = "Microsoft.Office.Project.Server.Administration." + name, utc(-5)
    fake.add(ID, class_, due, "daily at 01:00:00", assembly=PROJECT)
    fake.add(OTHER, class_, due, assembly=PROJECT)
    before = {k: dict(v) for k, v in fake.jobs.items()}
    with scheduler() as s:
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
    assert s.runs() == [] and fake.of(REFRESH) == []
    # also what runs once, which the server has deleted by handing it out, is still there
    assert {j["JobId"] for j in fake.jobs.values()} == set(before)
    assert moment(fake.jobs[OTHER]["NextDueTime"]) - moment(due) < datetime.timedelta(milliseconds=5)


@proves("SCHED-Client-12")
def test_the_refresh_names_the_next_occurrence(fake, scheduler):
    fake.add(ID, DL, "2020-01-31T01:00:00.000", "daily between 01:00:00 and 01:00:00")
    with scheduler() as s:
        s.wait_runs(1)
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
    tomorrow = datetime.datetime.utcnow().replace(hour=1, minute=0, second=0, microsecond=0)
    if tomorrow <= datetime.datetime.utcnow():
        tomorrow += datetime.timedelta(days=1)
    assert fake.of(REFRESH) == [{"@JobId": ID, "@NextDueTime": tomorrow.isoformat(timespec="milliseconds")}]
    assert len(s.runs()) == 1       # what was missed since 2020 is not made up for


@proves("SCHED-Client-12")
def test_what_runs_once_is_not_refreshed(fake, scheduler):
    fake.add(ID, DL, utc(-1))
    with scheduler() as s:
        assert s.wait_runs(1)[0]["NEXT_DUE"] == ""
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
    assert fake.of(REFRESH) == [] and fake.jobs == {} and len(s.runs()) == 1


@proves("SCHED-Client-13")
def test_a_disabled_row_is_refreshed_to_the_end_of_time(fake, scheduler):
    fake.add(ID, DL, utc(-1), "daily at 01:00:00", disabled=1)
    with scheduler() as s:
        wait_until(lambda: fake.of(REFRESH))
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
    assert fake.of(REFRESH) == [{"@JobId": ID, "@NextDueTime": NEVER}]
    assert s.runs() == []


def test_the_handler_starts_when_due_and_not_before(fake, scheduler):
    due = utc(2.5)
    fake.add(ID, DL, due)
    with scheduler(interval=5) as s:
        wait_until(lambda: "COMMIT" in fake.names())
        at = moment(s.wait_runs(1)[0]["at"])
    assert datetime.timedelta(0) <= at - moment(due) + datetime.timedelta(milliseconds=4) < datetime.timedelta(seconds=3)


def test_short_recurrences_run_each_time_within_the_interval(fake, scheduler):
    fake.add(ID, DL, utc(0.5), "every 01 seconds")
    with scheduler(interval=4) as s:
        runs = s.wait_runs(6, timeout=30)
    dues = [moment(r["DUE"].rstrip("Z")) for r in runs]
    assert {b - a for a, b in zip(dues, dues[1:])} == {datetime.timedelta(seconds=1)}
    assert fake.names().count(REFRESH) <= fake.names().count(GET)


def test_a_window_far_from_its_start_stays_with_the_server(fake, scheduler):
    now = datetime.datetime.utcnow()
    begin = now.replace(minute=0, second=0, microsecond=0) - datetime.timedelta(hours=1)
    recurrence = f"daily between {begin:%H:%M:%S} and {(begin - datetime.timedelta(seconds=1)):%H:%M:%S}"     # a window of a day
    for n in range(30):
        fake.add(f"B00AE9A1-0474-474E-B348-F6A8BCC953{n:02}", DL, begin.isoformat(timespec="milliseconds"), recurrence)
    with scheduler() as s:
        wait_until(lambda: fake.names().count("COMMIT") >= 3, 40)
        taken = set(j for j, job in fake.jobs.items() if job["NextDueTime"] != begin.isoformat(timespec="milliseconds"))
        s.wait_runs(len(taken))
    assert len(taken) < 15      # those whose place in the window has passed


# --- answers that are not as they should be


def test_columns_may_come_in_any_order_with_others_between(fake, scheduler):
    fake.columns = ["Extra"] + COLUMNS[::-1] + ["More"]
    fake.extra = dict(Extra="x", More=None)
    fake.add(ID, DL, utc(-1), "daily at 01:00:00", name="n")
    with scheduler() as s:
        run = s.wait_runs(1)[0]
    assert run["ID"] == ID and run["CLASS"] == DL and run["DISPLAY_NAME"] == "n" and run["RECURRENCE"] == "daily at 01:00:00"


def test_a_missing_column_takes_nothing_and_is_told(fake, scheduler):
    fake.columns = [c for c in COLUMNS if c != "NextDueTime"]
    fake.add(ID, DL, utc(-1))
    with scheduler() as s:
        s.wait_log(r"round-failed.*no column NextDueTime")
        fake.columns = COLUMNS
        assert s.wait_runs(1)[0]["ID"] == ID        # nothing was lost


@pytest.mark.parametrize("job, why", [
    (dict(class_="Microsoft.Office.Server.UserProfiles.NewJob"), "unknown assembly or class"),
    (dict(class_=DL, assembly="Other, Version=12.0.0.0"), "unknown assembly or class"),
    (dict(class_=PROFILES + "UserProfileImportJob", data="IsIncremental#Maybe"), "unknown job data"),
    (dict(class_=DL, recurrence="every 5 minutes"), "unknown recurrence"),
])
def test_what_is_unknown_is_left_and_told(fake, scheduler, job, why):
    fake.add(ID, due=utc(-1), **job)
    fake.add(OTHER, DL, utc(-1), "daily at 01:00:00")
    with scheduler() as s:
        s.wait_log(f"event=left job={ID}.*{why}")
        assert s.wait_runs(1)[0]["ID"] == OTHER     # the others run
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
        wait_until(lambda: ID in fake.jobs)
    assert ID not in [a["@JobId"] for a in fake.of(REFRESH)] and len(s.runs()) == 1


def test_a_class_without_handler_stays_due_until_somebody_has_one(fake, scheduler):
    fake.add(ID, DL, utc(-1))
    fake.add(OTHER, DL, utc(-1), "hourly at 00")
    with scheduler(handlers={"UserProfileImportJob": ""}) as s:
        s.wait_log(f"event=left job={ID}.*no handler")
        s.wait_log(f"event=left job={OTHER}.*no handler")
    assert set(fake.jobs) == {ID, OTHER} and s.runs() == []
    with scheduler() as s:
        assert {r["ID"] for r in s.wait_runs(2)} == {ID, OTHER}


def test_a_server_whose_clock_is_ahead_gets_a_time_it_accepts(fake, scheduler):
    fake.ahead = 200
    fake.add(ID, DL, utc(-1), "every 30 seconds")
    with scheduler() as s:
        s.wait_runs(1)
        s.wait_log("refresh-refused")
        wait_until(lambda: fake.names().count("COMMIT") >= 2)
    assert len(s.runs()) == 1 and len({j["NextDueTime"] for j in fake.jobs.values()}) == 1


# --- connections that break


@pytest.mark.parametrize("lose", ["before", "after"])
@pytest.mark.parametrize("recurrence", [None, "daily at 01:00:00"])
def test_a_lost_answer_to_the_commit_neither_loses_nor_repeats(fake, scheduler, lose, recurrence):
    fake.add(ID, DL, utc(-1), recurrence)
    fake.lose_commit = lose
    with scheduler() as s:
        s.wait_runs(1)
        s.wait_log("event=doubt")
        seen = fake.names().count("COMMIT")
        wait_until(lambda: fake.names().count("COMMIT") >= seen + 2)
    assert len(s.runs()) == 1


def test_in_doubt_skip_drops_what_somebody_else_may_have_taken(fake, scheduler):
    fake.add(ID, DL, utc(-1), "daily at 01:00:00")
    fake.lose_commit = "after"
    with scheduler(config="in_doubt = skip") as s:
        s.wait_log("event=doubt.*skip")
        seen = fake.names().count("COMMIT")
        wait_until(lambda: fake.names().count("COMMIT") >= seen + 1)
    assert s.runs() == []


def test_a_server_that_is_away_costs_no_occurrence(fake, scheduler):
    fake.go_away()
    fake.add(ID, DL, utc(1))
    with scheduler() as s:
        s.wait_log("round-failed.*again_ms=1000")
        time.sleep(1)
        fake.come_back()
        assert s.wait_runs(1)[0]["ID"] == ID
        fake.go_away()
        s.wait_log("(?s)connected.*round-failed")
        fake.add(OTHER, DL, utc(0), "hourly at 00")
        fake.come_back()
        assert s.wait_runs(2)[1]["ID"] == OTHER


def test_a_slow_server_does_not_delay_what_was_taken(fake, scheduler):
    fake.add(ID, DL, utc(3.2))
    with scheduler(interval=2) as s:
        s.wait_log("event=taken")
        fake.delay = 5
        at, due = moment(s.wait_runs(1)[0]["at"]), moment(s.runs()[0]["DUE"].rstrip("Z"))
        assert at - due < datetime.timedelta(seconds=3)
        fake.delay = 0


def test_every_class_that_is_not_ignored_is_configurable():
    assert len(CLASSES) == 6
