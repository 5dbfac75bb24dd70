/* cursors.c — the procedures of server cursors (wire notes 15.2): sp_cursoropen and its relatives.
 * A cursor is opened by running its text once, with the cursor itself as the sink (cursor.h); what
 * the client then fetches comes from there. So every cursor is static or forward-only, and
 * read-only; other wishes are answered with what it became, as SQL Server does where a query cannot
 * be updated. */
#include <assert.h>

#include "session/request_int.h"

#include "value/convert.h"

#define COLUMNS_MAX 255 /* COLINFO counts them in a byte */

/* ---- arguments ---- */

/* The argument at a position as a number; absent and NULL: otherwise. */
static int64_t number_at(struct session *s, const struct invocation *inv, int position, int64_t otherwise)
{
	const struct type as = TYPE_OF(TYPE_INT);
	struct value v;
	struct err e;

	if (position < 0 || (size_t)position >= inv->nargs || inv->args[position].value.null ||
	    value_convert(&inv->args[position].value, &as, CONVERT_ARGUMENT, "", &s->arena, &v, &e) < 0)
		return otherwise;
	return v.u.i;
}

static void answer_at(struct invocation *inv, int position, int64_t v)
{
	if (position >= 0 && (size_t)position < inv->nargs)
		inv->args[position].value = value_int(TYPE_INT, v);
}

static void fail_with(struct session *s, struct invocation *inv, const struct err *e, int32_t status)
{
	struct outcome o = { .rc = -1, .error_number = e->number, .has_status = true, .status = status };

	session_response_message(s, e);
	session_invoke_finish(s, inv, &o);
}

static void succeed(struct session *s, struct invocation *inv)
{
	struct outcome o = { .has_status = true };

	session_invoke_finish(s, inv, &o);
}

/* ---- opening ---- */

/* The type that a wish becomes; 0: no type that the client would take. */
static uint32_t type_of(int64_t wish)
{
	if (wish & CURSOR_FAST_FORWARD)
		return CURSOR_FAST_FORWARD;
	if (wish & CURSOR_FORWARD)
		return CURSOR_FORWARD;
	if ((wish & CURSOR_CHECK_TYPES) && !(wish & (CURSOR_STATIC | CURSOR_STATIC_DOES)))
		return 0;
	return CURSOR_STATIC;
}

int session_cursor_begin(struct session *s, struct invocation *inv, const struct tsql_program *program,
			 struct meter *m, struct err *reterr)
{
	const struct special_args *f = &inv->fixed;
	int64_t scroll = number_at(s, inv, f->scroll_arg, CURSOR_KEYSET);
	const struct column *columns = NULL;
	uint32_t type = type_of(scroll);
	size_t n = 0;

	if (type == 0)
		return err_set(reterr, ERR_CURSOR_TYPE);
	if (tsql_is_one_statement(program) &&
	    session_describe_program(s, program, m, &columns, &n, reterr) < 0)
		return -1;
	inv->direct = n == 0 || n >= COLUMNS_MAX;
	if (inv->direct)
		return number_at(s, inv, f->concurrency_arg, 0) & CURSOR_ALLOW_DIRECT
			       ? 0
			       : err_set(reterr, ERR_CURSOR);
	if (session_cursor_new(&s->cursors, &s->sink, (size_t)s->server->config->max_result_size,
			       &inv->cursor, reterr) < 0)
		return -1;
	inv->cursor->scroll = type;
	inv->cursor->auto_close = (scroll & CURSOR_AUTO_CLOSE) != 0;
	return 0;
}

void session_cursor_direct(struct session *s)
{
	struct err e;

	(void)err_set(&e, ERR_CURSOR_DIRECT);
	session_response_message(s, &e);
}

/* Rows from first on, with their metadata, or a token that says that it is known. */
static void put_rows(struct session *s, const struct cursor *c, bool known, bool opened, size_t first,
		     size_t n)
{
	session_response_touch(s);
	if (known)
		tds_put_no_colmetadata(&s->out);
	else
		tds_put_colmetadata(&s->out, c->columns, c->ncolumns);
	if (opened)
		tds_put_colinfo(&s->out, c->ncolumns);
	for (size_t i = 0; i < n; i++)
		tds_put_row(&s->out, c->columns, c->rows[first + i], c->ncolumns);
	session_response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, n);
}

/* The cursor has its rows; with AUTO_FETCH the first of them are part of the answer. */
static void opened(struct session *s, struct invocation *inv)
{
	const struct special_args *f = &inv->fixed;
	int64_t scroll = number_at(s, inv, f->scroll_arg, CURSOR_KEYSET);
	struct cursor *c = inv->cursor;
	int64_t wanted = number_at(s, inv, f->rows_arg, 20);
	size_t first = 0, n = 0;
	bool done;

	if ((scroll & CURSOR_AUTO_FETCH) &&
	    session_cursor_move(c, FETCH_NEXT, 0, wanted < 0 ? 0 : wanted, &first, &n) < 0)
		n = 0;
	put_rows(s, c, false, true, first, n);
	done = c->auto_close && (scroll & CURSOR_AUTO_FETCH) && n == c->nrows;
	answer_at(inv, f->cursor_arg, done ? 0 : c->handle);
	answer_at(inv, f->scroll_arg, c->scroll);
	answer_at(inv, f->concurrency_arg, CURSOR_READ_ONLY);
	answer_at(inv, f->rows_arg, c->scroll == CURSOR_STATIC || done ? (int64_t)c->nrows : -1);
	if (done)
		session_cursor_drop(&s->cursors, c->handle);
	inv->cursor = NULL;
	succeed(s, inv);
}

