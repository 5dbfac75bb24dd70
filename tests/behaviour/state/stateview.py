"""Shorthands of the state tests."""
NOTHING = {"item": None, "locked": None, "lockAgeInSeconds": None, "lockCookie": None}


def add(db, key, item=b"data", timeout=20):
    result = db.call("proc_AddItem", id=key, item=item, timeout=timeout)
    assert result.error is None and result.status == 0, result
    return result


def peek(db, key):
    """proc_GetItemWithoutLock: (item, locked, age, cookie)."""
    result = db.call("proc_GetItemWithoutLock", id=key)
    assert result.error is None and result.status == 0, result
    return tuple(result.out[name] for name in NOTHING)


def lock(db, key):
    result = db.call("proc_GetItemWithLock", id=key)
    assert result.error is None and result.status == 0, result
    return tuple(result.out[name] for name in NOTHING)


# The class of an error, where it is not 16, as SQL Server has it.
CLASSES = {229: 14, 2627: 14}
ABSENT = (None, None, None, None)


def view(db, key):
    """The stored row without touching it: (locked, cookie, timeout, expires, bytes), or None."""
    rows = db.batch("SELECT Locked, LockCookie, LockTime, TimeoutMinutes, Expires, Bytes FROM dbo.Items WHERE Id = '" + key.replace("'", "''") + "'").rows
    return rows[0] if rows else None


def refused(db, key, number, proc, **values):
    """The call fails with this number, sends no status, and the row of key is as it was."""
    before = view(db, key)
    result = db.call(proc, **values)
    assert result.error == number, result
    assert result.errors[0][1] in (CLASSES.get(number, 16), 0), result         # pymssql does not tell it
    assert result.status is None and not result.sets
    assert view(db, key) == before
    return result
