"""Three PostgreSQL under Patroni, with one etcd, as an unprivileged user: a cluster that fails over by itself.

    with Cluster(network) as cluster:
        node = cluster.primary()
        node.kill_postgres()
        cluster.conninfo()          # for servers under test: all three hosts

Each is on a machine of the network (network.py), so that it can be cut off; without a network all are on loopback, and cannot.

Debian 12's Patroni (3.0.2) is safe with etcd's v2 interface only: with v3 a leader that was frozen and wakes up takes the leader's key back.
"""
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from support.postgres import PROGRAMS

TTL, LOOP_WAIT, RETRY_TIMEOUT = 6, 2, 2         # Patroni's least: a pause of seconds, so that a test has many

LOOPBACK = "127.0.0.1"

NODE = """scope: counted
name: n{n}
restapi: {{listen: "{address}:{rest}", connect_address: "{address}:{rest}"}}
etcd: {{host: "{etcd}"}}
bootstrap:
  dcs:
    ttl: {ttl}
    loop_wait: {loop}
    retry_timeout: {retry}
    primary_start_timeout: 0
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 150, shared_buffers: 64MB, wal_level: replica, hot_standby: "on", max_wal_senders: 10, max_replication_slots: 10,
        wal_log_hints: "on", synchronous_commit: "on", max_pred_locks_per_transaction: 256, wal_receiver_status_interval: 1s, wal_keep_size: 128MB}}
  initdb: [{{encoding: UTF8}}, {{locale: C.UTF-8}}, data-checksums]
postgresql:
  listen: "{address}:{port}"
  connect_address: "{address}:{port}"
  data_dir: {folder}/d{n}
  bin_dir: {programs}
  pgpass: {folder}/pgpass{n}
  authentication: {{superuser: {{username: super, password: x}}, replication: {{username: rep, password: x}}, rewind: {{username: rew, password: x}}}}
  parameters: {{unix_socket_directories: "{folder}"}}
  pg_hba: ["host all all samenet trust", "host replication all samenet trust", "local all all trust"]
"""


def missing():
    """Why there is no cluster to test with, or None."""
    if not (PROGRAMS / "initdb").exists():
        return "postgresql-15 is not installed"
    lacking = [name for name in ("patroni", "etcd") if shutil.which(name) is None]
    return f"not installed: {', '.join(lacking)} (tools/setup.sh failover)" if lacking else None


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(contextlib.closing(socket.socket())) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def tree(pid):
    """A process and all that it has started."""
    below = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    return [pid, *(each for child in below for each in tree(int(child)))]


