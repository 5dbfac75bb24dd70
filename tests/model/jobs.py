"""What the two job services have in common: jobs, groups, items, their classes and reports. The differences are in word.py and translation.py."""
import copy
import datetime
import uuid

from .basics import FAR_FUTURE, FAR_PAST, TICK, Expect, snap

PARTS = (None, uuid.UUID(int=0), uuid.UUID(int=1), uuid.UUID(int=2))
WORKERS = (uuid.UUID(int=11), uuid.UUID(int=12))
FLAGS = ("NotSubmitted", "NotStarted", "InProgress", "Succeeded", "Failed", "Canceled")


class Job:
    def __init__(self, id, now, **fields):
        self.id, self.created, self.canceled, self.submitted = id, now, None, False
        self.groups, self.items = {}, {}
        self.__dict__.update(fields)

    def unfinished(self):
        return any(i.stop is None for i in self.items.values())


class Item:
    def __init__(self, attempts, input, output):
        self.start = self.stop = self.error = self.worker = self.reserved = None
        self.attempts, self.input, self.output = attempts, input, output


def item_class(job, item):
    """The classes of 2.2.4.2; None for an item in no class."""
    if not job.submitted:
        return "NotSubmitted" if job.canceled is None else None
    if item.start is not None and item.stop is not None:
        return "Succeeded" if item.error is None else "Failed"
    if job.canceled is None:
        return "NotStarted" if item.start is None else "InProgress"
    return "Canceled" if item.stop is None else None


