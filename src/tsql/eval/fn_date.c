/* fn_date.c — functions of dates. Every argument becomes a day and 100 ns since midnight; the
 * result goes back to its own type. Clocks are UTC. */
#include "tsql/eval/functions.h"

#include <stdio.h>

#include "tsql/eval/dateparts.h"
#include "value/convert.h"
#include "value/datetime.h"

#define TICKS_A_DAY INT64_C(864000000000) /* of 100 ns */
#define DAY_1970 719162
#define LAST_DAY 3652058 /* 9999-12-31 */

static const struct {
	const char *name;
	uint8_t part;
} names[] = {
	{ "year", PART_YEAR },
	{ "yy", PART_YEAR },
	{ "yyyy", PART_YEAR },
	{ "quarter", PART_QUARTER },
	{ "qq", PART_QUARTER },
	{ "q", PART_QUARTER },
	{ "month", PART_MONTH },
	{ "mm", PART_MONTH },
	{ "m", PART_MONTH },
	{ "dayofyear", PART_DAYOFYEAR },
	{ "dy", PART_DAYOFYEAR },
	{ "y", PART_DAYOFYEAR },
	{ "day", PART_DAY },
	{ "dd", PART_DAY },
	{ "d", PART_DAY },
	{ "week", PART_WEEK },
	{ "wk", PART_WEEK },
	{ "ww", PART_WEEK },
	{ "iso_week", PART_ISO_WEEK },
	{ "isowk", PART_ISO_WEEK },
	{ "isoww", PART_ISO_WEEK },
	{ "weekday", PART_WEEKDAY },
	{ "dw", PART_WEEKDAY },
	{ "w", PART_WEEKDAY },
	{ "hour", PART_HOUR },
	{ "hh", PART_HOUR },
	{ "minute", PART_MINUTE },
	{ "mi", PART_MINUTE },
	{ "n", PART_MINUTE },
	{ "second", PART_SECOND },
	{ "ss", PART_SECOND },
	{ "s", PART_SECOND },
	{ "millisecond", PART_MILLISECOND },
	{ "ms", PART_MILLISECOND },
	{ "microsecond", PART_MICROSECOND },
	{ "mcs", PART_MICROSECOND },
	{ "nanosecond", PART_NANOSECOND },
	{ "ns", PART_NANOSECOND },
	{ "tzoffset", PART_TZOFFSET },
	{ "tz", PART_TZOFFSET },
};

bool tsql_datepart_by_name(struct str name, enum datepart *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq_nocase(name, str_of(names[i].name))) {
			*ret = names[i].part;
			return true;
		}
	}
	return false;
}

const char *tsql_datepart_name(enum datepart part)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (names[i].part == part)
			return names[i].name;
	}
	return "";
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The argument as day and time of day, in its own offset. */
static int as_moment(const struct fn_args *f, size_t i, struct moment *ret)
{
	struct type t = TYPE_NUM(TYPE_DATETIME2, 0, 7), dt = TYPE_OF(TYPE_DATETIME);
	struct value v = f->v[i];

	if (v.type.id == TYPE_VARIANT && !v.null)
		v = *v.u.variant;
	/* numbers are days since 1900: datetime's rule */
	if (!type_info(v.type.id)->is_text && !type_info(v.type.id)->is_time &&
	    value_convert(&v, &dt, CONVERT_ASSIGN, NULL, f->ev->arena, &v, f->ev->err) < 0)
		return -1;
	if (v.type.id == TYPE_DATETIMEOFFSET) {
		int64_t local;

		*ret = v.u.moment;
		local = ret->tick + (int64_t)ret->offset * 600000000;
		ret->day += (int32_t)floor_div(local, TICKS_A_DAY);
		ret->tick = local - floor_div(local, TICKS_A_DAY) * TICKS_A_DAY;
		return 0;
	}
	if (v.type.id == TYPE_DATETIME || v.type.id == TYPE_SMALLDATETIME) {
		int64_t day = floor_div(v.u.i, 86400 * 300);

		ret->day = (int32_t)(day + DAY_1900);
		ret->tick = ((v.u.i - day * 86400 * 300) * 100000 + 1) / 3;
		ret->offset = 0;
		return 0;
	}
	if (value_convert(&v, &t, CONVERT_ASSIGN, NULL, f->ev->arena, &v, f->ev->err) < 0)
		return -1;
	*ret = v.u.moment;
	return 0;
}

static int added_too_much(const struct fn_args *f, const struct type *t)
{
	return err_raise(f->ev->err, 517, 16, 1, "Adding a value to a '%s' column caused an overflow.",
			 type_info(t->id)->name);
}

