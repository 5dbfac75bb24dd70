/* local.c — see local.h. A batch is compiled and run on the calling thread; what needs a database
 * is submitted and waited for. */
#include "local/local.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "local/local_int.h"
#include "session/audit.h"
#include "value/convert.h"

#define LOCAL_MOST ((size_t)32 << 20) /* bytes of a batch and its answer */

/* ---- parameters ---- */

static const struct local_value *given(const struct local_batch *b, struct str name)
{
	for (size_t i = 0; i < b->nvalues; i++) {
		if (str_eq_nocase(str_of(b->values[i].name), name))
			return &b->values[i];
	}
	return NULL;
}

static int bind(struct local_run *r, const struct local_batch *b, const struct tsql_declared *d,
		struct value *ret, struct err *reterr)
{
	const struct local_value *v = given(b, d->name);
	struct value text;
	char name[130];

	value_set_null(ret, d->type);
	if (v == NULL || v->null)
		return 0;
	str_copy(name, sizeof(name), d->name);
	text = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), v->text);
	return value_convert(&text, &d->type, CONVERT_ASSIGN, name, &r->arena, ret, reterr);
}

static int start(struct local_run *r, const struct local_batch *b, struct err *reterr)
{
	struct tsql_declared *declared;
	struct tsql_program *program;
	struct value *params;
	size_t n;

	if (tsql_parse_declarations(str_of(b->declarations), &r->arena, &declared, &n, reterr) < 0 ||
	    tsql_compile(str_of(b->text), &r->vars, declared, n, NULL, &r->arena, &program, reterr) < 0)
		return -1;
	params = arena_array(&r->arena, n, sizeof(*params));
	if (params == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; i < n; i++) {
		if (bind(r, b, &declared[i], &params[i], reterr) < 0)
			return -1;
	}
	return tsql_run_start(program, &r->host, params, n, &r->arena, &r->run, reterr);
}

/* ---- procedures ---- */

static int find_database(struct local_run *r, struct str name, struct str given_name, struct database **ret,
			 struct err *reterr)
{
	struct database *db = name.n == 0 ? r->database : databases_find(r->client.server->databases, name);
	char text[300];

	str_copy(text, sizeof(text), given_name);
	if (db == NULL)
		return err_set(reterr, ERR_NO_PROC, text);
	if (db->service != SERVICE_SYSTEM && local_rights(r, db) == 0)
		return err_set(reterr, ERR_NO_ACCESS, r->client.login, db->name);
	if (db->engine == NULL)
		return err_set(reterr, ERR_NOT_SERVED, db->name);
	*ret = db;
	return 0;
}

/* Fills r->call; *ret is where it is to be run. */
static int admit(struct local_run *r, struct engine_database **ret, struct err *reterr)
{
	const struct tsql_exec *x = &r->run.exec;
	const struct proc *proc;
	struct proc_name n;
	struct database *db;
	char text[300];
	int *origin;

	if (catalogue_name_parse(x->name, &r->arena, &n, reterr) < 0 ||
	    find_database(r, n.database, x->name, &db, reterr) < 0)
		return -1;
	proc = catalogue_find(db->service, n.schema, n.name);
	str_copy(text, sizeof(text), x->name);
	if (proc == NULL)
		return err_set(reterr, ERR_NO_PROC, text);
	local_call_make(r, CALL_PROC, db);
	r->call.proc = proc;
	*ret = proc->service == SERVICE_SYSTEM ? databases_system(r->client.server->databases)->engine
					       : db->engine;
	return catalogue_admit(&r->call, x->args, x->nargs, false, &origin, reterr);
}

/* What a session does after a call, too: session/invoke.c. */
static void consequences(struct local_run *r)
{
	const struct proc *p = r->call.proc;
	struct server *srv = r->client.server;

	if (p->cleanup_later && srv->cleanup != NULL)
		srv->cleanup(srv);
	session_audit_call(srv, &r->log, &r->call, false);
}

static void exec_failed(struct local_run *r, const struct err *e)
{
	(void)call_sink_message(&r->sink, e);
	tsql_exec_done(&r->run, -1, e->number, true, NULL, NULL);
}

static int exec(struct local_run *r)
{
	struct engine_database *db;
	struct err e;

	if (r->run.exec.into != NULL) {
		(void)err_set(&e, ERR_NOT_SUPPORTED, "INSERT … EXEC in a local batch", "It needs a session.");
		exec_failed(r, &e);
		return 0;
	}
	if (admit(r, &db, &e) < 0) {
		exec_failed(r, &e);
		return 0;
	}
	r->call.rc = 0;
	if (engine_has_ahead(db, r->call.proc))
		r->call.rc = engine_run_ahead(db, &r->call, NULL);
	if (r->call.rc == 0 && local_call(r, db) < 0)
		return -1;
	if (r->call.rc < 0) {
		exec_failed(r, &r->call.err);
		return 0;
	}
	consequences(r);
	r->status = r->call.status;
	tsql_exec_done(&r->run, 0, 0, false, r->call.status_set ? &r->call.status : NULL, NULL);
	return 0;
}

