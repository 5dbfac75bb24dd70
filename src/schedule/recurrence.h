/* recurrence.h — the recurrence language of [MS-SSPSJ] 2.2.5: 'daily at 01:00:00', 'weekly
 * between fri 22:00:00 and sun 06:00:00' … Pure; used by the server, which checks it, and by the
 * scheduler, which computes from it. */
#ifndef SCHEDULE_RECURRENCE_H
#define SCHEDULE_RECURRENCE_H

#include "base/base.h"
#include "base/str.h"

enum recurrence_kind { EVERY_SECONDS, EVERY_MINUTES, HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY };

/* What a kind does not use is 0. */
struct recurrence_point {
	uint8_t month;   /* 1 … 12 */
	uint8_t date;    /* 1 … 31, whether the month has it or not [E-SCHED-09] */
	uint8_t weekday; /* 0 = Sunday */
	uint8_t hour, minute, second;
};

struct recurrence {
	enum recurrence_kind kind;
	uint8_t every;                    /* EVERY_…: 1 … 59 */
	struct recurrence_point from, to; /* 'at': both the same */
};

/* Letter case does not matter; everything else is exact: two digits, single blanks, nothing
 * around [E-SCHED-05 to 08]. False: not in the language. */
bool schedule_recurrence_parse(struct str text, struct recurrence *ret);

#endif
