"""Driver tests: what they are given, and where their results go.

Every test carries @pytest.mark.feature(driver, feature). At the end of the run the outcome of each pair is written to
tests/drivers/out/<driver>.json; matrix.py makes docs/drivers.md from these files.
"""
import collections
import json
import os
import pathlib
import sys
import uuid

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import registry  # noqa: E402
from support import store  # noqa: E402
from support.server import Server, binary  # noqa: E402

RESULTS = collections.defaultdict(dict)


def pytest_configure(config):
    config.addinivalue_line("markers", "feature(driver, feature): which cell of docs/drivers.md this test fills")


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("feature"):
            driver, feature = mark.args
            assert driver in registry.DRIVERS and feature in registry.FEATURES, mark
            item.user_properties.append(("feature", (driver, feature)))


def pytest_runtest_logreport(report):
    for key, value in report.user_properties:
        if key != "feature" or (report.when != "call" and report.passed):
            continue
        driver, feature = value
        note = "" if report.passed else str(getattr(report.longrepr, "reprcrash", None) or report.longrepr).splitlines()[0][:300]
        result = "yes" if report.passed else "left out" if report.skipped else "no"
        old = RESULTS[driver].get(feature, {"result": "yes", "note": ""})
        if old["result"] != "no":
            RESULTS[driver][feature] = {"result": result, "note": note} if result != "yes" or not old["note"] else old


def pytest_terminal_summary(terminalreporter):
    if not RESULTS or store.is_postgres():          # docs/drivers.md is about all of them: a few run on PostgreSQL
        return
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    for driver, features in RESULTS.items():
        (out / f"{driver}.json").write_text(json.dumps(features, indent=1, sort_keys=True) + "\n")
    failed = [f"{d}/{f}" for d, features in RESULTS.items() for f, r in features.items() if r["result"] != "yes"]
    terminalreporter.write_line(f"drivers: {sum(len(f) for f in RESULTS.values())} features of {len(RESULTS)} drivers, not working: {', '.join(failed) or 'none'}")


class Env:
    """Two servers (one takes encrypted connections only) and fresh keys."""

    def __init__(self, server, tls_server, folder):
        self.server, self.tls_server, self.folder = server, tls_server, folder
        self.password = server.password

    def key(self, name="k"):
        return f"{name}-{uuid.uuid4().hex[:12]}"

    def environment(self, **more):
        """Environment of a driver's program."""
        return dict(os.environ, PT_HOST=self.server.host, PT_PORT=str(self.server.port), PT_TLS_PORT=str(self.tls_server.port),
                    PT_USER="sa", PT_PASSWORD=self.password, PT_CA=self.server.certificate, PT_TLS_CA=self.tls_server.certificate,
                    PT_PREFIX=uuid.uuid4().hex[:12], FREETDSCONF=str(self.freetds_conf()), LC_ALL="C.UTF-8", **more)

    def freetds_conf(self):
        """Sections plain71 … plain74, login74 (TLS for the login only), tls71 … tls74."""
        path = self.folder / "freetds.conf"
        if not path.exists():
            text = "[global]\n\tclient charset = UTF-8\n\ttext size = 2147483647\n\tconnect timeout = 15\n"
            for digits in ("71", "72", "73", "74"):
                for name, mode, server in (("plain", "off", self.server), ("login", "request", self.server), ("tls", "require", self.tls_server)):
                    text += (f"[{name}{digits}]\n\thost = {server.host}\n\tport = {server.port}\n\ttds version = {digits[0]}.{digits[1]}\n"
                             f"\tencryption = {mode}\n")
            path.write_text(text)
        return path


@pytest.fixture(scope="session")
def tls_server():
    made = Server(settings={"encrypt": "required", "login_fail_limit": 100000, "login_fail_window": 1}).start()
    yield made
    made.stop()
    made.remove()


@pytest.fixture(scope="session")
def env(server, tls_server, tmp_path_factory):
    return Env(server, tls_server, tmp_path_factory.mktemp("drivers"))


@pytest.fixture(scope="session")
def node():
    """The folder of the Node programs, with the packages of package-lock.json (tools/setup.sh test)."""
    folder = HERE / "node"
    for module in json.loads((folder / "package.json").read_text())["dependencies"]:
        if not (folder / "node_modules" / module / "package.json").exists():
            pytest.skip(f"{module} is not in tests/drivers/node/node_modules (tools/setup.sh test)")
    return folder


@pytest.fixture(scope="session", autouse=True)
def server_there():
    assert binary().exists(), f"no server at {binary()}: run make build, or set PROCESSIOND"
