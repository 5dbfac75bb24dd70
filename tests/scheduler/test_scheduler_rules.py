"""[MS-SSPSJ] 3.2: what the scheduler asks, and what it does with each row."""
import datetime
import re
import signal
import time

import pytest

from jobserver import NEVER, ClockJobServer, moment
from schedulerprogram import CLASSES, OFFICE, PROFILES, PROJECT, plain_command, utc, wait_until
from support import clock
from support.proves import proves

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
GET, REFRESH, ADD = "proc_MIP_GetScheduledJobsInInterval", "proc_MIP_RefreshScheduledJob", "proc_MIP_AddScheduledJob"
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


@proves("SCHED-Client-01")
def test_without_a_setting_each_60_seconds_are_asked_for(proxy, scheduler, plain_clock):
    """For the scheduler time goes twenty times as fast: three rounds take six seconds."""
    fast = {"LD_PRELOAD": str(clock.find_library()), "FAKETIME": "+0 x20", "TZ": "UTC"}
    with scheduler(interval=None, binary=plain_command(), env=fast):
        wait_until(lambda: proxy.rounds >= 3, 60)
    times = proxy.times(GET)[:3]
    asked = [moment(args["@NextDueTime"]) for args in proxy.of(GET)[:3]]
    for at, later, until, next_until in zip(times, times[1:], asked, asked[1:]):
        assert later - at > 2.75                                            # 55 seconds of its own
        assert 55 < (next_until - until).total_seconds() < 120              # no round was left out; a late one is followed by one in time


@proves("SCHED-Client-01", "SCHED-Client-02", "SCHED-Client-03")
def test_each_interval_asks_once_for_the_next_one(proxy, scheduler):
    with scheduler(interval=2):
        wait_until(lambda: proxy.rounds >= 3)
    times = proxy.times(GET)
    for at, later, args in zip(times, times[1:], proxy.of(GET)):
        assert later - at > 1.5
        ahead = moment(args["@NextDueTime"]) - datetime.datetime.utcfromtimestamp(at)
        assert 1 < ahead.total_seconds() <= 2.1
    # one after the other, each answered before the next, however long that takes
    assert proxy.names()[:7] == ["login", "BEGIN", GET, "COMMIT", "BEGIN", GET, "COMMIT"]
    assert proxy.impatient == 0


@proves("SCHED-Client-03")
def test_nothing_is_sent_before_the_answer_is_there(proxy, scheduler):
    with scheduler():
        wait_until(lambda: proxy.rounds >= 1)
        proxy.hold()                        # an answer of the next round is late
        asked = len(proxy.names())
        wait_until(lambda: len(proxy.names()) > asked)
        time.sleep(1)
        proxy.release()
        wait_until(lambda: proxy.rounds >= 3)
        assert proxy.impatient == 0


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
    assert s.runs() == [] and proxy.of(REFRESH) == [] and "level=warn" not in s.log()       # as it should be: nothing to tell
    # also what runs once, which the server has deleted by handing it out, is still there: that was undone, not added again
    assert server.jobs() == before and len(before) == 2 and proxy.of(ADD) == []


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


def day_window(hours_ago=1):
    """(begin, recurrence) of a window of a day that began so many hours ago."""
    begin = datetime.datetime.utcnow().replace(minute=0, second=0, microsecond=0) - datetime.timedelta(hours=hours_ago)
    return begin, f"daily between {begin:%H:%M:%S} and {(begin - datetime.timedelta(seconds=1)):%H:%M:%S}"