/* Back into the type: the value must lie in its range. */
static int from_moment(const struct fn_args *f, const struct moment *m, const struct type *t,
		       struct value *ret)
{
	*ret = (struct value){ .type = *t };
	if (m->day < 0 || m->day > LAST_DAY)
		return added_too_much(f, t);
	switch (t->id) {
	case TYPE_DATETIME:
	case TYPE_SMALLDATETIME:
		ret->u.i = ((int64_t)m->day - DAY_1900) * 86400 * 300 + (m->tick * 3 + 50000) / 100000;
		if (ret->u.i < DATETIME_MIN || ret->u.i > DATETIME_MAX)
			return added_too_much(f, t);
		return value_convert(ret, t, CONVERT_ASSIGN, NULL, f->ev->arena, ret, f->ev->err);
	case TYPE_DATETIMEOFFSET: {
		int64_t utc = m->tick - (int64_t)m->offset * 600000000;

		ret->u.moment = *m;
		ret->u.moment.day += (int32_t)floor_div(utc, TICKS_A_DAY);
		ret->u.moment.tick = utc - floor_div(utc, TICKS_A_DAY) * TICKS_A_DAY;
		return 0;
	}
	default:
		ret->u.moment = *m;
		ret->u.moment.offset = 0;
		if (t->id == TYPE_DATE)
			ret->u.moment.tick = 0;
		if (t->id == TYPE_TIME)
			ret->u.moment.day = 0;
		return 0;
	}
}

static struct moment now(const struct fn_args *f)
{
	int64_t us = f->ev->now_us, day = floor_div(us, INT64_C(86400000000));

	return (struct moment){ .day = (int32_t)(day + DAY_1970),
				.tick = (us - day * INT64_C(86400000000)) * 10 };
}

/* Rounded down to a tick, as every clock reading of the server [E-COM-05]. */
int tsql_fn_getdate(const struct fn_args *f, struct value *ret)
{
	struct moment m = now(f);

	*ret = value_int(TYPE_DATETIME, ((int64_t)m.day - DAY_1900) * 86400 * 300 + m.tick * 3 / 100000);
	return 0;
}

int tsql_fn_sysdatetime(const struct fn_args *f, struct value *ret)
{
	struct moment m = now(f);

	return from_moment(f, &m, &f->expr->type, ret);
}

static int month_length(int year, int month)
{
	return (int)(month == 12 ? 31 : day_from_civil(year, month + 1, 1) - day_from_civil(year, month, 1));
}

/* Months forward or back; the day is kept where the month has it. */
static bool add_months(struct moment *m, int64_t n)
{
	struct civil c;
	int64_t months;

	civil_from_day(m->day, &c);
	if (n > 200000 || n < -200000)
		return false;
	months = (int64_t)c.year * 12 + c.month - 1 + n;
	if (months < 12 || months >= 120000)
		return false;
	c.year = (int)(months / 12);
	c.month = (int)(months % 12) + 1;
	if (c.day > month_length(c.year, c.month))
		c.day = month_length(c.year, c.month);
	m->day = day_from_civil(c.year, c.month, c.day);
	return true;
}

static bool add_ticks(struct moment *m, int64_t n, __int128 unit)
{
	__int128 t = (__int128)m->day * TICKS_A_DAY + m->tick + n * unit;

	if (t < 0 || t / TICKS_A_DAY > LAST_DAY)
		return false;
	m->day = (int32_t)(t / TICKS_A_DAY);
	m->tick = (int64_t)(t % TICKS_A_DAY);
	return true;
}

static __int128 unit_ticks(enum datepart part)
{
	switch (part) {
	case PART_WEEK: return (__int128)7 * TICKS_A_DAY;
	case PART_DAY:
	case PART_DAYOFYEAR:
	case PART_WEEKDAY: return TICKS_A_DAY;
	case PART_HOUR: return INT64_C(36000000000);
	case PART_MINUTE: return 600000000;
	case PART_SECOND: return 10000000;
	case PART_MILLISECOND: return 10000;
	case PART_MICROSECOND: return 10;
	default: return 0;
	}
}

static int wrong_part(const struct fn_args *f, enum datepart part, const struct type *t)
{
	return err_raise(f->ev->err, 9810, 16, 1,
			 "The datepart %s is not supported by date function %s for data type %s.",
			 tsql_datepart_name(part), f->fn->name, type_info(t->id)->name);
}

