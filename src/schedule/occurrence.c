/* occurrence.c — see occurrence.h. A calendar recurrence has one begin in each period (hour,
 * day, week, month, year); periods are numbered, so that the next begin is the one of the
 * present period or of the following one. */
#include "schedule/occurrence.h"

#include <assert.h>

#include "base/clock.h"
#include "value/datetime.h"

#define MINUTE (60 * TICKS_PER_SECOND)
#define HOUR (60 * MINUTE)

/* Rounded down, also before 1900. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t day_of(int64_t ticks)
{
	return floor_div(ticks, TICKS_PER_DAY);
}

static int days_in_month(int year, int month)
{
	int next_year = month == 12 ? year + 1 : year, next_month = month == 12 ? 1 : month + 1;

	return day_from_civil(next_year, next_month, 1) - day_from_civil(year, month, 1);
}

/* Weeks begin on Sunday; 1900-01-01 was a Monday. Months and years count from the year 0. */
static int64_t period_of(enum recurrence_kind kind, int64_t ticks)
{
	int64_t day = day_of(ticks);
	struct civil c;

	if (kind == HOURLY)
		return floor_div(ticks, HOUR);
	if (kind == DAILY)
		return day;
	if (kind == WEEKLY)
		return floor_div(day + 1, 7);
	civil_from_day((int32_t)(day + DAY_1900), &c);
	return kind == MONTHLY ? (int64_t)c.year * 12 + c.month - 1 : c.year;
}

/* A date beyond the end of its month is the month's last day [E-SCHED-09]. */
static int64_t day_in_month(int64_t year, int month, int date)
{
	int last = days_in_month((int)year, month);

	return (int64_t)day_from_civil((int)year, month, date < last ? date : last) - DAY_1900;
}

/* Where a point of the recurrence lies in a period. */
static int64_t point_in(enum recurrence_kind kind, const struct recurrence_point *p, int64_t period)
{
	int64_t day;

	switch (kind) {
	case HOURLY: return period * HOUR + p->minute * MINUTE;
	case WEEKLY: day = period * 7 - 1 + p->weekday; break;
	case MONTHLY: day = day_in_month(period / 12, (int)(period % 12) + 1, p->date); break;
	case YEARLY: day = day_in_month(period, p->month, p->date); break;
	default: day = period; break;
	}
	return day * TICKS_PER_DAY + p->hour * HOUR + p->minute * MINUTE + p->second * TICKS_PER_SECOND;
}

/* The first of base, base + step, base + 2 step … that is later. */
static int64_t first_after(int64_t base, int64_t step, int64_t after)
{
	assert(step > 0);
	return base > after ? base : base + (floor_div(after - base, step) + 1) * step;
}

bool schedule_recurrence_next(const struct recurrence *r, int64_t due, int64_t now, int64_t *ret)
{
	int64_t after = now > due ? now : due, next, period;

	if (after < DATETIME_MIN || after > DATETIME_MAX || due < DATETIME_MIN)
		return false;
	if (r->kind == EVERY_SECONDS) {
		next = first_after(due, r->every * TICKS_PER_SECOND, after);
	} else if (r->kind == EVERY_MINUTES) {
		next = first_after(floor_div(due, MINUTE) * MINUTE + r->from.second * TICKS_PER_SECOND,
				   r->every * MINUTE, after);
	} else {
		period = period_of(r->kind, after);
		next = point_in(r->kind, &r->from, period);
		if (next <= after)
			next = point_in(r->kind, &r->from, period + 1);
	}
	assert(next > after);
	if (next > DATETIME_MAX)
		return false;
	*ret = next;
	return true;
}

bool schedule_recurrence_is_begin(const struct recurrence *r, int64_t at)
{
	if (at < DATETIME_MIN || at > DATETIME_MAX)
		return false;
	if (r->kind == EVERY_SECONDS)
		return true;
	if (r->kind == EVERY_MINUTES)
		return at - floor_div(at, MINUTE) * MINUTE == r->from.second * TICKS_PER_SECOND;
	return point_in(r->kind, &r->from, period_of(r->kind, at)) == at;
}

/* A number that orders the points of one kind within a period, before months cut their days off. */
static int64_t rank(const struct recurrence_point *p)
{
	return ((((int64_t)p->month * 32 + p->date) * 7 + p->weekday) * 24 + p->hour) * 3600 +
	       p->minute * 60 + p->second;
}

int64_t schedule_recurrence_window_end(const struct recurrence *r, int64_t begin)
{
	int64_t end, next;

	if (r->kind == EVERY_SECONDS || !schedule_recurrence_is_begin(r, begin))
		return begin;
	if (r->kind == EVERY_MINUTES)
		return begin + (r->to.second + 60 - r->from.second) % 60 * TICKS_PER_SECOND;
	end = point_in(r->kind, &r->to, period_of(r->kind, begin) + (rank(&r->to) < rank(&r->from)));
	if (schedule_recurrence_next(r, begin, begin, &next) && end >= next)
		end = next - TICKS_PER_SECOND;
	return end > begin ? end : begin;
}

int64_t schedule_recurrence_start(const struct recurrence *r, int64_t due, uint64_t seed)
{
	int64_t seconds = (schedule_recurrence_window_end(r, due) - due) / TICKS_PER_SECOND;

	return due + (int64_t)(seed % (uint64_t)(seconds + 1)) * TICKS_PER_SECOND;
}

uint64_t schedule_recurrence_seed(struct str id)
{
	uint64_t h = 0xCBF29CE484222325u; /* FNV-1a, then mixed so that the low bits depend on all */

	for (size_t i = 0; i < id.n; i++) {
		unsigned char c = (unsigned char)id.p[i];
		h = (h ^ (c >= 'A' && c <= 'Z' ? c + 32u : c)) * 0x100000001B3u;
	}
	h ^= h >> 33;
	h *= 0xFF51AFD7ED558CCDu;
	return h ^ h >> 33;
}
