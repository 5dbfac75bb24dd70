/* steps.c — the interpreter of a procedure's body: a table of steps, run one after another. */
#include "engine/sqlite/executor/executor_int.h"

/* Parameters and fields are bound where they lie; the rest are small values that the store
 * copies. */
int executor_steps_bind(struct runner *r, struct call *c, struct store_stmt *st, const struct statement *s,
			const struct value *fields, size_t nfields, struct err *reterr)
{
	for (unsigned i = 0; i < s->nbinds; i++) {
		const struct bind *b = &s->binds[i];
		const struct value *v;
		struct value made;

		if (b->source == BIND_PARAM && b->index < (unsigned)c->proc->nparams + c->proc->nlocals) {
			v = &c->values[b->index];
		} else if (b->source == BIND_FIELD && b->index < nfields) {
			v = &fields[b->index];
		} else {
			if (engine_value(r->ex->db, c, b, fields, nfields, &made, reterr) < 0)
				return -1;
			v = &made;
		}
		if (store_bind(st, i + 1, v, reterr) < 0)
			return -1;
	}
	return 0;
}

static int begin_statement(struct runner *r, struct call *c, const struct statement *s,
			   struct store_stmt **ret, struct err *reterr)
{
	struct store_stmt *st;

	if (store_statement(r->conn, s, &st, reterr) < 0)
		return -1;
	if (executor_steps_bind(r, c, st, s, NULL, 0, reterr) < 0) {
		store_finish(st);
		return -1;
	}
	*ret = st;
	return 0;
}

/* Steps to the end: a statement that writes must not be left half-way. */
static int drain(struct store_stmt *st, struct err *reterr)
{
	int rc;

	do
		rc = store_step(st, reterr);
	while (rc > 0);
	return rc;
}

static int step_run(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	uint64_t before = store_changes(r->conn);
	struct store_stmt *st;
	int rc;

	if (begin_statement(r, c, s->stmt, &st, reterr) < 0)
		return -1;
	rc = drain(st, reterr);
	store_finish(st);
	r->count = store_changes(r->conn) - before;
	return rc;
}

/* First column of the first row as a number; without a row, or NULL, *ret is left alone. */
static int first_number(struct runner *r, struct call *c, const struct statement *s, int64_t *ret,
			struct err *reterr)
{
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct store_stmt *st;
	struct value v;
	int rc;

	if (begin_statement(r, c, s, &st, reterr) < 0)
		return -1;
	rc = store_step(st, reterr);
	if (rc > 0) {
		rc = store_column(st, 0, &bigint, &v, reterr);
		if (rc == 0 && !v.null)
			*ret = v.u.i;
		if (rc == 0 && s->writes)
			rc = drain(st, reterr);
	}
	store_finish(st);
	return rc;
}

/* Is the condition of an IF or CHECK true? Without statement and test it never is. */
static int condition(struct runner *r, struct call *c, const struct step *s, int64_t *ret, struct err *reterr)
{
	struct value v;

	*ret = 0;
	if (s->test == TEST_NONE)
		return s->stmt == NULL ? 0 : first_number(r, c, s->stmt, ret, reterr);
	if (s->test == TEST_NOTHING || s->test == TEST_SOMETHING) {
		*ret = (r->count == 0) == (s->test == TEST_NOTHING);
		return 0;
	}
	if (engine_value(r->ex->db, c, &s->args[0], NULL, 0, &v, reterr) < 0)
		return -1;
	*ret = v.null == (s->test == TEST_NULL);
	return 0;
}

static int step_check(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	char text[sizeof(reterr->text)];
	int64_t holds;

	if (condition(r, c, s, &holds, reterr) < 0)
		return -1;
	if (holds != 0)
		return 0;
	if (engine_message(c, s->text, text, sizeof(text), reterr) < 0)
		return -1;
	return err_raise(reterr, s->number, s->severity, 1, "%s", text);
}

static int step_message(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	int64_t holds = s->stmt == NULL;

	if (s->stmt != NULL && first_number(r, c, s->stmt, &holds, reterr) < 0)
		return -1;
	return holds == 0 ? 0 : engine_message_send(c, s, reterr);
}