int tsql_fn_dateadd(const struct fn_args *f, struct value *ret)
{
	enum datepart part = (enum datepart)f->v[0].u.i;
	const struct type *t = &f->expr->type;
	struct moment m;
	int64_t n;
	bool ok;

	if (tsql_fn_int(f, 1, &n) < 0 || as_moment(f, 2, &m) < 0)
		return -1;
	if (part == PART_TZOFFSET || part == PART_ISO_WEEK || (t->id == TYPE_DATE && part >= PART_HOUR) ||
	    (t->id == TYPE_TIME && part < PART_HOUR))
		return wrong_part(f, part, t);
	if (t->id == TYPE_TIME)
		m.day = 1000000; /* wraps around midnight: any day will do */
	if (part == PART_YEAR || part == PART_QUARTER || part == PART_MONTH) {
		if (n > INT32_MAX || n < INT32_MIN)
			return added_too_much(f, t);
		ok = add_months(&m, n * (part == PART_YEAR ? 12 : part == PART_QUARTER ? 3 : 1));
	} else if (part == PART_NANOSECOND) {
		ok = add_ticks(&m, n / 100, 1);
	} else {
		ok = add_ticks(&m, n, unit_ticks(part));
	}
	if (!ok)
		return added_too_much(f, t);
	return from_moment(f, &m, t, ret);
}

/* How many boundaries of the part lie between: T-SQL counts these, not elapsed time. */
static __int128 boundary(enum datepart part, const struct moment *m)
{
	__int128 unit = unit_ticks(part);
	struct civil c;

	if (unit == 0)
		unit = 1;
	civil_from_day(m->day, &c);
	switch (part) {
	case PART_YEAR: return c.year;
	case PART_QUARTER: return (__int128)c.year * 4 + (c.month - 1) / 3;
	case PART_MONTH: return (__int128)c.year * 12 + c.month;
	case PART_WEEK:
	case PART_ISO_WEEK: return (m->day + 1) / 7; /* day 6 was a Sunday */
	case PART_NANOSECOND: return ((__int128)m->day * TICKS_A_DAY + m->tick) * 100;
	default: return ((__int128)m->day * TICKS_A_DAY + m->tick) / unit;
	}
}

int tsql_fn_datediff(const struct fn_args *f, struct value *ret)
{
	enum datepart part = (enum datepart)f->v[0].u.i;
	bool big = f->fn->type.id == TYPE_BIGINT;
	struct moment a, b;
	__int128 n;

	if (as_moment(f, 1, &a) < 0 || as_moment(f, 2, &b) < 0)
		return -1;
	if (part == PART_TZOFFSET)
		return wrong_part(f, part, &f->v[1].type);
	n = boundary(part, &b) - boundary(part, &a);
	if (n > (big ? INT64_MAX : INT32_MAX) || n < (big ? INT64_MIN : INT32_MIN))
		return err_raise(f->ev->err, 535, 16, 0,
				 "The datediff function resulted in an overflow. The number of dateparts "
				 "separating two date/time instances is too large. Try to use datediff with "
				 "a less precise datepart.");
	*ret = value_int(f->fn->type.id, (int64_t)n);
	return 0;
}

static int iso_weekday(int32_t day)
{
	return day % 7 + 1;
} /* 0001-01-01 was a Monday */

static int weekday(const struct fn_args *f, int32_t day)
{
	int first = f->ev->host != NULL ? f->ev->host->vars->datefirst : 7;

	return (iso_weekday(day) - first + 7) % 7 + 1;
}

static int iso_week(int32_t day)
{
	struct civil c;
	int32_t thursday = day - iso_weekday(day) + 4;

	if (thursday < 0)
		return 1;
	civil_from_day(thursday, &c);
	return (thursday - day_from_civil(c.year, 1, 1)) / 7 + 1;
}

static int64_t part_of(const struct fn_args *f, enum datepart part, const struct value *v,
		       const struct moment *m)
{
	struct civil c;
	int32_t new_year;

	civil_from_day(m->day, &c);
	new_year = day_from_civil(c.year, 1, 1);
	switch (part) {
	case PART_YEAR: return c.year;
	case PART_QUARTER: return (c.month - 1) / 3 + 1;
	case PART_MONTH: return c.month;
	case PART_DAYOFYEAR: return m->day - new_year + 1;
	case PART_DAY: return c.day;
	case PART_WEEK: return (m->day - new_year + weekday(f, new_year) - 1) / 7 + 1;
	case PART_ISO_WEEK: return iso_week(m->day);
	case PART_WEEKDAY: return weekday(f, m->day);
	case PART_HOUR: return m->tick / INT64_C(36000000000);
	case PART_MINUTE: return m->tick / 600000000 % 60;
	case PART_SECOND: return m->tick / 10000000 % 60;
	case PART_MILLISECOND:
		return v->type.id == TYPE_DATETIME ? datetime_ms(v->u.i) : m->tick / 10000 % 1000;
	case PART_MICROSECOND:
		return v->type.id == TYPE_DATETIME ? datetime_ms(v->u.i) * 1000 : m->tick / 10 % 1000000;
	case PART_NANOSECOND:
		return v->type.id == TYPE_DATETIME ? (int64_t)datetime_ms(v->u.i) * 1000000
						   : m->tick % 10000000 * 100;
	default: return m->offset;
	}
}

