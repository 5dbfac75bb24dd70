"""The SQL of the MS-SPSTATE procedures, by section and erratum."""
import unittest

from walk import Failed, Store

SECOND, MINUTE = 300, 18000


class State(unittest.TestCase):
    def setUp(self):
        self.s = Store("state")
        self.s.now -= self.s.now % SECOND

    def add(self, key="k", data=b"data", timeout=20):
        return self.s.call("proc_AddItem", id=key, item=data, timeout=timeout)

    def get(self, key="k", lock=True):
        out = self.s.call("proc_GetItemWithLock" if lock else "proc_GetItemWithoutLock", id=key).outputs
        return out["@item"], out["@locked"], out["@lockAgeInSeconds"], out["@lockCookie"]

    def expires(self, key="k"):
        return self.s.db.execute("SELECT expires FROM item WHERE id = ?", [key]).fetchone()[0] - self.s.now

    def test_add_then_first_lock_has_cookie_2(self):
        """[E-STATE-01]"""
        self.assertEqual(self.add().status, 0)
        self.assertEqual(self.get(), (b"data", 0, 0, 2))

    def test_a_duplicate_is_2627_and_names_the_key(self):
        self.add()
        for key in ("k", "k  "):
            with self.assertRaises(Failed) as e:
                self.add(key, b"other")
            self.assertEqual(e.exception.number, 2627)
            self.assertIn(f"({key})", str(e.exception))
        self.add("K")
        self.assertEqual(self.get("k")[0], b"data")

    def test_locked_item_gives_age_and_cookie_but_no_data(self):
        """3.1.5.4, [E-STATE-03]: the expiration is renewed, the lock stays as it was."""
        self.add()
        self.get()
        self.s.now += 61 * SECOND
        self.assertEqual(self.get(), (None, 1, 61, 2))
        self.assertEqual(self.expires(), 20 * MINUTE)
        self.assertEqual(self.get(lock=False), (None, 1, 61, 2))
        self.s.now += SECOND
        self.assertEqual(self.get(), (None, 1, 62, 2))

    def test_lock_age_counts_boundaries_of_seconds(self):
        """[E-STATE-10]"""
        self.add()
        self.s.now += 270
        self.get()
        self.s.now += 60
        self.assertEqual(self.get()[2], 1)
        self.s.now -= 10 * SECOND
        self.assertEqual(self.get()[2], 0)

    def test_release_keeps_the_cookie_and_the_next_lock_takes_the_next(self):
        self.add()
        self.get()
        self.s.call("proc_ReleaseItemLock", id="k", lockCookie=2)
        self.assertEqual(self.get(lock=False), (b"data", 0, 0, 2))
        self.assertEqual(self.get(), (b"data", 0, 0, 3))

    def test_wrong_cookie_changes_nothing(self):
        self.add()
        self.get()
        self.s.now += MINUTE
        for cookie in (1, 3, None):
            self.s.call("proc_ReleaseItemLock", id="k", lockCookie=cookie)
            self.s.call("proc_UpdateItem", id="k", item=b"x", timeout=5, lockCookie=cookie)
            self.s.call("proc_DeleteItem", id="k", lockCookie=cookie)
        self.assertEqual(self.expires(), 19 * MINUTE)
        self.assertEqual(self.get()[1:], (1, 60, 2))

    def test_cookie_wraps_to_1(self):
        self.add()
        self.s.db.execute("UPDATE item SET cookie = 2147483647")
        self.assertEqual(self.get()[3], 1)

    def test_the_first_cookie_goes_on_and_wraps_too(self):
        """[E-STATE-11]"""
        self.add()
        self.s.db.execute("UPDATE item SET cookie = 2147483647")
        self.s.call("proc_DeleteItem", id="k", lockCookie=2147483647)
        self.add()
        self.assertEqual(self.get()[3], 2)
        self.s.call("proc_DeleteItem", id="k", lockCookie=2)
        self.add()
        self.assertEqual(self.get()[3], 4)

    def test_what_is_kept_of_deleted_items_has_a_bound(self):
        """[E-STATE-11]: by each of the three ways in which items go."""
        for way in ("proc_DeleteItem", "proc_DeleteExpiredItems", "procession_clean"):
            self.s.db.execute("DELETE FROM gone")
            self.s.db.execute("UPDATE forgotten SET cookie = 0")
            self.s.db.executemany("INSERT INTO gone (id, cookie) VALUES (?, ?)", [(f"old{i}", 1 + i % 50) for i in range(10_000)])
            self.add(way, timeout=1)
            if way == "proc_DeleteItem":
                self.s.call(way, id=way, lockCookie=1)
            else:
                self.s.now += 3 * MINUTE
                self.s.call(way)
            self.assertEqual(self.s.db.execute("SELECT count(*) FROM gone").fetchone(), (0,))
            self.assertEqual(self.s.db.execute("SELECT cookie FROM forgotten").fetchone(), (50,))
            self.add("k" + way)
            self.assertEqual(self.get("k" + way)[3], 52)

    def test_update_stores_unlocks_and_takes_the_new_timeout(self):
        self.add()
        self.get()
        self.s.call("proc_UpdateItem", id="k", item=b"new", timeout=7, lockCookie=2)
        self.assertEqual(self.expires(), 7 * MINUTE)
        self.assertEqual(self.get(lock=False), (b"new", 0, 0, 2))

    def test_a_new_item_can_be_updated_with_cookie_1(self):
        """[E-STATE-13]"""
        self.add()
        self.s.call("proc_UpdateItem", id="k", item=None, timeout=1, lockCookie=1)
        self.assertEqual(self.get(), (None, 0, 0, 2))

    def test_absent_items_give_four_nulls(self):
        for key in ("none", None):
            self.assertEqual(self.get(key), (None, None, None, None))
            self.assertEqual(self.get(key, lock=False), (None, None, None, None))
            self.s.call("proc_RefreshItemExpiration", id=key)

    def test_null_and_empty_data_differ(self):
        """[E-STATE-06]"""
        self.add("null", None)
        self.add("empty", b"")
        self.assertEqual(self.get("null")[:2], (None, 0))
        self.assertEqual(self.get("empty")[:2], (b"", 0))

    def test_expired_items_live_until_deleted(self):
        """[E-STATE-02], [E-STATE-04]: expired is strictly before now; locked ones go, too."""
        self.add("old", timeout=1)
        self.add("edge", timeout=2)
        self.add("revived", timeout=1)
        self.get("old")
        self.s.now += 2 * MINUTE
        self.assertEqual(self.get("revived", lock=False)[0], b"data")
        self.s.call("proc_DeleteExpiredItems")
        self.assertEqual([r[0] for r in self.s.db.execute("SELECT id FROM item ORDER BY id")], ["edge", "revived"])
        self.assertEqual(self.s.db.execute("SELECT count(*) FROM body").fetchone(), (2,))

    def test_longest_timeout_fits(self):
        self.add(timeout=2147483647)
        self.assertEqual(self.s.db.execute('SELECT substr("Expires", 1, 4), "TimeoutMinutes" FROM "Items"').fetchone(), ("6106", 2147483647))

    def test_delete_removes_the_body(self):
        self.add()
        self.s.call("proc_DeleteItem", id="k ", lockCookie=1)
        self.assertEqual(self.s.db.execute("SELECT count(*) FROM body").fetchone(), (0,))


if __name__ == "__main__":
    unittest.main()
