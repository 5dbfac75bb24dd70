"""The dashboard in a real browser, with real data and load behind it; each change is seen by another client over TDS."""
import datetime
import http.client
import json
import pathlib
import re
import threading
import time

import pytest

from dashboard import LARGE, PARTITION, READER, Load, available, browse, fill, rows, sql
from support.certificate import certificate
from support.server import Server
from support.store import long_on_postgres
from support.wire import Wire
from test_health import address, get, still_serves

pytestmark = pytest.mark.skipif(available() is not None, reason=str(available()))
no_store = long_on_postgres("no database is asked for it")
SHOTS = pathlib.Path(__file__).resolve().parents[2] / "build" / "screenshots"


def url(server):
    return "%s://%s:%d/" % address(server)


@pytest.fixture(scope="module")
def web():
    made = Server(settings={"http": "127.0.0.1:0", "sweep_interval": 0}).start()
    fill(made)
    with Load(made):
        yield made
    made.stop()
    made.remove()


# ---- in a browser ----

def test_wrong_password_then_in_and_out(web):
    cookie, = browse("wrongPassword", url(web), password=web.password)
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict" and not cookie["secure"]


@pytest.mark.parametrize("size, dark", [((1920, 1080), False), ((375, 800), True)], ids=["wide-light", "narrow-dark"])
def test_every_page_with_data_and_nothing_for_axe_to_find(web, size, dark):
    SHOTS.mkdir(parents=True, exist_ok=True)
    found = browse("everyPage", url(web), password=web.password, axe=True, viewport={"width": size[0], "height": size[1]}, dark=dark, shots=str(SHOTS), suffix="" if not dark else "-narrow-dark")
    assert found == []


def test_the_overview_and_state_tell_what_is_kept(web):
    saw = browse("content", url(web), password=web.password, until="120 items", state=True)
    size, = rows(web, "StateService", "SELECT SUM(Bytes) FROM dbo.Items")[0]
    assert saw["cells"]["StateService"]["holds"] == f"120 items, {size / 1024:.1f} KiB, 5 locks"
    assert saw["figures"][:3] == ["120", f"{size / 1024:.1f} KiB", "5"] and saw["figures"][3].endswith(("s", "min"))
    waiting, succeeded = rows(web, "WordAutomation", "SELECT SUM(CASE WHEN j.Submitted = 1 AND j.CancelTime IS NULL AND i.StartTime IS NULL THEN 1 ELSE 0 END), "
                              "SUM(CASE WHEN i.StopTime IS NOT NULL AND i.ErrorCode IS NULL THEN 1 ELSE 0 END) FROM dbo.Items i JOIN dbo.Jobs j ON j.JobId = i.JobId")[0]
    words = saw["cells"]["WordAutomation"]["holds"]
    assert words.startswith(f"{waiting} waiting, ") and words.endswith(f", {succeeded} succeeded")
    assert saw["cells"]["ScheduledJobs"]["holds"].split(", ")[0].endswith(" enabled")
    assert all("iB" in cell["size"] for cell in saw["cells"].values())


def test_who_may_select_sees_what_his_database_holds_and_no_other(web):
    saw = browse("content", url(web), login=READER[0], password=READER[1], until=" succeeded")
    assert list(saw["cells"]) == ["WordAutomation"] and " succeeded" in saw["cells"]["WordAutomation"]["holds"]
    v = Visitor(web, *READER)
    assert {n[1]["database"] for n in json.loads(v.get("/api/overview")[1])["numbers"]} == {"WordAutomation"}
    assert v.get("/api/content?db=StateService")[0] == 403
    assert {n[0] for n in json.loads(v.get("/api/content?db=WordAutomation")[1])["numbers"]} == {"procession_job_items", "procession_database_file_bytes"}


@no_store
def test_a_certificate_that_expires_soon_is_told(tmp_path):
    with Server(settings={"http": "127.0.0.1:0", **certificate(tmp_path, 10)}) as server:
        assert browse("wrongNow", url(server), password=server.password, until="expires in 10 days").startswith("The server's certificate")


def test_plots_move(web):
    assert "Calls a second" in browse("plotsMove", url(web), password=web.password)


