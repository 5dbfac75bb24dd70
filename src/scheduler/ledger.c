/* ledger.c — see ledger.h. A list, because it holds what is due within a minute, has its place
 * later in a window, or found no handler; the journal is written anew for each change, beside
 * the old one. */
#include "scheduler/ledger_int.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

/* ---- occurrences ---- */

static void taken_free(struct taken *t)
{
	free((char *)(uintptr_t)t->row.id);
	free((char *)(uintptr_t)t->row.assembly);
	free((char *)(uintptr_t)t->row.class);
	free((char *)(uintptr_t)t->row.recurrence);
	free((char *)(uintptr_t)t->row.data);
	free((char *)(uintptr_t)t->row.display_name);
	free(t);
}

void scheduler_taken_free_list(struct taken *list)
{
	while (list != NULL) {
		struct taken *next = list->link;
		taken_free(list);
		list = next;
	}
}

static bool copy_text(const char **dst, const char *src)
{
	*dst = src != NULL ? strdup(src) : NULL;
	return src == NULL || *dst != NULL;
}

struct taken *scheduler_taken_new(const struct job_row *row, int64_t due, int64_t start)
{
	struct taken *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->row.due = row->due;
	t->row.disabled = row->disabled;
	t->due = due;
	t->start = start;
	if (copy_text(&t->row.id, row->id) && copy_text(&t->row.assembly, row->assembly) &&
	    copy_text(&t->row.class, row->class) && copy_text(&t->row.recurrence, row->recurrence) &&
	    copy_text(&t->row.data, row->data) && copy_text(&t->row.display_name, row->display_name))
		return t;
	taken_free(t);
	return NULL;
}

/* ---- the ledger ---- */

int scheduler_ledger_open(const char *dir, struct reports *reports, struct ledger **ret, struct err *reterr)
{
	struct ledger *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return err_nomem(reterr);
	l->lock = FOLDER_UNLOCKED;
	l->reports = reports;
	lock_init(&l->mutex);
	if (dir != NULL && scheduler_journal_open(l, dir, reterr) < 0) {
		scheduler_ledger_close(l);
		return -1;
	}
	for (struct taken *t = l->list, *next; t != NULL; t = next) {
		next = t->link;
		if (t->state == TAKEN_HELD)
			/* there may be a handler now; if not, it is told and held again */
			t->state = TAKEN_WAITS;
		if (t->state != TAKEN_RUNS)
			continue;
		LOG(LOG_WARN, NULL, "interrupted", F_STR("job", t->row.id), F_STR("class", t->row.class),
		    F_STR("why", "the scheduler ended while the handler ran; it is not run again"));
		scheduler_ledger_finish(l, t, "interrupted", -1, t->start, clock_ticks());
	}
	*ret = l;
	return 0;
}

void scheduler_ledger_close(struct ledger *l)
{
	if (l == NULL)
		return;
	scheduler_taken_free_list(l->list);
	scheduler_journal_close(l);
	lock_fini(&l->mutex);
	free(l);
}

/* A change that cannot be kept on disk is told; what is in memory stays right. */
static void save(struct ledger *l)
{
	struct err e = { 0 };

	assert(lock_is_mine(&l->mutex));
	if (scheduler_journal_save(l, &e) < 0)
		LOG(LOG_ERROR, NULL, "journal", F_STR("why", e.text));
}

static void append(struct ledger *l, struct taken *list)
{
	struct taken **end = &l->list;

	assert(lock_is_mine(&l->mutex));
	while (*end != NULL)
		end = &(*end)->link;
	*end = list;
}

static void cut_off(struct ledger *l, const struct taken *list)
{
	struct taken **at = &l->list;

	assert(lock_is_mine(&l->mutex));
	while (*at != NULL && *at != list)
		at = &(*at)->link;
	*at = NULL;
}

int scheduler_ledger_add(struct ledger *l, struct taken *list, struct err *reterr)
{
	int rc;

	assert(list == NULL || list->row.id != NULL);
	if (list == NULL)
		return 0;
	for (struct taken *t = list; t != NULL; t = t->link)
		t->state = TAKEN_DOUBT;
	lock_take(&l->mutex);
	append(l, list);
	rc = scheduler_journal_save(l, reterr);
	if (rc < 0) {
		cut_off(l, list);
		scheduler_taken_free_list(list);
	}
	lock_give(&l->mutex);
	return rc;
}

void scheduler_ledger_confirm(struct ledger *l)
{
	bool changed = false;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link) {
		if (t->state == TAKEN_DOUBT) {
			t->state = TAKEN_WAITS;
			changed = true;
		}
	}
	if (changed)
		save(l);
	lock_give(&l->mutex);
}

