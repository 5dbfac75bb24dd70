"""Shorthands of the schedule tests."""
import datetime
import uuid

PROJECT = "Microsoft.Office.Project.Server.Administration, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
OFFICE = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
PROJECT_CLASSES = ("Microsoft.Office.Project.Server.Administration.PWASSPSubmitSiteCreationTimerJob",
                   "Microsoft.Office.Project.Server.Administration.PWASSPSubmitServerScheduledTimerJob")
CHANGE = "Microsoft.Office.Server.UserProfiles.UserProfileChangeJob"
CLEANUP = "Microsoft.Office.Server.UserProfiles.UserProfileChangeCleanupJob"
IMPORT = "Microsoft.Office.Server.UserProfiles.UserProfileImportJob"
UPGRADE = "Microsoft.Office.Server.UserProfiles.UserProfileGradualUpgradeChangeJob"
LISTS = "Microsoft.Office.Server.UserProfiles.DLImportJob"
AUDIENCE = "Microsoft.Office.Server.Audience.AudienceCompilationJob"
OFFICE_CLASSES = (CHANGE, CLEANUP, IMPORT, UPGRADE, LISTS, AUDIENCE)
FOREVER = datetime.datetime(9999, 12, 31, 23, 59, 59, 997000)
DUE = datetime.datetime(2030, 1, 31, 1, 0, 0)
COLUMNS = ["Assembly", "Class", "JobId", "Recurrence", "JobData", "NextDueTime", "Disabled", "DisplayName"]


def job(**changes):
    """The values of a valid job; changes replace some."""
    values = {"JobId": uuid.uuid4(), "Assembly": OFFICE, "Class": CHANGE, "Recurrence": "daily at 01:00:00", "JobData": None, "NextDueTime": DUE, "Disabled": 0,
              "DisplayName": "A job"}
    values.update(changes)
    return values


def row_of(values):
    """The row that a Get gives for a job added with these values."""
    return (values["Assembly"], values["Class"], values["JobId"], values["Recurrence"], values["JobData"], values["NextDueTime"], bool(values["Disabled"]),
            values["DisplayName"])


def rows_of(result):
    """Rows in one form, whatever the driver makes of a GUID or a bit; as a set, because no order is promised."""
    assert result.error is None and result.status == 0, result
    assert len(result.sets) == 1 and result.columns == COLUMNS, "exactly one result set, also when it is empty"
    rows = []
    for row in result.rows:
        row = list(row)
        row[2], row[6] = uuid.UUID(str(row[2])), bool(row[6])
        rows.append(tuple(row))
    assert len(set(rows)) == len(rows)
    return set(rows)


def stored(db):
    return rows_of(db.call("proc_MIP_GetScheduledJobs"))


def by_id(db, key):
    rows = rows_of(db.call("proc_MIP_GetScheduledJobById", JobId=key))
    assert len(rows) <= 1
    return next(iter(rows), None)


def ok(result):
    assert result.error is None and result.status == 0 and not result.sets and not result.infos, result


def add(db, **changes):
    values = job(**changes)
    ok(db.call("proc_MIP_AddScheduledJob", **values))
    return values


def violates(db, proc, *names, says=None, **values):
    """Return code 1, one message 50002 that names one of the parameters, or begins so, no error, no result set, nothing changed."""
    before = stored(db)
    result = db.call(proc, **values)
    assert result.error is None and result.status == 1 and not result.sets, result
    if hasattr(db, "wire") or type(db).__name__ == "PytdsPath":
        told = [text for number, severity, text in result.infos if number == 50002]
        assert len(told) == 1 and len(result.infos) == 1, result.infos
        assert all(severity <= 10 for _, severity, _ in result.infos)
        assert not names or any("@" + name in told[0] for name in names), told
        assert told[0].startswith(says or ""), told
    assert stored(db) == before
    return result
