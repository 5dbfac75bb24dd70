/* convert.c — the way in: which conversions exist and where (the table), which family does them,
 * and which number a failure has. */
#include "value/convert.h"

#include <assert.h>
#include <string.h>

#include "value/value_int.h"

enum family {
	F_INT,
	F_EXACT,
	F_FLOAT,
	F_TEXT,
	F_XML,
	F_BINARY,
	F_GUID,
	F_DATETIME,
	F_DATETIME2,
	F_DATE,
	F_TIME,
	F_COUNT
};

static enum family family_of(enum type_id id)
{
	const struct type_info *info = type_info(id);

	if (info->is_integer)
		return F_INT;
	if (info->is_exact)
		return F_EXACT;
	if (info->is_text)
		return F_TEXT;
	if (info->is_binary)
		return F_BINARY;
	switch (id) {
	case TYPE_XML: return F_XML;
	case TYPE_GUID: return F_GUID;
	case TYPE_DATE: return F_DATE;
	case TYPE_TIME: return F_TIME;
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return F_DATETIME2;
	case TYPE_DATETIME:
	case TYPE_SMALLDATETIME: return F_DATETIME;
	default: return F_FLOAT;
	}
}

/* i: implicit, e: only CAST and CONVERT, n: never. Rows: from, columns: to, both in the order of
 * enum family. */
static const char rules[F_COUNT][F_COUNT + 1] = {
	[F_INT] = "iiiininin"
		  "nn",
	[F_EXACT] = "iiiininin"
		    "nn",
	[F_FLOAT] = "iiiininin"
		    "nn",
	[F_TEXT] = "iiiiieiii"
		   "ii",
	[F_XML] = "nnneiennn"
		  "nn",
	[F_BINARY] = "iiniiiiie"
		     "ee",
	[F_GUID] = "nnnin"
		   "iinn"
		   "nn",
	[F_DATETIME] = "eeein"
		       "inii"
		       "ii",
	[F_DATETIME2] = "nnnin"
			"enii"
			"ii",
	[F_DATE] = "nnnin"
		   "enii"
		   "in",
	[F_TIME] = "nnnin"
		   "enii"
		   "ni",
};

const char *conv_type_name(enum type_id id)
{
	return id == TYPE_DECIMAL ? "numeric" : type_info(id)->name;
}

static int fail_call(const struct conv *c)
{
	err_set(c->err, ERR_CONVERT_ARG, conv_type_name(c->v->type.id), conv_type_name(c->to->id));
	if (c->err != NULL && c->mode == CONVERT_OUTPUT)
		c->err->state = 2;
	return -1;
}

/* The beginning of the offending text, for the message. */
static const char *shown(const struct conv *c, char *dst, size_t size)
{
	str_copy(dst, size, c->v->u.s);
	return dst;
}

static int fail_syntax(const struct conv *c)
{
	const char *from = conv_type_name(c->v->type.id), *to = conv_type_name(c->to->id);
	char text[300];

	switch ((enum type_id)c->to->id) {
	case TYPE_BIT:
	case TYPE_TINYINT:
	case TYPE_SMALLINT:
	case TYPE_INT: return err_set(c->err, ERR_CONVERT_VALUE, from, shown(c, text, sizeof(text)), to);
	case TYPE_MONEY: return err_set(c->err, ERR_CONVERT_MONEY);
	case TYPE_SMALLMONEY: return err_set(c->err, ERR_CONVERT_SMALLMONEY);
	case TYPE_GUID: return err_set(c->err, ERR_CONVERT_GUID);
	case TYPE_SMALLDATETIME: return err_set(c->err, ERR_CONVERT_SMALLDATE);
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return err_set(c->err, ERR_CONVERT_DATE);
	default: return err_set(c->err, ERR_CONVERT_ARG, from, to);
	}
}

static int fail_range_of_text(const struct conv *c)
{
	const char *from = conv_type_name(c->v->type.id), *to = conv_type_name(c->to->id);
	char text[300];

	switch ((enum type_id)c->to->id) {
	case TYPE_TINYINT:
		return err_set(c->err, ERR_OVERFLOW_TEXT_SMALL, from, shown(c, text, sizeof(text)), "INT1");
	case TYPE_SMALLINT:
		return err_set(c->err, ERR_OVERFLOW_TEXT_SMALL, from, shown(c, text, sizeof(text)), "INT2");
	case TYPE_INT: return err_set(c->err, ERR_OVERFLOW_TEXT, from, shown(c, text, sizeof(text)));
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return err_set(c->err, ERR_OVERFLOW, from, to);
	default: return err_set(c->err, ERR_OVERFLOW, "expression", to);
	}
}

