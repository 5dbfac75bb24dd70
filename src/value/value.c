/* value.c — making and copying values. */
#include "value/value.h"

#include <assert.h>
#include <string.h>

#include "base/utf.h"

struct value value_int(enum type_id id, int64_t i)
{
	struct value v = value_null(TYPE_OF(id));

	v.null = false;
	v.u.i = i;
	return v;
}

struct value value_text(struct type t, struct str s)
{
	struct value v = value_null(t);

	v.null = false;
	v.u.s = s.p == NULL ? STR("") : s;
	return v;
}

struct value value_bytes(struct type t, const void *p, size_t n)
{
	return value_text(t, (struct str){ p, n });
}

/* The declared length of a literal: at least 1, (max) beyond what the type can declare. */
static struct type literal_type(enum type_id id, size_t n, size_t most)
{
	return TYPE_LEN(id, n == 0 ? 1 : n > most ? TYPE_MAX : (int32_t)n);
}

struct value value_nvarchar(const char *s)
{
	struct str text = str_of(s);

	return value_text(literal_type(TYPE_NVARCHAR, utf16_units(text.p, text.n), 4000), text);
}

struct value value_varchar(const char *s)
{
	struct str text = str_of(s);

	return value_text(literal_type(TYPE_VARCHAR, text.n, 8000), text);
}

static int variant_copy(const struct value *v, struct arena *a, struct value *ret, struct err *reterr)
{
	struct value *inner = arena_alloc(a, sizeof(*inner));

	if (inner == NULL)
		return err_nomem(reterr);
	assert(v->u.variant != NULL);
	*inner = *v->u.variant;
	if (inner->type.id == TYPE_VARIANT) /* a variant holds no variant: nothing deeper to copy */
		inner->null = true;
	if (value_copy(inner, a, inner, reterr) < 0)
		return -1;
	*ret = *v;
	ret->u.variant = inner;
	return 0;
}

int value_copy(const struct value *v, struct arena *a, struct value *ret, struct err *reterr)
{
	const struct type_info *info = type_info(v->type.id);
	char *p;

	if (!v->null && v->type.id == TYPE_VARIANT)
		return variant_copy(v, a, ret, reterr);
	if (ret != v)
		*ret = *v;
	if (v->null || (!info->is_text && !info->is_binary && v->type.id != TYPE_XML))
		return 0;
	p = arena_strndup(a, v->u.s.p, v->u.s.n);
	if (p == NULL)
		return err_nomem(reterr);
	ret->u.s.p = p;
	return 0;
}
