import pytest

from support import postgres


@pytest.fixture(scope="module")
def pg():
    reason = postgres.missing()
    if reason:
        pytest.skip(reason)
    with postgres.Postgres() as made:
        yield made
