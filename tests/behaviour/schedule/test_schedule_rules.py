"""The rules about values: assemblies, classes, job data, recurrences, due times; the same for Add and Modify."""
import datetime

import pytest
from schedulejobs import (AUDIENCE, CHANGE, CLEANUP, DUE, FOREVER, IMPORT, LISTS, OFFICE, OFFICE_CLASSES, PROJECT, PROJECT_CLASSES, UPGRADE, add, by_id, job, ok, row_of,
                  stored, violates)

from support.calls import open_path
from support.proves import proves

ADD, MODIFY = "proc_MIP_AddScheduledJob", "proc_MIP_ModifyScheduledJob"
both = pytest.mark.parametrize("proc", (ADD, MODIFY))


def attempt(db, proc, **changes):
    """Values for a call that would succeed but for the changes: a new job, or one that is stored."""
    base = job() if proc == ADD else add(db)
    return {**base, **changes}


def accepts(db, proc, **changes):
    values = attempt(db, proc, **changes)
    ok(db.call(proc, **values))
    assert by_id(db, values["JobId"]) == row_of(values)
    ok(db.call("proc_MIP_RemoveScheduledJob", JobId=values["JobId"]))


def refuses(db, proc, *names, **changes):
    values = attempt(db, proc, **changes)
    violates(db, proc, *names, **values)


# Assembly and Class

PAIRS = [(PROJECT, c) for c in PROJECT_CLASSES] + [(OFFICE, c) for c in OFFICE_CLASSES]


@proves("SCHED-Assembly-01", "SCHED-Assembly-02", "SCHED-Class-01", "SCHED-Class-02", "SCHED-Class-03", "SCHED-Class-04", "SCHED-Class-05", "SCHED-Class-06",
        "SCHED-Class-07", "SCHED-AddScheduledJob-02", "SCHED-ModifyScheduledJob-02", "SCHED-ResultSet-02", "SCHED-Applicability-01")
@both
def test_the_eight_pairs(rpc, proc):
    for assembly, name in PAIRS:
        data = "IsIncremental#True" if name == IMPORT else None
        accepts(rpc, proc, Assembly=assembly, Class=name, JobData=data)
        accepts(rpc, proc, Assembly=assembly, Class=name, JobData=data if data else "")
        other = PROJECT if assembly == OFFICE else OFFICE
        refuses(rpc, proc, "Assembly", "Class", Assembly=other, Class=name, JobData=data)


@proves("SCHED-Assembly-01", "SCHED-Class-07", "SCHED-AddScheduledJob-02", "SCHED-ModifyScheduledJob-02", "SCHED-Input-07", "SCHED-Input-01", "SCHED-Input-02",
        "SCHED-Applicability-01")
@both
def test_other_assemblies_and_classes(db, proc):
    for bad in ("", "Other", OFFICE.upper(), OFFICE.replace(", ", ","), OFFICE.replace(", ", ",  "), " " + OFFICE, OFFICE.replace("71e9", "71E9"),
                OFFICE.replace("Culture=neutral, ", "Culture=neutral,\n    ")):
        refuses(db, proc, "Assembly", Assembly=bad)
    for bad in ("", "Other", CHANGE.lower(), CHANGE + "x", " " + CHANGE, CHANGE[:-1], "UserProfileChangeJob"):
        refuses(db, proc, "Class", Class=bad)


@proves("SCHED-Assembly-01")
@both
def test_trailing_spaces_are_not_stored(db, proc):
    values = add(db)
    other = attempt(db, proc, Assembly=OFFICE + "  ", Class=CHANGE + " ")
    ok(db.call(proc, **other))
    assert by_id(db, other["JobId"])[:2] == by_id(db, values["JobId"])[:2] == (OFFICE, CHANGE)


# JobData

@proves("SCHED-JobData-01", "SCHED-JobData-02", "SCHED-JobData-08", "SCHED-AddScheduledJob-04", "SCHED-ModifyScheduledJob-04", "SCHED-ResultSet-05")
@both
def test_data_of_the_import_job(db, proc):
    for good in ("IsIncremental#True", "IsIncremental#False"):
        accepts(db, proc, Class=IMPORT, JobData=good)
    for bad in (None, "", "isincremental#true", "IsIncremental#Maybe", "IsIncremental#True ", " IsIncremental#True", "IsIncremental#", "0;2008-01-31T01:00:00;x"):
        refuses(db, proc, "JobData", Class=IMPORT, JobData=bad)


