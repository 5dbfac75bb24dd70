/* take.c — see take.h. [MS-WORDSSP2] 3.2.5.11 and 3.2.5.3 (and [MS-TSSPROC]): getting a batch
 * claims nothing, starting it does, for everybody; so both are one serializable transaction. */
#include "worker/take.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "value/datetime.h"

#define SCAN_MAX 1000000
#define XML_MAX (1024 * 1024)

/* --- looking --- */

/* In the time of the server, as far as our clock agrees with it: good enough to look, not to
 * claim. */
static int64_t look_threshold(const struct worker_options *o)
{
	return clock_ticks() - (int64_t)o->stale_s * TICKS_PER_SECOND;
}

static int look_at_job(struct client *c, const struct worker_options *o, struct err *reterr)
{
	struct queue_counts k;
	int rc = worker_queue_status(c, o->job, NULL, &k, NULL, reterr);

	if (rc < 0)
		return -1;
	if (rc == 0 || k.not_started + k.in_progress == 0)
		return 0;
	/* What is in progress may be a dead worker's: the claim looks whether it is stale. */
	return k.not_started > 0 ? 1 : 2;
}

int worker_take_look(struct client *c, const struct worker_options *o, struct err *reterr)
{
	struct client_result r;
	int rc;

	if (o->one_job)
		return look_at_job(c, o, reterr);
	rc = worker_queue_batch(c, o->service->batch_proc, 1, look_threshold(o), &r, reterr);
	if (rc == 0)
		rc = r.tables[0].nrows > 0;
	client_result_fini(&r);
	return rc;
}

int worker_take_await(struct client *c, const struct worker_options *o, int ms, int stir, int64_t *seen,
		      enum queue_await *ret, struct err *reterr)
{
	return worker_queue_await(c, o->service->batch_proc, ms, look_threshold(o), stir, seen, ret, reterr);
}

/* --- claiming --- */

struct round {
	struct client *c;
	const struct worker_options *o;
	struct claims *claims;
	struct list *items; /* taken */
	struct list *ended; /* given up */
	unsigned room, ntaken, nfailed;
	struct buf starts, failures;
	int64_t begun; /* worker_link_clock() */
};

static bool copy(char **dst, const char *text)
{
	if (text == NULL)
		return true;
	*dst = strdup(text);
	return *dst != NULL;
}

static int take_row(struct round *r, const struct queue_row *row, struct err *reterr)
{
	struct item *i = calloc(1, sizeof(*i));
	bool again = row->in_progress || worker_claims_has_died(r->claims, &row->key);

	if (i == NULL)
		return err_nomem(reterr);
	*i = (struct item){ .key = row->key,
			    .attempts = row->attempts > 0 ? row->attempts - 1 : 0,
			    .attempt = again ? 2 : 1,
			    .claimed = r->begun,
			    .input_fd = -1 };
	list_init(&i->all);
	list_append(r->items, &i->queue);
	if (!copy(&i->input, row->input) || !copy(&i->output, row->output) || i->input == NULL)
		return err_nomem(reterr);
	worker_queue_update_add_start(&r->starts, &row->key, worker_claims_instance(r->claims));
	r->ntaken++;
	return 0;
}

/* What ended without an attempt of ours, so that its reason can be told. */
static int add_ended(struct list *ended, const struct queue_row *row, const char *why, struct err *reterr)
{
	struct item *i = calloc(1, sizeof(*i));

	if (i == NULL)
		return err_nomem(reterr);
	*i = (struct item){ .key = row->key, .error = DOCUMENT_NOT_ASSIGNED, .input_fd = -1 };
	str_copy(i->text, sizeof(i->text), str_of(why));
	list_init(&i->all);
	list_append(ended, &i->queue);
	return copy(&i->input, row->input) ? 0 : err_nomem(reterr);
}

/* Begun as often as allowed, and never ended: it may be what its workers died of. [E-WORD-30] */
static int fail_row(struct round *r, const struct queue_row *row, struct err *reterr)
{
	worker_queue_update_add_failure(&r->failures, &row->key, DOCUMENT_NOT_ASSIGNED);
	r->nfailed++;
	LOG(LOG_WARN, NULL, "given-up", F_STR("service", r->o->service->name), F_INT("job", row->key.job),
	    F_INT("group", row->key.group), F_INT("item", row->key.item), F_STR("input", row->input));
	return add_ended(r->ended, row, document_error_text(DOCUMENT_NOT_ASSIGNED), reterr);
}

