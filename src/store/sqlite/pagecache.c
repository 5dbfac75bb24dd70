/* pagecache.c — SQLite's own page cache, spared one kind of work. At the end of a transaction SQLite drops the pages behind the end of the file. Its cache remembers only the
 * highest number that it ever held; balancing a tree lends a page, for a moment, the number of the page at 1 GiB; and from then on each such commit walks the whole cache to
 * find nothing. Here the highest number is known exactly, and the walk is left out when there is nothing to drop. */
#include <stdlib.h>

#include "store/sqlite/sqlite_int.h"

struct cache {
	sqlite3_pcache *real;           /* owned */
	unsigned highest;               /* no page has a higher number … */
	unsigned before;                /* … and what it was before a page was lent it; 0: nothing is lent */
};

static sqlite3_pcache_methods2 real;        /* SQLite's own; set once, before it starts */

static struct cache *of(sqlite3_pcache *c)
{
	return (struct cache *)c;
}

static int cache_init(void *arg)
{
	(void)arg;
	return real.xInit(real.pArg);
}

static void cache_shutdown(void *arg)
{
	(void)arg;
	real.xShutdown(real.pArg);
}

static sqlite3_pcache *cache_create(int page, int extra, int purgeable)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->real = real.xCreate(page, extra, purgeable);
	if (c->real == NULL) {
		free(c);
		return NULL;
	}
	return (sqlite3_pcache *)c;
}

static void cache_size(sqlite3_pcache *c, int pages)
{
	real.xCachesize(of(c)->real, pages);
}

static int cache_count(sqlite3_pcache *c)
{
	return real.xPagecount(of(c)->real);
}

static sqlite3_pcache_page *cache_fetch(sqlite3_pcache *c, unsigned number, int create)
{
	sqlite3_pcache_page *p = real.xFetch(of(c)->real, number, create);

	if (p != NULL && number > of(c)->highest)
		of(c)->highest = number;
	return p;
}

static void cache_unpin(sqlite3_pcache *c, sqlite3_pcache_page *p, int discard)
{
	real.xUnpin(of(c)->real, p, discard);
}

static void cache_rekey(sqlite3_pcache *c, sqlite3_pcache_page *p, unsigned from, unsigned to)
{
	struct cache *k = of(c);

	real.xRekey(k->real, p, from, to);
	if (to > k->highest) {
		k->before = k->highest;
		k->highest = to;
	} else if (from == k->highest && k->before != 0) {
		k->highest = k->before;
		k->before = 0;
	}
}

static void cache_truncate(sqlite3_pcache *c, unsigned limit)
{
	struct cache *k = of(c);

	if (limit > k->highest)
		return;
	real.xTruncate(k->real, limit);
	k->highest = limit > 0 ? limit - 1 : 0;
	k->before = 0;
}

static void cache_destroy(sqlite3_pcache *c)
{
	real.xDestroy(of(c)->real);
	free(c);
}

static void cache_shrink(sqlite3_pcache *c)
{
	real.xShrink(of(c)->real);
}

void sqlite_register_pagecache(void)
{
	static const sqlite3_pcache_methods2 methods = {
		.iVersion = 1, .xInit = cache_init, .xShutdown = cache_shutdown, .xCreate = cache_create, .xCachesize = cache_size, .xPagecount = cache_count,
		.xFetch = cache_fetch, .xUnpin = cache_unpin, .xRekey = cache_rekey, .xTruncate = cache_truncate, .xDestroy = cache_destroy,
		.xShrink = cache_shrink,
	};

	if (sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &real) == SQLITE_OK)
		sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods);
}
