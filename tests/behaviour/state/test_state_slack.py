"""renewal_slack of a database: reads store an expiration a little ahead, and those that follow write nothing."""
import datetime
import time

import pytest
from stateview import add, peek, view

from support.calls import open_path
from support.server import Server

EXPIRES = 4                     # of view()
MINUTES, SLACK = datetime.timedelta(minutes=20), datetime.timedelta(seconds=600)
GRAIN = datetime.timedelta(milliseconds=10)


@pytest.fixture(scope="module")
def own():
    with Server(settings={"sweep_interval": 0}) as made:
        yield made


@pytest.fixture
def db(own):
    with open_path("pytds", own, "StateService") as path:
        assert set_slack(path, SLACK.seconds).error is None
        yield path


def set_slack(db, seconds):
    return db.batch(f"EXEC master.dbo.procession_database_set @name = 'StateService', @renewal_slack = {seconds}")


def refresh(db, key):
    assert db.call("proc_RefreshItemExpiration", id=key).status == 0


@pytest.mark.parametrize("renew", [peek, refresh])
def test_what_is_stored_ahead_is_enough_for_the_next(db, key, renew):
    add(db, key)
    time.sleep(0.02)            # in the tick of its adding it is stored well enough
    before = datetime.datetime.utcnow()
    renew(db, key)
    first = view(db, key)[EXPIRES]
    assert before + MINUTES + SLACK - GRAIN <= first <= datetime.datetime.utcnow() + MINUTES + SLACK + GRAIN
    time.sleep(0.02)            # some ticks
    renew(db, key)
    assert view(db, key)[EXPIRES] == first


@pytest.mark.parametrize("renew", [peek, refresh])
def test_exact_again_without_it(db, key, renew):
    add(db, key)
    renew(db, key)
    assert set_slack(db, 0).error is None
    before = datetime.datetime.utcnow()
    renew(db, key)
    exact = view(db, key)[EXPIRES]
    assert before + MINUTES - GRAIN <= exact <= datetime.datetime.utcnow() + MINUTES + GRAIN
    time.sleep(0.02)
    renew(db, key)
    assert view(db, key)[EXPIRES] > exact


def test_it_is_kept(own, db, key):
    own.restart()
    with open_path("pytds", own, "StateService") as again:
        add(again, key)
        before = datetime.datetime.utcnow()
        peek(again, key)
        assert view(again, key)[EXPIRES] >= before + MINUTES + SLACK - GRAIN
