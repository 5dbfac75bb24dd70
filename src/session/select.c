/* select.c — a SELECT over views that a text has come to: it becomes a call of the engine; its rows
 * go to the client, or into variables. */
#include "session/request_int.h"

static int assign_columns(struct sink *sink, const struct column *cols, size_t n)
{
	(void)sink, (void)cols, (void)n;
	return 0;
}

static int assign_row(struct sink *sink, const struct value *vals, size_t n)
{
	struct assign_sink *as = CONTAINER_OF(sink, struct assign_sink, sink);

	as->rows++;
	if (as->row == NULL)
		as->row = arena_array(as->arena, n, sizeof(struct value));
	if (as->row == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (value_copy(&vals[i], as->arena, &as->row[i], NULL) < 0)
			return -1;
	return 0;
}

static int assign_done(struct sink *sink, uint64_t rows)
{
	CONTAINER_OF(sink, struct assign_sink, sink)->rows = rows;
	return 0;
}

static int assign_message(struct sink *sink, const struct err *e)
{
	(void)sink, (void)e;
	return 0;
}

static size_t assign_mark(struct sink *sink)
{
	(void)sink;
	return 0;
}

static bool assign_rewind(struct sink *sink, size_t mark)
{
	struct assign_sink *as = CONTAINER_OF(sink, struct assign_sink, sink);

	(void)mark;
	as->row = NULL;
	as->rows = 0;
	return true;
}

static const struct sink_ops assign_ops = {
	.columns = assign_columns,
	.row = assign_row,
	.rows_done = assign_done,
	.message = assign_message,
	.mark = assign_mark,
	.rewind = assign_rewind,
};

void session_select_start(struct session *s, struct frame *f)
{
	struct request *r = s->request;
	const struct query *q = f->run.query;
	struct database *db = q->system ? databases_system(s->server->databases)
					: databases_find(s->server->databases, str_of(q->database));
	struct err e;

	session_call_make(s, CALL_QUERY, s->database);
	s->call.query = q;
	/* it was there when its views were looked up */
	if (db == NULL || db->engine == NULL) {
		(void)err_set(&e, ERR_NO_DATABASE_USE, q->database);
		tsql_query_done(&f->run, -1, &e, 0, NULL);
		return;
	}
	if (!q->system && session_tran_join(s, db, false, &e) < 0) {
		tsql_query_done(&f->run, -1, &e, 0, NULL);
		return;
	}
	r->assign = (struct assign_sink){ .sink = { &assign_ops }, .arena = &s->arena };
	r->wait = WAIT_QUERY;
	session_stream_enable(s, !q->assign && s->call.txn == NULL && s->results == &s->sink);
	if (q->assign)
		s->call.sink = &r->assign.sink;
	session_call_submit(s, db->engine);
}

void session_select_returned(struct session *s)
{
	struct request *r = s->request;
	struct call *c = &s->call;

	session_stream_enable(s, false);
	session_answer_explain(s);
	if (c->txn_lost)
		session_tran_lost(s);
	tsql_query_done(&r->top->run, c->rc, &c->err,
			r->top->run.query->assign                            ? r->assign.rows
			: r->top->inv != NULL && r->top->inv->cursor != NULL ? r->top->inv->cursor->nrows
									     : s->resp.rows,
			r->assign.row);
}
