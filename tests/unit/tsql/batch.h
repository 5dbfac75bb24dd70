/* batch.h — a host for tests of src/tsql: everything that a batch sends or wants becomes one
 * line of text, so that a test is a batch and the lines expected of it.
 *   cols a:int!, b:varchar(3) columns; ! is NOT NULL row 1|abc a row rows 1 rows_done
 *   info 0/0/1 L1 text            messages: number/class/state    error …
 *   done C1 1                     DONE: command in hex, count;  done! has the error bit
 *   exec name(@a=1, 'x' out)      what is handed out; answered as the fields of struct host say */
#ifndef TESTS_TSQL_BATCH_H
#define TESTS_TSQL_BATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tsql/tsql.h"
#include "value/convert.h"

struct host {
	struct sink sink;
	struct tsql_host host;
	struct tsql_session vars;
	struct arena arena;
	struct buf out;
	enum service service;
	int rows_before_gone; /* sink refuses after so many rows; -1: never */
	int yields;
	bool quiet; /* keeps no lines */
	/* answers */
	int exec_rc;
	int32_t exec_error, exec_status;
	bool exec_abort, exec_no_status;
	struct value exec_outputs[8];
	int tran_rc;
	int (*query)(struct host *h, struct tsql_run *r); /* NULL: no rows */
};

static inline struct host *host_of_sink(struct sink *s)
{
	return CONTAINER_OF(s, struct host, sink);
}

static inline struct host *host_of(struct tsql_host *h)
{
	return CONTAINER_OF(h, struct host, host);
}

static inline void line(struct host *h, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline void line(struct host *h, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	if (h->quiet)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (h->out.len > 0)
		buf_put(&h->out, "\n", 1);
	buf_put(&h->out, text, strlen(text));
}

static inline const char *shown(struct host *h, const struct value *v)
{
	struct str s;

	if (v->null)
		return "NULL";
	if (v->type.id == TYPE_VARIANT)
		v = v->u.variant;
	if (type_info(v->type.id)->is_binary) {
		char *hex = arena_alloc(&h->arena, 2 * v->u.s.n + 3);
		memcpy(hex, "0x", 2);
		for (size_t i = 0; i < v->u.s.n; i++)
			snprintf(hex + 2 + 2 * i, 3, "%02X", (unsigned char)v->u.s.p[i]);
		return hex;
	}
	if (value_to_text(v, &h->arena, &s, NULL) < 0)
		return "?";
	return arena_strndup(&h->arena, s.p, s.n);
}

static inline int sink_take_columns(struct sink *s, const struct column *c, size_t n)
{
	struct buf b;
	char t[64];

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s:%s%s", i > 0 ? ", " : "", c[i].name,
			   type_format(&c[i].type, t, sizeof(t)), c[i].nullable ? "" : "!");
	buf_put_u8(&b, 0);
	line(host_of_sink(s), "cols %s", (char *)b.data);
	buf_fini(&b);
	return 0;
}

static inline int sink_take_row(struct sink *s, const struct value *v, size_t n)
{
	struct host *h = host_of_sink(s);
	struct buf b;

	if (h->rows_before_gone == 0)
		return -1;
	h->rows_before_gone--;
	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i > 0 ? "|" : "", shown(h, &v[i]));
	buf_put_u8(&b, 0);
	line(h, "row %s", (char *)b.data);
	buf_fini(&b);
	return 0;
}

static inline int sink_take_done(struct sink *s, uint64_t rows)
{
	(void)s;
	(void)rows;
	return 0;
}

static inline int sink_take_message(struct sink *s, const struct err *e)
{
	line(host_of_sink(s), "%s %d/%d/%d L%d %s", err_is_error(e) ? "error" : "info", (int)e->number,
	     e->severity, e->state, (int)e->line, e->text);
	return 0;
}

static inline size_t sink_take_mark(struct sink *s)
{
	return host_of_sink(s)->out.len;
}

static inline bool sink_take_rewind(struct sink *s, size_t mark)
{
	host_of_sink(s)->out.len = mark;
	return true;
}

static const struct sink_ops test_sink_ops = {
	.columns = sink_take_columns,
	.row = sink_take_row,
	.rows_done = sink_take_done,
	.message = sink_take_message,
	.mark = sink_take_mark,
	.rewind = sink_take_rewind,
};

static inline void take_statement_done(struct tsql_host *th, enum tsql_command cmd, bool has_count,
				       uint64_t count, bool error)
{
	if (has_count)
		line(host_of(th), "done%s %02X %llu", error ? "!" : "", cmd, (unsigned long long)count);
	else
		line(host_of(th), "done%s %02X", error ? "!" : "", cmd);
}