struct taken *scheduler_ledger_doubt(struct ledger *l)
{
	struct taken *copy = NULL;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL && copy == NULL; t = t->link)
		if (t->state == TAKEN_DOUBT)
			copy = scheduler_taken_new(&t->row, t->due, t->start);
	lock_give(&l->mutex);
	return copy;
}

void scheduler_ledger_settle(struct ledger *l, const char *id, int64_t row_due, bool keep)
{
	lock_take(&l->mutex);
	for (struct taken **at = &l->list; *at != NULL;) {
		struct taken *t = *at;

		if (t->state != TAKEN_DOUBT || t->row.due != row_due || strcmp(t->row.id, id) != 0) {
			at = &t->link;
		} else if (keep) {
			t->state = TAKEN_WAITS;
			at = &t->link;
		} else {
			*at = t->link;
			taken_free(t);
		}
	}
	save(l);
	lock_give(&l->mutex);
}

struct taken *scheduler_ledger_stale(struct ledger *l, int64_t horizon)
{
	struct taken *copy = NULL;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL && copy == NULL; t = t->link)
		if (t->state == TAKEN_WAITS && !t->fresh && t->row.recurrence != NULL && t->start < horizon)
			copy = scheduler_taken_new(&t->row, t->due, t->start);
	lock_give(&l->mutex);
	return copy;
}

void scheduler_ledger_recheck(struct ledger *l, const char *id, int64_t due, bool there)
{
	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link) {
		if (t->state == TAKEN_WAITS && t->due == due && strcmp(t->row.id, id) == 0) {
			t->fresh = true;
			t->withdrawn = !there;
		}
	}
	lock_give(&l->mutex);
}

struct taken *scheduler_ledger_due(struct ledger *l, int64_t now, bool *ret_withdrawn)
{
	struct taken *found = NULL;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link)
		if (t->state == TAKEN_WAITS && t->start <= now && (found == NULL || t->start < found->start))
			found = t;
	*ret_withdrawn = found != NULL && found->withdrawn;
	lock_give(&l->mutex);
	return found;
}

void scheduler_ledger_mark(struct ledger *l, struct taken *t, enum taken_state state)
{
	lock_take(&l->mutex);
	assert(t->state == TAKEN_WAITS && (state == TAKEN_RUNS || state == TAKEN_HELD));
	t->state = state;
	save(l);
	lock_give(&l->mutex);
}

void scheduler_ledger_release(struct ledger *l, bool (*can_run)(const void *arg, const struct job_row *row),
			      const void *arg)
{
	bool changed = false;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link) {
		if (t->state == TAKEN_HELD && can_run(arg, &t->row)) {
			t->state = TAKEN_WAITS;
			changed = true;
		}
	}
	if (changed)
		save(l);
	lock_give(&l->mutex);
}

size_t scheduler_ledger_hurry(struct ledger *l)
{
	size_t n = 0;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link) {
		if (t->state == TAKEN_WAITS && t->start > t->due) {
			t->start = t->due;
			n++;
		}
	}
	if (n > 0)
		save(l);
	lock_give(&l->mutex);
	return n;
}

bool scheduler_ledger_runs(struct ledger *l, const char *id, const struct taken *except)
{
	bool runs = false;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL && !runs; t = t->link)
		runs = t != except && t->state == TAKEN_RUNS && strcmp(t->row.id, id) == 0;
	lock_give(&l->mutex);
	return runs;
}

void scheduler_ledger_finish(struct ledger *l, struct taken *t, const char *outcome, int status,
			     int64_t started, int64_t ended)
{
	lock_take(&l->mutex);
	assert(t->state != TAKEN_DOUBT);
	scheduler_journal_history(l, t, outcome, status, started, ended);
	if (l->reports != NULL)
		scheduler_reports_add(l->reports, &t->row,
				      &(struct job_run){ .due = t->due,
							 .started = started,
							 .ended = ended,
							 .outcome = outcome,
							 .status = status });
	for (struct taken **at = &l->list; *at != NULL; at = &(*at)->link) {
		if (*at == t) {
			*at = t->link;
			break;
		}
	}
	taken_free(t);
	save(l);
	lock_give(&l->mutex);
}

int64_t scheduler_ledger_next_start(struct ledger *l)
{
	int64_t first = INT64_MAX;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link)
		if (t->state == TAKEN_WAITS && t->start < first)
			first = t->start;
	lock_give(&l->mutex);
	return first;
}

size_t scheduler_ledger_count(struct ledger *l, enum taken_state state)
{
	size_t n = 0;

	lock_take(&l->mutex);
	for (struct taken *t = l->list; t != NULL; t = t->link)
		n += t->state == state;
	lock_give(&l->mutex);
	return n;
}
