/* damage.c — databases that cannot be served, or in which something was found while they are; and
 * the lists of names with which the operator says what is to be done about them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "databases/databases_int.h"

bool databases_listed(const char *list, const char *name)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");
		struct str one = str_trim((struct str){ list, n });

		if (one.n > 0 && str_eq_nocase(one, str_of(name)))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

void databases_warn_unknown(struct databases *d, const char *setting, const char *list)
{
	const struct log_ctx ctx = { 0 };

	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		struct str one = str_trim((struct str){ list, n });
		char name[129];

		str_copy(name, sizeof(name), one);
		if (one.n > 0 && databases_find(d, one) == NULL)
			LOG(LOG_WARN, &ctx, "unknown_database", F_STR("setting", setting),
			    F_STR("name", name), F_STR("remedy", "procession database list shows the names"));
		list += n + (list[n] == ',');
	}
}

/* A database that cannot be served has its name, its number and the reason. */
int databases_add_damaged(struct databases *d, const struct database_row *r, const struct err *why,
			  struct err *reterr)
{
	const struct log_ctx ctx = { .database = r->name };
	struct database_entry *e = databases_entry_new(r);

	if (e == NULL)
		return err_nomem(reterr);
	e->damage = strdup(why->text);
	e->elsewhere = databases_row_is_elsewhere(d, r);
	e->other = databases_row_is_other(d, r);
	if (e->damage == NULL || databases_publish(d, e, reterr) < 0) {
		bool full = e->damage != NULL;

		databases_entry_free(e);
		return full ? -1 : err_nomem(reterr);
	}
	if (e->elsewhere)
		LOG(LOG_INFO, &ctx, "database_elsewhere", F_STR("server", r->server));
	else
		LOG(LOG_ERROR, &ctx, "database_damaged", F_STR("reason", why->text));
	return 0;
}

const char *databases_damage(const struct database *db)
{
	const struct database_entry *e = CONTAINER_OF(db, const struct database_entry, db);

	assert(e->damage != NULL || e->db.engine != NULL); /* invariant 2 */
	return e->damage != NULL ? e->damage : engine_damage(e->db.engine);
}

size_t databases_damaged(struct databases *d)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire), damaged = 0;

	for (size_t i = 0; i < n; i++)
		damaged += !atomic_load(&d->entries[i]->dropped) && !d->entries[i]->elsewhere &&
			   databases_damage(&d->entries[i]->db) != NULL;
	return damaged;
}
