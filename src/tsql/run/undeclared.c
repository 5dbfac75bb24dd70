/* undeclared.c — the parameters that a text uses and nobody declared, with the types that their
 * places suggest: for sp_describe_undeclared_parameters. Nothing is run; expressions are looked at
 * by eval/suggest.c, SELECTs over views are checked as for running. */
#include "tsql/run/run.h"

#include "query/query.h"

struct looking {
	const struct tsql_program *program;
	struct tsql_host *host;
	struct eval ev;
};

static const struct type long_text = TYPE_LEN(TYPE_NVARCHAR, 4000);
static const struct type whole = TYPE_OF(TYPE_INT);

static struct tsql_undeclared *entry_of(const struct looking *l, int var)
{
	struct tsql_undeclared *u = var < 0 ? NULL : &l->ev.undeclared[var];

	return u != NULL && u->name.n > 0 ? u : NULL;
}

/* The variable gets a value of this type. */
static void is_set(const struct looking *l, int var, const struct type *type)
{
	struct tsql_undeclared *u = entry_of(l, var);

	if (u == NULL)
		return;
	u->type = *type;
	u->input = false;
	u->output = true;
}

/* var = expr */
static int assigned(struct looking *l, int var, const struct expr *e)
{
	is_set(l, var, &e->type);
	return tsql_suggest_value(&l->ev, e, &l->program->vars[var].type, SUGGEST_SAME);
}

static int scalar_select(struct looking *l, const struct select *s)
{
	const struct type rows = TYPE_OF(TYPE_BIGINT);

	for (size_t i = 0; i < s->nitems; i++) {
		const struct select_item *it = &s->items[i];

		if (it->var >= 0 ? assigned(l, it->var, it->expr) < 0
				 : tsql_suggest_value(&l->ev, it->expr, NULL, SUGGEST_WIDE) < 0)
			return -1;
	}
	if (s->top != NULL && tsql_suggest_value(&l->ev, s->top, &rows, SUGGEST_SAME) < 0)
		return -1;
	return s->where != NULL ? tsql_suggest_condition(&l->ev, s->where) : 0;
}

static int query_select_found(struct looking *l, const struct select *s)
{
	const struct column *columns;
	size_t n;

	if (query_describe(&l->ev, s, &columns, &n) < 0)
		return -1;
	for (size_t i = 0; s->assigns && i < s->nitems && i < n; i++)
		is_set(l, s->items[i].var, &columns[i].type);
	return 0;
}

static const struct param *formal_of(const struct proc *p, const struct exec_arg *arg, size_t position)
{
	if (arg->name.n == 0)
		return position < p->nparams ? &p->params[position] : NULL;
	for (size_t i = 0; i < p->nparams; i++) {
		if (str_eq_nocase(arg->name, str_of(p->params[i].name)))
			return &p->params[i];
	}
	return NULL;
}

static int find_proc(struct looking *l, const struct exec_call *c, const struct proc **ret)
{
	struct tsql_database db = { .service = SERVICE_SYSTEM };
	struct proc_name name;
	char shown[129];

	*ret = NULL;
	if (c->name.n == 0)
		return 0;
	if (catalogue_name_parse(c->name, l->ev.arena, &name, l->ev.err) < 0 ||
	    (l->host->ops->database != NULL &&
	     l->host->ops->database(l->host, name.database, &db, l->ev.err) < 0))
		return -1;
	*ret = catalogue_find(db.service, name.schema, name.name);
	/* sp_executesql and its kin are in no catalogue: what they take is not known here */
	if (*ret != NULL || (name.name.n > 3 && str_eq_nocase((struct str){ name.name.p, 3 }, STR("sp_"))))
		return 0;
	str_copy(shown, sizeof(shown), c->name);
	return err_set(l->ev.err, ERR_NO_PROC, shown);
}

