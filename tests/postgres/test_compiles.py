"""Everything that the generator writes for PostgreSQL compiles there: scripts, statements, the bodies of functions."""
import json
import pathlib
import sys

import psycopg2
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from procgen_lib import declare, emit_pg, pg_function, pg_schema, pg_sql  # noqa: E402

SERVICES, _ = declare.read_all(str(ROOT / "procedures"))


@pytest.fixture(scope="module")
def stores(pg):
    return {s.name: pg.load(s.name, f"store_{s.name}") for s in SERVICES}


@pytest.mark.parametrize("service", SERVICES, ids=lambda s: s.name)
def test_every_statement(stores, service):
    cursor, bad = stores[service.name].cursor(), []
    for proc in service.procs:
        for step in proc.steps:
            if step.stmt is None:
                continue
            kinds = emit_pg.bind_kinds(proc, step)
            try:
                cursor.execute(f"PREPARE one{'(' + ', '.join(kinds) + ')' if kinds else ''} AS {emit_pg.statement_sql(proc, step)}")
                cursor.execute("DEALLOCATE one")
            except psycopg2.Error as e:
                bad.append(f"{proc.name}, line {step.line}: {e}")
    assert bad == []


def warnings(cursor, schema):
    """What plpgsql_check has to say of the functions of a schema. Each line is a failure."""
    try:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS plpgsql_check SCHEMA public")
    except psycopg2.Error:
        pytest.skip("postgresql-15-plpgsql-check is not installed")
    cursor.execute("SELECT p.oid::regprocedure::text, c.* FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql', "
                   "LATERAL public.plpgsql_check_function(p.oid, fatal_errors => false, extra_warnings => true, security_warnings => true) c "
                   f"WHERE p.pronamespace = {schema}::regnamespace")
    return cursor.fetchall()


def test_functions_that_all_share(stores):
    assert warnings(stores["system"].cursor(), "'procession'") == []


@pytest.mark.parametrize("service", [s for s in SERVICES if s.name != "system"], ids=lambda s: s.name)
def test_every_function(stores, service):
    """plpgsql_check plans what a body says, also in branches that no call has entered yet."""
    cursor = stores[service.name].cursor()
    assert warnings(cursor, "current_schema()") == []
    cursor.execute("SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace")
    every = [p for p in service.procs if pg_function.has_function(service, p)]
    assert cursor.fetchone()[0] == len(every) + len([p for p in every if p.together]) > 0


def test_every_inline_view(stores):
    """Views that stand in the FROM of whoever reads them: with no rows, and with one that has every field."""
    cursor, bad = stores["system"].cursor(), []
    for v in next(s for s in SERVICES if s.name == "system").views:
        if not v.inline:
            continue
        row = {f.name: "master" if pg_sql.kind(f.type) == "text" else 1 for f in v.over_fields}
        for rows in ("[]", json.dumps([row])):
            try:
                cursor.execute("SET ROLE procession_reader; SELECT * FROM (" + pg_schema.inline(v).replace("$rows", f"'{rows}'") + ") AS t1")
                assert len(cursor.description) == len(v.columns) and len(cursor.fetchall()) == (0 if v.empty or rows == "[]" else 1)
            except psycopg2.Error as e:
                bad.append(f"{v.name}: {e}")
    cursor.execute("RESET ROLE")
    assert bad == []


@pytest.mark.parametrize("service", SERVICES, ids=lambda s: s.name)
def test_views_and_scripts_again(pg, stores, service):
    """Views can be read by the reader's role and nothing else can; what may be run again is run again."""
    cursor = stores[service.name].cursor()
    for v in service.views:
        if not v.inline:
            cursor.execute(f'SET ROLE procession_reader; SELECT * FROM "{v.store_name}"')
            assert len(cursor.description) == len(v.columns) + len(v.hidden)
    for table in ("mark", "item" if service.name not in ("system", "schedule") else "login" if service.name == "system" else "job"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            cursor.execute(f"SELECT * FROM {table}")
    cursor.execute("RESET ROLE")
    for again in (pg_schema.views(service), emit_pg.functions_script(service)):
        if again:
            cursor.execute(again)
    cursor.execute("SET search_path = procession; " + pg.script("common"))
    cursor.execute(f"SET search_path = store_{service.name}, procession, pg_catalog")
