"""[MS-SSPSJ] 3.2: what the scheduler asks, and what it does with each row."""
import datetime

import pytest

from jobserver import NEVER, moment
from schedulerprogram import CLASSES, OFFICE, PROFILES, PROJECT, utc, wait_until
from support.proves import proves

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
GET, REFRESH = "proc_MIP_GetScheduledJobsInInterval", "proc_MIP_RefreshScheduledJob"
DL = PROFILES + "DLImportJob"
TICK = datetime.timedelta(milliseconds=5)


def some_rounds(proxy, more=2, timeout=20):
    """Waits until the scheduler has asked so many times more, and each answer is through."""
    seen = proxy.rounds
    wait_until(lambda: proxy.rounds >= seen + more, timeout)


@proves("SCHED-Client-01", "SCHED-Init-01")
def test_without_a_setting_the_timer_has_60_seconds(proxy, scheduler):
    with scheduler(interval=None) as s:
        s.wait_log("scheduler-started interval=60")
        wait_until(lambda: proxy.rounds == 1)
    assert proxy.names() == ["login", "BEGIN", GET, "COMMIT"]
    ahead = moment(proxy.of(GET)[0]["@NextDueTime"]) - datetime.datetime.utcfromtimestamp(proxy.times(GET)[0])
    assert 55 < ahead.total_seconds() <= 60.01


@proves("SCHED-Client-01", "SCHED-Client-02", "SCHED-Client-03")
def test_each_interval_asks_once_for_the_next_one(proxy, scheduler):
    with scheduler(interval=2):
        wait_until(lambda: proxy.rounds >= 3)
    times = proxy.times(GET)
    for at, later, args in zip(times, times[1:], proxy.of(GET)):
        assert later - at > 1.5
        ahead = moment(args["@NextDueTime"]) - datetime.datetime.utcfromtimestamp(at)
        assert 1 < ahead.total_seconds() <= 2.1
    # one after the other, each answered before the next
    assert proxy.names()[:7] == ["login", "BEGIN", GET, "COMMIT", "BEGIN", GET, "COMMIT"]


@pytest.mark.parametrize("class_, data, action", [
    pytest.param(PROFILES + "UserProfileChangeJob", None, "update-colleagues", marks=proves("SCHED-Client-05")),
    pytest.param(PROFILES + "UserProfileChangeCleanupJob", None, "delete-change-events", marks=proves("SCHED-Client-06")),
    pytest.param(PROFILES + "UserProfileGradualUpgradeChangeJob", "1;2026-01-01;t;u", "sync-changes", marks=proves("SCHED-Client-07")),
    pytest.param(PROFILES + "UserProfileImportJob", "IsIncremental#False", "full-import", marks=proves("SCHED-Client-08")),
    pytest.param(PROFILES + "UserProfileImportJob", "IsIncremental#True", "incremental-import", marks=proves("SCHED-Client-09")),
    pytest.param(DL, "", "import-distribution-lists", marks=proves("SCHED-Client-10")),
    pytest.param("Microsoft.Office.Server.Audience.AudienceCompilationJob", None, "compile-audiences", marks=proves("SCHED-Client-11")),
])
def test_each_class_runs_its_handler_once(server, proxy, scheduler, class_, data, action):
    due = utc(-1)
    server.add(ID, class_, due, "daily at 01:00:00", data, name="Zoë's job; rm -rf \"$HOME\"")
    with scheduler() as s:
        run = s.wait_runs(1)[0]
        some_rounds(proxy)
    assert len(s.runs()) == 1
    assert run["ACTION"] == action and run["CLASS"] == class_ and run["CLASS_NAME"] == class_.split(".")[-1]
    assert run["ID"] == ID and run["ASSEMBLY"] == OFFICE and run["DATA"] == (data or "")
    assert run["DISPLAY_NAME"] == "Zoë's job; rm -rf \"$HOME\"" and run["args"] == ["one", "two words"]
    assert abs(moment(run["DUE"]) - moment(due)) < TICK
    assert moment(run["NEXT_DUE"]) == server.jobs()[ID]["NextDueTime"] > datetime.datetime.utcnow()


@proves("SCHED-Client-04")
@pytest.mark.parametrize("name", ["PWASSPSubmitSiteCreationTimerJob", "PWASSPSubmitServerScheduledTimerJob"])
def test_project_classes_are_left_to_their_owner(server, proxy, scheduler, name):
    class_, due = "Microsoft.Office.Project.Server.Administration." + name, utc(-5)
    server.add(ID, class_, due, "daily at 01:00:00", assembly=PROJECT)
    server.add(OTHER, class_, due, assembly=PROJECT)
    before = server.jobs()
    with scheduler() as s:
        wait_until(lambda: proxy.rounds >= 2)
    assert s.runs() == [] and proxy.of(REFRESH) == [] and "event=left" not in s.log()       # as it should be: nothing to tell
    # also what runs once, which the server has deleted by handing it out, is still there
    assert server.jobs() == before and len(before) == 2


@proves("SCHED-Client-12")
def test_the_refresh_names_the_next_occurrence(server, proxy, scheduler):
    server.add(ID, DL, "2020-01-31T01:00:00.000", "daily between 01:00:00 and 01:00:00")
    with scheduler() as s:
        s.wait_runs(1)
        some_rounds(proxy)
    tomorrow = datetime.datetime.utcnow().replace(hour=1, minute=0, second=0, microsecond=0)
    if tomorrow <= datetime.datetime.utcnow():
        tomorrow += datetime.timedelta(days=1)
    assert proxy.of(REFRESH) == [{"@JobId": ID, "@NextDueTime": tomorrow.isoformat(timespec="milliseconds")}]
    assert server.jobs()[ID]["NextDueTime"] == tomorrow
    assert len(s.runs()) == 1       # what was missed since 2020 is not made up for


