/* memory.c — how many pages SQLite keeps, so that a large value costs little more than itself.
 * It keeps those of what passes by; those of a large value are not worth it, neither until they
 * are written nor after they have been read. */
#include <stdio.h>

#include "engine/sqlite/store/store_int.h"

#define READER_CACHE_MIB 4
#define SMALL_CACHE_MIB 16
#define NARROW_CACHE_MIB 2

int store_set_cache(struct store_conn *c)
{
	unsigned mib = c->read_only               ? READER_CACHE_MIB
		       : c->narrow                ? NARROW_CACHE_MIB
		       : c->store->cache_mib == 0 ? SMALL_CACHE_MIB
						  : c->store->cache_mib;
	char sql[60];

	snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%llu", (unsigned long long)mib * 1024);
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

/* Where it fails, the value costs more memory, nothing else. */
static void set_narrow(struct store_conn *c, bool narrow)
{
	if (c->narrow == narrow || c->read_only)
		return;
	c->narrow = narrow;
	store_set_cache(c);
}

void store_narrow(struct store_conn *c)
{
	set_narrow(c, true);
}

void store_widen(struct store_conn *c)
{
	set_narrow(c, false);
}
