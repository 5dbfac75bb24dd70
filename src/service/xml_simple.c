/* xml_simple.c — simple types of attributes: xs:long, xs:int, xs:short by XML Schema's rules,
 * and the specifications' guid pattern with ASCII digits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/xml_int.h"
#include "value/guid.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct str collapse(struct str s)
{
	while (s.n > 0 && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* An optional sign and digits, any number of leading zeros. */
static bool parse_integer(struct str s, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	size_t i = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;
	int64_t v = 0;

	if (i == s.n)
		return false;
	for (; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s.p[i] - '0', &v))
			return false;
	}
	/* Built downwards, so that the smallest value fits. */
	if (!negative && __builtin_sub_overflow((int64_t)0, v, &v))
		return false;
	if (v < min || v > max)
		return false;
	*ret = v;
	return true;
}

static bool integer_value(struct str text, enum type_id id, int64_t min, int64_t max, struct value *ret)
{
	int64_t v;

	if (!parse_integer(collapse(text), min, max, &v))
		return false;
	*ret = value_int(id, v);
	return true;
}

/* 8-4-4-4-12 hexadecimal digits, nothing around them: xs:string keeps white space. */
static bool guid_value(struct str s, struct value *ret)
{
	if (s.n != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		bool hex = (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f') ||
			   (s.p[i] >= 'A' && s.p[i] <= 'F');
		if (dash ? s.p[i] != '-' : !hex)
			return false;
	}
	value_set_null(ret, TYPE_OF(TYPE_GUID));
	ret->null = false;
	return guid_parse(s, ret->u.guid);
}

static bool string_value(struct str s, struct arena *a, struct value *ret, bool *ret_nomem)
{
	char *copy = arena_strndup(a, s.p, s.n);

	*ret_nomem = copy == NULL;
	*ret = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), (struct str){ copy, s.n });
	return copy != NULL;
}

bool service_xml_simple_value(enum xml_type type, struct str text, struct arena *a, struct value *ret,
			      bool *ret_nomem)
{
	*ret_nomem = false;
	switch (type) {
	case XML_SHORT: return integer_value(text, TYPE_SMALLINT, INT16_MIN, INT16_MAX, ret);
	case XML_INT: return integer_value(text, TYPE_INT, INT32_MIN, INT32_MAX, ret);
	case XML_LONG: return integer_value(text, TYPE_BIGINT, INT64_MIN, INT64_MAX, ret);
	case XML_GUID: return guid_value(text, ret);
	default: return string_value(text, a, ret, ret_nomem);
	}
}
