"""MS-SSPSJ in Python. Values are drawn from lists of good and bad ones: what is in the grammar is tested elsewhere, here it is the store."""
import copy
import datetime
import uuid

from .basics import FAR_FUTURE, FAR_PAST, Expect

DATABASE, KIND = "ScheduledJobs", "ScheduledJobs"
PROJECT = "Microsoft.Office.Project.Server.Administration, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
OFFICE = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c"
SITE = "Microsoft.Office.Project.Server.Administration.PWASSPSubmitSiteCreationTimerJob"
PROFILES = "Microsoft.Office.Server.UserProfiles."
CHANGE, IMPORT, UPGRADE = PROFILES + "UserProfileChangeJob", PROFILES + "UserProfileImportJob", PROFILES + "UserProfileGradualUpgradeChangeJob"
PAIR = {SITE: PROJECT, CHANGE: OFFICE, IMPORT: OFFICE, UPGRADE: OFFICE}
RECURRENCES = {None: True, "hourly at 15": True, "Daily At 01:00:00": True, "every 05 minutes between 00 and 59": True, "": False, "hourly": False, "daily at 24:00:00": False,
               "x" * 65: False}
INCREMENTAL = ("IsIncremental#True", "IsIncremental#False")
TOKENS = ("0;2008-01-31T01:00:00;a;b", "1;20080131;t")
DATA = (None, "") + INCREMENTAL + TOKENS + ("2;2008-01-31;x", "nonsense", " ")
FOREVER = datetime.datetime(9999, 12, 31, 23, 59, 59, 997000)
TIMES = (FAR_PAST, datetime.datetime(2008, 1, 31, 1), datetime.datetime(2008, 1, 31, 1, 0, 0, 3000), datetime.datetime(2050, 5, 5), FAR_FUTURE, FOREVER)


