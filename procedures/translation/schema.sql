-- Translation: jobs, groups, items, why items failed, and the counters of the daily limits. Items are two tables: what changes while they are worked on is narrow, their names are apart.
-- A job has a number n of its own beside its JobId: when a job is deleted, its rows in the other tables are unreachable at once and are removed
-- later in small steps (garbage), while the JobId can be used again. Times are datetime ticks.

-- ERROR 2627 job.id 'Violation of PRIMARY KEY constraint ''PK_Jobs''. Cannot insert duplicate key in object ''dbo.Jobs''. A job with this JobId exists already.'
-- ERROR 2627 grp.n, grp.id 'Violation of PRIMARY KEY constraint ''PK_Groups''. Cannot insert duplicate key in object ''dbo.Groups''. The job has a group with this GroupId already.'
-- ERROR 2627 item.n, item.grp, item.id 'Violation of PRIMARY KEY constraint ''PK_Items''. Cannot insert duplicate key in object ''dbo.Items''. The group names one ItemId twice.'

-- MIGRATION 1
CREATE TABLE job (
    n           INTEGER PRIMARY KEY AUTOINCREMENT,
    id          INTEGER NOT NULL UNIQUE,    -- JobId
    created     INTEGER NOT NULL,
    canceled    INTEGER,
    submitted   INTEGER NOT NULL,
    part        BLOB,                       -- PartitionId
    open        INTEGER NOT NULL,           -- number of items without StopTime
    first_stop  INTEGER                     -- no item stopped before this; NULL: none has stopped
);
-- Jobs that still have work, oldest first: the next batch begins here, however many jobs are finished.
CREATE UNIQUE INDEX job_open ON job (created, id) WHERE submitted = 1 AND canceled IS NULL AND open > 0;
CREATE INDEX job_created ON job (created);
CREATE TABLE job_text (
    n           INTEGER PRIMARY KEY,
    settings    TEXT NOT NULL,
    name        TEXT,
    user_id     TEXT,
    user_token  BLOB NOT NULL
);
CREATE TABLE grp (
    n           INTEGER NOT NULL,
    id          INTEGER NOT NULL,           -- GroupId
    input_root  TEXT NOT NULL,
    output_root TEXT NOT NULL,
    PRIMARY KEY (n, id)
) WITHOUT ROWID;
CREATE TABLE item (
    n           INTEGER NOT NULL,
    grp         INTEGER NOT NULL,
    id          INTEGER NOT NULL,           -- ItemId
    started     INTEGER,
    stopped     INTEGER,
    attempts    INTEGER NOT NULL,           -- AttemptsRemaining
    worker      BLOB,                       -- WorkerServerInstance
    error       INTEGER,
    PRIMARY KEY (n, grp, id)
) WITHOUT ROWID;
CREATE INDEX item_waiting ON item (n, grp, id) WHERE started IS NULL AND stopped IS NULL;
CREATE INDEX item_running ON item (started) WHERE started IS NOT NULL AND stopped IS NULL;
CREATE INDEX item_never_started ON item (n) WHERE started IS NULL AND stopped IS NOT NULL;
CREATE TABLE item_text (
    n           INTEGER NOT NULL,
    grp         INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    input       TEXT NOT NULL,
    output      TEXT NOT NULL,
    PRIMARY KEY (n, grp, id)
) WITHOUT ROWID;
-- Items added, by partition and hour: slot is the number of hours since 1900-01-01 UTC [E-TRAN-04].
CREATE TABLE quota (
    part        BLOB NOT NULL,              -- all zeros: jobs without partition [E-TRAN-05]
    slot        INTEGER NOT NULL,
    items       INTEGER NOT NULL,
    PRIMARY KEY (part, slot)
) WITHOUT ROWID;
CREATE INDEX quota_slot ON quota (slot, items);
CREATE TABLE garbage (
    n           INTEGER PRIMARY KEY         -- of a deleted job
);

-- MIGRATION 2
-- What proc_JobsExpire must know of a job without looking at its items: the latest stop. NULL: no item has stopped; -1: unknown, the clock has gone back.
ALTER TABLE job ADD COLUMN last_stop INTEGER;
UPDATE job SET last_stop = (SELECT max(item.stopped) FROM item WHERE item.n = job.n);

-- MIGRATION 3
-- Why attempts at items failed, in words, as workers tell it (procession_item_failed): the last of each item, and no more than 10,000 in all.
CREATE TABLE failure (
    n           INTEGER PRIMARY KEY AUTOINCREMENT,
    job         INTEGER NOT NULL,           -- its n
    grp         INTEGER NOT NULL,
    id          INTEGER NOT NULL,           -- ItemId
    told        INTEGER NOT NULL,
    error       INTEGER NOT NULL,           -- of this attempt; the item has one only when it is not tried again
    reason      TEXT NOT NULL,
    worker      TEXT                        -- the machine of the worker
);
CREATE UNIQUE INDEX failure_item ON failure (job, grp, id);

-- MIGRATION 4
-- Workers that take items, as they say themselves (procession_worker_here).
CREATE TABLE standing (
    id          BLOB PRIMARY KEY,           -- WorkerServerInstance
    machine     TEXT NOT NULL,
    places      TEXT NOT NULL,              -- folders, one in each line
    until       INTEGER NOT NULL
) WITHOUT ROWID;
