"""MS-SPSTATE as a client sees it. Every test runs through several carriers: a driver's RPC, EXEC text, another driver's EXEC text."""
import uuid

import pytest

from support.calls import open_path, paths
from support.store import ways

DATABASE = "StateService"


@pytest.fixture
def key():
    return "state-" + uuid.uuid4().hex[:20]


@pytest.fixture(params=ways(("pytds", "batch", "pymssql"), ("pytds",)))
def carrier(request):
    return request.param


@pytest.fixture
def db(server, carrier):
    with open_path(carrier, server, DATABASE) as path:
        yield path


@pytest.fixture
def rpc(server):
    """The strict client: every token is looked at."""
    with open_path("wire", server, DATABASE) as path:
        yield path


@pytest.fixture
def pytds_db(server):
    with open_path("pytds", server, DATABASE) as path:
        yield path


@pytest.fixture
def several(server):
    with paths("wire", server, DATABASE, 6) as made:
        yield made