static int sort_rows(struct round *r, const struct client_table *t, struct err *reterr)
{
	for (size_t n = 0; n < t->nrows && r->ntaken < r->room; n++) {
		struct queue_row row;

		if (worker_queue_row_read(t, n, &row, reterr) < 0)
			return -1;
		if (r->o->one_job && row.key.job != r->o->job)
			continue;
		/* Ours, in this process: it is only slow. Its limit ends it. */
		if (row.in_progress && worker_claims_find(r->claims, &row.key) != NULL)
			continue;
		if ((row.in_progress && row.attempts == 0 ? fail_row(r, &row, reterr)
							  : take_row(r, &row, reterr)) < 0)
			return -1;
	}
	return 0;
}

/* With one_job others may stand before it: then it is looked for further behind. */
static int read_rows(struct round *r, int64_t now, struct err *reterr)
{
	int64_t threshold = now - (int64_t)r->o->stale_s * TICKS_PER_SECOND;
	const char *proc = r->o->one_job ? "proc_GetConversionBatch" : r->o->service->batch_proc;

	for (int count = r->o->one_job ? 64 : (int)r->room;; count *= 8) {
		struct client_result result;
		int rc = worker_queue_batch(r->c, proc, count, threshold, &result, reterr);
		size_t nrows = rc == 0 ? result.tables[0].nrows : 0;

		if (rc == 0)
			rc = sort_rows(r, &result.tables[0], reterr);
		client_result_fini(&result);
		if (rc < 0 || !r->o->one_job || r->ntaken + r->nfailed > 0 || nrows < (size_t)count ||
		    count >= SCAN_MAX)
			return rc;
	}
}

/* Roots and settings come with the answer of the start. */
static int fill_groups(struct round *r, const struct client_table *t, struct err *reterr)
{
	LIST_EACH (it, r->items) {
		struct item *i = CONTAINER_OF(it, struct item, queue);
		bool found = false;

		for (size_t n = 0; n < t->nrows && !found; n++) {
			struct queue_group g;

			if (worker_queue_group_read(t, n, &g, reterr) < 0)
				return -1;
			found = g.job == i->key.job && g.group == i->key.group;
			if (found &&
			    (!copy(&i->input_root, g.input_root) || !copy(&i->output_root, g.output_root) ||
			     !copy(&i->settings, g.settings)))
				return err_nomem(reterr);
		}
		if (!found)
			return err_raise(reterr, 50000, 16, 1,
					 "the server started an item without telling its group");
	}
	return 0;
}

/* Before the commit: then, whatever happens, it is known that these may be ours. */
static int write_down(struct round *r, struct err *reterr)
{
	LIST_EACH (it, r->items) {
		const struct item *i = CONTAINER_OF(it, struct item, queue);

		worker_claims_remove(r->claims, &i->key);
		if (worker_claims_add(r->claims, &i->key, i->output_root, i->output, reterr) < 0)
			return -1;
	}
	return worker_claims_save(r->claims, reterr);
}

static int start_items(struct round *r, struct err *reterr)
{
	struct client_result result;
	int rc;

	worker_queue_update_failures(&r->starts);
	buf_put(&r->starts, r->failures.data, r->failures.len);
	worker_queue_update_end(&r->starts);
	rc = worker_queue_update(r->c, &r->starts, &result, reterr);
	if (rc == 0)
		rc = fill_groups(r, &result.tables[0], reterr);
	client_result_fini(&result);
	if (rc == 0)
		rc = write_down(r, reterr);
	return rc;
}

static void free_list(struct list *items)
{
	struct list *it;

	while ((it = list_pop(items)) != NULL)
		worker_item_free(CONTAINER_OF(it, struct item, queue));
}

int worker_take_claim(struct client *c, const struct worker_options *o, struct claims *claims, unsigned room,
		      struct list *ret, struct list *ret_ended, struct err *reterr)
{
	struct round r = { .c = c,
			   .o = o,
			   .claims = claims,
			   .items = ret,
			   .ended = ret_ended,
			   .room = room,
			   .begun = worker_link_clock() };
	int64_t now;
	int rc;

	buf_init(&r.starts, XML_MAX);
	buf_init(&r.failures, XML_MAX);
	worker_queue_update_start(&r.starts, o->service);
	rc = worker_queue_begin(c, &now, reterr);
	if (rc == 0)
		rc = read_rows(&r, now, reterr);
	if (rc == 0 && r.ntaken + r.nfailed > 0)
		rc = start_items(&r, reterr);
	if (rc == 0)
		rc = worker_queue_commit(c, reterr);
	buf_fini(&r.starts);
	buf_fini(&r.failures);
	if (rc < 0) {
		free_list(ret);
		free_list(ret_ended);
		return -1;
	}
	LIST_EACH (it, ret)
		worker_claims_find(claims, &CONTAINER_OF(it, struct item, queue)->key)->in_hand = true;
	return (int)r.ntaken;
}

