"""Wire tests: whatever a client does, other sessions go on and the server lives."""
import uuid

import pytest

from support.wire import Wire


@pytest.fixture
def key():
    return "k-" + uuid.uuid4().hex[:16]


@pytest.fixture
def witness(server):
    """A session of somebody else: it must work after whatever the test did, and the server must be the same process."""
    pid = server.process.pid
    with Wire(server).login() as w:
        yield w
        assert server.alive and server.process.pid == pid, "the server died\n" + server.log_tail()
        assert w.batch("SELECT 17").value == 17
    with Wire(server).login() as fresh:
        assert fresh.batch("SELECT 18").value == 18
    server.check_log()


@pytest.fixture
def wire(server, witness):
    """A logged-in connection, TDS 7.4, without TLS."""
    with Wire(server).login() as w:
        yield w