static int take_columns(struct runner *r, struct call *c, const struct step *s, struct store_stmt *st,
			struct err *reterr)
{
	for (unsigned i = 0; i < s->ntargets; i++) {
		const struct type *t = engine_value_type(c->proc, s->targets[i]);
		struct value *v = &c->values[s->targets[i]];

		if (t == NULL)
			return err_set(reterr, ERR_STORE, r->ex->db->name,
				       "a procedure's table names a target that is not there");
		if (store_column(st, i, t, v, reterr) < 0 || value_copy(v, c->arena, v, reterr) < 0)
			return -1;
	}
	return 0;
}

static int step_set(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct store_stmt *st;
	int rc;

	if (begin_statement(r, c, s->stmt, &st, reterr) < 0)
		return -1;
	rc = store_step(st, reterr);
	if (rc > 0) {
		rc = take_columns(r, c, s, st, reterr);
		if (rc == 0 && s->stmt->writes)
			rc = drain(st, reterr);
	}
	store_finish(st);
	return rc;
}

static int step_fetch(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct value row;

	if (engine_value(r->ex->db, c, &s->args[0], NULL, 0, &row, reterr) < 0)
		return -1;
	if (executor_later_may(r, c, s))
		return executor_later_fetch(r, c, s, row.u.i, reterr);
	return store_fetch(r->conn, s->table, s->column, row.u.i, c->arena, &c->values[s->targets[0]],
			   reterr);
}

static int step_rows(struct runner *r, struct call *c, const struct step *s, struct err *reterr)
{
	struct store_stmt *st;
	int rc;

	if (s->native != NULL)
		return executor_native_rows(r, c, s, reterr);
	if (begin_statement(r, c, s->stmt, &st, reterr) < 0)
		return -1;
	rc = executor_rows_send(r, c, st, s->columns, s->ncolumns, reterr);
	store_finish(st);
	return rc;
}

/* Runs one step; *pc is the one after it, or where it jumps to. */
static int step_one(struct runner *r, struct call *c, const struct step *s, unsigned *pc, struct err *reterr)
{
	int64_t number = 0;

	switch ((enum step_kind)s->kind) {
	case STEP_RUN: return step_run(r, c, s, reterr);
	case STEP_CHECK: return step_check(r, c, s, reterr);
	case STEP_SET: return step_set(r, c, s, reterr);
	case STEP_FETCH:
		if (step_fetch(r, c, s, reterr) < 0)
			return -1;
		if (executor_notes(c)->later != NULL)
			*pc = c->proc->nsteps; /* the rest follows when the value is there */
		return 0;
	case STEP_ROWS: return step_rows(r, c, s, reterr);
	case STEP_NATIVE: return executor_native_run(r, c, s, reterr);
	case STEP_EACH: return executor_native_each(r, c, s, reterr);
	case STEP_MESSAGE: return step_message(r, c, s, reterr);
	case STEP_IF:
		if (condition(r, c, s, &number, reterr) < 0)
			return -1;
		if (number == 0)
			*pc = s->jump;
		return 0;
	case STEP_RETURN:
		number = s->stmt == NULL ? s->number : 0;
		if (s->stmt != NULL && first_number(r, c, s->stmt, &number, reterr) < 0)
			return -1;
		c->status = (int32_t)number;
		*pc = c->proc->nsteps;
		return 0;
	}
	return err_set(reterr, ERR_STORE, r->ex->db->name, "a procedure's table has an unknown step");
}

int executor_steps_run(struct runner *r, struct call *c, struct err *reterr)
{
	return executor_steps_run_from(r, c, 0, reterr);
}

int executor_steps_run_from(struct runner *r, struct call *c, unsigned pc, struct err *reterr)
{
	while (pc < c->proc->nsteps) {
		const struct step *s = &c->proc->steps[pc++];

		if (step_one(r, c, s, &pc, reterr) < 0)
			return -1;
		if (atomic_load_explicit(&c->cancelled, memory_order_relaxed))
			return err_set(reterr, ERR_CANCELLED);
	}
	return 0;
}
