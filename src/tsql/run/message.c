/* message.c — PRINT, RAISERROR and THROW. */
#include "tsql/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value/convert.h"

enum flow tsql_run_print(struct tsql_run *r, const struct insn *in)
{
	struct value v;
	struct str s = { " ", 1 }; /* what T-SQL prints for NULL */

	if (tsql_eval_value(&r->state->ev, in->expr, &v) < 0 ||
	    (!v.null && value_to_text(&v, &r->state->scratch, &s, &r->err) < 0))
		return tsql_run_error(r, in, CMD_FAILED);
	r->err = (struct err){ .state = 1, .line = in->line };
	str_copy(r->err.text, sizeof(r->err.text), s);
	if (call_sink_message(r->host->sink, &r->err) < 0)
		return tsql_run_gone(r);
	tsql_run_done(r, CMD_PRINT, false, 0);
	return FLOW_NEXT;
}

struct format {
	struct tsql_run *r;
	const struct raise *raise;
	size_t next_arg;
	char *dst;
	size_t n, size;
};

static void put(struct format *f, struct str s)
{
	size_t left = f->size - 1 - f->n, n = s.n < left ? s.n : left;

	if (n > 0)
		memcpy(f->dst + f->n, s.p, n);
	f->n += n;
	f->dst[f->n] = '\0';
}

/* 1: there is a value, 0: none or NULL. */
static int argument(struct format *f, struct value *ret)
{
	if (f->next_arg >= f->raise->nargs)
		return 0;
	if (tsql_eval_value(&f->r->state->ev, f->raise->args[f->next_arg++], ret) < 0)
		return -1;
	return ret->null ? 0 : 1;
}

static int mismatch(struct format *f)
{
	return err_raise(&f->r->err, 2786, 16, 1,
			 "The data type of substitution parameter %zu does not match the expected type of "
			 "the format specification.",
			 f->next_arg);
}

/* A width or precision: digits, or * for an argument. -1 in *ret: none. */
static int width(struct format *f, const char **p, const char *end, int *ret)
{
	struct value v;
	int rc, n = 0;

	*ret = -1;
	if (*p < end && **p == '*') {
		(*p)++;
		rc = argument(f, &v);
		if (rc < 0 || (rc > 0 && !type_info(v.type.id)->is_integer))
			return rc < 0 ? -1 : mismatch(f);
		*ret = rc > 0 && v.u.i >= 0 && v.u.i < 400 ? (int)v.u.i : 0;
		return 0;
	}
	while (*p < end && **p >= '0' && **p <= '9') {
		n = n < 400 ? n * 10 + (**p - '0') : 400;
		*ret = n > 400 ? 400 : n;
		(*p)++;
	}
	return 0;
}

static void put_text(struct format *f, struct str s, bool left, int wide, int most)
{
	if (most >= 0 && s.n > (size_t)most)
		s.n = (size_t)most;
	for (int i = (int)s.n; !left && i < wide; i++)
		put(f, STR(" "));
	put(f, s);
	for (int i = (int)s.n; left && i < wide; i++)
		put(f, STR(" "));
}

static void put_number(struct format *f, char type, const struct value *v, const char *flags, int wide,
		       int digits)
{
	char text[900], fmt[24];
	long long n = v->u.i;
	int len;

	if (v->type.id != TYPE_BIGINT && type != 'd')
		n = (long long)(uint32_t)n;
	snprintf(fmt, sizeof(fmt), "%%%s*.*ll%c", flags, type);
	if (digits < 0) {
		snprintf(fmt, sizeof(fmt), "%%%s*ll%c", flags, type);
		len = snprintf(text, sizeof(text), fmt, wide < 0 ? 0 : wide, n);
	} else {
		len = snprintf(text, sizeof(text), fmt, wide < 0 ? 0 : wide, digits, n);
	}
	put(f, (struct str){ text, len < 0                      ? 0
				   : (size_t)len < sizeof(text) ? (size_t)len
								: sizeof(text) - 1 });
}

/* One %… from after the percent sign; *p moves behind it. */
static int directive(struct format *f, const char **p, const char *end)
{
	char flags[8] = "", type;
	size_t nflags = 0;
	int wide, digits = -1, rc;
	struct value v;
	struct str s = STR("(null)");

	for (; *p < end && strchr("-+0# ", **p) != NULL && **p != '\0'; (*p)++) {
		if (nflags < 5 && strchr(flags, **p) == NULL) {
			flags[nflags++] = **p;
			flags[nflags] = '\0';
		}
	}
	if (width(f, p, end, &wide) < 0)
		return -1;
	if (*p < end && **p == '.') {
		(*p)++;
		if (width(f, p, end, &digits) < 0)
			return -1;
		digits = digits < 0 ? 0 : digits;
	}
	if (end - *p >= 3 && memcmp(*p, "I64", 3) == 0)
		*p += 3;
	while (*p < end && (**p == 'h' || **p == 'l'))
		(*p)++;
	type = *p < end ? *(*p)++ : '\0';
	if (type == '\0' || strchr("dioxXus", type) == NULL)
		return err_raise(&f->r->err, 2787, 16, 1, "Invalid format specification: '%%%c'.",
				 type == '\0' ? ' ' : type);
	rc = argument(f, &v);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		put_text(f, s, strchr(flags, '-') != NULL, wide, -1);
		return 0;
	}
	if (type == 's') {
		if (!type_info(v.type.id)->is_text)
			return mismatch(f);
		put_text(f, v.u.s, strchr(flags, '-') != NULL, wide, digits);
		return 0;
	}
	if (!type_info(v.type.id)->is_integer)
		return mismatch(f);
	put_number(f, type == 'i' ? 'd' : type, &v, flags, wide, digits);
	return 0;
}

