/* convert_time.c — whatever becomes a date or a time. Everything is first read as a moment on
 * the value's own clock (an offset kept beside it), and then written into the target with its
 * precision and range. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "value/value_int.h"

#define SMALL_LAST_DAY 65535 /* 2079-06-06, days since 1900 */
#define MINUTE_TICKS (60 * TICKS_PER_SECOND)

static bool is_old(enum type_id id)
{
	return id == TYPE_DATETIME || id == TYPE_SMALLDATETIME;
}

/* 1/300 s within a day ↔ 100 ns, to the nearest: exact there and back. */
static int64_t moment_tick(int64_t ticks)
{
	return (ticks * 100000 + 1) / 3;
}
static int64_t datetime_tick(int64_t tick)
{
	return (tick * 3 + 50000) / 100000;
}

static void moment_from_datetime(int64_t ticks, struct moment *ret)
{
	int64_t day = datetime_day(ticks);

	*ret = (struct moment){ (int32_t)day + DAY_1900, moment_tick(ticks - day * TICKS_PER_DAY), 0 };
}

/* CONVERT's style says how 1/2/2003 is meant. */
static enum date_order order_of_style(int style)
{
	switch (style) {
	case 3:
	case 4:
	case 5:
	case 103:
	case 104:
	case 105: return DATE_DMY;
	case 2:
	case 11:
	case 102:
	case 111: return DATE_YMD;
	default: return DATE_MDY;
	}
}

/* datetime takes three fractional digits and no time zone but UTC; the newer types seven, and
 * those without an offset drop it. */
static int read_text(struct conv *c, struct moment *ret)
{
	struct civil civil;
	bool has_offset;
	int digits;

	if (!datetime_parse_order(c->v->u.s, order_of_style(c->style), &civil, &digits, &has_offset))
		return conv_fail(c, FAULT_SYNTAX);
	if (digits > (is_old(c->to->id) ? 3 : 7) || (is_old(c->to->id) && civil.offset != 0))
		return conv_fail(c, FAULT_SYNTAX);
	return moment_from_civil(&civil, ret) ? 0 : conv_fail(c, FAULT_SYNTAX);
}

/* Days since 1900. */
static int read_number(struct conv *c, const struct number *n, struct moment *ret)
{
	double days = n->approximate ? n->f : decimal_to_double(&n->dec, n->scale);
	int64_t ticks;

	if (!(days >= -53690.0 && days < 2958464.0))
		return conv_fail(c, FAULT_RANGE);
	ticks = (int64_t)llround(days * (double)TICKS_PER_DAY);
	if (ticks > DATETIME_MAX)
		return conv_fail(c, FAULT_RANGE);
	moment_from_datetime(ticks, ret);
	return 0;
}

static uint64_t little_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n > 0)
		v = v << 8 | p[--n];
	return v;
}

/* datetime and smalldatetime: days and ticks (or minutes), big-endian halves, as their
 * conversion to binary makes them. */
static int read_old_binary(struct conv *c, struct moment *ret)
{
	bool small = c->to->id == TYPE_SMALLDATETIME;
	size_t size = small ? 4 : 8, n = c->v->u.s.n;
	const uint8_t *p = (const uint8_t *)c->v->u.s.p;
	uint64_t bits = 0, rest;
	int64_t day;

	for (size_t k = n > size ? n - size : 0; k < n; k++)
		bits = bits << 8 | p[k];
	day = small ? (int64_t)(bits >> 16) : (int64_t)(int32_t)(bits >> 32);
	rest = small ? (bits & 0xFFFF) * (uint64_t)MINUTE_TICKS : (uint64_t)(uint32_t)bits;
	if (day < -53690 || day > 2958463 || rest >= (uint64_t)TICKS_PER_DAY)
		return conv_fail(c, FAULT_RANGE);
	moment_from_datetime(day * TICKS_PER_DAY + (int64_t)rest, ret);
	return 0;
}

/* date: 3 bytes. The others: scale, time, date, offset in UTC, little-endian, as far as the type
 * has them. */