@proves("SCHED-JobData-01", "SCHED-JobData-03", "SCHED-JobData-08", "SCHED-AddScheduledJob-04", "SCHED-ModifyScheduledJob-04")
@both
def test_data_of_the_plain_jobs(rpc, proc):
    for assembly, name in PAIRS:
        if name in (IMPORT, UPGRADE):
            continue
        for good in (None, ""):
            accepts(rpc, proc, Assembly=assembly, Class=name, JobData=good)
        for bad in ("IsIncremental#True", "0;2008-01-31T01:00:00;x", "x", " "):
            refuses(rpc, proc, "JobData", Assembly=assembly, Class=name, JobData=bad)


UPGRADE_GOOD = (None, "", "0;2008-01-31T01:00:00;x", "1;2008-01-31T01:00:00;x", "1;2008-01-31 01:00:00.997;1;3;guid;633;more;;", "0;20080131;t", "0;Jan 31 2008 01:00:00:000AM;t",
                "0;2008-01-31T01:00:00;äÿ€", "0;2008-01-31T01:00:00Z;t", "0;2008-01-31T01:00:00+00:00;t", "0;2008-01-31T01:00:00-00:00;t", "0;2008-01-31T01:00:00;a\0b")
UPGRADE_BAD = ("2;2008-01-31T01:00:00;x", ";2008-01-31T01:00:00;x", "01;2008-01-31T01:00:00;x", "0;notadate;x", "0;;x", "0;2008-02-30T01:00:00;x", "0;2008-01-31T01:00:00;",
               "0;2008-01-31T01:00:00", "0", "x", "True;2008-01-31T01:00:00;x", " ", "0;2008-01-31T01:00:00;日本", "0; ;x", "0;   ;x", "0;\t;x", "0;,;x", "0;2008-01-31T01:00:00+02:00;x",
               "0;2008-01-31T01:00:00-00:30;x", "0;2008-01-31 01:00:00 +14:00;x", "0;2008-01-31\0;x",
               "0;2008-01-31T01:00:00.9970;x", "0;2008-01-31T01:00:00;ab日", "0;2008-01-31T01:00:00;ä日x", "0;2008-01-31T01:00:00;a😀b")


@proves("SCHED-JobData-04", "SCHED-JobData-05", "SCHED-JobData-06", "SCHED-JobData-07", "SCHED-JobData-08")
@both
def test_data_of_the_gradual_upgrade_job(rpc, proc):
    for good in UPGRADE_GOOD:
        accepts(rpc, proc, Class=UPGRADE, JobData=good)
    for bad in UPGRADE_BAD + ("IsIncremental#True", "IsIncremental#False"):
        refuses(rpc, proc, "JobData", Class=UPGRADE, JobData=bad)


@proves("SCHED-JobData-07")
@both
def test_data_of_the_gradual_upgrade_job_to_the_letter(literal, proc):
    for good in UPGRADE_GOOD + ("IsIncremental#True", "IsIncremental#False"):
        accepts(literal, proc, Class=UPGRADE, JobData=good)
    for bad in UPGRADE_BAD + ("isincremental#true", "IsIncremental#Maybe"):
        refuses(literal, proc, "JobData", Class=UPGRADE, JobData=bad)
    for bad in (None, "", "0;2008-01-31T01:00:00;x"):
        refuses(literal, proc, "JobData", Class=IMPORT, JobData=bad)
    refuses(literal, proc, "JobData", Class=CLEANUP, JobData="IsIncremental#True")