/* --- reporting --- */

int worker_take_report(struct client *c, const struct item *i, struct err *reterr)
{
	if (i->give_back)
		return worker_queue_failed(c, &i->key, true, DOCUMENT_CANCELLED, reterr);
	if (i->error == DOCUMENT_OK)
		return worker_queue_succeeded(c, &i->key, reterr);
	return worker_queue_failed(c, &i->key, document_error_retry(i->error), i->error, reterr);
}

/* --- settling --- */

static bool in_doubt(struct claims *claims)
{
	LIST_EACH (it, worker_claims_entries(claims))
		if (!CONTAINER_OF(it, struct claim, link)->in_hand)
			return true;
	return false;
}

/* The output may be finished although nobody was told. */
static bool is_finished(const struct worker_options *o, const struct claim *e)
{
	struct document_location l;
	char tag[TAG_MAX], text[DOCUMENT_TEXT_MAX];
	bool finished;

	if (document_locate(e->output_root, e->output, &l, text) != DOCUMENT_OK)
		return false;
	worker_item_tag(o->service, &e->key, tag);
	finished = document_output_recover(o->places, &l, tag);
	document_location_fini(&l);
	return finished;
}

static int settle(struct client *c, const struct worker_options *o, struct claims *claims,
		  const struct claim *e, const struct queue_row *row, struct list *ended, struct err *reterr)
{
	struct queue_key key = e->key;
	bool finished = is_finished(o, e), last = !finished && row->attempts == 0;
	int rc = finished ? worker_queue_succeeded(c, &key, reterr)
			  : worker_queue_failed(c, &key, true, DOCUMENT_NOT_ASSIGNED, reterr);

	if (rc < 0)
		return rc;
	LOG(LOG_WARN, NULL, "settled", F_STR("service", o->service->name), F_INT("job", key.job),
	    F_INT("group", key.group), F_INT("item", key.item),
	    F_STR("how", finished ? "its output was finished: reported"
			 : last   ? "failed: that was its last attempt"
				  : "given back"));
	if (!finished && !last)
		worker_claims_died(claims, &key);
	worker_claims_remove(claims, &key);
	return last ? add_ended(ended, row, "the worker died while it ran, and no attempt is left", reterr)
		    : 0;
}

/* Every row that is ours and in doubt. */
static int settle_rows(struct client *c, const struct worker_options *o, struct claims *claims,
		       const struct client_table *t, struct list *ended, struct err *reterr)
{
	for (size_t n = 0; n < t->nrows; n++) {
		struct queue_row row;
		const struct claim *e;

		if (worker_queue_row_read(t, n, &row, reterr) < 0)
			return -1;
		e = worker_claims_find(claims, &row.key);
		if (e == NULL || e->in_hand)
			continue;
		if (!row.in_progress || row.worker == NULL ||
		    !str_eq_nocase(str_of(row.worker), str_of(worker_claims_instance(claims)))) {
			/* What somebody else works on has a temporary file of the same name. */
			if (!row.in_progress)
				(void)is_finished(o, e);
			worker_claims_remove(claims, &row.key);
		} else if (settle(c, o, claims, e, &row, ended, reterr) < 0) {
			return -1;
		}
	}
	return 0;
}

int worker_take_settle(struct client *c, const struct worker_options *o, struct claims *claims,
		       struct list *ret_ended, struct err *reterr)
{
	/* Ours are among the oldest, so the first rows will do as a rule. */
	for (int count = 1000; in_doubt(claims); count *= 8) {
		struct client_result r;
		int rc = worker_queue_batch(c, "proc_GetConversionBatch", count, DATETIME_MAX, &r, reterr);
		bool all = rc == 0 && r.tables[0].nrows < (size_t)count;

		if (rc == 0)
			rc = settle_rows(c, o, claims, &r.tables[0], ret_ended, reterr);
		client_result_fini(&r);
		if (rc < 0)
			return rc;
		if (!all && count < SCAN_MAX)
			continue;
		/* Ended, canceled or deleted meanwhile. */
		for (struct list *it = worker_claims_entries(claims)->next, *next;
		     it != worker_claims_entries(claims); it = next) {
			const struct claim *e = CONTAINER_OF(it, struct claim, link);

			next = it->next;
			if (!e->in_hand) {
				struct queue_key key = e->key;

				(void)is_finished(o, e);
				worker_claims_remove(claims, &key);
			}
		}
	}
	return worker_claims_save(claims, reterr);
}