static inline int give_value(struct tsql_host *th, const char *name, const struct value *args, size_t nargs,
			     struct arena *a, struct value *ret, struct err *reterr)
{
	(void)reterr;
	(void)th;
	if (strcmp(name, "DB_NAME") == 0 && nargs == 0)
		*ret = value_nvarchar("Db1");
	else if (strcmp(name, "@@SPID") == 0)
		*ret = value_int(TYPE_SMALLINT, 51);
	else if (strcmp(name, "@@VERSION") == 0)
		*ret = value_nvarchar("Microsoft test");
	else if (strcmp(name, "SUSER_SNAME") == 0)
		*ret = value_nvarchar("sa");
	else if (strcmp(name, "SERVERPROPERTY") == 0 && nargs == 1 && !args[0].null) {
		*ret = (struct value){ .type = TYPE_OF(TYPE_VARIANT) };
		ret->u.variant = arena_alloc(a, sizeof(struct value));
		*ret->u.variant = value_int(TYPE_INT, 3);
	} else if (strcmp(name, "HAS_DBACCESS") == 0)
		return err_raise(reterr, 50000, 16, 1, "refused");
	else
		return 0;
	return 1;
}

static inline int take_use(struct tsql_host *th, struct str database, struct err *reterr)
{
	if (str_eq(database, STR("nodb")))
		return err_set(reterr, ERR_NO_DATABASE_USE, "nodb");
	line(host_of(th), "use %.*s", STR_ARG(database));
	return 0;
}

static inline void take_language(struct tsql_host *th, const char *old_name, const char *new_name)
{
	line(host_of(th), "language %s %s", old_name, new_name);
}

/* "Db1" is the current one; "Other" is a database of documents, "Closed" one that may not be
 * read. */
static inline int give_database(struct tsql_host *th, struct str name, struct tsql_database *ret,
				struct err *reterr)
{
	struct tsql_database other = { .name = "Other", .service = SERVICE_WORD, .may_select = true };

	*ret = (struct tsql_database){ .name = "Db1", .service = host_of(th)->service, .may_select = true };
	if (str_eq_nocase(name, STR("master")))
		*ret = (struct tsql_database){ .name = "master", .service = SERVICE_SYSTEM };
	else if (str_eq_nocase(name, STR("Other")) || str_eq_nocase(name, STR("Closed")))
		*ret = other;
	else if (name.n > 0 && !str_eq_nocase(name, STR("Db1")))
		return err_set(reterr, ERR_NO_OBJECT, "");
	ret->may_select = !str_eq_nocase(name, STR("Closed"));
	ret->sql = th->sql; /* all are in one engine */
	return 0;
}

static inline int take_kill(struct tsql_host *th, int64_t session, struct err *reterr)
{
	if (session == 53)
		return err_set(reterr, ERR_KILL_ABSENT, 53);
	line(host_of(th), "kill %lld", (long long)session);
	return 0;
}

static const struct tsql_host_ops test_host_ops = {
	.statement_done = take_statement_done,
	.value = give_value,
	.use = take_use,
	.language = take_language,
	.database = give_database,
	.kill = take_kill,
};

static inline void host_init(struct host *h)
{
	memset(h, 0, sizeof(*h));
	h->sink.ops = &test_sink_ops;
	arena_init(&h->arena, 64 << 20);
	buf_init(&h->out, 16 << 20);
	tsql_session_init(&h->vars, true);
	h->host = (struct tsql_host){ .sink = &h->sink, .vars = &h->vars, .ops = &test_host_ops };
	h->service = SERVICE_STATE;
	h->rows_before_gone = -1;
}

static inline void host_fini(struct host *h)
{
	arena_fini(&h->arena);
	buf_fini(&h->out);
}

static inline void show_exec(struct host *h, const struct tsql_exec *x)
{
	struct buf b;
	char t[64];

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < x->nargs; i++) {
		const struct argument *a = &x->args[i];

		buf_printf(&b, "%s%.*s%s", i > 0 ? ", " : "", STR_ARG(a->name), a->name.n > 0 ? "=" : "");
		if (a->is_default)
			buf_printf(&b, "DEFAULT");
		else
			buf_printf(&b, "%s %s%s",
				   a->value.type.id == TYPE_NULL ? "null"
								 : type_format(&a->value.type, t, sizeof(t)),
				   shown(h, &a->value), a->is_output ? " out" : "");
	}
	buf_put_u8(&b, 0);
	line(h, "exec %.*s(%s) L%d", STR_ARG(x->name), (char *)b.data, x->line);
	buf_fini(&b);
}

