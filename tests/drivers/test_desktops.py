"""Clients of whole desktops and languages: Qt, Lazarus, SOCI, Erlang, R, Ruby, Tcl, PostgreSQL, LibreOffice Base, Hibernate. Their packages are those of tools/setup.sh clients."""
import contextlib
import pathlib
import shutil
import subprocess

import pytds
import pytest

from harness import check, must, run_program
from support import postgres

HERE = pathlib.Path(__file__).resolve().parent
pytestmark = pytest.mark.long


def odbc(env, database="StateService"):
    return f"DRIVER=FreeTDS;SERVER={env.server.host};PORT={env.server.port};DATABASE={database};TDS_Version=7.4;ClientCharset=UTF-8"


# Qt

QT_PARTS = ("connect", "pages", "scrolls", "prepared", "transactions", "isolation", "procedures", "metadata")


@pytest.fixture(scope="module")
def qt_program(env):
    if subprocess.run(["pkg-config", "--exists", "Qt5Sql"]).returncode != 0:
        pytest.skip("qtbase5-dev is not installed (tools/setup.sh clients)")
    program = env.folder / "qt-sql"
    flags = must(["pkg-config", "--cflags", "--libs", "Qt5Sql", "Qt5Core"]).stdout.split()
    must(["g++", "-std=c++17", "-fPIC", "-w", str(HERE / "qt" / "sql.cpp"), "-o", str(program), *flags])
    return program


@pytest.fixture(scope="module", params=("QODBC", "QTDS"))
def qt(request, env, qt_program):
    return run_program([str(qt_program), request.param], env.environment(PT_ODBC=odbc(env)))


@pytest.mark.parametrize("part", QT_PARTS)
def test_qt(qt, part):
    check(qt, part)


# Lazarus: its database components are Free Pascal's, which need no desktop.

@pytest.fixture(scope="module")
def lazarus(env):
    if shutil.which("fpc") is None:
        pytest.skip("fp-compiler and fp-units-db are not installed (tools/setup.sh clients)")
    program = env.folder / "lazarus"
    must(["fpc", "-v0", f"-FU{env.folder}", f"-o{program}", str(HERE / "pascal" / "lazarus.pas")])
    return run_program([str(program)], env.environment())


@pytest.mark.parametrize("part", ("connect", "pages", "parameters", "transactions", "procedures", "metadata"))
def test_lazarus(lazarus, part):
    check(lazarus, part)


# SOCI

@pytest.fixture(scope="module")
def soci(env):
    if not pathlib.Path("/usr/include/soci/odbc/soci-odbc.h").exists():
        pytest.skip("libsoci-dev is not installed (tools/setup.sh clients)")
    program = env.folder / "soci"
    must(["g++", "-std=c++17", "-w", str(HERE / "soci" / "soci.cpp"), "-o", str(program), "-lsoci_odbc", "-lsoci_core", "-lodbc"])
    return run_program([str(program)], env.environment(PT_ODBC=odbc(env)))


@pytest.mark.parametrize("part", ("connect", "columns", "pages", "prepared", "transactions", "procedures", "metadata"))
def test_soci(soci, part):
    check(soci, part)


# Erlang

@pytest.fixture(scope="module")
def erlang(env):
    if shutil.which("escript") is None or not list(pathlib.Path("/usr/lib/erlang/lib").glob("odbc-*")):
        pytest.skip("erlang-odbc is not installed (tools/setup.sh clients)")
    return run_program(["escript", str(HERE / "erlang" / "odbc.escript")], env.environment(PT_ODBC=odbc(env)))


@pytest.mark.parametrize("part", ("connect", "pages", "scrolls", "prepared", "transactions", "procedures", "metadata"))
def test_erlang(erlang, part):
    check(erlang, part)


# R

@pytest.fixture(scope="module")
def rodbc(env):
    if shutil.which("Rscript") is None:
        pytest.skip("r-cran-rodbc is not installed (tools/setup.sh clients)")
    return run_program(["Rscript", "--vanilla", str(HERE / "r" / "rodbc.R")], env.environment(PT_ODBC=odbc(env)))


@pytest.mark.parametrize("part", ("connect", "pages", "transactions", "procedures", "metadata"))
def test_rodbc(rodbc, part):
    check(rodbc, part)


# Ruby: Sequel. Its ODBC module binds to functions of its own that have the names of ODBC's, unless the driver manager is loaded first.

UNIXODBC = "/usr/lib/x86_64-linux-gnu/libodbc.so.2"


@pytest.fixture(scope="module")
def sequel(env):
    if shutil.which("ruby") is None or subprocess.run(["ruby", "-e", "require 'sequel'; require 'odbc'"], capture_output=True, check=False).returncode != 0:
        pytest.skip("ruby-odbc and ruby-sequel are not installed (tools/setup.sh clients)")
    return run_program(["ruby", str(HERE / "ruby" / "sequel.rb")], env.environment(PT_ODBC=odbc(env), LD_PRELOAD=UNIXODBC))


@pytest.mark.parametrize("part", ("connect", "pages", "conditions", "transactions", "procedures", "metadata"))
def test_sequel(sequel, part):
    check(sequel, part)


# Tcl

