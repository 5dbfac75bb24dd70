/* value.c — arguments and answers of the functions in this folder. */
#include "metadata/metadata_int.h"

#include <assert.h>
#include <string.h>

#include "value/convert.h"

static bool is_given(const struct metadata_call *c, size_t i)
{
	return i < c->nargs && !c->args[i].null;
}

int metadata_arg_text(const struct metadata_call *c, size_t i, struct str *ret)
{
	if (!is_given(c, i))
		return 0;
	return value_to_text(&c->args[i], c->arena, ret, c->err) < 0 ? -1 : 1;
}

int metadata_arg_int(const struct metadata_call *c, size_t i, int64_t *ret)
{
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value v;

	if (!is_given(c, i))
		return 0;
	if (value_convert(&c->args[i], &bigint, CONVERT_CAST, NULL, c->arena, &v, c->err) < 0)
		return -1;
	*ret = v.u.i;
	return 1;
}

int metadata_arg_bytes(const struct metadata_call *c, size_t i, struct str *ret)
{
	const struct type bytes = TYPE_LEN(TYPE_VARBINARY, 85);
	struct value v;

	if (!is_given(c, i))
		return 0;
	if (value_convert(&c->args[i], &bytes, CONVERT_CAST, NULL, c->arena, &v, c->err) < 0)
		return -1;
	*ret = v.u.s;
	return 1;
}

int metadata_null(const struct metadata_call *c)
{
	value_set_null(c->ret, TYPE_OF(TYPE_INT));
	return 1;
}

int metadata_int(const struct metadata_call *c, int64_t i)
{
	*c->ret = value_int(TYPE_INT, i);
	return 1;
}

int metadata_name(const struct metadata_call *c, const char *name)
{
	char *copy = arena_strndup(c->arena, name, strlen(name));

	if (copy == NULL)
		return err_nomem(c->err);
	*c->ret = value_text(TYPE_LEN(TYPE_NVARCHAR, 128), str_of(copy));
	return 1;
}

int metadata_variant(const struct metadata_call *c, struct value inner)
{
	struct value *box = arena_alloc(c->arena, sizeof(*box));

	if (box == NULL)
		return err_nomem(c->err);
	assert(inner.type.id != TYPE_VARIANT); /* a variant holds no variant */
	*box = inner;
	*c->ret = (struct value){ .type = TYPE_OF(TYPE_VARIANT), .u.variant = box };
	return 1;
}
