"""SELECT on the readable views, what must not be possible with it, and what transactions promise to others."""
import uuid

import pytest

from support.calls import create_database, open_path

GROUP = ('<group xmlns="http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"><item id="1" in="a.docx" out="a.pdf"/><item id="2" in="b.docx"/>'
         '<item id="3" in="c.docx" out="c.pdf"/></group>')


@pytest.fixture
def key():
    return "q-" + uuid.uuid4().hex[:16]


@pytest.fixture(scope="module")
def filled(server):
    """A conversion database with three jobs and six items."""
    name = "Queries" + uuid.uuid4().hex[:8]
    create_database(server, name, "word")
    with open_path("wire", server, name, "WordAutomation") as db:
        for job, part, title in ((1, None, "one"), (2, uuid.UUID(int=7), "two"), (3, uuid.UUID(int=7), None)):
            assert db.call("proc_AddJob", JobId=job, Settings="<s/>", PartitionId=part, Name=title).status == 0
        for job in (1, 2):
            assert db.call("proc_AddGroup", JobId=job, GroupId=1, InputRoot=f"in{job}", MaxAttemptsCount=job, JobXml=GROUP).status == 0
        assert db.call("proc_SubmitJob", JobId=1).status == 0
        assert db.call("proc_UpdateSucceededItem", JobId=1, GroupId=1, ItemId=2).status == 0
        yield db


@pytest.fixture
def db(server):
    with open_path("wire", server, "StateService") as path:
        yield path


@pytest.fixture
def other(server):
    with open_path("wire", server, "StateService") as path:
        yield path
