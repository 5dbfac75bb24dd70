"""procession_worker_here and procession_workers: which workers take items of a database, as they say. Not of the specifications."""
import time
import uuid

import pytest

from support.clients import CallError
from support.logins import PASSWORD, new_login
from support.wire import Wire

ONE, TWO = (uuid.UUID(int=n) for n in (1, 2))


@pytest.fixture(autouse=True)
def nobody_stays(one_way):
    yield
    for worker in ONE, TWO:
        here(one_way, worker, seconds=0)


def here(db, worker, machine="host1", places="/srv/documents", seconds=60):
    db.ok("procession_worker_here", Worker=worker, Machine=machine, Places=places, Seconds=seconds)


def there(db):
    return [tuple(row) for row in db.ok("procession_workers").rows]


def test_who_is_here_is_told_until_he_is_gone(one_way):
    db = one_way
    assert there(db) == []
    here(db, TWO, "host2", "/ä\n/b")
    here(db, ONE)
    assert there(db) == [(ONE, "host1", "/srv/documents"), (TWO, "host2", "/ä\n/b")]
    here(db, ONE, "host3", "/elsewhere")        # the last word of each
    assert there(db) == [(TWO, "host2", "/ä\n/b"), (ONE, "host3", "/elsewhere")]
    here(db, TWO, seconds=0)
    here(db, TWO, seconds=0)
    assert there(db) == [(ONE, "host3", "/elsewhere")]


def test_who_is_silent_is_gone(one_way):
    """After the seconds that he has said, and not before."""
    db = one_way
    here(db, ONE, seconds=3600)
    here(db, TWO, seconds=1)
    begun = time.monotonic()
    while len(there(db)) == 2:
        time.sleep(0.05)
    assert time.monotonic() - begun > 0.8
    assert [row[0] for row in there(db)] == [ONE]


@pytest.mark.parametrize("change, number", [({"Worker": None}, 515), ({"Machine": None}, 515), ({"Places": None}, 515), ({"Seconds": None}, 515),
                                            ({"Seconds": -1}, 50003), ({"Seconds": 3601}, 50003)])
def test_what_cannot_be_said(one_way, change, number):
    with pytest.raises(CallError) as refused:
        one_way.call("procession_worker_here", **{"Worker": ONE, "Machine": "host1", "Places": "/", "Seconds": 60, **change})
    assert refused.value.number == number and there(one_way) == []


def test_by_position_and_as_it_is_declared(one_way):
    db = one_way
    assert db.call("procession_worker_here", ONE, "ż" * 128, "/" + "ł" * 5000, 60).status == 0
    assert there(db) == [(ONE, "ż" * 128, "/" + "ł" * 5000)]
    rows = db.call("sp_sproc_columns", procedure_name="procession_worker_here").rows
    assert [(r.COLUMN_NAME, r.TYPE_NAME) for r in rows[1:]] == [("@Worker", "uniqueidentifier"), ("@Machine", "nvarchar"), ("@Places", "ntext"), ("@Seconds", "int")]


def test_who_may_say_and_ask(one_way):
    """Whoever may work on items or add them: no administrator is needed."""
    db = one_way
    for rights, numbers in (("select", [229]), ("execute", [])):
        with Wire(db.server).login(user=new_login(db.server, db.database, rights), password=PASSWORD, database=db.database) as w:
            assert w.batch(f"EXEC procession_worker_here '{ONE}', N'host1', N'/', 60", check=False).numbers == numbers
            assert w.batch("EXEC procession_workers", check=False).numbers == numbers
            assert len(there(db)) == (0 if numbers else 1)
