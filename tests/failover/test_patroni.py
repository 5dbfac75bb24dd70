"""Again and again something happens to the primary, or to a server; nothing that was answered is lost, nothing happens twice, no read is stale.

The pause of each is measured twice: until a plain client of PostgreSQL can commit at the new primary (that is Patroni's own), and from then
until every client of ours has had its next answer (at most EXTRA_S).
"""
import contextlib
import datetime
import os
import random
import re
import signal
import time

import pytest

from support import network, patroni
from support.counting import Counting
from support.server import Server

ROUNDS, SEED = int(os.environ.get("ROUNDS", "12")), int(os.environ.get("SEED", "1"))
SERVERS, CLIENTS = int(os.environ.get("SERVERS", "3")), int(os.environ.get("CLIENTS", "8"))
EXTRA_S = float(os.environ.get("EXTRA_S", "2"))


class Rounds:
    def __init__(self, cluster, servers, counting, watch):
        self.cluster, self.servers, self.counting, self.watch, self.lines = cluster, servers, counting, watch, []
        self.random, self.frozen = random.Random(SEED), None

    # to the primary; recover() of its node ends it

    def kill_postgres(self, node):
        node.kill_postgres()

    def stop_postgres(self, node):
        node.stop_postgres()
        self.cluster.wait("an end", node.is_stopped)

    def kill_node(self, node):
        node.kill()

    def freeze_node(self, node):
        node.freeze()

    def freeze_patroni(self, node):
        node.freeze_patroni()

    def cut_off(self, node):
        node.cut_off()

    def cut_off_from_others(self, node):
        node.cut_off_from_others()

    def switch_over(self, _):
        self.cluster.switch_over()

    def freeze_patroni_and_a_server(self, node):
        """The server wakes up when others have gone on elsewhere, and its primary is there as if nothing had happened."""
        self.frozen = self.random.choice(self.servers)
        self.frozen.signal(signal.SIGSTOP)
        node.freeze_patroni()

    PRIMARY = (kill_postgres, cut_off, switch_over, freeze_patroni, stop_postgres, freeze_node, freeze_patroni_and_a_server, kill_node, cut_off_from_others)
    NEED_NETWORK = (cut_off, cut_off_from_others)

    def thaw_server(self):
        """Gives since when our clients could all go on."""
        if self.frozen is None:
            return 0
        time.sleep(2)                   # others write meanwhile
        self.frozen.signal(signal.SIGCONT)
        self.frozen = None
        return time.monotonic()

    def to_primary(self, what):
        node, began = self.cluster.primary(), time.monotonic()
        what(self, node)
        # Patroni may start again what somebody stopped; by then it had stopped
        same, since = (None, time.monotonic()) if what.__name__ == "stop_postgres" else (node.n, began)
        new = self.cluster.wait("a new primary", lambda: self.watch.after(since, but=same))
        could = max(new, self.thaw_server())
        rest = max(0.0, time.monotonic() - could)
        extra = rest + self.counting.go_on(1)
        node.recover()
        self.cluster.wait_whole()
        self.counting.go_on(5)          # also when the old one has come back
        self.note(what.__name__, new - began, extra)
        self.tell_when(began)

    def tell_when(self, began):
        """Beside the pauses: when the servers knew the new primary, and when clients that had waited went on."""
        shift = time.time() - time.monotonic()
        found = [datetime.datetime.fromisoformat(at).timestamp() - shift - began for server in self.servers
                 for at in re.findall(r"^time=(\S+)Z .*event=postgres_primary ", server.log().replace("Z ", "+00:00Z "), re.M)]
        found = [at for at in found if at > 0]
        ends = [end - began for _, start, end in self.counting.pauses if end > began]
        if found and ends:
            print(f"    the servers knew it after {min(found):.1f} to {max(found):.1f} s; who had waited went on after {min(ends):.1f} to {max(ends):.1f} s")

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
        print(f"{what:27} {pause:6.1f} s, and {extra:4.1f} s more; {sum(self.counting.steps.values())} answers, "
              f"{len(self.counting.told)} transactions told", flush=True)

    def run(self, rounds):
        primary = [each for each in self.PRIMARY if self.cluster.network or each not in self.NEED_NETWORK]
        for n in range(rounds):
            if n % 4 == 3:
                self.to_server(self.SERVER[n // 4 % 2])
            else:
                self.to_primary(primary[(n - n // 4) % len(primary)])


def test_counters_count_exactly(capsys):
    reason = patroni.missing()
    if reason:
        pytest.skip(reason)
    without = network.missing()
    with capsys.disabled(), contextlib.nullcontext() if without else network.Network(3) as net, patroni.Cluster(net) as cluster:
        print(f"\nwithout networks that are cut: {without}" if without else "")
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
