/* tally.c — numbers of a database that are kept by counting: how many rows it has of which kind.
 * Triggers of the writing connection alone (they are made with it and are not in the file) call
 * tally(), which adds to what this transaction has changed; a commit adds that to the store's
 * numbers, which anybody may read. What is undone is forgotten: all of it, back to a savepoint, or
 * a statement that failed halfway. So a call pays a few additions, and nothing is written. What
 * there was before is counted once, on another connection that sees the moment of the start. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sqlite/store/store_int.h"

/* tally(index, added, index, added …) */
static void tally(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct store_conn *c = sqlite3_user_data(ctx);

	for (int i = 0; i + 1 < n; i += 2) {
		int which = sqlite3_value_int(v[i]);

		assert(which >= 0 && which < c->store->service->nnumbers);
		c->tally.pending[which] += sqlite3_value_int64(v[i + 1]);
	}
}

bool store_has_numbers(const struct store *st)
{
	return st->service->nnumbers > 0;
}

int store_tally_keep(struct store_conn *c, struct err *reterr)
{
	const struct service_procs *p = c->store->service;
	int rc;

	assert(!c->read_only && p->nnumbers <= SERVICE_NUMBERS_MAX);
	if (p->nnumbers == 0)
		return 0;
	rc = sqlite3_create_function_v2(c->db, "tally", -1, SQLITE_UTF8, c, tally, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	c->tally.kept = true;
	return store_script(c, p->numbers_kept_sql, reterr);
}

int store_tally_count(struct store_conn *c, struct err *reterr)
{
	struct store *st = c->store;
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, st->service->numbers_sql, -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc != SQLITE_ROW) {
		store_error(c, rc, reterr);
		sqlite3_finalize(h);
		return -1;
	}
	for (int i = 0; i < st->service->nnumbers; i++)
		atomic_fetch_add(&st->numbers[i], sqlite3_column_int64(h, i));
	sqlite3_finalize(h);
	atomic_store(&st->counted, true);
	return 0;
}

bool store_tally_read(struct store *st, int64_t *dst)
{
	if (!atomic_load(&st->counted))
		return false;
	for (size_t i = 0; i < st->service->nnumbers; i++)
		dst[i] = atomic_load(&st->numbers[i]);
	return true;
}

/* ---- along with the transaction ---- */

void store_tally_begin(struct store_conn *c)
{
	if (c->tally.kept)
		memset(c->tally.pending, 0, sizeof(c->tally.pending));
}

void store_tally_commit(struct store_conn *c)
{
	for (size_t i = 0; c->tally.kept && i < c->store->service->nnumbers; i++) {
		if (c->tally.pending[i] != 0)
			atomic_fetch_add(&c->store->numbers[i], c->tally.pending[i]);
	}
	store_tally_begin(c);
}

int store_tally_save(struct store_conn *c, unsigned n, struct err *reterr)
{
	struct store_tally *t = &c->tally;

	if (!t->kept)
		return 0;
	if (n >= t->nsaved) {
		size_t room = (size_t)n * 2 + 8;
		int64_t(*more)[SERVICE_NUMBERS_MAX] = realloc(t->saved, room * sizeof(*more));

		if (more == NULL)
			return err_nomem(reterr);
		t->saved = more;
		t->nsaved = room;
	}
	memcpy(t->saved[n], t->pending, sizeof(t->pending));
	return 0;
}

void store_tally_back(struct store_conn *c, unsigned n)
{
	if (c->tally.kept && n < c->tally.nsaved)
		memcpy(c->tally.pending, c->tally.saved[n], sizeof(c->tally.pending));
}

void store_tally_statement(struct store_conn *c)
{
	memcpy(c->tally.before, c->tally.pending, sizeof(c->tally.before));
}

void store_tally_failed(struct store_conn *c)
{
	memcpy(c->tally.pending, c->tally.before, sizeof(c->tally.pending));
}

void store_tally_fini(struct store_conn *c)
{
	free(c->tally.saved);
}
