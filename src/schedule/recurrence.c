/* recurrence.c — a parser that follows the ABNF rule by rule; each function is a rule and moves
 * the rest forward only when it fits. */
#include "schedule/recurrence.h"

static bool word(struct str *s, const char *w)
{
	struct str want = str_of(w);

	if (s->n < want.n || !str_eq_nocase((struct str){ s->p, want.n }, want))
		return false;
	s->p += want.n;
	s->n -= want.n;
	return true;
}

/* Exactly two ASCII digits between low and high. */
static bool number(struct str *s, unsigned low, unsigned high, uint8_t *ret)
{
	unsigned v;

	if (s->n < 2 || s->p[0] < '0' || s->p[0] > '9' || s->p[1] < '0' || s->p[1] > '9')
		return false;
	v = (unsigned)(s->p[0] - '0') * 10 + (unsigned)(s->p[1] - '0');
	if (v < low || v > high)
		return false;
	s->p += 2;
	s->n -= 2;
	*ret = (uint8_t)v;
	return true;
}

static bool time_of_day(struct str *s, struct recurrence_point *p)
{
	return number(s, 0, 23, &p->hour) && word(s, ":") && number(s, 0, 59, &p->minute) && word(s, ":") &&
	       number(s, 0, 59, &p->second);
}

static bool name(struct str *s, const char *const *names, size_t n, uint8_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (word(s, names[i])) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	return false;
}

/* The longer names first, because each begins with a shorter one. */
static bool weekday(struct str *s, struct recurrence_point *p)
{
	static const char *const names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat",
					     "su",  "mo",  "tu",  "we",  "th",  "fr",  "sa" };
	uint8_t i;

	if (!name(s, names, ARRAY_LEN(names), &i))
		return false;
	p->weekday = (uint8_t)(i % 7);
	return word(s, " ") && time_of_day(s, p);
}

static bool date(struct str *s, struct recurrence_point *p)
{
	return number(s, 1, 31, &p->date) && word(s, " ") && time_of_day(s, p);
}

static bool month(struct str *s, struct recurrence_point *p)
{
	static const char *const names[] = { "jan", "feb", "mar", "apr", "may", "jun",
					     "jul", "aug", "sep", "oct", "nov", "dec" };
	uint8_t i;

	if (!name(s, names, ARRAY_LEN(names), &i))
		return false;
	p->month = (uint8_t)(i + 1);
	return word(s, " ") && date(s, p);
}

/* SecondOrMinuteInstance means seconds after 'every NN minutes', minutes after 'hourly'
 * [E-SCHED-11]. */
static bool second(struct str *s, struct recurrence_point *p)
{
	return number(s, 0, 59, &p->second);
}

static bool minute(struct str *s, struct recurrence_point *p)
{
	return number(s, 0, 59, &p->minute);
}

/* "at X" or "between X and Y", to the end of the text. */
static bool instance(struct str *s, bool (*point)(struct str *s, struct recurrence_point *p),
		     struct recurrence *r)
{
	if (word(s, "at ")) {
		if (!point(s, &r->from))
			return false;
		r->to = r->from;
		return s->n == 0;
	}
	return word(s, "between ") && point(s, &r->from) && word(s, " and ") && point(s, &r->to) && s->n == 0;
}

static bool every(struct str *s, struct recurrence *r)
{
	if (!number(s, 1, 59, &r->every))
		return false;
	if (word(s, " seconds")) {
		r->kind = EVERY_SECONDS;
		return s->n == 0;
	}
	r->kind = EVERY_MINUTES;
	return word(s, " minutes ") && instance(s, second, r);
}

bool schedule_recurrence_parse(struct str text, struct recurrence *ret)
{
	static const struct {
		const char *word;
		enum recurrence_kind kind;
		bool (*point)(struct str *s, struct recurrence_point *p);
	} kinds[] = {
		{ "hourly ", HOURLY, minute },  { "daily ", DAILY, time_of_day },
		{ "weekly ", WEEKLY, weekday }, { "monthly ", MONTHLY, date },
		{ "yearly ", YEARLY, month },
	};
	struct recurrence r = { 0 };

	if (word(&text, "every ")) {
		if (!every(&text, &r))
			return false;
		*ret = r;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!word(&text, kinds[i].word))
			continue;
		r.kind = kinds[i].kind;
		if (!instance(&text, kinds[i].point, &r))
			return false;
		*ret = r;
		return true;
	}
	return false;
}