@proves("SCHED-Client-12")
def test_what_runs_once_is_not_refreshed(server, proxy, scheduler):
    server.add(ID, DL, utc(-1))
    with scheduler() as s:
        assert s.wait_runs(1)[0]["NEXT_DUE"] == ""
        some_rounds(proxy)
    assert proxy.of(REFRESH) == [] and server.jobs() == {} and len(s.runs()) == 1


@proves("SCHED-Client-13")
def test_a_disabled_row_is_refreshed_to_the_end_of_time(server, proxy, scheduler):
    """Our server gives disabled jobs that due time itself; one that is due can only have been written by somebody else."""
    server.add(ID, DL, NEVER, "daily at 01:00:00", disabled=1)
    server.edit(ID, due=0)
    assert server.jobs()[ID]["NextDueTime"].year == 1900
    with scheduler() as s:
        wait_until(lambda: proxy.rounds >= 2)
    assert proxy.of(REFRESH) == [{"@JobId": ID, "@NextDueTime": "9999-12-31T23:59:59.997"}]
    assert server.jobs()[ID]["NextDueTime"] == NEVER and s.runs() == []


def test_the_handler_starts_when_due_and_not_before(server, proxy, scheduler):
    due = utc(2.5)
    server.add(ID, DL, due)
    with scheduler(interval=5) as s:
        wait_until(lambda: proxy.rounds)
        assert s.runs() == []
        run = s.wait_runs(1)[0]
    assert moment(run["at"]) - moment(due) > -TICK


def test_short_recurrences_run_each_time_within_the_interval(server, proxy, scheduler):
    server.add(ID, DL, utc(0.5), "every 01 seconds")
    with scheduler(interval=4) as s:
        runs = s.wait_runs(6, timeout=30)
    dues = [moment(r["DUE"]) for r in runs]
    assert {b - a for a, b in zip(dues, dues[1:])} == {datetime.timedelta(seconds=1)}
    assert proxy.names().count(REFRESH) <= proxy.names().count(GET)


def test_a_window_far_from_its_start_stays_with_the_server(server, proxy, scheduler):
    now = datetime.datetime.utcnow()
    begin = now.replace(minute=0, second=0, microsecond=0) - datetime.timedelta(hours=1)
    recurrence = f"daily between {begin:%H:%M:%S} and {(begin - datetime.timedelta(seconds=1)):%H:%M:%S}"     # a window of a day
    for n in range(30):
        server.add(f"B00AE9A1-0474-474E-B348-F6A8BCC953{n:02}", DL, begin, recurrence)
    with scheduler() as s:
        some_rounds(proxy, 3, 40)
        taken = {id for id, job in server.jobs().items() if job["NextDueTime"] != begin}
        s.wait_runs(len(taken))
    assert len(taken) < 15      # those whose place in the window has passed


# --- rows that no client of our server could have written


@pytest.mark.parametrize("job, columns, why", [
    (dict(class_=DL), {"class": "Microsoft.Office.Server.UserProfiles.NewJob"}, "unknown assembly or class"),
    (dict(class_=DL), {"assembly": "Other, Version=12.0.0.0"}, "unknown assembly or class"),
    (dict(class_=PROFILES + "UserProfileImportJob", data="IsIncremental#True"), {"data": "IsIncremental#Maybe"}, "unknown job data"),
    (dict(class_=DL, recurrence="daily at 01:00:00"), {"recurrence": "every 5 minutes"}, "unknown recurrence"),
    (dict(class_=DL, recurrence="daily at 01:00:00"), {"class": "Microsoft.Office.Server.UserProfiles.NewJob"}, "unknown assembly or class"),
], ids=["class", "assembly", "data", "recurrence", "class that recurs"])
def test_what_is_unknown_is_left_and_told(server, proxy, scheduler, job, columns, why):
    server.add(ID, due=utc(-1), name="strange", **job)
    server.edit(ID, **columns)
    before = server.jobs()[ID]
    server.add(OTHER, DL, utc(-1), "daily at 01:00:00")
    once = "B00AE9A1-0474-474E-B348-F6A8BCC95333"
    server.add(once, DL, utc(-1))
    with scheduler() as s:
        s.wait_log(f"event=left job={ID}.*{why}")
        assert {r["ID"] for r in s.wait_runs(2)} == {OTHER, once}     # the others run
        some_rounds(proxy)
    # not even what runs once is lost: the server would have deleted it, and refuses to take it back
    assert server.jobs()[ID] == before and once not in server.jobs()
    assert ID not in [a["@JobId"] for a in proxy.of(REFRESH)] and len(s.runs()) == 2


def test_a_class_without_handler_stays_due_until_somebody_has_one(server, scheduler):
    server.add(ID, DL, utc(-1))
    server.add(OTHER, DL, utc(-1), "hourly at 00")
    with scheduler(handlers={"UserProfileImportJob": ""}) as s:
        s.wait_log(f"event=left job={ID}.*no handler")
        s.wait_log(f"event=left job={OTHER}.*no handler")
    assert set(server.jobs()) == {ID, OTHER} and s.runs() == []
    with scheduler() as s:
        assert {r["ID"] for r in s.wait_runs(2)} == {ID, OTHER}


def test_every_class_that_is_not_ignored_is_configurable():
    assert len(CLASSES) == 6
