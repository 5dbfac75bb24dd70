/* support.h — values from short texts, for the tests of conversion, comparison and arithmetic. */
#ifndef TESTS_VALUE_SUPPORT_H
#define TESTS_VALUE_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value/compare.h"
#include "value/convert.h"

static struct arena arena;

/* "decimal(9,2)", "varchar(max)", "int" → type. */
static inline struct type type_from(const char *text)
{
	struct str name = { text, strcspn(text, "(") };
	const char *p = text + name.n;
	struct type t;

	if (!type_by_name(name, &t))
		fail_msg("no type %s", text);
	if (*p++ != '(')
		return t;
	if (strncmp(p, "max", 3) == 0) {
		t.length = TYPE_MAX;
	} else if (type_info(t.id)->has_length) {
		t.length = (int32_t)strtol(p, NULL, 10);
	} else if (type_info(t.id)->has_precision) {
		char *end;

		t.precision = (uint8_t)strtol(p, &end, 10);
		t.scale = *end == ',' ? (uint8_t)strtol(end + 1, NULL, 10) : 0;
	} else {
		t.scale = (uint8_t)strtol(p, NULL, 10);
	}
	return t;
}

static inline void assert_type_equal(const struct type *a, const struct type *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->precision, b->precision);
	assert_int_equal(a->scale, b->scale);
	assert_int_equal(a->length, b->length);
}

static inline int hex(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* A value of the type from its text; binary from hexadecimal digits; "NULL" is NULL. */
static inline struct value value_from(const char *type, const char *text)
{
	struct type t = type_from(type);
	struct value v = value_null(t), source;
	struct err e;

	if (strcmp(text, "NULL") == 0)
		return v;
	if (type_info(t.id)->is_text || t.id == TYPE_XML)
		return value_text(t, str_of(text));
	if (type_info(t.id)->is_binary) {
		size_t n = strlen(text) / 2;
		uint8_t *p = arena_alloc(&arena, n);

		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)(hex(text[2 * i]) << 4 | hex(text[2 * i + 1]));
		return value_bytes(t, p, n);
	}
	source = value_nvarchar(text);
	if (value_convert(&source, &t, CONVERT_CAST, NULL, &arena, &v, &e) < 0)
		fail_msg("'%s' as %s: %d %s", text, type, (int)e.number, e.text);
	return v;
}

/* How a test sees a value: its default text; bytes in hexadecimal; NULL. */
static inline const char *shown(const struct value *v)
{
	static char texts[4][300];
	static int turn;
	char *dst = texts[turn++ % 4];
	struct str s;
	struct err e;

	if (v->null)
		return "NULL";
	if (type_info(v->type.id)->is_binary) {
		size_t n = 0;

		for (size_t i = 0; i < v->u.s.n && n + 3 < sizeof(texts[0]); i++)
			n += (size_t)snprintf(dst + n, 3, "%02X", (uint8_t)v->u.s.p[i]);
		dst[n] = '\0';
		return dst;
	}
	if (v->type.id == TYPE_DATETIME || v->type.id == TYPE_SMALLDATETIME) {
		const struct type t = TYPE_LEN(TYPE_VARCHAR, 40);
		struct value text;

		if (value_convert_style(v, &t, 121, &arena, &text, &e) < 0)
			fail_msg("%s", e.text);
		s = text.u.s;
	} else if (value_to_text(v, &arena, &s, &e) < 0) {
		fail_msg("%s", e.text);
	}
	str_copy(dst, sizeof(texts[0]), s);
	return dst;
}

static inline int arena_begin(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 22);
	return 0;
}

static inline int arena_end(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

#endif
