/* copy_rows.c — rows out of either side of a move: all of a table, or those of some keys, one after
 * the other and in binary, so that no more than one is in memory. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/copy_int.h"

#define KEYS_AT_ONCE 1000

/* ---- rows out ---- */

struct giving {
	struct pg_side *side;
	const struct copy_table *table;
	copy_row *row;
	void *arg;
};

static int cell_of(struct pg_side *s, const PGresult *r, int i, const struct copy_column *c,
		   struct copy_cell *ret, struct err *reterr)
{
	struct str text = { PQgetvalue(r, 0, i), (size_t)PQgetlength(r, 0, i) };
	uint64_t number;

	*ret = (struct copy_cell){ .kind = PQgetisnull(r, 0, i) ? COPY_NULL : c->kind };
	if (ret->kind == COPY_NUMBER) {
		if (text.n != sizeof(number))
			return err_raise(reterr, 50021, 16, 1, "PostgreSQL gives no bigint for column '%s'.",
					 c->name);
		memcpy(&number, text.p, sizeof(number));
		ret->number = (int64_t)be64toh(number);
	} else if (ret->kind == COPY_TEXT) {
		return postgres_text_in(text, &s->arena, &ret->bytes, reterr);
	} else if (ret->kind == COPY_BYTES) {
		ret->bytes = text;
	}
	return 0;
}

static int give_row(void *arg, const PGresult *r, struct err *reterr)
{
	const struct giving *g = arg;
	struct copy_cell cells[COPY_COLUMNS];

	arena_reset(&g->side->arena);
	for (unsigned i = 0; i < g->table->ncolumns; i++) {
		if (cell_of(g->side, r, (int)i, &g->table->columns[i], &cells[i], reterr) < 0)
			return -1;
	}
	return g->row(g->arg, cells, reterr);
}

static void put_columns(struct buf *b, const struct copy_table *t)
{
	for (unsigned i = 0; i < t->ncolumns; i++)
		buf_printf(b, "%st.\"%s\"", i == 0 ? "" : ", ", t->columns[i].name);
}

/* One row after the other, in binary. */
static int select_rows(struct pg_side *s, struct buf *sql, int n, const char *const *values,
		       const struct giving *g, struct err *reterr)
{
	buf_put_u8(sql, 0);
	if (sql->failed)
		return err_nomem(reterr);
	if (PQsendQueryParams(s->h, (const char *)sql->data, n, NULL, values, NULL, NULL, 1) != 1 ||
	    PQsetSingleRowMode(s->h) != 1)
		return postgres_side_failed(s, NULL, s->h, reterr);
	return postgres_side_take_all(s, s->h, give_row, (void *)g, reterr);
}

int postgres_side_each(struct copy_side *base, const struct copy_table *t, copy_row *row, void *arg,
		       struct err *reterr)
{
	struct giving g = { postgres_side_of(base), t, row, arg };
	struct buf sql;
	int rc;

	buf_init(&sql, POSTGRES_PIECE);
	buf_printf(&sql, "SELECT ");
	put_columns(&sql, t);
	buf_printf(&sql, " FROM \"%s\" AS t", t->name);
	for (unsigned i = 0; i < t->nkeys; i++)
		buf_printf(&sql, "%st.\"%s\"", i == 0 ? " ORDER BY " : ", ", t->columns[t->keys[i]].name);
	rc = select_rows(g.side, &sql, 0, NULL, &g, reterr);
	buf_fini(&sql);
	return rc;
}

/* ---- keys as arrays: $1 … ---- */

static void put_key_part(struct buf *b, const struct copy_table *t, const struct copy_key *k, unsigned part)
{
	unsigned numbers = 0;

	if (t->columns[t->keys[part]].kind == COPY_BYTES) {
		buf_printf(b, "\"\\\\x");
		for (unsigned i = 0; i < k->nbytes; i++)
			buf_printf(b, "%02x", k->bytes[i]);
		buf_printf(b, "\"");
		return;
	}
	for (unsigned i = 0; i < part; i++)
		numbers += t->columns[t->keys[i]].kind == COPY_NUMBER;
	buf_printf(b, "%lld", (long long)k->numbers[numbers]);
}

