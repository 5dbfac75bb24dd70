/* ask.h — calls of the server itself: a procedure is called as any client would, by the server, and
 * waited for. For what the server keeps in its own system database (logins, rights, the list of
 * databases) and for background work. */
#ifndef ENGINE_ASK_H
#define ENGINE_ASK_H

#include "engine/engine.h"
#include "engine/rows.h"

/* What came of it. The rows are those of all result sets, one after another. */
struct engine_answer {
	struct arena arena;
	struct engine_rows rows; /* in the arena */
	uint64_t rows_changed;
	int32_t status;
};

/* Blocks until it is answered: never on a thread of an engine. The procedure is one of the
 * database's service; txn may be NULL. ret is to be freed after success. */
MUST_CHECK int engine_ask(struct engine_database *db, const char *proc, const struct argument *args,
			  size_t nargs, struct txn *txn, struct engine_answer *ret, struct err *reterr);
void engine_answer_fini(struct engine_answer *a);
/* End a transaction and free it, whatever the result. */
MUST_CHECK int engine_ask_commit(struct txn *txn, struct err *reterr);
void engine_ask_rollback(struct txn *txn);

#endif
