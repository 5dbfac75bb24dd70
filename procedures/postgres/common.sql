-- What all databases on PostgreSQL share: schema procession. Run with search_path = procession, under the lock of migrations, whenever its
-- text has changed: everything here can be run again.

-- ---- the role under which clients' SELECTs run: it reads views, and nothing else
DO $procession$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'procession_reader') THEN
        CREATE ROLE procession_reader NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'procession_reader', 'MEMBER') THEN
        EXECUTE format('GRANT procession_reader TO %I', current_user);
    END IF;
END $procession$;
GRANT USAGE ON SCHEMA procession TO procession_reader;

-- ---- what the servers of an installation have in common: the key of digests that they tell each other
CREATE TABLE IF NOT EXISTS installation (key bytea NOT NULL);
INSERT INTO installation (key)
    SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') WHERE NOT EXISTS (SELECT 1 FROM installation);
-- ---- and what they tell each other a few times a second (engine/postgres/share.c). Nothing of it is flushed; after a crash it is empty.
CREATE UNLOGGED TABLE IF NOT EXISTS server (
    id          text COLLATE "C" PRIMARY KEY,   -- made anew at every start
    name        text COLLATE "C" NOT NULL,
    address     text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    started     timestamptz NOT NULL,
    beat        timestamptz NOT NULL,           -- when it was heard of last
    sessions    int8 NOT NULL,
    kicks       int8 NOT NULL,                  -- how often something was left there to clean up
    cleans      boolean NOT NULL,               -- it has the lock of who cleans up
    who         jsonb NOT NULL,                 -- its sessions
    clocks      jsonb NOT NULL DEFAULT '{}'     -- the latest reading of each database there, by identity (engine/postgres/clocks.c)
) WITH (fillfactor = 10);
ALTER TABLE server ADD COLUMN IF NOT EXISTS clocks jsonb NOT NULL DEFAULT '{}';
CREATE UNLOGGED TABLE IF NOT EXISTS event (     -- of logins; for some seconds
    server      text COLLATE "C" NOT NULL,
    seq         int8 NOT NULL,
    at          timestamptz NOT NULL,
    events      bytea NOT NULL,
    PRIMARY KEY (server, seq)
);

-- ---- what each database holds, as the server that cleans up has counted it (engine/postgres/counter.c)
CREATE UNLOGGED TABLE IF NOT EXISTS counted (
    identity    text COLLATE "C" PRIMARY KEY,
    at          timestamptz NOT NULL,
    took_ms     int8 NOT NULL,
    bytes       int8 NOT NULL,                  -- of its tables and their indexes
    numbers     int8[]                          -- those of its service; NULL: they could not be counted
) WITH (fillfactor = 10);

-- ---- the clock: ticks of 1/300 s since 1900-01-01 UTC
CREATE OR REPLACE FUNCTION ticks() RETURNS int8 LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT floor((date_part('epoch', clock_timestamp()) + 2208988800) * 300)::int8 $$;

-- ---- renewals that were answered and may be lost: procession_promise
-- What is not in the log of PostgreSQL is empty after a crash, and on a standby that was promoted: just when commits that nobody waited for may be lost.
-- After an orderly stop it is as it was.
CREATE UNLOGGED TABLE IF NOT EXISTS unharmed (place text COLLATE "C" PRIMARY KEY);
-- Before the first use of a session: no item expires before the end of the promise and its time-out, if something may have been lost. place: of the tables.
CREATE OR REPLACE FUNCTION call_in(place text) RETURNS void LANGUAGE plpgsql AS $procession$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM unharmed u WHERE u.place = call_in.place) THEN
        EXECUTE format('UPDATE %I.promise SET lost = until WHERE until > lost', place);
        INSERT INTO unharmed VALUES (place) ON CONFLICT DO NOTHING;
    END IF;
END $procession$;

