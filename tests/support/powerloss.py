"""A server whose power can be cut: what it has not flushed is gone (powerloss.c, preloaded under the plain build; a sanitizer's runtime does not go with it).

    with PowerServer() as server:
        …
        server.cut()            # kill -9, and the data folder becomes what the disk kept
        server.start()

POWERLOSS names the library; without it the one of build/asan or build/meson is taken.
"""
import contextlib
import os
import pathlib
import random
import shutil
import sqlite3
import tempfile

import pytest

from support import server as support_server
from support.clock import find_plain
from support.server import Server

BLOCK = 4096


def find_library():
    named = os.environ.get("POWERLOSS")
    build = support_server.ROOT / "build"
    found = [path for path in ([pathlib.Path(named)] if named else [build / "asan/tests/support/powerloss.so", build / "meson/tests/support/powerloss.so"]) if path.exists()]
    if not found:
        pytest.skip("powerloss.so is not built: tools/build.sh asan, or name it in POWERLOSS")
    return found[0].resolve()


class PowerServer(Server):
    def __init__(self, **options):
        self.plain, self.library = find_plain(), find_library()
        super().__init__(**options)
        self.disk = self.dir / "disk"
        self.stall, self.broken, self.hang = self.dir / "stall", self.dir / "broken", self.dir / "hang"
        self.env.update(LD_PRELOAD=str(self.library), POWERLOSS_DATA=str(self.data), POWERLOSS_DISK=str(self.disk), POWERLOSS_STALL=str(self.stall),
                        POWERLOSS_FAIL=str(self.broken), POWERLOSS_HANG=str(self.hang))

    def arguments(self):
        return [str(self.plain)] + super().arguments()[1:]

    def start(self):
        """Whatever is in the folder now has been on the disk for long."""
        shutil.rmtree(self.disk, ignore_errors=True)
        self.disk.mkdir()
        for name in self.stored():
            shutil.copy(self.data / name, self.disk)
        return super().start()

    def stored(self, folder=None):
        """The names of the databases and their WALs. Other files are small and made at the first start only."""
        return sorted(path.name for path in (folder or self.data).glob("*") if path.name.endswith((".db", ".db-wal")))

    def cut(self, seed=None):
        """kill -9 and the end of the power. seed None: nothing survives that was not flushed. Otherwise some of it does, block by block, as the seed says."""
        self.kill()
        self.let_flush()
        for name in set(self.stored()) | set(self.stored(self.disk)):
            if seed is not None and (self.data / name).exists():
                mix(self.data / name, self.disk / name, random.Random(f"{seed} {name}"))
            (self.data / name).unlink(missing_ok=True)
            if (self.disk / name).exists():
                shutil.copy(self.disk / name, self.data)
        for path in self.data.glob("*.db-shm"):
            path.unlink()               # memory, not disk

    def outcomes(self, *seeds):
        """Cuts the power once; for each seed (see cut) the server is started on what it finds then, to be looked at. Killed again in the end."""
        self.kill()
        for folder in (self.data, self.disk):
            shutil.rmtree(f"{folder}-then", ignore_errors=True)
            shutil.copytree(folder, f"{folder}-then")
        for seed in seeds:
            for folder in (self.data, self.disk):
                shutil.rmtree(folder)
                shutil.copytree(f"{folder}-then", folder)
            self.cut(seed)
            yield self.start()
            self.kill()

    def hold_flush(self, tail=""):
        """From now on no flush of a file whose name ends so ends, until let_flush()."""
        switch(self.stall, tail)

    def let_flush(self):
        self.stall.unlink(missing_ok=True)

    def hold_reads(self, *databases):
        """From now on no read of these databases ends, until let_read()."""
        switch(self.hang, " ".join(databases))

    def let_read(self):
        self.hang.unlink(missing_ok=True)

    def break_disk(self, tail=""):
        """From now on every flush of a file whose name ends so fails, until mend_disk()."""
        switch(self.broken, tail)

    def mend_disk(self):
        self.broken.unlink()

    def ask_disk(self, database, sql):
        """What a query gives of the file that the disk has now. Looks at a copy: SQLite would repair it."""
        with tempfile.TemporaryDirectory() as folder:
            for name in (database + ".db", database + ".db-wal"):
                if (self.disk / name).exists():
                    shutil.copy(self.disk / name, folder)
            with contextlib.closing(sqlite3.connect(pathlib.Path(folder) / (database + ".db"))) as db:
                return db.execute(sql).fetchall()


def switch(file, text):
    """The library sees all of it or nothing."""
    new = file.with_name(file.name + ".new")
    new.write_text(text)
    new.rename(file)


def mix(written, kept, rng):
    """A drive writes the blocks of its cache in any order: puts some of the newer ones into kept; of a WAL often the first ones, which are whole commits then."""
    new, old = written.read_bytes(), kept.read_bytes() if kept.exists() else b""
    blocks = range((max(len(new), len(old)) + BLOCK - 1) // BLOCK)
    differ = [i for i in blocks if new[i * BLOCK:(i + 1) * BLOCK] != old[i * BLOCK:(i + 1) * BLOCK]]
    some = differ[:rng.randint(0, len(differ))]
    if rng.random() < 0.5:
        some = [i for i in differ if rng.random() < 0.9]
    mixed = bytearray(old.ljust(len(blocks) * BLOCK, b"\0"))
    for i in some:
        mixed[i * BLOCK:(i + 1) * BLOCK] = new[i * BLOCK:(i + 1) * BLOCK].ljust(BLOCK, b"\0")
    kept.write_bytes(mixed[:max(len(old), len(new))])
