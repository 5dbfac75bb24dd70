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
