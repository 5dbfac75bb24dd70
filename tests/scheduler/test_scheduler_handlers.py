"""Handlers that are missing, fail, hang or talk too much; the end of the scheduler, kind and unkind."""
import pathlib
import re
import signal
import subprocess

import pytest

from schedulerprogram import PROFILES, utc, wait_until
from support.logins import PASSWORD, new_login

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
DL = PROFILES + "DLImportJob"
REFRESH = "proc_MIP_RefreshScheduledJob"


def test_exit_status_and_output_are_kept(server, scheduler):
    server.add(ID, DL, utc(-1), name="fails")
    with scheduler(handlers={"DLImportJob": "print('line one\\nline \"two\" \\x1b[2J', flush=True); print('no newline', end='', file=sys.stderr); sys.exit(7)"}) as s:
        ended = s.wait_history(1)[0]
    assert (ended["status"], ended["outcome"], ended["id"], ended["name"]) == (7, "failed", ID, "fails")
    log = s.log()
    assert 'text="line one"' in log and 'text="no newline"' in log and "\x1b" not in log
    assert "event=finished" in log and "status=7" in log


def test_a_standard_error_that_nobody_reads_stops_no_handler(server, scheduler):
    """Its output is more than the pipe and what is kept for it; the next job runs all the same, and the end comes."""
    server.add(ID, DL, utc(-1))
    s = scheduler(handlers={"DLImportJob": "for n in range(3000): print('x' * 900)"}, interval=1)
    s.process = subprocess.Popen(s.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=s.env)
    s.wait_history(1)
    server.add(OTHER, DL, utc(-1))
    assert [h["outcome"] for h in s.wait_history(2)] == ["ok", "ok"]
    s.signal(signal.SIGTERM)
    assert s.wait() == 0
    s.process.stderr.close()


def test_a_handler_that_dies_by_a_signal_is_told(server, scheduler):
    server.add(ID, DL, utc(-1))
    with scheduler(handlers={"DLImportJob": "os.kill(os.getpid(), 9)"}) as s:
        assert s.wait_history(1)[0]["status"] == 128 + 9


def test_a_hanging_handler_is_ended_with_its_children(server, scheduler, tmp_path):
    server.add(ID, DL, utc(-1))
    more = "import signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsubprocess.Popen(['/bin/sleep', '31.4159'])\ntime.sleep(60)"
    with scheduler(handlers={"DLImportJob": more}, config="timeout = 1\nkill_after = 1") as s:
        ended = s.wait_history(1, timeout=30)[0]
        assert (ended["outcome"], ended["status"]) == ("timeout", 128 + 9)
        s.wait_log("event=terminating.*why=timeout")
        s.wait_log("event=killing")
        wait_until(lambda: subprocess.run(["pgrep", "-f", "sleep 31.4159"], capture_output=True).returncode == 1)


def test_a_command_that_has_gone_is_used_when_it_is_back(server, proxy, scheduler):
    """What recurs counts as taken, what runs once waits for it."""
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    server.add(OTHER, DL, utc(-1))
    s = scheduler()
    command = s.folder / "DLImportJob.py"
    away = command.rename(s.folder / "away")
    with s:
        s.wait_log(f"event=no-handler job={ID}.*missing or not executable")
        s.wait_log(f"event=held job={OTHER}.*missing or not executable")
        assert [a["@JobId"] for a in proxy.of(REFRESH)] == [ID]
        away.rename(command)
        assert s.wait_runs(1)[0]["ID"] == OTHER
        s.wait_history(2)
    assert len(s.runs()) == 1


def test_a_handler_inherits_no_descriptor(server, scheduler):
    """Least of all the connection, with which it could speak as the scheduler; nor the lock of the journal."""
    server.add(ID, DL, utc(-1))
    with scheduler(handlers={"DLImportJob": "print('open:', sorted(int(n) for n in os.listdir('/proc/self/fd')), [os.readlink(f'/proc/self/fd/{n}') for n in (0, 1, 2)], flush=True)"}) as s:
        s.wait_history(1)
        line = s.wait_log("text=\"open: (.*)\"").group(1)
    # the fourth is the listing itself
    assert re.fullmatch(r"\[0, 1, 2, 3\] \['/dev/null', '(pipe:\[\d+\])', '\1'\]", line), line


