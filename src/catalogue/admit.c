/* admit.c — the gate. Everything that can refuse a call before it runs stands here, in the order
 * in which it is reported (errata, clarifications 8 and 9): rights, too many, unknown name,
 * twice, missing, OUTPUT for an input, then conversions, NULLs and ranges. */
#include "catalogue/catalogue.h"

#include <assert.h>

#include "value/convert.h"

struct binding {
	struct call *call;
	const struct proc *proc;
	const struct argument *args;
	size_t nargs;
	bool from_rpc;
	int *origin; /* per parameter: index in args, or -1 */
	struct err *err;
};

/* Errors of the gate belong to the procedure, as SQL Server reports them. */
static int refuse(struct binding *b, int rc)
{
	assert(rc < 0);
	if (b->err != NULL)
		str_copy(b->err->proc, sizeof(b->err->proc), str_of(b->proc->name));
	return rc;
}

static int check_rights(struct binding *b)
{
	const struct call *c = b->call;

	if ((b->proc->needs & ~c->rights) == 0)
		return 0;
	return err_set(b->err, ERR_PERMISSION, b->proc->name, c->database == NULL ? "" : c->database);
}

static int check_count(struct binding *b)
{
	if (b->nargs <= b->proc->nparams)
		return 0;
	return err_set(b->err, b->proc->nparams == 0 ? ERR_NO_PARAMS : ERR_TOO_MANY_ARGS, b->proc->name);
}

/* Most clients name them in the order of the declaration: the search begins where the argument
 * stands. */
static int find_param(const struct proc *p, struct str name, size_t from)
{
	for (size_t i = 0; i < p->nparams; i++) {
		size_t at = (from + i) % p->nparams;

		if (str_eq_nocase(name, str_of(p->params[at].name)))
			return (int)at;
	}
	return -1;
}

/* Which parameter each argument is for: by name, or by its place. Unknown names are all looked
 * for before doubles are. */
static int match_arguments(struct binding *b)
{
	int twice = -1;

	for (size_t i = 0; i < b->nargs; i++) {
		int to = (int)i;

		if (b->args[i].name.n != 0)
			to = find_param(b->proc, b->args[i].name, i);
		if (to < 0) {
			char shown[140];

			str_copy(shown, sizeof(shown), b->args[i].name);
			return err_set(b->err, ERR_NOT_A_PARAM, shown, b->proc->name);
		}
		assert(to < b->proc->nparams); /* there are no more arguments than parameters: check_count */
		if (b->origin[to] >= 0 && twice < 0)
			twice = to;
		b->origin[to] = (int)i;
	}
	if (twice >= 0)
		return err_set(b->err, ERR_PARAM_TWICE, b->proc->params[twice].name);
	return 0;
}

static bool is_given(const struct binding *b, int param)
{
	return b->origin[param] >= 0 && !b->args[b->origin[param]].is_default;
}

static int check_missing(struct binding *b)
{
	for (int i = 0; i < b->proc->nparams; i++) {
		if (!is_given(b, i) && !b->proc->params[i].has_default)
			return err_set(b->err, ERR_MISSING_PARAM, b->proc->name, b->proc->params[i].name);
	}
	return 0;
}

static int check_outputs(struct binding *b)
{
	for (int i = 0; i < b->proc->nparams; i++) {
		bool wanted = b->origin[i] >= 0 && b->args[b->origin[i]].is_output;

		if (wanted && !b->proc->params[i].output)
			return err_set(b->err, ERR_NOT_OUTPUT, b->proc->params[i].name);
		b->call->wanted[i] = wanted;
	}
	return 0;
}

/* What is passed into an OUTPUT parameter is ignored altogether, not even converted
 * (clarification 3). */
static int convert_all(struct binding *b)
{
	for (int i = 0; i < b->proc->nparams; i++) {
		const struct param *p = &b->proc->params[i];
		const struct type as = { p->type.id, p->type.precision, p->type.scale,
					 p->any_length ? TYPE_MAX : p->type.length };
		struct value *v = &b->call->values[i];

		value_set_null(v, p->type);
		if (p->output)
			continue; /* invariant 3 */
		if (!is_given(b, i)) {
			if (!p->default_is_null)
				*v = value_int((enum type_id)p->type.id, p->default_int);
			continue;
		}
		if (value_convert(&b->args[b->origin[i]].value, &as, CONVERT_ARGUMENT, p->name,
				  b->call->arena, v, b->err) < 0) {
			if (b->err != NULL && b->err->number == ERR_CONVERT_ARG_NUMBER)
				b->err->state = b->from_rpc ? 1 : 5;
			return -1;
		}
		assert(v->type.id == p->type.id); /* invariant 2 */
	}
	return 0;
}

static int check_nulls(struct binding *b)
{
	for (int i = 0; i < b->proc->nparams; i++) {
		const struct param *p = &b->proc->params[i];

		if (p->null_rule == NULL_ERROR && !p->output && b->call->values[i].null)
			return err_set(b->err, ERR_NULL_VALUE, b->proc->name, p->name);
	}
	return 0;
}

static int check_ranges(struct binding *b)
{
	for (int i = 0; i < b->proc->nparams; i++) {
		const struct param *p = &b->proc->params[i];
		const struct value *v = &b->call->values[i];

		if (p->range_error != 0 && !v->null && (v->u.i < p->min || v->u.i > p->max))
			return err_raise(b->err, p->range_error,
					 p->range_severity == 0 ? 16 : p->range_severity, 1, "%s",
					 p->range_text);
	}
	return 0;
}

static int allocate(struct binding *b)
{
	struct call *c = b->call;
	size_t n = (size_t)b->proc->nparams + b->proc->nlocals;

	c->values = arena_array(c->arena, n + 1, sizeof(*c->values)); /* + 1: never an array of nothing */
	c->wanted = arena_array(c->arena, n + 1, sizeof(*c->wanted));
	b->origin = arena_array(c->arena, n + 1, sizeof(*b->origin));
	if (c->values == NULL || c->wanted == NULL || b->origin == NULL)
		return err_nomem(b->err);
	c->nvalues = n;
	for (size_t i = 0; i < n; i++)
		b->origin[i] = -1;
	for (size_t i = 0; i < b->proc->nlocals; i++)
		value_set_null(&c->values[b->proc->nparams + i], b->proc->locals[i].type);
	return 0;
}

int catalogue_admit(struct call *call, const struct argument *args, size_t nargs, bool from_rpc,
		    int **ret_origin, struct err *reterr)
{
	static int (*const gates[])(struct binding * b) = {
		check_rights,  check_count, allocate,    match_arguments, check_missing,
		check_outputs, convert_all, check_nulls, check_ranges,
	};
	struct binding b = { call, call->proc, args, nargs, from_rpc, NULL, reterr };

	assert(call->kind == CALL_PROC && call->proc != NULL && call->arena != NULL);
	for (size_t i = 0; i < ARRAY_LEN(gates); i++) {
		int rc = gates[i](&b);
		if (rc < 0)
			return refuse(&b, rc);
	}
	assert(call->nvalues == (size_t)call->proc->nparams + call->proc->nlocals);
	if (ret_origin != NULL)
		*ret_origin = b.origin;
	return 0;
}
