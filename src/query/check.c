/* check.c — nodes of the checked tree, and constants as they meet columns. */
#include "query/check.h"

#include "value/convert.h"

struct query_node *query_node_new(struct query_check *c, enum query_node_kind kind, size_t nargs)
{
	struct query_node *n = arena_alloc(c->ev->arena, sizeof(*n));

	if (n != NULL && nargs > 0)
		n->args = arena_array(c->ev->arena, nargs, sizeof(const struct query_node *));
	if (n == NULL || (nargs > 0 && n->args == NULL)) {
		err_nomem(c->ev->err);
		return NULL;
	}
	n->kind = (uint8_t)kind;
	n->nargs = nargs;
	n->nullable = true;
	return n;
}

int query_fail(struct query_check *c, int line)
{
	if (c->ev->err != NULL && c->ev->err->line == 0)
		c->ev->err->line = line;
	return -1;
}

int query_refuse(struct query_check *c, int line, const char *what)
{
	(void)err_set(c->ev->err, ERR_NOT_SUPPORTED, what, "Read the columns and compute it in the client.");
	return query_fail(c, line);
}

bool query_is_number(const struct type *t)
{
	const struct type_info *info = type_info(t->id);

	return info->is_integer || info->is_exact || t->id == TYPE_BIT || t->id == TYPE_REAL ||
	       t->id == TYPE_FLOAT;
}

bool query_is_whole(const struct query_node *n)
{
	return type_info(n->type.id)->is_integer || n->type.id == TYPE_BIT;
}

/* Which type the constant needs to meet values of another; false: as it is. */
static bool meeting_type(const struct type *constant, const struct type *want, struct type *ret)
{
	const struct type_info *info = type_info(want->id);

	if (info->is_text) {
		*ret = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
		return !query_is_number(constant);
	}
	if (query_is_number(want) && query_is_number(constant)) {
		*ret = TYPE_OF(TYPE_FLOAT);
		return constant->id == TYPE_DECIMAL || constant->id == TYPE_NUMERIC ||
		       constant->id == TYPE_MONEY || constant->id == TYPE_SMALLMONEY;
	}
	*ret = *want;
	if (info->is_binary)
		*ret = TYPE_LEN(TYPE_VARBINARY, TYPE_MAX);
	if (want->id == TYPE_DECIMAL || want->id == TYPE_NUMERIC)
		*ret = TYPE_OF(TYPE_FLOAT);
	return want->id != TYPE_NULL;
}

static int with_value(struct query_check *c, const struct query_node *n, const struct value *v,
		      const struct query_node **ret)
{
	struct query_node *made = query_node_new(c, NODE_VALUE, 0);

	if (made == NULL)
		return -1;
	made->type = n->type;
	made->nullable = n->nullable;
	made->order = n->order;
	made->value = *v;
	made->computed = n->computed;
	*ret = made;
	return 0;
}

int query_suggest(struct query_check *c, const struct query_node *n, const struct type *want,
		  enum suggestion how)
{
	if (n->kind != NODE_VALUE || n->computed == NULL)
		return 0;
	return tsql_suggest_value(c->ev, n->computed, want, how) < 0 ? query_fail(c, c->line) : 0;
}

int query_meet(struct query_check *c, const struct query_node *n, const struct type *want,
	       const struct query_node **ret)
{
	struct value v = n->value;
	struct type to;

	*ret = n;
	if (want != NULL && query_suggest(c, n, want, SUGGEST_WIDE) < 0)
		return -1;
	if (n->kind != NODE_VALUE || want == NULL || v.null || !meeting_type(&v.type, want, &to))
		return 0;
	if (value_convert(&v, &to, type_info(to.id)->is_binary ? CONVERT_CAST : CONVERT_ASSIGN, NULL,
			  c->ev->arena, &v, c->ev->err) < 0)
		return query_fail(c, c->line);
	return with_value(c, n, &v, ret);
}

int query_as_text(struct query_check *c, const struct query_node *n, const struct query_node **ret)
{
	const struct type text_type = TYPE_LEN(TYPE_NVARCHAR, 4000);
	struct value v = n->value;
	struct str text;

	*ret = n;
	if (query_suggest(c, n, &text_type, SUGGEST_SAME) < 0)
		return -1;
	if (n->kind != NODE_VALUE || v.null)
		return 0;
	if (value_to_text(&v, c->ev->arena, &text, c->ev->err) < 0)
		return query_fail(c, c->line);
	v = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), text);
	return with_value(c, n, &v, ret);
}
