"""Clients' SELECTs over views: what src/query/postgres.c writes gives on PostgreSQL, as the reader's role, the rows that SQLite gave.

The statements are those of tests/unit/query/test_select.c, which tells them, with their values and SQLite's rows (tests/unit/query/dump.h).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import psycopg2
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from procgen_lib import pg_sql  # noqa: E402

BUILD = pathlib.Path(os.environ.get("PROCESSIOND", ROOT / "build/asan/src/daemon/processiond")).parents[2]
PROGRAM = BUILD / "tests/unit/query/test_select"

def read(path):
    """[(batch, its queries, SQLite's answers)]; an answer is a list of rows, or None: it failed. Or (store, SQL that fills it)."""
    out = []
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        one = json.loads(line)
        if "fill" in one:
            out.append((one["store"], one["fill"]))
        elif "batch" in one:
            out.append((one["batch"], [], [], []))
        elif "sql" in one:
            out[-1][1].append(one)
        elif "row" in one:
            out[-1][3].append([plain(v) for v in one["row"]])
        else:
            out[-1][2].append(list(out[-1][3]) if one["end"] == 0 else None)
            out[-1][3].clear()
    return [entry[:3] for entry in out]


def plain(v):
    return bytes.fromhex(v["hex"]) if isinstance(v, dict) else v


def as_sqlite_shows(v):
    return bytes(v) if isinstance(v, memoryview) else v


def same(a, b):
    if isinstance(a, str) and isinstance(b, str) and re.fullmatch(r"-?[0-9.]+", a) and re.fullmatch(r"-?[0-9.]+", b):
        return float(a) == float(b)         # decimals: PostgreSQL may write more zeros
    return a == b or (isinstance(a, float) and abs(a - b) < 1e-9 * max(1, abs(a)))


@pytest.fixture(scope="module")
def queries(tmp_path_factory):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    path = tmp_path_factory.mktemp("select") / "dump"
    subprocess.run([PROGRAM], env={**os.environ, "QUERY_DUMP": str(path)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return read(path)


@pytest.fixture(scope="module")
def stores(pg):
    made = {"Db1": pg.load("state", "q_state"), "": pg.load("system", "q_system"), "Other": pg.load("word", "q_word")}
    return made


def run(stores, query):
    """As the engine sends it: the types of the values are told, none is part of the text."""
    cursor = stores["" if query["system"] else query["database"]].cursor()
    kinds = [k for k, _ in query["values"]]
    values = [plain(v) for _, v in query["values"]]
    cursor.execute("SET ROLE procession_reader")
    try:
        cursor.execute(f"PREPARE one{'(' + ', '.join(kinds) + ')' if kinds else ''} AS {query['sql']}")
        cursor.execute("EXECUTE one" + ("(" + ", ".join(f"%s::{k}" for k in kinds) + ")" if kinds else ""), values or None)
        return [[as_sqlite_shows(v) for v in row] for row in cursor.fetchall()]
    finally:
        cursor.execute("DEALLOCATE ALL")
        cursor.execute("RESET ROLE")


def test_every_select(queries, stores):
    bad, compared = [], 0
    for entry in queries:
        if len(entry) == 2:
            stores[("Db1", "", "Other")[entry[0]]].cursor().execute(pg_sql.dialect(entry[1]))
            continue
        text, written, answers = entry
        if len(written) != 1 or len(answers) != 1:
            continue                        # what runs next may depend on rows, which the writer of PostgreSQL's SQL did not have
        try:
            got = run(stores, written[0])
        except psycopg2.Error as e:
            got = str(e).split("\n")[0] if answers[0] is not None else None
        compared += 1
        wanted = answers[0]
        if not isinstance(got, list) or wanted is None:
            equal = got == wanted
        else:
            if "order by" not in text:
                got, wanted = sorted(got, key=str), sorted(wanted, key=str)
            if "distinct" in text:          # which one of those that are equal but for blanks is shown is nobody's promise
                got, wanted = [[[v.rstrip() if isinstance(v, str) else v for v in row] for row in rows] for rows in (got, wanted)]
            equal = len(got) == len(wanted) and all(len(g) == len(w) and all(map(same, w, g)) for g, w in zip(got, wanted))
        if not equal:
            bad.append(f"{text}\n  {written[0]['sql']}\n  SQLite {wanted}\n  PostgreSQL {got}")
    assert not bad, f"{len(bad)} of {compared}\n" + "\n".join(bad)
    assert compared > 60
