"""What only the translation jobs (MS-TSSPROC) promise."""
import itertools

import pytest

from support.jobs import SETTINGS, Jobs, jobs_fixture, new_database

db = jobs_fixture("translation")
_numbers = itertools.count(1)


@pytest.fixture(params=SETTINGS, ids="-".join)
def empty(request, server):
    """A new database: counts cannot be deleted."""
    errata, way = request.param
    name = f"translation-{next(_numbers)}"
    new_database(server, name, "translation", errata)
    made = Jobs(server, "translation", errata, way, name)
    yield made
    made.close()
