"""SIGHUP: the configuration is read again while jobs run."""
import re
import signal

from jobserver import moment
from schedulerprogram import PROFILES, utc, wait_until

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
THIRD = "B00AE9A1-0474-474E-B348-F6A8BCC95333"
DL, AUDIENCE = PROFILES + "DLImportJob", "Microsoft.Office.Server.Audience.AudienceCompilationJob"


def change(s, *replacements, append=""):
    text = s.ini.read_text()
    for old, new in replacements:
        assert re.search(old, text)
        text = re.sub(old, new, text)
    s.ini.write_text(text + append)


def reload(s, event="reloaded"):
    seen = s.log().count(f"event={event} ")
    s.signal(signal.SIGHUP)
    wait_until(lambda: s.log().count(f"event={event} ") > seen, 20, s.log)


def handler(s, name):
    """A second command: a copy of the first under another name, so that the log tells which one ran."""
    path = s.folder / name
    path.write_text((s.folder / "DLImportJob.py").read_text())
    path.chmod(0o755)
    return path


def commands(s, id):
    return re.findall(rf"event=started job={id} .*command=\"?([^\s\"]+)", s.log())


def test_a_new_handler_and_interval_are_used_at_once(server, proxy, scheduler):
    s = scheduler(handlers={"DLImportJob": ""}, interval=3600)
    with s:
        wait_until(lambda: proxy.rounds == 1)
        server.add(ID, AUDIENCE, utc(-1))
        server.add(OTHER, DL, utc(-1), "every 59 minutes at 00")
        new = handler(s, "new.py")
        change(s, ("interval = 3600", "interval = 2"), (r"command = \S+", f"command = {new}"),
               append=f"[handler:AudienceCompilationJob]\ncommand = {new}\n")
        reload(s)
        s.wait_runs(2)      # nobody waits for the old hour
        seen = proxy.rounds
        wait_until(lambda: proxy.rounds >= seen + 2)
    assert commands(s, ID) == commands(s, OTHER) == [str(new)]
    assert re.search("event=reloaded interval=2 handlers=2", s.log())


def test_what_runs_goes_on_under_its_old_handler(server, proxy, scheduler, tmp_path):
    """The running one is neither ended nor started again, and keeps its time limit; the next occurrence has the new command."""
    gate = tmp_path / "gate"
    s = scheduler(handlers={"DLImportJob": f"while not os.path.exists({str(gate)!r}): time.sleep(0.02)"})
    with s:
        server.add(ID, DL, utc(-1))
        s.wait_runs(1)
        new = handler(s, "new.py")
        change(s, (r"command = \S+", f"command = {new}"), ("interval = 1", "interval = 1\ntimeout = 1\nkill_after = 1\nmax_running = 40"))
        reload(s)
        seen = proxy.rounds
        wait_until(lambda: proxy.rounds >= seen + 3)        # longer than the new limit
        assert s.history() == []
        gate.touch()
        assert [(h["id"], h["outcome"]) for h in s.wait_history(1)] == [(ID, "ok")]
        server.add(OTHER, DL, utc(-1))
        s.wait_history(2)
    assert commands(s, ID) == [str(s.folder / "DLImportJob.py")] and commands(s, OTHER) == [str(new)]


def test_what_was_taken_runs_though_its_handler_has_gone(server, proxy, scheduler):
    """Taken for the interval ahead: the server has it no more. What comes after it has no handler."""
    due = utc(3)
    server.add(ID, DL, due)
    s = scheduler(handlers={"DLImportJob": "", "AudienceCompilationJob": ""}, interval=5)
    with s:
        wait_until(lambda: proxy.rounds == 1)
        assert ID not in server.jobs()
        change(s, (r"\[handler:DLImportJob\]\ncommand = .*\n", ""))
        reload(s)
        run = s.wait_runs(1)[0]
        assert run["ID"] == ID and moment(run["at"]) >= moment(run["DUE"])
        server.add(OTHER, DL, utc(-1))
        s.wait_log(f"event=held job={OTHER} .*no handler")
    assert OTHER not in server.jobs() and OTHER in s.journal() and len(s.runs()) == 1 and s.history()[0]["outcome"] == "ok"


def test_fewer_at_once(server, proxy, scheduler):
    s = scheduler(handlers={"DLImportJob": "time.sleep(0.5)"}, config="max_running = 3")
    with s:
        wait_until(lambda: proxy.rounds == 1)
        change(s, ("max_running = 3", "max_running = 1"))
        reload(s)
        for id in ID, OTHER, THIRD:
            server.add(id, DL, utc(-1))
        ended = s.wait_history(3, timeout=30)
    assert all(a["ended"] <= b["started"] for a, b in zip(ended, ended[1:])), ended


def test_a_broken_file_is_told_and_the_old_one_stays(server, proxy, scheduler):
    s = scheduler(handlers={"DLImportJob": ""})
    with s:
        wait_until(lambda: proxy.rounds == 1)
        good = s.ini.read_text()
        for text, why in ((good + "[handler:NoJob]\ncommand = /bin/true\n", "'NoJob' is no class"), (good.replace("interval = 1", "interval = 0"), ":2: '0' is not a value for 'interval'"),
                          ("[scheduler]\ninterval = 1\n", "no handler is configured"), (good.replace("interval", "log_level = loud\ninterval"), "'loud' is not a value for 'log_level'"), (None, "cannot read")):
            s.ini.unlink() if text is None else s.ini.write_text(text)
            reload(s, "reload-failed")
            line = s.log().rstrip().splitlines()
            assert any("reload-failed" in each and why in each and "stays" in each for each in line[-3:]), line[-3:]
        server.add(ID, DL, utc(-1))
        assert s.wait_runs(1)[0]["ID"] == ID
    assert "event=reloaded" not in s.log()


def test_the_log_level_is_read_again(proxy, scheduler):
    s = scheduler()
    with s:
        wait_until(lambda: proxy.rounds == 1)
        assert "level=debug" not in s.log()
        change(s, ("interval = 1", "interval = 1\nlog_level = debug"))
        reload(s)
        s.wait_log("level=debug event=poll")
        change(s, ("log_level = debug", "log_level = error"))
        reload(s)
        quiet = s.log()
        seen = proxy.rounds
        wait_until(lambda: proxy.rounds >= seen + 2)
        assert s.log().count("event=poll") <= quiet.count("event=poll") + 1      # of the round that was under way


def test_what_needs_a_restart_is_told(proxy, scheduler):
    s = scheduler()
    with s:
        wait_until(lambda: proxy.rounds == 1)
        change(s, (r"state = .*", "state = /no/such/folder\ndatabase = Other"))
        reload(s)
        s.wait_log("event=needs-restart setting=state")
        s.wait_log("event=needs-restart setting=database")
        seen = proxy.rounds
        wait_until(lambda: proxy.rounds > seen)


def test_the_command_line_goes_before_the_file_that_was_read_again(proxy, scheduler):
    s = scheduler(interval=7)
    s.start("--interval", "1")
    with s:
        wait_until(lambda: proxy.rounds == 1)
        reload(s)
        s.wait_log("event=reloaded interval=1 ")