# Recurrence

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat su mo tu we th fr sa".split()
GOOD = {
    "SCHED-Recurrence-02": ("every 01 seconds", "every 59 seconds", "every 10 seconds"),
    "SCHED-Recurrence-03": ("every 05 minutes at 00", "every 59 minutes between 00 and 59", "every 01 minutes at 59", "every 05 minutes between 50 and 10"),
    "SCHED-Recurrence-04": ("hourly at 00", "hourly at 59", "hourly between 50 and 10", "hourly between 00 and 00"),
    "SCHED-Recurrence-05": ("daily at 01:00:00", "daily between 22:00:00 and 06:00:00", "daily between 01:00:00 and 01:00:00"),
    "SCHED-Recurrence-06": ("weekly at sun 00:00:00", "weekly between fr 22:00:00 and sun 06:00:00", "weekly between su 01:00:00 and mon 02:00:00"),
    "SCHED-Recurrence-07": ("monthly at 01 00:00:00", "monthly between 31 23:00:00 and 01 01:00:00", "monthly at 31 23:59:59"),
    "SCHED-Recurrence-08": ("yearly at jan 01 15:00:00", "yearly between dec 31 23:00:00 and jan 01 01:00:00"),
    "SCHED-Recurrence-09": ("daily at 19:59:59", "daily at 20:00:00", "daily at 23:59:59", "daily at 00:00:00", "daily at 09:09:09"),
    "SCHED-Recurrence-10": tuple(f"yearly at {m} 01 00:00:00" for m in MONTHS),
    "SCHED-Recurrence-11": tuple(f"monthly at {d:02d} 00:00:00" for d in range(1, 32)) + ("yearly at feb 30 00:00:00", "yearly at apr 31 00:00:00"),
    "SCHED-Recurrence-12": tuple(f"weekly at {d} 12:30:45" for d in DAYS) + tuple(f"weekly between {a} 00:00:00 and {b} 23:59:59" for a, b in zip(DAYS, DAYS[7:])),
    "SCHED-Recurrence-13": ("DAILY AT 01:00:00", "Weekly Between Su 01:00:00 And MON 02:00:00", "yearly AT jAn 01 15:00:00", "EVERY 05 Minutes AT 00"),
}
BAD = {
    "SCHED-Recurrence-01": ("", " ", "hourly", "never", "daily", "weekly", "monthly", "yearly", "every", "x daily at 01:00:00", "daily at 01:00:00 x", "daily  at 01:00:00",
                            "daily at  01:00:00", " daily at 01:00:00", "daily at 01:00:00\n", "daily at\t01:00:00", "daily at 01:00:00 and 02:00:00",
                            "daily between 01:00:00", "daily between 01:00:00 and", "daily between 01:00:00 02:00:00", "daily at ٠١:٠٠:٠٠"),
    "SCHED-Recurrence-02": ("every 00 seconds", "every 60 seconds", "every 5 seconds", "every 005 seconds", "every 05 seconds at 00", "every 05 second", "every seconds"),
    "SCHED-Recurrence-03": ("every 05 minutes", "every 60 minutes at 00", "every 05 minutes at 60", "every 00 minutes at 00", "every 5 minutes at 0", "every 05 minutes at 0",
                            "every 05 minutes between 00 and 60", "every 05 minutes between 00"),
    "SCHED-Recurrence-04": ("hourly", "hourly at 60", "hourly at 5", "hourly at 00:00", "hourly between 00 and 60", "hourly between 5 and 10"),
    "SCHED-Recurrence-05": ("daily", "daily at 1:00:00", "daily at 01:00", "daily at 01:00:00 AM", "daily at mon 01:00:00", "daily between 01:00:00 and 6:00:00"),
    "SCHED-Recurrence-06": ("weekly at sunday 00:00:00", "weekly at 00:00:00", "weekly at s 00:00:00", "weekly at sun", "weekly at  00:00:00", "weekly between sun 00:00:00 and 01:00:00"),
    "SCHED-Recurrence-07": ("monthly at 00 00:00:00", "monthly at 32 00:00:00", "monthly at 1 00:00:00", "monthly at 01", "monthly at jan 01 00:00:00"),
    "SCHED-Recurrence-08": ("yearly at january 01 15:00:00", "yearly at 01 15:00:00", "yearly at jan 1 15:00:00", "yearly at jan 15:00:00", "yearly at jan 01", "yearly at  01 15:00:00"),
    "SCHED-Recurrence-09": ("daily at 24:00:00", "daily at 23:60:00", "daily at 23:59:60", "daily at 29:00:00", "daily at 0a:00:00", "daily at 01.00.00"),
    "SCHED-Recurrence-10": ("yearly at sept 01 00:00:00", "yearly at foo 01 00:00:00", "yearly at j 01 00:00:00"),
    "SCHED-Recurrence-11": ("yearly at jan 00 00:00:00", "yearly at jan 32 00:00:00", "yearly at jan 1 00:00:00", "monthly at 40 00:00:00"),
    "SCHED-Recurrence-12": ("weekly at thur 00:00:00", "weekly at m 00:00:00", "weekly at sunday 00:00:00", "weekly at xx 00:00:00"),
    "SCHED-Recurrence-13": ("dailyat 01:00:00", "daily at01:00:00", "DAILY  AT 01:00:00"),
}


