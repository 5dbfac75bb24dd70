/* json.c — writing JSON. Numbers that a browser would round are written as texts. */
#include "http/json.h"

#include <inttypes.h>

#include "value/convert.h"
#include "value/datetime.h"

#define EXACT (INT64_C(1) << 53)

void http_json_string(struct buf *b, struct str s)
{
	buf_put_u8(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\')
			buf_put_u8(b, '\\');
		if (c < 0x20 || c == 0x7f)
			buf_printf(b, "\\u%04x", c);
		else
			buf_put_u8(b, c);
	}
	buf_put_u8(b, '"');
}

static void put_text(struct buf *b, const struct value *v)
{
	struct arena a;
	struct value text;
	const struct type to = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	struct str s;

	arena_init(&a, (size_t)4 << 20);
	if (v->type.id == TYPE_DATETIME && value_convert_style(v, &to, 126, &a, &text, NULL) == 0)
		http_json_string(b, text.u.s);
	else if (value_to_text(v, &a, &s, NULL) == 0)
		http_json_string(b, s);
	else
		buf_printf(b, "null");
	arena_fini(&a);
}

static void put_value(struct buf *b, const struct value *v)
{
	bool whole = v->type.id == TYPE_BIT || v->type.id == TYPE_TINYINT || v->type.id == TYPE_SMALLINT ||
		     v->type.id == TYPE_INT || v->type.id == TYPE_BIGINT;

	if (v->null)
		buf_printf(b, "null");
	else if (whole && v->u.i < EXACT && v->u.i > -EXACT)
		buf_printf(b, "%" PRId64, v->u.i);
	else
		put_text(b, v);
}

static void put_set(struct buf *b, const struct local_set *s)
{
	buf_printf(b, "{\"columns\":[");
	for (size_t i = 0; i < s->ncolumns; i++) {
		if (i > 0)
			buf_put_u8(b, ',');
		http_json_string(b, str_of(s->columns[i].name));
	}
	buf_printf(b, "],\"rows\":[");
	for (const struct engine_row *row = s->rows.first; row != NULL; row = row->next) {
		buf_put_u8(b, row == s->rows.first ? '[' : ',');
		if (row != s->rows.first)
			buf_put_u8(b, '[');
		for (size_t i = 0; i < s->ncolumns; i++) {
			if (i > 0)
				buf_put_u8(b, ',');
			put_value(b, &row->values[i]);
		}
		buf_put_u8(b, ']');
	}
	buf_printf(b, "]}");
}

void http_json_answer(struct buf *b, const struct local_answer *a)
{
	buf_printf(b, "{\"status\":%d,\"sets\":[", a->status);
	for (const struct local_set *s = a->sets; s != NULL; s = s->next) {
		if (s != a->sets)
			buf_put_u8(b, ',');
		put_set(b, s);
	}
	buf_printf(b, "],\"messages\":[");
	for (const struct local_message *m = a->messages; m != NULL; m = m->next) {
		if (m != a->messages)
			buf_put_u8(b, ',');
		http_json_string(b, str_of(m->err.text));
	}
	buf_printf(b, "]}");
}

void http_json_error(struct buf *b, const char *text)
{
	buf_printf(b, "{\"error\":");
	http_json_string(b, str_of(text));
	buf_put_u8(b, '}');
}
