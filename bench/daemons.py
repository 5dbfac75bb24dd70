"""The programs that are measured: Procession, and its peers on the same machine with the same durability.

Each is started on a free port of loopback with its data in a folder of its own, and stopped by its process id."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

BENCH = pathlib.Path(__file__).resolve().parent
PG_BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
# Clear text as for the others; asking Kerberos first makes every connection wait.
os.environ |= {"PGGSSENCMODE": "disable", "PGSSLMODE": "disable"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """A child process and its log."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / f"{name}.log"
        self.process = None
        self.pid = 0
        self.address = None
        self.http = None

    def spawn(self, command, **more):
        self.process = subprocess.Popen([str(c) for c in command], stderr=open(self.log, "ab"), **more)
        self.pid = self.process.pid

    def wait_ready_line(self):
        """Servers that print `ready HOST:PORT`; ours tells where its HTTP side is before that, if it has one."""
        self.http = None
        for line in self.process.stdout:
            if line.startswith(b"Dashboard, health and metrics: "):
                self.http = line.split()[-1].decode()
            if line.startswith(b"ready "):
                self.address = line.split()[1].decode()
                return
        raise RuntimeError(f"{self.log.name}: " + self.log.read_text()[-2000:])

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process and self.process.stdout:
            self.process.stdout.close()
        self.process = None


class Procession(Daemon):
    def __init__(self, folder, program, *flags):
        super().__init__(folder, "processiond")
        self.program, self.flags = program, flags
        self.folder.mkdir(parents=True, exist_ok=True)
        self.password = self.folder / "password"
        self.password.write_text("Bench-" + os.urandom(12).hex() + "\n")
        self.password.chmod(0o600)
        self.start_seconds = 0.0

    def start(self):
        began = time.monotonic()
        self.spawn([self.program, "--data", self.folder / "data", "--listen", "127.0.0.1:0", "--sa-password-file", self.password,
                    "--log-level", "warn", *self.flags], stdout=subprocess.PIPE)
        self.wait_ready_line()
        self.start_seconds = time.monotonic() - began
        return self

    def restart(self):
        self.stop()
        return self.start()


class Echo(Daemon):
    """With TLS, if flags say so; without, otherwise."""

    def __init__(self, folder, program, *flags):
        super().__init__(folder, "echo")
        self.program, self.flags = program, flags

    def start(self):
        self.spawn([self.program, str(min(8, max(2, os.cpu_count() or 2))), *self.flags], stdout=subprocess.PIPE)
        self.wait_ready_line()
        return self


class Store:
    """SQLite without a server: a program that makes the calls itself, and ends. The first run fills the database."""

    def __init__(self, folder, program, name="store"):
        self.command = [program, "--database", pathlib.Path(folder) / f"{name}.db", "--schema", BENCH.parent / "procedures/state/schema.sql"]

    def run(self, workload, connections, seconds, **options):
        command = [*self.command, "--workload", workload, "--connections", connections, "--seconds", seconds, "--warmup", 0.5]
        for name, value in options.items():
            command += [f"--{name}", value]
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{workload}: {done.stderr.strip()}")
        return json.loads(done.stdout)


class Redis(Daemon):
    """appendfsync: always or everysec."""

    def __init__(self, folder, appendfsync):
        super().__init__(folder, "redis-" + appendfsync)
        self.appendfsync = appendfsync

    @staticmethod
    def version():
        if not shutil.which("redis-server"):
            return None
        return re.search(r"v=(\S+)", subprocess.check_output(["redis-server", "--version"], text=True))[1]

    def start(self):
        port = free_port()
        data = self.folder / ("redis-" + self.appendfsync)
        data.mkdir()
        # Protected mode takes 127.0.0.2 for a stranger; the load comes from many addresses of loopback.
        self.spawn(["redis-server", "--bind", "127.0.0.1", "--port", port, "--protected-mode", "no", "--dir", data, "--appendonly", "yes",
                    "--appendfsync", self.appendfsync, "--save", "", "--maxclients", "12000", "--logfile", self.log], stdout=subprocess.DEVNULL)
        self.address = f"127.0.0.1:{port}"
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        script = (BENCH / "peers/redis/state.lua").read_bytes()
        subprocess.run(["redis-cli", "-p", str(port), "-x", "FUNCTION", "LOAD", "REPLACE"], input=script, check=True, stdout=subprocess.DEVNULL)
        return self