static int exec(struct looking *l, const struct exec_call *c)
{
	const struct proc *p;

	is_set(l, c->status_var, &whole);
	if (find_proc(l, c, &p) < 0)
		return -1;
	for (size_t i = 0; p != NULL && i < c->nargs; i++) {
		const struct exec_arg *arg = &c->args[i];
		const struct param *formal = formal_of(p, arg, i);
		struct tsql_undeclared *u = arg->expr != NULL && arg->expr->kind == E_VARIABLE
						    ? entry_of(l, arg->expr->var)
						    : NULL;

		if (u == NULL || formal == NULL)
			continue;
		u->type = formal->type;
		u->formal = formal->name;
		u->output = formal->output && arg->output;
	}
	return 0;
}

static int raised(struct looking *l, const struct raise *r)
{
	if (r->message != NULL && tsql_suggest_value(&l->ev, r->message, &long_text, SUGGEST_SAME) < 0)
		return -1;
	if (r->severity != NULL && tsql_suggest_value(&l->ev, r->severity, &whole, SUGGEST_SAME) < 0)
		return -1;
	return r->state != NULL ? tsql_suggest_value(&l->ev, r->state, &whole, SUGGEST_SAME) : 0;
}

static int look_at(struct looking *l, const struct insn *in)
{
	switch (in->op) {
	case I_ASSIGN: return assigned(l, in->var, in->expr);
	case I_SELECT: return scalar_select(l, in->u.select);
	case I_QUERY:
	case I_SUBQUERY: return query_select_found(l, in->u.select);
	case I_EXEC: return exec(l, in->u.exec);
	case I_EXEC_TEXT: return tsql_suggest_value(&l->ev, in->u.exec->expr, &long_text, SUGGEST_SAME);
	case I_IF: return in->expr == NULL ? 0 : tsql_suggest_condition(&l->ev, in->expr);
	case I_PRINT: return tsql_suggest_value(&l->ev, in->expr, &long_text, SUGGEST_SAME);
	case I_RETURN:
		return in->expr == NULL ? 0 : tsql_suggest_value(&l->ev, in->expr, &whole, SUGGEST_SAME);
	case I_RAISERROR: return raised(l, in->u.raise);
	default: return 0;
	}
}

/* Every variable is NULL, of its type; of those that nobody declared, a place for what is found. */
static int begin(struct looking *l, struct arena *a)
{
	const struct tsql_program *p = l->program;
	struct slot *slots = arena_array(a, p->nvars, sizeof(*slots));

	l->ev.undeclared = arena_array(a, p->nvars, sizeof(*l->ev.undeclared));
	if (slots == NULL || l->ev.undeclared == NULL)
		return err_nomem(l->ev.err);
	for (size_t i = 0; i < p->nvars; i++) {
		value_set_null(&slots[i].value, p->vars[i].type);
		if (p->vars[i].undeclared)
			l->ev.undeclared[i] = (struct tsql_undeclared){ .name = p->vars[i].name,
									.type = TYPE_OF(TYPE_NULL),
									.input = true };
	}
	l->ev.slots = slots;
	return 0;
}

static int not_deduced(struct looking *l, const struct tsql_undeclared *u)
{
	char name[129];

	str_copy(name, sizeof(name), u->name);
	return err_set(l->ev.err, ERR_NOT_DEDUCED, name);
}

int tsql_undeclared(const struct tsql_program *p, struct tsql_host *h, struct meter *meter, struct arena *a,
		    const struct tsql_undeclared **ret, size_t *ret_n, struct err *reterr)
{
	struct looking l = { .program = p,
			     .host = h,
			     .ev = { .host = h, .arena = a, .meter = meter, .err = reterr } };
	size_t n = 0;

	if (begin(&l, a) < 0)
		return -1;
	for (size_t i = 0; i < p->ninsns; i++) {
		if (look_at(&l, &p->insns[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->nvars; i++) {
		if (!p->vars[i].undeclared)
			continue;
		if (l.ev.undeclared[i].type.id == TYPE_NULL)
			return not_deduced(&l, &l.ev.undeclared[i]);
		l.ev.undeclared[n++] = l.ev.undeclared[i];
	}
	*ret = l.ev.undeclared;
	*ret_n = n;
	return 0;
}
