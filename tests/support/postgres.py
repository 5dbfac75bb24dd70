"""A PostgreSQL of the tests' own, from Debian's package: a folder and a socket of its own, no TCP, an unprivileged user.

    with Postgres() as pg:
        connection = pg.connect()           # psycopg2, database postgres
        pg.conninfo("name")                 # for a server under test

fsync is off unless durable=True: most tests are not about crashes of the machine.
"""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of all locales the one whose order and letters are the least like ours (I and i are no pair): what is not compared as declared shows.
LOCALE = ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=tr-TR")
SERVICES = ("system", "word", "translation", "schedule", "state")


def missing():
    """Why there is no PostgreSQL to test with, or None."""
    try:
        import psycopg2     # noqa: F401
    except ImportError:
        return "python3-psycopg2 is not installed"
    return None if (PROGRAMS / "initdb").exists() else "postgresql-15 is not installed"


class Postgres:
    def __init__(self, settings=None, durable=False, folder=None):
        """folder: one that somebody else has started, to be used and left alone."""
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="procession-pg-", dir="/tmp"))
        self.data, self.user, self.running = self.folder / "data", "postgres", False
        self.settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "shared_buffers": "64MB",
                         "fsync": "on" if durable else "off", "max_connections": "60", "log_min_messages": "warning", **(settings or {})}
        self.scripts = self.folder / "scripts"

    def environment(self):
        return dict(os.environ)

    # PostgreSQL refuses to be root.
    def _run(self, program, *args):
        how = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        done = subprocess.run([PROGRAMS / program, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, cwd=self.folder, env=self.environment(), check=False, **how)
        assert done.returncode == 0, f"{program}: {done.stdout.decode(errors='replace')}\n{self.log()}"

    def start(self):
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.folder.chmod(0o755)
        if not self.data.exists():
            self._run("initdb", "-D", self.data, "-U", self.user, "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions", *LOCALE)
        flags = " ".join(f"-c {k}='{v}'" for k, v in self.settings.items())
        # its output goes to a file: pg_ctl's pipe would stay open as long as the server lives
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "120", "-l", self.folder / "log", "-o", flags, "start")
        self.running = True
        return self

    def stop(self, mode="fast"):
        if self.running:
            self._run("pg_ctl", "-D", self.data, "-w", "-t", "120", "-m", mode, "stop")
            self.running = False

    def processes(self):
        """The postmaster and what it has started, which are its children."""
        postmaster = (self.data / "postmaster.pid").read_text().split()[0]
        children = subprocess.run(["pgrep", "-P", postmaster], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        return [int(pid) for pid in (postmaster, *children)]

    def _signal(self, number):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def freeze(self):
        """As a machine that stands still: its connections stay, and nobody answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self):
        self._signal(signal.SIGCONT)

    def kill(self):
        """As a machine that loses its power, but for its disk."""
        self._signal(signal.SIGKILL)
        self.running = False

    @contextlib.contextmanager
    def small_tablespace(self, megabytes):
        """A tablespace that is full soon; gives a cursor. Root only: a file system is mounted."""
        place = self.folder / "small"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700,uid=nobody", "tmpfs", place], check=True)
        try:
            with contextlib.closing(self.connect()) as connection:
                connection.cursor().execute(f"CREATE TABLESPACE small LOCATION '{place}'")
                yield connection.cursor()
        finally:
            self.stop("immediate")
            subprocess.run(["umount", place], check=True)

    def synchronous(self):
        """From now on a commit waits for a standby, which must be there already."""
        with contextlib.closing(self.connect()) as connection:
            connection.cursor().execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.cursor().execute("SELECT pg_reload_conf()")

    def remove(self):
        if self.running:
            self.thaw()         # what stands still cannot be stopped
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.remove()

    def log(self):
        try:
            return (self.folder / "log").read_text(errors="replace")[-4000:]
        except OSError:
            return ""

    def conninfo(self, database="postgres"):
        port = f"port={self.settings['port']} " if "port" in self.settings else ""
        return f"host={self.folder} {port}user={self.user} dbname={database}"

    def connect(self, database="postgres", path=None):
        import psycopg2
        connection = psycopg2.connect(self.conninfo(database))
        connection.autocommit = True
        if path:
            connection.cursor().execute(f"SET search_path = {path}")
        return connection

    def script(self, name):
        """A script of the generator."""
        if not self.scripts.exists():
            subprocess.run([sys.executable, "-B", ROOT / "tools/procgen.py", "--sql", self.scripts], check=True)
        return (self.scripts / f"postgres_{name}.sql").read_text(encoding="utf-8")

    def load(self, service, schema):
        """An empty store of the service in a schema; gives a connection that works in it."""
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("CREATE SCHEMA IF NOT EXISTS procession")
            cursor.execute("SET search_path = procession")
            cursor.execute(self.script("common"))
            cursor.execute(f"CREATE SCHEMA {schema}")
            cursor.execute(f"SET search_path = {schema}, procession, pg_catalog")
            cursor.execute(self.script("store"))
            cursor.execute(self.script(service))
        connection.close()
        return self.connect(path=f"{schema}, procession, pg_catalog")


class Standby(Postgres):
    """A copy of a primary that follows it, until it is promoted."""
    follows = ("-R",)

    def __init__(self, primary, **options):
        super().__init__(**options)
        self.primary = primary

    def copy(self):
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.folder.chmod(0o755)
        self._run("pg_basebackup", "-D", self.data, *self.follows, "-c", "fast", "-h", self.primary.folder, "-U", self.user, "--no-sync")

    def start(self):
        if not self.data.exists():
            self.copy()
        return super().start()

    def promote(self):
        self._run("pg_ctl", "-D", self.data, "-w", "-t", "60", "promote")


@contextlib.contextmanager
def pair():
    """A primary and its synchronous standby."""
    with Postgres(settings={"wal_level": "replica"}) as primary, Standby(primary) as standby:
        primary.synchronous()
        yield primary, standby


class Restored(Standby):
    """A base backup, made now, of which start() makes a primary of its own."""
    follows = ()

    def __init__(self, primary, **options):
        super().__init__(primary, **options)
        self.copy()
