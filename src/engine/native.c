/* native.c — steps that are C functions of a service: what they are given, and where what they
 * give goes. One that only looks at its arguments runs before the call is submitted, where it
 * holds nobody up. */
#include <assert.h>

#include "engine/implement.h"

/* Arguments and the function itself. */
static int prepare(struct engine_native *n, const struct engine_database *db, struct call *c,
		   const struct step *s, native_fn *ret, struct err *reterr)
{
	const struct catalogue_native *native = catalogue_native_find(db->natives, s->native);
	struct value *args = arena_array(c->arena, s->nargs, sizeof(*args));

	if (args == NULL)
		return err_nomem(reterr);
	for (unsigned i = 0; i < s->nargs; i++) {
		if (engine_value(db, c, &s->args[i], NULL, 0, &args[i], reterr) < 0)
			return -1;
	}
	if (native == NULL)
		return err_set(reterr, ERR_NOT_SUPPORTED, s->native,
			       "The server was built without this function.");
	n->step = s;
	n->ctx = (struct native_ctx){
		.call = c, .args = args, .nargs = s->nargs, .meter = n->meter, .userdata = native->userdata
	};
	*ret = native->fn;
	return 0;
}

static int make_results(struct engine_native *n, struct err *reterr)
{
	const struct step *s = n->step;
	struct call *c = n->ctx.call;

	n->ctx.results = arena_array(c->arena, s->ntargets, sizeof(struct value));
	if (n->ctx.results == NULL)
		return err_nomem(reterr);
	n->ctx.nresults = s->ntargets;
	for (unsigned i = 0; i < s->ntargets; i++) {
		assert(engine_value_type(c->proc, s->targets[i]) != NULL);
		value_set_null(&n->ctx.results[i], *engine_value_type(c->proc, s->targets[i]));
	}
	return 0;
}

int engine_native_run(struct engine_native *n, const struct engine_database *db, struct call *c,
		      const struct step *s, struct err *reterr)
{
	native_fn fn;

	assert(s->native != NULL && n->meter != NULL);
	if (prepare(n, db, c, s, &fn, reterr) < 0)
		return -1;
	n->ctx.each = n->each;
	if (n->each == NULL && make_results(n, reterr) < 0)
		return -1;
	if (fn(&n->ctx, reterr) != 0)
		return -1;
	for (unsigned i = 0; i < n->ctx.nresults; i++) {
		if (value_copy(&n->ctx.results[i], c->arena, &c->values[s->targets[i]], reterr) < 0)
			return -1;
	}
	return 0;
}

/* ---- before the call is submitted ---- */

bool engine_has_ahead(const struct engine_database *db, const struct proc *p)
{
	const struct catalogue_native *native;

	if (p->nsteps == 0 || p->steps[0].kind != STEP_NATIVE)
		return false;
	native = catalogue_native_find(db->natives, p->steps[0].native);
	return native != NULL && native->ahead;
}

int engine_run_ahead(struct engine_database *db, struct call *c, struct meter *m)
{
	struct engine_native n = { .meter = m };
	native_fn fn;

	assert(engine_has_ahead(db, c->proc) && c->scratch == NULL && c->proc->steps[0].ntargets == 0);
	if (prepare(&n, db, c, &c->proc->steps[0], &fn, &c->err) == 0 && fn(&n.ctx, &c->err) == 0)
		return 0;
	engine_call_fail(c, &c->err);
	return -1;
}
