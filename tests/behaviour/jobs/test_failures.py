"""procession_item_failed and dbo.Failures: why items failed, in words. Not of the specifications."""
import pytest

from support.clients import CallError
from support.jobs import near, utc
from support.logins import PASSWORD, new_login
from support.wire import Wire

KEPT = 10000


def tell(db, item, reason, job=1, group=1, **more):
    db.ok("procession_item_failed", JobId=job, GroupId=group, ItemId=item, ErrorCode=17, Reason=reason, **more)


def told(db):
    rows = db.reader.run("SELECT JobId, GroupId, ItemId, ErrorCode, Reason, Worker FROM dbo.Failures ORDER BY JobId, GroupId, ItemId").rows
    return [tuple(row) for row in rows]


def test_the_last_of_each_item_is_kept(one_way):
    db = one_way
    db.new_job(1, items=(1, 2))
    db.add_group(1, 2, (1,))
    db.new_job(2)
    before = utc()
    tell(db, 1, "first")
    tell(db, 2, "Größe\nunbekannt", Worker="host2")
    tell(db, 1, "second", Worker="host1")
    tell(db, 1, "group 2", group=2)
    tell(db, 1, "job 2", job=2)
    assert told(db) == [(1, 1, 1, 17, "second", "host1"), (1, 1, 2, 17, "Größe\nunbekannt", "host2"), (1, 2, 1, 17, "group 2", None), (2, 1, 1, 17, "job 2", None)]
    assert all(near(row[0], before, utc()) for row in db.reader.run("SELECT FailTime FROM dbo.Failures").rows)
    assert db.stored(1).ErrorCode is None, "the item itself is not touched"


def test_only_items_that_are_there_have_one(one_way):
    db = one_way
    db.new_job(1)
    tell(db, 2, "no such item")
    tell(db, 1, "no such group", group=2)
    tell(db, 1, "no such job", job=2)
    assert told(db) == []
    tell(db, 1, "there")
    with pytest.raises(CallError) as refused:
        db.call("procession_item_failed", JobId=1, GroupId=1, ItemId=1, ErrorCode=17, Reason=None)
    assert refused.value.number == 515 and told(db) == [(1, 1, 1, 17, "there", None)]


def test_it_goes_with_its_job(one_way):
    db = one_way
    for job in 1, 2:
        db.new_job(job)
        tell(db, 1, f"of job {job}", job=job)
    db.ok("proc_JobsExpire", JobId=1, IncludeActiveJobs=1)
    db.new_job(1)       # another one with the same identifier
    assert told(db) == [(2, 1, 1, 17, "of job 2", None)]


def test_of_many_the_last_are_kept(few):
    """An item whose failure is ever so old gives way to others."""
    db = few
    db.new_job(1, items=(1, 2, 3))
    tell(db, 1, "oldest")
    tell(db, 2, "next")
    call = "EXEC procession_item_failed @JobId = 1, @GroupId = 1, @ItemId = 3, @ErrorCode = 17, @Reason = N'again'\n"
    for n in (1000,) * 9 + (KEPT - 9000 - 1,):
        db.reader.run("BEGIN TRANSACTION\n" + call * n + "COMMIT TRANSACTION")
    assert told(db)[0][4] == "next" and len(told(db)) == 2
    tell(db, 3, "again")
    assert [row[4] for row in told(db)] == ["again"]


PARAMETERS = [("JobId", "bigint", 19), ("GroupId", "smallint", 5), ("ItemId", "int", 10), ("ErrorCode", "int", 10), ("Reason", "nvarchar", 1024), ("Worker", "nvarchar", 128)]


def test_signature(one_way):
    rows = one_way.call("sp_sproc_columns", procedure_name="procession_item_failed").rows
    assert [(r.COLUMN_NAME, r.TYPE_NAME, r.PRECISION) for r in rows if r.COLUMN_NAME != "@RETURN_VALUE"] == [("@" + name, *kind) for name, *kind in PARAMETERS]


def test_by_position_and_with_the_longest_texts(one_way):
    db = one_way
    db.new_job(1)
    result = db.call("procession_item_failed", 1, 1, 1, -3, "ż" * 1024, "ł" * 128)
    assert result.status == 0 and result.sets == []
    assert told(db) == [(1, 1, 1, -3, "ż" * 1024, "ł" * 128)]


@pytest.mark.parametrize("name", [name for name, _, _ in PARAMETERS[:-1]])
def test_what_may_not_be_null(one_way, name):
    db = one_way
    db.new_job(1)
    with pytest.raises(CallError) as refused:
        db.call("procession_item_failed", **{"JobId": 1, "GroupId": 1, "ItemId": 1, "ErrorCode": 17, "Reason": "x", name: None})
    assert refused.value.number == 515 and "@" + name in refused.value.text and told(db) == []


def test_who_may_tell(one_way):
    db = one_way
    db.new_job(1)
    for rights, numbers in (("select", [229]), ("execute", [])):
        with Wire(db.server).login(user=new_login(db.server, db.database, rights), password=PASSWORD, database=db.database) as w:
            assert w.batch("EXEC procession_item_failed 1, 1, 1, 17, N'x'", check=False).numbers == numbers
            assert len(told(db)) == (0 if numbers else 1)
