-- The documents of the jobs by state, as numbers that are kept by counting: see procedures/README.md.
-- Documents are unsubmitted, waiting, running or canceled while they have no stop: their jobs know how many these are (open), so that to
-- cancel, submit or delete a job costs nothing for each of them. Of those that run in a job that is worked on there are few.
-- Those of deleted jobs that have stopped are counted until the clean-up has removed them.
NUMBERS unsubmitted procession_job_items{unsubmitted}, waiting procession_job_items{waiting}, running procession_job_items{running}, succeeded procession_job_items{succeeded},
    failed procession_job_items{failed}, canceled procession_job_items{canceled}
COUNTED AS
SELECT jobs.unsubmitted, jobs.live - items.running, items.running, items.succeeded, items.failed, jobs.canceled
FROM (SELECT coalesce(sum(CASE WHEN job.canceled IS NULL AND job.submitted = 0 THEN job.open ELSE 0 END), 0) AS unsubmitted,
             coalesce(sum(CASE WHEN job.canceled IS NULL AND job.submitted = 1 THEN job.open ELSE 0 END), 0) AS live,
             coalesce(sum(CASE WHEN job.canceled IS NOT NULL THEN job.open ELSE 0 END), 0) AS canceled FROM job) AS jobs
     CROSS JOIN
     (SELECT count(CASE WHEN item.started IS NOT NULL AND item.stopped IS NULL AND job.submitted = 1 AND job.canceled IS NULL THEN 1 END) AS running,
             count(CASE WHEN item.stopped IS NOT NULL AND item.error IS NULL THEN 1 END) AS succeeded,
             count(CASE WHEN item.stopped IS NOT NULL AND item.error IS NOT NULL THEN 1 END) AS failed
      FROM item LEFT JOIN job ON job.n = item.n) AS items;
KEPT BY
-- A job: its open documents are of one state. One that stops being worked on, or begins, takes those that run along.
AFTER INSERT ON job: unsubmitted CASE WHEN NEW.canceled IS NULL AND NEW.submitted = 0 THEN NEW.open ELSE 0 END,
    waiting CASE WHEN NEW.canceled IS NULL AND NEW.submitted = 1 THEN NEW.open ELSE 0 END, canceled CASE WHEN NEW.canceled IS NOT NULL THEN NEW.open ELSE 0 END;
AFTER DELETE ON job WHEN OLD.open > 0: unsubmitted CASE WHEN OLD.canceled IS NULL AND OLD.submitted = 0 THEN -OLD.open ELSE 0 END,
    waiting CASE WHEN OLD.canceled IS NULL AND OLD.submitted = 1
        THEN (SELECT count(*) FROM item WHERE item.n = OLD.n AND item.started IS NOT NULL AND item.stopped IS NULL) - OLD.open ELSE 0 END,
    running CASE WHEN OLD.canceled IS NULL AND OLD.submitted = 1
        THEN -(SELECT count(*) FROM item WHERE item.n = OLD.n AND item.started IS NOT NULL AND item.stopped IS NULL) ELSE 0 END,
    canceled CASE WHEN OLD.canceled IS NOT NULL THEN -OLD.open ELSE 0 END;
AFTER UPDATE OF open ON job:
    unsubmitted CASE WHEN NEW.canceled IS NULL AND NEW.submitted = 0 THEN NEW.open - OLD.open ELSE 0 END,
    waiting CASE WHEN NEW.canceled IS NULL AND NEW.submitted = 1 THEN NEW.open - OLD.open ELSE 0 END,
    canceled CASE WHEN NEW.canceled IS NOT NULL THEN NEW.open - OLD.open ELSE 0 END;
AFTER UPDATE OF canceled, submitted ON job WHEN OLD.open > 0 AND ((NEW.canceled IS NULL) <> (OLD.canceled IS NULL) OR NEW.submitted <> OLD.submitted):
    unsubmitted (NEW.canceled IS NULL AND NEW.submitted = 0) * NEW.open - (OLD.canceled IS NULL AND OLD.submitted = 0) * OLD.open,
    waiting ((NEW.canceled IS NULL AND NEW.submitted = 1) - (OLD.canceled IS NULL AND OLD.submitted = 1)) * (OLD.open -
        (SELECT count(*) FROM item WHERE item.n = OLD.n AND item.started IS NOT NULL AND item.stopped IS NULL)),
    running ((NEW.canceled IS NULL AND NEW.submitted = 1) - (OLD.canceled IS NULL AND OLD.submitted = 1)) *
        (SELECT count(*) FROM item WHERE item.n = OLD.n AND item.started IS NOT NULL AND item.stopped IS NULL),
    canceled (NEW.canceled IS NOT NULL) * NEW.open - (OLD.canceled IS NOT NULL) * OLD.open;
-- A document: whether it runs, and how it has ended.
AFTER UPDATE OF started, stopped, error ON item:
    waiting ((OLD.started IS NOT NULL AND OLD.stopped IS NULL) - (NEW.started IS NOT NULL AND NEW.stopped IS NULL)) *
        coalesce((SELECT job.submitted = 1 AND job.canceled IS NULL FROM job WHERE job.n = NEW.n), 0),
    running ((NEW.started IS NOT NULL AND NEW.stopped IS NULL) - (OLD.started IS NOT NULL AND OLD.stopped IS NULL)) *
        coalesce((SELECT job.submitted = 1 AND job.canceled IS NULL FROM job WHERE job.n = NEW.n), 0),
    succeeded (NEW.stopped IS NOT NULL AND NEW.error IS NULL) - (OLD.stopped IS NOT NULL AND OLD.error IS NULL),
    failed (NEW.stopped IS NOT NULL AND NEW.error IS NOT NULL) - (OLD.stopped IS NOT NULL AND OLD.error IS NOT NULL);
AFTER DELETE ON item WHEN OLD.stopped IS NOT NULL: succeeded -(OLD.error IS NULL), failed -(OLD.error IS NOT NULL);
