"""DB-Library, CT-Library and ODBC from C: one small program each, compiled here."""
import pathlib

import pytest

from harness import check, features, must, run_program

HERE = pathlib.Path(__file__).resolve().parent / "c"
LIBRARIES = {"dblib": ["-lsybdb"], "ctlib": ["-lct"], "odbc": ["-lodbc", "-lpthread"]}


def build_and_run(env, name):
    program = env.folder / name
    must(["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(HERE / f"{name}.c"), *LIBRARIES[name]])
    return run_program([str(program)], env.environment())


@pytest.fixture(scope="module")
def dblib(env):
    return build_and_run(env, "dblib")


@pytest.fixture(scope="module")
def ctlib(env):
    return build_and_run(env, "ctlib")


@pytest.fixture(scope="module")
def odbc(env):
    return build_and_run(env, "odbc")


@pytest.mark.parametrize("feature", features("dblib"))
def test_dblib(dblib, feature):
    check(dblib, feature)


@pytest.mark.parametrize("feature", features("ctlib"))
def test_ctlib(ctlib, feature):
    check(ctlib, feature)


@pytest.mark.parametrize("feature", features("odbc"))
def test_odbc(odbc, feature):
    check(odbc, feature)
