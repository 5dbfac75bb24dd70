/* items.c — groups side by side are about different items: a call waits while a group under way is
 * about the same one, as long as groups are quick. So none of them waits in PostgreSQL for a row
 * that another one has, only to fail and to be run again; and none can wait for another in a
 * circle, in whatever order their statements lock rows, as long as no other server writes beside
 * this one.
 *
 * Items are counted by a hash of their names: two that have the same number wait for each other
 * without need, seldom. */
#include <string.h>

#include "engine/postgres/postgres_int.h"

const struct str *postgres_item_name(const struct call *c)
{
	const struct value *v = c->kind == CALL_PROC && c->nvalues > 0 ? &c->values[0] : NULL;
	bool text = v != NULL && !v->null && (v->type.id == TYPE_VARCHAR || v->type.id == TYPE_NVARCHAR);

	return text ? &v->u.s : NULL;
}

/* FNV-1a. Blanks at the end make no difference [E-COM-08]. */
static uint16_t number_of(const struct call *c)
{
	const struct str *name = postgres_item_name(c);
	uint32_t hash = 0x811c9dc5U;
	size_t n = name == NULL ? 0 : name->n;

	if (name == NULL)
		return PG_ITEM_NONE;
	while (n > 0 && name->p[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)name->p[i]) * 0x01000193U;
	return (uint16_t)(1 + (hash ^ hash >> 16) % (PG_ITEMS - 1));
}

bool postgres_item_is_busy(const struct pg_database *db, const struct call *c)
{
	assert(lock_is_mine(&db->lock));
	return !db->takes_turns && db->busy[number_of(c)] > 0;
}

void postgres_items_hold(struct pg_worker *w)
{
	struct pg_database *db = w->db;

	assert(lock_is_mine(&db->lock) && w->nitems == 0);
	if (db->takes_turns || w->kind != PG_WRITER)
		return;
	for (size_t i = 0; i < w->ngroup; i++) {
		uint16_t item = number_of(w->group[i].call);

		if (item == PG_ITEM_NONE)
			continue;
		assert(db->busy[item] < UINT16_MAX); /* workers are few, and so are calls of a group */
		db->busy[item]++;
		w->items[w->nitems++] = item;
	}
}

void postgres_items_release(struct pg_worker *w)
{
	struct pg_database *db = w->db;

	assert(lock_is_mine(&db->lock));
	for (; w->nitems > 0; w->nitems--) {
		assert(db->busy[w->items[w->nitems - 1]] > 0);
		db->busy[w->items[w->nitems - 1]]--;
	}
}

bool postgres_items_are_ours(const struct pg_database *db)
{
	return db->takes_turns || atomic_load_explicit(&db->engine->alone, memory_order_relaxed);
}
