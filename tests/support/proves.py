"""Names the requirements that a test proves: @proves("WORD-AddJob-01", "TRAN-AddJob-01").

tools/conformance.py reads these names from the source text, so they are plain string constants. One row of a
parametrized test can carry its own: pytest.param(…, marks=proves("…")).
"""
import pytest


def proves(*ids):
    return pytest.mark.proves(*ids)
