"""Clients that must count exactly, whatever happens to the servers and to what is behind them.

    with Counting(servers, clients=6, readers=2, transactions=2) as counting:
        counting.go_on(20)          # until every client has had twenty more answers
        …                           # kill something
        counting.finish()           # ends them, and looks whether everything is as it was answered

- A client locks and releases an item of its own. Each lock takes the next cookie: a call that was lost, or done twice, shows. It takes no
  error for an answer. Where its server dies, it goes to the next one and looks: an item that is locked is its own.
- A reader must see no cookie older than one that was answered before it began to read.
- A client of transactions adds items by two in explicit transactions. It is told that nothing of one was kept, and then nothing of it must
  be there, or that nobody knows.
"""
import contextlib
import itertools
import threading
import time

from support.calls import open_path

DATABASE = "StateService"
GONE = (OSError, EOFError, AssertionError)        # a server that died: Wire and pytds tell it in many ways


class Counting:
    def __init__(self, servers, clients=6, readers=0, transactions=0, patience=120):
        self.servers, self.patience = list(servers), patience
        self.acked = {f"c{i}": 0 for i in range(clients)}           # the latest cookie that was answered
        self.steps = {**{key: 0 for key in self.acked}, **{f"r{i}": 0 for i in range(readers)}, **{f"t{i}": 0 for i in range(transactions)}}
        self.added = {f"t{i}": 0 for i in range(transactions)}      # pairs of items
        self.told = []                                              # what clients of transactions were told
        self.errors, self.pauses, self.stop = [], [], threading.Event()
        names = [(self._count, key) for key in self.acked] + [(self._read, f"r{i}") for i in range(readers)] + \
                [(self._transact, f"t{i}") for i in range(transactions)]
        self.threads = [threading.Thread(target=self._guard, args=(body, name, i), daemon=True) for i, (body, name) in enumerate(names)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(self.patience)

    # the clients

    def _guard(self, body, name, number):
        try:
            body(name, itertools.islice(itertools.cycle(self.servers), number, None))
        except Exception as error:          # pylint: disable=broad-except
            self.errors.append((name, repr(error)))

    def _connect(self, servers, path="wire"):
        """To the next server that takes us."""
        until = time.monotonic() + self.patience
        while True:
            try:
                return open_path(path, next(servers), DATABASE)
            except Exception:               # pylint: disable=broad-except
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def _step(self, name, began):
        self.steps[name] += 1
        if time.monotonic() - began > 0.5:
            self.pauses.append((name, began, time.monotonic()))

    def _again(self, name, db, servers, call):
        """The answer to call(db), on one server or the next; (db, answer, whether it may have been done before)."""
        doubt = False
        while True:
            began = time.monotonic()
            try:
                answer = call(db)
                self._step(name, began)
                return db, answer, doubt
            except GONE:
                doubt = True
                with contextlib.suppress(Exception):
                    db.close()
                db = self._connect(servers)

    def _count(self, key, servers):
        db, answer, doubt = self._again(key, self._connect(servers), servers, lambda d: d.call("proc_AddItem", id=key, item=b"x", timeout=600))
        assert answer.error is None or (doubt and answer.error == 2627), answer
        self.acked[key] = 1
        while not self.stop.is_set():
            wanted = self.acked[key] + 1
            db, got, doubt = self._again(key, db, servers, lambda d: d.call("proc_GetItemWithLock", id=key))
            assert got.error is None and got.out["lockCookie"] == wanted, (wanted, got)
            assert got.out["locked"] is False or doubt, (wanted, got)
            self.acked[key] = wanted
            db, got, doubt = self._again(key, db, servers, lambda d: d.call("proc_ReleaseItemLock", id=key, lockCookie=wanted))
            assert got.error is None, (wanted, got)
        db.close()

    def _read(self, name, servers):
        db = self._connect(servers)
        for key in itertools.cycle(self.acked):
            if self.stop.is_set():
                break
            floor = self.acked[key]
            db, got, _ = self._again(name, db, servers, lambda d: d.batch(f"SELECT LockCookie FROM Items WHERE Id = '{key}'"))
            assert got.error is None, got
            seen = got.rows[0][0] if got.rows else 0
            assert seen >= floor, f"{key}: {seen} was read after {floor} had been answered"
        db.close()

    def _transact(self, name, servers):
        db = self._connect(servers)
        while not self.stop.is_set():
            n = self.added[name]
            text = f"BEGIN TRAN EXEC proc_AddItem '{name}-{n}-a', 0x01, 600 EXEC proc_AddItem '{name}-{n}-b', 0x01, 600 COMMIT"
            db, got, doubt = self._again(name, db, servers, lambda d: d.batch(text))
            if got.error is None:
                self.added[name] += 1
                continue
            if got.error == 2627 and doubt:
                done = True
            else:
                self.told.append(got.errors[0])
                assert got.error == 50013, got
                db, there, _ = self._again(name, db, servers, lambda d: d.batch(
                    f"IF @@TRANCOUNT > 0 ROLLBACK SELECT COUNT(*) FROM Items WHERE Id IN ('{name}-{n}-a', '{name}-{n}-b')"))
                assert there.error is None and there.rows[-1][0] in (0, 2), there
                done = there.rows[-1][0] == 2
                assert not done or "not known" in got.errors[0][2], (got, there)
            self.added[name] += done
        db.close()

    # what the test does

    def check(self):
        assert not self.errors, self.errors
        assert all(thread.is_alive() for thread in self.threads), "a client has ended"

    def go_on(self, steps):
        """Waits until every client has had so many more answers; gives how long that took."""
        began, before = time.monotonic(), dict(self.steps)
        while any(self.steps[name] < before[name] + steps for name in self.steps):
            self.check()
            assert time.monotonic() < began + self.patience, f"clients do not go on: {before} {self.steps} {self.told}"
            time.sleep(0.02)
        return time.monotonic() - began

    def finish(self):
        self.check()
        self.stop.set()
        for thread in self.threads:
            thread.join(self.patience)
        assert not any(thread.is_alive() for thread in self.threads), "a client does not end"
        assert not self.errors, self.errors
        self.look()

    def look(self):
        """Every server tells what was answered, and nothing else."""
        for server in self.servers:
            with open_path("wire", server, DATABASE) as db:
                cookies = dict(db.batch("SELECT Id, LockCookie FROM Items WHERE Id LIKE 'c%'").rows)
                assert cookies == self.acked
                assert db.batch("SELECT COUNT(*) FROM Items WHERE Locked = 1").rows[0][0] == 0
                for name, pairs in self.added.items():
                    assert db.batch(f"SELECT COUNT(*) FROM Items WHERE Id LIKE '{name}-%'").rows[0][0] == 2 * pairs
