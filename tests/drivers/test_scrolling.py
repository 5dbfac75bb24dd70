"""Clients that open server cursors by themselves: PHP's odbc functions and PDO over ODBC, jTDS's scrolling results, directly and out of
HikariCP's pool."""
import json
import pathlib
import shutil

import pytest

from harness import check, must, run_program

HERE = pathlib.Path(__file__).resolve().parent
HIKARI = pathlib.Path("/usr/share/java/HikariCP.jar")
SLF4J = ":".join(str(p) for p in (pathlib.Path("/usr/share/java/slf4j-api.jar"), pathlib.Path("/usr/share/java/slf4j-nop.jar")))


def test_php_odbc(env):
    if shutil.which("php") is None or "odbc" not in must(["php", "-m"]).stdout.split():
        pytest.skip("php-odbc is not installed")
    odbc = f"DRIVER=FreeTDS;SERVER={env.server.host};PORT={env.server.port};DATABASE=StateService;TDS_Version=7.4;ClientCharset=UTF-8"
    seen, second, columns, prepared_columns, row = json.loads(must(["php", str(HERE / "php" / "odbc.php")], dict(env.environment(), PT_ODBC=odbc)).stdout)
    assert seen == ["StateService", "Translation", "WordAutomation"] and second == "Translation" and columns == 2, "no column ROWSTAT"
    assert prepared_columns == 1 and row == {"name": "Translation"}


@pytest.fixture(scope="module")
def pdo_odbc(env):
    if shutil.which("php") is None or "PDO_ODBC" not in must(["php", "-m"]).stdout.split():
        pytest.skip("php-odbc is not installed")
    odbc = f"DRIVER=FreeTDS;SERVER={env.server.host};PORT={env.server.port};DATABASE=StateService;TDS_Version=7.4;ClientCharset=UTF-8"
    return run_program(["php", str(HERE / "php" / "pdo_odbc.php")], dict(env.environment(), PT_ODBC=odbc))


@pytest.mark.parametrize("part", ("connect", "prepared", "scrolls", "transactions", "procedures", "results"))
def test_pdo_over_odbc(pdo_odbc, part):
    check(pdo_odbc, part)


def test_jtds_scrolls_directly_and_pooled(env):
    if not HIKARI.exists():
        pytest.skip("libhikaricp-java is not installed")
    classes = env.folder / "scroll"
    path = f"/usr/share/java/jtds.jar:{HIKARI}:{SLF4J}"
    must(["javac", "-encoding", "UTF-8", "-d", str(classes), "-cp", path, str(HERE / "java" / "Scroll.java")])
    said = must(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{path}", "Scroll"], env.environment()).stdout.split("\n")
    assert said[:4] == ["1 S T W last 3 T S W true"] * 4
