VIEW dbo.ScheduledJobs (
    JobId        uniqueidentifier NOT NULL,
    DisplayName  nvarchar(256),
    Assembly     nvarchar(256) NOT NULL,
    Class        nvarchar(256) NOT NULL,
    Recurrence   nvarchar(64),
    JobData      nvarchar(max),
    NextDueTime  datetime NOT NULL,
    Disabled     bit NOT NULL
)
SUMMARY The scheduled jobs.
AS
SELECT job.id, job.display_name, job.assembly, job.class, job.recurrence, job.data, job.due, job.disabled
FROM job;

VIEW dbo.Runs (
    RunId        bigint NOT NULL,
    JobId        uniqueidentifier NOT NULL,
    DisplayName  nvarchar(256),
    DueTime      datetime NOT NULL,
    StartTime    datetime NOT NULL,
    EndTime      datetime NOT NULL,
    Outcome      nvarchar(32) NOT NULL,
    ExitStatus   int,
    Scheduler    nvarchar(128)
)
SUMMARY The last runs of the scheduled jobs, as schedulers told them.
AS
SELECT run.n, run.job, run.name, run.due, run.started, run.ended, run.outcome, run.status, run.scheduler
FROM run;