static int format(struct format *f, struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	while (p < end) {
		const char *percent = memchr(p, '%', (size_t)(end - p));
		const char *stop = percent == NULL ? end : percent;

		put(f, (struct str){ p, (size_t)(stop - p) });
		p = stop;
		if (percent == NULL)
			break;
		p++;
		if (p < end && *p == '%') {
			put(f, STR("%"));
			p++;
		} else if (directive(f, &p, end) < 0) {
			return -1;
		}
	}
	return 0;
}

static int number(struct tsql_run *r, const struct expr *e, int64_t fallback, int64_t *ret)
{
	struct type t = TYPE_OF(TYPE_INT);
	struct value v;

	if (tsql_eval_as(&r->state->ev, e, &t, &v) < 0)
		return -1;
	*ret = v.null ? fallback : v.u.i;
	return 0;
}

static int raised(struct tsql_run *r, const struct raise *raise, struct err *e)
{
	struct format f = { .r = r, .raise = raise, .dst = e->text, .size = sizeof(e->text) };
	int64_t severity, state;
	struct value v;
	struct str text = { "", 0 };

	if (tsql_eval_value(&r->state->ev, raise->message, &v) < 0 ||
	    number(r, raise->severity, 0, &severity) < 0 || number(r, raise->state, 1, &state) < 0)
		return -1;
	if (severity > 18)
		return err_raise(&r->err, 2754, 16, 1,
				 "Error severity levels greater than 18 can only be specified by members of "
				 "the sysadmin role, using the WITH LOG option.");
	if (!v.null && type_info(v.type.id)->is_integer)
		return err_raise(&r->err, 18054, 16, 1,
				 "Error %lld, severity %lld, state %lld was raised, but no message with that "
				 "error number was found in sys.messages.",
				 (long long)v.u.i, (long long)severity, (long long)state);
	if (!v.null && (tsql_eval_spend(&r->state->ev, tsql_eval_size(&v)) < 0 ||
			value_to_text(&v, &r->state->scratch, &text, &r->err) < 0))
		return -1;
	e->number = 50000;
	e->severity = (uint8_t)(severity < 0 ? 0 : severity);
	e->state = (uint8_t)(state < 0 || state > 255 ? 1 : state);
	return format(&f, text);
}

static void cut_at_character(char *text)
{
	size_t n = strlen(text), i = n;

	while (i > 0 && ((unsigned char)text[i - 1] & 0xC0) == 0x80)
		i--;
	if (i > 0 && (unsigned char)text[i - 1] >= 0xC0) {
		size_t need = (unsigned char)text[i - 1] >= 0xF0   ? 4
			      : (unsigned char)text[i - 1] >= 0xE0 ? 3
								   : 2;

		if (n - (i - 1) < need)
			text[i - 1] = '\0';
	}
}

enum flow tsql_run_raiserror(struct tsql_run *r, const struct insn *in)
{
	struct err e = { .line = in->line };

	if (raised(r, in->u.raise, &e) < 0)
		return tsql_run_error(r, in, CMD_RAISERROR);
	cut_at_character(e.text);
	r->err = e;
	if (call_sink_message(r->host->sink, &e) < 0)
		return tsql_run_gone(r);
	tsql_run_done(r, CMD_NONE, false, 0);
	if (err_is_error(&e) || in->u.raise->set_error)
		r->host->vars->error = e.number;
	r->host->ops->statement_done(r->host, CMD_RAISERROR, false, 0, err_is_error(&e));
	return FLOW_NEXT;
}

enum flow tsql_run_throw(struct tsql_run *r, const struct insn *in)
{
	const struct raise *raise = in->u.raise;
	int64_t n, state;
	struct str text = { "", 0 };
	struct value v;

	if (number(r, raise->args[0], 0, &n) < 0 || tsql_eval_value(&r->state->ev, raise->args[1], &v) < 0 ||
	    number(r, raise->args[2], 1, &state) < 0 ||
	    (!v.null && value_to_text(&v, &r->state->scratch, &text, &r->err) < 0))
		return tsql_run_error(r, in, CMD_FAILED);
	if (n < 50000) {
		err_raise(&r->err, 35100, 16, 10,
			  "Error number %lld in the THROW statement is outside the valid range. Specify an "
			  "error number in the valid range of 50000 to 2147483647.",
			  (long long)n);
	} else {
		r->err = (struct err){ .number = (int32_t)n,
				       .severity = 16,
				       .state = (uint8_t)(state < 0 || state > 255 ? 1 : state),
				       .line = in->line };
		str_copy(r->err.text, sizeof(r->err.text), text);
	}
	tsql_run_error(r, in, CMD_FAILED);
	return tsql_run_stop(r, TSQL_FAILED);
}
