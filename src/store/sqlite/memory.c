/* memory.c — the memory that SQLite works with, so that a large value costs little more than itself.
 * SQLite makes one block of every row that it writes or reads, and touches it once: large blocks are worth huge pages (base/block.h). And it keeps the pages
 * of what passes by; those of a large value are not worth keeping, neither until they are written nor after they have been read. */
#include <stdio.h>

#include "base/block.h"
#include "store/sqlite/sqlite_int.h"

#define READER_CACHE_MIB 4
#define SMALL_CACHE_MIB 16
#define NARROW_CACHE_MIB 2

/* In front of every block: SQLite asks for sizes. Eight bytes keep the alignment that it wants. */
struct head {
	uint64_t size;
};

static struct head *head_of(void *p)
{
	return (struct head *)p - 1;
}

static void *resize(void *p, int n)
{
	struct head *old = p == NULL ? NULL : head_of(p);
	struct head *h = block_resize(old, old == NULL ? 0 : sizeof(*h) + old->size, sizeof(*h) + (size_t)n);

	if (h == NULL)
		return NULL;
	h->size = (uint64_t)n;
	return h + 1;
}

static void *mem_malloc(int n)
{
	return resize(NULL, n);
}

static void mem_free(void *p)
{
	if (p != NULL)
		block_free(head_of(p), sizeof(struct head) + head_of(p)->size);
}

static int mem_size(void *p)
{
	return p == NULL ? 0 : (int)head_of(p)->size;
}

static int mem_roundup(int n)
{
	return (n + 7) & ~7;
}

static int mem_init(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

static void mem_shutdown(void *arg)
{
	(void)arg;
}

void sqlite_memory_set_up(void)
{
	static const sqlite3_mem_methods methods = { mem_malloc, mem_free, resize, mem_size, mem_roundup, mem_init, mem_shutdown, NULL };

	/* SQLite would take a lock for its statistics with every allocation. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

int sqlite_set_cache(struct sqlite_conn *c)
{
	unsigned mib = c->read_only ? READER_CACHE_MIB : c->narrow ? NARROW_CACHE_MIB : c->store->cache_mib == 0 ? SMALL_CACHE_MIB : c->store->cache_mib;
	char sql[60];

	snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%llu", (unsigned long long)mib * 1024);
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL);
}

/* Where it fails, the value costs more memory, nothing else. */
static void set_narrow(struct sqlite_conn *c, bool narrow)
{
	if (c->narrow == narrow || c->read_only)
		return;
	c->narrow = narrow;
	sqlite_set_cache(c);
}

void sqlite_narrow(struct sqlite_conn *c)
{
	if (sqlite_in_transaction(&c->base))
		sqlite_read_ahead(c, true);
	set_narrow(c, true);
}

void sqlite_widen(struct sqlite_conn *c)
{
	sqlite_read_ahead(c, false);
	set_narrow(c, false);
}
