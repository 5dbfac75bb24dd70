"""Fixtures of all outside tests: servers. Each worker of pytest-xdist has its own."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from support import store  # noqa: E402
from support.server import Server  # noqa: E402

LIVE = []       # servers whose log is shown when a test fails


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes minutes; run by make test-long only")
    config.addinivalue_line("markers", "slow: takes some seconds; still part of the suite")
    config.addinivalue_line("markers", "sqlite_only(why): about files of SQLite; left out with STORE=postgres (support/store.py)")
    config.addinivalue_line("markers", "long_on_postgres(why): long with STORE=postgres")
    config.addinivalue_line("markers", "proves(ids): the requirements that the test proves (support/proves.py)")
    store.begin_shared()


@pytest.hookimpl(tryfirst=True)          # before -m looks at the markers
def pytest_collection_modifyitems(items):
    store.skip_others(items)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for server in LIVE:
            report.sections.append(("log of the server " + server.address, server.log_tail()))


def _live(server):
    server.start()
    LIVE.append(server)
    return server


def _end(server):
    try:
        server.stop()
    finally:
        if server in LIVE:
            LIVE.remove(server)
        server.remove()


@pytest.fixture(scope="session")
def server():
    """One server for everything that leaves it as it was. Tests of wrong passwords must not lock the others out."""
    made = _live(Server(settings={"login_fail_limit": 100000, "login_fail_window": 1}))
    yield made
    assert made.alive, "the server died\n" + made.log_tail()
    _end(made)


@pytest.fixture
def new_server():
    """new_server(settings={…}, config={…}) starts one more server; it is stopped and checked after the test."""
    made = []

    def make(**options):
        made.append(_live(Server(**options)))
        return made[-1]

    yield make
    for each in made:
        if each.alive:
            _end(each)
        else:
            if each in LIVE:
                LIVE.remove(each)
            each.check_log()
            each.remove()


@pytest.fixture(scope="module")
def own_server():
    """A server for the tests of one file."""
    made = _live(Server())
    yield made
    assert made.alive, "the server died\n" + made.log_tail()
    _end(made)
