"""MS-SSPSJ as a client sees it, through a driver's RPC, EXEC text and another driver's EXEC text. Every test has a database of its own."""
import itertools
import uuid

import pytest

from support.calls import create_database, open_path
from support.store import ways

_numbers = itertools.count(1)


@pytest.fixture(params=ways(("pytds", "batch", "pymssql"), ("pytds",)))
def carrier(request):
    return request.param


@pytest.fixture(scope="session")
def database(server):
    """The databases are expensive to make: one for all tests of a worker, emptied before each."""
    name = f"Schedule{next(_numbers)}"
    create_database(server, name, "schedule")
    return name


def empty(db):
    for row in db.call("proc_MIP_GetScheduledJobs").dicts():
        assert db.call("proc_MIP_RemoveScheduledJob", JobId=uuid.UUID(str(row["JobId"]))).status == 0


@pytest.fixture
def db(server, database, carrier):
    with open_path(carrier, server, database, "ScheduledJobs") as path:
        empty(path)
        yield path


@pytest.fixture
def rpc(server, database):
    with open_path("wire", server, database, "ScheduledJobs") as path:
        empty(path)
        yield path


@pytest.fixture(scope="session")
def literal(server):
    name = f"ScheduleLiteral{next(_numbers)}"
    create_database(server, name, "schedule", "literal")
    with open_path("wire", server, name, "ScheduledJobs") as path:
        yield path
