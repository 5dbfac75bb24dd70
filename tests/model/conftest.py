"""Servers of the model tests: one with the real clock, one whose clock the test sets."""
import pytest

from support.clock import ClockServer
from support.server import Server


@pytest.fixture(scope="module")
def clock_server():
    with ClockServer("2024-02-28 20:00:00", settings={"sweep_interval": 0, "log_level": "warn"}) as server:
        yield server


@pytest.fixture(scope="module")
def real_server():
    with Server(settings={"log_level": "warn"}) as server:
        yield server
