-- The scheduled jobs, as numbers that are kept by counting: see procedures/README.md. Which of them are due is a matter of the clock, and is
-- not counted.
NUMBERS enabled procession_scheduled_jobs{enabled}, disabled procession_scheduled_jobs{disabled}
COUNTED AS
SELECT count(CASE WHEN job.disabled = 0 THEN 1 END), count(CASE WHEN job.disabled <> 0 THEN 1 END) FROM job;
KEPT BY
AFTER INSERT ON job: enabled NEW.disabled = 0, disabled NEW.disabled <> 0;
AFTER UPDATE OF disabled ON job: enabled (NEW.disabled = 0) - (OLD.disabled = 0), disabled (NEW.disabled <> 0) - (OLD.disabled <> 0);
AFTER DELETE ON job: enabled -(OLD.disabled = 0), disabled -(OLD.disabled <> 0);
