/* stored.c — see stored.h. */
#include "value/stored.h"

#include <assert.h>
#include <math.h>

#include "value/datetime.h"
#include "value/decimal.h"
#include "value/guid.h"

#define TICKS_100NS_PER_DAY INT64_C(864000000000)
#define FLOAT_SAFE 9.2e18 /* a float below is an int64_t for sure */

int stored_overflow(const struct type *as, struct err *reterr)
{
	return err_set(reterr, ERR_OVERFLOW, "expression", type_info(as->id)->name);
}

int stored_unreadable(const struct type *as, struct err *reterr)
{
	return err_raise(reterr, 50010, 16, 1, "The database holds a value that is not a %s.",
			 type_info(as->id)->name);
}

int stored_integer(const struct type *as, int64_t i, struct value *ret, struct err *reterr)
{
	const struct type_info *t = type_info(as->id);

	if (as->id == TYPE_BIT)
		i = i != 0;
	else if (t->is_integer && !type_holds(as->id, i))
		return stored_overflow(as, reterr);
	else if (t->is_time && (i < DATETIME_MIN || i > DATETIME_MAX))
		return stored_unreadable(as, reterr);
	ret->u.i = i;
	return 0;
}

int stored_integer_of_float(const struct type *as, double f, struct value *ret, struct err *reterr)
{
	bool money = as->id == TYPE_MONEY || as->id == TYPE_SMALLMONEY;

	if (!(f > -FLOAT_SAFE && f < FLOAT_SAFE))
		return stored_overflow(as, reterr);
	return stored_integer(as, money ? llround(f) : (int64_t)f, ret, reterr);
}

int stored_decimal(const struct type *as, const struct decimal *d, int scale, struct value *ret,
		   struct err *reterr)
{
	if (!decimal_rescale(d, scale, as->scale, &ret->u.dec) || !decimal_fits(&ret->u.dec, as->precision))
		return stored_overflow(as, reterr);
	return 0;
}

int stored_decimal_of_float(const struct type *as, double f, struct value *ret, struct err *reterr)
{
	struct decimal d;

	if (!decimal_from_double(f, as->scale, &d))
		return stored_overflow(as, reterr);
	return stored_decimal(as, &d, as->scale, ret, reterr);
}

int stored_decimal_of_text(const struct type *as, struct str s, struct value *ret, struct err *reterr)
{
	struct decimal d;
	int precision, scale;

	if (!decimal_parse(s, &d, &precision, &scale, NULL))
		return stored_unreadable(as, reterr);
	return stored_decimal(as, &d, scale, ret, reterr);
}

int stored_moment(const struct type *as, int64_t i, struct value *ret, struct err *reterr)
{
	struct moment m = { 0 };

	assert(as->id == TYPE_DATE || as->id == TYPE_TIME || as->id == TYPE_DATETIME2);
	if (i < 0)
		return stored_unreadable(as, reterr);
	if (as->id != TYPE_DATE)
		m.tick = i % TICKS_100NS_PER_DAY;
	if (as->id != TYPE_TIME) {
		int64_t day = as->id == TYPE_DATE ? i : i / TICKS_100NS_PER_DAY;

		if (day > DAY_LAST)
			return stored_overflow(as, reterr);
		m.day = (int32_t)day;
	}
	ret->u.moment = m;
	return 0;
}

int stored_moment_of_text(const struct type *as, struct str s, struct value *ret, struct err *reterr)
{
	memset(&ret->u.moment, 0, sizeof(ret->u.moment));
	return moment_parse_sortable(s, &ret->u.moment) ? 0 : stored_unreadable(as, reterr);
}

int64_t stored_of_moment(const struct value *v)
{
	switch ((enum type_id)v->type.id) {
	case TYPE_DATE: return v->u.moment.day;
	case TYPE_TIME: return v->u.moment.tick;
	default: assert(v->type.id == TYPE_DATETIME2);
	}
	return v->u.moment.day * TICKS_100NS_PER_DAY + v->u.moment.tick;
}

int stored_guid(const struct type *as, struct str s, bool is_text, struct value *ret, struct err *reterr)
{
	if (!is_text && s.n == sizeof(ret->u.guid))
		memcpy(ret->u.guid, s.p, s.n);
	else if (!is_text || !guid_parse(s, ret->u.guid))
		return stored_unreadable(as, reterr);
	return 0;
}

struct type stored_natural_text(size_t n)
{
	return TYPE_LEN(TYPE_NVARCHAR, n > 4000 ? TYPE_MAX : 4000);
}

struct type stored_natural_bytes(size_t n)
{
	return TYPE_LEN(TYPE_VARBINARY, n > 8000 ? TYPE_MAX : 8000);
}
