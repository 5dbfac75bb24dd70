/* clock.h — the two clocks. Wall time in datetime ticks (1/300 s since 1900-01-01 UTC), rounded
 * down [E-COM-05]. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/base.h"

#define TICKS_PER_SECOND INT64_C(300)
#define TICKS_PER_DAY (INT64_C(86400) * TICKS_PER_SECOND)

int64_t clock_ticks(void);   /* UTC now */
int64_t clock_unix_us(void); /* microseconds since 1970, UTC */
int64_t clock_mono_ms(void); /* never goes back; for time-outs */
int64_t clock_mono_us(void); /* the same clock, for measuring */
int64_t clock_boot_ms(void); /* never goes back, and goes on while the machine sleeps */

#endif