STATES = {"active": "Submitted = 1 AND CancelTime IS NULL AND Unfinished > 0", "finished": "Submitted = 1 AND CancelTime IS NULL AND Unfinished = 0",
          "cancelled": "CancelTime IS NOT NULL", "open": "Submitted = 0 AND CancelTime IS NULL"}


def test_filters_find_what_they_should_and_nothing_else(web):
    """The first page of each, as a client over TDS finds it; none of them finds nothing."""
    sql(web, "WordAutomation", "EXEC proc_CancelJob @JobId = 33, @PartitionId = NULL")

    def wish(where, **chosen):
        found = [row[0] for row in rows(web, "WordAutomation", f"SELECT TOP 25 JobId FROM dbo.Jobs WHERE {where} ORDER BY JobId DESC")]
        assert found
        return {**chosen, "jobs": found}

    letters = [wish(f"Name LIKE '%Letters%' AND CreateTime >= DATEADD(hour, -{hours}, GETUTCDATE())", name="letters", age=age)
               for age, hours in (("last hour", 1), ("last day", 24), ("last week", 168), ("last month", 720), ("any age", 9999))]
    assert [len(x["jobs"]) for x in letters] == [4, 5, 6, 7, 8]
    browse("filters", url(web), password=web.password, filters=[
        *(wish(where, state=state) for state, where in STATES.items()), wish("Name LIKE '%report 1%'", name="report 1"),
        wish(f"PartitionId = '{PARTITION}'", partition=PARTITION), *letters,
        wish(f"PartitionId = '{PARTITION}' AND {STATES['active']} AND Name LIKE '%3%'", partition=PARTITION, state="active", name="3", age="last week")])


def test_documents_of_a_job_by_pages_and_only_failed_ones(web):
    job, items, done, failed = LARGE
    assert browse("items", url(web), password=web.password, job=job, items=items, failed=list(range(done + 1, done + failed + 1))) == failed


def test_jobs_are_found_and_cancelled(web):
    assert browse("jobs", url(web), password=web.password, partition=PARTITION)["rows"] == 26
    cancelled = {row[0] for row in rows(web, "WordAutomation", "SELECT JobId FROM dbo.Jobs WHERE CancelTime IS NOT NULL")}
    assert {28, 30} <= cancelled and {36, 37, 38, 39, 40} <= cancelled and 29 not in cancelled


def test_schedules_change(web):
    browse("schedules", url(web), password=web.password)
    jobs = {row[0]: row[1:] for row in rows(web, "ScheduledJobs", "SELECT DisplayName, Disabled, Class, Recurrence, NextDueTime FROM dbo.ScheduledJobs")}
    assert jobs["Night report"][0] and jobs["Night report"][2] == "daily at 02:00:00" and not jobs["Weekly digest"][0] and not jobs["Cache clean-up"][0] and not jobs["Once only"][0]
    assert all(jobs[name][3] < datetime.datetime.utcnow() + datetime.timedelta(minutes=20) for name in ("Cache clean-up", "Once only"))
    assert jobs["Weekly digest"][3] < jobs["Cache clean-up"][3]
    assert jobs["From the browser"][1].endswith(".UserProfileChangeJob") and jobs["From the browser"][2] == "daily at 03:30:00"


def audit(server, action):
    """Who did this, by the log, and how."""
    server.wait_log(f"event=audit .*action={action}")
    return re.findall(rf'event=audit session=(\d+) peer=127\.0\.0\.1 login=(\S+) database=master action={action} (.*)$', server.log(), re.M)


def test_a_session_is_ended(web):
    with Wire(web).login(database="StateService", app="to be ended") as w:
        spid = w.batch("SELECT @@SPID").ok().rows[0][0]
        browse("sessions", url(web), password=web.password, program="to be ended")
        with pytest.raises((OSError, EOFError)):
            w.batch("SELECT 1").ok()
    (number, login, told), = [line for line in audit(web, "KILL") if f"killed={spid}" in line[2].split()]
    assert login == "sa" and int(number) != spid


def test_by_keyboard(web):
    browse("keyboard", url(web), password=web.password)


def test_rights_of_the_login_hold(web):
    saw = browse("reader", url(web), login=READER[0], password=READER[1])
    assert saw["links"] == ["Overview", "Jobs", "Sessions"] and saw["cancels"] == 0
    assert saw["status"] == {"state": 403, "logins": 403, "history": 403, "jobs": 200, "cancel": 403, "kill": 403, "grant": 403}


