/* copy_from.c — the source of a move in PostgreSQL. What is read is read in one snapshot a look
 * (REPEATABLE READ); which rows change is noted by triggers, in a table that no crash keeps: a move
 * does not outlive its server. */
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/copy_int.h"

/* Servers that share it would go on using it here. */
static int check_alone(struct pg_side *s, PGconn *h, struct err *reterr)
{
	char names[300];

	if (postgres_side_ask(
		    s, h, names, sizeof(names), reterr,
		    "SELECT string_agg(name || coalesce(' (' || nullif(address, '') || ')', ''), ', ') FROM "
		    "procession.server WHERE id <> "
		    "'%s' "
		    "AND beat > now() - interval '10 s'",
		    s->engine->server) < 0)
		return -1;
	if (names[0] == '\0')
		return 0;
	return err_raise(
		reterr, 50020, 16, 1,
		"Other servers use this database: %s. In SQLite it belongs to one server alone: stop "
		"them, wait ten seconds, then move it.",
		names);
}

/* One function for each table, with its key; they share a name, and differ in their number. */
static void put_trigger(struct buf *b, const struct pg_side *s, const struct copy_tables *t, unsigned table)
{
	static const char *const rows[] = { "OLD", "NEW" };
	const struct copy_table *one = &t->table[table];

	buf_printf(b,
		   "CREATE FUNCTION \"%s\"." POSTGRES_NOTE
		   "_%u() RETURNS trigger LANGUAGE plpgsql AS $note$ BEGIN",
		   s->schema, table);
	for (unsigned r = 0; r < 2; r++) {
		unsigned numbers = 0;
		const char *bytes = NULL;

		buf_printf(b, " IF TG_OP <> '%s' THEN INSERT INTO \"%s\"." POSTGRES_NOTE " VALUES (%u",
			   r == 0 ? "INSERT" : "DELETE", s->schema, table);
		for (unsigned i = 0; i < one->nkeys; i++) {
			const struct copy_column *c = &one->columns[one->keys[i]];

			if (c->kind == COPY_BYTES)
				bytes = c->name;
			else if (++numbers > 0)
				buf_printf(b, ", %s.\"%s\"", rows[r], c->name);
		}
		for (; numbers < COPY_KEY_NUMBERS; numbers++)
			buf_printf(b, ", 0");
		if (bytes == NULL)
			buf_printf(b, ", NULL); END IF;");
		else
			buf_printf(b, ", %s.\"%s\"); END IF;", rows[r], bytes);
	}
	buf_printf(b,
		   " RETURN NULL; END $note$; CREATE TRIGGER " POSTGRES_NOTE
		   " AFTER INSERT OR UPDATE OR DELETE ON \"%s\".\"%s\" FOR EACH ROW EXECUTE FUNCTION "
		   "\"%s\"." POSTGRES_NOTE "_%u();",
		   s->schema, one->name, s->schema, table);
}

static int make_notes(struct pg_side *s, const struct copy_tables *t, struct err *reterr)
{
	struct buf b;
	int rc;

	buf_init(&b, (size_t)1 << 20);
	buf_printf(&b, "BEGIN; LOCK TABLE gate IN EXCLUSIVE MODE; ");
	buf_printf(&b, POSTGRES_FORGET_NOTES, s->schema, s->schema);
	buf_printf(&b,
		   "; CREATE UNLOGGED TABLE \"%s\"." POSTGRES_NOTE
		   " (t int2, n0 int8, n1 int8, n2 int8, b bytea);",
		   s->schema);
	for (unsigned i = 0; i < t->n; i++)
		put_trigger(&b, s, t, i);
	buf_printf(&b, "COMMIT");
	buf_put_u8(&b, 0);
	rc = b.failed ? err_nomem(reterr) : postgres_side_run_on(s, s->h, (const char *)b.data, reterr);
	buf_fini(&b);
	return rc;
}

/* Past the gate nobody has a table locked: no deadlock with those who write. An open transaction
 * has it for as long as it likes. */
static int source_note(struct copy_side *base, const struct copy_tables *t, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	int rc;

	s->notes = true;
	while ((rc = make_notes(s, t, reterr)) < 0 && s->late && !engine_copy_is_stopped(base)) {
		PQfinish(s->h);
		s->h = NULL;
		if (postgres_side_connect(s, &s->h, reterr) < 0)
			return -1;
	}
	return rc;
}

