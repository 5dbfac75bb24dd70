/* type_time.c — the six date types, both ways. What lies outside the calendar is refused at the
 * door: no later code sees such a value. */
#include "tds/tds_int.h"
#include "value/datetime.h"

#define TICKS_A_DAY (INT64_C(86400) * 300) /* datetime */
#define TICKS_A_MINUTE (INT64_C(60) * 300)
#define DAY_TICKS7 (INT64_C(864000000000)) /* 100 ns in a day */
#define MINUTE_TICKS7 (INT64_C(600000000))
#define DAYS_MAX 3652059 /* 9999-12-31 is one less */
#define OFFSET_MAX 840

static const int64_t ticks_of_scale[8] = { 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1 };

static uint64_t le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

int tds_read_datetime(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		      struct value *ret)
{
	bool small = w->type.id == TYPE_SMALLDATETIME;
	struct value v = { .type = w->type };
	int64_t day, part;

	if (tds_left(&b) != (small ? 4 : 8))
		return tds_read_bad_length(r);
	day = small ? (int64_t)le(b.pos, 2) : (int32_t)le(b.pos, 4);
	part = small ? (int64_t)le(b.pos + 2, 2) * TICKS_A_MINUTE : (int64_t)le(b.pos + 4, 4);
	v.u.i = day * TICKS_A_DAY + part;
	if (part >= TICKS_A_DAY || v.u.i < DATETIME_MIN || v.u.i > DATETIME_MAX)
		return tds_read_bad_value(r, w->type.id);
	*ret = v;
	return 0;
}

uint8_t tds_time_size(uint8_t scale)
{
	return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static bool moment_valid(const struct moment *m)
{
	int64_t local;

	/* each part first: only then can the sum not overflow */
	if (m->tick < 0 || m->tick >= DAY_TICKS7 || m->day < 0 || m->day >= DAYS_MAX ||
	    m->offset < -OFFSET_MAX || m->offset > OFFSET_MAX)
		return false;
	local = m->day * DAY_TICKS7 + m->tick + m->offset * MINUTE_TICKS7;
	return local >= 0 && local < DAYS_MAX * DAY_TICKS7;
}

/* [time] [date] [offset], as the type has them. */
int tds_read_moment(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	enum type_id id = w->type.id;
	size_t ntime = id == TYPE_DATE ? 0 : tds_time_size(w->type.scale);
	size_t ndate = id == TYPE_TIME ? 0 : 3, noffset = id == TYPE_DATETIMEOFFSET ? 2 : 0;
	struct value v = { .type = w->type };

	if (tds_left(&b) != ntime + ndate + noffset)
		return tds_read_bad_length(r);
	/* at most 2⁴⁰ units of at most 10⁷ ticks: no overflow */
	v.u.moment.tick = ntime == 0 ? 0 : (int64_t)le(b.pos, ntime) * ticks_of_scale[w->type.scale];
	v.u.moment.day = (int32_t)le(b.pos + ntime, ndate);
	v.u.moment.offset = (int16_t)le(b.pos + ntime + ndate, noffset);
	if (!moment_valid(&v.u.moment))
		return tds_read_bad_value(r, id);
	*ret = v;
	return 0;
}

static size_t encode_datetime(int64_t ticks, bool small, uint8_t *dst)
{
	int64_t day = ticks / TICKS_A_DAY, part = ticks % TICKS_A_DAY;

	if (part < 0) {
		day--;
		part += TICKS_A_DAY;
	}
	if (small) {
		if (day < 0 || day > UINT16_MAX)
			return 0;
		tds_encode_le(dst, (uint64_t)day, 2);
		return 2 + tds_encode_le(dst + 2, (uint64_t)(part / TICKS_A_MINUTE), 2);
	}
	if (day < INT32_MIN || day > INT32_MAX)
		return 0;
	tds_encode_le(dst, (uint64_t)day, 4);
	return 4 + tds_encode_le(dst + 4, (uint64_t)part, 4);
}

static size_t encode_moment(const struct type *t, const struct moment *m, uint8_t *dst)
{
	size_t n = 0;

	if (t->scale > 7 || !moment_valid(m))
		return 0;
	if (t->id != TYPE_DATE)
		n += tds_encode_le(dst, (uint64_t)(m->tick / ticks_of_scale[t->scale]),
				   tds_time_size(t->scale));
	if (t->id != TYPE_TIME)
		n += tds_encode_le(dst + n, (uint64_t)m->day, 3);
	if (t->id == TYPE_DATETIMEOFFSET)
		n += tds_encode_le(dst + n, (uint16_t)m->offset, 2);
	return n;
}

size_t tds_encode_time(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX])
{
	if (t->id == TYPE_DATETIME || t->id == TYPE_SMALLDATETIME)
		return encode_datetime(v->u.i, t->id == TYPE_SMALLDATETIME, dst);
	return encode_moment(t, &v->u.moment, dst);
}
