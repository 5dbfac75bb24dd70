"""The daily counts of translation: proc_GetItemCount, proc_UpdateItemCount and the limits of proc_AddJob."""
import datetime
import threading
import uuid

import pytest

from support import clients, wiretypes as t
from support.jobs import ZERO, utc
from support.proves import proves
from support.wire import Param, Wire

DAY = datetime.date(2012, 7, 16)
DAYS = iter(range(3, 100000, 3))        # counts cannot be deleted, so that every test takes days of its own


@pytest.fixture
def day():
    return datetime.date(1950, 1, 1) + datetime.timedelta(days=next(DAYS))


def partition():
    return uuid.uuid4()


def count(db, part, hour, date):
    return db.call("proc_GetItemCount", PartitionId=part, Hour=hour, Date=date).status


def now_count(db, part):
    now = utc()
    return count(db, part, now.hour, now.date())


def add(db, part, hour, date, n):
    db.ok("proc_UpdateItemCount", PartitionId=part, Hour=hour, Date=date, ItemCount=n)


# Counting


@proves("TRAN-UpdateItemCount-03", "TRAN-GetItemCount-06")
def test_counts_grow_by_what_is_reported(db, day):
    part = partition()
    assert count(db, part, 10, day) == 0
    add(db, part, 10, day, 3)
    add(db, part, 10, day, 4)
    add(db, part, 10, day, 0)
    assert count(db, part, 10, day) == 7 and count(db, partition(), 10, day) == 0
    other = partition()
    add(db, other, 10, day, 0)
    assert db.reader.run(f"SELECT Items FROM dbo.ItemCounts WHERE PartitionId = '{other}'").rows == []


@proves("TRAN-GetItemCount-03")
@pytest.mark.parametrize("hour, date", (
    (10, DAY), (0, DAY), (23, DAY), (23, datetime.date(2012, 12, 31)), (0, datetime.date(2013, 1, 1)), (5, datetime.date(2012, 2, 28)), (12, datetime.date(2011, 2, 28))))
def test_the_window_is_24_hours_that_end_with_the_given_one(db, hour, date):
    part = partition()
    add(db, part, hour, date, 1)
    at = datetime.datetime.combine(date, datetime.time(hour))
    for offset, expected in ((-24, 0), (-1, 0), (0, 1), (1, 1), (22, 1), (23, 1), (24, 0), (25, 0), (24 * 366, 0)):
        when = at + datetime.timedelta(hours=offset)
        assert count(db, part, when.hour, when.date()) == expected, f"{offset} hours later"


@proves("TRAN-GetItemCount-03")
def test_slots_of_a_window_are_summed(db, day):
    part = partition()
    at = datetime.datetime.combine(day, datetime.time(7))
    for i in range(-30, 6):
        when = at + datetime.timedelta(hours=i)
        add(db, part, when.hour, when.date(), 1 << (i % 4))
    assert count(db, part, 7, day) == sum(1 << (i % 4) for i in range(-23, 1))


@proves("TRAN-GetItemCount-04", "TRAN-UpdateItemCount-04")
def test_the_zero_partition_asks_for_all_and_counts_those_without(db, day):
    one, two = partition(), partition()
    for part, n in ((one, 5), (two, 7), (ZERO, 11)):
        add(db, part, 3, day, n)
    assert (count(db, one, 3, day), count(db, two, 3, day), count(db, ZERO, 3, day)) == (5, 7, 23)


@proves("TRAN-GetItemCount-05", "TRAN-UpdateItemCount-05", "TRAN-Input-01")
def test_hours_are_0_to_23(db, day):
    part = partition()
    for hour in (-1, 24, 2147483647):
        db.refuses(50003, "proc_GetItemCount", PartitionId=part, Hour=hour, Date=day)
        db.refuses(50003, "proc_UpdateItemCount", PartitionId=part, Hour=hour, Date=day, ItemCount=1)
    add(db, part, 0, day, 1)
    add(db, part, 23, day, 1)
    assert (count(db, part, 0, day), count(db, part, 23, day)) == (1, 2)


@proves("TRAN-UpdateItemCount-06")
def test_counts_neither_shrink_nor_overflow(db, day):
    part = partition()
    db.refuses(50003, "proc_UpdateItemCount", PartitionId=part, Hour=1, Date=day, ItemCount=-1)
    add(db, part, 1, day, 2147483647)
    assert count(db, part, 1, day) == 2147483647
    add(db, part, 2, day, 1)
    assert count(db, part, 2, day) == count(db, ZERO, 2, day) == 2147483647
    add(db, part, 1, day, 2147483647)
    add(db, part, 2, day, 2147483646)
    assert count(db, part, 2, day) == count(db, ZERO, 2, day) == 2147483647
    assert [r.Items for r in db.reader.run(f"SELECT Items FROM dbo.ItemCounts WHERE PartitionId = '{part}' ORDER BY Hour").rows] == [4294967294, 2147483647]