static int fail_range(const struct conv *c)
{
	const struct type_info *source = type_info(c->v->type.id), *target = type_info(c->to->id);
	const char *from = conv_type_name(c->v->type.id), *to = conv_type_name(c->to->id);

	if (target->is_time && (source->is_text || source->is_time))
		return err_set(c->err, ERR_DATE_RANGE, from, to);
	if (source->is_text)
		return fail_range_of_text(c);
	if (source->is_integer && (c->to->id == TYPE_TINYINT || c->to->id == TYPE_SMALLINT))
		return err_set(c->err, ERR_OVERFLOW_SMALL, to, (long long)c->v->u.i);
	if (family_of(c->v->type.id) == F_FLOAT && target->is_integer)
		return err_set(c->err, ERR_OVERFLOW_FLOAT, to, c->v->u.f);
	if (source->has_precision || target->has_precision)
		return err_set(c->err, ERR_OVERFLOW, from, to);
	return err_set(c->err, ERR_OVERFLOW, "expression", to);
}

int conv_fail(const struct conv *c, enum conv_fault fault)
{
	if (conv_is_call(c))
		return fail_call(c);
	return fault == FAULT_SYNTAX ? fail_syntax(c) : fail_range(c);
}

int conv_too_long(const struct conv *c)
{
	char type[64];

	return err_set(c->err, ERR_TRUNCATED,
		       c->what != NULL ? c->what : type_format(c->to, type, sizeof(type)),
		       (int)c->to->length);
}

/* May this type become that one here? */
static int conv_check_rule(const struct conv *c)
{
	enum family from = family_of(c->v->type.id), to = family_of(c->to->id);
	const char *from_name = conv_type_name(c->v->type.id), *to_name = conv_type_name(c->to->id);
	char rule = rules[from][to];

	assert(rule == 'i' || rule == 'e' || rule == 'n'); /* the table is complete */
	if (rule == 'i' || (rule == 'e' && c->mode == CONVERT_CAST))
		return 0;
	if (conv_is_call(c)) {
		/* An xml argument may go where text is wanted, and bytes where xml is: clients
		 * choose freely [E-COM-15]. */
		if (rule == 'e' && (from == F_XML || to == F_XML))
			return 0;
		return fail_call(c);
	}
	if (c->mode == CONVERT_CAST)
		return err_set(c->err, ERR_EXPLICIT, from_name, to_name);
	return rule == 'e' ? err_set(c->err, ERR_IMPLICIT, from_name, to_name)
			   : err_set(c->err, ERR_TYPE_CLASH, from_name, to_name);
}

static int conv_dispatch(struct conv *c)
{
	if (conv_check_rule(c) < 0)
		return -1;
	switch (family_of(c->to->id)) {
	case F_INT:
	case F_EXACT:
	case F_FLOAT: return conv_to_number(c);
	case F_TEXT: return conv_to_text(c);
	case F_XML: return conv_to_xml(c);
	case F_BINARY: return conv_to_binary(c);
	case F_GUID: return conv_to_guid(c);
	default: return conv_to_time(c);
	}
}

/* A variant takes the value as it is; its type goes with it. */
static int conv_wrap(struct conv *c, struct value *ret)
{
	struct value *inner = arena_alloc(c->arena, sizeof(*inner));

	if (inner == NULL)
		return err_nomem(c->err);
	assert(c->v->type.id != TYPE_VARIANT); /* invariant 4 */
	*inner = *c->v;
	value_set_null(ret, *c->to);
	ret->null = false;
	ret->u.variant = inner;
	return 0;
}

static int conv_run(struct conv *c, struct value *ret)
{
	while (!c->v->null && c->v->type.id == TYPE_VARIANT)
		c->v = c->v->u.variant;
	if (c->v->null || c->v->type.id == TYPE_NULL || c->to->id == TYPE_NULL) {
		value_set_null(ret, *c->to);
		return 0;
	}
	if (c->to->id == TYPE_VARIANT)
		return conv_wrap(c, ret);
	value_set_null(&c->out, *c->to);
	c->out.null = false;
	if (conv_dispatch(c) < 0)
		return -1;
	assert(c->out.type.id == c->to->id);
	*ret = c->out;
	return 0;
}

/* The common case: the very type, one without length or digits. */
static bool is_that_already(const struct value *v, const struct type *to)
{
	return !v->null && v->type.id == to->id && type_info(to->id)->size > 0;
}

int value_convert(const struct value *v, const struct type *to, enum convert_mode mode, const char *what,
		  struct arena *a, struct value *ret, struct err *reterr)
{
	struct conv c;

	if (is_that_already(v, to)) {
		*ret = *v;
		return 0;
	}
	c = (struct conv){
		.v = v, .to = to, .mode = mode, .what = what, .style = -1, .arena = a, .err = reterr
	};
	return conv_run(&c, ret);
}

int value_convert_style(const struct value *v, const struct type *to, int style, struct arena *a,
			struct value *ret, struct err *reterr)
{
	struct conv c = { .v = v, .to = to, .mode = CONVERT_CAST, .style = style, .arena = a, .err = reterr };

	if (style < 0)
		return err_set(reterr, ERR_STYLE, style, conv_type_name(v->type.id), conv_type_name(to->id));
	return conv_run(&c, ret);
}

int value_to_text(const struct value *v, struct arena *a, struct str *ret, struct err *reterr)
{
	const struct type t = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	struct value text;

	if (value_convert(v, &t, CONVERT_CAST, NULL, a, &text, reterr) < 0)
		return -1;
	*ret = text.null ? STR("") : text.u.s;
	return 0;
}