static int read_new_binary(struct conv *c, struct moment *ret)
{
	const uint8_t *p = (const uint8_t *)c->v->u.s.p;
	size_t n = c->v->u.s.n, time_bytes;
	struct type t = *c->to;
	uint64_t tick;

	*ret = (struct moment){ .day = DAY_1900 };
	if (t.id == TYPE_DATE) {
		if (n != 3)
			return conv_fail(c, FAULT_SYNTAX);
		ret->day = (int32_t)little_endian(p, 3);
		return ret->day <= DAY_LAST ? 0 : conv_fail(c, FAULT_RANGE);
	}
	if (n < 1 || p[0] > 7)
		return conv_fail(c, FAULT_SYNTAX);
	t.scale = p[0];
	if (n != 1 + (size_t)type_max_bytes(&t))
		return conv_fail(c, FAULT_SYNTAX);
	time_bytes = t.scale <= 2 ? 3 : t.scale <= 4 ? 4 : 5;
	tick = little_endian(p + 1, time_bytes);
	for (int i = t.scale; i < 7; i++)
		tick *= 10;
	if (tick >= (uint64_t)MOMENT_DAY)
		return conv_fail(c, FAULT_RANGE);
	ret->tick = (int64_t)tick;
	if (t.id != TYPE_TIME)
		ret->day = (int32_t)little_endian(p + 1 + time_bytes, 3);
	if (t.id == TYPE_DATETIMEOFFSET)
		ret->offset = (int16_t)little_endian(p + 4 + time_bytes, 2);
	if (ret->day > DAY_LAST || ret->offset < -840 || ret->offset > 840 || !moment_shift(ret, ret->offset))
		return conv_fail(c, FAULT_RANGE);
	return 0;
}

static int read_source(struct conv *c, struct moment *ret)
{
	const struct type_info *info = type_info(c->v->type.id);
	struct number n;

	if (info->is_text)
		return read_text(c, ret);
	if (info->is_binary)
		return is_old(c->to->id) ? read_old_binary(c, ret) : read_new_binary(c, ret);
	if (number_of(c->v, &n))
		return read_number(c, &n, ret);
	if (is_old(c->v->type.id)) {
		moment_from_datetime(c->v->u.i, ret);
		return 0;
	}
	*ret = c->v->u.moment;
	if (c->v->type.id == TYPE_TIME)
		ret->day = DAY_1900;
	if (c->v->type.id == TYPE_DATE)
		ret->tick = 0;
	if (c->v->type.id != TYPE_DATETIMEOFFSET)
		ret->offset = 0;
	return moment_shift(ret, ret->offset) ? 0 : conv_fail(c, FAULT_RANGE);
}

static int write_old(struct conv *c, const struct moment *m)
{
	int64_t ticks = (int64_t)(m->day - DAY_1900) * TICKS_PER_DAY + datetime_tick(m->tick);

	if (ticks < DATETIME_MIN || ticks > DATETIME_MAX)
		return conv_fail(c, FAULT_RANGE);
	if (c->to->id == TYPE_SMALLDATETIME) {
		if (ticks < 0)
			return conv_fail(c, FAULT_RANGE);
		ticks = (ticks + MINUTE_TICKS / 2) / MINUTE_TICKS * MINUTE_TICKS;
		if (ticks / TICKS_PER_DAY > SMALL_LAST_DAY)
			return conv_fail(c, FAULT_RANGE);
	}
	c->out.u.i = ticks;
	return 0;
}

static int64_t round_to_scale(int64_t tick, int scale)
{
	int64_t unit = 1;

	for (int i = scale; i < 7; i++)
		unit *= 10;
	return (tick + unit / 2) / unit * unit;
}

static int write_new(struct conv *c, struct moment m)
{
	if (c->to->id == TYPE_DATE) {
		c->out.u.moment = (struct moment){ .day = m.day };
		return 0;
	}
	m.tick = round_to_scale(m.tick, c->to->scale);
	if (c->to->id == TYPE_TIME) {
		c->out.u.moment = (struct moment){ .tick = m.tick % MOMENT_DAY };
		return 0;
	}
	if (m.tick == MOMENT_DAY) {
		m.tick = 0;
		m.day++;
	}
	if (m.day > DAY_LAST)
		return conv_fail(c, FAULT_RANGE);
	if (c->to->id == TYPE_DATETIMEOFFSET) {
		if (!moment_shift(&m, -m.offset))
			return conv_fail(c, FAULT_RANGE);
	} else {
		m.offset = 0;
	}
	c->out.u.moment = m;
	return 0;
}

int conv_to_time(struct conv *c)
{
	struct moment m = { 0 };

	if (c->v->type.id == c->to->id && c->to->id == TYPE_DATETIME) {
		c->out.u.i = c->v->u.i;
		return 0;
	}
	if (read_source(c, &m) < 0)
		return -1;
	return is_old(c->to->id) ? write_old(c, &m) : write_new(c, m);
}
