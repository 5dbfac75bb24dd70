/* sink.h — where results go. The engine fills it without knowing TDS; a test can collect rows
 * in one. */
#ifndef CALL_SINK_H
#define CALL_SINK_H

#include "base/err.h"
#include "value/value.h"

struct column {
	const char *name;
	struct type type;
	bool nullable;
};

struct sink;
struct sink_ops {
	/* A result set begins. cols live as long as the call. */
	int (*columns)(struct sink *s, const struct column *cols, size_t n);
	/* Values have the columns' types. Their memory is only lent for the duration of the
	 * call. May block (back-pressure). */
	int (*row)(struct sink *s, const struct value *vals, size_t n);
	/* The result set is complete. */
	int (*rows_done)(struct sink *s, uint64_t rows);
	/* A message, before or between result sets: INFO or ERROR by its severity. */
	int (*message)(struct sink *s, const struct err *e);
	/* Everything since mark() can be taken back, as long as nothing of it has left (streams
	 * may have let go: rewind then says false). */
	size_t (*mark)(struct sink *s);
	bool (*rewind)(struct sink *s, size_t mark);
};
/* Each op returns 0, or -1 when the receiver is gone or full: the call then stops. */
struct sink {
	const struct sink_ops *ops;
};

static inline int call_sink_columns(struct sink *s, const struct column *c, size_t n)
{
	return s->ops->columns(s, c, n);
}
static inline int call_sink_row(struct sink *s, const struct value *v, size_t n)
{
	return s->ops->row(s, v, n);
}
static inline int call_sink_rows_done(struct sink *s, uint64_t rows)
{
	return s->ops->rows_done(s, rows);
}
static inline int call_sink_message(struct sink *s, const struct err *e)
{
	return s->ops->message(s, e);
}

#endif
