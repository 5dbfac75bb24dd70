"""Servers that are away, slow, ahead of time or foreign, and connections that break at the worst moment."""
import datetime
import signal

import pytest

from jobserver import ClockJobServer, moment
from proxy import COLUMNS
from schedulerprogram import PROFILES, Scheduler, utc, wait_until
from test_scheduler_rules import some_rounds

ID = "B00AE9A1-0474-474E-B348-F6A8BCC95331"
OTHER = "B00AE9A1-0474-474E-B348-F6A8BCC95332"
DL = PROFILES + "DLImportJob"


# --- a foreign server of other column order: the real one, its columns moved on the way


def test_columns_may_come_in_any_order_with_others_between(server, proxy, scheduler):
    proxy.columns = ["Extra", *COLUMNS[::-1], "More"]
    server.add(ID, DL, utc(-1), "daily at 01:00:00", name="n")
    server.add(OTHER, DL, utc(-1), data="")
    with scheduler() as s:
        runs = {run["ID"]: run for run in s.wait_runs(2)}
    assert runs[ID]["CLASS"] == DL and runs[ID]["DISPLAY_NAME"] == "n" and runs[ID]["RECURRENCE"] == "daily at 01:00:00"
    assert runs[OTHER]["DISPLAY_NAME"] == "" and runs[OTHER]["RECURRENCE"] == ""


@pytest.mark.parametrize("name", COLUMNS)
def test_a_missing_column_takes_nothing_and_is_told(server, proxy, scheduler, name):
    proxy.columns = [c for c in COLUMNS if c != name]
    server.add(ID, DL, utc(-1))
    with scheduler() as s:
        s.wait_log(f"round-failed.*no column {name}")
        assert ID in server.jobs() and s.runs() == []       # nothing was lost
        proxy.columns = None
        assert s.wait_runs(1)[0]["ID"] == ID


def test_a_row_that_cannot_be_read_is_told_and_not_lost(server, proxy, scheduler):
    """Its Disabled is a text. Nobody knows whether it runs once and went with the answer: nothing is committed that could lose it."""
    proxy.columns = ["Disabled=DisplayName" if c == "Disabled" else c for c in COLUMNS]
    server.add(ID, DL, utc(-1), name="perhaps")
    server.add(OTHER, DL, utc(-1), name="0")
    with scheduler() as s:
        s.wait_log("row-unreadable.*'perhaps' is no value of Disabled.*" + ID)
        assert [r["ID"] for r in s.wait_runs(1)] == [OTHER]
        some_rounds(proxy)
        assert set(server.jobs()) == {ID}
        proxy.columns = None
        assert s.wait_runs(2)[1]["ID"] == ID


# --- connections that break


@pytest.mark.parametrize("lose", ["before", "after"])
@pytest.mark.parametrize("recurrence", [None, "daily at 01:00:00"])
def test_a_lost_answer_to_the_commit_neither_loses_nor_repeats(server, proxy, scheduler, lose, recurrence):
    server.add(ID, DL, utc(-1), recurrence)
    proxy.lose_commit = lose
    with scheduler() as s:
        s.wait_runs(1)
        s.wait_log("event=doubt.*" + ("still due" if lose == "before" else "it runs"))
        some_rounds(proxy)
    assert len(s.runs()) == 1
    assert [h["outcome"] for h in s.history()] == ["ok"]       # not even taken twice and skipped


def test_in_doubt_skip_drops_what_somebody_else_may_have_taken(server, proxy, scheduler):
    server.add(ID, DL, utc(-1), "daily at 01:00:00")
    proxy.lose_commit = "after"
    with scheduler(config="in_doubt = skip") as s:
        s.wait_log("event=doubt.*skip")
        some_rounds(proxy)
    assert s.runs() == []


# --- servers that are away, slow, or live in the future


def test_a_server_that_is_away_costs_no_occurrence(server, scheduler):
    server.add(ID, DL, utc(-1))
    server.stop()
    with scheduler(address=server.address) as s:
        s.wait_log("round-failed.*again_ms=1000")
        server.start()
        assert s.wait_runs(1)[0]["ID"] == ID
        due = utc(2.5)
        server.add(OTHER, DL, due, "hourly at 00")
        server.stop()
        s.wait_log("(?s)connected.*round-failed")
        wait_until(lambda: datetime.datetime.utcnow() > moment(due))       # it falls due while the server is away
        server.start()
        assert s.wait_runs(2)[1]["ID"] == OTHER
    assert len(s.runs()) == 2


def test_questions_become_rarer_while_the_server_is_away(server, scheduler):
    server.stop()
    with scheduler(address=server.address, interval=3) as s:
        s.wait_log("(?s)again_ms=1000.*again_ms=2000.*again_ms=3000.*again_ms=3000")      # twice as long each time, but no longer than the interval
        server.start()
        s.wait_log("event=connected")


def test_a_slow_server_does_not_delay_what_was_taken(server, proxy, scheduler):
    """The answers of all later rounds stay on the way until the handler has run."""
    server.add(ID, DL, utc(3.2))
    with scheduler(interval=4) as s:
        s.wait_log("event=taken")
        wait_until(lambda: proxy.rounds)
        proxy.hold()
        s.wait_runs(1)
        proxy.release()
        some_rounds(proxy, 1)


def test_a_stopped_server_process_does_not_delay_what_was_taken(server, scheduler):
    """Not even when the machine of the server hangs in the middle of a round."""
    server.add(ID, DL, utc(4))
    with scheduler(address=server.address, interval=5) as s:
        wait_until(lambda: (s.folder / "state" / "journal").exists() and s.journal().startswith("waits"))
        server.signal(signal.SIGSTOP)
        try:
            s.wait_runs(1)
        finally:
            server.signal(signal.SIGCONT)


def test_a_server_whose_clock_is_ahead_gets_a_time_it_accepts(tmp_path, plain_clock):
    start = datetime.datetime.utcnow() + datetime.timedelta(seconds=200)
    with ClockJobServer(start=start) as server:
        server.add(ID, DL, utc(-1), "every 30 seconds")
        with Scheduler(tmp_path, server.address, server.dir / "password") as s:
            s.wait_runs(1)
            s.wait_log("refresh-refused.*same time")
            s.wait_history(1)
        assert len(s.runs()) == 1 and server.jobs()[ID]["NextDueTime"] > start
