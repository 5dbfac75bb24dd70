/* together.c — calls of one procedure as one statement over arrays, where its declaration says how
 * (TOGETHER). That costs PostgreSQL half of what so many calls of its function cost. A set is run
 * as if its calls came one after another, which the declaration sees to as long as no two of them
 * are about the same; a second one about the same goes by itself, behind the set, and so does
 * whatever the statement has left alone. Sets are part of a group: group.c. */
#include <stdio.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"

#define VALUES_LARGE ((size_t)64 << 10) /* an array of these would be copied about too often */

static const struct pg_together *form_of(const struct pg_database *db, const struct call *c)
{
	const struct pg_function *f = postgres_function(db, c);

	return f == NULL ? NULL : f->together;
}

bool postgres_together_is_for(const struct pg_database *db, const struct call *c)
{
	return form_of(db, c) != NULL;
}

static bool has_bytes(const struct value *v)
{
	const struct type_info *info = type_info(v->type.id);

	return !v->null && (info->is_text || info->is_binary);
}

static bool is_small(const struct call *c)
{
	size_t sum = 0;

	for (size_t i = 0; i < c->nvalues; i++)
		sum += has_bytes(&c->values[i]) ? c->values[i].u.s.n : 0;
	return sum < VALUES_LARGE;
}

/* ---- which calls ---- */

/* FNV-1a */
static uint64_t hash_bytes(uint64_t hash, const void *p, size_t n)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3U;
	return hash;
}

/* What the call is about. Blanks at the end of a text make no difference [E-COM-08]; two that
 * differ and have the same number are only taken for the same. */
static uint64_t subject_of(const struct pg_together *t, const struct call *c)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (unsigned i = 0; i < t->nkeys; i++) {
		const struct value *v = &c->values[t->keys[i]];
		size_t n = has_bytes(v) ? v->u.s.n : 0;

		while (n > 0 && v->u.s.p[n - 1] == ' ')
			n--;
		hash = hash_bytes(hash, &v->null, sizeof(v->null));
		if (has_bytes(v))
			hash = hash_bytes(hash, v->u.s.p, n);
		else if (!v->null)
			hash = hash_bytes(hash, &v->u.i, sizeof(v->u.i));
	}
	return hash;
}

static bool has_subject(const struct pg_worker *w, const struct pg_set *set, uint64_t subject)
{
	for (unsigned i = 0; i < set->n; i++) {
		if (w->group[set->slots[i]].subject == subject)
			return true;
	}
	return false;
}

/* The set of this procedure, which may be new; NULL: there is no room for another one. */
static struct pg_set *set_of(struct pg_worker *w, const struct proc *proc)
{
	for (unsigned i = 0; i < w->nsets; i++) {
		if (w->sets[i].proc == proc)
			return &w->sets[i];
	}
	if (w->nsets == PG_SETS_MAX)
		return NULL;
	w->sets[w->nsets] = (struct pg_set){ .proc = proc };
	return &w->sets[w->nsets++];
}

static void put(struct pg_worker *w, uint8_t at)
{
	struct pg_slot *s = &w->group[at];
	const struct pg_together *t = form_of(w->db, s->call);
	struct pg_set *set;

	if (t == NULL || !is_small(s->call))
		return;
	set = set_of(w, s->call->proc);
	s->subject = subject_of(t, s->call);
	if (set != NULL && !has_subject(w, set, s->subject))
		set->slots[set->n++] = at;
}

/* Beside groups of other servers, rows must be locked in the same order everywhere: by one
 * statement for all, or one by one. */
static bool may_have_sets(const struct pg_worker *w)
{
	if (postgres_items_are_ours(w->db))
		return true;
	for (size_t i = 1; i < w->ngroup; i++) {
		if (w->group[i].call->kind != CALL_PROC || w->group[i].call->proc != w->group[0].call->proc)
			return false;
	}
	return true;
}