/* ---- SELECT over views ---- */

static int query(struct local_run *r)
{
	const struct query *q = r->run.query;
	struct databases *all = r->client.server->databases;
	struct database *db = q->system ? databases_system(all) : databases_find(all, str_of(q->database));
	const struct value *last = NULL;
	uint64_t rows = 0;
	struct err e;

	/* it was there when its views were looked up */
	if (db == NULL || db->engine == NULL) {
		(void)err_set(&e, ERR_NO_DATABASE_USE, q->database);
		tsql_query_done(&r->run, -1, &e, 0, NULL);
		return 0;
	}
	local_call_make(r, CALL_QUERY, r->database);
	r->call.query = q;
	if (local_call(r, db->engine) < 0)
		return -1;
	if (r->call.rc == 0 && q->assign)
		last = local_take_last_row(r, &rows);
	else if (r->call.rc == 0)
		rows = r->last_set->rows.n;
	tsql_query_done(&r->run, r->call.rc, &r->call.err, rows, last);
	return 0;
}

/* ---- the run ---- */

static bool is_over(void *arg)
{
	const struct local_run *r = arg;

	return clock_mono_ms() >= r->deadline_ms;
}

/* 1: it has ended, 0: it goes on, -1: it cannot go on. *ret_lost: r is the call's now, and perhaps
 * gone already. */
static int advance(struct local_run *r, enum tsql_wants wants, bool *ret_lost, struct err *reterr)
{
	int rc = 0, seconds = r->timeout_ms / 1000;

	switch (wants) {
	case TSQL_ENDED:
	case TSQL_FAILED: return 1;
	case TSQL_HERE: return 0;
	case TSQL_YIELD: return is_over(r) ? err_set(reterr, ERR_TIMEOUT, seconds) : 0;
	case TSQL_EXEC: rc = exec(r); break;
	case TSQL_QUERY: rc = query(r); break;
	case TSQL_EXEC_TEXT:
	case TSQL_TRAN:
	case TSQL_WAIT:
		return err_set(reterr, ERR_NOT_SUPPORTED, "This statement in a local batch",
			       "It needs a session.");
	}
	*ret_lost = rc < 0;
	return rc < 0 ? err_set(reterr, ERR_TIMEOUT, seconds) : 0;
}

static int run_all(struct local_run *r, bool *ret_lost, struct err *reterr)
{
	struct meter meter = { .left = 1, .stop = is_over, .arg = r };
	enum tsql_wants wants = TSQL_HERE;
	int rc;

	do {
		wants = wants == TSQL_YIELD ? tsql_next_long(&r->run, &meter) : tsql_next(&r->run);
		rc = advance(r, wants, ret_lost, reterr);
	} while (rc == 0);
	return rc < 0 ? -1 : 0;
}

static const char *copy(struct arena *a, const char *text)
{
	return arena_strndup(a, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
}

static struct local_run *make(const struct local_client *client, const struct local_batch *b)
{
	struct local_run *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	arena_init(&r->arena, LOCAL_MOST);
	r->client = *client;
	r->client.login = copy(&r->arena, client->login);
	r->client.address = copy(&r->arena, client->address);
	r->client.program = copy(&r->arena, client->program);
	r->database = b->database;
	r->log = (struct log_ctx){ client->spid, r->client.address, r->client.login, b->database->name };
	r->timeout_ms = b->timeout_ms;
	r->deadline_ms = clock_mono_ms() + b->timeout_ms;
	tsql_session_init(&r->vars, true);
	r->sink.ops = &local_sink_ops;
	r->host = (struct tsql_host){ .sink = &r->sink,
				      .vars = &r->vars,
				      .ops = &local_host_ops,
				      .max_value = (size_t)1 << 20,
				      .sql = databases_sql(databases_system(client->server->databases)) };
	lock_init(&r->lock);
	lock_cond_init(&r->wake);
	return r;
}

static const struct err *first_error(const struct local_run *r)
{
	for (const struct local_message *m = r->messages; m != NULL; m = m->next) {
		if (err_is_error(&m->err))
			return &m->err;
	}
	return NULL;
}

int local_run(const struct local_client *client, const struct local_batch *batch, struct local_answer *ret,
	      struct err *reterr)
{
	struct local_run *r = make(client, batch);
	bool lost = false;
	int rc;

	assert(batch->database != NULL);
	if (r == NULL)
		return err_nomem(reterr);
	rc = r->client.login == NULL || r->client.address == NULL || r->client.program == NULL
		     ? err_nomem(reterr)
		     : start(r, batch, reterr);
	if (rc == 0)
		rc = run_all(r, &lost, reterr);
	if (rc < 0) {
		if (!lost)
			local_free(r);
		return -1;
	}
	tsql_run_end(&r->run);
	*ret = (struct local_answer){ .sets = r->sets,
				      .messages = r->messages,
				      .error = first_error(r),
				      .status = r->status,
				      .run = r };
	return 0;
}

void local_answer_fini(struct local_answer *a)
{
	if (a->run != NULL)
		local_free(a->run);
	a->run = NULL;
}
