-- A database of StateService as the program of commit f51f97f left it (version 4 of its tables), with its functions and views and three
-- items: written by that program, dumped with pg_dump --no-owner --no-privileges -n 'procession_stateservice*'. For test_versions.py.
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA procession_stateservice;
CREATE SCHEMA procession_stateservice_c361be4e;
CREATE FUNCTION procession_stateservice_c361be4e."proc_AddItem"(a_clock bigint, t_id text, v_timeout bigint, v_item bytea, v_id text, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
BEGIN
    INSERT INTO item (id, cookie, locked, lock_time, timeout, expires, sweep, sum) VALUES (t_id, (SELECT CASE WHEN cookie = 2147483647 THEN 1 ELSE cookie + 1 END FROM (SELECT coalesce((SELECT gone.cookie FROM gone WHERE gone.id = t_id), (SELECT forgotten.cookie FROM forgotten)) AS cookie) AS last), 0, v_now, v_timeout * 18000, v_now + v_timeout * 18000, (v_now + v_timeout * 18000) / 18000, checksum(v_item)) ON CONFLICT (id) DO NOTHING RETURNING n INTO v_n;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    IF (v_n IS NOT NULL) IS NOT TRUE THEN
        IF v_changed > 0 THEN
            RAISE EXCEPTION USING ERRCODE = 'PC001', MESSAGE = 'Violation of PRIMARY KEY constraint ''PK_Items''. Cannot insert duplicate key in object ''dbo.Items''. The duplicate key value is (' || coalesce(v_id::text, 'NULL') || ').', DETAIL = '2627 14 1';
        END IF;
        _step := 1; _number := NULL; _text := 'Violation of PRIMARY KEY constraint ''PK_Items''. Cannot insert duplicate key in object ''dbo.Items''. The duplicate key value is (' || coalesce(v_id::text, 'NULL') || ').'; _changed := v_changed; _now := v_now;
        RETURN;
    END IF;
    INSERT INTO body (n, data) VALUES (v_n, v_item);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_DeleteExpiredItems"(a_clock bigint, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
    v_top int8;
BEGIN
    SELECT as_number(q.c1), as_number(q.c2) INTO v_n, v_top FROM (SELECT count(*), max(cookie) FROM item WHERE sweep <= v_now / 18000 AND greatest(expires, timeout + (SELECT lost FROM promise)) < v_now) AS q(c1, c2) LIMIT 1;
    IF v_n BETWEEN 1 AND 10000 THEN
        INSERT INTO gone (id, cookie) SELECT item.id, item.cookie FROM item WHERE item.sweep <= v_now / 18000 AND greatest(item.expires, item.timeout + (SELECT lost FROM promise)) < v_now ON CONFLICT (id) DO UPDATE SET cookie = excluded.cookie;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
    END IF;
    IF v_n > 10000 OR (SELECT max(n) FROM gone) - (SELECT min(n) FROM gone) >= 10000 THEN
        UPDATE forgotten SET cookie = CASE WHEN top = 2147483647 THEN 0 ELSE top END FROM (SELECT max(cookie) AS top FROM (SELECT gone.cookie FROM gone UNION ALL SELECT v_top) AS known) AS highest WHERE forgotten.cookie < top;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        DELETE FROM gone;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
    END IF;
    DELETE FROM body WHERE n IN (SELECT item.n FROM item WHERE item.sweep <= v_now / 18000 AND greatest(item.expires, item.timeout + (SELECT lost FROM promise)) < v_now);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    DELETE FROM item WHERE sweep <= v_now / 18000 AND greatest(expires, timeout + (SELECT lost FROM promise)) < v_now;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    UPDATE item SET sweep = greatest(expires, timeout + (SELECT lost FROM promise)) / 18000 WHERE sweep <= v_now / 18000 AND sweep < greatest(expires, timeout + (SELECT lost FROM promise)) / 18000;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_DeleteItem"(a_clock bigint, t_id text, v_lockcookie bigint, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
    v_kept int8;
BEGIN
    DELETE FROM item WHERE id = t_id AND cookie = v_lockcookie RETURNING n INTO v_n;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    IF v_n IS NOT NULL THEN
        DELETE FROM body WHERE n = v_n;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        INSERT INTO gone (id, cookie) VALUES (t_id, v_lockcookie) ON CONFLICT (id) DO UPDATE SET cookie = excluded.cookie RETURNING n INTO v_kept;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        IF v_kept % 1000 = 1 AND (SELECT max(n) FROM gone) - (SELECT min(n) FROM gone) >= 10000 THEN
            UPDATE forgotten SET cookie = CASE WHEN top = 2147483647 THEN 0 ELSE top END FROM (SELECT max(gone.cookie) AS top FROM gone) AS known WHERE forgotten.cookie < top;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            v_changed := v_changed + v_count;
            DELETE FROM gone;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            v_changed := v_changed + v_count;
        END IF;
    END IF;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_GetItemWithLock"(a_clock bigint, t_id text, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint, OUT v_item bytea, OUT v_locked bigint, OUT v_lockageinseconds bigint, OUT v_lockcookie bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
    v_large int8;
    v_sum int8;
BEGIN
    SELECT as_number(q.c1), as_number(q.c2), as_number(q.c3), as_number(q.c4), as_bytes(q.c5), as_number(q.c6), as_number(q.c7) INTO v_n, v_locked, v_lockageinseconds, v_lockcookie, v_item, v_large, v_sum FROM (SELECT item.n, CASE WHEN locked <> 0 THEN 1 ELSE 0 END, CASE WHEN locked <> 0 AND lock_time < v_now THEN v_now / 300 - lock_time / 300 ELSE 0 END, CASE WHEN locked <> 0 THEN cookie WHEN cookie = 2147483647 THEN 1 ELSE cookie + 1 END, CASE WHEN locked = 0 AND coalesce(length(data), 0) <= 100000 THEN verified(data, sum) END, CASE WHEN locked = 0 AND length(data) > 100000 THEN item.n END, sum FROM item LEFT JOIN body ON body.n = item.n WHERE id = t_id) AS q(c1, c2, c3, c4, c5, c6, c7) LIMIT 1;
    IF v_n IS NOT NULL THEN
        UPDATE item SET expires = v_now + timeout, cookie = v_lockcookie, lock_time = CASE WHEN locked <> 0 THEN lock_time ELSE v_now END, locked = 1 WHERE n = v_n;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        IF v_large IS NOT NULL THEN
            SELECT data INTO v_item FROM body WHERE n = v_large;
            IF (verified(v_item, v_sum) IS NOT NULL) IS NOT TRUE THEN
                IF v_changed > 0 THEN
                    RAISE EXCEPTION USING ERRCODE = 'PC001', MESSAGE = 'The value is damaged.', DETAIL = '824 17 1';
                END IF;
                _step := 5; _number := NULL; _text := 'The value is damaged.'; _changed := v_changed; _now := v_now;
                RETURN;
            END IF;
        END IF;
    END IF;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_GetItemWithoutLock"(a_clock bigint, t_id text, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint, OUT v_item bytea, OUT v_locked bigint, OUT v_lockageinseconds bigint, OUT v_lockcookie bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
    v_large int8;
    v_sum int8;
BEGIN
    SELECT as_number(q.c1), as_number(q.c2), as_number(q.c3), as_number(q.c4), as_bytes(q.c5), as_number(q.c6), as_number(q.c7) INTO v_n, v_locked, v_lockageinseconds, v_lockcookie, v_item, v_large, v_sum FROM (SELECT item.n, CASE WHEN locked <> 0 THEN 1 ELSE 0 END, CASE WHEN locked <> 0 AND lock_time < v_now THEN v_now / 300 - lock_time / 300 ELSE 0 END, cookie, CASE WHEN locked = 0 AND coalesce(length(data), 0) <= 100000 THEN verified(data, sum) END, CASE WHEN locked = 0 AND length(data) > 100000 THEN item.n END, sum FROM item LEFT JOIN body ON body.n = item.n WHERE id = t_id) AS q(c1, c2, c3, c4, c5, c6, c7) LIMIT 1;
    IF v_n IS NOT NULL THEN
        UPDATE item SET expires = v_now + timeout WHERE n = v_n;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        IF v_large IS NOT NULL THEN
            SELECT data INTO v_item FROM body WHERE n = v_large;
            IF (verified(v_item, v_sum) IS NOT NULL) IS NOT TRUE THEN
                IF v_changed > 0 THEN
                    RAISE EXCEPTION USING ERRCODE = 'PC001', MESSAGE = 'The value is damaged.', DETAIL = '824 17 1';
                END IF;
                _step := 5; _number := NULL; _text := 'The value is damaged.'; _changed := v_changed; _now := v_now;
                RETURN;
            END IF;
        END IF;
    END IF;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_RefreshItemExpiration"(a_clock bigint, t_id text, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
BEGIN
    UPDATE item SET expires = v_now + timeout WHERE id = t_id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_ReleaseItemLock"(a_clock bigint, t_id text, v_lockcookie bigint, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
BEGIN
    UPDATE item SET locked = 0, expires = v_now + timeout WHERE id = t_id AND cookie = v_lockcookie;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e."proc_UpdateItem"(a_clock bigint, v_timeout bigint, t_id text, v_lockcookie bigint, v_item bytea, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_n int8;
    v_minute int8;
BEGIN
    SELECT as_number(q.c1), as_number(q.c2) INTO v_n, v_minute FROM (SELECT n, CASE WHEN sweep > (v_now + v_timeout * 18000) / 18000 THEN (v_now + v_timeout * 18000) / 18000 END FROM item WHERE id = t_id AND cookie = v_lockcookie) AS q(c1, c2) LIMIT 1;
    IF v_n IS NOT NULL THEN
        IF v_minute IS NULL THEN
            UPDATE item SET locked = 0, timeout = v_timeout * 18000, expires = v_now + v_timeout * 18000, sum = checksum(v_item) WHERE n = v_n;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            v_changed := v_changed + v_count;
        ELSE
            UPDATE item SET locked = 0, timeout = v_timeout * 18000, expires = v_now + v_timeout * 18000, sweep = v_minute, sum = checksum(v_item) WHERE n = v_n;
            GET DIAGNOSTICS v_count = ROW_COUNT;
            v_changed := v_changed + v_count;
        END IF;
        UPDATE body SET data = v_item WHERE n = v_n;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
    END IF;
    _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e.procession_clean(a_clock bigint, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
    v_lost int8;
    v_minute int8;
    v_last int8;
BEGIN
    SELECT as_number(q.c1) INTO v_lost FROM (SELECT lost FROM promise) AS q(c1) LIMIT 1;
    SELECT as_number(q.c1) INTO v_minute FROM (SELECT min(sweep) FROM item WHERE sweep <= v_now / 18000 AND (greatest(expires, timeout + v_lost) < v_now OR sweep < greatest(expires, timeout + v_lost) / 18000)) AS q(c1) LIMIT 1;
    IF v_minute IS NULL THEN
        _step := -1; _number := 0; _text := NULL; _changed := v_changed; _now := v_now;
        RETURN;
    END IF;
    SELECT as_number(q.c1) INTO v_last FROM (SELECT max(n) FROM (SELECT n FROM item WHERE sweep = v_minute AND (greatest(expires, timeout + v_lost) < v_now OR sweep < greatest(expires, timeout + v_lost) / 18000) ORDER BY n LIMIT 200) AS few) AS q(c1) LIMIT 1;
    INSERT INTO gone (id, cookie) SELECT item.id, item.cookie FROM item WHERE item.sweep = v_minute AND item.n <= v_last AND greatest(item.expires, item.timeout + v_lost) < v_now ON CONFLICT (id) DO UPDATE SET cookie = excluded.cookie;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    IF (SELECT max(n) FROM gone) - (SELECT min(n) FROM gone) >= 10000 THEN
        UPDATE forgotten SET cookie = CASE WHEN top = 2147483647 THEN 0 ELSE top END FROM (SELECT max(gone.cookie) AS top FROM gone) AS known WHERE forgotten.cookie < top;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
        DELETE FROM gone;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        v_changed := v_changed + v_count;
    END IF;
    DELETE FROM body WHERE n IN (SELECT item.n FROM item WHERE item.sweep = v_minute AND item.n <= v_last AND greatest(item.expires, item.timeout + v_lost) < v_now);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    DELETE FROM item WHERE sweep = v_minute AND n <= v_last AND greatest(expires, timeout + v_lost) < v_now;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    UPDATE item SET sweep = greatest(expires, timeout + v_lost) / 18000 WHERE sweep = v_minute AND n <= v_last AND sweep < greatest(expires, timeout + v_lost) / 18000;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := coalesce((SELECT as_number(q.c1) FROM (SELECT EXISTS (SELECT 1 FROM item WHERE sweep <= v_now / 18000 AND (greatest(expires, timeout + v_lost) < v_now OR sweep < greatest(expires, timeout + v_lost) / 18000))) AS q(c1) LIMIT 1), 0); _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
CREATE FUNCTION procession_stateservice_c361be4e.procession_promise(a_clock bigint, v_phase bigint, OUT _step integer, OUT _number bigint, OUT _text text, OUT _changed bigint, OUT _now bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
DECLARE
    v_now int8 := greatest(ticks(), a_clock);
    v_count int8 := 0;
    v_changed int8 := 0;
BEGIN
    UPDATE promise SET lost = until WHERE v_phase = 0 AND until > lost;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    UPDATE promise SET until = CASE WHEN v_phase = 1 THEN v_now + 36000 ELSE 0 END;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_changed := v_changed + v_count;
    _step := -1; _number := 120; _text := NULL; _changed := v_changed; _now := v_now;
    RETURN;
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE procession_stateservice.body (
    n bigint NOT NULL,
    data bytea
)
WITH (fillfactor='75');
CREATE TABLE procession_stateservice.clock (
    floor bigint NOT NULL
);
CREATE TABLE procession_stateservice.item (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    cookie bigint NOT NULL,
    locked bigint NOT NULL,
    lock_time bigint,
    timeout bigint NOT NULL,
    expires bigint NOT NULL,
    sweep bigint NOT NULL,
    sum bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='75');
CREATE VIEW procession_stateservice.damaged AS
 SELECT ('the data of item '::text || item.id) AS what
   FROM (procession_stateservice.item
     LEFT JOIN procession_stateservice.body ON ((body.n = item.n)))
  WHERE (procession.checksum(body.data) <> item.sum);
CREATE TABLE procession_stateservice.forgotten (
    cookie bigint NOT NULL
)
WITH (fillfactor='75');
CREATE TABLE procession_stateservice.gate (
);
CREATE TABLE procession_stateservice.gone (
    n bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    cookie bigint NOT NULL
)
WITH (fillfactor='75');
ALTER TABLE procession_stateservice.gone ALTER COLUMN n ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME procession_stateservice.gone_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE procession_stateservice.item ALTER COLUMN n ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME procession_stateservice.item_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE procession_stateservice.mark (
    slot text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    at bigint NOT NULL
)
WITH (fillfactor='10');
CREATE TABLE procession_stateservice.promise (
    until bigint NOT NULL,
    lost bigint NOT NULL
)
WITH (fillfactor='75');
CREATE TABLE procession_stateservice.store (
    service text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    identity text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE VIEW procession_stateservice_c361be4e."view_Items" AS
 SELECT procession.as_text(q.c1) AS "Id",
    procession.as_number(q.c2) AS "Locked",
    procession.as_number(q.c3) AS "LockCookie",
    procession.as_number(q.c4) AS "LockTime",
    procession.as_number(q.c5) AS "TimeoutMinutes",
    procession.as_number(q.c6) AS "Expires",
    procession.as_number(q.c7) AS "Bytes"
   FROM ( SELECT item.id,
            (item.locked <> 0) AS "?column?",
            item.cookie,
                CASE
                    WHEN (item.locked <> 0) THEN item.lock_time
                    ELSE NULL::bigint
                END AS "case",
            (item.timeout / 18000) AS "?column?",
            GREATEST(item.expires, (item.timeout + promise.lost)) AS "greatest",
            length(body.data) AS length
           FROM ((procession_stateservice.promise
             CROSS JOIN procession_stateservice.item)
             LEFT JOIN procession_stateservice.body ON ((body.n = item.n)))) q(c1, c2, c3, c4, c5, c6, c7);
COPY procession_stateservice.body (n, data) FROM stdin;
1	\\x000102
2	\\x6c6f636b6564
3	\N
\.
COPY procession_stateservice.clock (floor) FROM stdin;
0
\.
COPY procession_stateservice.forgotten (cookie) FROM stdin;
0
\.
COPY procession_stateservice.gate  FROM stdin;
\.
COPY procession_stateservice.gone (n, id, cookie) FROM stdin;
\.
COPY procession_stateservice.item (n, id, cookie, locked, lock_time, timeout, expires, sweep, sum) FROM stdin;
1	kept	1	0	1201203674801	9000000000	1210203674801	67233537	-1184929802
3	null	1	0	1201203674802	9000000000	1210203674802	67233537	1314212940
2	locked	2	1	1201203674802	9000000000	1210203674802	67233537	1290743600
\.
COPY procession_stateservice.mark (slot, seq, at) FROM stdin;
cadc94fbfed5145cd9898bd3b31665e7/9	4	1201203674802
\.
COPY procession_stateservice.promise (until, lost) FROM stdin;
0	0
\.
COPY procession_stateservice.store (service, version, identity, hash) FROM stdin;
state	4	2cc71421c38c352dddfbf2f8b9842b16	
\.
SELECT pg_catalog.setval('procession_stateservice.gone_n_seq', 1, false);
SELECT pg_catalog.setval('procession_stateservice.item_n_seq', 3, true);
ALTER TABLE ONLY procession_stateservice.body
    ADD CONSTRAINT body_pkey PRIMARY KEY (n);
ALTER TABLE ONLY procession_stateservice.gone
    ADD CONSTRAINT gone_id_key UNIQUE (id);
ALTER TABLE ONLY procession_stateservice.gone
    ADD CONSTRAINT gone_pkey PRIMARY KEY (n);
ALTER TABLE ONLY procession_stateservice.item
    ADD CONSTRAINT item_id_key UNIQUE (id);
ALTER TABLE ONLY procession_stateservice.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (n);
ALTER TABLE ONLY procession_stateservice.mark
    ADD CONSTRAINT mark_pkey PRIMARY KEY (slot);
CREATE INDEX item_sweep ON procession_stateservice.item USING btree (sweep);
