"""A server whose clock the test sets: libfaketime under the plain build (a sanitizer's runtime does not go with it).

    with ClockServer() as server:
        server.set("2008-01-31 00:59:00.500")

The wall clock stands still between two settings, so that every time in an answer is known exactly. Timers run on the real monotonic clock.
PROCESSIOND_PLAIN names the binary; without it PROCESSIOND is taken when it carries no sanitizer, or else build/plain, which `make test` makes.
"""
import datetime
import os
import pathlib

import pytest

from support import server as support_server
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


class ClockServer(Server):
    def __init__(self, start="2025-06-15 12:00:00", settings=None, **options):
        self.plain = plain_binary()
        super().__init__(settings=settings, **options)
        self.clock = self.dir / "clock"
        self.set(start)
        # The preload is for the server only: env of the child
        self.env.update(LD_PRELOAD=str(find_library()), FAKETIME_TIMESTAMP_FILE=str(self.clock), FAKETIME_NO_CACHE="1",
                        FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_RESET="1", FAKETIME_FMT="%s")

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
