"""What the numbers were measured on, and what its disk can do."""
import contextlib
import os
import pathlib
import platform
import sqlite3
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def command_output(*command):
    try:
        return subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL, cwd=ROOT).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe(folder):
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) // 1024
    return {
        "cpu": cpu_model(), "cores": os.cpu_count(), "memory_mib": memory, "kernel": platform.release(),
        "filesystem": command_output("findmnt", "-n", "-o", "FSTYPE", "-T", str(folder)),
        "load_average": os.getloadavg()[0],
    }


def commit():
    text = command_output("git", "rev-parse", "--short=12", "HEAD")
    return text + ("+changes" if command_output("git", "status", "--porcelain", "--untracked-files=no", "src", "procedures") else "")


def write_seconds(folder, size, times):
    """Seconds to write a file of this size and flush it, each time; the file is there already, as a database's is."""
    path = pathlib.Path(folder) / "flush.tmp"
    block = os.urandom(min(size, 1 << 20))
    taken = []
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        for _ in range(times + 1):
            began = time.monotonic()
            os.lseek(fd, 0, os.SEEK_SET)
            for at in range(0, size, len(block)):
                os.write(fd, block[:size - at])
            os.fdatasync(fd)
            taken.append(time.monotonic() - began)
    finally:
        os.close(fd)
        path.unlink()
    return statistics.median(taken[1:])


def update_seconds(folder, size, times):
    """Seconds to replace a value of this size in SQLite as it comes, durably: no server, no network."""
    path = pathlib.Path(folder) / "update.tmp"
    values = os.urandom(size), os.urandom(size)
    taken = []
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; CREATE TABLE body (n INTEGER PRIMARY KEY, data BLOB)")
        db.execute("INSERT INTO body VALUES (1, ?)", (values[1],))
        for i in range(times + 1):
            began = time.monotonic()
            db.execute("UPDATE body SET data = ? WHERE n = 1", (values[i % 2],))
            taken.append(time.monotonic() - began)
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    path.unlink()
    return statistics.median(taken[1:])


def flush_us(folder):
    """One durable write of 4 KiB. The best of some medians: on a busy machine the others only show how long a process waits for its turn."""
    return min(write_seconds(folder, 4096, 40) for _ in range(5)) * 1e6
