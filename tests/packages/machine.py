"""A fresh Debian with systemd running in it, for packages to be installed on: systemd-nspawn over a debootstrap.

The debootstrap is made once, in build/debootstrap (or DEBOOTSTRAP_CACHE), from the mirror that apt of this machine uses; every
machine is a copy. It has a network of its own without a way out: whatever it needs is put into it before it starts.
"""
import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("DEBOOTSTRAP_CACHE", ROOT / "build" / "debootstrap"))
SUITE = "bookworm"


def why_not():
    """A reason why no such machine can be had here; None: it can."""
    if os.getuid() != 0:
        return "needs root: debootstrap and systemd-nspawn"
    missing = [p for p in ("debootstrap", "systemd-nspawn", "nsenter") if shutil.which(p) is None]
    return f"not installed: {' '.join(missing)}" if missing else None


def mirror():
    """Where apt of this machine takes packages from."""
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", f"Codename: {SUITE}", "Created-By: Packages"],
                          capture_output=True, text=True, check=True).stdout.split()
    if not told:
        raise RuntimeError(f"apt knows no mirror of {SUITE}")
    return told[0]


@contextlib.contextmanager
def one_at_a_time(name):
    """Tests of other processes wait here."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / f"{name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def base():
    """The folder of the debootstrap, made when it is not there."""
    with one_at_a_time("debootstrap"):
        return make_base(CACHE / SUITE)


def make_base(folder):
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        making = pathlib.Path(tempfile.mkdtemp(dir=CACHE))
        making.chmod(0o755)
        subprocess.run(["debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus", SUITE, making, mirror()],
                       check=True, capture_output=True)
        making.rename(folder)
    return folder


def copy_base(folder):
    """A copy in which apt can fetch: with this machine's resolver and settings of apt."""
    subprocess.run(["cp", "-a", "--reflink=auto", base(), folder], check=True)
    for name in ("/etc/resolv.conf", "/etc/hosts"):
        shutil.copy(name, str(folder) + name)
    for settings in pathlib.Path("/etc/apt/apt.conf.d").glob("99*"):
        shutil.copy(settings, folder / "etc/apt/apt.conf.d")


class Machine:
    """A booted copy. run() executes in it; outside() executes a program of this machine in its network."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="machine-"))
        self.folder = self.top / "root"
        copy_base(self.folder)
        self.process = self.leader = None

    def fetch(self, *packages):
        """Packages and what they need, for the machine to install later, when it has no network."""
        for args in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", "--download-only", *packages]):
            subprocess.run(["chroot", self.folder, "apt-get", *args], check=True, capture_output=True, timeout=1200)

    def __enter__(self):
        # The machines' own cgroups: the unified hierarchy, also where this machine has the old one.
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", f"--directory={self.folder}", "--register=no", "--keep-unit", "--private-network",
             "--console=pipe", "--boot"], env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + 300
        while self.state() not in ("running", "degraded"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise RuntimeError("systemd does not start here: " + self.process.stdout.read()[-500:])
            time.sleep(0.5)
        return self

    def state(self):
        if self.leader is None:
            children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False).stdout.split()
            if not children:
                return "none"
            self.leader = children[0]
        return self.run("systemctl", "is-system-running", check=False).stdout.strip()

    def __exit__(self, *_):
        self.process.terminate()        # the first asks systemd inside, the second ends it
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait(60)
        shutil.rmtree(self.top, ignore_errors=True)

    def run(self, *words, check=True, **more):
        done = subprocess.run(["nsenter", "-t", self.leader, "-a", "env", "DEBIAN_FRONTEND=noninteractive", *map(str, words)],
                              capture_output=True, text=True, timeout=600, check=False, **more)
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def said(self, *words, **more):
        return self.run(*words, **more).stdout.strip()

    def outside(self, *words):
        done = subprocess.run(["nsenter", "-t", self.leader, "-n", *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done

    def path(self, inside):
        return self.folder / str(inside).lstrip("/")

    def journal(self, unit):
        return self.said("journalctl", "--no-pager", "-u", unit)
