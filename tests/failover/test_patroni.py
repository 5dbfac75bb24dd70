"""Again and again something happens to the primary, or to a server; nothing that was answered is lost, nothing happens twice, no read is stale.

The pause of each is measured twice: until a plain client of PostgreSQL can commit at the new primary (that is Patroni's own), and from then
until every client of ours has had its next answer (at most EXTRA_S).
"""
import os
import random
import signal
import time

import pytest

from support import patroni
from support.counting import Counting
from support.server import Server

ROUNDS, SEED = int(os.environ.get("ROUNDS", "12")), int(os.environ.get("SEED", "1"))
SERVERS, CLIENTS = int(os.environ.get("SERVERS", "3")), int(os.environ.get("CLIENTS", "8"))
EXTRA_S = float(os.environ.get("EXTRA_S", "2"))


class Rounds:
    def __init__(self, cluster, servers, counting, watch):
        self.cluster, self.servers, self.counting, self.watch, self.lines = cluster, servers, counting, watch, []
        self.random = random.Random(SEED)

    # to the primary: gives what ends it

    def kill_postgres(self, node):
        node.kill_postgres()

    def stop_postgres(self, node):
        node.stop_postgres()
        self.cluster.wait("an end", node.is_stopped)

    def kill_node(self, node):
        node.kill()

    def freeze_node(self, node):
        node.freeze()

    def cut_off(self, node):
        node.freeze_patroni()

    def switch_over(self, _):
        self.cluster.switch_over()

    PRIMARY = (kill_postgres, freeze_node, switch_over, kill_node, cut_off, stop_postgres)

    def to_primary(self, what):
        node, began = self.cluster.primary(), time.monotonic()
        what(self, node)
        # Patroni may start again what somebody stopped; by then it had stopped
        same, since = (None, time.monotonic()) if what.__name__ == "stop_postgres" else (node.n, began)
        new = self.cluster.wait("a new primary", lambda: self.watch.after(since, but=same))
        rest = max(0.0, time.monotonic() - new)
        extra = rest + self.counting.go_on(1)
        node.recover()
        self.cluster.wait_whole()
        self.counting.go_on(5)          # also when the old one has come back
        self.note(what.__name__, new - began, extra)

    # to a server

    def kill_server(self):
        server = self.random.choice(self.servers)
        server.kill()
        server.start()

    def freeze_server(self):
        server = self.random.choice(self.servers)
        server.signal(signal.SIGSTOP)
        time.sleep(4)
        server.signal(signal.SIGCONT)

    SERVER = (kill_server, freeze_server)

    def to_server(self, what):
        began = time.monotonic()
        what(self)
        self.note(what.__name__, time.monotonic() - began, self.counting.go_on(1))
        self.counting.go_on(5)

    def note(self, what, pause, extra):
        self.lines.append((what, pause, extra))
        print(f"{what:15} {pause:6.1f} s, and {extra:4.1f} s more; {sum(self.counting.steps.values())} answers, "
              f"{len(self.counting.told)} transactions told", flush=True)

    def run(self, rounds):
        for n in range(rounds):
            if n % 4 == 3:
                self.to_server(self.SERVER[n // 4 % 2])
            else:
                self.to_primary(self.PRIMARY[(n - n // 4) % len(self.PRIMARY)])


def test_counters_count_exactly(capsys):
    reason = patroni.missing()
    if reason:
        pytest.skip(reason)
    with capsys.disabled(), patroni.Cluster() as cluster:
        print()
        servers = [Server(settings={"engine": "postgres", "postgres": cluster.conninfo(), "failover_timeout": 60}) for _ in range(SERVERS)]
        watch = patroni.Watch(cluster)
        try:
            for server in servers:
                server.start()
            with Counting(servers, clients=CLIENTS, readers=3, transactions=2, patience=150) as counting:
                counting.go_on(10)
                rounds = Rounds(cluster, servers, counting, watch)
                rounds.run(ROUNDS)
                counting.finish()
            for server in servers:
                server.stop()
        except BaseException:
            print(cluster.logs())
            for server in servers:
                print(server.log_tail(30))
                server.kill()
            raise
        finally:
            watch.end()
            for server in servers:
                server.remove()
        print(f"{sum(counting.steps.values())} answers, {sum(counting.acked.values())} locks counted, {sum(counting.added.values())} transactions kept, "
              f"{len(counting.told)} told that nothing was kept, or that nobody knows: none lost, none twice, no stale read")
        slow = [line for line in rounds.lines if line[0] in [f.__name__ for f in Rounds.PRIMARY] and line[2] > EXTRA_S]
        assert not slow, f"pauses that are ours took longer than {EXTRA_S} s: {slow}"
