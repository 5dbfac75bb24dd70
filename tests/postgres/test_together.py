"""Calls that come at once go to PostgreSQL as one statement, where the declaration says how (TOGETHER), and in pipelines: nobody gets what is
another's, and no two get what one can have.

To make them come at once somebody holds the gate (or a table) until all of them wait.
"""
import contextlib
import time

import pytest

from support.calls import open_path
from support.server import Server

from test_servers import at_once

CLIENTS = 24


@pytest.fixture(scope="module")
def server(pg):
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute("CREATE DATABASE together")
        connection.cursor().execute("ALTER DATABASE together SET track_functions = 'pl'")
    with Server(settings={"engine": "postgres", "postgres": pg.conninfo("together")}) as made:
        yield made


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def running(stats):
    """Sessions whose calls the server has, and has not answered; that of the question is one."""
    return sum(int(r["value"]) for r in stats.batch("EXEC procession_stats").dicts() if r["name"] == "procession_sessions" and r["label"] == "running")


def held_up(pg, server, database, clients, functions, name="together"):
    """All functions at once, each with its client, while somebody holds the gate; gives their answers. There are fewer connections to PostgreSQL than
    calls: those that are behind the gate, and those that wait for them, make groups."""
    with contextlib.closing(pg.connect(name)) as connection, open_path("wire", server, "ScheduledJobs") as stats:
        connection.autocommit = False
        connection.cursor().execute(f"LOCK TABLE procession_{database.lower()}.gate IN ACCESS EXCLUSIVE MODE")

        def release():
            until(lambda: running(stats) > len(clients))
            connection.rollback()

        return at_once([*(lambda c=c, f=f: f(c) for c, f in zip(clients, functions)), release])[:-1]


def times_together(pg, procedure, name="together"):
    """How often the statement for many calls has run so far. Sessions tell of it a second late."""
    with contextlib.closing(pg.connect(name)) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE funcname = %s", [procedure + " together"])
        return cursor.fetchone()[0]


@contextlib.contextmanager
def clients_of(server, database):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(open_path("wire", server, database)) for _ in range(CLIENTS)]


