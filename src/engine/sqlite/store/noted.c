/* noted.c — which rows change while a database is moved: triggers of the writing connection alone
 * (they are made with it and are not in the file) call note() with the key. Keys of a transaction
 * are told when it has been committed, before anybody can see what it did without them. Nothing of
 * it is written, and nothing is left when the process ends. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/sqlite/store/store_int.h"

struct store_noted {
	struct lock lock;
	struct copy_keys keys; /* under the lock */
	bool lost;             /* under the lock: one could not be kept */
	struct copy_tables tables;
};

struct store_noted *store_noted_new(void)
{
	struct store_noted *n = calloc(1, sizeof(*n));

	if (n != NULL)
		lock_init(&n->lock);
	return n;
}

void store_noted_free(struct store_noted *n)
{
	if (n == NULL)
		return;
	catalogue_copy_keys_fini(&n->keys);
	lock_fini(&n->lock);
	free(n);
}

void store_noted_tables(struct store_noted *n, const struct copy_tables *t)
{
	n->tables = *t;
}

int store_noted_take(struct store_noted *n, struct copy_keys *add, struct err *reterr)
{
	bool lost;

	lock_take(&n->lock);
	lost = n->lost;
	for (size_t i = 0; i < n->keys.n && !lost; i++)
		lost = catalogue_copy_keys_add(add, &n->keys.list[i]) < 0;
	n->keys.n = 0;
	lock_give(&n->lock);
	return lost ? err_raise(reterr, 50021, 16, 1,
				"More rows change than can be remembered until they are copied. Move the "
				"database when less is done in it.")
		    : 0;
}

/* note(table, key …) */
static void note(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct store_conn *c = sqlite3_user_data(ctx);
	struct copy_key key = { .table = (uint8_t)sqlite3_value_int(v[0]) };
	unsigned numbers = 0;

	for (int i = 1; i < n; i++) {
		if (sqlite3_value_type(v[i]) == SQLITE_BLOB) {
			key.nbytes = (uint8_t)sqlite3_value_bytes(v[i]);
			if (key.nbytes > COPY_KEY_BYTES)
				c->note.lost = true;
			else if (key.nbytes > 0)
				memcpy(key.bytes, sqlite3_value_blob(v[i]), key.nbytes);
		} else if (numbers < COPY_KEY_NUMBERS) {
			key.numbers[numbers++] = sqlite3_value_int64(v[i]);
		}
	}
	if (catalogue_copy_keys_add(&c->note.pending, &key) < 0)
		c->note.lost = true;
}

static void put_call(struct buf *b, const struct copy_tables *t, unsigned table, const char *row)
{
	const struct copy_table *one = &t->table[table];

	buf_printf(b, " SELECT note(%u", table);
	for (unsigned i = 0; i < one->nkeys; i++)
		buf_printf(b, ", %s.\"%s\"", row, one->columns[one->keys[i]].name);
	buf_printf(b, ");");
}

static void put_triggers(struct buf *b, const struct copy_tables *t, unsigned table)
{
	static const char *const events[] = { "INSERT", "UPDATE", "DELETE" };

	for (unsigned e = 0; e < ARRAY_LEN(events); e++) {
		buf_printf(b,
			   "DROP TRIGGER IF EXISTS temp.note_%u_%u; CREATE TEMP TRIGGER note_%u_%u AFTER %s "
			   "ON main.\"%s\" BEGIN",
			   table, e, table, e, events[e], t->table[table].name);
		if (e != 0)
			put_call(b, t, table, "OLD");
		if (e != 2)
			put_call(b, t, table, "NEW");
		buf_printf(b, " END;\n");
	}
}

static int script_of(struct store_conn *c, const struct copy_tables *t, bool on, struct err *reterr)
{
	struct buf b;
	int rc;

	buf_init(&b, (size_t)1 << 20);
	for (unsigned i = 0; i < t->n; i++) {
		if (on)
			put_triggers(&b, t, i);
		for (unsigned e = 0; !on && e < 3; e++)
			buf_printf(&b, "DROP TRIGGER IF EXISTS temp.note_%u_%u;", i, e);
	}
	buf_put_u8(&b, 0);
	rc = b.failed ? err_nomem(reterr) : store_script(c, (const char *)b.data, reterr);
	buf_fini(&b);
	return rc;
}

int store_note(struct store_conn *c, struct store_noted *noted, struct err *reterr)
{
	struct store_noted *old = c->note.to;
	int rc;

	assert(!c->read_only && !store_in_transaction(c));
	c->note.to = noted;
	if (noted == NULL) /* those of an earlier one that failed are forgotten by the next */
		return old == NULL ? 0 : script_of(c, &old->tables, false, reterr);
	rc = sqlite3_create_function_v2(c->db, "note", -1, SQLITE_UTF8, c, note, NULL, NULL, NULL);
	return rc == SQLITE_OK ? script_of(c, &noted->tables, true, reterr) : store_error(c, rc, reterr);
}

/* ---- along with the transaction ---- */

void store_note_begin(struct store_conn *c)
{
	c->note.pending.n = 0;
	c->note.lost = false;
}

void store_note_commit(struct store_conn *c)
{
	struct store_noted *to = c->note.to;

	if (to == NULL || (c->note.pending.n == 0 && !c->note.lost))
		return;
	lock_take(&to->lock);
	to->lost = to->lost || c->note.lost;
	for (size_t i = 0; i < c->note.pending.n && !to->lost; i++)
		to->lost = catalogue_copy_keys_add(&to->keys, &c->note.pending.list[i]) < 0;
	lock_give(&to->lock);
	store_note_begin(c);
}

void store_note_fini(struct store_conn *c)
{
	catalogue_copy_keys_fini(&c->note.pending);
}
