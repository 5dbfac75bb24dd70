"""Temporary state and scheduled jobs against their models: see runner.py."""
import pytest

from model.runner import with_real_clock, with_set_clock


@pytest.mark.parametrize("errata", ("corrected", "literal"))
@pytest.mark.parametrize("service", ("state", "schedule"))
def test_random_calls(real_server, service, errata):
    with_real_clock(real_server, service, errata)


@pytest.mark.parametrize("errata", ("corrected", "literal"))
@pytest.mark.parametrize("service", ("state", "schedule"))
def test_random_calls_with_a_clock_that_jumps(clock_server, service, errata):
    with_set_clock(clock_server, service, errata)
