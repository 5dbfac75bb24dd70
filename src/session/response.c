/* response.c — the answer as it is written: tokens in order, and the DONE that waits until it is
 * known whether another one follows. Also the sink that engines and the language write results
 * to. */
#include "session/request_int.h"

#include <assert.h>

/* A DONE may only say "no more" when it really is the last token, so it is held back until the
 * next token or the end. */
static void write_pending(struct session *s, bool more)
{
	struct response *r = &s->resp;
	uint16_t status = r->status;

	if (!r->pending)
		return;
	r->pending = false;
	if (more || r->kind == TDS_DONEINPROC)
		status |= TDS_DONE_MORE;
	tds_put_done(&s->out, r->kind, status, r->command, r->count);
}

void session_response_touch(struct session *s)
{
	write_pending(s, true);
}

void session_response_begin(struct session *s)
{
	if (!s->out.open)
		tds_out_begin(&s->out, TDS_MSG_RESPONSE);
}

void session_response_end(struct session *s)
{
	assert(net_loop_is_here(s->loop) && !s->inflight);
	write_pending(s, false);
	tds_out_end(&s->out);
	s->resp.result_open = false;
}

void session_response_message(struct session *s, const struct err *e)
{
	session_response_touch(s);
	session_doom_error(s, e);
	tds_put_message(&s->out, e);
}

void session_response_done(struct session *s, enum tds_done_kind kind, uint16_t status, uint16_t command,
			   uint64_t count)
{
	struct response *r = &s->resp;

	assert(s->out.open);
	session_response_touch(s);
	r->pending = true;
	r->kind = kind;
	r->status = status;
	r->command = command;
	r->count = count;
	r->result_open = false;
}

static struct session *of_sink(struct sink *sink)
{
	return CONTAINER_OF(sink, struct session, sink);
}

/* A full buffer ends the call: the answer cannot be kept until its commit. */
static int sink_state(struct session *s)
{
	s->streaming.denied |= s->out.wire.bytes.denied;
	return tds_out_failed(&s->out) ? -1 : 0;
}

static int sink_put_columns(struct sink *sink, const struct column *cols, size_t n)
{
	struct session *s = of_sink(sink);
	struct str made = session_colmeta_cache_find(&s->server->colmeta, cols, s->out.version);

	session_response_touch(s);
	s->resp.columns = cols;
	s->resp.ncolumns = n;
	s->resp.result_open = true;
	if (made.n > 0)
		tds_put(&s->out, made.p, made.n);
	else
		tds_put_colmetadata(&s->out, cols, n);
	return sink_state(s);
}

static int sink_put_row(struct sink *sink, const struct value *vals, size_t n)
{
	struct session *s = of_sink(sink);

	assert(s->resp.result_open && n == s->resp.ncolumns);
	tds_put_row(&s->out, s->resp.columns, vals, n);
	return sink_state(s);
}

/* Result sets of a procedure end with DONEINPROC. Those of the language's own statements end
 * with its statement_done. */
static int sink_put_rows_done(struct sink *sink, uint64_t rows)
{
	struct session *s = of_sink(sink);

	s->resp.rows = rows;
	if (s->inflight && s->call.kind == CALL_PROC)
		session_response_done(s, TDS_DONEINPROC, s->vars.nocount ? 0 : TDS_DONE_COUNT, CMD_SELECT,
				      s->vars.nocount ? 0 : rows);
	return sink_state(s);
}

static int sink_put_message(struct sink *sink, const struct err *e)
{
	struct session *s = of_sink(sink);

	session_response_message(s, e);
	return sink_state(s);
}

/* Calls of a session run one after another, so one mark is enough. */
static size_t sink_mark(struct sink *sink)
{
	struct session *s = of_sink(sink);

	s->mark.state = s->resp;
	s->mark.out = tds_out_mark(&s->out);
	return 0;
}

static bool sink_rewind(struct sink *sink, size_t mark)
{
	struct session *s = of_sink(sink);

	(void)mark;
	if (!tds_out_rewind(&s->out, &s->mark.out))
		return false;
	s->resp = s->mark.state;
	return true;
}

static const struct sink_ops sink_ops = {
	.columns = sink_put_columns,
	.row = sink_put_row,
	.rows_done = sink_put_rows_done,
	.message = sink_put_message,
	.mark = sink_mark,
	.rewind = sink_rewind,
};

void session_response_init(struct session *s)
{
	tds_out_init(&s->out, (size_t)s->server->config->max_result_size);
	s->out.packet_size = TDS_PACKET_DEFAULT;
	s->out.server_name = s->server->name;
	s->out.spid = s->entry.spid;
	s->sink.ops = &sink_ops;
}
