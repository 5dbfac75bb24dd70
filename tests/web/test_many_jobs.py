"""The page Jobs before very many jobs: each question looks at a bounded number of them, and a search goes on from there."""
import json
import re
import sqlite3
import uuid

import pytest

from dashboard import available, browse
from support.server import Server
from support.store import sqlite_only
from support.wire import Wire
from test_dashboard import Visitor, url
from test_health import get

pytestmark = sqlite_only("the jobs are written into the file: a million of them by calls takes minutes")
WINDOW = 20000
PARTITION = uuid.UUID("93572c0a-d9e1-1395-dab3-932eac7ba30c")


def write_jobs(server, n):
    """Jobs 1 to n, all of them finished, the newest with two items each, one of which failed; job 5 is the needle, 7 has a partition, 3 is old. The
    server is stopped meanwhile."""
    server.stop()
    numbers = f"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {n}) "
    with sqlite3.connect(server.data / "WordAutomation.db") as file:
        file.execute("PRAGMA synchronous = off")
        file.execute(f"{numbers} INSERT INTO job (n, id, created, canceled, submitted, part, open) SELECT i, i, 1200000000000 + i, NULL, 1, NULL, 0 FROM c")
        file.execute(f"{numbers} INSERT INTO job_text (n, name) SELECT i, CASE WHEN i = 5 THEN 'Needle' ELSE 'Hay ' || i END FROM c")
        file.execute("UPDATE job SET part = ? WHERE id = 7", (PARTITION.bytes_le,))
        file.execute("UPDATE job SET created = 900000000000 WHERE id = 3")      # 1995
        file.execute(f"{numbers} INSERT INTO item (n, grp, id, started, stopped, attempts, error) SELECT i, 1, 1, 1200000000000, 1200000000000, 1, NULL FROM c WHERE i > {n} - 100000")
        file.execute(f"{numbers} INSERT INTO item (n, grp, id, started, stopped, attempts, error) SELECT i, 1, 2, 1200000000000, 1200000000000, 0, 4 + i % 3 FROM c WHERE i > {n} - 100000")
        file.execute("INSERT INTO item_text (n, grp, id, input) SELECT n, grp, id, 'document' FROM item")
    file.close()
    server.start()


def many(n):
    made = Server(settings={"http": "127.0.0.1:0", "sweep_interval": 0}).start()
    write_jobs(made, n)
    return made


def processor_seconds(server):
    return float(re.search(r"^process_cpu_seconds_total (\S+)$", get(server, "/metrics")[1], re.M).group(1))


def window(visitor, view, **args):
    """(the jobs that fit, low, looked, more)"""
    status, body = visitor.get(f"/api/{view}?db=WordAutomation&" + "&".join(f"{k}={v}" for k, v in args.items()))
    assert status == 200, body
    found, end = json.loads(body)["sets"]
    return [row[0] for row in found["rows"]], *end["rows"][0]


def walk(visitor, view, **args):
    """Looks through all windows: what fits, and how many jobs were looked at in each."""
    found, looks, before = [], [], {}
    while True:
        jobs, low, looked, more = window(visitor, view, **args, **before)
        found += jobs
        looks.append(looked)
        if not more:
            return found, looks
        before = {"before": low}


@pytest.mark.skipif(available() is not None, reason=str(available()))
def test_a_search_goes_on_until_it_has_found():
    server = many(150000)
    try:
        assert browse("searchOn", url(server), password=server.password) == "120,000 jobs were looked through, back to job 30001."
    finally:
        server.stop()
        server.remove()


def test_each_question_looks_at_few_of_a_million_jobs():
    server = many(1000000)
    try:
        v = Visitor(server)
        for view, args, fits in (("jobs_any", {"name": "%25Needle%25"}, [5]), ("jobs_any", {"partition": PARTITION}, [7]), ("jobs_any", {"until": "2010-01-01"}, [3]),
                                 ("jobs_any", {"partition": PARTITION, "name": "%25Hay%207%25", "since": "2010-01-01"}, [7]),
                                 ("jobs_any", {"since": "2030-01-01"}, []), ("jobs_cancelled", {}, []), ("jobs_active", {}, []), ("jobs_open", {}, [])):
            found, looks = walk(v, view, **args)
            assert found == fits and sum(looks) == 1000000 and max(looks) == WINDOW
        assert window(v, "jobs_finished")[0] == list(range(1000000, 1000000 - 26, -1))
        # The work behind it, in processor time of the server: a window beside the whole table.
        before = processor_seconds(server)
        for _ in range(5):
            assert window(v, "jobs_any", name="%25nothing%25")[:1] == ([],)
        windows = (processor_seconds(server) - before) / 5
        with Wire(server).login(database="WordAutomation") as w:
            before = processor_seconds(server)
            assert w.batch("SELECT COUNT(*) FROM dbo.Jobs WHERE Name LIKE '%nothing%'").ok().rows[0][0] == 0
            whole = processor_seconds(server) - before
        assert windows * 5 < whole, (windows, whole)
        # What the page asks besides: the items of its jobs, and the failures among the newest ones.
        before = processor_seconds(server)
        counts = v.get("/api/job_counts?db=WordAutomation&" + "&".join(f"j{n}={1000000 - n}" for n in range(25)))
        assert counts[0] == 200 and [row[1:] for row in json.loads(counts[1])["sets"][0]["rows"]] == [[2, 2, 2, 1]] * 25
        failures = v.get("/api/failures?db=WordAutomation&since=1900-01-01")
        assert failures[0] == 200 and sum(row[1] for row in json.loads(failures[1])["sets"][0]["rows"]) == WINDOW
        assert processor_seconds(server) - before < whole
    finally:
        server.stop()
        server.remove()
