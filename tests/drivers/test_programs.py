"""Drivers of other languages: one program each, built here, run once, a test for every feature it reports."""
import os
import pathlib

import pytest

from harness import check, features, must, run_program

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def dbd_sybase(env):
    return run_program(["perl", str(HERE / "perl" / "dbd_sybase.pl")], env.environment())


@pytest.fixture(scope="module")
def pdo_dblib(env):
    return run_program(["php", "-d", "memory_limit=1G", str(HERE / "php" / "pdo_dblib.php")], env.environment())


@pytest.fixture(scope="module")
def jtds(env):
    classes = env.folder / "java"
    jar = "/usr/share/java/jtds.jar"
    must(["javac", "-encoding", "UTF-8", "-d", str(classes), "-cp", jar, str(HERE / "java" / "Jtds.java")])
    return run_program(["java", "-XX:TieredStopAtLevel=1", "-Xmx2g", "-Dfile.encoding=UTF-8", "-cp", f"{classes}:{jar}", "Jtds"], env.environment())


@pytest.fixture(scope="module")
def sqlclient(env):
    program = env.folder / "sqlclient.exe"
    must(["mcs", "-codepage:utf8", f"-out:{program}", "-r:System.Data.dll", str(HERE / "mono" / "SqlClient.cs")])
    return run_program(["mono", str(program)], env.environment())


@pytest.fixture(scope="module")
def go(env):
    program = env.folder / "go-mssqldb"
    must(["go", "build", "-o", str(program), str(HERE / "go" / "main.go")],
         dict(os.environ, GOPATH="/usr/share/gocode", GO111MODULE="off", GOFLAGS="", GOCACHE=str(env.folder / "gocache")))
    return run_program([str(program)], env.environment())


@pytest.fixture(scope="module")
def tedious(env, node):
    return run_program(["node", str(node / "tedious.js")], env.environment())


@pytest.fixture(scope="module")
def mssql(env, node):
    return run_program(["node", str(node / "mssql.js")], env.environment())


@pytest.mark.parametrize("feature", features("dbd_sybase"))
def test_dbd_sybase(dbd_sybase, feature):
    check(dbd_sybase, feature)


@pytest.mark.parametrize("feature", features("pdo_dblib"))
def test_pdo_dblib(pdo_dblib, feature):
    check(pdo_dblib, feature)


@pytest.mark.parametrize("feature", features("jtds"))
def test_jtds(jtds, feature):
    check(jtds, feature)


@pytest.mark.parametrize("feature", features("sqlclient"))
def test_sqlclient(sqlclient, feature):
    check(sqlclient, feature)


@pytest.mark.parametrize("feature", features("go"))
def test_go(go, feature):
    check(go, feature)


@pytest.mark.parametrize("feature", features("tedious"))
def test_tedious(tedious, feature):
    check(tedious, feature)


@pytest.mark.parametrize("feature", features("mssql"))
def test_mssql(mssql, feature):
    check(mssql, feature)
