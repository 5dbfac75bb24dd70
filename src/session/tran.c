/* tran.c — explicit transactions. The count, the descriptor and the name are kept here; the
 * engine is taken with the first call that writes, and a transaction stays in the database
 * where that happened. */
#include "session/session_int.h"

#include <assert.h>
#include <stdio.h>

static void announce(struct session *s, uint8_t type)
{
	bool begin = type == 8;

	if (s->wire.version < TDS_72)
		return;
	session_response_touch(s);
	tds_put_envchange_bytes(&s->out, type, begin ? &s->tran.descriptor : NULL, begin ? 8 : 0,
				begin ? NULL : &s->tran.descriptor, begin ? 0 : 8);
}

static void begin(struct session *s, struct str name)
{
	s->vars.trancount++;
	if (s->vars.trancount > 1)
		return;
	assert(s->tran.txn == NULL && s->tran.descriptor == 0);
	s->tran.descriptor = ++s->tran.last_descriptor;
	str_copy(s->tran.name, sizeof(s->tran.name), name);
	announce(s, 8);
}

static void ended(struct session *s, uint8_t type)
{
	if (s->tran.txn != NULL)
		engine_txn_free(s->tran.txn);
	s->tran.txn = NULL;
	if (s->tran.announces && type == 9)
		session_announce(s, s->tran.database);
	s->tran.announces = false;
	s->tran.database = NULL;
	s->vars.trancount = 0;
	if (s->tran.cleanup && type == 9)
		session_cleanup(s);
	s->tran.cleanup = false;
	if (s->tran.descriptor != 0)
		announce(s, type);
	s->tran.descriptor = 0;
}

void session_tran_lost(struct session *s)
{
	if (s->vars.trancount > 0)
		ended(s, 10);
}

static void submit(struct session *s, enum call_kind kind, const char *savepoint)
{
	struct call *c = &s->call;

	assert(s->tran.txn != NULL && s->tran.database != NULL);
	session_call_make(s, kind, s->tran.database);
	c->savepoint = savepoint;
	c->txn = s->tran.txn;
	session_call_submit(s, s->tran.database->engine);
}

static char *name_text(struct session *s, struct str name)
{
	return arena_strndup(&s->arena, name.p, name.n);
}

static int take_engine(struct session *s, struct database *db, struct err *reterr)
{
	assert(s->tran.txn == NULL && s->vars.trancount > 0);
	s->tran.txn = engine_begin(db->engine, s->vars.isolation == TSQL_SNAPSHOT);
	if (s->tran.txn == NULL)
		return err_nomem(reterr);
	s->tran.database = db;
	return 0;
}

static enum tran_next now(int *ret_rc, int rc)
{
	*ret_rc = rc;
	return TRAN_NOW;
}

static enum tran_next do_commit(struct session *s, int *ret_rc, struct err *reterr)
{
	if (s->vars.trancount == 0)
		return now(ret_rc, err_set(reterr, ERR_COMMIT_NO_TRAN));
	if (s->vars.trancount > 1) {
		s->vars.trancount--;
		return now(ret_rc, 0);
	}
	if (s->tran.txn == NULL) {
		ended(s, 9);
		return now(ret_rc, 0);
	}
	submit(s, CALL_COMMIT, NULL);
	return TRAN_WAIT;
}

static bool names_transaction(const struct session *s, struct str name)
{
	return name.n == 0 || (s->tran.name[0] != '\0' && str_eq(name, str_of(s->tran.name)));
}

static enum tran_next do_rollback(struct session *s, struct str name, int *ret_rc, struct err *reterr)
{
	char *savepoint;

	if (s->vars.trancount == 0)
		return now(ret_rc, err_set(reterr, ERR_ROLLBACK_NO_TRAN));
	if (!names_transaction(s, name)) {
		savepoint = name_text(s, name);
		if (savepoint == NULL)
			return now(ret_rc, err_nomem(reterr));
		if (s->tran.txn == NULL)
			return now(ret_rc, err_set(reterr, ERR_NO_SAVEPOINT, savepoint));
		submit(s, CALL_ROLLBACK_TO, savepoint);
		return TRAN_WAIT;
	}
	if (s->tran.txn == NULL) {
		ended(s, 10);
		return now(ret_rc, 0);
	}
	submit(s, CALL_ROLLBACK, NULL);
	return TRAN_WAIT;
}