@proves("SCHED-Client-14")
def test_a_window_is_refreshed_at_once_wherever_its_place_is(server, proxy, scheduler):
    begin, recurrence = day_window()
    ids = [f"B00AE9A1-0474-474E-B348-F6A8BCC953{n:02}" for n in range(30)]
    for id in ids:
        server.add(id, DL, begin, recurrence)
    with scheduler() as s:
        wait_until(lambda: proxy.rounds >= 1)
        assert {job["NextDueTime"] for job in server.jobs().values()} == {begin + datetime.timedelta(days=1)}
        assert sorted(a["@JobId"] for a in proxy.of(REFRESH)) == ids
        some_rounds(proxy, 2)
        started = len(s.runs())
        assert started < 15 and len(s.journal().splitlines()) >= 15      # only those whose place has passed have begun; the others wait
        # a scheduler that is killed has them in its journal, one that is asked to end does not wait for them
        s.kill()
        s.start()
        s.wait_log("scheduler-started.*waiting=[12]")
        s.signal(signal.SIGTERM)
        assert s.wait() == 0
        s.wait_log("event=left-behind waiting=.*kept in the journal")
    assert proxy.names().count(REFRESH) == 30 and len(s.journal().splitlines()) + len(s.runs()) == 30


def test_without_a_journal_the_end_brings_a_window_forward(server, scheduler):
    """Any moment of the window will do, and what waits would be lost."""
    begin, recurrence = day_window()
    for n in range(20):
        server.add(f"B00AE9A1-0474-474E-B348-F6A8BCC953{n:02}", DL, begin, recurrence)
    s = scheduler(state=False, config="max_running = 20")
    assert s.start("--once").wait(60) == 0
    assert len({r["ID"] for r in s.runs()}) == 20 == len(s.runs()) and "event=brought-forward" in s.log() and "left-behind" not in s.log()


@pytest.mark.parametrize("change", ["remove", "disable"])
def test_a_job_that_is_withdrawn_before_its_place_does_not_run(tmp_path, plain_clock, change):
    with ClockJobServer(start=datetime.datetime(2026, 6, 15, 21, 59, 50)) as server:
        for id in ID, OTHER:
            server.add(id, DL, "2026-06-15T22:00:00", "daily between 22:00:00 and 02:00:00")
        with server.scheduler(tmp_path) as s:
            wait_until(lambda: s.log().count("event=taken") == 2, 60, s.log)
            if change == "remove":
                assert server.call("proc_MIP_RemoveScheduledJob", JobId=ID)[1] == 0
            else:
                assert server.call("proc_MIP_ModifyScheduledJob", JobId=ID, Assembly=OFFICE, Class=DL, Recurrence="daily between 22:00:00 and 02:00:00",
                                   NextDueTime=NEVER, Disabled=1)[1] == 0
            starts = {id: datetime.datetime.fromisoformat(at) for id, at in re.findall(r'event=taken job=(\S+) .*start="([^"]+)"', s.log())}
            for id, at in sorted(starts.items(), key=lambda item: item[1]):
                asked = s.log().count("event=poll ")
                server.set(at - datetime.timedelta(seconds=30))         # hours after the last round: the server is asked once more
                wait_until(lambda: s.log().count("event=poll ") > asked, 60, s.log)
                server.set(at + datetime.timedelta(seconds=1))
                s.wait_log(f"event={'withdrawn' if id == ID else 'finished'} job={id}", 60)
    assert [h["id"] for h in s.history() if h["outcome"] == "ok"] == [OTHER] and {h["outcome"] for h in s.history() if h["id"] == ID} == {"withdrawn"}


# --- rows that nobody here can run


UNKNOWN = [
    pytest.param(dict(class_=DL), {"class": "Microsoft.Office.Server.UserProfiles.NewJob"}, "unknown assembly or class", id="class"),
    pytest.param(dict(class_=DL), {"assembly": "Other, Version=12.0.0.0"}, "unknown assembly or class", id="assembly"),
    pytest.param(dict(class_=PROFILES + "UserProfileImportJob", data="IsIncremental#True"), {"data": "IsIncremental#Maybe"}, "unknown job data", id="data"),
]


@proves("SCHED-Client-15")
@pytest.mark.parametrize("job, columns, why", UNKNOWN)
def test_what_runs_once_and_is_unknown_is_kept_and_told(server, proxy, scheduler, job, columns, why):
    """Rows that no client of our server could have written. The server has deleted what it handed out; under its old JobId it must not be added again."""
    server.add(ID, due=utc(-1), name="strange", **job)
    server.edit(ID, **columns)
    server.add(OTHER, DL, utc(-1), "daily at 01:00:00")
    with scheduler() as s:
        s.wait_log(f"event=held job={ID}.*strange.*{why}")
        assert [r["ID"] for r in s.wait_runs(1)] == [OTHER]     # the others run
        some_rounds(proxy)
        assert s.log().count("event=held") == 1
        s.kill()
        assert s.journal().startswith("held\t") and ID in s.journal()
        s.start()
        wait_until(lambda: s.log().count("event=held") == 2)    # each start tells it
    assert ID not in server.jobs() and proxy.of(ADD) == [] and ID in s.journal() and "held=1" in s.log() and len(s.runs()) == 1


