"""MS-SPSTATE in Python: what the specification and the errata say, in the shortest form."""
import copy

from .basics import Age, Expect, Later

DATABASE, KIND = "StateService", "StateService"
NOTHING = {"item": None, "locked": None, "lockAgeInSeconds": None, "lockCookie": None}


class Model:
    reads_for_others = ()           # every Get renews the expiration: only SELECT can read beside an open transaction

    def __init__(self, errata, keep=None):
        self.items, self.last = {}, {}      # last: the cookie with which an identifier went

    def copy(self):
        made = Model.__new__(Model)
        made.items, made.last = copy.deepcopy(self.items), dict(self.last)
        return made

    def key(self, name):
        return None if name is None else name.rstrip(" ")

    def renew(self, item, now):
        item["expires"] = Later(now, item["timeout"])

    def proc_AddItem(self, now, id, item, timeout):
        if id is None or timeout is None:
            return Expect(error=515)
        if timeout < 1:
            return Expect(error=50003)
        if self.key(id) in self.items:
            return Expect(error=2627)
        self.items[self.key(id)] = {"item": item, "timeout": timeout, "cookie": self.last.get(self.key(id), 0) + 1, "locked": None, "expires": Later(now, timeout)}
        return Expect()

    def proc_DeleteExpiredItems(self, now):
        moment = now.value or now.lo
        for key in [k for k, v in self.items.items() if v["expires"].before(moment)]:
            self.last[key] = self.items.pop(key)["cookie"]
        return Expect()

    def match(self, id, cookie):
        item = self.items.get(self.key(id))
        return item if item is not None and item["cookie"] == cookie else None

    def proc_DeleteItem(self, now, id, lockCookie):
        if self.match(id, lockCookie):
            self.last[self.key(id)] = self.items.pop(self.key(id))["cookie"]
        return Expect()

    def proc_GetItemWithoutLock(self, now, id):
        item = self.items.get(self.key(id))
        if item is None:
            return Expect(out=NOTHING)
        self.renew(item, now)
        if item["locked"] is None:
            return Expect(out={"item": item["item"], "locked": False, "lockAgeInSeconds": 0, "lockCookie": item["cookie"]})
        return Expect(out={"item": None, "locked": True, "lockAgeInSeconds": Age(item["locked"], now), "lockCookie": item["cookie"]})

    def proc_GetItemWithLock(self, now, id):
        item = self.items.get(self.key(id))
        if item is not None and item["locked"] is None:
            item["cookie"] += 1
            answer = self.proc_GetItemWithoutLock(now, id)
            item["locked"] = now
            return answer
        return self.proc_GetItemWithoutLock(now, id)

    def proc_RefreshItemExpiration(self, now, id):
        item = self.items.get(self.key(id))
        if item is not None:
            self.renew(item, now)
        return Expect()

    def proc_ReleaseItemLock(self, now, id, lockCookie):
        item = self.match(id, lockCookie)
        if item is not None:
            item["locked"] = None
            self.renew(item, now)
        return Expect()

    def proc_UpdateItem(self, now, id, item, timeout, lockCookie):
        if timeout is None:
            return Expect(error=515)
        if timeout < 1:
            return Expect(error=50003)
        found = self.match(id, lockCookie)
        if found is not None:
            found.update(item=item, timeout=timeout, locked=None)
            self.renew(found, now)
        return Expect()

    # what a sequence is made of

    def reset_calls(self):
        return []                   # identifiers of their own for each sequence

    def random_call(self, rng, tag, clock_set):
        name = f"m{tag}-{rng.choice('abcA')}" + (" " if rng.random() < 0.1 else "")
        if rng.random() < 0.03:
            name = None
        known = self.items.get(self.key(name))
        cookie = known["cookie"] if known and rng.random() < 0.7 else rng.choice((1, 2, 3, None, -1))
        timeout = rng.choice((1, 2, 20, 1000)) if rng.random() < 0.9 else rng.choice((0, -1, None))
        item = rng.choice((None, b"", b"x", bytes(range(200)), b"y" * 9000)) if rng.random() < 0.5 else bytes([rng.randrange(256)]) * rng.randrange(40)
        return rng.choices((
            ("proc_AddItem", {"id": name, "item": item, "timeout": timeout}),
            ("proc_GetItemWithLock", {"id": name}),
            ("proc_GetItemWithoutLock", {"id": name}),
            ("proc_UpdateItem", {"id": name, "item": item, "timeout": timeout, "lockCookie": cookie}),
            ("proc_ReleaseItemLock", {"id": name, "lockCookie": cookie}),
            ("proc_DeleteItem", {"id": name, "lockCookie": cookie}),
            ("proc_RefreshItemExpiration", {"id": name}),
            ("proc_DeleteExpiredItems", {}),
        ), (6, 6, 3, 4, 3, 2, 1, 1))[0]

    def final(self, tag):
        """(SELECT, rows, ordered) that show the whole state."""
        rows = [(k, v["locked"] is not None, v["cookie"], v["locked"], v["timeout"], v["expires"], None if v["item"] is None else len(v["item"]))
                for k, v in sorted(self.items.items()) if k.startswith(f"m{tag}-")]
        return [(f"SELECT Id, Locked, LockCookie, LockTime, TimeoutMinutes, Expires, Bytes FROM dbo.Items WHERE Id LIKE 'm{tag}-%'", rows, False)]