static enum tran_next do_save(struct session *s, struct str name, int *ret_rc, struct err *reterr)
{
	char *savepoint = name_text(s, name);

	if (s->vars.trancount == 0)
		return now(ret_rc, err_set(reterr, ERR_SAVE_NO_TRAN));
	if (savepoint == NULL)
		return now(ret_rc, err_nomem(reterr));
	if (s->tran.txn == NULL && take_engine(s, s->database, reterr) < 0)
		return now(ret_rc, -1);
	submit(s, CALL_SAVE, savepoint);
	return TRAN_WAIT;
}

enum tran_next session_tran_do(struct session *s, const struct tsql_tran *t, int *ret_rc, struct err *reterr)
{
	switch (t->kind) {
	case TRAN_BEGIN: begin(s, t->name); return now(ret_rc, 0);
	case TRAN_COMMIT: return do_commit(s, ret_rc, reterr);
	case TRAN_ROLLBACK: return do_rollback(s, t->name, ret_rc, reterr);
	default: return do_save(s, t->name, ret_rc, reterr);
	}
}

int session_tran_finish(struct session *s, const struct tsql_tran *t, struct err *reterr)
{
	struct call *c = &s->call;
	bool whole = t->kind == TRAN_COMMIT || (t->kind == TRAN_ROLLBACK && c->kind == CALL_ROLLBACK);

	assert(!s->inflight && c->kind >= CALL_COMMIT);
	if (c->rc < 0)
		*reterr = c->err;
	if (c->txn_lost || (whole && (c->rc < 0 || t->kind == TRAN_ROLLBACK)))
		ended(s, 10); /* a failed commit has undone everything */
	else if (whole)
		ended(s, 9);
	return c->rc;
}

/* At these levels a transaction keeps what it has read: REPEATABLE READ and SERIALIZABLE by
 * taking the writer with the first call, so that nobody else changes anything; SNAPSHOT by
 * reading one state. */
static bool keeps_what_it_reads(const struct session *s)
{
	return s->vars.isolation >= TSQL_REPEATABLE_READ;
}

static int other_database(const struct session *s, const struct database *db, bool writes, struct err *reterr)
{
	if (!writes && !keeps_what_it_reads(s))
		return 0;
	return err_set(reterr, writes ? ERR_TXN_DATABASES : ERR_TXN_READS, s->tran.database->name, db->name);
}

int session_tran_join(struct session *s, struct database *db, bool writes, struct err *reterr)
{
	s->call.txn = NULL;
	if (s->vars.implicit_transactions && s->vars.trancount == 0)
		begin(s, STR(""));
	if (s->vars.trancount == 0)
		return 0;
	if (s->tran.txn == NULL && !writes && !keeps_what_it_reads(s))
		return 0;
	if (s->tran.txn == NULL && take_engine(s, db, reterr) < 0)
		return -1;
	if (s->tran.database != db)
		return other_database(s, db, writes, reterr);
	if (s->vars.isolation == TSQL_SNAPSHOT && !engine_txn_is_snapshot(s->tran.txn))
		return err_set(reterr, ERR_NOT_SNAPSHOT, db->name);
	s->call.txn = s->tran.txn;
	return 0;
}

void session_tran_tell_rollback(struct session *s)
{
	if (s->tran.descriptor != 0)
		announce(s, 10);
}

bool session_tran_abandon(struct session *s)
{
	if (s->tran.txn == NULL) {
		s->vars.trancount = 0;
		s->tran.descriptor = 0;
		return false;
	}
	if (s->vars.trancount < 0) { /* the rollback below is done */
		session_tran_forget(s);
		return false;
	}
	s->vars.trancount = -1;
	submit(s, CALL_ROLLBACK, NULL);
	return true;
}

void session_tran_forget(struct session *s)
{
	if (s->tran.txn != NULL)
		engine_txn_free(s->tran.txn);
	s->tran.txn = NULL;
	s->tran.database = NULL;
	s->tran.announces = false;
	s->vars.trancount = 0;
	s->tran.descriptor = 0;
}
