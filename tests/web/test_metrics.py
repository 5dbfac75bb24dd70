"""/metrics: what promtool says of it, that it agrees with procession_stats, and that a real Prometheus reads it."""
import http.client
import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.parse

import pytds
import pytest

from support.server import Server, command_binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES, DEFINED = ROOT / "packaging/prometheus", ROOT / "src/metrics/families.def"


@pytest.fixture(scope="module")
def server():
    with Server(settings={"http": "127.0.0.1:0"}) as s:
        yield s


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer.read().decode()


def http_port(server):
    return int(re.search(r"https?://.+:(\d+)/", "\n".join(server.stdout_lines)).group(1))


def metrics(server):
    return get(http_port(server), "/metrics")


def state(server):
    return pytds.connect("127.0.0.1", port=server.port, user="sa", password=server.password, database="StateService", autocommit=True, login_timeout=120)


def test_promtool_has_no_complaint(server):
    with state(server) as c:
        c.cursor().execute("EXEC proc_AddItem 'a', 0x01, 20")
    done = subprocess.run(["promtool", "check", "metrics"], input=metrics(server), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_text_and_procedure_agree(server):
    with state(server) as c, c.cursor() as k:
        for i in range(5):
            k.execute(f"EXEC proc_AddItem 'agree{i}', 0x01, 20")
        k.execute("EXEC procession_stats @buckets = 1")
        told = {(r[0], r[2], r[3]): r[4] for r in k.fetchall() if r[1] == "StateService" and r[2]}
    text = {}
    for name, procedure, le, value in re.findall(r'^(\w+)\{database="StateService",procedure="(\w+)"(?:,le="([^"]+)")?\} (\S+)$', metrics(server), re.M):
        text[name, procedure, le or None] = float(value)
    assert told["procession_calls_total", "proc_AddItem", None] >= 5
    assert text.keys() == told.keys()
    assert all(text[k] == pytest.approx(told[k], rel=1e-9) for k in told)


# Whoever asks is a session, a connection and some memory more.
MOVING = ("uptime_seconds", "sessions", "connections", "memory_used_bytes")


def by_status(server):
    """What `procession status` tells, by (name, database, label)."""
    command = [str(command_binary()), "--server", server.address, "--password-file", str(server.dir / "password"), "--json", "status"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    return {(n["name"], n["database"], n["label"]): n["value"] for n in answer["numbers"] if n["name"] not in MOVING}


def by_text(server):
    found = re.findall(r'^procession_(\w+?)(?:\{(?:database="(\w+)")?,?(?:state="(\w+)")?\})? (\S+)$', metrics(server), re.M)
    return {(name, database or None, label or None): int(float(value)) for name, database, label, value in found}


def by_procedure(server):
    with state(server) as c, c.cursor() as k:
        k.execute("EXEC procession_stats")
        return {(r[0].removeprefix("procession_"), r[1], r[3]): int(r[4]) for r in k.fetchall() if r[2] is None}


def test_status_tells_the_same(server):
    """The third way, at a moment in which nothing happens; and of something: items, bytes and locks, a document that waits."""
    with state(server) as c, c.cursor() as k:
        for i in range(3):
            k.execute(f"EXEC proc_AddItem 'same{i}', 0x010203, 20")
        k.execute("DECLARE @d varbinary(max), @c int, @l bit, @a int EXEC proc_GetItemWithLock 'same0', @d OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT")
        items, held = rows_of(k, "SELECT COUNT(*), SUM(Bytes) FROM dbo.Items")[0]
        k.execute("USE WordAutomation")
        k.execute("EXEC proc_AddJob @JobId = 1, @Settings = N'<x/>'")
        k.execute("EXEC proc_AddGroup @JobId = 1, @GroupId = 1, @MaxAttemptsCount = 2, @JobXml = N'<group "
                  "xmlns=\"http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd\"><item id=\"1\" in=\"a\" out=\"b\"/></group>'")
        k.execute("EXEC proc_SubmitJob @JobId = 1")
    deadline = time.monotonic() + 60
    while True:
        told = by_status(server)
        others = [{key: numbers.get(key) for key in told} for numbers in (by_procedure(server), by_text(server))]
        if others == [told, told] and ("job_items", "WordAutomation", "waiting") in told:
            break
        assert time.monotonic() < deadline, (told, others)
        time.sleep(0.1)
    assert told["job_items", "WordAutomation", "waiting"] == 1
    assert [told[f"state_{what}", "StateService", None] for what in ("items", "bytes", "locks")] == [items, held, 1]
    assert {name for name, _, _ in told} >= {"queue_length", "database_file_bytes", "wal_bytes", "memory_limit_bytes", "connections_limit", "scheduled_jobs"}


def rows_of(cursor, text):
    cursor.execute(text)
    return cursor.fetchall()


def test_every_number_is_told_in_every_way(server):
    """Which there are, in families.def; what each is at a moment, the tests of that number say."""
    families = {name: kind for kind, name in re.findall(r'^FAMILY\(\w+, (\w+),\s+"(\w+)"', DEFINED.read_text(), re.M)}
    with state(server) as c, c.cursor() as k:
        k.execute("EXEC proc_AddItem 'told', 0x01, 20")
        deadline = time.monotonic() + 60        # what is in the databases is counted once after the start
        while True:
            k.execute("EXEC procession_stats")
            told = {row[0] for row in k.fetchall()}
            if {"procession_state_items", "procession_job_items", "procession_scheduled_jobs"} <= told:
                break
            assert time.monotonic() < deadline, told
            time.sleep(0.05)
        k.execute("SELECT DISTINCT name FROM sys.procession_numbers")
        viewed = {row[0] for row in k.fetchall()}
    text = set(re.findall(r"^# TYPE (\w+) ", metrics(server), re.M))
    assert families.keys() == text
    assert told == viewed == {name + end for name in text for end in (("_count", "_sum") if families[name] == "HISTOGRAM" else ("",))}


def test_alert_rules_fire_when_they_should():
    for what in (["check", "rules", "procession.rules.yml"], ["test", "rules", "procession.rules.test.yml"]):
        done = subprocess.run(["promtool", *what], cwd=RULES, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def scraped(tmp_path, config):
    """What a real Prometheus with this configuration knows of the server's build."""
    port, file = free_port(), tmp_path / "prometheus.yml"
    file.write_text(config)
    with open(tmp_path / "log", "wb") as log:
        prometheus = subprocess.Popen(["prometheus", f"--config.file={file}", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"],
                                      stdout=log, stderr=log)
    try:
        query = "/api/v1/query?query=" + urllib.parse.quote('procession_build_info{job="procession"}')
        deadline = time.monotonic() + 120
        while True:
            try:
                result = json.loads(get(port, query))["data"]["result"]
            except (OSError, AssertionError, http.client.HTTPException):     # it has not started yet
                result = []
            if result:
                return result[0]["value"][1]
            assert time.monotonic() < deadline and prometheus.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.2)
    finally:
        prometheus.terminate()
        prometheus.wait()


def documented():
    """The examples of the guide, with the rules: on this machine, and from another one."""
    text = (ROOT / "docs/operate.md").read_text().split("\n## Prometheus\n", 1)[1]
    return [f"global: {{scrape_interval: 1s}}\nrule_files: [{RULES}/procession.rules.yml]\n{example}" for example in re.findall(r"```yaml\n(.*?)```", text, re.S)]


def test_prometheus_scrapes_it(server, tmp_path):
    local, _ = documented()
    assert scraped(tmp_path, local.replace("localhost:8433", f"127.0.0.1:{http_port(server)}")) == "1"


def test_prometheus_scrapes_it_from_another_machine(tmp_path):
    with Server(settings={"http": "0.0.0.0:0"}) as server:
        with state(server) as c:
            c.cursor().execute("EXEC procession_login_add 'watcher', 'watcher-Password1'; EXEC procession_grant 'watcher', 'master', 'monitor'")
        (tmp_path / "password").write_text("watcher-Password1\n")
        _, remote = documented()
        for documented_as, here in (("/etc/prometheus/procession-password", tmp_path / "password"), ("/etc/prometheus/procession.crt", server.data / "server.crt"),
                                    ("server_name: db1.example.org", "server_name: localhost"), ("db1.example.org:8433", f"127.0.0.1:{http_port(server)}")):
            assert documented_as in remote
            remote = remote.replace(documented_as, str(here))
        assert scraped(tmp_path, remote) == "1"