@proves("SCHED-AddScheduledJob-03", "SCHED-ResultSet-04", "SCHED-Recurrence-01", "SCHED-Recurrence-02", "SCHED-Recurrence-03", "SCHED-Recurrence-04", "SCHED-Recurrence-05", "SCHED-Recurrence-06",
        "SCHED-Recurrence-07", "SCHED-Recurrence-08", "SCHED-Recurrence-09", "SCHED-Recurrence-10", "SCHED-Recurrence-11", "SCHED-Recurrence-12", "SCHED-Recurrence-13")
@pytest.mark.parametrize("requirement", GOOD)
def test_recurrences_in_the_grammar(rpc, requirement):
    for text in GOOD[requirement]:
        accepts(rpc, ADD, Recurrence=text)


@proves("SCHED-AddScheduledJob-03", "SCHED-ResultSet-04", "SCHED-Recurrence-01", "SCHED-Recurrence-02", "SCHED-Recurrence-03", "SCHED-Recurrence-04", "SCHED-Recurrence-05", "SCHED-Recurrence-06",
        "SCHED-Recurrence-07", "SCHED-Recurrence-08", "SCHED-Recurrence-09", "SCHED-Recurrence-10", "SCHED-Recurrence-11", "SCHED-Recurrence-12", "SCHED-Recurrence-13")
@pytest.mark.parametrize("requirement", BAD)
def test_recurrences_outside_the_grammar(rpc, requirement):
    for text in BAD[requirement]:
        refuses(rpc, ADD, "Recurrence", Recurrence=text)


@proves("SCHED-ModifyScheduledJob-03", "SCHED-AddScheduledJob-03", "SCHED-Recurrence-13", "SCHED-Model-02")
@both
def test_recurrences_of_both_procedures(db, proc):
    for good in (None, "every 05 minutes at 00", "Yearly between DEC 31 23:00:00 and jan 01 01:00:00"):
        accepts(db, proc, Recurrence=good)
    for bad in ("", "hourly", "every 5 minutes at 0", "x" * 64):
        refuses(db, proc, "Recurrence", Recurrence=bad)


# Times and flags

@proves("SCHED-AddScheduledJob-05", "SCHED-ModifyScheduledJob-05", "SCHED-ResultSet-06")
@both
def test_any_time_for_an_enabled_job(db, proc):
    for due in (datetime.datetime(1753, 1, 1), datetime.datetime(2008, 1, 31, 1), datetime.datetime(2000, 2, 29, 23, 59, 59, 997000), datetime.datetime(2030, 6, 1, 12, 0, 0, 3000),
                FOREVER):
        accepts(db, proc, NextDueTime=due)


@proves("SCHED-ResultSet-06")
def test_times_are_rounded_to_ticks(rpc):
    for text, expected in (("2030-01-01T00:00:00.998", 997), ("2030-01-01T00:00:00.001", 0), ("2030-01-01T00:00:00.002", 3), ("2030-01-01T00:00:00.005", 7)):
        values = job(NextDueTime=text)
        ok(rpc.call(ADD, **values))
        assert by_id(rpc, values["JobId"])[5] == datetime.datetime(2030, 1, 1, 0, 0, 0, expected * 1000)


@proves("SCHED-AddScheduledJob-06", "SCHED-ModifyScheduledJob-06", "SCHED-ResultSet-07", "SCHED-ResultSet-08", "SCHED-AddScheduledJob-07", "SCHED-ModifyScheduledJob-07")
@both
def test_disabled_jobs_are_due_at_the_end_of_time(db, proc):
    accepts(db, proc, Disabled=1, NextDueTime=FOREVER)
    accepts(db, proc, Disabled=0, NextDueTime=FOREVER)
    for due in (DUE, datetime.datetime(9999, 12, 31, 23, 59, 59, 993000), datetime.datetime(9999, 12, 31)):
        refuses(db, proc, "NextDueTime", Disabled=1, NextDueTime=due)
    refuses(db, proc, "Disabled", Disabled=None)