class Node:
    """One machine: Patroni, and the PostgreSQL that it runs."""

    def __init__(self, cluster, n, rest, port):
        self.cluster, self.n, self.rest, self.port, self.patroni, self.stopping = cluster, n, rest, port, None, None
        self.machine = cluster.network.machines[n] if cluster.network else None
        self.address = self.machine.address if self.machine else LOOPBACK
        self.data = cluster.folder / f"d{n}"
        text = NODE.format(n=n, address=self.address, rest=rest, port=port, etcd=f"{cluster.etcd_address}:{cluster.etcd_port}", folder=cluster.folder,
                           programs=PROGRAMS, ttl=TTL, loop=LOOP_WAIT, retry=RETRY_TIMEOUT)
        (cluster.folder / f"n{n}.yml").write_text(text)

    def start(self):
        self.patroni = self.cluster.spawn(f"patroni{self.n}", "patroni", self.cluster.folder / f"n{self.n}.yml", machine=self.machine)

    def ask(self, path):
        """The status of Patroni's answer; 0: none."""
        try:
            with urllib.request.urlopen(f"http://{self.address}:{self.rest}{path}", timeout=1) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def conninfo(self):
        return f"host={self.address} port={self.port} user=super dbname=postgres connect_timeout=2 tcp_user_timeout=3000 " \
               "keepalives_idle=2 keepalives_interval=1 keepalives_count=2"

    def postgres_pids(self):
        try:
            return tree(int((self.data / "postmaster.pid").read_text().split()[0]))
        except (OSError, IndexError, ValueError):
            return []

    def pids(self):
        return [*([self.patroni.pid] if self.patroni else []), *self.postgres_pids()]

    @staticmethod
    def signal(pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    # what can happen to it, and what ends it

    def kill_postgres(self):
        """-9 of PostgreSQL alone; Patroni sees it."""
        self.signal(self.postgres_pids(), signal.SIGKILL)

    def stop_postgres(self):
        """Somebody stops PostgreSQL behind Patroni's back, in an orderly way."""
        self.stopping = self.postgres_pids()[0]
        self.signal([self.stopping], signal.SIGINT)

    def is_stopped(self):
        return self.stopping not in self.postgres_pids()

    def kill(self):
        """As a machine that loses its power, but for its disk."""
        self.signal(self.pids(), signal.SIGKILL)
        self.patroni.wait()
        self.patroni = None

    def freeze(self):
        self.signal(self.pids(), signal.SIGSTOP)

    def freeze_patroni(self):
        """PostgreSQL can be reached by everybody, takes itself for the primary, and nobody tells it that it is not."""
        self.signal(self.pids()[:1], signal.SIGSTOP)

    def cut_off(self):
        """As if its cable were drawn: nobody reaches it, it reaches nobody, and no connection is told."""
        self.machine.cut()

    def cut_off_from_others(self):
        """Of etcd and its standbys; servers and clients reach it as before."""
        self.machine.cut(but=self.cluster.network.here)

    def recover(self):
        """Whatever happened to it: it runs again, and can be reached."""
        if self.machine is not None:
            self.machine.mend()
        if self.patroni is None:
            self.start()
        self.signal(self.pids(), signal.SIGCONT)


class Cluster:
    def __init__(self, network=None):
        self.network, self.etcd_address = network, network.also_here if network else LOOPBACK
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="procession-ha-", dir="/tmp"))
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self.folder.chmod(0o755)
        self.etcd_port, self.peer_port, *ports = free_ports(8)
        self.processes = []
        self.nodes = [Node(self, n, ports[2 * n], ports[2 * n + 1]) for n in range(3)]

    def spawn(self, name, *command, machine=None):
        how = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 and machine is None else {}
        before = machine.enter("nobody", "nogroup") if machine else []
        with open(self.folder / f"{name}.log", "ab") as log:
            made = subprocess.Popen([*before, *map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                    env={**os.environ, "HOME": str(self.folder)}, **how)
        self.processes.append(made)
        return made

    def __enter__(self):
        try:
            client, peer = f"http://{self.etcd_address}:{self.etcd_port}", f"http://{self.etcd_address}:{self.peer_port}"
            self.spawn("etcd", "etcd", "--enable-v2", "--name", "e1", "--data-dir", self.folder / "etcd", "--listen-client-urls", client,
                       "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                       "--initial-cluster", f"e1={peer}", "--unsafe-no-fsync")
            self.nodes[0].start()
            self.wait("a primary", self.primary)
            for node in self.nodes[1:]:
                node.start()
            self.wait_whole()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for node in self.nodes:
            node.signal(node.pids(), signal.SIGCONT)
        pids = [pid for node in self.nodes for pid in node.postgres_pids()]
        for process in self.processes:
            process.kill()
            process.wait()
        Node.signal(pids, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, what, condition, timeout=120):
        until = time.monotonic() + timeout
        while not (found := condition()):
            assert time.monotonic() < until, f"the cluster has not got {what} in {timeout} s\n{self.logs()}"
            time.sleep(0.1)
        return found

    def primary(self):
        return next((node for node in self.nodes if node.ask("/primary") == 200), None)

    def standby(self):
        """The synchronous one."""
        return next((node for node in self.nodes if node.ask("/synchronous") == 200), None)

    def streaming(self):
        """How many standbys the primary sends its log to: Patroni calls one running that cannot follow."""
        import psycopg2
        node = self.primary()
        if node is None:
            return 0
        with contextlib.suppress(psycopg2.Error), contextlib.closing(psycopg2.connect(node.conninfo())) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
            return cursor.fetchone()[0]
        return 0

    def is_whole(self):
        return self.standby() and sum(node.ask("/replica") == 200 for node in self.nodes) == 2 and self.streaming() == 2

    def wait_whole(self):
        self.wait("a primary, a synchronous standby and another one", self.is_whole)

    def switch_over(self):
        """In an orderly way, as an administrator does it."""
        body = json.dumps({"leader": f"n{self.primary().n}", "candidate": f"n{self.standby().n}"}).encode()
        for node in self.nodes:
            if node.ask("/primary") == 200:
                request = urllib.request.Request(f"http://{node.address}:{node.rest}/switchover", body, {"Content-Type": "application/json"})
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(request, timeout=60).close()

    def conninfo(self):
        return f"host={','.join(node.address for node in self.nodes)} port={','.join(str(node.port) for node in self.nodes)} user=super dbname=postgres"

    def logs(self):
        return "\n".join(f"---- {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-25:]) for path in sorted(self.folder.glob("*.log")))


class Watch:
    """Plain clients that commit at every node, without us: when the cluster itself is there again."""

    def __init__(self, cluster):
        self.commits, self.stop = {}, threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(node,), daemon=True) for node in cluster.nodes]
        for thread in self.threads:
            thread.start()

    def _run(self, node):
        import psycopg2
        connection = None
        while not self.stop.is_set():
            time.sleep(0.05)
            try:
                if connection is None:
                    connection = psycopg2.connect(node.conninfo())
                    connection.autocommit = True
                cursor = connection.cursor()
                cursor.execute("SELECT pg_is_in_recovery()")
                if not cursor.fetchone()[0]:
                    cursor.execute("SELECT pg_logical_emit_message(true, 'watch', '')")
                    self.commits[node.n] = time.monotonic()
            except psycopg2.Error:
                if connection is not None:
                    connection.close()
                connection = None

    def after(self, moment, but=None):
        """When a node other than that has committed after the moment; None: not yet."""
        return min((at for n, at in self.commits.items() if at > moment and n != but), default=None)

    def end(self):
        self.stop.set()
