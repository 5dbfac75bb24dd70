"""Servers for tests of what an operator sees."""
import pytest

from support.server import Server


@pytest.fixture
def new_server():
    """Starts servers with settings of their own; each is stopped, and must stop, when the test is over."""
    servers = []

    def make(**options):
        servers.append(Server(**options).start())
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        server.check_log()
        server.remove()


@pytest.fixture(scope="module")
def server():
    with Server() as s:
        yield s
