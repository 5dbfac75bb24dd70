"""A server whose clock the test sets: libfaketime under the plain build (a sanitizer's runtime does not go with it).

    with ClockServer() as server:
        server.set("2008-01-31 00:59:00.500")

With STORE=postgres its PostgreSQL has the same clock, and so have all clock servers of one process. The wall clock stands still between two settings, so that every time in an answer is known exactly. Timers run on the real monotonic clock.
PROCESSIOND_PLAIN names the binary; without it PROCESSIOND is taken when it carries no sanitizer, or else build/plain, which `make test` makes.
"""
import datetime
import itertools
import os
import pathlib

import pytest

from support import server as support_server
from support import store
from support.calls import create_database
from support.server import Server

LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def find_library():
    if LIBRARY.exists():
        return LIBRARY
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return found[0] if found else None


def find_plain():
    """The binary without sanitizer, which goes with preloaded libraries."""
    named = os.environ.get("PROCESSIOND_PLAIN")
    built = support_server.ROOT / "build" / "plain" / "src" / "daemon" / "processiond"
    if not named and support_server.is_sanitized() and built.exists():
        named = built
    if not named and support_server.is_sanitized():
        pytest.skip("a library can be preloaded into a build without sanitizer only: name one in PROCESSIOND_PLAIN")
    return pathlib.Path(named).resolve() if named else support_server.binary()


def plain_binary():
    if find_library() is None:
        pytest.skip("libfaketime is not installed")
    return find_plain()


def environment(file):
    """Of a process whose clock is in the file."""
    return {"LD_PRELOAD": str(find_library()), "FAKETIME_TIMESTAMP_FILE": str(file), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_RESET": "1", "FAKETIME_FMT": "%s"}


class ClockServer(Server):
    own_clock = True
    database = support_server.DATABASE

    def __init__(self, start="2025-06-15 12:00:00", settings=None, **options):
        self.plain, self.numbers = plain_binary(), itertools.count(1)
        super().__init__(settings=settings, **options)
        # With PostgreSQL the clock of a call is that of PostgreSQL, which all clock servers of this process share.
        self.clock = store.clock_cluster().clock if store.is_postgres() else self.dir / "clock"
        self.set(start)
        self.env.update(environment(self.clock))       # for the server only

    def empty_database(self, moment):
        """Sets the clock and gives the name of a database for state that has not seen a later time: with PostgreSQL time never goes back for a database."""
        self.set(moment)
        if store.is_postgres():
            self.database = f"State{next(self.numbers)}"
            create_database(self, self.database, "state")
        return self.database

    def arguments(self):
        return [str(self.plain)] + super().arguments()[1:]

    def set(self, moment):
        """moment: a datetime, or text 'YYYY-MM-DD HH:MM:SS[.fff]', in UTC."""
        if isinstance(moment, str):
            moment = datetime.datetime.fromisoformat(moment)
        self.now = moment
        seconds = (moment - datetime.datetime(1970, 1, 1)).total_seconds()
        temporary = self.clock.with_suffix(".new")
        temporary.write_text(f"{seconds + 0.00002:.6f}\n")       # libfaketime reads a double: never just below a tick
        temporary.replace(self.clock)

    def advance(self, **delta):
        self.set(self.now + datetime.timedelta(**delta))
