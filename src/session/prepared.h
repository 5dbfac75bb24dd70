/* prepared.h — the prepared statements of one session, by handle. */
#ifndef SESSION_PREPARED_H
#define SESSION_PREPARED_H

#include "base/arena.h"
#include "tsql/tsql.h"

struct prepared {
	int32_t handle;
	struct arena arena; /* holds text, program and declarations */
	struct str text;
	const struct tsql_program *program;
	struct tsql_declared *params;
	size_t nparams;
	unsigned uses; /* running now: freed only when 0 */
	bool dropped;
};
struct prepared_table {
	struct prepared **items; /* owned */
	size_t n, cap;
	int32_t next;
	struct budget *budget; /* the session's, for all of them */
};

void session_prepared_init(struct prepared_table *t, struct budget *b);
/* Frees everything; statements that run now are freed by their session_prepared_release. */
void session_prepared_fini(struct prepared_table *t);
/* Compiles text with its declarations and keeps both. 8180-like errors are the compiler's own.
 * limit: handles at most. */
MUST_CHECK int session_prepared_add(struct prepared_table *t, struct str declarations, struct str text,
				    const struct tsql_session *vars, size_t limit, struct meter *meter,
				    struct prepared **ret, struct err *reterr);
/* The statement with that handle, marked as in use; NULL: 8179. */
struct prepared *session_prepared_use(struct prepared_table *t, int32_t handle);
void session_prepared_release(struct prepared_table *t, struct prepared *p);
bool session_prepared_drop(struct prepared_table *t, int32_t handle);

#endif