static inline bool host_answer(struct host *h, struct tsql_run *r, enum tsql_wants w)
{
	static const char *const trans[] = { "begin", "commit", "rollback", "save" };
	struct err e;

	switch (w) {
	case TSQL_EXEC:
		show_exec(h, &r->exec);
		tsql_exec_done(r, h->exec_rc, h->exec_error, h->exec_abort,
			       h->exec_no_status ? NULL : &h->exec_status, h->exec_outputs);
		return true;
	case TSQL_EXEC_TEXT:
		line(h, "text %.*s", STR_ARG(r->text));
		tsql_exec_done(r, h->exec_rc, h->exec_error, h->exec_abort, NULL, NULL);
		return true;
	case TSQL_QUERY:
		if (h->query != NULL)
			return h->query(h, r) == 0;
		line(h, "query%s%s %s", r->query->system ? " system" : "", r->query->assign ? " assign" : "",
		     r->query->sql);
		for (size_t i = 0; i < r->query->nvalues; i++)
			line(h, "  ?%zu %s", i + 1, shown(h, &r->query->values[i]));
		tsql_query_done(r, 0, NULL, 0, NULL);
		return true;
	case TSQL_TRAN:
		line(h, "tran %s %.*s", trans[r->tran.kind], STR_ARG(r->tran.name));
		if (h->tran_rc < 0)
			err_set(&e, ERR_COMMIT_NO_TRAN);
		else
			h->vars.trancount += r->tran.kind == TRAN_BEGIN    ? 1
					     : r->tran.kind == TRAN_COMMIT ? -1
									   : 0;
		tsql_tran_done(r, h->tran_rc, &e);
		return true;
	case TSQL_WAIT:
		line(h, "wait %u", r->wait_ms);
		tsql_wait_done(r);
		return true;
	case TSQL_YIELD: h->yields++; return true;
	case TSQL_HERE: return true;
	default: line(h, w == TSQL_ENDED ? "end" : "failed"); return false;
	}
}

/* As a session does: what takes long goes on elsewhere. */
static inline enum tsql_wants host_next(struct tsql_run *r)
{
	enum tsql_wants w = tsql_next(r);

	return w == TSQL_YIELD ? tsql_next_long(r, NULL) : w;
}

/* Runs the batch; the lines stay in h->out. */
static inline const char *host_run_with(struct host *h, const char *text, const struct tsql_declared *params,
					const struct value *values, size_t n)
{
	struct tsql_program *p;
	struct tsql_run r;
	struct err e;

	h->out.len = 0;
	err_clear(&e);
	if (tsql_compile(str_of(text), &h->vars, params, n, NULL, &h->arena, &p, &e) < 0) {
		line(h, "compile %d/%d/%d L%d %s", (int)e.number, e.severity, e.state, (int)e.line, e.text);
	} else {
		assert_int_equal(tsql_run_start(p, &h->host, values, n, &h->arena, &r, &e), 0);
		while (host_answer(h, &r, host_next(&r)))
			if (h->yields > 20) {
				line(h, "endless");
				break;
			}
		if (r.returned)
			line(h, "returned %d", (int)r.return_value);
		for (size_t i = 0; i < n; i++)
			if (params[i].output)
				line(h, "param %s", shown(h, tsql_param_value(&r, i)));
		tsql_run_end(&r);
	}
	buf_put_u8(&h->out, 0);
	return (const char *)h->out.data;
}

static inline const char *host_run(struct host *h, const char *text)
{
	return host_run_with(h, text, NULL, NULL, 0);
}

/* A batch in a fresh session; the lines expected. */
#define BATCH(text, expected) \
	do { \
		struct host h_; \
		host_init(&h_); \
		const char *got_ = host_run(&h_, (text)); \
		if (strcmp(got_, (expected)) != 0) { \
			print_error("%s:%d: batch: %s\n--- got\n%s\n--- expected\n%s\n", __FILE__, __LINE__, \
				    (text), got_, (expected)); \
			host_fini(&h_); \
			fail(); \
		} \
		host_fini(&h_); \
	} while (0)

/* The value that SELECT gives, and its type. */
#define VALUE(expression, type, text) \
	do { \
		struct host v_; \
		char all_[8192], want_[8192]; \
		host_init(&v_); \
		snprintf(all_, sizeof(all_), "SELECT %s", (expression)); \
		snprintf(want_, sizeof(want_), "cols :%s\nrow %s\ndone C1 1\nend", (type), (text)); \
		const char *got_ = host_run(&v_, all_); \
		if (strcmp(got_, want_) != 0) { \
			print_error("%s:%d: %s\n--- got\n%s\n--- expected\n%s\n", __FILE__, __LINE__, all_, \
				    got_, want_); \
			host_fini(&v_); \
			fail(); \
		} \
		host_fini(&v_); \
	} while (0)

/* A SELECT of the expression fails with the number, after its columns. */
#define FAILS(expression, number) \
	do { \
		struct host f_; \
		char all_[8192], want_[64]; \
		host_init(&f_); \
		snprintf(all_, sizeof(all_), "SELECT %s", (expression)); \
		snprintf(want_, sizeof(want_), "%d/", (number)); \
		const char *got_ = host_run(&f_, all_); \
		if (strstr(got_, want_) == NULL) { \
			print_error("%s:%d: %s\n--- got\n%s\n--- expected %s\n", __FILE__, __LINE__, all_, \
				    got_, want_); \
			host_fini(&f_); \
			fail(); \
		} \
		host_fini(&f_); \
	} while (0)

#endif
