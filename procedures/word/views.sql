VIEW dbo.Jobs (
    JobId        bigint NOT NULL,
    Name         nvarchar(max),
    CreateTime   datetime NOT NULL,
    CancelTime   datetime,
    Submitted    bit NOT NULL,
    PartitionId  uniqueidentifier,
    Settings     nvarchar(max),
    Unfinished   int NOT NULL
)
SUMMARY The jobs; Unfinished is the number of items that have not stopped.
AS
SELECT job.id, job_text.name, job.created, job.canceled, job.submitted, job.part, job_text.settings, job.open
FROM job JOIN job_text ON job_text.n = job.n;

VIEW dbo.Groups (
    JobId       bigint NOT NULL,
    GroupId     smallint NOT NULL,
    InputRoot   nvarchar(max),
    OutputRoot  nvarchar(max)
)
SUMMARY The groups of the jobs.
AS
SELECT job.id, grp.id, grp.input_root, grp.output_root
FROM job JOIN grp ON grp.n = job.n;

VIEW dbo.Items (
    JobId                 bigint NOT NULL,
    GroupId               smallint NOT NULL,
    ItemId                int NOT NULL,
    InputFile             nvarchar(max) NOT NULL,
    OutputFile            nvarchar(max),
    StartTime             datetime,
    StopTime              datetime,
    AttemptsRemaining     tinyint NOT NULL,
    WorkerServerInstance  uniqueidentifier,
    ErrorCode             int,
    Reserved              varbinary(max)
)
SUMMARY The items of the groups.
AS
SELECT job.id, item.grp, item.id, item_text.input, item_text.output, item.started, item.stopped, item.attempts, item.worker, item.error,
       item_reserved.reserved
FROM job JOIN item ON item.n = job.n
     JOIN item_text ON item_text.n = item.n AND item_text.grp = item.grp AND item_text.id = item.id
     LEFT JOIN item_reserved ON item_reserved.n = item.n AND item_reserved.grp = item.grp AND item_reserved.id = item.id;

VIEW dbo.Failures (
    JobId      bigint NOT NULL,
    GroupId    smallint NOT NULL,
    ItemId     int NOT NULL,
    FailTime   datetime NOT NULL,
    ErrorCode  int NOT NULL,
    Reason     nvarchar(1024) NOT NULL,
    Worker     nvarchar(128)
)
SUMMARY Why the last attempt at an item failed, as its worker told it; of items that were tried again with success, too.
AS
SELECT job.id, failure.grp, failure.id, failure.told, failure.error, failure.reason, failure.worker
FROM job JOIN failure ON failure.job = job.n;
