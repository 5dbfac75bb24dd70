#!/usr/bin/env python3
"""What runs with STORE=postgres: reads tests/on-postgres.

    tools/on_postgres.py            the paths, for pytest
"""
import pathlib

LIST = pathlib.Path(__file__).resolve().parents[1] / "tests" / "on-postgres"


def rules():
    """{path: why it does not run there, or ""}."""
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            path, _, why = line.partition(" ")
            found[path] = why.strip().rstrip(":")
    return found


def why_not(where, known):
    """The reason of the longest path that has the file; "" when it runs; None when nobody says."""
    fitting = [path for path in known if where == path or where.startswith(path + "/")]
    return known[max(fitting, key=len)] if fitting else None


if __name__ == "__main__":
    print(" ".join(path for path, why in rules().items() if not why))
