-- The ScheduledJobs procedures that the benchmark calls, as PL/pgSQL functions of the same effect. Of the rules for new jobs only the shapes of
-- assembly, class and recurrence are checked, with one pattern each.

CREATE FUNCTION ticks() RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT ((extract(epoch FROM clock_timestamp()) + 2208988800) * 300)::bigint $$;

CREATE TABLE job (
    id           uuid PRIMARY KEY,
    assembly     text NOT NULL,
    class        text NOT NULL,
    recurrence   text,
    data         text,
    due          bigint NOT NULL,
    disabled     boolean NOT NULL,
    display_name text
);
CREATE INDEX job_due ON job (due, id);

CREATE FUNCTION proc_MIP_AddScheduledJob(p_id uuid, p_assembly text, p_class text, p_recurrence text, p_due bigint) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF p_id IS NULL OR p_due IS NULL OR p_assembly !~ '^[^,]+, Version=[0-9.]+, Culture=[a-zA-Z-]+, PublicKeyToken=[0-9a-f]+$'
        OR p_class !~ '^[[:alpha:]_][[:alnum:]_.]*$' OR p_recurrence !~ '^(minutes|hourly|daily|weekly|monthly|yearly) '
        OR EXISTS (SELECT FROM job WHERE id = p_id) THEN
        RETURN 1;
    END IF;
    INSERT INTO job (id, assembly, class, recurrence, due, disabled) VALUES (p_id, rtrim(p_assembly), rtrim(p_class), p_recurrence, p_due, false);
    RETURN 0;
END $$;

CREATE FUNCTION proc_MIP_GetScheduledJobById(p_id uuid) RETURNS SETOF job LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM job WHERE id = p_id;
END $$;

CREATE FUNCTION proc_MIP_RefreshScheduledJob(p_id uuid, p_due bigint) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF p_due <= ticks() OR NOT EXISTS (SELECT FROM job WHERE id = p_id AND NOT disabled) THEN
        RETURN 1;
    END IF;
    UPDATE job SET due = p_due WHERE id = p_id;
    RETURN 0;
END $$;

CREATE FUNCTION proc_MIP_GetScheduledJobsInInterval(p_due bigint) RETURNS SETOF job LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT * FROM job WHERE due < p_due ORDER BY due, id;
    DELETE FROM job WHERE due < p_due AND recurrence IS NULL;
END $$;

CREATE FUNCTION proc_MIP_RemoveScheduledJob(p_id uuid) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM job WHERE id = p_id;
    RETURN CASE WHEN FOUND THEN 0 ELSE 1 END;
END $$;
