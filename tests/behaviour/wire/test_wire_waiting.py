"""procession_wait_for_work: who waits is woken by those who bring work, misses nothing, and can be stopped at any moment."""
import itertools
import signal
import time

import pytest

from support import wire as tds
from support.server import Server
from support.wire import Wire

JOBS = itertools.count(int(time.time()) * 1000)
LONG = 60000        # ms: whoever waits that long was not woken
SPACES = {"WordAutomation": "word/2009/08", "Translation": "translation/2010/11"}


def add_job(w, job):
    translation = ", @UserToken = 0x00, @ItemCount = 1" if w.batch("SELECT DB_NAME()").value == "Translation" else ""
    space = f"http://schemas.microsoft.com/office/server/{SPACES[w.batch('SELECT DB_NAME()').value]}/databaseJobAdd"
    w.batch(f"EXEC proc_AddJob @JobId = {job}, @Settings = N'x'{translation}").ok()
    w.batch(f"EXEC proc_AddGroup @JobId = {job}, @GroupId = 1, @InputRoot = N'a', @OutputRoot = N'b', @MaxAttemptsCount = 3, "
            f"@JobXml = N'<group xmlns=\"{space}\"><item id=\"1\" in=\"i\" out=\"o\"/></group>'").ok()


def text(seen, ms=LONG):
    return f"DECLARE @n int EXEC @n = procession_wait_for_work @Milliseconds = {ms}, @Seen = {seen} SELECT @n"


def number(w):
    return w.batch(text("NULL")).value


def doing(admin, spid):
    columns, rows = admin.batch("EXEC sp_who").ok().results[0]
    names = [c.name for c in columns]
    return [row[names.index("cmd")].strip() for row in rows if row[names.index("spid")] == spid]


def begin_to_wait(waiter, admin):
    seen = number(waiter)
    waiter.send_message(tds.BATCH, tds.batch_body(text(seen)))
    while doing(admin, waiter.spid) != ["WAITFOR"]:
        time.sleep(0.01)
    return seen


@pytest.fixture(params=SPACES)
def pair(request, server, witness):
    """A session that waits, and one that brings work, in the same database."""
    with Wire(server).login(database=request.param) as waiter, Wire(server).login(database=request.param) as other:
        yield waiter, other


def test_who_waits_is_woken(pair):
    waiter, other = pair
    job = next(JOBS)
    add_job(other, job)
    seen = begin_to_wait(waiter, other)
    other.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
    assert waiter.answer(tds.BATCH).value != seen


def test_an_item_that_waits_again_wakes_too(pair):
    waiter, other = pair
    job = next(JOBS)
    add_job(other, job)
    other.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
    seen = begin_to_wait(waiter, other)
    other.batch(f"EXEC proc_UpdateFailedItem @JobId = {job}, @GroupId = 1, @ItemId = 1, @NoRetry = 0, @ErrorCode = 1").ok()
    assert waiter.answer(tds.BATCH).value != seen


def test_nothing_is_missed_between_two_calls(pair):
    waiter, other = pair
    job = next(JOBS)
    add_job(other, job)
    seen = number(waiter)
    other.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
    begun = time.monotonic()
    assert waiter.batch(text(seen)).value != seen
    assert time.monotonic() - begun < LONG / 2000


def test_a_transaction_wakes_with_its_commit(pair):
    waiter, other = pair
    jobs = [next(JOBS), next(JOBS)]
    for job in jobs:
        add_job(other, job)
    seen = number(waiter)
    other.batch(f"BEGIN TRAN EXEC proc_SubmitJob @JobId = {jobs[0]}").ok()
    assert waiter.batch(text(seen, 1)).value == seen
    other.batch("ROLLBACK").ok()
    assert waiter.batch(text(seen, 1)).value == seen
    other.batch(f"BEGIN TRAN EXEC proc_SubmitJob @JobId = {jobs[1]}").ok()
    other.batch("COMMIT").ok()
    assert waiter.batch(text(seen)).value != seen


def test_the_time_ends_it(pair):
    waiter, _ = pair
    seen = number(waiter)
    begun = time.monotonic()
    assert waiter.batch(text(seen, 150)).value == seen
    assert time.monotonic() - begun >= 0.15
    assert waiter.batch("SELECT 1").value == 1


def test_work_for_another_database_wakes_nobody_here(server, witness):
    with Wire(server).login(database="WordAutomation") as word, Wire(server).login(database="Translation") as translation:
        job = next(JOBS)
        add_job(translation, job)
        seen, elsewhere = number(word), number(translation)
        translation.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
        assert number(translation) != elsewhere
        assert word.batch(text(seen, 1)).value == seen


def test_an_attention_ends_it(pair):
    waiter, other = pair
    begin_to_wait(waiter, other)
    waiter.attention()
    first = waiter.answer(tds.BATCH, check=False)
    assert first.last.status & tds.ERROR and not first.results
    waiter.acknowledgement()
    job = next(JOBS)                    # who has left is not rung
    add_job(other, job)
    other.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
    assert waiter.batch("SELECT 2").value == 2


def test_those_who_go_while_they_wait(server, witness, pair):
    """A lost connection, and KILL, while the bell rings."""
    _, other = pair
    database = other.batch("SELECT DB_NAME()").value
    for killed in False, True:
        for _ in range(5):
            leaver = Wire(server).login(database=database)
            begin_to_wait(leaver, other)
            job = next(JOBS)
            add_job(other, job)
            spid = leaver.spid
            if killed:
                other.send_message(tds.BATCH, tds.batch_body(f"EXEC proc_SubmitJob @JobId = {job} KILL {spid}"))
            leaver.close()
            if killed:
                other.answer(tds.BATCH, check=False)
            else:
                other.batch(f"EXEC proc_SubmitJob @JobId = {job}").ok()
    assert other.batch("SELECT 1").value == 1


def test_refusals(pair):
    waiter, _ = pair
    assert waiter.batch("EXEC procession_wait_for_work @Milliseconds = 60001").errors[0].number == 50003
    waiter.batch("BEGIN TRAN").ok()
    refused = waiter.batch("EXEC procession_wait_for_work @Milliseconds = 1").errors[0]
    assert refused.number == 50008 and "transaction" in refused.text
    waiter.batch("ROLLBACK").ok()


def test_the_server_stops_although_somebody_waits():
    with Server() as server, Wire(server).login(database="WordAutomation") as waiter, Wire(server).login() as other:
        begin_to_wait(waiter, other)
        begun = time.monotonic()
        server.signal(signal.SIGTERM)
        server.process.wait(LONG)
        assert time.monotonic() - begun < LONG / 2000       # neither the wait nor the drain's limit was waited for
