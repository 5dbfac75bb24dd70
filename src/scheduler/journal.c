/* journal.c — the ledger on disk. DIR/journal has a line for each occurrence, fields between
 * tabs; a new one is written beside it and renamed. DIR/history has a line of JSON for each run
 * that ended; at 8 MiB it becomes history.1. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/json.h"
#include "base/log.h"
#include "scheduler/ledger_int.h"

#define HISTORY_MAX (8 * 1024 * 1024)
#define FIELDS 11

static int failed(const char *what, const struct ledger *l, const char *name, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1, "cannot %s '%s/%s': %s", what, l->dir, name, strerror(errno));
}

/* ---- lines ---- */

/* \t, \n and \\ as in C; \N is SQL NULL. */
static void write_field(FILE *f, const char *s, char end)
{
	if (s == NULL)
		fputs("\\N", f);
	for (; s != NULL && *s != '\0'; s++) {
		if (*s == '\t' || *s == '\n' || *s == '\\')
			fprintf(f, "\\%c", *s == '\t' ? 't' : *s == '\n' ? 'n' : '\\');
		else
			fputc(*s, f);
	}
	fputc(end, f);
}

static void write_line(FILE *f, const struct taken *t)
{
	static const char *const states[] = {
		[TAKEN_DOUBT] = "doubt", [TAKEN_WAITS] = "waits", [TAKEN_RUNS] = "runs", [TAKEN_HELD] = "held"
	};

	fprintf(f, "%s\t%lld\t%lld\t%lld\t%lld\t", states[t->state], (long long)t->row.due, (long long)t->due,
		(long long)t->start, (long long)t->next);
	write_field(f, t->row.id, '\t');
	write_field(f, t->row.assembly, '\t');
	write_field(f, t->row.class, '\t');
	write_field(f, t->row.recurrence, '\t');
	write_field(f, t->row.data, '\t');
	write_field(f, t->row.display_name, '\n');
}

/* In place; NULL for \N. */
static char *read_field(char *s)
{
	char *dst = s;

	if (strcmp(s, "\\N") == 0)
		return NULL;
	for (const char *p = s; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0') {
			p++;
			*dst++ = *p == 't' ? '\t' : *p == 'n' ? '\n' : *p;
		} else {
			*dst++ = *p;
		}
	}
	*dst = '\0';
	return s;
}

static struct taken *read_line(char *line)
{
	char *fields[FIELDS];
	struct taken *t;
	struct job_row row = { 0 };

	for (size_t i = 0; i < FIELDS; i++) {
		fields[i] = strsep(&line, "\t");
		if (fields[i] == NULL)
			return NULL;
	}
	row.due = strtoll(fields[1], NULL, 10);
	row.id = read_field(fields[5]);
	row.assembly = read_field(fields[6]);
	row.class = read_field(fields[7]);
	row.recurrence = read_field(fields[8]);
	row.data = read_field(fields[9]);
	row.display_name = read_field(fields[10]);
	if (row.id == NULL || row.assembly == NULL || row.class == NULL)
		return NULL;
	t = scheduler_taken_new(&row, strtoll(fields[2], NULL, 10), strtoll(fields[3], NULL, 10));
	if (t != NULL) {
		t->next = strtoll(fields[4], NULL, 10);
		t->state = fields[0][0] == 'd'   ? TAKEN_DOUBT
			   : fields[0][0] == 'w' ? TAKEN_WAITS
			   : fields[0][0] == 'h' ? TAKEN_HELD
						 : TAKEN_RUNS;
	}
	return t;
}

/* ---- the folder ---- */

static int load(struct ledger *l, struct err *reterr)
{
	FILE *f = folder_fopen(l->dir, "journal", "re");
	struct taken **end = &l->list;
	char *line = NULL;
	size_t size = 0;

	if (f == NULL)
		return errno == ENOENT ? 0 : failed("read", l, "journal", reterr);
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		*end = read_line(line);
		if (*end == NULL)
			LOG(LOG_ERROR, NULL, "journal", F_STR("why", "a line is damaged and left out"),
			    F_STR("line", line));
		else
			end = &(*end)->link;
	}
	free(line);
	fclose(f);
	return 0;
}

int scheduler_journal_open(struct ledger *l, const char *dir, struct err *reterr)
{
	l->dir = strdup(dir);
	if (l->dir == NULL)
		return err_nomem(reterr);
	if (mkdir(dir, 0750) < 0 && errno != EEXIST)
		return failed("create", l, "", reterr);
	if (!folder_lock(dir, &l->lock))
		return errno != EWOULDBLOCK ? failed("write", l, "lock", reterr)
					    : err_raise(reterr, 50000, 16, 1,
							"another scheduler uses the folder '%s'", dir);
	return load(l, reterr);
}

void scheduler_journal_close(struct ledger *l)
{
	folder_unlock(&l->lock);
	free(l->dir);
}

static void sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
}

int scheduler_journal_save(struct ledger *l, struct err *reterr)
{
	FILE *f;
	bool ok;

	if (l->dir == NULL)
		return 0;
	f = folder_fopen(l->dir, "journal.new", "we");
	if (f == NULL)
		return failed("write", l, "journal.new", reterr);
	for (const struct taken *t = l->list; t != NULL; t = t->link)
		write_line(f, t);
	ok = fflush(f) == 0 && fsync(fileno(f)) == 0;
	ok = fclose(f) == 0 && ok;
	if (!ok || !folder_rename(l->dir, "journal.new", "journal"))
		return failed("write", l, "journal", reterr);
	sync_dir(l->dir);
	return 0;
}

/* ---- history ---- */

static void write_json(FILE *f, const char *name, const char *s)
{
	fprintf(f, ", \"%s\": ", name);
	if (s == NULL) {
		fputs("null", f);
		return;
	}
	json_put_string(f, s);
}

static void write_time(FILE *f, const char *name, int64_t ticks)
{
	char time[JOB_TIME_MAX], text[JOB_TIME_MAX + 1];

	scheduler_job_time_sent(ticks, time);
	snprintf(text, sizeof(text), "%sZ", time);
	write_json(f, name, text);
}

void scheduler_journal_history(struct ledger *l, const struct taken *t, const char *outcome, int status,
			       int64_t started, int64_t ended)
{
	FILE *f;
	long size;

	if (l->dir == NULL)
		return;
	f = folder_fopen(l->dir, "history", "ae");
	if (f == NULL) {
		LOG(LOG_ERROR, NULL, "history", F_STR("why", strerror(errno)), F_STR("folder", l->dir));
		return;
	}
	fprintf(f, "{\"status\": %d", status);
	write_json(f, "outcome", outcome);
	write_json(f, "id", t->row.id);
	write_json(f, "class", t->row.class);
	write_json(f, "name", t->row.display_name);
	write_time(f, "due", t->due);
	write_time(f, "started", started);
	write_time(f, "ended", ended);
	fputs("}\n", f);
	size = ftell(f);
	if (fclose(f) != 0)
		LOG(LOG_ERROR, NULL, "history", F_STR("why", strerror(errno)), F_STR("folder", l->dir));
	if (size > HISTORY_MAX && !folder_rename(l->dir, "history", "history.1"))
		LOG(LOG_ERROR, NULL, "history", F_STR("why", strerror(errno)), F_STR("folder", l->dir));
}
