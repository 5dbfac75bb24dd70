"""Texts that not every store takes by itself: U+0000, lone surrogates, and the last characters of Unicode. They come back as they were, from every
column that keeps a text, and are what they are in comparisons (clarification 17)."""
import datetime
import uuid

import pytest

from support.calls import create_database, open_path

# Python joins no pair here: the first of a pair never stands before a second.
TEXTS = ("\0", "a\0b\0", "\0\0", "\ud800", "\udfff", "x\udc00\ud800y", "\ud83dx", "\U0010f7fd", "\U0010f7fe", "\U0010f7ff", "\U0010f800", "\U0010ffff",
         "\U0010f7fe\U0010f7ff\ud800\0", "\U0001f600\udead\0\U0001f600")
OFFICE = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
CHANGE = "Microsoft.Office.Server.UserProfiles.UserProfileChangeJob"
DUE = datetime.datetime(2130, 1, 31, 1)
GROUP = '<group xmlns="http://schemas.microsoft.com/office/server/{}/databaseJobAdd"><item id="1" in="a" out="b"/></group>'


@pytest.fixture(scope="module")
def conversions(server):
    """One of each kind, with a job for each text that has it wherever it may stand."""
    made = {}
    for service, kind, space in (("word", "WordAutomation", "word/2009/08"), ("translation", "Translation", "translation/2010/11")):
        name = "Texts" + uuid.uuid4().hex[:8]
        create_database(server, name, service)
        with open_path("wire", server, name, kind) as db:
            for n, text in enumerate(TEXTS):
                more = {} if service == "word" else {"UserId": text, "UserToken": b"\1", "PartitionId": uuid.UUID(int=1), "ItemCount": 1, "MaxItemsPerDay": 10**6,
                                                     "MaxItemsPerPartitionPerDay": 10**6}
                assert db.call("proc_AddJob", JobId=n, Settings=text, Name=text, **more).error is None
                assert db.call("proc_AddGroup", JobId=n, GroupId=1, InputRoot=text, OutputRoot=text, MaxAttemptsCount=1,
                               JobXml=GROUP.format(space)).error is None
        made[service] = (name, kind)
    return made


def n_literal(text):
    return "N'" + text + "'"


@pytest.mark.parametrize("service", ("word", "translation"))
def test_jobs_and_groups(server, conversions, service):
    name, kind = conversions[service]
    with open_path("wire", server, name, kind) as db:
        for column, view in (("Settings", "Jobs"), ("Name", "Jobs"), ("InputRoot", "Groups"), ("OutputRoot", "Groups"), *([("UserId", "Jobs")] * (service != "word"))):
            assert [row[0] for row in db.batch(f"SELECT {column} FROM dbo.{view} ORDER BY JobId").rows] == list(TEXTS), column
            for n, text in enumerate(TEXTS):
                assert db.batch(f"SELECT JobId FROM dbo.{view} WHERE {column} = {n_literal(text)}").rows == [(n,)], (column, text)
                assert db.batch(f"SELECT LEN({column}) FROM dbo.{view} WHERE JobId = {n}").rows == [(len(text.encode('utf-16-le', 'surrogatepass')) // 2,)]


def test_they_are_in_one_order(server, conversions):
    """That of the characters, whatever they are stored as; on every store the same."""
    name, kind = conversions["word"]
    with open_path("wire", server, name, kind) as db:
        shown = [row[0] for row in db.batch("SELECT Name FROM dbo.Jobs ORDER BY Name").rows]
        assert sorted(shown) == sorted(TEXTS)
        assert shown[:3] == ["\0\0", "\0", "a\0b\0"] or shown[:3] == ["\0", "\0\0", "a\0b\0"]
        assert shown.index("\ud800") < shown.index("\udfff") < shown.index("\U0001f600\udead\0\U0001f600") < shown.index("\U0010f7fd")


@pytest.mark.parametrize("text", TEXTS)
def test_scheduled_jobs_and_their_runs(server, text):
    key = uuid.uuid4()
    with open_path("wire", server, "ScheduledJobs") as db:
        added = db.call("proc_MIP_AddScheduledJob", JobId=key, Assembly=OFFICE, Class=CHANGE, Recurrence="daily at 01:00:00", JobData=None, NextDueTime=DUE,
                        Disabled=0, DisplayName=text)
        assert added.status == 0, added.infos[0][2]
        assert db.batch(f"SELECT DisplayName FROM dbo.ScheduledJobs WHERE JobId = '{key}' AND DisplayName = {n_literal(text)}").rows == [(text,)]
        told = db.batch(f"EXEC procession_run_ended @JobId = '{key}', @DueTime = '2030-01-31', @StartTime = '2030-01-31', @EndTime = '2030-01-31', "
                        f"@Outcome = {n_literal(text)}, @ExitStatus = 0, @DisplayName = {n_literal(text)}, @Scheduler = {n_literal(text)}")
        assert told.error is None, told
        assert db.batch(f"SELECT Outcome, DisplayName, Scheduler FROM dbo.Runs WHERE JobId = '{key}'").rows == [(text, text, text)]
        # other tests read this database with drivers that refuse lone surrogates
        assert db.call("proc_MIP_RemoveScheduledJob", JobId=key).status == 0


def test_identifiers_of_items(server):
    """They are of code page 1252, which has U+0000 and no surrogates."""
    with open_path("wire", server, "StateService") as db:
        keys = [uuid.uuid4().hex + text for text in ("\0", "\0\0", "a\0b", "\0a", "ÿ\0")]
        for key in keys:
            assert db.call("proc_AddItem", id=key, item=key.encode(), timeout=20).error is None
            assert db.call("proc_AddItem", id=key, item=b"again", timeout=20).error == 2627
        for key in keys:
            got = db.call("proc_GetItemWithLock", id=key)
            assert (got.out["item"], got.out["locked"]) == (key.encode(), False)
            assert db.batch(f"SELECT Id, Locked FROM dbo.Items WHERE Id = {n_literal(key)}").rows == [(key, True)]
            assert db.call("proc_GetItemWithLock", id=key + "\0\0\0").error is None
            assert db.call("proc_DeleteItem", id=key, lockCookie=got.out["lockCookie"]).error is None