void postgres_sets_choose(struct pg_worker *w)
{
	w->nsets = 0;
	for (size_t i = 0; i < w->ngroup; i++)
		w->group[i].way = PG_BY_ITSELF;
	if (!may_have_sets(w))
		return;
	for (size_t i = 0; i < w->ngroup; i++) {
		if (!w->group[i].dead)
			put(w, (uint8_t)i);
	}
	for (unsigned i = 0; i < w->nsets; i++) {
		struct pg_set *set = &w->sets[i];

		if (set->n < 2)
			set->n = 0;
		for (unsigned k = 0; k < set->n; k++)
			w->group[set->slots[k]].way = PG_IN_SET;
	}
}

/* ---- sending ---- */

/* One argument of all calls, as an array. */
static int bind_each(struct pg_worker *w, const struct pg_set *set, const struct pg_arg *arg,
		     struct pg_params *p, struct err *reterr)
{
	const struct bind b = { .source = arg->source == PG_ARG_TRIMMED ? BIND_TRIMMED : BIND_PARAM,
				.index = arg->index };
	struct arena *a = &w->conn->arena;
	struct value *values = arena_array(a, set->n, sizeof(*values));

	if (values == NULL)
		return err_nomem(reterr);
	for (unsigned i = 0; i < set->n; i++) {
		if (engine_value(&w->db->base, w->group[set->slots[i]].call, &b, NULL, 0, &values[i],
				 reterr) < 0)
			return -1;
	}
	return postgres_param_array(p, a, values, 1, set->n, arg->kind, reterr);
}

static int bind_all(struct pg_worker *w, const struct pg_set *set, const struct pg_together *t,
		    struct pg_params *p, struct err *reterr)
{
	arena_reset(&w->conn->arena);
	if (postgres_params_init(p, &w->conn->arena, t->nargs, reterr) < 0)
		return -1;
	for (unsigned i = 0; i < t->nargs; i++) {
		const struct pg_arg *arg = &t->args[i];
		bool each = arg->source == PG_ARG_VALUE || arg->source == PG_ARG_TRIMMED;
		int rc = each ? bind_each(w, set, arg, p, reterr)
			      : postgres_bind(w->conn, w->group[set->slots[0]].call, arg, p, reterr);

		if (rc < 0)
			return -1;
	}
	return 0;
}

static bool send_one(struct pg_worker *w, struct pg_set *set)
{
	const struct pg_together *t = form_of(w->db, w->group[set->slots[0]].call);
	size_t index = (size_t)(set->proc - w->db->procs->procs);
	struct pg_params p;
	struct err err;
	char name[16];

	if (bind_all(w, set, t, &p, &err) < 0) { /* one of them cannot be sent: each finds out for itself */
		for (unsigned i = 0; i < set->n; i++)
			w->group[set->slots[i]].way = PG_BY_ITSELF;
		set->n = 0;
		return true;
	}
	for (unsigned i = 0; i < set->n; i++)
		w->group[set->slots[i]].call->now = atomic_load(&w->db->clock);
	snprintf(name, sizeof(name), "t%zu", index);
	return postgres_send_prepared(w->conn, name, &w->conn->together[index], t->sql, &p);
}

bool postgres_sets_send(struct pg_worker *w)
{
	for (unsigned i = 0; i < w->nsets; i++) {
		if (w->sets[i].n > 0 && !send_one(w, &w->sets[i]))
			return false;
	}
	return true;
}

/* ---- the answer ---- */

bool postgres_set_take(struct pg_worker *w, const struct pg_set *set, const PGresult *r)
{
	int place_at = PQnfields(r) - 1;
	bool untaken = false;

	for (int row = 0; row < PQntuples(r); row++) {
		int64_t place = postgres_column_int(r, row, place_at);
		struct pg_slot *s;
		int rc;

		if (place < 1 || place > set->n)
			continue;
		s = &w->group[set->slots[place - 1]];
		s->way = PG_ANSWERED;
		rc = postgres_call_take_row(w->conn, s->call, r, row, &s->call->err);
		untaken = untaken || rc == PG_UNTAKEN;
		if (rc < 0) {
			engine_call_fail(s->call, &s->call->err);
			(void)engine_call_rewind(s->call, s->mark);
		}
	}
	return !untaken;
}
