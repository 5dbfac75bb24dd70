"""MS-TSSPROC in Python."""
import datetime

from .basics import Expect
from .jobs import PARTS, Job, JobsModel

DATABASE, KIND = "Translation", "Translation"
ZERO = PARTS[1]
HOUR = datetime.timedelta(hours=1)


def slot(date, hour):
    return datetime.datetime(date.year, date.month, date.day, hour)


class Model(JobsModel):
    namespace = "http://schemas.microsoft.com/office/server/translation/2010/11"
    required = {"UserToken": b"t"}
    reads_for_others = JobsModel.reads_for_others + ("proc_GetConversionBatchInterleaved", "proc_GetItemCount")

    def __init__(self, errata, keep=None):
        super().__init__(errata)
        self.counts = keep.counts if keep is not None else {}       # nothing takes counts away: they go on from sequence to sequence

    # counts

    def count(self, part, last):
        """Of the 24 slots that end with last; part None: of all partitions."""
        return sum(n for (p, at), n in self.counts.items() if part in (None, p) and last - 23 * HOUR <= at <= last)

    def reserve(self, part, at, n):
        if n:
            self.counts[part, at] = self.counts.get((part, at), 0) + n

    def proc_GetItemCount(self, now, PartitionId, Hour, Date):
        if None in (PartitionId, Hour, Date):
            return Expect(error=515)
        if not 0 <= Hour <= 23:
            return Expect(error=50003)
        return Expect(status=min(2147483647, self.count(None if PartitionId == ZERO else PartitionId, slot(Date, Hour))))

    def proc_UpdateItemCount(self, now, PartitionId, Hour, Date, ItemCount):
        if None in (PartitionId, Hour, Date, ItemCount):
            return Expect(error=515)
        if not 0 <= Hour <= 23 or ItemCount < 0:
            return Expect(error=50003)
        self.reserve(PartitionId, slot(Date, Hour), ItemCount)
        return Expect()

    # jobs

    def proc_AddJob(self, now, JobId, UserToken, Settings, UserId=None, PartitionId=None, Name=None, ItemCount=None, MaxItemsPerDay=None, MaxItemsPerPartitionPerDay=None):
        if None in (JobId, UserToken, Settings):
            return Expect(error=515)
        if ItemCount is not None:
            if ItemCount < 0:
                return Expect(error=50003)
            moment = now.value or now.lo
            at, own = slot(moment, moment.hour), PartitionId or ZERO
            if MaxItemsPerDay is not None and self.count(None, at) + ItemCount > MaxItemsPerDay:
                return Expect(status=1)
            if MaxItemsPerPartitionPerDay is not None and self.count(own, at) + ItemCount > MaxItemsPerPartitionPerDay:
                return Expect(status=1)
        if JobId in self.jobs:
            return Expect(error=2627)
        if ItemCount is not None and not self.literal:
            self.reserve(own, at, ItemCount)
        self.jobs[JobId] = Job(JobId, now, settings=Settings, part=PartitionId, name=Name, user=UserId, token=UserToken)
        return Expect()

    def proc_AddGroup(self, now, JobId, GroupId, InputRoot, OutputRoot, MaxAttemptsCount, JobXml):
        if None in (InputRoot, OutputRoot):
            return Expect(error=515)
        return self.add_group(JobId, GroupId, InputRoot, OutputRoot, MaxAttemptsCount, JobXml)

    def proc_UpdateSucceededItem(self, now, **given):
        return self.succeeded(now, **given)

    def proc_UpdateFailedItem(self, now, **given):
        return self.failed(now, **given)

    def proc_UpdateConversionBatch(self, now, BatchXml):
        return self.update_batch(now, *BatchXml)

    def batch_row(self, job, group):
        return (job.id, group, *job.groups[group], job.settings, job.part, job.token)

    def proc_HasActiveJobs(self, now):
        return Expect(status=len(self.active(canceled=False)))

    def proc_GetJobStatus(self, now, JobId, PartitionId=None):
        job = self.jobs.get(JobId)
        return Expect(rows=[self.status_row(job)] if job is not None and job.part == PartitionId else [])

    def proc_GetJobs(self, now, ActiveOnly, SubmittedOnly, PartitionId=None, UserId=None):
        return Expect(rows=self.job_rows(lambda job: job.part == PartitionId and UserId in (None, job.user), ActiveOnly, SubmittedOnly))

    def proc_GetItems(self, now, JobId, GroupId, PartitionId=None, **flags):
        if None in (JobId, GroupId):
            return Expect(error=515)
        job = self.jobs.get(JobId)
        return Expect(rows=self.items_rows(job, GroupId, flags) if job is not None and job.part == PartitionId else [])

    def proc_GetGroups(self, now, JobId, PartitionId=None):
        if JobId is None:
            return Expect(error=515)
        job = self.jobs.get(JobId)
        return Expect(rows=self.group_rows(job) if job is not None and PartitionId in (None, job.part) else [])

    def proc_GetConversionBatch(self, now, NumberOfConversionsInBatch, InProgressThreshold):
        if NumberOfConversionsInBatch < 0:
            return Expect(error=127)
        fresh, stale = self.candidates(InProgressThreshold)
        return Expect(rows=self.batch_rows(fresh[:NumberOfConversionsInBatch] + stale))

    def proc_GetConversionBatchInterleaved(self, now, NumberOfConversionsInBatch, InProgressThreshold):
        if NumberOfConversionsInBatch < 0:
            return Expect(error=127)
        fresh, stale = self.candidates(InProgressThreshold)
        turns, order = {}, []
        for place, candidate in enumerate(fresh):               # by age: the turn of an item is its number within its partition
            part = candidate[0].part
            turns[part] = turns.get(part, 0) + 1
            order.append((turns[part], place))
        chosen = [fresh[place] for _, place in sorted(order)[:NumberOfConversionsInBatch]]
        return Expect(rows=self.batch_rows(chosen + stale))

    def proc_JobsExpire(self, now, IncludeActiveJobs, TimeThreshold=None, PartitionId=None, AllPartitions=None, JobId=None):
        if IncludeActiveJobs is None:
            return Expect(error=515)
        old = lambda stamp: stamp is not None and (TimeThreshold is None or stamp.before(TimeThreshold))        # noqa: E731
        kept = {}
        for key, job in self.jobs.items():
            if not (AllPartitions or job.part == PartitionId):
                goes = False
            elif JobId is not None:
                goes = key == JobId
            elif IncludeActiveJobs:
                goes = old(job.created)
            else:
                goes = old(job.canceled) or (TimeThreshold is not None and not job.submitted and old(job.created))
                if job.items:
                    goes = goes or all(old(i.stop) for i in job.items.values())
                else:
                    goes = goes or self.literal or (job.submitted and old(job.created))
                if not goes:
                    job.items = {k: i for k, i in job.items.items() if not old(i.stop)}
            if not goes:
                kept[key] = job
        self.jobs = kept
        return Expect()

    def reset_calls(self):
        return [("proc_JobsExpire", {"AllPartitions": 1, "IncludeActiveJobs": 1})] if self.jobs else []

    def random_limits(self, rng, now):
        """Around what is counted already, so that the limits bind about half the time."""
        at = slot(now, now.hour)
        total = self.count(None, at)
        return {"ItemCount": rng.choice((0, 1, 3, 3, -1)), "MaxItemsPerDay": rng.choice((None, total + rng.randrange(-1, 5))),
                "MaxItemsPerPartitionPerDay": rng.choice((None, rng.choice((0, 5, total, total // 3))))}

    def random_call(self, rng, tag, clock_set, now=None):
        now = now or datetime.datetime.utcnow()
        job = rng.choice(list(self.jobs)) if self.jobs and rng.random() < 0.8 else rng.randrange(-1, 4)
        null = None if rng.random() < 0.02 else job
        j, g, i = self.random_ids(rng)
        part = self.random_part(rng, job)
        add = {"JobId": rng.randrange(-1, 4), "Settings": rng.choice(("", "<s/>")), "UserToken": rng.choice((b"", b"\1\2")), "PartitionId": rng.choice(PARTS),
               "Name": rng.choice((None, "n", "ü")), "UserId": rng.choice((None, "u", "U"))}
        if rng.random() < 0.03:
            add[rng.choice(("JobId", "Settings", "UserToken"))] = None
        near_the_hour = now.minute == 59 and now.second >= 40 and not clock_set
        if rng.random() < 0.4 and not near_the_hour:
            add.update(self.random_limits(rng, now))
        group = {"JobId": job, "GroupId": rng.randrange(3), "InputRoot": "in", "OutputRoot": rng.choice(("out", "")) if rng.random() < 0.97 else None,
                 "MaxAttemptsCount": rng.choice((0, 1, 2, 255)) if rng.random() < 0.95 else rng.choice((-1, 256)), "JobXml": self.xml_items(rng, True)}
        stamps = [v.start for x in self.jobs.values() for v in x.items.values()]
        every = [s for x in self.jobs.values() for s in [x.created, x.canceled] + [v.stop for v in x.items.values()]]
        many = {"NumberOfConversionsInBatch": rng.choice((0, 1, 2, 4, 6, 100, -1)), "InProgressThreshold": rng.choice(self.known_moments(stamps))}
        when = {"PartitionId": rng.choice(PARTS[1:]), "Hour": rng.randrange(24) if rng.random() < 0.95 else rng.choice((-1, 24, None)),
                "Date": now.date() + datetime.timedelta(days=rng.randrange(-2, 2))}
        return rng.choices((
            ("proc_AddJob", add),
            ("proc_AddGroup", group),
            ("proc_SubmitJob", {"JobId": null}),
            ("proc_CancelJob", {"JobId": null, "PartitionId": part}),
            ("proc_CancelAllActiveJobs", {}),
            ("proc_UpdateSucceededItem", {"JobId": j, "GroupId": g, "ItemId": i}),
            ("proc_UpdateFailedItem", {"JobId": j, "GroupId": g, "ItemId": i, "NoRetry": rng.choice((0, 0, 1, None)), "ErrorCode": rng.choice((None, 0, 7))}),
            ("proc_UpdateConversionBatch", {"BatchXml": self.random_batch(rng)}),
            ("proc_HasActiveJobs", {}),
            ("proc_GetJobStatus", {"JobId": null, "PartitionId": part}),
            ("proc_GetJobs", {"PartitionId": part, "UserId": rng.choice((None, "u", "U")), "ActiveOnly": rng.choice((0, 1, None)), "SubmittedOnly": rng.choice((0, 1, None))}),
            ("proc_GetItems", {"JobId": null, "GroupId": g, "PartitionId": part, **self.random_flags(rng)}),
            ("proc_GetGroups", {"JobId": null, "PartitionId": part}),
            ("proc_GetConversionBatch", many),
            ("proc_GetConversionBatchInterleaved", many),
            ("proc_JobsExpire", {"TimeThreshold": rng.choice([None] + self.known_moments(every)), "PartitionId": part, "AllPartitions": rng.choice((0, 1, None)),
                                 "JobId": rng.choice((None, None, job)), "IncludeActiveJobs": rng.choice((0, 0, 0, 0, 1, None))}),
            ("proc_GetItemCount", when),
            ("proc_UpdateItemCount", {**when, "ItemCount": rng.choice((0, 1, 2, -1))}),
        ), (9, 9, 5, 2, 1, 4, 4, 6, 1, 2, 3, 3, 2, 3, 4, 3, 2, 1))[0]

    def encode(self, proc, given):
        if "JobXml" in given:
            return {**given, "JobXml": self.group_xml(given["JobXml"])}
        if "BatchXml" in given:
            return {**given, "BatchXml": self.batch_xml(*given["BatchXml"])}
        return given

    def final(self, tag):
        users = [(j.id, j.user) for j in self.jobs.values()]
        counts = [(p, at, n) for (p, at), n in self.counts.items()]
        return super().final(tag) + [("SELECT JobId, UserId FROM dbo.Jobs", users, False), ("SELECT PartitionId, Hour, Items FROM dbo.ItemCounts", counts, False)]