@proves("SCHED-Client-14")
@pytest.mark.parametrize("job, columns, why", UNKNOWN)
def test_what_recurs_and_is_unknown_is_refreshed_and_told(server, proxy, scheduler, job, columns, why):
    server.add(ID, due=utc(-1), recurrence="daily at 01:00:00", **job)
    server.edit(ID, **columns)
    with scheduler() as s:
        s.wait_log(f"event=no-handler job={ID}.*{why}")
        some_rounds(proxy)
    assert [a["@JobId"] for a in proxy.of(REFRESH)] == [ID] and server.jobs()[ID]["NextDueTime"] > datetime.datetime.utcnow()
    assert s.runs() == [] and [h["outcome"] for h in s.history()] == ["no-handler"]


def test_a_recurrence_that_cannot_be_read_is_left_and_told(server, proxy, scheduler):
    """Only the store file can have it; nobody can tell when it is due next."""
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    server.edit(ID, recurrence="every 5 minutes")
    before = server.jobs()[ID]
    with scheduler() as s:
        s.wait_log(f"event=left job={ID}.*unknown recurrence")
        some_rounds(proxy)
    assert server.jobs()[ID] == before and proxy.of(REFRESH) == [] and s.runs() == []


@proves("SCHED-Client-14")
def test_a_recurring_row_without_handler_is_refreshed_and_counts_as_taken(server, proxy, scheduler):
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    with scheduler(handlers={"UserProfileImportJob": ""}) as s:
        s.wait_log(f"event=taken job={ID}.*cannot_run=\"no handler")
        s.wait_log(f"event=no-handler job={ID}.*no handler is configured")
        some_rounds(proxy)
    assert [a["@JobId"] for a in proxy.of(REFRESH)] == [ID] and server.jobs()[ID]["NextDueTime"] > datetime.datetime.utcnow()
    with scheduler() as s:
        some_rounds(proxy)
    assert s.runs() == []       # nor does another scheduler find it due


@proves("SCHED-Client-15")
def test_a_one_time_row_without_handler_runs_when_there_is_one(server, proxy, scheduler):
    server.add(ID, DL, utc(-1), name="once")
    s = scheduler(handlers={"UserProfileImportJob": ""})
    with s:
        s.wait_log(f"event=held job={ID}.*no handler")
        assert server.jobs() == {}
        s.signal(signal.SIGTERM)
        assert s.wait() == 0        # it is not waited for
        s.wait_log("event=left-behind .*held=1.*kept in the journal")
        s.start()
        wait_until(lambda: s.log().count("event=held") == 2)
        command = s.folder / "UserProfileImportJob.py"
        s.ini.write_text(s.ini.read_text() + f"[handler:DLImportJob]\ncommand = {command}\n")
        s.signal(signal.SIGHUP)
        run = s.wait_runs(1)[0]
        s.wait_history(1)
    assert (run["ID"], run["DISPLAY_NAME"]) == (ID, "once") and len(s.runs()) == 1 and s.journal() == "" and proxy.of(ADD) == []


@proves("SCHED-Client-15")
def test_a_kept_row_is_not_lost_with_its_commit_in_doubt(server, proxy, scheduler):
    server.add(ID, DL, utc(-1))
    proxy.lose_commit = "after"
    with scheduler(handlers={"UserProfileImportJob": ""}) as s:
        s.wait_log("event=doubt.*it was taken")
        s.wait_log(f"event=held job={ID}")
    assert server.jobs() == {} and s.journal().startswith("held\t")


def test_every_class_that_is_not_ignored_is_configurable():
    assert len(CLASSES) == 6