@pytest.fixture(scope="module")
def tcl(env):
    if not list(pathlib.Path("/usr/lib").glob("**/libtdbcodbc*.so")):
        pytest.skip("tcl8.6-tdbc-odbc is not installed (tools/setup.sh clients)")
    return run_program(["tclsh8.6", str(HERE / "tcl" / "tdbc.tcl")], env.environment(PT_ODBC=odbc(env)))


@pytest.mark.parametrize("part", ("connect", "rows", "transactions", "procedures", "metadata"))
def test_tcl(tcl, part):
    check(tcl, part)


# PostgreSQL: a database that reads our views as foreign tables

@pytest.fixture(scope="module")
def foreign(env):
    if not pathlib.Path("/usr/share/postgresql/15/extension/tds_fdw.control").exists():
        pytest.skip("postgresql-15-tds-fdw is not installed (tools/setup.sh clients)")
    with postgres.Postgres() as pg, contextlib.closing(pg.connect()) as connection:
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute("CREATE EXTENSION tds_fdw")
        cursor.execute("CREATE SERVER procession FOREIGN DATA WRAPPER tds_fdw OPTIONS "
                       f"(servername '{env.server.host}', port '{env.server.port}', database 'StateService', tds_version '7.4')")
        cursor.execute(f"CREATE USER MAPPING FOR CURRENT_USER SERVER procession OPTIONS (username 'sa', password '{env.password}')")
        yield cursor


def test_postgresql_imports_and_reads_our_views(env, foreign):
    key = env.key("fdw")
    with pytds.connect(env.server.host, "StateService", "sa", env.password, port=env.server.port, autocommit=True) as db, db.cursor() as cursor:
        cursor.execute(f"EXEC proc_AddItem '{key}', 0x616263, 20")
    foreign.execute("CREATE SCHEMA ours")
    foreign.execute("IMPORT FOREIGN SCHEMA dbo FROM SERVER procession INTO ours")
    foreign.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'ours'")
    assert foreign.fetchall() == [("Items",)]
    foreign.execute('SELECT "Bytes", "LockTime", "Expires" > now() FROM ours."Items" WHERE "Id" = %s', (key,))
    assert foreign.fetchall() == [(3, None, True)]
    foreign.execute("CREATE FOREIGN TABLE databases (name text, database_id int) SERVER procession OPTIONS "
                    "(query 'SELECT name, database_id FROM sys.databases WHERE database_id > 4')")
    foreign.execute("SELECT name FROM databases")       # a WHERE or ORDER BY here is lost by tds_fdw 2.0.3 itself
    assert sorted(name for name, in foreign.fetchall()) == ["ScheduledJobs", "StateService", "Translation", "WordAutomation"]


# LibreOffice Base

ODBC_PARTS = ("connect", "pages", "prepared", "row_set", "transactions", "isolation")              # why not more: base.py
JDBC_PARTS = (*ODBC_PARTS, "scrolls", "metadata")


def base(env, folder, environment, *url):
    if not pathlib.Path("/usr/lib/libreoffice/program/libodbclo.so").exists():
        pytest.skip("libreoffice-base is not installed (tools/setup.sh clients)")
    return run_program(["/usr/bin/python3", str(HERE / "base" / "base.py"), str(folder), *url], env.environment(HOME=str(folder), **environment), timeout=300)


@pytest.fixture(scope="module")
def base_odbc(env, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odbc")
    (folder / "odbc.ini").write_text("[procession]\n" + odbc(env).replace("DRIVER=", "Driver=").replace(";", "\n") + "\n")
    return base(env, folder, {"ODBCINI": str(folder / "odbc.ini")}, "sdbc:odbc:procession")


@pytest.fixture(scope="module")
def base_jdbc(env, tmp_path_factory):
    return base(env, tmp_path_factory.mktemp("jdbc"), {}, f"jdbc:jtds:sqlserver://{env.server.host}:{env.server.port}/StateService",
                "net.sourceforge.jtds.jdbc.Driver", "/usr/share/java/jtds.jar")


@pytest.mark.parametrize("part", ODBC_PARTS)
def test_base_odbc(base_odbc, part):
    check(base_odbc, part)


@pytest.mark.parametrize("part", JDBC_PARTS)
def test_base_jdbc(base_jdbc, part):
    check(base_jdbc, part)


# Hibernate

DIALECTS = ("SQLServerDialect", "SQLServer2008Dialect")
JARS = ("hibernate3", "hibernate-commons-annotations", "geronimo-jpa_2.0_spec", "geronimo-jta-1.2-spec", "dom4j", "commons-collections3", "antlr", "javassist",
        "slf4j-api", "slf4j-nop", "jtds")


@pytest.fixture(scope="module")
def hibernate(env):
    jars = [pathlib.Path(f"/usr/share/java/{jar}.jar") for jar in JARS]
    missing = [str(jar) for jar in jars if not jar.exists()]
    if missing:
        pytest.skip(f"{', '.join(missing)} not found (tools/setup.sh clients)")
    classes, path = env.folder / "orm", ":".join(map(str, jars))
    must(["javac", "-nowarn", "-encoding", "UTF-8", "-d", str(classes), "-cp", path, str(HERE / "java" / "Orm.java")])
    return run_program(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{path}", "Orm", *DIALECTS], env.environment())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("part", ("pages", "scrolls", "conditions", "transactions", "procedures"))
def test_hibernate(hibernate, part, dialect):
    check(hibernate, f"{part} {dialect}")
