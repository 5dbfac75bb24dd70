"""The models of the four services (tests/model) before three servers with one PostgreSQL.

Connections of a sequence are spread over the servers, call after call; then calls of all servers at the same moment, whose answers must fit one order.
"""
import contextlib
import os

import pytest
from test_servers import servers

from model import bursts, runner
from support import postgres, store
from support.calls import create_database

SECONDS = float(os.environ.get("PROCESSION_MODEL_SECONDS", "12")) / 4
SERVICES = ("state", "schedule", "word", "translation")


@pytest.fixture(scope="module")
def pg():
    """Twelve databases by three servers take many connections."""
    with postgres.Postgres(settings=store.SETTINGS) as made:
        yield made


@pytest.fixture(scope="module")
def three(pg):
    """The databases are made before the second server starts, so that all of them know these at once."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(servers(pg, 1, log_level="warn"))[0]
        for service in SERVICES:
            create_database(first, runner.database_of(service, "corrected"), service, "corrected")
            create_database(first, runner.database_of(service, "literal"), service, "literal")
        more = [stack.enter_context(beside(first)) for _ in range(2)]
        yield [first, *more]


def beside(server):
    return type(server)(settings=server.settings)


@pytest.mark.parametrize("service", SERVICES)
def test_calls_one_after_another_through_three_servers(three, service):
    runner.run_sequences(three, service, "corrected", runner.RealClock(), runner.SEQUENCES, SECONDS)


@pytest.mark.parametrize("service", SERVICES)
def test_calls_at_the_same_moment_fit_one_order(three, service):
    print(bursts.run_bursts(three, service, "literal", SECONDS), "sequences")
