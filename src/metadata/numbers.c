/* numbers.c — the numbers of the server as rows of views, for whom may see them. */
#include "metadata/metadata_int.h"

#include <stdio.h>

#include "metrics/snapshot.h"

bool metadata_may_monitor(const struct metadata_client *client)
{
	return (metadata_rights_in(client, databases_system(client->databases)) & RIGHT_MONITOR) != 0;
}

static int take(const struct metadata_client *client, struct metrics_snapshot **ret, struct err *reterr)
{
	if (!metadata_may_monitor(client))
		return err_set(reterr, ERR_MONITOR_PERMISSION);
	return metrics_take(client->metrics, ret, reterr);
}

struct writer {
	struct buf *out;
	bool begun;
};

static void put_key(struct writer *w, const char *name, bool first)
{
	if (first)
		buf_put_u8(w->out, w->begun ? ',' : '[');
	w->begun = true;
	buf_put_u8(w->out, first ? '{' : ',');
	metadata_put_text(w->out, name);
	buf_put_u8(w->out, ':');
}

static void put_text(struct writer *w, const char *name, const char *text)
{
	put_key(w, name, false);
	if (text == NULL)
		buf_put(w->out, "null", 4);
	else
		metadata_put_text(w->out, text);
}

static void put_number(struct writer *w, const char *name, double value)
{
	put_key(w, name, false);
	buf_printf(w->out, "%.17g", value);
}

static int put_row(const struct metrics_row *r, void *arg)
{
	struct writer *w = arg;
	char name[128];

	snprintf(name, sizeof(name), "%s%s", r->name, r->suffix);
	put_key(w, "name", true);
	metadata_put_text(w->out, name);
	put_text(w, "database", metrics_row_value(r, "database"));
	put_text(w, "procedure", metrics_row_value(r, "procedure"));
	put_text(w, "label", metrics_row_label(r));
	put_number(w, "value", r->value);
	buf_put_u8(w->out, '}');
	return 0;
}

/* There is always a row: the array has been begun. */
int metadata_put_numbers(const struct metadata_client *client, struct buf *b, struct err *reterr)
{
	struct writer w = { b, false };
	struct metrics_snapshot *s;

	if (take(client, &s, reterr) < 0)
		return -1;
	(void)metrics_each(s, false, put_row, &w);
	metrics_snapshot_free(s);
	return 0;
}

/* ---- procedures ---- */

#define MS 1e3

static void put_times(struct writer *w, const struct metrics_totals *t, const char *const names[3])
{
	put_number(w, names[0], (double)t->sum * t->bounds->unit * MS);
	put_number(w, names[1], metrics_quantile(t, 0.5) * MS);
	put_number(w, names[2], metrics_quantile(t, 0.99) * MS);
}

/* The samples of the four families are in the same order, since each call has one of each. */
int metadata_put_procedures(const struct metadata_client *client, struct buf *b, struct err *reterr)
{
	static const char *const queue[] = { "queue_total", "queue_p50", "queue_p99" };
	static const char *const run[] = { "run_total", "run_p50", "run_p99" };
	const struct metrics_sample *calls, *errors, *waited, *ran;
	struct writer w = { b, false };
	struct metrics_snapshot *s;

	if (take(client, &s, reterr) < 0)
		return -1;
	calls = metrics_samples(s, METRICS_FAMILY_CALLS);
	errors = metrics_samples(s, METRICS_FAMILY_CALL_ERRORS);
	waited = metrics_samples(s, METRICS_FAMILY_CALL_QUEUE);
	ran = metrics_samples(s, METRICS_FAMILY_CALL_RUN);
	for (; calls != NULL;
	     calls = calls->next, errors = errors->next, waited = waited->next, ran = ran->next) {
		put_key(&w, "database", true);
		metadata_put_text(b, metrics_label(calls, "database"));
		put_text(&w, "procedure", metrics_label(calls, "procedure"));
		put_number(&w, "calls", calls->value);
		put_number(&w, "errors", errors->value);
		put_times(&w, waited->totals, queue);
		put_times(&w, ran->totals, run);
		buf_put_u8(b, '}');
	}
	if (!w.begun) /* nobody has called anything: who asks has logged in, so this is not so */
		buf_put_u8(b, '[');
	metrics_snapshot_free(s);
	return 0;
}
