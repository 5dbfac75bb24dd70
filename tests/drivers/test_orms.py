"""Object-relational mappers and query builders: one program each, run once, a test for every part of it."""
import pathlib

import pytest

from harness import check, run_program

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ("connect", "pages", "conditions", "transactions", "isolation", "procedures", "metadata")


@pytest.fixture(scope="module", params=("knex", "sequelize", "typeorm"))
def mapper(request, env, node):
    return run_program(["node", str(node / f"{request.param}.js")], env.environment())


@pytest.mark.parametrize("part", PARTS)
def test_node(mapper, part):
    check(mapper, part)


@pytest.fixture(scope="module", params=("Sybase", "ODBC"))
def dbix_class(request, env):
    odbc = f"DRIVER=FreeTDS;SERVER={env.server.host};PORT={env.server.port};DATABASE=StateService;TDS_Version=7.4;ClientCharset=UTF-8"
    return run_program(["perl", str(HERE / "perl" / "dbix_class.pl"), request.param], env.environment(PT_ODBC=odbc))


@pytest.mark.parametrize("part", PARTS)
def test_dbix_class(dbix_class, part):
    check(dbix_class, part)
