-- The StateService procedures that the benchmark calls, as PL/pgSQL functions of the same effect and with the same layout: locks and
-- times in a narrow table, data apart. Times are datetime ticks (1/300 s), as in the server.

CREATE FUNCTION ticks() RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT ((extract(epoch FROM clock_timestamp()) + 2208988800) * 300)::bigint $$;

CREATE TABLE item (
    n           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          text COLLATE "C" NOT NULL UNIQUE,
    cookie      int NOT NULL,
    locked      boolean NOT NULL,
    lock_time   bigint,
    timeout     bigint NOT NULL,
    expires     bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX item_expires ON item (expires);
CREATE TABLE body (
    n           bigint PRIMARY KEY,
    data        bytea
) WITH (fillfactor = 70);
-- The bytes of the benchmark are like compressed ones: trying to compress them again would only cost.
ALTER TABLE body ALTER data SET STORAGE EXTERNAL;

CREATE FUNCTION proc_AddItem(p_id text, p_item bytea, p_timeout int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
BEGIN
    INSERT INTO item (id, cookie, locked, timeout, expires)
    VALUES (rtrim(p_id), 1, false, p_timeout * 18000::bigint, ticks() + p_timeout * 18000::bigint)
    RETURNING n INTO v_n;
    INSERT INTO body VALUES (v_n, p_item);
END $$;

CREATE FUNCTION proc_GetItemWithLock(p_id text, OUT item bytea, OUT locked int, OUT age int, OUT cookie int) LANGUAGE plpgsql AS $$
DECLARE
    r item;
    v_now bigint := ticks();
BEGIN
    SELECT * INTO r FROM item i WHERE i.id = rtrim(p_id) FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF r.locked THEN
        UPDATE item i SET expires = v_now + i.timeout WHERE i.n = r.n;
        locked := 1;
        age := v_now / 300 - r.lock_time / 300;
        cookie := r.cookie;
        RETURN;
    END IF;
    cookie := CASE WHEN r.cookie = 2147483647 THEN 1 ELSE r.cookie + 1 END;
    UPDATE item i SET expires = v_now + i.timeout, cookie = proc_GetItemWithLock.cookie, lock_time = v_now, locked = true WHERE i.n = r.n;
    locked := 0;
    age := 0;
    SELECT data INTO item FROM body b WHERE b.n = r.n;
END $$;

CREATE FUNCTION proc_GetItemWithoutLock(p_id text, OUT item bytea, OUT locked int, OUT age int, OUT cookie int) LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
    v_now bigint := ticks();
BEGIN
    UPDATE item i SET expires = v_now + i.timeout WHERE i.id = rtrim(p_id)
    RETURNING CASE WHEN NOT i.locked THEN i.n END, i.locked::int, CASE WHEN i.locked THEN v_now / 300 - i.lock_time / 300 ELSE 0 END, i.cookie
    INTO v_n, locked, age, cookie;
    SELECT data INTO item FROM body b WHERE b.n = v_n;
END $$;

CREATE FUNCTION proc_UpdateItem(p_id text, p_item bytea, p_timeout int, p_cookie int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
BEGIN
    UPDATE item i SET locked = false, timeout = p_timeout * 18000::bigint, expires = ticks() + p_timeout * 18000::bigint
    WHERE i.id = rtrim(p_id) AND i.cookie = p_cookie
    RETURNING i.n INTO v_n;
    UPDATE body SET data = p_item WHERE n = v_n;
END $$;

-- The same 100,000 items of 1 KiB.
SELECT count(proc_AddItem('bench-' || lpad(k::text, 8, '0'), decode(repeat(md5(k::text), 64), 'hex'), 60)) FROM generate_series(0, 99999) k;
VACUUM ANALYZE;
