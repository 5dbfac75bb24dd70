/* answer.c — for years.py: reads lines "recurrence|due|now" (ticks) and answers "next
 * window-end-of-next" in ticks, or "-". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/occurrence.h"

int main(void)
{
	char line[200];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *due = strchr(line, '|'), *now = due != NULL ? strchr(due + 1, '|') : NULL;
		struct recurrence r;
		int64_t next;

		if (now == NULL || !schedule_recurrence_parse((struct str){ line, (size_t)(due - line) }, &r))
			return 1;
		if (schedule_recurrence_next(&r, strtoll(due + 1, NULL, 10), strtoll(now + 1, NULL, 10),
					     &next))
			printf("%lld %lld\n", (long long)next,
			       (long long)schedule_recurrence_window_end(&r, next));
		else
			puts("-");
	}
	return 0;
}