@proves("TRAN-GetItemCount-07")
def test_groups_canceling_and_expiring_leave_the_counts_alone(db):
    part = partition()
    before = (now_count(db, part), now_count(db, ZERO))
    db.new_job(1, items=range(1, 50), partition=part)
    db.handed(), db.handed(proc="proc_GetConversionBatchInterleaved")
    db.start(1, 2, 3, 4)
    db.succeed(1)
    db.fail(2)
    db.fail(3, no_retry=0)
    db.report(failed=[(1, 1, 4, 5)])
    db.cancel(1)
    db.ok("proc_CancelAllActiveJobs")
    db.ok("proc_JobsExpire", AllPartitions=1, IncludeActiveJobs=1)
    assert (now_count(db, part), now_count(db, ZERO)) == before


@proves("TRAN-GetItemCount-08")
def test_a_date_may_come_as_other_types(db, day):
    part = partition()
    add(db, part, 5, day, 6)
    for form in (day, day.isoformat(), day.strftime("%Y%m%d"), datetime.datetime.combine(day, datetime.time(17, 30)), datetime.datetime.combine(day, datetime.time(23, 59, 59))):
        assert count(db, part, 5, form) == 6, repr(form)
    db.refuses(8114, "proc_GetItemCount", PartitionId=part, Hour=5, Date="the other day")


@proves("TRAN-GetItemCount-08")
def test_clients_without_the_date_type_send_datetime(db, day):
    part = partition()
    with Wire(db.server).login(database=db.database) as w:
        days = (day - datetime.date(1900, 1, 1)).days.to_bytes(4, "little") + (300 * 3600 * 9).to_bytes(4, "little")
        guid = (t.Type(0x24, 16), part.bytes_le)
        w.rpc("proc_UpdateItemCount", [Param(guid), Param(t.int_(5)), Param((t.Type(0x6F, 8), days)), Param(t.int_(8))]).ok()
        assert w.rpc("proc_GetItemCount", [Param(guid), Param(t.int_(5)), Param((t.Type(0x6F, 8), days))]).ok().status == 8
    assert count(db, part, 5, day) == 8


# The limits of proc_AddJob. Counts of "now" are shared by all tests of a database, so that limits are relative to them.


def add_job(db, job, part=None, items=None, day=None, own=None):
    args = {} if part is None else {"PartitionId": part}
    return db.call("proc_AddJob", **db.job_args(job, ItemCount=items, MaxItemsPerDay=day, MaxItemsPerPartitionPerDay=own, **args)).status


def reserved(db, n):
    """What a reservation of n adds to the count."""
    return 0 if db.literal else n


@proves("TRAN-AddJob-06", "TRAN-AddJob-12", "TRAN-AddJob-13")
def test_the_daily_limit_may_be_reached_and_not_passed(db):
    part = partition()
    base = now_count(db, ZERO)
    assert add_job(db, 1, part, 11, day=base + 10) == 1 and db.all_jobs() == []
    assert add_job(db, 1, part, 10, day=base + 10) == 0 and db.all_jobs() == [1]
    assert now_count(db, ZERO) == base + reserved(db, 10)
    assert add_job(db, 2, part, 1, day=base + 10) == (0 if db.literal else 1)
    assert add_job(db, 3, partition(), 0, day=base + 10) == 0


@proves("TRAN-AddJob-07")
def test_the_limit_of_a_partition_binds_it_alone(db):
    one, two = partition(), partition()
    now = utc()
    for part, n in ((one, 5), (two, 8)):
        add(db, part, now.hour, now.date(), n)
    assert add_job(db, 1, one, 6, own=10) == 1 and add_job(db, 1, one, 5, own=10) == 0
    assert add_job(db, 2, two, 3, own=10) == 1 and add_job(db, 2, two, 2, own=10) == 0
    assert add_job(db, 3, partition(), 10, own=10) == 0 and add_job(db, 4, partition(), 11, own=10) == 1
    assert db.all_jobs() == [1, 2, 3]


@proves("TRAN-AddJob-07")
def test_jobs_without_partition_have_a_count_of_their_own(db):
    now = utc()
    mine = sum(r.Items for r in db.reader.run(f"SELECT Items FROM dbo.ItemCounts WHERE PartitionId = '{ZERO}' AND Hour > '{clients.stamp(now - datetime.timedelta(hours=24))}'").rows)
    add(db, partition(), now.hour, now.date(), 1000)        # of somebody else: does not count here
    assert add_job(db, 1, None, 6, own=mine + 5) == 1 and add_job(db, 1, None, 5, own=mine + 5) == 0
    assert add_job(db, 2, ZERO, 1, own=mine + 5) == (0 if db.literal else 1)      # all zeros share that count


