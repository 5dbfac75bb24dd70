/* check.c — nodes of the checked tree, and constants as they meet columns. */
#include "query/check.h"

#include <assert.h>

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
	assert(n->kind == NODE_VALUE); /* only a constant is made anew */
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
	if (n->kind != NODE_VALUE || want == NULL)
		return 0;
	if (v.null) {
		/* which PostgreSQL must know of NULL, too */
		value_set_null(&v, want->id == TYPE_NULL ? v.type : *want);
		return with_value(c, n, &v, ret);
	}
	if (!meeting_type(&v.type, want, &to))
		return 0;
	if (value_convert(&v, &to, type_info(to.id)->is_binary ? CONVERT_CAST : CONVERT_ASSIGN, NULL,
			  c->ev->arena, &v, c->ev->err) < 0)
		return query_fail(c, c->line);
	return with_value(c, n, &v, ret);
}

bool query_is_float(const struct type *t)
{
	return t->id == TYPE_FLOAT || t->id == TYPE_REAL;
}

static bool is_decimal(const struct type *t)
{
	return t->id == TYPE_DECIMAL || t->id == TYPE_NUMERIC;
}

/* Text and numbers lie in a column as they are: the database converts them as the evaluator
 * would. Dates and GUIDs are not for it. */
bool query_can_cast(const struct query_node *n, const struct type *to)
{
	const struct type_info *info = type_info(to->id);
	bool from = query_is_text(n) || query_is_whole(n) || query_is_float(&n->type) || is_decimal(&n->type);

	return from && (info->is_text || info->is_integer || to->id == TYPE_BIT || query_is_float(to));
}

/* Values of one family lie in the database in the same way. */
static uint8_t family(const struct type *t)
{
	if (type_info(t->id)->is_text || t->id == TYPE_XML)
		return TYPE_NVARCHAR;
	if (query_is_number(t))
		return TYPE_FLOAT;
	return type_info(t->id)->is_binary ? TYPE_VARBINARY : t->id;
}

bool query_types_meet(const struct type *a, const struct type *b)
{
	return a->id == TYPE_VARIANT || b->id == TYPE_VARIANT || a->id == TYPE_NULL || b->id == TYPE_NULL ||
	       family(a) == family(b);
}

int query_settle(struct query_check *c, const struct query_node *n, const struct type *type,
		 const struct query_node **ret)
{
	struct query_node *cast;

	if (query_meet(c, n, type, ret) < 0)
		return -1;
	n = *ret;
	if (n->kind == NODE_VALUE || query_types_meet(&n->type, type))
		return 0;
	if (!query_can_cast(n, type))
		return query_refuse(c, c->line, "CASE, ISNULL or UNION of columns whose types do not meet");
	cast = query_node_new(c, NODE_CAST, 1);
	if (cast == NULL)
		return -1;
	cast->args[0] = n;
	cast->type = *type;
	cast->order = type_info(type->id)->is_text ? n->order : ORDER_PLAIN;
	*ret = cast;
	return 0;
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
