/* fn_system.c — functions that choose among their arguments, and those that read the session. */
#include "tsql/eval/functions.h"

#include <string.h>

#include "tsql/set_options.h"
#include "value/guid.h"

static int chosen(const struct fn_args *f, const struct expr *e, struct value *ret)
{
	return f->expr->type.id == TYPE_NULL ? tsql_eval_value(f->ev, e, ret)
					     : tsql_eval_as(f->ev, e, &f->expr->type, ret);
}

int tsql_fn_coalesce(const struct fn_args *f, struct value *ret)
{
	for (size_t i = 0; i < f->n; i++) {
		if (chosen(f, f->expr->args[i], ret) < 0)
			return -1;
		if (!ret->null)
			return 0;
	}
	value_set_null(ret, f->expr->type);
	return 0;
}

int tsql_fn_isnull(const struct fn_args *f, struct value *ret)
{
	return tsql_fn_coalesce(f, ret);
}

int tsql_fn_nullif(const struct fn_args *f, struct value *ret)
{
	struct value other;
	int cmp;

	if (tsql_eval_value(f->ev, f->expr->args[0], ret) < 0 ||
	    tsql_eval_value(f->ev, f->expr->args[1], &other) < 0)
		return -1;
	if (ret->null || other.null)
		return 0;
	if (tsql_eval_spend(f->ev, tsql_eval_size(ret) + tsql_eval_size(&other)) < 0 ||
	    value_compare(ret, &other, f->ev->arena, &cmp, f->ev->err) < 0)
		return -1;
	if (cmp == 0)
		value_set_null(ret, f->expr->type);
	return 0;
}

int tsql_fn_iif(const struct fn_args *f, struct value *ret)
{
	enum tri t;

	if (tsql_eval_condition(f->ev, f->expr->args[0], &t) < 0)
		return -1;
	return chosen(f, f->expr->args[t == TRI_TRUE ? 1 : 2], ret);
}

int tsql_fn_choose(const struct fn_args *f, struct value *ret)
{
	struct type t = TYPE_OF(TYPE_INT);
	struct value index;

	if (tsql_eval_as(f->ev, f->expr->args[0], &t, &index) < 0)
		return -1;
	if (index.null || index.u.i < 1 || index.u.i >= (int64_t)f->n) {
		value_set_null(ret, f->expr->type);
		return 0;
	}
	return chosen(f, f->expr->args[index.u.i], ret);
}

int tsql_fn_newid(const struct fn_args *f, struct value *ret)
{
	*ret = (struct value){ .type = f->expr->type };
	guid_random(ret->u.guid);
	return 0;
}

int tsql_fn_null(const struct fn_args *f, struct value *ret)
{
	value_set_null(ret, f->expr->type);
	return 0;
}

int tsql_fn_xact_state(const struct fn_args *f, struct value *ret)
{
	*ret = value_int(TYPE_SMALLINT, f->ev->host->vars->trancount > 0);
	return 0;
}

int tsql_fn_context_info(const struct fn_args *f, struct value *ret)
{
	const struct tsql_session *s = f->ev->host->vars;

	*ret = s->has_context ? value_bytes(f->fn->type, s->context, sizeof(s->context))
			      : value_null(f->fn->type);
	return 0;
}

/* SQL_VARIANT_PROPERTY(value, property) */
int tsql_fn_variant_property(const struct fn_args *f, struct value *ret)
{
	const struct value *v = f->v[0].type.id == TYPE_VARIANT ? f->v[0].u.variant : &f->v[0];
	const struct type_info *info = type_info(v->type.id);
	struct value *inner = arena_alloc(f->ev->arena, sizeof(*inner));
	struct str name;

	value_set_null(ret, f->expr->type);
	if (inner == NULL)
		return err_nomem(f->ev->err);
	if (tsql_fn_text(f, 1, &name) < 0)
		return -1;
	if (str_eq_nocase(name, STR("BaseType")))
		*inner = value_nvarchar(info->name);
	else if (str_eq_nocase(name, STR("Precision")))
		*inner = value_int(TYPE_INT, v->type.precision);
	else if (str_eq_nocase(name, STR("Scale")))
		*inner = value_int(TYPE_INT, v->type.scale);
	else if (str_eq_nocase(name, STR("MaxLength")))
		*inner = value_int(TYPE_INT, type_max_bytes(&v->type));
	else if (str_eq_nocase(name, STR("Collation")) && info->is_text)
		*inner = value_nvarchar("SQL_Latin1_General_CP1_CI_AS");
	else
		return 0;
	*ret = (struct value){ .type = f->expr->type, .u.variant = inner };
	return 0;
}

static int64_t number_of(const struct tsql_session *s, const char *name)
{
	if (strcmp(name, "@@ERROR") == 0)
		return s->error;
	if (strcmp(name, "@@ROWCOUNT") == 0)
		return s->rowcount > INT32_MAX ? INT32_MAX : s->rowcount;
	if (strcmp(name, "@@TRANCOUNT") == 0)
		return s->trancount;
	if (strcmp(name, "@@DATEFIRST") == 0)
		return s->datefirst;
	if (strcmp(name, "@@TEXTSIZE") == 0)
		return s->textsize;
	if (strcmp(name, "@@LOCK_TIMEOUT") == 0)
		return s->lock_timeout_ms;
	if (strcmp(name, "@@OPTIONS") == 0)
		return tsql_session_options(s);
	if (strcmp(name, "@@MAX_PRECISION") == 0)
		return 38;
	if (strcmp(name, "@@FETCH_STATUS") == 0)
		return -1; /* no cursor was ever read */
	if (strcmp(name, "@@TIMETICKS") == 0)
		return 31250;
	return 0;
}

int tsql_fn_session_value(const struct fn_args *f, struct value *ret)
{
	static const uint8_t zero[8];
	struct tsql_session *s = f->ev->host->vars;
	const struct type *t = &f->fn->type;

	if (t->id == TYPE_NVARCHAR && strcmp(f->fn->name, "@@LANGUAGE") == 0)
		*ret = value_text(*t, str_of(s->language));
	else if (t->id == TYPE_VARBINARY)
		*ret = value_bytes(*t, zero, sizeof(zero));
	else if (!f->fn->never_null)
		value_set_null(ret, *t);
	else
		*ret = value_int(t->id, number_of(s, f->fn->name));
	return 0;
}