@proves("TRAN-AddJob-06", "TRAN-AddJob-07")
def test_either_limit_is_enough_to_refuse(db):
    part = partition()
    base = now_count(db, ZERO)
    assert add_job(db, 1, part, 3, day=base + 2, own=100) == 1 and add_job(db, 1, part, 3, day=base + 100, own=2) == 1
    assert add_job(db, 1, part, 3, day=base + 3, own=3) == 0


@proves("TRAN-AddJob-08")
def test_without_item_count_there_is_no_check(db):
    assert add_job(db, 1, partition(), None, day=0, own=0) == 0 and add_job(db, 2, None, None, day=-5, own=-5) == 0 and db.all_jobs() == [1, 2]
    part = partition()
    db.ok("proc_AddJob", **db.job_args(3, PartitionId=part, MaxItemsPerDay=0, MaxItemsPerPartitionPerDay=0))       # left out is as good as NULL
    assert now_count(db, part) == 0


@pytest.mark.parametrize("day, own", (
    pytest.param(None, 2000000000, marks=proves("TRAN-AddJob-09")), pytest.param(2147483647, None, marks=proves("TRAN-AddJob-10")), pytest.param(None, None, marks=proves("TRAN-AddJob-09", "TRAN-AddJob-10"))))
def test_a_limit_that_is_null_does_not_bind(db, day, own):
    assert add_job(db, 1, partition(), 50000, day=day, own=own) == 0


@proves("TRAN-AddJob-11", "TRAN-GetItemCount-07")
def test_what_is_added_is_reserved_at_once(db):
    part = partition()
    base = now_count(db, ZERO)
    assert add_job(db, 1, part, 7) == 0 and add_job(db, 2, part, 5) == 0
    assert (now_count(db, part), now_count(db, ZERO)) == (reserved(db, 12), base + reserved(db, 12))
    assert add_job(db, 3, part) == 0 and now_count(db, part) == reserved(db, 12)
    assert add_job(db, 4, part, 1) == 0 and now_count(db, part) == reserved(db, 13)
    other = partition()
    assert add_job(db, 5, other, 0) == 0 and db.reader.run(f"SELECT Items FROM dbo.ItemCounts WHERE PartitionId = '{other}'").rows == []


@proves("TRAN-AddJob-05")
def test_a_job_that_exists_reserves_nothing(db):
    part = partition()
    db.add_job(1, Name="first")
    db.refuses(2627, "proc_AddJob", **db.job_args(1, PartitionId=part, ItemCount=4, MaxItemsPerPartitionPerDay=4))
    assert now_count(db, part) == 0 and db.job(1).Name == "first"
    assert add_job(db, 1, part, 5, own=4) == 1      # the limits are looked at first


@proves("TRAN-AddJob-12")
def test_a_refused_job_leaves_no_trace(db):
    part = partition()
    before = db.everything()
    result = db.call("proc_AddJob", **db.job_args(1, PartitionId=part, ItemCount=1, MaxItemsPerDay=0))
    assert result.status == 1 and result.sets == [] and db.everything() == before


@proves("TRAN-AddJob-14", "TRAN-Input-01", "TRAN-Input-02")
def test_a_negative_item_count_is_refused(db):
    db.refuses(50003, "proc_AddJob", **db.job_args(1, ItemCount=-1))
    db.refuses(50003, "proc_AddJob", **db.job_args(1, ItemCount=-1, MaxItemsPerDay=-100))
    db.refuses(515, "proc_AddJob", **{**db.job_args(1, ItemCount=-1), "Settings": None})


@proves("TRAN-AddJob-11")
def test_callers_at_once_never_pass_the_limit_together(db):
    """Eight clients want three items each; ten are allowed."""
    part, answers = partition(), []
    others = [db.another() for _ in range(8)]

    def run(i, client):
        answers.append(client.call("proc_AddJob", **db.job_args(i, PartitionId=part, ItemCount=3, MaxItemsPerPartitionPerDay=10)).status)
    threads = [threading.Thread(target=run, args=(i, c)) for i, c in enumerate(others)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in others:
        client.close()
    assert sorted(answers) == ([0] * 8 if db.literal else [0] * 3 + [1] * 5) and now_count(db, part) == reserved(db, 9)
    assert len(db.all_jobs()) == answers.count(0)