static void arrays_make(struct pg_key_arrays *a, const struct copy_table *t, const struct copy_key *keys,
			size_t n)
{
	a->failed = false;
	for (unsigned p = 0; p < t->nkeys; p++) {
		struct buf *b = &a->part[p];

		buf_init(b, (size_t)1 << 20);
		for (size_t i = 0; i < n; i++) {
			buf_printf(b, "%c", i == 0 ? '{' : ',');
			put_key_part(b, t, &keys[i], p);
		}
		buf_printf(b, "}");
		buf_put_u8(b, 0);
		a->values[p] = (const char *)b->data;
		a->failed |= b->failed;
	}
}

static void arrays_fini(struct pg_key_arrays *a, const struct copy_table *t)
{
	for (unsigned p = 0; p < t->nkeys; p++)
		buf_fini(&a->part[p]);
}

void postgres_side_put_keys(struct buf *b, const struct copy_table *t, const char *row)
{
	for (unsigned i = 0; i < t->nkeys; i++)
		buf_printf(b, "%s$%u::%s[]", i == 0 ? "unnest(" : ", ", i + 1,
			   t->columns[t->keys[i]].kind == COPY_BYTES ? "bytea" : "int8");
	for (unsigned i = 0; i < t->nkeys; i++)
		buf_printf(b, "%s k%u", i == 0 ? ") AS k(" : ",", i);
	buf_printf(b, ") ");
	for (unsigned i = 0; i < t->nkeys; i++)
		buf_printf(b, "%s \"%s\".\"%s\" = k.k%u", i == 0 ? "WHERE" : " AND", row,
			   t->columns[t->keys[i]].name, i);
}

int postgres_side_for_keys(struct pg_side *s, const struct copy_table *t, const struct copy_key *keys,
			   size_t n, pg_key_statement *one, void *arg, struct err *reterr)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i += KEYS_AT_ONCE) {
		struct pg_key_arrays a;

		arrays_make(&a, t, keys + i, n - i < KEYS_AT_ONCE ? n - i : KEYS_AT_ONCE);
		rc = a.failed ? err_nomem(reterr) : one(s, t, &a, arg, reterr);
		arrays_fini(&a, t);
	}
	return rc;
}

static int find_some(struct pg_side *s, const struct copy_table *t, const struct pg_key_arrays *a, void *arg,
		     struct err *reterr)
{
	struct buf sql;
	int rc;

	buf_init(&sql, POSTGRES_PIECE);
	buf_printf(&sql, "SELECT ");
	put_columns(&sql, t);
	buf_printf(&sql, " FROM \"%s\" AS t, ", t->name);
	postgres_side_put_keys(&sql, t, "t");
	rc = select_rows(s, &sql, (int)t->nkeys, a->values, arg, reterr);
	buf_fini(&sql);
	return rc;
}

int postgres_side_find(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
		       size_t n, copy_row *row, void *arg, struct err *reterr)
{
	struct giving g = { postgres_side_of(base), t, row, arg };

	return t->nkeys == 0 ? postgres_side_each(base, t, row, arg, reterr)
			     : postgres_side_for_keys(g.side, t, keys, n, find_some, &g, reterr);
}

int postgres_side_count(struct copy_side *base, const struct copy_table *t, uint64_t *ret, struct err *reterr)
{
	int64_t n;
	int rc = postgres_side_ask_number(postgres_side_of(base), &n, reterr, "SELECT count(*) FROM \"%s\"",
					  t->name);

	*ret = (uint64_t)n;
	return rc;
}

/* ---- numbers that are given ---- */

int postgres_side_sequence(struct pg_side *s, const struct copy_table *t, char *dst, size_t size,
			   struct err *reterr)
{
	return postgres_side_ask(s, s->h, dst, size, reterr,
				 "SELECT pg_get_serial_sequence('\"%s\".\"%s\"', '%s')", s->schema, t->name,
				 t->columns[t->keys[0]].name);
}

int postgres_side_last(struct copy_side *base, const struct copy_table *t, int64_t *ret, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	char name[200];

	if (postgres_side_sequence(s, t, name, sizeof(name), reterr) < 0)
		return -1;
	if (name[0] == '\0')
		return postgres_side_ask_number(s, ret, reterr, "SELECT max(\"%s\") FROM \"%s\"",
						t->columns[t->keys[0]].name, t->name);
	return postgres_side_ask_number(
		s, ret, reterr, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM %s", name);
}
