/* datetime.c — calendar arithmetic. Days are counted from 0001-01-01; a year is taken to begin
 * in March, so that the leap day is its last. */
#include "value/datetime.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

static bool leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
	static const uint8_t days[13] = { 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	assert(month >= 1 && month <= 12);
	return month == 2 && leap(year) ? 29 : days[month];
}

bool civil_valid(const struct civil *c)
{
	return c->year >= 1 && c->year <= 9999 && c->month >= 1 && c->month <= 12 && c->day >= 1 &&
	       c->day <= month_days(c->year, c->month) && c->hour >= 0 && c->hour <= 23 && c->minute >= 0 &&
	       c->minute <= 59 && c->second >= 0 && c->second <= 59 && c->nanosecond >= 0 &&
	       c->nanosecond <= 999999999 && c->offset >= -14 * 60 && c->offset <= 14 * 60;
}

int32_t day_from_civil(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year;       /* March-based year */
	int m = month <= 2 ? month + 9 : month - 3; /* March is 0 */

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 307;
}

void civil_from_day(int32_t day, struct civil *ret)
{
	int32_t n = day + 306;                       /* days since 0000-03-01 */
	int32_t era = n / 146097, rest = n % 146097; /* 400 years */
	int32_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
	int32_t of_year = rest - (365 * year + year / 4 - year / 100);
	int32_t m = (5 * of_year + 2) / 153;

	*ret = (struct civil){ 0 };
	ret->day = of_year - (153 * m + 2) / 5 + 1;
	ret->month = m < 10 ? m + 3 : m - 9;
	ret->year = era * 400 + year + (ret->month <= 2);
}

bool datetime_from_civil(const struct civil *c, int64_t *ret)
{
	int64_t day, ticks;

	if (!civil_valid(c))
		return false;
	day = day_from_civil(c->year, c->month, c->day) - DAY_1900;
	ticks = day * TICKS_PER_DAY +
		((int64_t)c->hour * 3600 + c->minute * 60 + c->second) * TICKS_PER_SECOND;
	ticks += (c->nanosecond * 3 + 5000000) / 10000000; /* nearest of 1/300 s [E-COM-06] */
	if (ticks < DATETIME_MIN || ticks > DATETIME_MAX)
		return false;
	*ret = ticks;
	return true;
}

int64_t datetime_day(int64_t ticks)
{
	return ticks >= 0 ? ticks / TICKS_PER_DAY : -((-ticks + TICKS_PER_DAY - 1) / TICKS_PER_DAY);
}

void civil_from_datetime(int64_t ticks, struct civil *ret)
{
	int64_t day = datetime_day(ticks);
	int64_t rest = ticks - day * TICKS_PER_DAY;
	int second = (int)(rest / TICKS_PER_SECOND);

	civil_from_day((int32_t)day + DAY_1900, ret);
	ret->hour = second / 3600;
	ret->minute = second / 60 % 60;
	ret->second = second % 60;
	ret->nanosecond = (int64_t)datetime_ms(ticks) * 1000000;
}

int datetime_ms(int64_t ticks)
{
	int64_t part = ticks % TICKS_PER_SECOND;

	if (part < 0)
		part += TICKS_PER_SECOND;
	return (int)((part * 10 + 1) / 3);
}

void civil_from_moment(const struct moment *m, struct civil *ret)
{
	int64_t second = m->tick / MOMENT_SECOND;

	civil_from_day(m->day, ret);
	ret->hour = (int)(second / 3600);
	ret->minute = (int)(second / 60 % 60);
	ret->second = (int)(second % 60);
	ret->nanosecond = m->tick % MOMENT_SECOND * 100;
	ret->offset = m->offset;
}

bool moment_from_civil(const struct civil *c, struct moment *ret)
{
	if (!civil_valid(c))
		return false;
	ret->day = day_from_civil(c->year, c->month, c->day);
	ret->tick = ((int64_t)c->hour * 3600 + c->minute * 60 + c->second) * MOMENT_SECOND +
		    c->nanosecond / 100;
	ret->offset = (int16_t)c->offset;
	assert(ret->day >= 0 && ret->day <= DAY_LAST && ret->tick >= 0 && ret->tick < MOMENT_DAY); /* 3 */
	return true;
}

bool moment_shift(struct moment *m, int minutes)
{
	int64_t tick = m->tick + (int64_t)minutes * 60 * MOMENT_SECOND;
	int32_t day = m->day;

	if (tick < 0) {
		tick += MOMENT_DAY;
		day--;
	} else if (tick >= MOMENT_DAY) {
		tick -= MOMENT_DAY;
		day++;
	}
	if (day < 0 || day > DAY_LAST)
		return false;
	m->day = day;
	m->tick = tick;
	return true;
}

size_t moment_format_sortable(const struct moment *m, char *dst, size_t size)
{
	struct civil c;
	int n;

	civil_from_moment(m, &c);
	n = snprintf(dst, size, "%04d-%02d-%02d %02d:%02d:%02d.%07" PRId64 "Z%+04d", c.year, c.month, c.day,
		     c.hour, c.minute, c.second, m->tick % MOMENT_SECOND, m->offset);
	assert(n == MOMENT_SORTABLE && (size_t)n < size);
	return (size_t)n;
}

/* n digits at p as a number, or -1. */
static int digits(const char *p, size_t n)
{
	int i = 0;

	for (size_t k = 0; k < n; k++) {
		if (p[k] < '0' || p[k] > '9')
			return -1;
		i = i * 10 + (p[k] - '0');
	}
	return i;
}

bool moment_parse_sortable(struct str s, struct moment *ret)
{
	static const char form[] = "0000-00-00 00:00:00.0000000Z+000";
	struct civil c;
	int fraction, offset;

	if (s.n != MOMENT_SORTABLE)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (form[i] != '0' && s.p[i] != form[i] && !(form[i] == '+' && s.p[i] == '-'))
			return false;
	}
	fraction = digits(s.p + 20, 7), offset = digits(s.p + 29, 3);
	if (fraction < 0 || offset < 0)
		return false;
	c = (struct civil){ .year = digits(s.p, 4),
			    .month = digits(s.p + 5, 2),
			    .day = digits(s.p + 8, 2),
			    .hour = digits(s.p + 11, 2),
			    .minute = digits(s.p + 14, 2),
			    .second = digits(s.p + 17, 2),
			    .nanosecond = (int64_t)fraction * 100,
			    .offset = s.p[28] == '-' ? -offset : offset };
	return moment_from_civil(&c, ret); /* which refuses what is no date */
}
