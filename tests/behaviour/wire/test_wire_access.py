"""What of a database a login reaches: calls where it may execute, wherever it stands, and nothing that is stored below."""
import pathlib
import re
import uuid

import pytest

from support import wiretypes as t
from support.calls import create_database
from support.logins import PASSWORD, new_login
from support.proves import proves
from support.server import ROOT
from support.wire import Param, Wire

# Without parameters, each: a change where there is one, otherwise a question.
CALLS = {"state": "proc_DeleteExpiredItems", "word": "proc_CancelAllActiveJobs", "translation": "proc_CancelAllActiveJobs", "schedule": "proc_MIP_GetScheduledJobs"}


@pytest.fixture(scope="module")
def databases(server):
    """One of each service: {service: name}."""
    names = {service: f"Access {service} {uuid.uuid4().hex[:8]}" for service in CALLS}
    for service, name in names.items():
        create_database(server, name, service)
    return names


def grant(server, login, database, rights):
    with Wire(server).login(database="master") as admin:
        admin.rpc("procession_grant", [Param(t.nvarchar(login), "@login"), Param(t.nvarchar(database), "@database"), Param(t.nvarchar(rights), "@rights")]).ok()


@proves("STATE-Prereq-02", "WORD-Prereq-02", "TRAN-Prereq-02", "SCHED-Prereq-02")
@pytest.mark.parametrize("mine", CALLS)
def test_the_right_to_execute_is_that_of_the_database_called(server, databases, mine):
    """Neither of the database where the session stands, nor of the one that was called before."""
    clerk = new_login(server, databases[mine], "execute")
    for service, name in databases.items():
        if service != mine:
            grant(server, clerk, name, "select")
    for current in databases.values():
        with Wire(server).login(clerk, PASSWORD, database=current) as w:
            for service in (mine, *CALLS, mine):
                name, proc = databases[service], CALLS[service]
                expected = [] if service == mine else [229]
                for answer in (w.batch(f"EXEC [{name}].dbo.{proc}"), w.rpc(f"[{name}].dbo.{proc}", []), w.batch(f"EXEC [{name}]..sp_executesql N'EXEC {proc}'")):
                    assert answer.numbers == expected, (current, service, answer.summary())


@proves("STATE-Transport-01", "WORD-Transport-01", "TRAN-Transport-01", "SCHED-Transport-01")
@pytest.mark.parametrize("service", CALLS)
def test_no_table_of_the_store_can_be_queried(server, databases, service):
    """Their names and columns are the server's own affair and change with it: not even the administrator reads them."""
    schema = pathlib.Path(ROOT, "procedures", service, "schema.sql").read_text(encoding="utf-8")
    tables = re.findall(r"^CREATE TABLE (\w+)", schema, re.M)
    assert len(tables) >= 2
    with Wire(server).login(database=databases[service]) as w:
        for table in (*tables, "sqlite_master", "sqlite_schema", "pg_class"):
            for name in (table, f"dbo.{table}", f"[{databases[service]}].dbo.{table}", f"main.{table}"):
                assert w.batch(f"SELECT COUNT(*) FROM {name}").numbers == [208], name
