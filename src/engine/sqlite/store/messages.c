/* messages.c — what SQLite has to say goes to our log: a damaged page, an index that is missing,
 * a WAL that was recovered after a crash. What a statement says to its own caller (a broken
 * constraint, a client's text that does not compile, an interrupt) is told there, and here to
 * those who debug only. */
#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/sqlite/store/store_int.h"

#define LINES_A_SECOND 10 /* a damaged file has the same thing to say for every page */

/* global: SQLite has one receiver of messages for the whole process */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t second;
static unsigned lines, left_out;

/* True: this one may be written; *ret_left_out: how many were not, since the last one. */
static bool may_write(unsigned *ret_left_out)
{
	int64_t now = clock_mono_ms() / 1000;
	bool may;

	pthread_mutex_lock(&lock);
	if (now != second)
		lines = 0;
	second = now;
	may = lines < LINES_A_SECOND;
	lines += may;
	*ret_left_out = left_out;
	left_out = may ? 0 : left_out + 1;
	pthread_mutex_unlock(&lock);
	return may;
}

static enum log_level level_of(int code)
{
	/* a join of small views without an index: SQLite helps itself */
	if (code == SQLITE_WARNING_AUTOINDEX)
		return LOG_DEBUG;
	switch (code & 0xff) {
	case SQLITE_CONSTRAINT:
	case SQLITE_ERROR:
	case SQLITE_INTERRUPT:
	case SQLITE_SCHEMA:
	case SQLITE_AUTH:
	case SQLITE_TOOBIG:
	case SQLITE_BUSY: return LOG_DEBUG;
	case SQLITE_NOTICE: return LOG_INFO;
	default: return LOG_WARN;
	}
}

static void on_message(void *arg, int code, const char *text)
{
	enum log_level level = level_of(code);
	unsigned missing;

	(void)arg;
	if (log_enabled(level) && may_write(&missing))
		LOG(level, NULL, "sqlite", F_INT("code", code), F_STR("message", text),
		    F_INT("left_out", missing));
}

void store_messages_set_up(void)
{
	sqlite3_config(SQLITE_CONFIG_LOG, on_message, NULL);
}
