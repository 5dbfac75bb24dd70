/* health.c — /healthz: the process lives. /readyz: every database answers a real read within a
 * second; otherwise 503 with the reasons. One look at a time: who asks meanwhile is told what the
 * last one found, or, once this one takes longer than it may, that it does. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "http/http_int.h"
#include "local/local.h"

#define READ_MS 1000
#define REPORT_MOST ((size_t)64 << 10)

void http_health_alive(struct http_request *r)
{
	http_answer_text(r, MHD_HTTP_OK, "ok\n");
}

/* What is read: a row of the table that everything else in the database begins with. */
static const char *question_of(enum service s)
{
	switch (s) {
	case SERVICE_WORD:
	case SERVICE_TRANSLATION: return "SELECT TOP 1 JobId FROM dbo.Jobs";
	case SERVICE_SCHEDULE: return "SELECT TOP 1 JobId FROM dbo.ScheduledJobs";
	case SERVICE_STATE: return "SELECT TOP 1 Locked FROM dbo.Items";
	default: return "SELECT TOP 1 name FROM sys.databases";
	}
}

/* A question whose time is over is stopped while it runs, or cancelled while it waits. */
static void explain(const struct err *e, char *why, size_t size)
{
	bool late = err_is(e, ERR_TIMEOUT) || err_is(e, ERR_CANCELLED);

	str_copy(why, size, late ? STR("no answer within a second") : str_of(e->text));
}

/* True: it has answered. Otherwise why not. */
static bool answers(struct http *h, struct database *db, char *why, size_t size)
{
	const struct local_client client = {
		.server = h->server, .login = "procession", .program = "readyz", .address = "", .admin = true
	};
	const struct local_batch batch = {
		.declarations = "", .text = question_of(db->service), .database = db, .timeout_ms = READ_MS
	};
	struct local_answer answer;
	struct err e;
	bool ok;

	if (local_run(&client, &batch, &answer, &e) < 0) {
		explain(&e, why, size);
		return false;
	}
	ok = answer.error == NULL;
	if (!ok)
		explain(answer.error, why, size);
	local_answer_fini(&answer);
	return ok;
}

struct look {
	struct http *http;
	struct buf *report;
	bool ready;
};

/* What a damage is in detail is for administrators: procession_database_list. */
static void look_at(struct database *db, void *arg)
{
	struct look *l = arg;
	char why[300];

	if (databases_damage(db) != NULL)
		str_copy(why, sizeof(why), STR("damaged; procession_database_list has the reason"));
	else if (answers(l->http, db, why, sizeof(why)))
		return;
	l->ready = false;
	buf_printf(l->report, "%s: %s\n", db->name, why);
}

static void look_at_all(struct http *h, struct buf *report, bool *ret_ready)
{
	struct look l = { h, report, true };

	if (atomic_load(&h->server->leaving)) {
		l.ready = false;
		buf_printf(report, "the server is stopping\n");
	} else {
		databases_each(h->server->databases, look_at, &l);
	}
	if (l.ready)
		buf_printf(report, "ok\n");
	*ret_ready = l.ready;
}

static bool begin(struct http_readiness *s)
{
	bool mine;

	lock_take(&s->lock);
	mine = !s->looking;
	s->looking = true;
	if (mine)
		s->since_ms = clock_mono_ms();
	lock_give(&s->lock);
	return mine;
}

static void end(struct http_readiness *s, bool ready)
{
	lock_take(&s->lock);
	s->looking = false;
	s->ready = ready;
	lock_give(&s->lock);
}

/* Somebody else looks. A balancer that has given up on that one asks again: it must not be told of
 * better times for as long as several databases take not to answer. */
static void answer_meanwhile(struct http_request *r, struct http_readiness *s)
{
	bool ready, late;

	lock_take(&s->lock);
	ready = s->ready;
	late = s->looking && clock_mono_ms() - s->since_ms > READ_MS;
	lock_give(&s->lock);
	if (late)
		http_answer_text(r, MHD_HTTP_SERVICE_UNAVAILABLE, "no answer within a second\n");
	else
		http_answer_text(r, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
				 ready ? "ok\n" : "not ready when it was looked at last\n");
}

void http_health_ready(struct http_request *r)
{
	struct http_readiness *s = &r->http->readiness;
	struct buf report;
	bool ready;

	if (!begin(s)) {
		answer_meanwhile(r, s);
		return;
	}
	buf_init(&report, REPORT_MOST);
	look_at_all(r->http, &report, &ready);
	end(s, ready);
	http_answer_buf(r, ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain; charset=utf-8",
			&report);
}
