-- The Translation procedures of a job's life, as PL/pgSQL functions of the same effect and with the same layout as the server's tables:
-- what changes while items are worked on is narrow, texts are apart. The XML is parsed, but not validated against a schema as the server does.

CREATE FUNCTION ticks() RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT ((extract(epoch FROM clock_timestamp()) + 2208988800) * 300)::bigint $$;

CREATE TABLE job (
    n           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id          bigint NOT NULL UNIQUE,
    created     bigint NOT NULL,
    canceled    bigint,
    submitted   boolean NOT NULL,
    part        uuid,
    open        int NOT NULL,
    first_stop  bigint
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX job_open ON job (created, id) WHERE submitted AND canceled IS NULL AND open > 0;
CREATE INDEX job_created ON job (created);
CREATE TABLE job_text (
    n           bigint PRIMARY KEY,
    settings    text NOT NULL,
    name        text,
    user_id     text,
    user_token  bytea NOT NULL
);
CREATE TABLE grp (
    n           bigint NOT NULL,
    id          int NOT NULL,
    input_root  text,
    output_root text,
    PRIMARY KEY (n, id)
);
CREATE TABLE item (
    n           bigint NOT NULL,
    grp         int NOT NULL,
    id          int NOT NULL,
    started     bigint,
    stopped     bigint,
    attempts    int NOT NULL,
    worker      uuid,
    error       int,
    PRIMARY KEY (n, grp, id)
) WITH (fillfactor = 70);
CREATE INDEX item_waiting ON item (n, grp, id) WHERE started IS NULL AND stopped IS NULL;
CREATE INDEX item_running ON item (started) WHERE started IS NOT NULL AND stopped IS NULL;
CREATE TABLE item_text (
    n           bigint NOT NULL,
    grp         int NOT NULL,
    id          int NOT NULL,
    input       text NOT NULL,
    output      text,
    PRIMARY KEY (n, grp, id)
);

CREATE FUNCTION proc_AddJob(p_job bigint, p_settings text, p_name text, p_token bytea) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
BEGIN
    INSERT INTO job (id, created, submitted, open) VALUES (p_job, ticks(), false, 0) RETURNING n INTO v_n;
    INSERT INTO job_text (n, settings, name, user_token) VALUES (v_n, p_settings, p_name, p_token);
END $$;

CREATE FUNCTION proc_AddGroup(p_job bigint, p_group int, p_in text, p_out text, p_attempts int, p_xml text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
    v_items int;
BEGIN
    SELECT n INTO STRICT v_n FROM job WHERE id = p_job;
    INSERT INTO grp VALUES (v_n, p_group, p_in, p_out);
    WITH x AS MATERIALIZED (
        SELECT * FROM xmltable(xmlnamespaces('http://schemas.microsoft.com/office/server/translation/2010/11/databaseJobAdd' AS j), '/j:group/j:item' PASSING (p_xml::xml)
            COLUMNS id int PATH '@id', input text PATH '@in', output text PATH '@out')
    ), items AS (
        INSERT INTO item (n, grp, id, attempts) SELECT v_n, p_group, x.id, p_attempts FROM x
    )
    INSERT INTO item_text SELECT v_n, p_group, x.id, x.input, x.output FROM x;
    GET DIAGNOSTICS v_items = ROW_COUNT;
    UPDATE job SET open = open + v_items WHERE n = v_n;
END $$;

CREATE FUNCTION proc_SubmitJob(p_job bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE job SET submitted = true WHERE id = p_job;
END $$;

CREATE FUNCTION proc_GetConversionBatch(p_count int, p_threshold bigint)
RETURNS TABLE (job bigint, grp int, item int, in_progress boolean, input text, output text, attempts int, worker uuid, started bigint, created bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH picked AS (
        (SELECT j.created, j.id AS job, i.* FROM job j JOIN item i ON i.n = j.n
         WHERE j.submitted AND j.canceled IS NULL AND j.open > 0 AND i.started IS NULL AND i.stopped IS NULL
         ORDER BY j.created, j.id, i.grp, i.id
         LIMIT p_count)
        UNION ALL
        SELECT j.created, j.id AS job, i.* FROM item i JOIN job j ON j.n = i.n
        WHERE i.started IS NOT NULL AND i.stopped IS NULL AND i.started < p_threshold AND j.submitted AND j.canceled IS NULL
    )
    SELECT p.job, p.grp, p.id, p.started IS NOT NULL, t.input, t.output, p.attempts, CASE WHEN p.started IS NOT NULL THEN p.worker END, p.started, p.created
    FROM picked p JOIN item_text t ON t.n = p.n AND t.grp = p.grp AND t.id = p.id
    ORDER BY p.created, p.job, p.grp, p.id;
END $$;

CREATE FUNCTION proc_UpdateConversionBatch(p_xml text)
RETURNS TABLE (job bigint, grp int, input_root text, output_root text, settings text, part uuid, user_token bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_xml xml := p_xml::xml;
    x record;
BEGIN
    -- Row by row, as the server does it: joined with a list of unknown length the planner would read whole tables.
    FOR x IN SELECT * FROM xmltable(xmlnamespaces('http://schemas.microsoft.com/office/server/translation/2010/11/databaseBatchUpdate' AS b), '/b:batch/b:start/b:item' PASSING v_xml
             COLUMNS job bigint PATH '@job', grp int PATH '@group', id int PATH '@id', wsi uuid PATH '@wsi') LOOP
        UPDATE item i SET started = ticks(), worker = x.wsi, attempts = greatest(i.attempts - 1, 0)
        WHERE i.n = (SELECT j.n FROM job j WHERE j.id = x.job) AND i.grp = x.grp AND i.id = x.id;
    END LOOP;
    FOR x IN SELECT * FROM xmltable(xmlnamespaces('http://schemas.microsoft.com/office/server/translation/2010/11/databaseBatchUpdate' AS b), '/b:batch/b:failed/b:item' PASSING v_xml
             COLUMNS job bigint PATH '@job', grp int PATH '@group', id int PATH '@id', error int PATH '@error') LOOP
        UPDATE job j SET
            open = open - (EXISTS (SELECT FROM item i WHERE i.n = j.n AND i.grp = x.grp AND i.id = x.id AND i.stopped IS NULL))::int,
            first_stop = least(first_stop, ticks())
        WHERE j.id = x.job;
        UPDATE item i SET stopped = ticks(), error = x.error, worker = NULL
        WHERE i.n = (SELECT j.n FROM job j WHERE j.id = x.job) AND i.grp = x.grp AND i.id = x.id;
    END LOOP;
    FOR x IN SELECT DISTINCT * FROM xmltable(xmlnamespaces('http://schemas.microsoft.com/office/server/translation/2010/11/databaseBatchUpdate' AS b), '//b:item' PASSING v_xml
             COLUMNS job bigint PATH '@job', grp int PATH '@group') LOOP
        RETURN QUERY SELECT j.id, g.id, g.input_root, g.output_root, t.settings, j.part, t.user_token
        FROM job j JOIN grp g ON g.n = j.n JOIN job_text t ON t.n = j.n
        WHERE j.id = x.job AND g.id = x.grp;
    END LOOP;
END $$;

CREATE FUNCTION proc_UpdateSucceededItem(p_job bigint, p_group int, p_item int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n bigint;
BEGIN
    SELECT n INTO v_n FROM job WHERE id = p_job;
    UPDATE job SET
        open = open - (EXISTS (SELECT FROM item i WHERE i.n = v_n AND i.grp = p_group AND i.id = p_item AND i.stopped IS NULL))::int,
        first_stop = least(first_stop, ticks())
    WHERE n = v_n;
    UPDATE item i SET stopped = ticks(), error = NULL, worker = NULL WHERE i.n = v_n AND i.grp = p_group AND i.id = p_item;
END $$;

CREATE FUNCTION proc_GetJobStatus(p_job bigint, p_part uuid)
RETURNS TABLE (total bigint, not_submitted bigint, not_started bigint, in_progress bigint, succeeded bigint, failed bigint, canceled bigint, name text)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT count(i.id),
        count(i.id) FILTER (WHERE NOT j.submitted AND j.canceled IS NULL),
        count(i.id) FILTER (WHERE j.submitted AND j.canceled IS NULL AND i.started IS NULL),
        count(i.id) FILTER (WHERE j.submitted AND j.canceled IS NULL AND i.started IS NOT NULL AND i.stopped IS NULL),
        count(i.id) FILTER (WHERE j.submitted AND i.started IS NOT NULL AND i.stopped IS NOT NULL AND i.error IS NULL),
        count(i.id) FILTER (WHERE j.submitted AND i.started IS NOT NULL AND i.stopped IS NOT NULL AND i.error IS NOT NULL),
        count(i.id) FILTER (WHERE j.submitted AND j.canceled IS NOT NULL AND i.stopped IS NULL),
        t.name
    FROM job j JOIN job_text t ON t.n = j.n LEFT JOIN item i ON i.n = j.n
    WHERE j.id = p_job AND j.part IS NOT DISTINCT FROM p_part
    GROUP BY j.n, t.name;
END $$;
