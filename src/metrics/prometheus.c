/* prometheus.c — a snapshot as Prometheus reads it. */
#include <inttypes.h>
#include <math.h>

#include "metrics/snapshot.h"

struct writer {
	struct buf *out;
	int family; /* of the last row; -1: none yet */
};

/* Backslash, quotation mark and line feed are escaped, nothing else. */
static void put_value(struct buf *out, const char *text)
{
	buf_put_u8(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			buf_put(out, "\\n", 2);
		else if (*text == '"' || *text == '\\')
			buf_printf(out, "\\%c", *text);
		else
			buf_put_u8(out, (uint8_t)*text);
	}
	buf_put_u8(out, '"');
}

static void put_label(struct buf *out, const char *name, const char *value, bool *first)
{
	buf_printf(out, "%c%s=", *first ? '{' : ',', name);
	put_value(out, value);
	*first = false;
}

static void put_number(struct buf *out, double v)
{
	if (v == floor(v) && fabs(v) < 1e15)
		buf_printf(out, " %" PRId64 "\n", (int64_t)v);
	else
		buf_printf(out, " %.12g\n", v);
}

static void put_head(struct buf *out, enum metrics_family f)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };

	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", metrics_family_name(f), metrics_family_help(f),
		   metrics_family_name(f), types[metrics_family_type(f)]);
}

static int put_row(const struct metrics_row *r, void *arg)
{
	struct writer *w = arg;
	bool first = true;

	if (w->family != (int)r->family)
		put_head(w->out, r->family);
	w->family = (int)r->family;
	buf_printf(w->out, "%s%s", r->name, r->suffix);
	for (unsigned i = 0; i < r->nlabels; i++)
		put_label(w->out, r->labels[i].name, r->labels[i].value, &first);
	if (r->le != NULL)
		put_label(w->out, "le", r->le, &first);
	if (!first)
		buf_put_u8(w->out, '}');
	put_number(w->out, r->value);
	return 0;
}

void metrics_write_prometheus(const struct metrics_snapshot *s, struct buf *out)
{
	struct writer w = { out, -1 };

	(void)metrics_each(s, true, put_row, &w);
}

int metrics_prometheus(struct metrics *m, struct buf *out, struct err *reterr)
{
	struct metrics_snapshot *s;

	if (metrics_take(m, &s, reterr) < 0)
		return -1;
	metrics_write_prometheus(s, out);
	metrics_snapshot_free(s);
	return out->failed ? err_nomem(reterr) : 0;
}