int tsql_fn_datepart(const struct fn_args *f, struct value *ret)
{
	struct moment m;

	if (as_moment(f, 1, &m) < 0)
		return -1;
	*ret = value_int(TYPE_INT, part_of(f, (enum datepart)f->v[0].u.i, &f->v[1], &m));
	return 0;
}

int tsql_fn_datename(const struct fn_args *f, struct value *ret)
{
	static const char *const months[] = { "January",   "February", "March",    "April",
					      "May",       "June",     "July",     "August",
					      "September", "October",  "November", "December" };
	static const char *const days[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
					    "Friday", "Saturday", "Sunday" };
	enum datepart part = (enum datepart)f->v[0].u.i;
	struct moment m;
	char text[24], *copy;
	int64_t n;

	if (as_moment(f, 1, &m) < 0)
		return -1;
	n = part_of(f, part, &f->v[1], &m);
	if (part == PART_MONTH)
		return tsql_fn_return_text(f, str_of(months[n - 1]), ret);
	if (part == PART_WEEKDAY)
		return tsql_fn_return_text(f, str_of(days[iso_weekday(m.day) - 1]), ret);
	if (part == PART_TZOFFSET)
		snprintf(text, sizeof(text), "%c%02d:%02d", n < 0 ? '-' : '+', (int)(n < 0 ? -n : n) / 60,
			 (int)(n < 0 ? -n : n) % 60);
	else
		snprintf(text, sizeof(text), "%lld", (long long)n);
	copy = arena_strndup(f->ev->arena, text, sizeof(text) - 1);
	return copy == NULL ? err_nomem(f->ev->err) : tsql_fn_return_text(f, str_of(copy), ret);
}

static int only_part(const struct fn_args *f, enum datepart part, struct value *ret)
{
	struct moment m;

	if (as_moment(f, 0, &m) < 0)
		return -1;
	*ret = value_int(TYPE_INT, part_of(f, part, &f->v[0], &m));
	return 0;
}

int tsql_fn_year(const struct fn_args *f, struct value *ret)
{
	return only_part(f, PART_YEAR, ret);
}

int tsql_fn_month(const struct fn_args *f, struct value *ret)
{
	return only_part(f, PART_MONTH, ret);
}

int tsql_fn_day(const struct fn_args *f, struct value *ret)
{
	return only_part(f, PART_DAY, ret);
}

int tsql_fn_eomonth(const struct fn_args *f, struct value *ret)
{
	struct moment m;
	struct civil c;
	int64_t n = 0;

	if (as_moment(f, 0, &m) < 0 || (f->n > 1 && tsql_fn_int(f, 1, &n) < 0))
		return -1;
	if (!add_months(&m, n))
		return added_too_much(f, &f->expr->type);
	civil_from_day(m.day, &c);
	m.day = day_from_civil(c.year, c.month, month_length(c.year, c.month));
	return from_moment(f, &m, &f->expr->type, ret);
}

int tsql_fn_datefromparts(const struct fn_args *f, struct value *ret)
{
	int64_t y, mo, d;
	struct moment m = { 0 };

	if (tsql_fn_int(f, 0, &y) < 0 || tsql_fn_int(f, 1, &mo) < 0 || tsql_fn_int(f, 2, &d) < 0)
		return -1;
	if (y < 1 || y > 9999 || mo < 1 || mo > 12 || d < 1 || d > month_length((int)y, (int)mo))
		return err_raise(f->ev->err, 289, 16, 1,
				 "Cannot construct data type date, some of the arguments have values which "
				 "are not valid.");
	m.day = day_from_civil((int)y, (int)mo, (int)d);
	return from_moment(f, &m, &f->expr->type, ret);
}

int tsql_fn_isdate(const struct fn_args *f, struct value *ret)
{
	struct type t = TYPE_OF(TYPE_DATETIME);
	const struct value *v = &f->v[0];
	struct value unused;

	*ret = value_int(TYPE_INT, 0);
	if (!v->null && (type_info(v->type.id)->is_text || v->type.id == TYPE_DATETIME ||
			 v->type.id == TYPE_SMALLDATETIME))
		ret->u.i = value_convert(v, &t, CONVERT_CAST, NULL, f->ev->arena, &unused, NULL) == 0;
	return 0;
}
