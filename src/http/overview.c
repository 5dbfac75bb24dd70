/* overview.c — views that are no text: the numbers of the server, its last hour, and when a
 * recurrence comes next. Numbers are for who may see the server's state; everybody sees the
 * databases that he may enter. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "http/api.h"
#include "http/history.h"
#include "schedule/job_class.h"
#include "schedule/occurrence.h"
#include "value/convert.h"

#define OCCURRENCES 10

/* Which numbers are written, and for whom. */
struct telling {
	struct http *http;
	const struct http_who *who;
	bool monitor;
	const char *database; /* NULL: of all */
	struct buf *buf;
	bool some;
};

/* How large a database is and how much it holds. */
static bool is_of_content(enum metrics_family f)
{
	return f == METRICS_FAMILY_FILE_BYTES || f == METRICS_FAMILY_JOB_ITEMS ||
	       f == METRICS_FAMILY_STATE_ITEMS || f == METRICS_FAMILY_STATE_BYTES ||
	       f == METRICS_FAMILY_STATE_LOCKS || f == METRICS_FAMILY_SCHEDULED_JOBS;
}

/* Who may SELECT in a database could count for himself what it holds; the rest needs the right
 * monitor. */
static bool is_told(const struct telling *t, const struct metrics_row *row)
{
	const char *database = metrics_row_value(row, "database");

	/* what there is for each procedure is for Prometheus */
	if (row->suffix[0] != '\0' || row->family == METRICS_FAMILY_CALLS ||
	    row->family == METRICS_FAMILY_CALL_ERRORS)
		return false;
	if (t->database != NULL &&
	    (database == NULL || !is_of_content(row->family) || strcmp(database, t->database) != 0))
		return false;
	return t->monitor ||
	       (database != NULL && is_of_content(row->family) &&
		(auth_rights(t->http->server->auth, t->who->login, database) & RIGHT_SELECT) != 0);
}

static int put_number(const struct metrics_row *row, void *arg)
{
	struct telling *t = arg;
	struct buf *b = t->buf;

	if (!is_told(t, row))
		return 0;
	buf_printf(b, t->some ? ",[" : "[");
	t->some = true;
	http_json_string(b, str_of(row->name));
	buf_printf(b, ",{");
	for (unsigned i = 0; i < row->nlabels; i++) {
		if (i > 0)
			buf_put_u8(b, ',');
		http_json_string(b, str_of(row->labels[i].name));
		buf_put_u8(b, ':');
		http_json_string(b, str_of(row->labels[i].value));
	}
	buf_printf(b, "},%.17g]", row->value);
	return 0;
}

static void put_numbers(struct telling *t)
{
	struct metrics_snapshot *s;
	struct err e;

	buf_printf(t->buf, "\"numbers\":[");
	if (metrics_take(t->http->server->metrics, &s, &e) == 0) {
		(void)metrics_each(s, false, put_number, t);
		metrics_snapshot_free(s);
	}
	buf_put_u8(t->buf, ']');
}

unsigned http_overview(struct http *h, const struct http_who *who, struct buf *b)
{
	struct telling t = { .http = h, .who = who, .monitor = http_api_may_monitor(h, who), .buf = b };

	buf_printf(b, "{\"monitor\":%s,\"databases\":", t.monitor ? "true" : "false");
	http_api_databases(h, who, b);
	buf_printf(b, ",\"points\":");
	if (t.monitor)
		http_history_write(h->history, 1, b);
	else
		buf_printf(b, "[]");
	buf_put_u8(b, ',');
	put_numbers(&t);
	buf_put_u8(b, '}');
	return MHD_HTTP_OK;
}

unsigned http_content(struct http *h, const struct http_who *who, const struct database *db, struct buf *b)
{
	struct telling t = {
		.http = h, .who = who, .monitor = http_api_may_monitor(h, who), .database = db->name, .buf = b
	};

	buf_put_u8(b, '{');
	put_numbers(&t);
	buf_put_u8(b, '}');
	return MHD_HTTP_OK;
}

unsigned http_history_view(struct http *h, const struct http_who *who, struct buf *b)
{
	if (!http_api_may_monitor(h, who)) {
		http_json_error(b, "The numbers of the server are for logins with the right monitor.");
		return MHD_HTTP_FORBIDDEN;
	}
	buf_printf(b, "{\"points\":");
	http_history_write(h->history, HISTORY_POINTS, b);
	buf_put_u8(b, '}');
	return MHD_HTTP_OK;
}

/* ---- recurrences ---- */

static void put_time(struct buf *b, int64_t ticks)
{
	const struct type to = TYPE_LEN(TYPE_NVARCHAR, 40);
	struct value v = value_int(TYPE_DATETIME, ticks), text;
	struct arena a;

	arena_init(&a, 1 << 16);
	if (value_convert_style(&v, &to, 126, &a, &text, NULL) == 0)
		http_json_string(b, text.u.s);
	arena_fini(&a);
}

/* When it was due last, if that is given and a time; otherwise now. */
static int64_t due_of(const struct http_arguments *a)
{
	struct value text = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), http_arguments_text(a, "@due")),
		     due;
	const struct type to = { .id = TYPE_DATETIME };
	struct arena arena;
	int64_t ticks = clock_ticks();

	arena_init(&arena, 1 << 16);
	if (text.u.s.n > 0 && value_convert(&text, &to, CONVERT_CAST, NULL, &arena, &due, NULL) == 0)
		ticks = due.u.i;
	arena_fini(&arena);
	return ticks;
}

/* What a scheduled job can be. */
unsigned http_classes(struct buf *b)
{
	buf_put_u8(b, '[');
	for (size_t i = 0; i < schedule_classes_count; i++) {
		buf_printf(b, i > 0 ? ",[" : "[");
		http_json_string(b, str_of(schedule_classes[i].name));
		buf_put_u8(b, ',');
		http_json_string(b, str_of(schedule_classes[i].assembly));
		buf_put_u8(b, ',');
		http_json_string(b, str_of(schedule_classes[i].class));
		buf_put_u8(b, ']');
	}
	buf_put_u8(b, ']');
	return MHD_HTTP_OK;
}

unsigned http_occurrences(const struct http_arguments *a, struct buf *b)
{
	int64_t now = clock_ticks(), due = due_of(a), next;
	struct recurrence r;
	int n = 0;

	if (!schedule_recurrence_parse(http_arguments_text(a, "@recurrence"), &r)) {
		http_json_error(
			b, "Not a recurrence. There are: every NN seconds; every NN minutes at SS; hourly at "
			   "MM; daily at HH:MM:SS; weekly at fri HH:MM:SS; monthly at DD HH:MM:SS; yearly "
			   "at jan DD HH:MM:SS. All numbers have two digits.");
		return MHD_HTTP_BAD_REQUEST;
	}
	buf_printf(b, "{\"times\":[");
	if (due > now) { /* the one that is set comes first */
		put_time(b, due);
		now = due;
		n = 1;
	}
	for (; n < OCCURRENCES && schedule_recurrence_next(&r, due, now, &next); n++) {
		if (n > 0)
			buf_put_u8(b, ',');
		put_time(b, next);
		due = now = next;
	}
	buf_printf(b, "]}");
	return MHD_HTTP_OK;
}
