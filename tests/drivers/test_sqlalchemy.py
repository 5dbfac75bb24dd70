"""SQLAlchemy over pymssql and pyodbc: engines with isolation levels, the inspector, texts, pages."""
import os

import pytest
import sqlalchemy as sa

LEVELS = ("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT", "AUTOCOMMIT")


@pytest.fixture(scope="module", params=("pymssql", "pyodbc"))
def url(request, env):
    os.environ["FREETDSCONF"] = str(env.freetds_conf())
    query = {} if request.param == "pymssql" else {"driver": "FreeTDS", "TDS_Version": "7.4", "Encryption": "off", "ClientCharset": "UTF-8"}
    return sa.engine.URL.create(f"mssql+{request.param}", "sa", env.password, env.server.host, env.server.port, "StateService", query)


@pytest.fixture(scope="module")
def engine(url):
    made = sa.create_engine(url)
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def items(engine, env):
    """Twelve items whose names no other test has."""
    prefix = env.key("page")
    with engine.begin() as connection:
        for i in range(12):
            connection.execute(sa.text("EXEC proc_AddItem @id = :id, @item = 0x01, @timeout = 20"), {"id": f"{prefix}-{i:02}"})
    return prefix


@pytest.mark.parametrize("level", LEVELS)
def test_an_engine_with_an_isolation_level(url, level):
    engine = sa.create_engine(url, isolation_level=level)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT db_name()")).scalar() == "StateService"
        if level != "AUTOCOMMIT":
            assert connection.get_isolation_level() == level
    engine.dispose()


def test_the_level_of_a_connection_is_its_own(engine):
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
    with engine.connect().execution_options(isolation_level="SERIALIZABLE") as connection:
        assert connection.get_isolation_level() == "SERIALIZABLE"
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"


def test_the_inspector_shows_views_with_columns(engine):
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == [] and inspector.get_view_names() == ["Items"]
    assert "dbo" in inspector.get_schema_names() and inspector.default_schema_name == "dbo"
    columns = {c["name"]: c for c in inspector.get_columns("Items")}
    assert list(columns) == ["Id", "Locked", "LockCookie", "LockTime", "TimeoutMinutes", "Expires", "Bytes"]
    assert isinstance(columns["Id"]["type"], sa.VARCHAR) and columns["Id"]["type"].length == 512
    assert columns["LockTime"]["nullable"] and not columns["Expires"]["nullable"]
    assert inspector.get_pk_constraint("Items")["constrained_columns"] == []
    assert inspector.get_foreign_keys("Items") == [] and inspector.get_indexes("Items") == []
    assert "FROM" in inspector.get_view_definition("Items")
    assert inspector.has_table("Items") and not inspector.has_table("Nothing")


def test_a_reflected_view_is_read_in_pages(engine, items):
    table = sa.Table("Items", sa.MetaData(), autoload_with=engine)
    query = sa.select(table.c.Id).where(table.c.Id.like(items + "-%")).order_by(table.c.Id)
    with engine.connect() as connection:
        first = [row[0] for row in connection.execute(query.limit(5))]
        second = [row[0] for row in connection.execute(query.limit(5).offset(5))]
        count = connection.execute(sa.select(sa.func.count()).select_from(query.subquery())).scalar()
    assert first == [f"{items}-{i:02}" for i in range(5)] and second == [f"{items}-{i:02}" for i in range(5, 10)] and count == 12


def test_texts_with_parameters_and_transactions(engine, env):
    key = env.key("text")
    with pytest.raises(RuntimeError), engine.begin() as connection:
        connection.execute(sa.text("EXEC proc_AddItem @id = :id, @item = 0x01, @timeout = 20"), {"id": key})
        raise RuntimeError
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM Items WHERE Id = :id"), {"id": key}).scalar() == 0
