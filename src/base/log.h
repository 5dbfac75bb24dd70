/* log.h — logfmt or JSON lines on stderr. One event a line; values are escaped here, so that no
 * input can forge a line.
 *   LOG(LOG_INFO, &session->logctx, "login", F_STR("mechanism", "sql"), F_INT("attempts", n)); */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>

#include "base/base.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* What every line of a session carries. Fields may be NULL or empty. Strings are the owner's. */
struct log_ctx {
	uint32_t session;
	const char *peer, *login, *database;
};

struct log_field {
	const char *key;
	const char *value; /* NULL: the number is meant */
	long long number;
};
static inline const char *log_text(const char *s)
{
	return s == NULL ? "" : s;
}
#define F_STR(k, v) ((struct log_field){ (k), log_text(v), 0 })
#define F_INT(k, v) ((struct log_field){ (k), NULL, (long long)(v) })

void log_set_level(enum log_level level);
/* LOG_JSON: each line is an object of JSON, its fields in the same order under the same names. */
enum log_format { LOG_LOGFMT, LOG_JSON };
void log_set_format(enum log_format format);
/* For callers whose fields are costly to compute. */
bool log_enabled(enum log_level level);
bool log_parse_level(const char *name, enum log_level *ret);
/* time=… level=… event=… session=… peer=… login=… database=… then the fields; values quoted and
 * escaped where needed. */
void log_write(enum log_level level, const struct log_ctx *ctx, const char *event,
	       const struct log_field *fields, size_t n);
#define LOG(level, ctx, event, ...) \
	log_write((level), (ctx), (event), (const struct log_field[]){ __VA_ARGS__ }, \
		  sizeof((const struct log_field[]){ __VA_ARGS__ }) / sizeof(struct log_field))
/* The log bounds its own volume: at most this many lines a second, then one line with the number
 * left out. 0: no bound. */
void log_set_rate(unsigned lines_per_second);
/* From now on nobody who logs waits for standard error (see log_out.c): what it does not take is
 * kept up to 1 MiB, then dropped and counted. -1: no thread, all stays as it was. */
MUST_CHECK int log_start_writer(void);
/* Before the end of the process: waits until what was kept is written, but not longer than this. */
void log_flush(unsigned ms);

#endif
