-- StateService: items with locks and times in a narrow table, their data apart, so that locking, refreshing and
-- sweeping never touch the data. Times are datetime ticks (1/300 s since 1900-01-01 UTC).

-- ERROR 2627 item.id 'Violation of PRIMARY KEY constraint ''PK_Items''. Cannot insert duplicate key in object ''dbo.Items''. An item with this identifier exists already.'

-- MIGRATION 1
CREATE TABLE item (
    n           INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,       -- without trailing spaces [E-COM-08]; compared byte by byte
    cookie      INTEGER NOT NULL,           -- 1 to 2147483647; a lock takes the next one [E-STATE-01]
    locked      INTEGER NOT NULL,           -- 0 or 1
    lock_time   INTEGER,                    -- when it was locked last, or added
    timeout     INTEGER NOT NULL,           -- lifetime in ticks: minutes * 18000
    expires     INTEGER NOT NULL,
    sweep       INTEGER NOT NULL            -- the minute, never after expires, in which a sweep looks at it: renewing an item leaves it and its index alone
);
CREATE INDEX item_sweep ON item (sweep);
CREATE TABLE body (
    n           INTEGER PRIMARY KEY,        -- item.n
    data        BLOB                        -- NULL is a value [E-STATE-06]
);

-- MIGRATION 2
CREATE TABLE promise (                      -- one row; see procession_promise
    until       INTEGER NOT NULL,           -- renewals up to this time may not be on the disk yet; 0: all are
    lost        INTEGER NOT NULL            -- renewals up to this time may have been lost: no item expires before this time and its time-out
);
INSERT INTO promise (until, lost) VALUES (0, 0);

-- MIGRATION 3
-- A cookie is never given twice for an identifier, also when its item is gone and added again [E-STATE-11]. So the last cookies of the items that went are kept, with
-- their identifiers; when they are 10,000, these are forgotten, and from then on every other identifier starts above all of them.
CREATE TABLE gone (
    n           INTEGER PRIMARY KEY,        -- counts from 1: the table is only ever emptied as a whole
    id          TEXT NOT NULL UNIQUE,
    cookie      INTEGER NOT NULL            -- the item's last
);
CREATE TABLE forgotten (                    -- one row
    cookie      INTEGER NOT NULL            -- an identifier that is not in gone never had a higher one; 0: nothing was forgotten
);
-- Which items went before nobody knows any more: the highest cookie there is, is the best guess.
INSERT INTO forgotten (cookie) SELECT coalesce(max(CASE WHEN cookie = 2147483647 THEN 0 ELSE cookie END), 0) FROM item;

-- MIGRATION 4
-- The checksum of the item's data, apart from it: what a disk changes in either is noticed, and so is a page that it forgot to write.
ALTER TABLE item ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
UPDATE item SET sum = checksum((SELECT body.data FROM body WHERE body.n = item.n));
CREATE VIEW damaged AS                      -- for procession_database_check
    SELECT 'the data of item ' || item.id AS what FROM item LEFT JOIN body ON body.n = item.n WHERE checksum(body.data) <> item.sum;

-- MIGRATION 5
-- How long the item's data are, beside the rest of it: they are counted (numbers.sql) and shown without being read.
ALTER TABLE item ADD COLUMN bytes INTEGER;  -- NULL: the data are
UPDATE item SET bytes = (SELECT length(body.data) FROM body WHERE body.n = item.n);
