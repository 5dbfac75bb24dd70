"""What a NULL is told by: the parameter, never a column or table of the store's inside."""
import itertools
import pathlib
import re
import sys

import pytest

from support.wire import Wire

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from procgen_lib import declare  # noqa: E402

DATABASES = {"word": "WordAutomation", "translation": "Translation", "schedule": "ScheduledJobs", "state": "StateService", "system": "master"}
ARGUMENT = re.compile(r"(@\w+)\s*=\s*(N?'(?:[^']|'')*'|0x\w*|-?\w+)(?!\s*OUTPUT)")
SERVICES = declare.read_all(str(ROOT / "procedures"))[0]
# They wait, or go on in the background.
APART = {"procession_wait_for_work", "procession_database_move"}
numbers = itertools.count(100)


def fresh(procedure, arguments):
    """What is added is new each time: not the key that is there already is to be the reason."""
    key = next(iter(arguments), None)
    if "Add" not in procedure.name and "_add" not in procedure.name:
        return arguments
    number = next(numbers)
    new = {"@name": f"'null{number}'", "@id": f"'null{number}'"}.get(key, f"'{number:08x}-0000-0000-0000-000000000000'" if len(arguments.get(key, "")) > 30 else str(number))
    return {**arguments, key: new}


def listed(arguments):
    return ", ".join(f"{name} = {value}" for name, value in arguments.items())


def before(procedure, service, arguments):
    """A group is added to a job: that this is not there is not to be the reason either."""
    if procedure.name != "proc_AddGroup":
        return ""
    job = next(p for p in service.procs if p.name == "proc_AddJob")
    return f"EXEC proc_AddJob {listed({**dict(ARGUMENT.findall(str(job.example))), '@JobId': arguments['@JobId']})} "


@pytest.mark.parametrize("service", SERVICES, ids=lambda s: s.name)
def test_no_null_is_told_by_an_inner_table(server, service):
    with Wire(server).login(database=DATABASES[service.name]) as w:
        for procedure in service.procs:
            if procedure.name in APART:
                continue
            arguments = dict(ARGUMENT.findall(str(procedure.example)))
            for parameter in procedure.params:
                if parameter.output:
                    continue
                new = fresh(procedure, arguments)
                text = (f"BEGIN TRAN {before(procedure, service, new)}EXEC {procedure.name} {listed({**new, parameter.name: 'NULL'})} "
                        "IF @@TRANCOUNT > 0 ROLLBACK")
                for error in w.batch(text).errors:
                    assert error.number != 50010, (text, error.text)
                    assert error.number != 515 or f"for parameter '{parameter.name}'" in error.text, (text, error.text)