def test_nobody_looks_nothing_is_asked(web):
    assert browse("hidden", url(web), password=web.password) == 0


def test_a_page_has_one_stream_however_many_views_it_shows(web):
    """A browser has six connections to a server: a stream for each view of State would leave none in the second window."""
    assert browse("streams", url(web), password=web.password) == {"State": 1, "Schedules": 1, "Jobs": 1, "hidden": 0, "shown": 1}


@no_store
def test_what_takes_too_long_is_said(web):
    assert browse("refused", url(web), password=web.password) == {"counts": "Items were not counted: It took too long.", "failures": "It took too long."}


def events(server, visitor, query, n):
    """The first n events of a stream: (name, number of the view, data)."""
    _, host, port = address(server)
    connection = http.client.HTTPConnection(host, port, timeout=120)
    connection.request("GET", f"/api/events?{query}", headers={"Cookie": visitor.cookie})
    answer, found = connection.getresponse(), []
    assert answer.status == 200
    while len(found) < n:
        lines = []
        while (line := answer.readline().decode().rstrip("\n")) != "":
            lines.append(line)
        fields = dict(line.partition(": ")[::2] for line in lines if not line.startswith(":"))
        if fields:
            found.append((fields["event"], int(fields["id"]), json.loads(fields["data"])))
    connection.close()
    return found


def test_a_stream_has_several_views_and_those_that_were_refused(web):
    sql(web, "master", "EXEC procession_login_add 'streamer', 'streamer-Password1'; EXEC procession_grant 'streamer', 'WordAutomation', 'select'")
    v = Visitor(web, "streamer", "streamer-Password1")
    found = {number: (name, data) for name, number, data in events(web, v, "watch=jobs_any&db=WordAutomation&name=%25Handbook%25&watch=state&db=StateService&watch=job&db=WordAutomation&id=3", 3)}
    assert found[0][0] == "view" and {row[1].split()[0] for row in found[0][1]["sets"][0]["rows"]} == {"Handbook"}
    assert found[1] == ("problem", {"error": "There is no such database for this login."})
    assert found[2][0] == "view" and found[2][1]["sets"][0]["rows"][0][0] == 3
    for query in ("", "db=x&watch=jobs", "watch=nothing", "watch=kill&session=51", "&".join(["watch=sessions"] * 9)):
        assert v.get(f"/api/events?{query}")[0] == 404


def test_what_many_watch_is_asked_once(web):
    """A question for all who watch the same with the same rights, every two seconds at most."""
    def asked():
        return sum(int(n) for n in re.findall(r'^procession_calls_total\{database="Translation",procedure="SELECT"\} (\d+)$', get(web, "/metrics")[1], re.M))

    visitors, before, began = [Visitor(web) for _ in range(12)], asked(), time.monotonic()
    for v in visitors:
        assert events(web, v, "watch=failures&db=Translation", 1)[0][:2] == ("view", 0)
    assert 1 <= asked() - before <= 2 + (time.monotonic() - began) / 2


def test_readiness_and_numbers_wait_for_nobody_who_looks(web):
    """Every thread of the dashboard waits for a job that somebody else holds: neither their work nor what sends answers is theirs."""
    v, ended = Visitor(web), []
    with Wire(web).login(database="WordAutomation") as holder:
        holder.batch("BEGIN TRANSACTION; EXEC proc_CancelJob @JobId = 28, @PartitionId = NULL").ok()
        threads = [threading.Thread(target=lambda: ended.append(v.post("/api/cancel", {"db": "WordAutomation", "id": 28}))) for _ in range(4)]
        for thread in threads:
            thread.start()
        _, host, port = address(web)
        while not ended:        # until nobody is left to answer
            connection = http.client.HTTPConnection(host, port, timeout=1)
            try:
                connection.request("GET", "/api/me", headers={"Cookie": v.cookie})
                connection.getresponse()
            except TimeoutError:
                break
            finally:
                connection.close()
        assert get(web, "/readyz")[:2] == (200, "ok\n")
        assert "procession_uptime_seconds" in get(web, "/metrics")[1]
        assert not ended
        holder.batch("ROLLBACK").ok()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 4