class JobsModel:
    reads_for_others = ("proc_GetJobs", "proc_GetItems", "proc_GetGroups", "proc_GetJobStatus", "proc_GetConversionBatch", "proc_HasActiveJobs")
    namespace = None
    required = {}                   # what proc_AddJob wants besides

    def __init__(self, errata, keep=None):
        self.literal, self.jobs = errata == "literal", {}

    def copy(self):
        made = type(self).__new__(type(self))
        made.__dict__.update(copy.deepcopy(self.__dict__))
        return made

    def item(self, job, group, item):
        return self.jobs[job].items.get((group, item)) if job in self.jobs else None

    # adding

    def add_group(self, JobId, GroupId, InputRoot, OutputRoot, MaxAttemptsCount, items):
        if not 0 <= MaxAttemptsCount <= 255:
            return Expect(error=220)
        if JobId not in self.jobs:
            return Expect(error=547)
        job = self.jobs[JobId]
        if GroupId in job.groups or len({i for i, _, _ in items}) != len(items):
            return Expect(error=2627)
        job.groups[GroupId] = (InputRoot, OutputRoot)
        for i, source, target in items:
            job.items[GroupId, i] = Item(MaxAttemptsCount, source, target)
        return Expect()

    def proc_SubmitJob(self, now, JobId):
        if JobId is None:
            return Expect(error=515)
        if JobId in self.jobs:
            self.jobs[JobId].submitted = True
        return Expect()

    def proc_CancelJob(self, now, JobId, PartitionId=None):
        if JobId is None:
            return Expect(error=515)
        job = self.jobs.get(JobId)
        if job is not None and job.part == PartitionId and job.canceled is None:
            job.canceled = now
        return Expect()

    def proc_CancelAllActiveJobs(self, now):
        for job in self.jobs.values():
            open_items = any(i.start is None or i.stop is None for i in job.items.values())
            if job.canceled is None and (open_items or not job.submitted):
                job.canceled = now
        return Expect()

    # reports of workers

    def succeeded(self, now, JobId, GroupId, ItemId, Reserved=None):
        if None in (JobId, GroupId, ItemId):
            return Expect(error=515)
        item = self.item(JobId, GroupId, ItemId)
        if item is not None:
            item.stop, item.error, item.worker, item.reserved = now, None, None, Reserved
        return Expect()

    def failed(self, now, JobId, GroupId, ItemId, NoRetry, ErrorCode, Reserved=None):
        if None in (JobId, GroupId, ItemId):
            return Expect(error=515)
        item = self.item(JobId, GroupId, ItemId)
        if item is None:
            return Expect()
        allowed, left = NoRetry == 0 and NoRetry is not None, item.attempts > 0
        item.worker = None
        if (allowed or left) if self.literal else (allowed and left):
            item.start = None
        else:
            item.stop, item.error, item.reserved, item.attempts = now, ErrorCode, Reserved, 0
        return Expect()

    def update_batch(self, now, start, fail):
        touched = set()
        for key, worker in dict(((j, g, i), w) for j, g, i, w in start).items():
            item = self.item(*key)
            if item is not None:
                item.start, item.worker, item.attempts = now, worker, max(0, item.attempts - 1)
                touched.add(key[:2])
        for key, error in dict(((j, g, i), e) for j, g, i, e in fail).items():
            item = self.item(*key)
            if item is not None:
                item.stop, item.error, item.worker = now, error, None
                touched.add(key[:2])
        return Expect(rows=[self.batch_row(self.jobs[j], g) for j, g in sorted(touched)])

    # reading

    def status_row(self, job):
        counts = [sum(item_class(job, i) == name for i in job.items.values()) for name in FLAGS]
        return (len(job.items), *counts, job.name)

    def items_rows(self, job, group, flags):
        rows = []
        for (g, i), item in sorted(job.items.items()):
            kind = item_class(job, item)
            if kind is None and job.canceled is not None and item.stop is None:
                kind = "Canceled"                   # here without the condition on Submitted
            if g == group and (kind is None or flags[kind] != 0 or flags[kind] is None):
                rows.append((i, item.start, item.stop, item.error, item.input, item.output))
        return rows

    def job_rows(self, accept, ActiveOnly, SubmittedOnly):
        rows = []
        for job in sorted(self.jobs.values(), key=self.age):
            if accept(job) and not (ActiveOnly and (job.canceled is not None or not job.unfinished())) and not (SubmittedOnly and not job.submitted):
                rows.append((job.id, job.created, job.canceled, job.submitted, job.name))
        return rows

    def age(self, job):
        return job.created.value, job.id

    def group_rows(self, job):
        return [(g, *roots, job.created, job.canceled, job.submitted, job.settings) for g, roots in sorted(job.groups.items())]

    def candidates(self, threshold):
        """(not started, stale), each by age: (job, group, item id, item)."""
        fresh, stale = [], []
        for job in sorted(self.jobs.values(), key=self.age):
            for (g, i), item in sorted(job.items.items()):
                if job.submitted and job.canceled is None and item.stop is None:
                    if item.start is None:
                        fresh.append((job, g, i, item))
                    elif item.start.before(threshold):
                        stale.append((job, g, i, item))
        return fresh, stale

    def batch_rows(self, chosen):
        chosen = sorted(chosen, key=lambda c: (self.age(c[0]), c[1], c[2]))
        return [(j.id, g, i, item.start is not None, item.input, item.output, item.attempts, item.worker, item.start, j.created) for j, g, i, item in chosen]

    def active(self, canceled):
        return [j for j in self.jobs.values() if j.submitted and (j.canceled is not None) == canceled and j.unfinished()]

    # what a sequence is made of

    def learn(self, proc, given):
        """After AddJob: the SELECT that tells CreateTime, and what to compare it with."""
        if proc == "proc_AddJob" and given["JobId"] in self.jobs and not self.jobs[given["JobId"]].created.known:
            return f"SELECT CreateTime FROM dbo.Jobs WHERE JobId = {given['JobId']}", [(self.jobs[given["JobId"]].created,)]
        return None

    def random_ids(self, rng):
        """An item that exists, mostly."""
        known = [(j.id, g, i) for j in self.jobs.values() for g, i in j.items]
        if known and rng.random() < 0.85:
            return rng.choice(known)
        return rng.randrange(-1, 4), rng.randrange(3), rng.randrange(4)

    def random_part(self, rng, job=None):
        if job in self.jobs and rng.random() < 0.6:
            return self.jobs[job].part
        return rng.choice(PARTS)

    def known_moments(self, stamps):
        """Times to compare with: far ones always, the stamps themselves only if all of them are known."""
        stamps = [s for s in stamps if s is not None]
        moments = [FAR_PAST, FAR_FUTURE]
        if all(s.known for s in stamps):
            moments += [snap(s.value + d) for s in stamps for d in (datetime.timedelta(0), 2 * TICK)]
        return moments

    def xml_items(self, rng, out_required):
        count = rng.choice((1, 2, 3, 5))
        ids = rng.sample(range(8), count)
        if rng.random() < 0.05:
            ids.append(ids[0])
        return [(i, rng.choice(("a.docx", "b &c.docx", "ü €")), rng.choice(("o.pdf", "x'y")) if out_required or rng.random() < 0.7 else None) for i in ids]

    def group_xml(self, items):
        escape = lambda s: s.replace("&", "&amp;").replace('"', "&quot;")      # noqa: E731
        inner = "".join(f'<item id="{i}" in="{escape(a)}"' + (f' out="{escape(b)}"' if b is not None else "") + "/>" for i, a, b in items)
        return f'<group xmlns="{self.namespace}/databaseJobAdd">{inner}</group>'

    def batch_xml(self, start, fail):
        s = "".join(f'<item job="{j}" group="{g}" id="{i}" wsi="{w}"/>' for j, g, i, w in start)
        f = "".join(f'<item job="{j}" group="{g}" id="{i}" error="{e}"/>' for j, g, i, e in fail)
        return f'<batch xmlns="{self.namespace}/databaseBatchUpdate"><start>{s}</start><failed>{f}</failed></batch>'

    def random_batch(self, rng):
        start = [(*self.random_ids(rng), rng.choice(WORKERS)) for _ in range(rng.randrange(4))]
        fail = [(*self.random_ids(rng), rng.choice((0, 5, -7))) for _ in range(rng.choice((0, 0, 1, 2)))]
        return start, fail

    def prelude(self, rng):
        """Submitted jobs of several partitions with items, so that what follows has something to choose from."""
        calls = []
        for job in range(rng.randrange(2, 5)):
            calls.append(("proc_AddJob", {"JobId": job, "Settings": "s", "PartitionId": rng.choice(PARTS), "Name": None, **self.required}))
            calls.append(("proc_AddGroup", {"JobId": job, "GroupId": 1, "InputRoot": "i", "OutputRoot": "o", "MaxAttemptsCount": 2,
                                            "JobXml": [(i, "a", "b") for i in rng.sample(range(8), rng.randrange(1, 6))]}))
            calls.append(("proc_SubmitJob", {"JobId": job}))
        calls.append(("proc_UpdateConversionBatch", {"BatchXml": ([(rng.randrange(4), 1, rng.randrange(8), WORKERS[0]) for _ in range(3)], [])}))
        return calls

    def random_flags(self, rng):
        return {name: rng.choice((0, 1, 1, None)) for name in FLAGS}

    def final(self, tag):
        jobs, groups, items = [], [], []
        for j in self.jobs.values():
            jobs.append((j.id, j.name, j.created, j.canceled, j.submitted, j.part, j.settings, sum(i.stop is None for i in j.items.values())))
            groups += [(j.id, g, *roots) for g, roots in j.groups.items()]
            items += [(j.id, g, i, v.input, v.output, v.start, v.stop, v.attempts, v.worker, v.error) for (g, i), v in j.items.items()]
        return [("SELECT JobId, Name, CreateTime, CancelTime, Submitted, PartitionId, Settings, Unfinished FROM dbo.Jobs", jobs, False),
                ("SELECT JobId, GroupId, InputRoot, OutputRoot FROM dbo.Groups", groups, False),
                ("SELECT JobId, GroupId, ItemId, InputFile, OutputFile, StartTime, StopTime, AttemptsRemaining, WorkerServerInstance, ErrorCode FROM dbo.Items", items, False)]
