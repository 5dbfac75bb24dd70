"""Fixtures of the scheduler's tests: a server that can be looked into, and schedulers of it or of a real one."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from fakeserver import FakeServer  # noqa: E402
from schedulerprogram import Scheduler  # noqa: E402
from support.clock import plain_binary  # noqa: E402


@pytest.fixture
def fake():
    server = FakeServer()
    yield server
    server.close()


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password"
    path.write_text("secret\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def scheduler(fake, tmp_path, password_file):
    """scheduler(...) makes one for the fake server; it is ended after the test."""
    made = []

    def make(**options):
        made.append(Scheduler(tmp_path, fake.address, password_file, name=f"scheduler{len(made)}", **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.fixture
def plain_clock():
    """Skips where libfaketime or a build without sanitizer is missing."""
    plain_binary()
