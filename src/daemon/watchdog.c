/* watchdog.c — see watchdog.h. Four periods fit into systemd's limit, so that a loop that is
 * busy for a moment, or a tick that comes late, costs nothing; a loop that hangs is noticed by
 * systemd after one limit at the latest. */
#include "daemon/watchdog.h"

#include <assert.h>

void daemon_watchdog_init(struct watchdog *w, const struct watchdog_ops *ops, uint64_t limit_us,
			  int64_t now_ms)
{
	*w = (struct watchdog){ .ops = *ops };
	if (limit_us == 0)
		return;
	assert(ops->ask != NULL && ops->answered != NULL && ops->alive != NULL);
	w->period_ms = limit_us / 4000 > 0 ? (int64_t)(limit_us / 4000) : 1;
	w->next_ms = now_ms + w->period_ms;
	w->ops.alive(w->ops.arg);
	w->ops.ask(w->ops.arg);
}

void daemon_watchdog_tick(struct watchdog *w, int64_t now_ms)
{
	if (w->period_ms == 0 || now_ms < w->next_ms)
		return;
	w->next_ms = now_ms + w->period_ms;
	if (!w->ops.answered(w->ops.arg))
		return;
	w->ops.alive(w->ops.arg);
	w->ops.ask(w->ops.arg);
}

int daemon_watchdog_wait_ms(const struct watchdog *w, int64_t now_ms, int most)
{
	int64_t left = w->next_ms - now_ms;

	if (w->period_ms == 0 || left > most)
		return most;
	return left > 0 ? (int)left : 0;
}
