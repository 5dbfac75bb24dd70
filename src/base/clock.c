/* clock.c — wall time and monotonic time from the system. */
#include "base/clock.h"

#include <time.h>

#define DAYS_1900_TO_1970 INT64_C(25567)

int64_t clock_unix_us(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_ticks(void)
{
	int64_t us = clock_unix_us();

	return DAYS_1900_TO_1970 * TICKS_PER_DAY + us / 1000000 * TICKS_PER_SECOND +
	       us % 1000000 * TICKS_PER_SECOND / 1000000;
}

int64_t clock_mono_us(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

int64_t clock_boot_ms(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_BOOTTIME, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
