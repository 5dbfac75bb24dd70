/* metadata.c — the tables of the system database that describe the catalogue: they follow the
 * program, not the file, and are written anew when the program has changed. */
#include "catalogue/meta.h"
#include "engine/sqlite/sqlite_int.h"

static const struct statement hash_statement = { .sql = "SELECT count(*) FROM meta_hash WHERE hash = ?1",
						 .nbinds = 1,
						 .id = STATEMENT_ONCE };

static int is_loaded(struct store_conn *c, bool *ret, struct err *reterr)
{
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value hash = value_varchar(catalogue_meta_hash), count = value_int(TYPE_BIGINT, 0);
	struct store_stmt *st;
	int rc;

	if (store_statement(c, &hash_statement, &st, reterr) < 0)
		return -1;
	rc = store_bind(st, 1, &hash, reterr);
	if (rc == 0)
		rc = store_step(st, reterr);
	if (rc > 0)
		rc = store_column(st, 0, &bigint, &count, reterr);
	store_finish(st);
	*ret = count.u.i > 0;
	return rc;
}

static int load(struct store_conn *c, struct err *reterr)
{
	if (store_begin(c, reterr) < 0)
		return -1;
	if (store_script(c, catalogue_meta_sql, reterr) < 0 || store_commit(c, reterr) < 0) {
		store_rollback(c);
		return -1;
	}
	return 0;
}

int sqlite_metadata_load(struct store *st, struct err *reterr)
{
	struct store_conn *c;
	bool loaded = false;
	int rc;

	if (store_connect(st, false, &c, reterr) < 0)
		return -1;
	rc = is_loaded(c, &loaded, reterr);
	if (rc == 0 && !loaded)
		rc = load(c, reterr);
	store_disconnect(c);
	return rc;
}
