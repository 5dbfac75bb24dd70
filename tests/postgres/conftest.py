import pytest

from support import postgres


def skip_without_postgres():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="module")
def pg():
    skip_without_postgres()
    with postgres.Postgres() as made:
        yield made


@pytest.fixture(name="pair")
def primary_and_standby():
    skip_without_postgres()
    with postgres.pair() as made:
        yield made
