/* match.c — see match.h. */
#include "scheduler/match.h"

#include <unistd.h>

const char *scheduler_match_handler(const struct settings *s, const struct job_row *row, struct match *ret)
{
	*ret = (struct match){ .class = schedule_class_find(str_of(row->assembly), str_of(row->class)) };
	if (ret->class == NULL)
		return "unknown assembly or class";
	ret->action = schedule_class_action(ret->class, str_of(row->data));
	if (ret->action == NULL)
		return "unknown job data";
	ret->handler = scheduler_settings_handler(s, ret->class);
	if (ret->handler == NULL)
		return "no handler is configured for this class";
	ret->timeout_s = ret->handler->timeout_s > 0 ? ret->handler->timeout_s : (unsigned)s->timeout;
	return access(ret->handler->argv[0], X_OK) == 0
		       ? NULL
		       : "the command of the handler is missing or not executable";
}