def test_one_of_many_gets_the_lock_and_everybody_his_own_item(pg, server):
    """24 clients want the locks of seven items, one of them large, and of one that is not there; some with blanks behind the name."""
    names = [f"item-{k}" for k in range(7)]
    with clients_of(server, "StateService") as clients:
        for k, name in enumerate(names):
            clients[0].call("proc_AddItem", id=name, item=bytes([k]) * (200000 if k == 6 else 10), timeout=20)
        wanted = [(names + ["nobody"])[i % 8] for i in range(CLIENTS)]
        got = held_up(pg, server, "StateService", clients,
                      [lambda c, n=n, i=i: c.call("proc_GetItemWithLock", id=n + " " * (i // 8)) for i, n in enumerate(wanted)])
        for k, name in enumerate(names):
            answers = [g.out for g, w in zip(got, wanted) if w == name]
            assert sorted(a["locked"] for a in answers) == [False, True, True]
            assert [a["item"] for a in answers if not a["locked"]] == [bytes([k]) * (200000 if k == 6 else 10)]
            assert {a["lockCookie"] for a in answers} == {2}
        assert all(g.out["locked"] is None and g.out["item"] is None for g, w in zip(got, wanted) if w == "nobody")
        # every holder stores something of his own, at once; those who do not hold a lock change nothing
        stored = held_up(pg, server, "StateService", clients,
                         [lambda c, n=n, i=i: c.call("proc_UpdateItem", id=n, item=b"by %d" % i, timeout=20, lockCookie=2 if i < 8 else 7)
                          for i, n in enumerate(wanted)])
        assert all(s.error is None and s.status == 0 for s in stored)
        read = held_up(pg, server, "StateService", clients, [lambda c, n=n: c.call("proc_GetItemWithoutLock", id=n) for n in wanted])
        assert [r.out["item"] for r in read] == [None if n == "nobody" else b"by %d" % names.index(n) for n in wanted]
    for name in ("proc_GetItemWithLock", "proc_UpdateItem", "proc_GetItemWithoutLock"):
        until(lambda n=name: times_together(pg, n) > 0)


NAMESPACE = {"WordAutomation": "http://schemas.microsoft.com/office/server/word/2009/08/",
             "Translation": "http://schemas.microsoft.com/office/server/translation/2010/11/"}


def test_items_of_one_job_that_are_done_at_once_are_counted_once(pg, server):
    """Twelve items, each reported by two clients: in the end none is left."""
    before = times_together(pg, "proc_UpdateSucceededItem")
    items = "".join(f'<item id="{i}" in="a" out="b"/>' for i in range(12))
    with clients_of(server, "WordAutomation") as clients:
        first = clients[0]
        assert first.batch("EXEC proc_AddJob 77, NULL, NULL, NULL, NULL, '<settings/>', 'letters'").error is None
        assert first.batch(f"EXEC proc_AddGroup 77, 1, 'in/', 'out/', 2, '<group xmlns=\"{NAMESPACE['WordAutomation']}databaseJobAdd\">{items}</group>'").error is None
        assert first.batch("EXEC proc_SubmitJob 77").error is None
        done = held_up(pg, server, "WordAutomation", clients,
                       [lambda c, i=i: c.call("proc_UpdateSucceededItem", JobId=77, GroupId=1, ItemId=i % 12) for i in range(CLIENTS)])
        assert all(d.error is None and d.status == 0 for d in done)
        with contextlib.closing(pg.connect("together")) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT open FROM procession_wordautomation.job WHERE id = 77")
            assert cursor.fetchone() == (0,)
    until(lambda: times_together(pg, "proc_UpdateSucceededItem") > before)


def test_reads_that_fail_together_leave_nothing_to_those_that_follow(pg, server):
    """A pipeline of reads that PostgreSQL ends (here: it waits too long for a table) is read to its end: the next answers are one's own."""
    with clients_of(server, "WordAutomation") as clients, contextlib.closing(pg.connect("together")) as connection:
        for k in range(3):
            assert clients[0].batch(f"EXEC proc_AddJob {100 + k}, NULL, NULL, NULL, NULL, '<settings/>', 'name {k}'").error is None
        connection.autocommit = False
        cursor = connection.cursor()
        cursor.execute("LOCK TABLE procession_wordautomation.job IN ACCESS EXCLUSIVE MODE")
        log = pg.folder / "log"

        def failures():
            return log.read_text(errors="replace").count("canceling statement due to lock timeout")

        had = failures()

        def release():
            until(lambda: failures() >= had + 3)        # one alone, and a pipeline at least
            connection.rollback()

        got = at_once([*(lambda c=c, k=k: c.call("proc_GetJobStatus", JobId=100 + k % 3, PartitionId=None) for k, c in enumerate(clients)), release])[:-1]
        assert all(g.error in (None, 1222) for g in got), [g.errors for g in got if g.error]
        for k, client in enumerate(clients):
            assert client.call("proc_GetJobStatus", JobId=100 + k % 3, PartitionId=None).dicts()[0]["Name"] == f"name {k % 3}"


def conflicts(stats):
    """Groups that were run again because another one was in the way."""
    counted = {tuple(row[:4]): row[4] for row in stats.batch("EXEC procession_stats").rows}
    return counted["procession_commit_group_retries_total", "StateService", None, "conflict"]


def test_groups_of_one_server_never_meet_at_an_item(pg, server):
    """Everybody wants the same two items, again and again, and some want one of their own: who waits does so here, and nothing is run twice."""
    with clients_of(server, "StateService") as clients, open_path("wire", server, "ScheduledJobs") as stats:
        for k in range(CLIENTS):
            clients[0].call("proc_AddItem", id=f"meeting-{k}", item=b"", timeout=20)
        before = conflicts(stats)

        def hammer(i):
            done = 0
            for n in range(40):
                name = f"meeting-{i if i % 4 == 0 else n % 2}"
                got = clients[i].call("proc_GetItemWithLock", id=name)
                assert got.error is None and got.out["locked"] is not None, got
                if not got.out["locked"]:
                    text = bytes(got.out["item"]) + b"."
                    assert clients[i].call("proc_UpdateItem", id=name, item=text, timeout=20, lockCookie=got.out["lockCookie"]).error is None
                    done += 1
            return done

        stored = sum(at_once([lambda i=i: hammer(i) for i in range(CLIENTS)]))
        assert conflicts(stats) == before
        kept = sum(len(clients[0].call("proc_GetItemWithoutLock", id=f"meeting-{k}").out["item"]) for k in range(CLIENTS))
        assert kept == stored               # every change that was answered is there, once


def test_beside_another_server_a_group_has_no_statements_for_several_procedures(pg):
    """One connection: a call waits at the gate, and those that come meanwhile are one group, of two procedures and too few of each to go by
    themselves. Alone, each procedure is one statement; beside another server they go one by one, in the order of their items."""
    procedures, name = ("proc_GetItemWithoutLock", "proc_UpdateItem"), "mixing"
    with contextlib.closing(pg.connect()) as connection:
        connection.cursor().execute(f"CREATE DATABASE {name}")
        connection.cursor().execute(f"ALTER DATABASE {name} SET track_functions = 'pl'")
    settings = {"engine": "postgres", "postgres": pg.conninfo(name), "postgres_connections": 1}

    def mixed(server):
        """How often the statements for many have run in it."""
        before = [times_together(pg, p, name) for p in procedures]
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(open_path("wire", server, "StateService")) for _ in range(6)]
            for k, c in enumerate(clients):
                c.call("proc_AddItem", id=f"mixed-{k}", item=b"x", timeout=20)
            time.sleep(2)                       # by now each server knows whether there are others
            got = held_up(pg, server, "StateService", clients,
                          [lambda c=c, k=k: c.call("proc_UpdateItem", id=f"mixed-{k}", item=b"y", timeout=20, lockCookie=1) if k % 2 else
                           c.call("proc_GetItemWithoutLock", id=f"mixed-{k}") for k, c in enumerate(clients)], name)
            assert all(g.error is None for g in got)
            time.sleep(1.5)                     # PostgreSQL's session counts once a second, when it has something to do
            for k, c in enumerate(clients):
                c.call("proc_DeleteItem", id=f"mixed-{k}", lockCookie=1)
        time.sleep(0.5)
        return [times_together(pg, p, name) - b for p, b in zip(procedures, before)]

    with Server(settings=settings) as server:
        assert mixed(server) == [1, 1]
        with Server(settings=settings):
            assert mixed(server) == [0, 0]
        until(lambda: mixed(server) == [1, 1])
