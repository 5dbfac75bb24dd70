/* source.c — of which of a view's rows a session is told: those of its database, those of its
 * login, and those that the session makes itself. */
#include "query/check.h"

bool query_is_administrator(struct query_check *c)
{
	const struct value role = value_nvarchar("sysadmin");
	struct value v;

	return c->host->ops->value != NULL &&
	       c->host->ops->value(c->host, "IS_SRVROLEMEMBER", &role, 1, c->ev->arena, &v, NULL) > 0 &&
	       !v.null && v.u.i == 1;
}

struct value query_login(struct query_check *c)
{
	struct value v;

	if (c->host->ops->value == NULL ||
	    c->host->ops->value(c->host, "SUSER_SNAME", NULL, 0, c->ev->arena, &v, NULL) <= 0)
		value_set_null(&v, TYPE_LEN(TYPE_NVARCHAR, 128));
	return v;
}

int query_view_rows(struct query_check *c, const struct view *v, struct query_source *src)
{
	if (v->per_login) {
		src->every_login = query_is_administrator(c);
		src->login = query_login(c);
	}
	if (v->rows == NULL)
		return 0;
	src->rows = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), STR("[]"));
	if (c->host->ops->rows == NULL)
		return 0;
	return c->host->ops->rows(c->host, v->rows, c->ev->arena, &src->rows.u.s, c->ev->err);
}
