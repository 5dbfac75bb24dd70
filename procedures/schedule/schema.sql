-- ScheduledJobs: one table. Times are datetime ticks; Dec 31 9999 11:59:59:997 PM, the due time of disabled jobs, is 76683386879999.

-- ERROR 2627 job.id 'Violation of PRIMARY KEY constraint ''PK_ScheduledJobs''. Cannot insert duplicate key in object ''dbo.ScheduledJobs''. A scheduled job with this JobId exists already.'

-- MIGRATION 1
CREATE TABLE job (
    id           BLOB NOT NULL PRIMARY KEY,  -- JobId
    assembly     TEXT NOT NULL,
    class        TEXT NOT NULL,
    recurrence   TEXT,                       -- NULL: runs once
    data         TEXT,
    due          INTEGER NOT NULL,           -- NextDueTime
    disabled     INTEGER NOT NULL,
    display_name TEXT
) WITHOUT ROWID;
CREATE INDEX job_due ON job (due, id);