class Postgres(Daemon):
    """A cluster with the defaults but for memory, connections and locks of SERIALIZABLE; fsync and synchronous_commit are on. One database for each service."""
    DATABASES = ("state", "word", "translation", "schedule")

    def __init__(self, folder, name="postgres"):
        super().__init__(folder, name)
        self.port = free_port()
        self.data = self.folder / name

    @staticmethod
    def version():
        if not (PG_BIN / "initdb").exists() or not shutil.which("pgbench"):
            return None
        return subprocess.check_output([PG_BIN / "postgres", "--version"], text=True).split()[2]

    def as_user(self, command):
        """PostgreSQL refuses to run as root."""
        return (["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []) + [str(c) for c in command]

    def make(self, *command):
        """The folder of the cluster, by this command."""
        self.data.mkdir(mode=0o700)
        if os.getuid() == 0:
            shutil.chown(self.data, "postgres")
            os.chmod(self.folder, 0o755)
        subprocess.run(self.as_user(command), check=True, stdout=subprocess.DEVNULL, cwd="/")

    def serve(self):
        settings = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", "max_connections": 1100,
                    "shared_buffers": "512MB", "fsync": "on", "synchronous_commit": "on", "max_wal_size": "4GB", "max_pred_locks_per_transaction": 256}
        flags = [f for k, v in settings.items() for f in ("-c", f"{k}={v}")]
        # runuser stays the parent of the server; the server's own number is in its pid file.
        self.spawn(self.as_user([PG_BIN / "postgres", "-D", self.data, *flags]), stdout=subprocess.DEVNULL, cwd="/")
        for _ in range(400):
            if subprocess.run([PG_BIN / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode == 0:
                break
            time.sleep(0.05)
        self.pid = int((self.data / "postmaster.pid").read_text().split()[0])

    def start(self):
        self.make(PG_BIN / "initdb", "-D", self.data, "-A", "trust", "-U", "bench", "-E", "UTF8", "--locale=C")
        self.serve()
        for name in self.DATABASES:
            self.psql("template1", "-c", f"CREATE DATABASE {name}")
            self.psql(name, "-f", str(BENCH / f"peers/postgres/{name}.sql"))
        return self

    def conninfo(self, database):
        return f"host=127.0.0.1 port={self.port} user=bench dbname={database}"

    def psql(self, database, *more):
        subprocess.run(["psql", "-q", "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-d", database, "-v", "ON_ERROR_STOP=1", *more],
                       check=True, stdout=subprocess.DEVNULL)

    def numbers(self, database, sql):
        """One row of whole numbers."""
        out = subprocess.check_output(["psql", "-q", "-X", "-A", "-t", "-F", " ", "-h", "127.0.0.1", "-p", str(self.port), "-U", "bench", "-d", database,
                                       "-v", "ON_ERROR_STOP=1", "-c", sql], text=True)
        return [int(n) for n in out.split()]

    def stop(self, how=signal.SIGINT):
        # SIGINT is PostgreSQL's fast shutdown.
        if self.process and self.process.poll() is None:
            os.kill(self.pid, how)
            self.process.wait(60)
        self.process = None

    def cpu_seconds(self):
        """Of the server and of all its children, those that have ended too: those of the connections take a moment to go."""
        time.sleep(0.3)
        ticks = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                text = path.read_text()
            except OSError:
                continue
            fields = text[text.rindex(")") + 2:].split()
            if path.parent.name == str(self.pid):
                ticks += sum(int(x) for x in fields[11:15])
            elif fields[1] == str(self.pid):
                ticks += sum(int(x) for x in fields[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")


class Standby(Postgres):
    """A copy that follows a primary, which waits for it from then on."""

    def __init__(self, folder, primary):
        super().__init__(folder, "standby")
        self.primary = primary

    def start(self):
        self.make(PG_BIN / "pg_basebackup", "-D", self.data, "-R", "-c", "fast", "-h", "127.0.0.1", "-p", self.primary.port, "-U", "bench")
        self.serve()
        self.wait_for("on")
        return self

    def wait_for(self, standby):
        """on: commits of the primary wait for the standby; off: they do not."""
        names = "*" if standby == "on" else ""
        self.primary.psql("template1", "-c", f"ALTER SYSTEM SET synchronous_standby_names = '{names}'", "-c", "SELECT pg_reload_conf()")
        time.sleep(0.5)

    def stop(self, how=signal.SIGINT):
        if self.process:
            self.wait_for("off")
        super().stop(how)
