-- What every database on PostgreSQL has in its schema, beside the tables of its service. Run with that schema first in search_path.
CREATE TABLE store (                            -- one row
    service     text COLLATE "C" NOT NULL,
    version     int8 NOT NULL,                  -- migrations that were done
    identity    text COLLATE "C" NOT NULL,      -- 32 hexadecimal digits
    hash        text COLLATE "C" NOT NULL       -- of the functions and views that are there
);
CREATE TABLE mark (                             -- the last group that a connection committed: was it done, or not?
    slot        text COLLATE "C" PRIMARY KEY,
    seq         int8 NOT NULL,
    at          int8 NOT NULL
) WITH (fillfactor = 10);
CREATE TABLE clock (floor int8 NOT NULL);       -- one row: no call's clock is before this
INSERT INTO clock (floor) VALUES (0);
CREATE TABLE gate ();                           -- locked by who writes, so that nobody writes beside an explicit transaction
