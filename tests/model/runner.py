"""Random calls from several connections against a small model of each database, written from the specifications alone.

Every answer is compared, and after each sequence the whole state. The calls are made one after another, so that their order is known; some are
inside explicit transactions, with savepoints, that commit, roll back or lose their connection, while others read beside them.

PROCESSION_MODEL_SEQUENCES: how many sequences for each database (default 500, fewer on a machine that needs more than PROCESSION_MODEL_SECONDS, default 12,
for them). PROCESSION_MODEL_SEED: the seed; a failure prints the one it had.
"""
import datetime
import os
import random
import time
import traceback

import pytest

from model import schedule, state, translation, word
from model.basics import Differs, Stamp, compare, compare_rows
from support.calls import create_database, open_path

SEQUENCES = int(os.environ.get("PROCESSION_MODEL_SEQUENCES", "500"))
SEED = int(os.environ.get("PROCESSION_MODEL_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
SECONDS = float(os.environ.get("PROCESSION_MODEL_SECONDS", "12"))
CONNECTIONS = 3
MODELS = {"state": state, "schedule": schedule, "word": word, "translation": translation}


class RealClock:
    """The server's time is ours, but the instant within a call is not known."""
    is_set = False

    def begin(self):
        self.start = datetime.datetime.utcnow()
        return Stamp(self.start, self.start + datetime.timedelta(seconds=30))

    def end(self, stamp):
        stamp.hi = datetime.datetime.utcnow()

    def now(self):
        return datetime.datetime.utcnow()

    def move(self, rng):
        pass


class SetClock:
    """The server's clock stands still between two moves: every time is known."""
    is_set = True

    def __init__(self, server):
        self.server = server

    def begin(self):
        return Stamp(self.server.now, self.server.now, self.server.now)

    def end(self, stamp):
        pass

    def now(self):
        return self.server.now

    def move(self, rng):
        self.server.advance(**rng.choice(({"milliseconds": 10}, {"seconds": 1}, {"seconds": 45}, {"minutes": 1}, {"minutes": 61}, {"hours": 13})))


class Sequence:
    """One run of calls with the model beside it."""

    def __init__(self, module, model, links, clock, rng, tag, log):
        self.module, self.model, self.links, self.clock, self.rng, self.tag, self.log = module, model, links, clock, rng, tag, log
        self.committed = None               # the model as others see it while a transaction is open

    def call(self, link, proc, given, model=None):
        model = model or self.model
        self.log.append((link, proc, given))
        encoded = model.encode(proc, given) if hasattr(model, "encode") else given
        stamp = self.clock.begin()
        result = self.links[link].call(proc, **encoded)
        self.clock.end(stamp)
        expect = getattr(model, proc)(stamp, **given)
        self.log.append(("expected", expect))
        compare(expect, result)
        question = model.learn(proc, given) if hasattr(model, "learn") else None
        if question:
            compare_rows(question[1], self.links[link].batch(question[0]).rows)

    def random_call(self):
        extra = {"now": self.clock.now()} if self.module is translation else {}
        return self.model.random_call(self.rng, self.tag, self.clock.is_set, **extra)

    def batch(self, link, text):
        self.log.append((link, text))
        result = self.links[link].batch(text)
        assert result.error is None, result

    def check(self, link, model):
        for text, rows, ordered in model.final(self.tag):
            self.log.append((link, text))
            result = self.links[link].batch(text)
            assert result.error is None, result
            compare_rows(rows, result.rows, ordered)

    def transaction(self):
        """Some calls, savepoints, readers beside it, and one of three ends."""
        rng, link = self.rng, self.rng.randrange(CONNECTIONS)
        other = (link + 1) % CONNECTIONS
        self.committed, saved = self.model.copy(), None
        self.batch(link, "BEGIN TRAN")
        for _ in range(rng.randrange(1, 6)):
            self.call(link, *self.random_call())
            if rng.random() < 0.2:
                self.read_beside(other)
            if rng.random() < 0.15:
                self.batch(link, "SAVE TRAN here")
                saved = self.model.copy()
            elif saved is not None and rng.random() < 0.3:
                self.batch(link, "ROLLBACK TRAN here")
                self.model = saved.copy()
            if rng.random() < 0.1:
                self.clock.move(rng)
        end = rng.choice(("COMMIT", "COMMIT", "ROLLBACK", "lost"))
        if end == "lost":
            self.log.append((link, "the connection is closed"))
            self.links[link].close()
            self.links[link].open()
        else:
            self.batch(link, end)
        if end != "COMMIT":
            self.model = self.committed
        self.committed = None

    def read_beside(self, link):
        if self.model.reads_for_others and self.rng.random() < 0.7:
            for _ in range(20):
                proc, given = self.random_call()
                if proc in self.model.reads_for_others:
                    self.call(link, proc, given, self.committed)
                    return
        self.check(link, self.committed)

    def run(self):
        rng = self.rng
        for proc, given in self.model.reset_calls():
            self.call(0, proc, given)
        if rng.random() < 0.4 and hasattr(self.model, "prelude"):
            for proc, given in self.model.prelude(rng):
                self.call(rng.randrange(CONNECTIONS), proc, given)
        for _ in range(rng.randrange(4, 16)):
            if rng.random() < 0.12:
                self.transaction()
            else:
                self.call(rng.randrange(CONNECTIONS), *self.random_call())
            if rng.random() < 0.15:
                self.clock.move(rng)
        self.check(rng.randrange(CONNECTIONS), self.model)
        return self.model


def database_of(service, errata):
    return f"Model{service}{errata}"


def run_sequences(servers, service, errata, clock, count, seconds):
    """servers: those that the connections are spread over; the database is there."""
    module, database = MODELS[service], database_of(service, errata)
    links = [open_path("wire", servers[i % len(servers)], database, module.KIND) for i in range(CONNECTIONS)]
    model = module.Model(errata)
    end = time.monotonic() + seconds
    try:
        for number in range(count):
            if time.monotonic() > end:
                break
            log = []
            seed = SEED + number
            try:
                model = Sequence(module, model, links, clock, random.Random(seed), f"{number}", log).run()
            except Exception as e:
                steps = "\n".join(str(step) for step in log)
                kind = "differs from the model" if isinstance(e, Differs) else "failed\n" + traceback.format_exc()
                pytest.fail(f"PROCESSION_MODEL_SEED={SEED}: sequence {number} of {service} ({errata}) {kind}\n{steps}\n{e}", pytrace=False)
        print(f"{number + 1} sequences of {service} ({errata}), seed {SEED}")
    finally:
        for link in links:
            link.close()


def with_real_clock(server, service, errata):
    share = 1 if errata == "corrected" else 5
    create_database(server, database_of(service, errata), service, errata)
    run_sequences([server], service, errata, RealClock(), SEQUENCES // share, SECONDS / share)


def with_set_clock(server, service, errata):
    create_database(server, database_of(service, errata), service, errata)
    run_sequences([server], service, errata, SetClock(server), max(1, SEQUENCES // 10), SECONDS / 5)