class Model:
    reads_for_others = ("proc_MIP_GetScheduledJobs", "proc_MIP_GetScheduledJobById")

    def __init__(self, errata, keep=None):
        self.literal, self.jobs = errata == "literal", {}

    def copy(self):
        made = Model.__new__(Model)
        made.literal, made.jobs = self.literal, copy.deepcopy(self.jobs)
        return made

    def breaks_rule(self, j):
        if None in (j["JobId"], j["Assembly"], j["Class"], j["NextDueTime"], j["Disabled"]):
            return True
        if PAIR.get(j["Class"]) != j["Assembly"] or not RECURRENCES[j["Recurrence"]] or len(j["DisplayName"] or "") > 256:
            return True
        data = j["JobData"]
        if j["Class"] == IMPORT:
            fits = data in INCREMENTAL
        elif j["Class"] == UPGRADE:
            fits = data in (None, "") + TOKENS or (self.literal and data in INCREMENTAL)
        else:
            fits = data in (None, "")
        return not fits or (j["Disabled"] and j["NextDueTime"] != FOREVER)

    def whole(self, given):
        return {"Recurrence": None, "JobData": None, "Disabled": 0, "DisplayName": None, **given}

    def refuse(self):
        return Expect(status=1, info=50002)

    def proc_MIP_AddScheduledJob(self, now, **given):
        j = self.whole(given)
        if self.breaks_rule(j) or j["JobId"] in self.jobs:
            return self.refuse()
        self.jobs[j["JobId"]] = j
        return Expect()

    def proc_MIP_ModifyScheduledJob(self, now, **given):
        j = self.whole(given)
        if self.breaks_rule(j) or j["JobId"] not in self.jobs:
            return self.refuse()
        self.jobs[j["JobId"]] = j
        return Expect()

    def proc_MIP_RefreshScheduledJob(self, now, JobId, NextDueTime):
        j = self.jobs.get(JobId)
        if j is None or NextDueTime is None or not (now.before(NextDueTime)) or (j["Disabled"] and NextDueTime != FOREVER):
            return self.refuse()
        j["NextDueTime"] = NextDueTime
        return Expect()

    def proc_MIP_RemoveScheduledJob(self, now, JobId):
        return Expect() if self.jobs.pop(JobId, None) else self.refuse()

    def row(self, j):
        return (j["Assembly"], j["Class"], j["JobId"], j["Recurrence"], j["JobData"], j["NextDueTime"], bool(j["Disabled"]), j["DisplayName"])

    def proc_MIP_GetScheduledJobs(self, now):
        return Expect(rows=[self.row(j) for j in self.jobs.values()], ordered=False)

    def proc_MIP_GetScheduledJobById(self, now, JobId):
        return Expect(rows=[self.row(self.jobs[JobId])] if JobId in self.jobs else [], ordered=False)

    def proc_MIP_GetScheduledJobsInInterval(self, now, NextDueTime):
        due = [j for j in self.jobs.values() if NextDueTime is not None and j["NextDueTime"] < NextDueTime]
        for j in due:
            if j["Recurrence"] is None:
                del self.jobs[j["JobId"]]
        return Expect(rows=[self.row(j) for j in due], ordered=False)

    def reset_calls(self):
        return [("proc_MIP_RemoveScheduledJob", {"JobId": key}) for key in list(self.jobs)]

    def random_call(self, rng, tag, clock_set):
        key = uuid.UUID(int=rng.randrange(5)) if rng.random() < 0.97 else None
        kind = rng.choice((SITE, CHANGE, IMPORT, UPGRADE))
        data = rng.choice(INCREMENTAL) if kind == IMPORT else rng.choice((None, "") + (TOKENS if kind == UPGRADE else ()))
        due, disabled = rng.choice(TIMES), 0
        if rng.random() < 0.2:
            due, disabled = FOREVER, 1
        j = {"JobId": key, "Assembly": PAIR[kind], "Class": kind, "Recurrence": rng.choice([r for r, good in RECURRENCES.items() if good]), "JobData": data, "NextDueTime": due,
             "Disabled": disabled, "DisplayName": rng.choice((None, "", "a job", "ü€😀"))}
        if rng.random() < 0.25:         # one thing wrong, perhaps
            name, values = rng.choice((("Assembly", (PROJECT, OFFICE, "x", None)), ("Class", (CHANGE, IMPORT, "y", None)), ("Recurrence", tuple(RECURRENCES)), ("JobData", DATA),
                                       ("NextDueTime", TIMES + (None,)), ("Disabled", (0, 1, None)), ("DisplayName", ("x" * 257,))))
            j[name] = rng.choice(values)
        if rng.random() < 0.2:          # defaults
            for name in ("Recurrence", "JobData", "Disabled", "DisplayName"):
                if rng.random() < 0.5:
                    del j[name]
        return rng.choices((
            ("proc_MIP_AddScheduledJob", j),
            ("proc_MIP_ModifyScheduledJob", j),
            ("proc_MIP_RefreshScheduledJob", {"JobId": key, "NextDueTime": rng.choice(TIMES + (None,))}),
            ("proc_MIP_RemoveScheduledJob", {"JobId": key}),
            ("proc_MIP_GetScheduledJobs", {}),
            ("proc_MIP_GetScheduledJobById", {"JobId": key}),
            ("proc_MIP_GetScheduledJobsInInterval", {"NextDueTime": rng.choice(TIMES + (None,))}),
        ), (7, 4, 3, 2, 1, 2, 2))[0]

    def final(self, tag):
        rows = [(j["JobId"], j["DisplayName"], j["Assembly"], j["Class"], j["Recurrence"], j["JobData"], j["NextDueTime"], bool(j["Disabled"])) for j in self.jobs.values()]
        return [("SELECT JobId, DisplayName, Assembly, Class, Recurrence, JobData, NextDueTime, Disabled FROM dbo.ScheduledJobs", rows, False)]