def test_a_command_that_cannot_be_executed_is_a_failure_that_is_kept(server, scheduler):
    server.add(ID, DL, utc(-1))
    s = scheduler()
    (s.folder / "DLImportJob.py").write_text("#!/no/such/interpreter\n")
    with s:
        assert s.wait_history(1)[0]["status"] == 127
        s.wait_log("could not be executed")


def test_a_job_that_runs_longer_than_its_interval_is_not_started_twice(server, scheduler):
    server.add(ID, DL, utc(0), "every 01 seconds")
    with scheduler(handlers={"DLImportJob": "time.sleep(3.5)"}, interval=2) as s:
        s.wait_log("event=skipped.*still runs")
        runs = s.wait_runs(2, timeout=30)
        s.wait_history(4)
    ended = [h for h in s.history() if h["outcome"] == "ok"]
    assert len(runs) >= 2 and ended[0]["ended"] <= s.history()[-1]["due"]
    for a, b in zip(ended, ended[1:]):
        assert a["ended"] <= b["started"]


def test_no_more_handlers_at_once_than_allowed(server, scheduler):
    for n in range(6):
        server.add(f"B00AE9A1-0474-474E-B348-F6A8BCC9530{n}", DL, utc(-1))
    with scheduler(handlers={"DLImportJob": "time.sleep(0.6)"}, config="max_running = 2") as s:
        ended = s.wait_history(6, timeout=40)
    events = sorted([(h["started"], 1) for h in ended] + [(h["ended"], -1) for h in ended], key=lambda e: (e[0], e[1]))
    running = 0
    for _, change in events:
        running += change
        assert running <= 2


# --- the end


def test_sigterm_finishes_what_runs_and_what_was_taken(server, scheduler):
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    server.add(OTHER, DL, utc(3))
    with scheduler(handlers={"DLImportJob": "time.sleep(1.5)"}, interval=5) as s:
        s.wait_runs(1)
        wait_until(lambda: s.log().count("event=taken") == 2)
        s.signal(signal.SIGTERM)
        s.wait_log("event=stopping")
        late = "B00AE9A1-0474-474E-B348-F6A8BCC95333"
        server.add(late, DL, utc(0))
        assert s.wait(20) == 0
    assert sorted(r["ID"] for r in s.runs()) == [ID, OTHER] and {h["outcome"] for h in s.history()} == {"ok"}
    assert set(server.jobs()) == {ID, late} and s.journal() == ""


def test_a_second_sigterm_ends_the_handlers_and_keeps_what_waits(server, scheduler):
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    server.add(OTHER, DL, utc(8))
    s = scheduler(handlers={"DLImportJob": "time.sleep(60 if os.environ['PROCESSION_JOB_ID'].endswith('1') else 0)"}, interval=20)
    with s:
        s.wait_runs(1)
        s.signal(signal.SIGTERM)
        s.wait_log("event=stopping")
        s.signal(signal.SIGTERM)
        assert s.wait(20) == 0
        assert s.history()[0]["outcome"] == "stopped"
        assert OTHER in s.journal() and "left-behind" in s.log()
        s.start()
        assert s.wait_runs(2)[1]["ID"] == OTHER


def test_a_killed_scheduler_loses_nothing_and_repeats_nothing(server, scheduler):
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    server.add(OTHER, DL, utc(4))
    s = scheduler(handlers={"DLImportJob": "time.sleep(3 if os.environ['PROCESSION_JOB_ID'].endswith('1') else 0)"}, interval=10)
    with s:
        s.wait_runs(1)
        wait_until(lambda: s.log().count("event=taken") == 2)
        s.kill()
        assert OTHER not in server.jobs()
        s.start()
        s.wait_log(f"event=interrupted job={ID}")
        runs = s.wait_runs(2)
        s.wait_history(2)
    assert [r["ID"] for r in runs] == [ID, OTHER]
    assert [h["outcome"] for h in s.history()] == ["interrupted", "ok"]


