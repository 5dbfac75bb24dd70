/* txn.c — what explicit transactions of all engines share: the names of a client's savepoints, and
 * the calls that are answered without being run. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/implement.h"

#define SAVEPOINTS_MAX 1000 /* open at once in one transaction */

int engine_savepoints_push(struct engine_savepoints *s, const char *name, struct err *reterr)
{
	char **grown;

	if (s->n >= SAVEPOINTS_MAX)
		return err_set(reterr, ERR_NOT_SUPPORTED, "A transaction with more than 1000 savepoints",
			       "Commit earlier.");
	grown = realloc(s->names, (s->n + 1) * sizeof(*grown));
	if (grown == NULL)
		return err_nomem(reterr);
	s->names = grown;
	grown[s->n] = strdup(name);
	if (grown[s->n] == NULL)
		return err_nomem(reterr);
	s->n++;
	return 0;
}

/* Names are case-sensitive, as in T-SQL. */
int engine_savepoints_find(const struct engine_savepoints *s, const char *name, size_t *ret,
			   struct err *reterr)
{
	size_t n = s->n;

	while (n > 0 && strcmp(s->names[n - 1], name) != 0)
		n--;
	*ret = n;
	return n == 0 ? err_set(reterr, ERR_NO_SAVEPOINT, name) : 0;
}

void engine_savepoints_cut(struct engine_savepoints *s, size_t n)
{
	while (s->n > n)
		free(s->names[--s->n]);
}

void engine_savepoints_fini(struct engine_savepoints *s)
{
	engine_savepoints_cut(s, 0);
	free(s->names);
	s->names = NULL;
}

bool engine_txn_answers(struct call *c, bool is_new, const struct err *lost)
{
	assert(c->txn != NULL && !(is_new && lost != NULL));
	if (lost != NULL && c->kind != CALL_ROLLBACK) {
		engine_call_fail(c, lost);
		c->txn_lost = true;
		return true;
	}
	if (lost == NULL && !(is_new && engine_call_ends_txn(c)))
		return false;
	engine_call_succeed(c); /* nothing is to be kept, or to be undone */
	return true;
}