@proves("SCHED-AddScheduledJob-06", "SCHED-ModifyScheduledJob-06")
@both
def test_the_end_of_time_as_text(rpc, proc):
    for text in ("Dec 31 9999 11:59:59:997 PM", "Dec 31 9999 11:59:59:997PM", "9999-12-31T23:59:59.997", "9999-12-31T23:59:59.998"):
        values = attempt(rpc, proc, Disabled=1, NextDueTime=text)
        ok(rpc.call(proc, **values))
        assert by_id(rpc, values["JobId"])[5:7] == (FOREVER, True)
    assert rpc.call(proc, **attempt(rpc, proc, NextDueTime="9999-12-31T23:59:59.999")).error == 8114


# NULLs and lengths

@proves("SCHED-AddScheduledJob-08", "SCHED-ModifyScheduledJob-08", "SCHED-Input-07")
@both
@pytest.mark.parametrize("name", ("JobId", "Assembly", "Class", "NextDueTime", "Disabled"))
def test_null_breaks_a_rule(db, proc, name):
    refuses(db, proc, name, **{name: None})


@proves("SCHED-AddScheduledJob-08", "SCHED-ModifyScheduledJob-08", "SCHED-Input-05", "SCHED-ResultSet-09")
@both
def test_lengths(db, proc):
    for good in (None, "", "x" * 256, "ü€日😀", "😀" * 128, "a'b\"c;--<d>"):
        accepts(db, proc, DisplayName=good)
    refuses(db, proc, "DisplayName", DisplayName="x" * 257)
    refuses(db, proc, "DisplayName", DisplayName="😀" * 128 + "x")
    refuses(db, proc, "Recurrence", Recurrence="daily at 01:00:00" + "x" * 48)
    refuses(db, proc, "Assembly", Assembly=OFFICE + "x" * 200)
    refuses(db, proc, "Class", Class=CHANGE + "x" * 257)


@proves("SCHED-Input-08", "SCHED-ResultSet-09")
@both
@pytest.mark.parametrize("path", ("wire", "pytds"))
def test_text_with_nul(server, database, proc, path):
    """SQL's own functions end a text at U+0000; 256 is a number of UTF-16 units, of which only blanks beyond are dropped."""
    with open_path(path, server, database, "ScheduledJobs") as db:
        for name in ("before\0after", "\0", "\0\0x", "x\0 ", "\0" * 256, "😀" * 127 + "\0x"):
            accepts(db, proc, DisplayName=name)
        for name, kept in (("a\0b" + " " * 300, "a\0b" + " " * 253), ("😀" * 128 + "   ", "😀" * 128), ("😀" * 127 + "    ", "😀" * 127 + "  ")):
            values = attempt(db, proc, DisplayName=name)
            ok(db.call(proc, **values))
            assert by_id(db, values["JobId"])[7] == kept
        refuses(db, proc, "DisplayName", DisplayName="\0" * 257)
        refuses(db, proc, "DisplayName", DisplayName="x" * 255 + "\0y")
        refuses(db, proc, "Assembly", Assembly=OFFICE + "\0")
        refuses(db, proc, "Class", Class=CHANGE + "\0x")
        refuses(db, proc, "Recurrence", Recurrence="daily at 01:00:00\0")
        refuses(db, proc, "JobData", Class=IMPORT, JobData="IsIncremental#True\0")


@proves("SCHED-Security-01")
def test_text_is_data(db):
    for text in ("'; DROP TABLE job; --", "\"]; SELECT 1", "<x y='z'>&amp;</x>", "%s%n{0}@x:1?"):
        values = add(db, DisplayName=text)
        assert by_id(db, values["JobId"]) == row_of(values)
        for name in ("Assembly", "Class", "Recurrence", "JobData"):
            refuses(db, ADD, name, "Assembly", "Class", **{name: text})
    assert len(stored(db)) == 4 and AUDIENCE and LISTS


def test_a_second_reader_sees_it(server, database, rpc):
    values = add(rpc)
    with open_path("pytds", server, database, "ScheduledJobs") as other:
        assert by_id(other, values["JobId"]) == row_of(values)