def test_logins_and_rights_change(web):
    browse("logins", url(web), password=web.password)
    assert rows(web, "StateService", "SELECT 1", login=("shop", "shop-Password1"))[0][0] == 1
    with pytest.raises(Exception):
        Wire(web).login(user=READER[0], password=READER[1], database="WordAutomation")
    added, = [line for line in audit(web, "procession_login_add") if "@name=shop " in line[2]]
    granted, = [line for line in audit(web, "procession_grant") if "@login=shop " in line[2]]
    disabled, = [line for line in audit(web, "procession_login_disable") if f"@name={READER[0]} " in line[2]]
    assert added[:2] == granted[:2] == disabled[:2] and added[1] == "sa"
    assert added[2] == 'arguments="@name=shop @admin=0 @windows=0"' and granted[2] == 'arguments="@login=shop @database=StateService @rights=execute,select"'
    assert disabled[2] == f'arguments="@name={READER[0]} @disabled=1"'
    assert "shop-Password1" not in web.log()


@no_store
def test_the_server_goes_away_and_comes_back(tmp_path):
    server = Server(settings={"http": "127.0.0.1:0"}).start()
    where = url(server)
    server.settings["http"] = "%s:%d" % address(server)[1:]
    ready, lost = tmp_path / "ready", tmp_path / "lost"
    failed = []

    def person():
        try:
            browse("restart", where, password=server.password, ready=str(ready), lost=str(lost))
        except BaseException as e:      # pylint: disable=broad-except
            failed.append(e)

    thread = threading.Thread(target=person)
    thread.start()

    def wait(path):
        deadline = time.monotonic() + 120
        while not path.exists() and not failed:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    wait(ready)
    server.stop()
    wait(lost)
    server.start()
    thread.join(120)
    server.stop()
    server.remove()
    assert not failed, failed[0]


# ---- without a browser ----

class Visitor:
    """A logged-in client that can lie."""

    def __init__(self, server, login="sa", password=None):
        self.server = server
        status, body, headers = get(server, "/api/login", "POST", json.dumps({"login": login, "password": password or server.password}), {"Content-Type": "application/json"})
        assert status == 200, body
        self.me = json.loads(body)
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def get(self, path):
        status, body, _ = get(self.server, path, headers={"Cookie": self.cookie})
        return status, body

    def post(self, path, body, **headers):
        given = {"Cookie": self.cookie, "Content-Type": "application/json", "X-Procession-Token": self.me["token"], **{k.replace("_", "-"): v for k, v in headers.items()}}
        status, text, _ = get(self.server, path, "POST", body if isinstance(body, (str, bytes)) else json.dumps(body), {k: v for k, v in given.items() if v is not None})
        return status, text


def test_forged_requests_are_refused(web):
    v = Visitor(web)
    body = {"name": "forged", "password": "forged-Password1"}
    assert v.post("/api/login_add", body, X_Procession_Token=None)[0] == 403
    assert v.post("/api/login_add", body, X_Procession_Token="0" * 64)[0] == 403
    assert v.post("/api/login_add", body, Content_Type="text/plain")[0] == 403
    assert v.post("/api/login_add", body, Sec_Fetch_Site="cross-site")[0] == 403
    assert v.post("/api/login_add", body, Cookie="procession=" + "0" * 64)[0] == 401
    assert get(web, "/api/login_add?name=forged&password=forged-Password1", headers={"Cookie": v.cookie})[0] == 404
    assert "forged" not in v.get("/api/logins")[1]
    assert v.post("/api/login_add", body)[0] == 200
    assert "forged" in v.get("/api/logins")[1]


@no_store
def test_failed_logins_are_held_back_more_and_more(new_server):
    """By the server's own throttle: 0.1 s after the first failure, 1.6 s after the fifth."""
    server = new_server(settings={"http": "127.0.0.1:0"})
    for _ in range(5):
        began = time.monotonic()
        status, _, _ = get(server, "/api/login", "POST", json.dumps({"login": "sa", "password": "wrong"}), {"Content-Type": "application/json"})
        assert status == 403
    assert time.monotonic() - began >= 1.6