/* Its own error has been sent. */
static void not_opened(struct session *s, struct invocation *inv, int32_t status)
{
	struct err e;

	session_cursor_give_up(&s->cursors);
	inv->cursor = NULL;
	(void)err_set(&e, ERR_CURSOR_NOT_MADE);
	fail_with(s, inv, &e, status);
}

void session_cursor_ended(struct session *s, struct invocation *inv, bool failed, int32_t number)
{
	struct err e;

	/* a SELECT without FROM ends without a word where a row finds no room */
	if (failed && inv->cursor->full && number == ERR_CANCELLED_NUMBER && !s->cancelled) {
		number = ERR_OUT_OF_MEMORY_NUMBER;
		(void)err_nomem(&e);
		session_response_message(s, &e);
	}
	if (failed || inv->cursor->columns == NULL) {
		not_opened(s, inv, number == 0 ? 16945 : number);
	} else if (session_cursor_keep(&s->cursors, (size_t)s->server->config->max_prepared, &e) < 0) {
		session_response_message(s, &e);
		not_opened(s, inv, e.number);
	} else {
		opened(s, inv);
	}
}

void session_cursor_failed(struct session *s, struct invocation *inv, struct err *e)
{
	/* the text is well, it is only not for cursors */
	if (e->number == ERR_CURSOR_NUMBER || e->number == ERR_CURSOR_TYPE_NUMBER) {
		session_cursor_give_up(&s->cursors);
		inv->cursor = NULL;
		fail_with(s, inv, e, 1);
		return;
	}
	session_response_message(s, e);
	not_opened(s, inv, e->number);
}

void session_cursor_prepared(struct session *s, struct invocation *inv)
{
	uint32_t type = type_of(number_at(s, inv, inv->fixed.scroll_arg, CURSOR_KEYSET));

	answer_at(inv, inv->fixed.scroll_arg, type == 0 ? CURSOR_STATIC : type);
	answer_at(inv, inv->fixed.concurrency_arg, CURSOR_READ_ONLY);
}

/* An answer without a cursor: the numbers are those of none. */
void session_cursor_none(struct session *s, struct invocation *inv)
{
	(void)s;
	answer_at(inv, inv->fixed.cursor_arg, 0);
	answer_at(inv, inv->fixed.scroll_arg, 0);
	answer_at(inv, inv->fixed.concurrency_arg, 0);
	answer_at(inv, inv->fixed.rows_arg, 0);
}

/* ---- the others ---- */

static struct cursor *cursor_of(struct session *s, struct invocation *inv)
{
	int32_t handle = (int32_t)number_at(s, inv, 0, 0);
	struct cursor *c = session_cursor_find(&s->cursors, handle);
	struct err e;

	if (c != NULL)
		return c;
	(void)err_set(&e, ERR_NO_CURSOR, session_special_name(inv->special), (unsigned)handle);
	fail_with(s, inv, &e, 1);
	return NULL;
}

static void tell_position(struct session *s, struct invocation *inv, const struct cursor *c)
{
	answer_at(inv, 2, session_cursor_where(c));
	answer_at(inv, 3, (int64_t)c->nrows);
	succeed(s, inv);
}

static void fetch(struct session *s, struct invocation *inv, struct cursor *c)
{
	bool known = inv->rpc != NULL && (inv->rpc->options & 2) != 0;
	int type = (int)number_at(s, inv, 1, FETCH_NEXT) & 0x1FF;
	int64_t wanted = number_at(s, inv, 3, 20);
	size_t first, n;
	struct err e;

	if (type & FETCH_INFO) {
		tell_position(s, inv, c);
		return;
	}
	if (session_cursor_move(c, type, number_at(s, inv, 2, 0), wanted < 0 ? 0 : wanted, &first, &n) < 0) {
		(void)err_set(&e, ERR_CURSOR_FORWARD, "sp_cursorfetch",
			      type == FETCH_LAST       ? "LAST"
			      : type == FETCH_PRIOR    ? "PREVIOUS"
			      : type == FETCH_ABSOLUTE ? "ABSOLUTE"
			      : type == FETCH_RELATIVE ? "RELATIVE"
						       : "FIRST");
		fail_with(s, inv, &e, 1);
		return;
	}
	put_rows(s, c, known, false, first, n);
	succeed(s, inv);
}

static void close_cursor(struct session *s, struct invocation *inv)
{
	struct cursor *c;

	if (number_at(s, inv, 0, 0) == -1) {
		session_cursors_fini(&s->cursors);
		succeed(s, inv);
		return;
	}
	c = cursor_of(s, inv);
	if (c == NULL)
		return;
	session_cursor_drop(&s->cursors, c->handle);
	succeed(s, inv);
}

void session_cursor_invoke(struct session *s, struct invocation *inv)
{
	struct cursor *c;
	struct err e;

	assert(net_loop_is_here(s->loop) && !s->inflight);
	if (inv->special == SPECIAL_CURSORCLOSE) {
		close_cursor(s, inv);
		return;
	}
	c = cursor_of(s, inv);
	if (c == NULL)
		return;
	if (inv->special == SPECIAL_CURSORFETCH) {
		fetch(s, inv, c);
	} else if (inv->special == SPECIAL_CURSOROPTION) {
		succeed(s, inv); /* names are for positioned updates, which there are not */
	} else {
		(void)err_set(&e, ERR_CURSOR_READ_ONLY);
		fail_with(s, inv, &e, 1);
	}
}
