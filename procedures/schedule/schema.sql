-- ScheduledJobs: the jobs, and their last runs. Times are datetime ticks; Dec 31 9999 11:59:59:997 PM, the due time of disabled jobs, is 76683386879999.

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

-- MIGRATION 2
-- How occurrences ended, as schedulers tell it (procession_run_ended): the last ten of each job, and no more than 10,000 in all.
CREATE TABLE run (
    n            INTEGER PRIMARY KEY AUTOINCREMENT,
    job          BLOB NOT NULL,              -- JobId
    due          INTEGER NOT NULL,
    started      INTEGER NOT NULL,
    ended        INTEGER NOT NULL,
    outcome      TEXT NOT NULL,
    status       INTEGER,                    -- exit status of the handler; NULL or -1: there was none
    name         TEXT,                       -- the job's DisplayName then
    scheduler    TEXT                        -- who ran it
);
CREATE INDEX run_job ON run (job, n);
