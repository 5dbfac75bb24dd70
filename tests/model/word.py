"""MS-WORDSSP2 in Python."""
from .basics import Expect
from .jobs import PARTS, Job, JobsModel

DATABASE, KIND = "WordAutomation", "WordAutomation"
SIDS, GROUPS = (b"\1", b"\1\2"), (b"", b"\3")


class Model(JobsModel):
    namespace = "http://schemas.microsoft.com/office/server/word/2009/08"

    def proc_AddJob(self, now, JobId, Settings, UserTokenHeader=None, UserTokenSid=None, UserTokenGroups=None, PartitionId=None, Name=None):
        if JobId is None:
            return Expect(error=515)
        token = (UserTokenHeader, UserTokenSid, UserTokenGroups)
        if None in token and token != (None, None, None):
            return Expect(error=547)
        if JobId in self.jobs:
            return Expect(error=2627)
        self.jobs[JobId] = Job(JobId, now, settings=Settings, part=PartitionId, name=Name, token=token)
        return Expect()

    def proc_AddGroup(self, now, JobId, GroupId, MaxAttemptsCount, JobXml, InputRoot=None, OutputRoot=None):
        return self.add_group(JobId, GroupId, InputRoot, OutputRoot, MaxAttemptsCount, JobXml)

    def proc_UpdateSucceededItem(self, now, **given):
        return self.succeeded(now, **given)

    def proc_UpdateFailedItem(self, now, **given):
        return self.failed(now, **given)

    def proc_UpdateConversionBatch(self, now, BatchXml):
        return self.update_batch(now, *BatchXml)

    def batch_row(self, job, group):
        return (job.id, group, *job.groups[group], job.settings, *job.token)

    def proc_HasActiveJobs(self, now):
        return Expect(status=int(bool(self.active(canceled=self.literal))))

    def proc_GetJobStatus(self, now, JobId, PartitionId=None):
        job = self.jobs.get(JobId)
        return Expect(rows=[self.status_row(job)] if job is not None and PartitionId in (None, job.part) else [])

    def proc_GetJobs(self, now, ActiveOnly, SubmittedOnly, PartitionId=None, UserTokenSid=None, UserTokenGroups=None):
        def accept(job):
            user = UserTokenSid is None or UserTokenGroups is None or job.token[1:] == (UserTokenSid, UserTokenGroups)
            return user and PartitionId in (None, job.part)
        return Expect(rows=self.job_rows(accept, ActiveOnly, SubmittedOnly))

    def proc_GetItems(self, now, JobId, GroupId, PartitionId=None, **flags):
        return Expect(rows=self.items_rows(self.jobs[JobId], GroupId, flags) if JobId in self.jobs else [])

    def proc_GetGroups(self, now, JobId, PartitionId=None):
        if JobId is None:
            return Expect(error=515)
        job = self.jobs.get(JobId)
        return Expect(rows=self.group_rows(job) if job is not None and PartitionId in (None, job.part) else [])

    def proc_GetConversionBatch(self, now, NumberOfConversionsInBatch, InProgressThreshold):
        if NumberOfConversionsInBatch < 0:
            return Expect(error=127)
        fresh, stale = self.candidates(InProgressThreshold)
        return Expect(rows=self.batch_rows(fresh + stale)[:NumberOfConversionsInBatch])

    def proc_JobsExpire(self, now, IncludeActiveJobs, TimeThreshold=None, PartitionId=None, AllPartitions=None, JobId=None):
        def goes(job):
            if not (AllPartitions or job.part == PartitionId):
                return False
            if (TimeThreshold is not None and not job.created.before(TimeThreshold)) or JobId not in (None, job.id):
                return False
            if IncludeActiveJobs or self.literal or job.canceled is not None:
                return True
            return job.submitted if not job.items else not job.unfinished()
        self.jobs = {k: j for k, j in self.jobs.items() if not goes(j)}
        return Expect()

    def reset_calls(self):
        return [("proc_JobsExpire", {"AllPartitions": 1, "IncludeActiveJobs": 1})] if self.jobs else []

    def random_call(self, rng, tag, clock_set):
        job = rng.choice(list(self.jobs)) if self.jobs and rng.random() < 0.8 else rng.randrange(-1, 4)
        null = None if rng.random() < 0.02 else job
        j, g, i = self.random_ids(rng)
        part = self.random_part(rng, job)
        token = (b"h", rng.choice(SIDS), rng.choice(GROUPS)) if rng.random() < 0.6 else (None, None, None)
        if rng.random() < 0.04:
            token = (None, b"\1", None)
        add = {"JobId": rng.randrange(-1, 4), "Settings": rng.choice((None, "", "<s/>")), "PartitionId": rng.choice(PARTS), "Name": rng.choice((None, "n", "ü"))}
        add.update({n: v for n, v in zip(("UserTokenHeader", "UserTokenSid", "UserTokenGroups"), token) if v is not None or rng.random() < 0.2})
        group = {"JobId": job, "GroupId": rng.randrange(3), "MaxAttemptsCount": rng.choice((0, 1, 2, 255)) if rng.random() < 0.95 else rng.choice((-1, 256)),
                 "JobXml": self.xml_items(rng, False)}
        if rng.random() < 0.7:
            group.update(InputRoot=rng.choice(("in", None)), OutputRoot="out")
        starts = [v.start for x in self.jobs.values() for v in x.items.values()]
        return rng.choices((
            ("proc_AddJob", add),
            ("proc_AddGroup", group),
            ("proc_SubmitJob", {"JobId": null}),
            ("proc_CancelJob", {"JobId": null, "PartitionId": part}),
            ("proc_CancelAllActiveJobs", {}),
            ("proc_UpdateSucceededItem", {"JobId": j, "GroupId": g, "ItemId": i, **({"Reserved": b"r"} if rng.random() < 0.1 else {})}),
            ("proc_UpdateFailedItem", {"JobId": j, "GroupId": g, "ItemId": i, "NoRetry": rng.choice((0, 0, 1, None)), "ErrorCode": rng.choice((None, 0, 7))}),
            ("proc_UpdateConversionBatch", {"BatchXml": self.random_batch(rng)}),
            ("proc_HasActiveJobs", {}),
            ("proc_GetJobStatus", {"JobId": null, "PartitionId": part}),
            ("proc_GetJobs", {"PartitionId": part, "ActiveOnly": rng.choice((0, 1, None)), "SubmittedOnly": rng.choice((0, 1, None)),
                              **({"UserTokenSid": rng.choice(SIDS), "UserTokenGroups": rng.choice(GROUPS + (None,))} if rng.random() < 0.5 else {})}),
            ("proc_GetItems", {"JobId": null, "GroupId": g, "PartitionId": part, **self.random_flags(rng)}),
            ("proc_GetGroups", {"JobId": null, "PartitionId": part}),
            ("proc_GetConversionBatch", {"NumberOfConversionsInBatch": rng.choice((0, 1, 2, 4, 100, -1)), "InProgressThreshold": rng.choice(self.known_moments(starts))}),
            ("proc_JobsExpire", {"TimeThreshold": rng.choice([None] + self.known_moments([x.created for x in self.jobs.values()])), "PartitionId": part,
                                 "AllPartitions": rng.choice((0, 1, None)), "JobId": rng.choice((None, None, job)), "IncludeActiveJobs": rng.choice((0, 0, 0, 1, None))}),
        ), (9, 9, 5, 2, 1, 4, 5, 6, 1, 2, 3, 3, 2, 4, 2))[0]

    def encode(self, proc, given):
        if "JobXml" in given:
            return {**given, "JobXml": self.group_xml(given["JobXml"])}
        if "BatchXml" in given:
            return {**given, "BatchXml": self.batch_xml(*given["BatchXml"])}
        return given

    def final(self, tag):
        reserved = [(j.id, g, i, v.reserved) for j in self.jobs.values() for (g, i), v in j.items.items()]
        return super().final(tag) + [("SELECT JobId, GroupId, ItemId, Reserved FROM dbo.Items", reserved, False)]