def test_who_is_disabled_is_out_at_once(web):
    sql(web, "master", "EXEC procession_login_add 'brief', 'brief-Password1'")
    v = Visitor(web, "brief", "brief-Password1")
    assert v.get("/api/me")[0] == 200
    sql(web, "master", "EXEC procession_login_disable 'brief'")
    assert v.get("/api/me")[0] == 401


def test_a_visitor_is_a_session_that_can_be_ended(web):
    v = Visitor(web)
    assert [row[0] for row in rows(web, "master", f"SELECT program_name FROM sys.dm_exec_sessions WHERE session_id = {v.me['session']}")] == ["dashboard"]
    sql(web, "master", f"KILL {v.me['session']}")
    assert v.get("/api/me")[0] == 401


def test_the_right_monitor_shows_all_sessions_here_as_over_tds(web):
    sql(web, "master", "EXEC procession_login_add 'watcher', 'watcher-Password1'; EXEC procession_login_add 'nobody', 'nobody-Password1'",
        "EXEC procession_grant 'watcher', 'master', 'monitor'")
    with Wire(web).login(database="StateService", app="seen by watchers"):
        def programs(login):
            answer = json.loads(Visitor(web, login, f"{login}-Password1").get("/api/sessions")[1])["sets"][0]
            return {row[answer["columns"].index("program_name")] for row in answer["rows"]}
        assert {"seen by watchers", "dashboard"} <= programs("watcher")
        assert "seen by watchers" in {row[0] for row in rows(web, "master", "SELECT program_name FROM sys.dm_exec_sessions", login=("watcher", "watcher-Password1"))}
        assert programs("nobody") == {"dashboard"}


def logins_by_outcome(server):
    return {outcome: int(n) for outcome, n in re.findall(r'^procession_logins_total\{outcome="(\w+)"\} (\d+)$', get(server, "/metrics")[1], re.M)}


@no_store
def test_logins_are_counted_and_their_lines_can_be_switched_off(new_server):
    server = new_server(settings={"http": "127.0.0.1:0"}, config={"log_logins": "off"})
    before = logins_by_outcome(server)
    Visitor(server)
    for password in ("wrong", "false"):
        assert get(server, "/api/login", "POST", json.dumps({"login": "sa", "password": password}), {"Content-Type": "application/json"})[0] == 403
    after = logins_by_outcome(server)
    assert {k: after[k] - before[k] for k in after} == {"accepted": 1, "refused": 2, "throttled": 0, "failed": 0}
    server.wait_log("event=login_failed .*program=dashboard")
    assert "event=login " not in server.log()


def test_values_are_values_not_text(web):
    v = Visitor(web)
    for bad in ("1; EXEC procession_login_list", "' OR 1=1 --", "1e400", "99999999999999999999"):
        status, body, _ = get(web, "/api/job?" + "db=WordAutomation&id=" + bad.replace(" ", "%20").replace("'", "%27").replace(";", "%3B"), headers={"Cookie": v.cookie})
        assert status == 400, body
    for body in ("", "[]", "{", '{"a":{}}', '{"a":1.5}', '{"a b":1}', '{"a":1,"a":2}', b"\xff\xfe", "[" * 5000, json.dumps({f"a{n}": n for n in range(100)})):
        assert v.post("/api/cancel", body)[0] == 400
    assert v.post("/api/kill", {"session": "1; KILL 51"})[0] == 400
    still_serves(web)


def test_state_never_tells_what_is_in_it(web):
    v = Visitor(web)
    for view in ("state", "state_expirations", "state_locks"):
        status, body = v.get(f"/api/{view}?db=StateService")
        assert status == 200 and "session-" not in body and "abab" not in body


@no_store
def test_under_https_the_cookie_is_secure(new_server):
    import ssl
    server = new_server(settings={"http": "0.0.0.0:0"})
    context = ssl.create_default_context(cafile=server.certificate)
    context.check_hostname = False
    connection = http.client.HTTPSConnection("127.0.0.1", address(server)[2], timeout=60, context=context)
    connection.request("POST", "/api/login", json.dumps({"login": "sa", "password": server.password}), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 200 and "; Secure" in answer.headers["Set-Cookie"]
    answer.read()
    connection.close()


def test_all_pages_together_are_small():
    folder = pathlib.Path(__file__).resolve().parents[2] / "src" / "http" / "web"
    assert sum(f.stat().st_size for f in folder.iterdir()) < 150 * 1024
