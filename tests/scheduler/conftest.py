"""Fixtures of the scheduler's tests: a real server, a network in between that can be looked into, and schedulers."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from jobserver import JobServer  # noqa: E402
from proxy import Proxy  # noqa: E402
from schedulerprogram import Scheduler  # noqa: E402
from support.clock import plain_binary  # noqa: E402


@pytest.fixture(scope="session")
def job_server():
    with JobServer() as server:
        yield server


@pytest.fixture
def server(job_server):
    """A running server without a job. A test may stop it, kill it and start it again."""
    if not job_server.alive:
        job_server.start()
    job_server.wipe()
    return job_server


@pytest.fixture
def proxy(server):
    made = Proxy(server)
    yield made
    made.close()


@pytest.fixture
def scheduler(proxy, server, tmp_path):
    """scheduler(...) makes one that reaches the server through the proxy, or straight with address=server.address; it is ended after the test."""
    made = []

    def make(address=None, **options):
        made.append(Scheduler(tmp_path, address or proxy.address, server.dir / "password", name=f"scheduler{len(made)}", **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


@pytest.fixture
def plain_clock():
    """Skips where libfaketime or a build without sanitizer is missing."""
    plain_binary()
