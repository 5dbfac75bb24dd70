/* occurrence.h — from a recurrence to instants [E-SCHED-09 to E-SCHED-12]. Pure; times are
 * datetime ticks (1/300 s since 1900-01-01), always UTC. */
#ifndef SCHEDULE_OCCURRENCE_H
#define SCHEDULE_OCCURRENCE_H

#include "schedule/recurrence.h"

/* The first begin instant after both now and the row's due time; 'every …' counts on from the
 * due time. False: there is none before the year 10000. */
MUST_CHECK bool schedule_recurrence_next(const struct recurrence *r, int64_t due, int64_t now, int64_t *ret);
/* Whether a window (or instant) of the recurrence begins there. */
bool schedule_recurrence_is_begin(const struct recurrence *r, int64_t at);
/* The last instant at which the occurrence that begins there may start; the same for 'at'.
 * Windows of one recurrence never overlap: one that would reach the next begin ends a second
 * before it. */
int64_t schedule_recurrence_window_end(const struct recurrence *r, int64_t begin);
/* When a job that is due then starts: inside the window, always at the same place for the same
 * seed. A due time that begins no window is the start itself. */
int64_t schedule_recurrence_start(const struct recurrence *r, int64_t due, uint64_t seed);
/* A seed from a job's identifier; letter case does not matter. */
uint64_t schedule_recurrence_seed(struct str id);

#endif
