"""The eight procedures: what each does to an item, and what it must leave alone."""
import threading
import time

import pytest
from stateview import ABSENT, NOTHING, add, lock, peek, refused, view

from support.calls import open_path
from support.proves import proves
from support.store import stored

GETS = ("proc_GetItemWithLock", "proc_GetItemWithoutLock")


# proc_AddItem

@proves("STATE-AddItem-04", "STATE-AddItem-06", "STATE-AddItem-10", "STATE-AddItem-11", "STATE-GetItemWithoutLock-07", "STATE-GetItemWithoutLock-09",
        "STATE-GetItemWithoutLock-12", "STATE-GetItemWithoutLock-15", "STATE-GetItemWithoutLock-17", "STATE-GetItemWithoutLock-18")
def test_add_then_read(db, key):
    result = add(db, key, b"\0\1\2\xff")
    assert result.sets == [] and result.status == 0
    answer = db.call("proc_GetItemWithoutLock", id=key)
    assert answer.status == 0 and answer.sets == []
    assert answer.out == {"item": b"\0\1\2\xff", "locked": False, "lockAgeInSeconds": 0, "lockCookie": 1}


@proves("STATE-AddItem-04", "STATE-GetItemWithLock-07", "STATE-GetItemWithoutLock-07")
@pytest.mark.parametrize("size", (0, 1, 7999, 8000, 8001, 65536, 99_999, 100_000, 100_001, 4_000_000, 4_000_001, 10_000_000))
def test_every_byte_comes_back(pytds_db, rpc, key, size):
    data = (bytes(range(256)) * (size // 256 + 1))[:size]
    add(pytds_db, key, data)
    assert peek(pytds_db, key)[0] == data
    assert peek(rpc, key)[0] == data
    assert lock(rpc, key) == (data, False, 0, 2)


@proves("STATE-AddItem-05", "STATE-Model-01")
def test_an_identifier_is_taken_once(db, key):
    add(db, key, b"first")
    error = refused(db, key, 2627, "proc_AddItem", id=key, item=b"second", timeout=20)
    assert f"The duplicate key value is ({key})." in error.errors[0][2]
    refused(db, key, 2627, "proc_AddItem", id=key + "  ", item=b"second", timeout=20)      # trailing spaces do not count
    assert peek(db, key)[0] == b"first"
    assert peek(db, key + "   ")[0] == b"first"


@proves("STATE-Model-01", "STATE-Model-12")
def test_spaces_at_the_end_of_an_identifier_count_for_no_procedure(db, key):
    add(db, key + " ", b"one")
    assert lock(db, key + "  ") == (b"one", False, 0, 2)
    before = view(db, key)[4]
    time.sleep(0.02)
    assert db.call("proc_RefreshItemExpiration", id=key + "   ").status == 0
    assert view(db, key)[4] > before
    assert db.call("proc_UpdateItem", id=key + " ", item=b"two", timeout=30, lockCookie=2).status == 0
    assert lock(db, key) == (b"two", False, 0, 3)
    assert db.call("proc_ReleaseItemLock", id=key + "  ", lockCookie=3).status == 0
    assert peek(db, key)[:2] == (b"two", False)
    assert db.call("proc_DeleteItem", id=key + "   ", lockCookie=3).status == 0
    assert peek(db, key) == ABSENT
    add(db, key + " ")
    assert peek(db, key)[3] == 4            # and the cookies go on


@proves("STATE-Model-01")
def test_identifiers_differ_by_case_and_accent(db, key):
    for i, name in enumerate((key + "Ab", key + "ab", key + "AB", key + "äb", " " + key + "ab")):
        add(db, name, bytes([i]))
    for i, name in enumerate((key + "Ab", key + "ab", key + "AB", key + "äb", " " + key + "ab")):
        assert peek(db, name)[0] == bytes([i])


@proves("STATE-AddItem-07")
def test_time_out_of_a_new_item_is_positive(db, key):
    for bad in (0, -1, -2147483648):
        refused(db, key, 50003, "proc_AddItem", id=key, item=b"x", timeout=bad)
        assert peek(db, key) == ABSENT
    add(db, key, timeout=1)
    add(db, key + "max", timeout=2147483647)
    expires = view(db, key + "max")[4]
    assert 6100 < expires.year < 6120
    assert peek(db, key + "max")[0] == b"data"


@proves("STATE-AddItem-02", "STATE-AddItem-03", "STATE-Input-02")
def test_null_is_refused_where_it_must_not_be(db, key):
    for values in ({"id": None, "item": b"x", "timeout": 20}, {"id": key, "item": b"x", "timeout": None}):
        result = refused(db, key, 515, "proc_AddItem", **values)
        name = next(n for n, v in values.items() if v is None)
        assert "@" + name in result.errors[0][2] and "proc_AddItem" in result.errors[0][2]
    assert peek(db, key) == ABSENT


@proves("STATE-AddItem-08")
def test_null_and_empty_data_differ(db, key):
    add(db, key + "null", None)
    add(db, key + "empty", b"")
    assert peek(db, key + "null")[:2] == (None, False)
    assert peek(db, key + "empty")[:2] == (b"", False)
    assert view(db, key + "null")[5] is None and view(db, key + "empty")[5] == 0


@proves("STATE-AddItem-09", "STATE-Input-05")
def test_identifier_of_512_bytes(db, key):
    longest = (key + "é" * 512)[:512]
    add(db, longest, b"long")
    assert peek(db, longest)[0] == b"long"
    refused(db, longest, 8152, "proc_AddItem", id=longest + "x", item=b"x", timeout=20)
    for proc, values in (("proc_DeleteItem", {"lockCookie": 1}), ("proc_UpdateItem", {"item": b"x", "timeout": 1, "lockCookie": 1}),
                         ("proc_ReleaseItemLock", {"lockCookie": 1}), ("proc_RefreshItemExpiration", {}), ("proc_GetItemWithLock", {})):
        refused(db, longest, 8152, proc, id=longest + "x", **values)
    assert peek(db, longest + "   ")[0] == b"long"        # spaces beyond the size are dropped


@proves("STATE-AddItem-09")
@pytest.mark.parametrize("text", ("日本", "ą", "😀", "Ā"))
def test_identifier_outside_the_code_page(db, key, text):
    refused(db, key, 50004, "proc_AddItem", id=key + text, item=b"x", timeout=20)
    refused(db, key, 50004, "proc_GetItemWithoutLock", id=key + text)
    assert peek(db, key + "?") == ABSENT


@proves("STATE-AddItem-09")
def test_identifier_inside_the_code_page(db, key):
    add(db, key + "€Žÿ“", b"x")
    assert peek(db, key + "€Žÿ“")[0] == b"x"
    assert peek(db, key + "€Žÿ”") == ABSENT


def test_the_empty_identifier_is_one(rpc):
    rpc.call("proc_DeleteItem", id="", lockCookie=1)
    add(rpc, "", b"nameless")
    assert peek(rpc, "   ")[0] == b"nameless"
    rpc.call("proc_DeleteItem", id="", lockCookie=1)
    assert peek(rpc, "") == ABSENT


@proves("STATE-Security-01")
@pytest.mark.parametrize("text", ("'; DROP TABLE Items; --", "\"];--", "a' OR '1'='1", "<a b='c'>&amp;</a>", "%_[a-z]", "?1 :x @y $z", "\\'\\\"", "{x}%s%n"))
def test_text_is_data(db, key, text):
    add(db, key + text, text.encode())
    assert peek(db, key + text)[0] == text.encode()
    assert view(db, key + text) is not None
    assert peek(db, key) == ABSENT


# the Gets

@proves("STATE-GetItemWithLock-03", "STATE-GetItemWithLock-04", "STATE-GetItemWithLock-05", "STATE-GetItemWithLock-06", "STATE-GetItemWithLock-16",
        "STATE-GetItemWithoutLock-03", "STATE-GetItemWithoutLock-04", "STATE-GetItemWithoutLock-05", "STATE-GetItemWithoutLock-06")
@pytest.mark.parametrize("proc", GETS)
def test_no_item_gives_four_nulls(db, key, proc):
    for name in (key, None):
        answer = db.call(proc, id=name)
        assert answer.error is None and answer.status == 0 and answer.sets == []
        assert answer.out == NOTHING


@proves("STATE-GetItemWithLock-08", "STATE-GetItemWithLock-09", "STATE-GetItemWithLock-10", "STATE-GetItemWithLock-11", "STATE-GetItemWithLock-13",
        "STATE-GetItemWithLock-16", "STATE-GetItemWithLock-17", "STATE-GetItemWithoutLock-08", "STATE-GetItemWithoutLock-10", "STATE-GetItemWithoutLock-14",
        "STATE-Model-05", "STATE-Model-06")
def test_the_first_locks_the_others_see_it(db, rpc, key):
    add(db, key, b"data")
    answer = db.call("proc_GetItemWithLock", id=key)
    assert answer.out == {"item": b"data", "locked": False, "lockAgeInSeconds": 0, "lockCookie": 2}
    assert answer.status == 0 and answer.sets == []
    stored = view(db, key)
    for other in (rpc, db):
        item, locked, age, cookie = lock(other, key)
        assert (item, locked, cookie) == (None, True, 2) and age in (0, 1, 2)
        item, locked, age, cookie = peek(other, key)
        assert (item, locked, cookie) == (None, True, 2) and age in (0, 1, 2)
    after = view(db, key)
    assert after[:4] == stored[:4] and after[5] == stored[5]         # only the expiration moved
    assert db.call("proc_UpdateItem", id=key, item=b"mine", timeout=20, lockCookie=2).status == 0
    assert peek(db, key) == (b"mine", False, 0, 2)


@proves("STATE-GetItemWithLock-08", "STATE-GetItemWithoutLock-08", "STATE-Model-12")
@pytest.mark.parametrize("size", (100_000, 100_001, 5_000_000))
def test_nobody_reads_a_large_item_under_a_lock(rpc, key, size):
    """What is large is read in another way than what is small."""
    add(rpc, key, b"x" * size)
    assert lock(rpc, key) == (b"x" * size, False, 0, 2)
    for get in (lock, peek):
        item, locked, _, cookie = get(rpc, key)
        assert (item, locked, cookie) == (None, True, 2)


@proves("STATE-GetItemWithoutLock-11")
def test_reading_without_lock_locks_nothing(db, key):
    add(db, key)
    before = view(db, key)
    for _ in range(3):
        assert peek(db, key) == (b"data", False, 0, 1)
    assert view(db, key)[:4] == before[:4]


@proves("STATE-Model-07", "STATE-ReleaseItemLock-02", "STATE-ReleaseItemLock-07", "STATE-ReleaseItemLock-08", "STATE-ReleaseItemLock-09")
def test_cookies_count_up(db, key):
    add(db, key, b"kept")
    for cookie in (2, 3, 4, 5):
        assert lock(db, key) == (b"kept", False, 0, cookie)
        assert peek(db, key)[1] is True
        result = db.call("proc_ReleaseItemLock", id=key, lockCookie=cookie)
        assert result.status == 0 and result.sets == []
        assert peek(db, key) == (b"kept", False, 0, cookie)


@proves("STATE-Model-07")
def test_cookies_of_two_items_are_their_own(db, key):
    add(db, key + "a")
    add(db, key + "b")
    lock(db, key + "a")
    db.call("proc_ReleaseItemLock", id=key + "a", lockCookie=2)
    assert lock(db, key + "a")[3] == 3
    assert lock(db, key + "b")[3] == 2
    assert db.call("proc_DeleteItem", id=key + "a", lockCookie=3).status == 0
    add(db, key + "a")
    assert lock(db, key + "a")[3] == 5          # a new item, which goes on where the old one ended
    assert lock(db, key + "b")[3] == 2


@proves("STATE-GetItemWithLock-02", "STATE-GetItemWithoutLock-02")
@pytest.mark.parametrize("proc", GETS)
def test_what_is_passed_in_is_ignored(rpc, pytds_db, key, proc):
    add(rpc, key, b"data")
    expected = {"item": b"data", "locked": False, "lockAgeInSeconds": 0, "lockCookie": 2 if proc == GETS[0] else 1}
    assert rpc.call(proc, id=key, item=b"\xff" * 300, locked=1, lockAgeInSeconds=99, lockCookie=77).out == expected
    answer = pytds_db.call(proc, id=key, item=b"\xff" * 300, locked=True, lockAgeInSeconds=99, lockCookie=77)
    assert answer.error is None and answer.out["lockCookie"] == expected["lockCookie"]
    from support import wiretypes as t
    wild = rpc.call(proc, id=key + "none", item=t.nvarchar("text"), locked=t.nvarchar("maybe"), lockAgeInSeconds=t.nvarchar("old"), lockCookie=t.int_(2**40, 8))
    assert wild.error is None and wild.out == NOTHING


@proves("STATE-GetItemWithLock-02", "STATE-Transport-01")
def test_outputs_come_only_when_asked_for(rpc, key):
    from support import wiretypes as t
    from support.wire import Param
    add(rpc, key)
    params = [Param(t.varchar(key), "@id"), Param(t.varbinary_max(None), "@item"), Param(t.bit(None), "@locked", output=True), Param(t.int_(None), "@lockAgeInSeconds"),
              Param(t.int_(None), "@lockCookie", output=True)]
    answer = rpc.wire.rpc("proc_GetItemWithoutLock", params).ok()
    assert [(v.name, v.ordinal, v.value) for v in answer.all("returnvalue")] == [("@locked", 2, False), ("@lockCookie", 4, 1)]
    reordered = [params[4], params[2], params[0], params[1], params[3]]
    answer = rpc.wire.rpc("proc_GetItemWithoutLock", reordered).ok()        # order of declaration, ordinals of the request
    assert [(v.name, v.ordinal) for v in answer.all("returnvalue")] == [("@locked", 1), ("@lockCookie", 0)]
    assert answer.kinds == ["returnstatus", "returnvalue", "returnvalue", "doneproc"]


@proves("STATE-GetItemWithLock-15")
def test_one_of_many_gets_the_lock(several, key):
    for round_ in range(10):
        name = f"{key}-{round_}"
        add(several[0], name)
        answers, barrier = [], threading.Barrier(len(several))

        def attempt(db):
            barrier.wait()
            answers.append(lock(db, name))

        threads = [threading.Thread(target=attempt, args=(db,)) for db in several]
        [each.start() for each in threads]
        [each.join() for each in threads]
        assert sorted(a[1] for a in answers) == [False] + [True] * (len(several) - 1)
        assert {a[3] for a in answers} == {2}
        assert [a[0] for a in answers if not a[1]] == [b"data"]


@proves("STATE-Model-10")
def test_a_lock_outlives_its_connection(server, carrier, key):
    with open_path(carrier, server, "StateService") as first:
        add(first, key)
        assert lock(first, key)[3] == 2
    with open_path(carrier, server, "StateService") as second:
        assert peek(second, key)[1:] [0] is True
        cookie = peek(second, key)[3]
        second.call("proc_ReleaseItemLock", id=key, lockCookie=cookie)         # by force
        assert peek(second, key) == (b"data", False, 0, 2)


# release, refresh, update, delete

@proves("STATE-ReleaseItemLock-04", "STATE-ReleaseItemLock-05", "STATE-ReleaseItemLock-06", "STATE-ReleaseItemLock-08", "STATE-Model-09")
def test_release_with_another_cookie(db, key):
    add(db, key)
    lock(db, key)
    before = view(db, key)
    for cookie in (1, 3, 0, -2, None, 2147483647):
        result = db.call("proc_ReleaseItemLock", id=key, lockCookie=cookie)
        assert result.status == 0 and result.error is None
    for name in (key + "x", None):
        assert db.call("proc_ReleaseItemLock", id=name, lockCookie=2).status == 0
    assert view(db, key) == before
    assert peek(db, key)[1] is True
    assert peek(db, key + "x") == ABSENT


@proves("STATE-RefreshItemExpiration-03", "STATE-RefreshItemExpiration-04", "STATE-RefreshItemExpiration-05", "STATE-RefreshItemExpiration-06",
        "STATE-RefreshItemExpiration-02")
def test_refresh_moves_the_expiration_only(db, key):
    add(db, key)
    lock(db, key)
    before = view(db, key)
    result = db.call("proc_RefreshItemExpiration", id=key)
    assert result.status == 0 and result.sets == []
    after = view(db, key)
    assert after[:4] + after[5:] == before[:4] + before[5:] and after[4] >= before[4]
    for name in (key + "x", None):
        assert db.call("proc_RefreshItemExpiration", id=name).status == 0
    assert peek(db, key + "x") == ABSENT


@proves("STATE-UpdateItem-03", "STATE-UpdateItem-04", "STATE-UpdateItem-05", "STATE-UpdateItem-09", "STATE-UpdateItem-10")
def test_update_with_the_cookie(db, key):
    add(db, key, b"old", 60)
    assert lock(db, key)[3] == 2
    result = db.call("proc_UpdateItem", id=key, item=b"new and longer", timeout=7, lockCookie=2)
    assert result.status == 0 and result.sets == []
    assert peek(db, key) == (b"new and longer", False, 0, 2)
    assert view(db, key)[3] == 7 and view(db, key)[5] == 14
    db.call("proc_UpdateItem", id=key, item=b"never locked", timeout=8, lockCookie=2)        # equality is enough
    assert peek(db, key) == (b"never locked", False, 0, 2) and view(db, key)[5] == 12
    db.call("proc_UpdateItem", id=key, item=None, timeout=2147483647, lockCookie=2)
    assert peek(db, key)[:2] == (None, False) and view(db, key)[3] == 2147483647 and view(db, key)[5] is None
    add(db, key + "new")
    db.call("proc_UpdateItem", id=key + "new", item=b"1", timeout=9, lockCookie=1)
    assert peek(db, key + "new") == (b"1", False, 0, 1)


@proves("STATE-UpdateItem-03", "STATE-GetItemWithLock-07", "STATE-GetItemWithoutLock-07")
def test_a_large_item_is_replaced_as_a_whole(rpc, key):
    """Larger than what the store keeps in memory: shorter, longer, of the same length, in a transaction that is undone."""
    def data(first, size):
        return (bytes((first + i) % 251 for i in range(4096)) * (size // 4096 + 1))[:size]
    add(rpc, key, data(0, 6_000_000))
    for n, size in enumerate((6_000_000, 3_000_000, 9_000_001, 10, 5_000_000), 1):
        cookie = lock(rpc, key)[3]
        rpc.wire.begin()
        rpc.call("proc_UpdateItem", id=key, item=data(100 + n, size), timeout=20, lockCookie=cookie)
        assert peek(rpc, key)[0] == data(100 + n, size)
        rpc.wire.rollback()
        rpc.call("proc_UpdateItem", id=key, item=data(n, size), timeout=20, lockCookie=cookie)
        assert peek(rpc, key) == (data(n, size), False, 0, cookie)


@proves("STATE-UpdateItem-06", "STATE-UpdateItem-07", "STATE-UpdateItem-09", "STATE-Model-09")
def test_update_with_another_cookie(db, key):
    add(db, key, b"old")
    lock(db, key)
    before = view(db, key)
    for cookie in (1, 3, None, -2):
        assert db.call("proc_UpdateItem", id=key, item=b"new", timeout=5, lockCookie=cookie).status == 0
    for name in (key + "x", None):
        assert db.call("proc_UpdateItem", id=name, item=b"new", timeout=5, lockCookie=1).status == 0
    assert view(db, key) == before
    assert peek(db, key + "x") == ABSENT
    db.call("proc_ReleaseItemLock", id=key, lockCookie=2)
    assert peek(db, key)[0] == b"old"


@proves("STATE-UpdateItem-02", "STATE-UpdateItem-08")
def test_update_with_a_bad_time_out(db, key):
    add(db, key, b"old")
    lock(db, key)
    for number, timeout in ((50003, 0), (50003, -1), (515, None)):
        refused(db, key, number, "proc_UpdateItem", id=key, item=b"new", timeout=timeout, lockCookie=2)
        assert peek(db, key)[1] is True
        refused(db, key, number, "proc_UpdateItem", id=key + "x", item=b"new", timeout=timeout, lockCookie=2)     # before the look-up


@proves("STATE-DeleteItem-02", "STATE-DeleteItem-04", "STATE-DeleteItem-05")
def test_delete_with_the_cookie(db, key):
    add(db, key)
    result = db.call("proc_DeleteItem", id=key, lockCookie=1)
    assert result.status == 0 and result.sets == []
    assert peek(db, key) == ABSENT and view(db, key) is None
    add(db, key)
    db.call("proc_DeleteItem", id=key + " ", lockCookie=lock(db, key)[3])
    assert peek(db, key) == ABSENT


@proves("STATE-DeleteItem-03", "STATE-DeleteItem-04", "STATE-Model-09")
def test_delete_with_another_cookie(db, key):
    add(db, key)
    lock(db, key)
    before = view(db, key)
    for cookie in (1, 3, None, 0):
        assert db.call("proc_DeleteItem", id=key, lockCookie=cookie).status == 0
    for name in (key + "x", None, key.upper()):
        assert db.call("proc_DeleteItem", id=name, lockCookie=2).status == 0
    assert view(db, key) == before


@proves("STATE-DeleteExpiredItems-01", "STATE-DeleteExpiredItems-03", "STATE-DeleteExpiredItems-04", "STATE-DeleteExpiredItems-05")
def test_delete_expired_leaves_the_living(db, key):
    add(db, key, timeout=1)
    result = db.call("proc_DeleteExpiredItems")
    assert result.error is None and result.status == 0 and result.sets == []
    assert peek(db, key)[0] == b"data"
    assert db.batch("EXEC proc_DeleteExpiredItems 1").error == 8146


# Cookies of an identifier that is used again

def delete_and_add(db, key):
    cookie = peek(db, key)[3]
    assert db.call("proc_DeleteItem", id=key, lockCookie=cookie).status == 0
    add(db, key, b"new")
    return cookie


@proves("STATE-Model-12", "STATE-Model-07")
def test_an_old_cookie_opens_no_new_item(server, db, key):
    """A holds the lock; B deletes the item by force, adds it and locks it: A has nothing any more."""
    add(db, key)
    mine = lock(db, key)[3]
    assert mine == 2
    with open_path("wire", server, "StateService") as other:
        assert delete_and_add(other, key) == mine
        theirs = lock(other, key)[3]
        assert theirs > mine + 1
        held = view(other, key)
        for old in range(0, theirs):
            for proc, values in (("proc_UpdateItem", {"item": b"stolen", "timeout": 5}), ("proc_ReleaseItemLock", {}), ("proc_DeleteItem", {})):
                assert db.call(proc, id=key, lockCookie=old, **values).status == 0
        assert view(other, key) == held and peek(db, key)[:2] == (None, True)
        assert other.call("proc_UpdateItem", id=key, item=b"theirs", timeout=20, lockCookie=theirs).status == 0
    assert peek(db, key) == (b"theirs", False, 0, theirs)


@proves("STATE-Model-12", "STATE-Model-07")
def test_no_cookie_comes_twice_for_an_identifier(db, key):
    seen = []
    add(db, key)
    for turn in range(4):
        seen.append(peek(db, key)[3])
        for _ in range(turn):
            seen.append(lock(db, key)[3])
            db.call("proc_ReleaseItemLock", id=key, lockCookie=seen[-1])
        delete_and_add(db, key + " " * turn)
    assert seen == sorted(set(seen)), seen
    add(db, key + "other")
    assert lock(db, key + "other")[3] == 2          # an identifier of its own


@proves("STATE-Model-12", "STATE-Model-05")
def test_a_held_lock_shuts_everybody_out(server, rpc, key):
    """Of what needs no cookie nothing reads or changes the data; what needs one wants this one."""
    add(rpc, key)
    mine = lock(rpc, key)[3]
    before = view(rpc, key)
    with open_path("pytds", server, "StateService") as other:
        assert lock(other, key)[0] is None and peek(other, key)[0] is None
        assert other.call("proc_AddItem", id=key, item=b"x", timeout=20).error == 2627
        for wrong in (mine - 1, mine + 1, 0, None):
            other.call("proc_UpdateItem", id=key, item=b"x", timeout=5, lockCookie=wrong)
            other.call("proc_DeleteItem", id=key, lockCookie=wrong)
            other.call("proc_ReleaseItemLock", id=key, lockCookie=wrong)
        other.call("proc_RefreshItemExpiration", id=key)
        other.call("proc_DeleteExpiredItems")
        after = view(other, key)
        assert (after[0], after[1], after[2], after[3], after[5]) == (before[0], before[1], before[2], before[3], before[5])
    assert rpc.call("proc_UpdateItem", id=key, item=b"mine", timeout=20, lockCookie=mine).status == 0
    assert peek(rpc, key)[0] == b"mine"


@proves("STATE-Input-07")
@pytest.mark.parametrize("path", ("wire", "pytds"))
def test_identifiers_with_nul(server, key, path):
    with open_path(path, server, "StateService") as db:
        names = [key, key + "\0", key + "\0a", key + "\0b", "\0" + key, key + "\0 a"]
        for i, name in enumerate(names):
            add(db, name, bytes([i]))
        for i, name in enumerate(names):
            assert peek(db, name)[0] == bytes([i])
            refused(db, key, 2627, "proc_AddItem", id=name + " ", item=b"x", timeout=20)
        assert db.call("proc_DeleteItem", id=key + "\0a", lockCookie=1).status == 0
        assert [peek(db, name)[0] for name in names] == [b"\0", b"\1", None, b"\3", b"\4", b"\5"]
        rows = db.batch("SELECT Id FROM dbo.Items").rows
        assert sorted(r[0] for r in rows if key in r[0]) == sorted(n for n in names if n != key + "\0a")


# The end of the numbers

def give_cookie(server, key, cookie):
    """Nobody locks two thousand million times: the number is written into the store."""
    with stored(server, "StateService") as tables:
        assert tables.run("UPDATE item SET cookie = ? WHERE id = ?", cookie, key) == 1


@proves("STATE-Model-07")
def test_after_the_largest_cookie_comes_1(server, rpc, key):
    add(rpc, key)
    give_cookie(server, key, 2147483646)
    assert lock(rpc, key) == (b"data", False, 0, 2147483647)
    assert rpc.call("proc_ReleaseItemLock", id=key, lockCookie=2147483647).status == 0
    assert lock(rpc, key) == (b"data", False, 0, 1)
    assert rpc.call("proc_UpdateItem", id=key, item=b"new", timeout=5, lockCookie=1).status == 0
    assert lock(rpc, key) == (b"new", False, 0, 2)


@proves("STATE-Model-07")
@pytest.mark.parametrize("last, first", ((2147483647, 1), (2147483646, 2147483647)))
def test_an_item_added_after_one_with_the_largest_cookie(server, rpc, key, last, first):
    add(rpc, key)
    give_cookie(server, key, last)
    assert rpc.call("proc_DeleteItem", id=key, lockCookie=last).status == 0
    add(rpc, key)
    assert peek(rpc, key) == (b"data", False, 0, first)
