"""Calls of several servers at the same moment: their answers must be those of one order, one call after another.

Nobody knows in which order they ran, so all orders are tried on copies of the model; those whose answers fit are kept, and go on. At the end of a
sequence the whole state must fit one of them. With no order left, the servers have done what no order explains.
"""
import datetime
import itertools
import random
import threading
import time

import pytest

from model.basics import Differs, Guess, compare, compare_rows
from model.runner import MODELS, SEED, database_of
from support.calls import open_path

AT_ONCE = 4
KEPT = 300              # orders that are followed at most


class Burst:
    def __init__(self, module, models, links, rng, tag, log):
        self.module, self.models, self.links, self.rng, self.tag, self.log = module, models, links, rng, tag, log

    def chosen(self, alone):
        """A call that makes sense in one of the states that there may be. Jobs are added alone: the models sort by when that was."""
        model, proc = self.rng.choice(self.models), None
        extra = {"now": datetime.datetime.utcnow()} if self.module.__name__.endswith("translation") else {}
        while proc is None or (proc == "proc_AddJob" and not alone):
            proc, given = model.random_call(self.rng, self.tag, False, **extra)
        return proc, given, model.encode(proc, given) if hasattr(model, "encode") else given

    def answers(self, calls):
        """Makes all of them at once, each on its own connection; gives (begin, end, answer) of each."""
        barrier, done = threading.Barrier(len(calls)), [None] * len(calls)

        def run(i, proc, encoded):
            barrier.wait()
            begin = datetime.datetime.utcnow()
            try:
                answer = self.links[i].call(proc, **encoded)
            except Exception as error:      # pylint: disable=broad-except
                answer = error
            done[i] = (begin, datetime.datetime.utcnow(), answer)

        threads = [threading.Thread(target=run, args=(i, proc, encoded)) for i, (proc, _, encoded) in enumerate(calls)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        for _, _, answer in done:
            if isinstance(answer, Exception):
                raise answer
        return done

    def follow(self, model, order, calls, answers):
        """The model after the calls in this order; None when an answer is another."""
        model = model.copy()
        for i in order:
            (proc, given, _), (begin, end, answer) = calls[i], answers[i]
            try:
                compare(getattr(model, proc)(Guess(begin, end), **given), answer)
            except Differs:
                return None
        return model

    def step(self, count):
        calls = [self.chosen(count == 1) for _ in range(count)]
        answers = self.answers(calls)
        self.log.extend((proc, given, answer) for (proc, given, _), (_, _, answer) in zip(calls, answers))
        self.log.append("at once" if count > 1 else "alone")
        # an order in which a call ends before another begins is none
        orders = [o for o in itertools.permutations(range(count)) if all(answers[a][0] <= answers[b][1] for a, b in itertools.combinations(o, 2))]
        found = (self.follow(model, order, calls, answers) for model in self.models for order in orders)
        self.models = list(itertools.islice((m for m in found if m is not None), KEPT))
        if not self.models:
            raise Differs(f"no order of {len(orders)} explains the last {count} answers")
        if count == 1:
            self.learn(*calls[0][:2])

    def learn(self, proc, given):
        """When a job was added, asked for."""
        for model in self.models:
            question = model.learn(proc, given) if hasattr(model, "learn") else None
            if question:
                compare_rows(question[1], self.links[0].batch(question[0]).rows)

    def settle(self):
        """Only those states are left that look like what is stored."""
        fitting = []
        stored = {}
        for model in self.models:
            try:
                for text, rows, ordered in model.final(self.tag):
                    if text not in stored:
                        stored[text] = self.links[0].batch(text)
                        assert stored[text].error is None, stored[text]
                    compare_rows(rows, stored[text].rows, ordered)
                fitting.append(model)
            except Differs as difference:
                last = difference
        if not fitting:
            raise Differs(f"what is stored fits none of {len(self.models)} states; the last of them: {last}")
        self.models = fitting

    def run(self):
        for proc, given in self.models[0].reset_calls():
            encoded = self.models[0].encode(proc, given) if hasattr(self.models[0], "encode") else given
            now = datetime.datetime.utcnow()
            compare(getattr(self.models[0], proc)(Guess(now, now + datetime.timedelta(seconds=60)), **given), self.links[0].call(proc, **encoded))
        for _ in range(self.rng.randrange(2, 6)):
            for _ in range(self.rng.randrange(4)):
                self.step(1)
            self.step(self.rng.randrange(2, AT_ONCE + 1))
            self.settle()
        return self.models


def run_bursts(servers, service, errata, seconds):
    """As many sequences as there is time for; gives how many."""
    module, database = MODELS[service], database_of(service, errata)
    links = [open_path("wire", servers[i % len(servers)], database, module.KIND) for i in range(AT_ONCE)]
    models, end, number = [module.Model(errata)], time.monotonic() + seconds, 0
    try:
        while time.monotonic() < end or number == 0:
            log = []
            try:
                models = Burst(module, models[:1], links, random.Random(SEED + number), f"b{number}", log).run()
            except Differs as difference:
                steps = "\n".join(str(step) for step in log)
                pytest.fail(f"PROCESSION_MODEL_SEED={SEED}: burst {number} of {service} ({errata})\n{steps}\n{difference}", pytrace=False)
            number += 1
    finally:
        for link in links:
            link.close()
    return number