-- ---- names that are compared without case (SQLite's NOCASE)
DO $procession$ BEGIN
    IF to_regcollation('procession.nocase') IS NULL THEN
        CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    END IF;
END $procession$;

-- ---- what is selected becomes a number, a text or bytes, as declared; truth is 1 or 0
CREATE OR REPLACE FUNCTION as_number(int8) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION as_number(int4) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::int8 $$;
CREATE OR REPLACE FUNCTION as_number(boolean) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::int4::int8 $$;
CREATE OR REPLACE FUNCTION as_number(numeric) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::int8 $$;
CREATE OR REPLACE FUNCTION as_number(text) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::int8 $$;
CREATE OR REPLACE FUNCTION as_text(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION as_text(int8) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE OR REPLACE FUNCTION as_text(int4) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE OR REPLACE FUNCTION as_text(boolean) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::int4::text $$;
CREATE OR REPLACE FUNCTION as_text(numeric) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE OR REPLACE FUNCTION as_bytes(bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION as_bytes(text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT convert_to($1, 'UTF8') $$;
CREATE OR REPLACE FUNCTION as_float(float8) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION as_float(int4) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::float8 $$;
CREATE OR REPLACE FUNCTION as_float(int8) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::float8 $$;
CREATE OR REPLACE FUNCTION as_float(numeric) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::float8 $$;
CREATE OR REPLACE FUNCTION as_float(text) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::float8 $$;

-- ---- checksums of large values: 32 bits of MD5, which is the same in every version of PostgreSQL. NULL has one, too.
CREATE OR REPLACE FUNCTION checksum(bytea) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 IS NULL THEN 1314212940 ELSE ('x' || substr(md5($1), 1, 8))::bit(32)::int4::int8 END $$;
CREATE OR REPLACE FUNCTION damaged_value() RETURNS bytea LANGUAGE plpgsql STABLE AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'PC824', MESSAGE = 'the checksum of a stored value is wrong'; END $$;
CREATE OR REPLACE FUNCTION verified(bytea, int8) RETURNS bytea LANGUAGE sql STABLE AS
$$ SELECT CASE WHEN checksum($1) = $2 THEN $1 ELSE damaged_value() END $$;

-- ---- SQLite's lower() and upper(), which know ASCII: the database's locale has its own idea of letters
CREATE OR REPLACE FUNCTION ascii_lower(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT lower($1 COLLATE "C") $$;
CREATE OR REPLACE FUNCTION ascii_upper(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT upper($1 COLLATE "C") $$;

-- ---- SQLite's GLOB and LIKE, as operators
CREATE OR REPLACE FUNCTION glob_pattern(p text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $procession$
DECLARE
    r text := '^';
    i int := 1;
    j int;
    c text;
BEGIN
    WHILE i <= length(p) LOOP
        c := substr(p, i, 1);
        IF c = '*' THEN r := r || '.*';
        ELSIF c = '?' THEN r := r || '.';
        ELSIF c = '[' THEN
            j := i + 1;
            IF substr(p, j, 1) = '^' THEN j := j + 1; END IF;
            IF substr(p, j, 1) = ']' THEN j := j + 1; END IF;
            WHILE j <= length(p) AND substr(p, j, 1) <> ']' LOOP j := j + 1; END LOOP;
            IF j > length(p) THEN RETURN NULL; END IF;          -- a set without its end matches nothing
            r := r || '[' || replace(replace(substr(p, i + 1, j - i - 1), '\', '\\'), '[', '\[') || ']';
            i := j;
        ELSE r := r || regexp_replace(c, '([^[:alnum:] ])', '\\\1');
        END IF;
        i := i + 1;
    END LOOP;
    RETURN '(?s)' || r || '$';
END $procession$;
CREATE OR REPLACE FUNCTION globs(v text, p text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT coalesce((v COLLATE "C") ~ glob_pattern(p COLLATE "C"), false) $$;
CREATE OR REPLACE FUNCTION likes(v text, p text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT (v COLLATE "C") ILIKE (replace(p, '\', '\\') COLLATE "C") $$;
DO $procession$ BEGIN
    IF to_regoperator('procession.@~(text,text)') IS NULL THEN
        CREATE OPERATOR @~ (LEFTARG = text, RIGHTARG = text, FUNCTION = globs);
    END IF;
    IF to_regoperator('procession.%~(text,text)') IS NULL THEN
        CREATE OPERATOR %~ (LEFTARG = text, RIGHTARG = text, FUNCTION = likes);
    END IF;
END $procession$;
-- the one form that the declarations use: the day of a time in seconds
CREATE OR REPLACE FUNCTION strftime(form text, seconds int8, unit text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT to_char('epoch'::timestamp + seconds * interval '1 second', 'YYYY-MM-DD') $$;