def test_one_folder_belongs_to_one_scheduler(server, scheduler):
    with scheduler() as s:
        s.wait_log("scheduler-started")
        second = subprocess.run(s.command, capture_output=True, text=True, timeout=20)
        assert second.returncode == 2 and "another scheduler uses the folder" in second.stderr
        (s.folder / "state" / "lock").unlink()          # nor when somebody has tidied up
        second = subprocess.run(s.command, capture_output=True, text=True, timeout=20)
        assert second.returncode == 2 and "another scheduler uses the folder" in second.stderr


def test_once_runs_what_is_due_and_ends(server, scheduler):
    server.add(ID, DL, utc(-1))
    s = scheduler()
    assert s.start("--once").wait() == 0 and len(s.runs()) == 1
    server.add(ID, DL, utc(-1))
    s = scheduler(handlers={"DLImportJob": "sys.exit(1)"})
    assert s.start("--once").wait() == 1
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    assert scheduler(handlers={"AudienceCompilationJob": ""}).start("--once").wait() == 1       # no handler is a failure, too
    server.stop()
    assert scheduler(address=server.address).start("--once").wait() == 3


def test_once_that_is_refused_is_no_success(server, scheduler, tmp_path):
    """It connects, and may not ask for jobs: neither done nor out of reach."""
    (tmp_path / "secret").write_text(PASSWORD + "\n")
    s = scheduler(user=new_login(server, "ScheduledJobs", "select"))
    assert s.start("--once", "--password-file", str(tmp_path / "secret")).wait() == 1, s.log()
    assert "event=connected" in s.log() and "event=round-failed" in s.log()


def test_once_does_not_wait_for_what_is_due_later(server, scheduler):
    """In the minute that a scheduler looks ahead this job is due three times."""
    server.add(ID, DL, utc(30), "every 10 seconds")
    s = scheduler(interval=60)
    assert s.start("--once").wait(25) == 0 and s.runs() == []


@pytest.mark.parametrize("config, why", [
    ("[scheduler]\ninterval = 0\n", ":2: '0' is not a value for 'interval'; it takes a number of seconds, 1 to 86400"),
    ("[scheduler]\nintervall = 60\n", ":2: [scheduler] has no setting 'intervall'"),
    ("[handler:NoJob]\ncommand = /bin/true\n", "'NoJob' is no class"),
    ("[handler:PWASSPSubmitSiteCreationTimerJob]\ncommand = /bin/true\n", "left to the program that owns them"),
    ("[handler:DLImportJob]\ncommand = true\n", "must begin with a whole path"),
    ("[handler:DLImportJob]\ncommand = /bin/true 'open\n", "must begin with a whole path"),
    ("[handler:DLImportJob]\ntimeout = 5\n", "has no command"),
    ("[handler:DLImportJob]\ncommand = /bin/true\ntimeout = soon\n", ":3: timeout takes"),
    ("[other]\nx = y\n", "unknown section"),
    ("[scheduler]\nin_doubt = perhaps\n", "'perhaps' is not a value for 'in_doubt'; it takes one of run|skip"),
    ("[scheduler]\ninterval = 60\n", "no handler is configured"),
    (None, "cannot read"),
])
def test_mistakes_in_the_configuration_are_named(server, scheduler, config, why):
    s = scheduler()
    if config is None:
        s.ini.unlink()
    else:
        s.ini.write_text(config)
    done = subprocess.run(s.command, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2 and why in done.stderr, done.stderr


def test_without_a_state_folder_nothing_is_written(server, scheduler):
    server.add(ID, DL, utc(-1))
    with scheduler(state=False) as s:
        s.wait_log("event=finished")
    assert len(s.runs()) == 1 and not (s.folder / "state").exists()


def test_the_packaged_sample_is_accepted(server, scheduler):
    s = scheduler()
    s.ini.write_text((pathlib.Path(__file__).resolve().parents[2] / "packaging" / "scheduler.ini").read_text())
    assert s.start("--once").wait() == 0
    assert "handlers=2" in s.log()