static int add_key(void *arg, const PGresult *r, struct err *reterr)
{
	struct copy_key k = { .table = (uint8_t)strtoul(PQgetvalue(r, 0, 0), NULL, 10) };
	const char *hex = PQgetvalue(r, 0, 1 + COPY_KEY_NUMBERS);

	for (int i = 0; i < COPY_KEY_NUMBERS; i++)
		k.numbers[i] = strtoll(PQgetvalue(r, 0, 1 + i), NULL, 10);
	for (size_t i = 2; k.nbytes < COPY_KEY_BYTES && hex[0] != '\0' && hex[i] != '\0'; i += 2) {
		char digits[3] = { hex[i], hex[i + 1], '\0' };

		k.bytes[k.nbytes++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return catalogue_copy_keys_add(arg, &k) == 0
		       ? 0
		       : err_raise(reterr, 50021, 16, 1,
				   "More rows change than can be remembered until they are copied. Move the "
				   "database when less is done in it.");
}

/* What has been noted and what is read belong to one snapshot. */
static int source_look(struct copy_side *base, struct copy_keys *add, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);

	if (postgres_side_run(s, reterr, "BEGIN ISOLATION LEVEL REPEATABLE READ") < 0)
		return -1;
	if (PQsendQuery(s->h, "SELECT t, n0, n1, n2, b FROM " POSTGRES_NOTE) != 1 ||
	    PQsetSingleRowMode(s->h) != 1)
		return postgres_side_failed(s, NULL, s->h, reterr);
	return postgres_side_take_all(s, s->h, add_key, add, reterr);
}

static int source_looked(struct copy_side *base, struct err *reterr)
{
	return postgres_side_run(postgres_side_of(base), reterr, "DELETE FROM " POSTGRES_NOTE "; COMMIT");
}

/* Whoever starts now waits; whoever runs is seen; whoever wakes from a long sleep finds the gate
 * taken. */
static int source_settle(struct copy_side *base, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	char got[8];

	if (s->fence == NULL && postgres_side_connect(s, &s->fence, reterr) < 0)
		return -1;
	if (postgres_side_ask(s, s->fence, got, sizeof(got), reterr, "SELECT pg_try_advisory_lock(%d, 0)",
			      PG_ADVISORY) < 0)
		return -1;
	if (got[0] != 't')
		return err_raise(reterr, 50020, 16, 1,
				 "Another server is starting that would use this database, too. In SQLite it "
				 "belongs to one server alone: stop that one, then move the database.");
	return check_alone(s, s->fence, reterr) < 0
		       ? -1
		       : postgres_side_run_on(
				 s, s->fence,
				 "SET lock_timeout = '2s'; BEGIN; LOCK TABLE gate IN EXCLUSIVE MODE", reterr);
}

static int source_sound(struct copy_side *base, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	const char *name = s->db->base.name;
	char text[16];

	if (postgres_side_ask(s, s->h, text, sizeof(text), reterr,
			      "SELECT 1 WHERE to_regclass('damaged') IS NOT NULL") < 0)
		return -1;
	if (text[0] == '1' &&
	    postgres_side_ask(s, s->h, text, sizeof(text), reterr, "SELECT 2 FROM damaged LIMIT 1") < 0)
		return -1;
	return text[0] == '2' ? err_set(reterr, ERR_DAMAGED, name, name) : 0;
}

static int source_clock(struct copy_side *base, int64_t *ret, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	int64_t latest;

	if (postgres_side_ask_number(s, ret, reterr,
				     "SELECT greatest((SELECT max(floor) FROM clock), ticks())") < 0)
		return -1;
	latest = atomic_load(&s->db->clock);
	*ret = *ret > latest ? *ret : latest;
	return 0;
}

static int source_bytes(struct copy_side *base, uint64_t *ret, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	int64_t n;
	int rc = postgres_side_ask_number(
		s, &n, reterr,
		"SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 FROM pg_class c JOIN "
		"pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '%s' AND c.relkind = 'r'",
		s->schema);

	*ret = (uint64_t)n;
	return rc;
}

static const struct copy_ops source_ops = {
	.close = postgres_side_close,
	.tables = postgres_side_tables,
	.note = source_note,
	.look = source_look,
	.looked = source_looked,
	.settle = source_settle,
	.sound = source_sound,
	.clock = source_clock,
	.bytes = source_bytes,
	.each = postgres_side_each,
	.find = postgres_side_find,
	.last = postgres_side_last,
	.count = postgres_side_count,
};

int postgres_copy_from(struct engine_database *base, const struct copy_watch *w, struct copy_side **ret,
		       struct err *reterr)
{
	struct pg_database *db = CONTAINER_OF(base, struct pg_database, base);
	struct pg_side *s = postgres_side_new(db->engine, &source_ops, w);

	if (s == NULL)
		return err_nomem(reterr);
	s->db = db;
	memcpy(s->schema, db->schema, sizeof(s->schema));
	memcpy(s->code, db->code, sizeof(s->code));
	if (postgres_side_connect(s, &s->h, reterr) < 0 || check_alone(s, s->h, reterr) < 0) {
		postgres_side_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}
