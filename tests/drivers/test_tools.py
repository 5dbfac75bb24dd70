"""What graphical tools send at connect and for their trees (tools/statements.sql)."""
import pyodbc
import pytds
import pytest

from tools import statements

ALL = statements.read()


def connect(env, statement):
    """A connection of its own for every statement: what one leaves behind is not the next one's matter. FreeTDS' ODBC driver for
    those with question marks, pytds for the others, since it knows sql_variant."""
    if not statement.values:
        return pytds.connect(env.server.host, statement.database, "sa", env.password, port=env.server.port, autocommit=True, login_timeout=15)
    text = f"DRIVER=FreeTDS;SERVER={env.server.host};PORT={env.server.port};TDS_Version=7.4;Encryption=off;ClientCharset=UTF-8;"
    return pyodbc.connect(text + f"DATABASE={statement.database};UID=sa;PWD={env.password}", autocommit=True, timeout=15)


@pytest.mark.parametrize("statement", [s for s in ALL if not s.refused], ids=str)
def test_the_statement_of_a_tool_is_answered(env, statement):
    with connect(env, statement) as connection, connection.cursor() as cursor:
        sets = statements.result_sets(cursor, statement)
    assert statements.fault(statement, sets) is None, statement.text


@pytest.mark.parametrize("statement", [s for s in ALL if s.refused], ids=str)
def test_what_is_refused_is_refused_by_name(env, statement):
    with pytest.raises((pyodbc.Error, pytds.Error)), connect(env, statement) as connection, connection.cursor() as cursor:
        statements.result_sets(cursor, statement)


def test_nineteen_of_twenty_are_answered():
    answered, listed, _ = statements.summary(ALL)
    assert listed >= 170 and answered >= 0.95 * listed
