/* store.c — forwards the calls of store.h to the engine that the store was opened with. */
#include "store/store.h"

#include "store/store_int.h"

int store_open(const struct store_options *o, struct store **ret, struct err *reterr)
{
	return sqlite_store_ops.open(o, ret, reterr);
}

void store_close(struct store *st)
{
	if (st != NULL)
		st->ops->close(st);
}

int store_connect(struct store *st, bool read_only, struct store_conn **ret, struct err *reterr)
{
	return st->ops->connect(st, read_only, ret, reterr);
}

void store_disconnect(struct store_conn *c)
{
	if (c != NULL)
		c->ops->disconnect(c);
}

int store_check(struct store *st, char **ret_report, struct err *reterr)
{
	return st->ops->check(st, ret_report, reterr);
}

const char *store_identity(const struct store *st)
{
	return st->ops->identity(st);
}

int store_identity_renew(struct store *st, struct err *reterr)
{
	return st->ops->identity_renew(st, reterr);
}

bool store_damaged(const struct store *st)
{
	return st->ops->damage(st);
}

int store_script(struct store_conn *c, const char *sql, struct err *reterr)
{
	return c->ops->script(c, sql, reterr);
}

int store_begin(struct store_conn *c, struct err *reterr)
{
	return c->ops->begin(c, reterr);
}

int store_commit(struct store_conn *c, struct err *reterr)
{
	return c->ops->commit(c, reterr);
}

int store_commit_lazily(struct store_conn *c, struct err *reterr)
{
	return c->ops->commit_lazily(c, reterr);
}

int store_flush(struct store *st, struct err *reterr)
{
	return st->ops->flush(st, reterr);
}

int store_sound(struct store *st, struct err *reterr)
{
	return st->ops->sound(st, reterr);
}

int store_mend(struct store_conn *c, struct err *reterr)
{
	return c->ops->mend(c, reterr);
}

void store_rollback(struct store_conn *c)
{
	c->ops->rollback(c);
}

int store_save(struct store_conn *c, unsigned n, struct err *reterr)
{
	return c->ops->save(c, n, reterr);
}

int store_release(struct store_conn *c, unsigned n, struct err *reterr)
{
	return c->ops->release(c, n, reterr);
}

int store_rollback_to(struct store_conn *c, unsigned n, struct err *reterr)
{
	return c->ops->rollback_to(c, n, reterr);
}

bool store_in_transaction(struct store_conn *c)
{
	return c->ops->in_transaction(c);
}

int store_is_current(struct store_conn *c, bool *ret, struct err *reterr)
{
	return c->ops->is_current(c, ret, reterr);
}

void store_set_waits(struct store_conn *c, bool waits)
{
	c->ops->set_waits(c, waits);
}

bool store_was_busy(struct store_conn *c)
{
	return c->ops->was_busy(c);
}

void store_set_interrupt(struct store_conn *c, bool (*stop)(void *arg), void *arg)
{
	c->ops->set_interrupt(c, stop, arg);
}

unsigned store_wal_waiting(struct store *st)
{
	return st->ops->wal_waiting(st);
}

unsigned store_checkpoint_worth(struct store *st)
{
	return st->ops->checkpoint_worth(st);
}

unsigned store_log_pages(struct store *st)
{
	return st->ops->wal_pages(st);
}

void store_checkpoint(struct store_conn *c, bool alone)
{
	c->ops->checkpoint(c, alone);
}

int store_statement(struct store_conn *c, const struct statement *s, struct store_stmt **ret,
		    struct err *reterr)
{
	return c->ops->statement(c, s, ret, reterr);
}

int store_query(struct store_conn *c, const char *sql, struct store_stmt **ret, struct err *reterr)
{
	return c->ops->query(c, sql, ret, reterr);
}

int store_bind(struct store_stmt *s, unsigned index, const struct value *v, struct err *reterr)
{
	return s->ops->bind(s, index, v, reterr);
}

int store_step(struct store_stmt *s, struct err *reterr)
{
	return s->ops->step(s, reterr);
}

int store_column(struct store_stmt *s, unsigned index, const struct type *as, struct value *ret,
		 struct err *reterr)
{
	return s->ops->column(s, index, as, ret, reterr);
}

int store_fetch(struct store_conn *c, const char *table, const char *column, int64_t row, struct arena *a,
		struct value *ret, struct err *reterr)
{
	return c->ops->fetch(c, table, column, row, a, ret, reterr);
}

int store_fetch_size(struct store_conn *c, const char *table, const char *column, int64_t row, size_t *ret,
		     struct err *reterr)
{
	return c->ops->fetch_size(c, table, column, row, ret, reterr);
}

int store_fetch_into(struct store_conn *c, const char *table, const char *column, int64_t row, uint8_t *dst,
		     size_t n, struct err *reterr)
{
	return c->ops->fetch_into(c, table, column, row, dst, n, reterr);
}

uint64_t store_changes(struct store_conn *c)
{
	return c->ops->changes(c);
}

void store_finish(struct store_stmt *s)
{
	if (s != NULL)
		s->ops->finish(s);
}
