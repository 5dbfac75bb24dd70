"""Conversion and translation jobs against their models: see runner.py. A file of its own, so that another worker can have it."""
import pytest

from model.runner import with_real_clock, with_set_clock


@pytest.mark.parametrize("errata", ("corrected", "literal"))
@pytest.mark.parametrize("service", ("word", "translation"))
def test_random_calls(real_server, service, errata):
    with_real_clock(real_server, service, errata)


@pytest.mark.parametrize("errata", ("corrected", "literal"))
@pytest.mark.parametrize("service", ("word", "translation"))
def test_random_calls_with_a_clock_that_jumps(clock_server, service, errata):
    with_set_clock(clock_server, service, errata)
