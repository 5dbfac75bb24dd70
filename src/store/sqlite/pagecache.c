/* pagecache.c — the pages that a connection keeps in memory: what SQLite's own cache does, with fewer places of memory visited for each page.
 *
 * SQLite's cache takes a page out of a list when it is used and puts it back when it is not, which writes to two other pages each time; and it keeps what it knows of a page
 * behind the page. Here what is known of a page lies in front of it, a page that is used stays in its place in the queue, and only who needs room looks whether it was used
 * since: then it goes to the end, once. Pages lie together in large blocks (base/block.h), which makes translating their addresses cheaper too. */
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/list.h"
#include "store/sqlite/sqlite_int.h"

#define LINE 64
#define PAGE_BEGINNING (3 * (size_t)LINE)   /* its header, and where its first rows are */
#define SLAB_LEAST 8                        /* pages */
#define SLAB_MOST 512
#define SLAB_LARGE (((size_t)6 << 20) - 4096)   /* bytes: three huge pages, with what block.c has in front */
#define BUCKETS_LEAST 64

/* A page, and what is known of it. Behind it: SQLite's own notes, then the page. */
struct frame {
	sqlite3_pcache_page page;           /* first: all that SQLite knows of a frame */
	struct frame *next;                 /* in its bucket; or of the free ones */
	struct list queue;                  /* not pinned when it came there; empty: it is pinned or free */
	unsigned number;                    /* of the page */
	bool pinned;                        /* SQLite has it in its hands, or it was changed */
	bool used;                          /* since it came to the end of the queue */
};

struct slab {
	struct slab *next;
	size_t bytes;
};

struct cache {
	struct frame **buckets;             /* owned; by the last bits of the number */
	unsigned mask;
	unsigned pages, pinned, frames;     /* in use; of these pinned; all */
	unsigned limit;                     /* pages */
	unsigned highest;                   /* no page has a higher number … */
	unsigned before;                    /* … and what it was before a page was lent it; 0: nothing is lent */
	bool purgeable;                     /* the pages can be read again */
	size_t page_bytes, frame_bytes;     /* the latter with SQLite's notes */
	struct frame *free;
	struct list queue;                  /* who was used least lately first, roughly */
	struct slab *slabs;                 /* owned */
};

static struct cache *of(sqlite3_pcache *c)
{
	return (struct cache *)c;
}

static size_t rounded(size_t n)
{
	return (n + LINE - 1) / LINE * LINE;
}

/* ---- buckets ---- */

static struct frame **bucket(const struct cache *c, unsigned number)
{
	return &c->buckets[number & c->mask];
}

static void enter(struct cache *c, struct frame *f, unsigned number)
{
	struct frame **b = bucket(c, number);

	f->number = number;
	f->next = *b;
	*b = f;
}

static void leave(struct cache *c, struct frame *f)
{
	struct frame **at = bucket(c, f->number);

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
}

static bool set_buckets(struct cache *c, unsigned n)
{
	struct frame **old = c->buckets, **made = calloc(n, sizeof(*made));
	unsigned count = old == NULL ? 0 : c->mask + 1;

	if (made == NULL)
		return false;
	c->buckets = made;
	c->mask = n - 1;
	for (unsigned i = 0; i < count; i++) {
		for (struct frame *f = old[i], *next; f != NULL; f = next) {
			next = f->next;
			enter(c, f, f->number);
		}
	}
	free(old);
	return true;
}

/* ---- frames ---- */

/* The cells of a slab lie apart by more than a page, so that the beginnings of pages do not compete for the same lines of the processor's cache. */
static void cut(struct cache *c, struct slab *s, unsigned n)
{
	uint8_t *at = (uint8_t *)s + rounded(sizeof(*s));

	for (unsigned i = 0; i < n; i++, at += c->frame_bytes + c->page_bytes) {
		struct frame *f = (struct frame *)(void *)at;

		memset(f, 0, sizeof(*f));
		f->page.pExtra = f + 1;
		f->page.pBuf = at + c->frame_bytes;
		list_init(&f->queue);
		f->next = c->free;
		c->free = f;
	}
	c->frames += n;
}

/* How many pages more: an eighth of what there is, so that what is not needed in the end is little; and all huge pages are filled. */
static unsigned slab_pages(const struct cache *c)
{
	unsigned eighth = c->frames / 8, large = (unsigned)(SLAB_LARGE / (c->frame_bytes + c->page_bytes));
	unsigned n = eighth < SLAB_LEAST ? SLAB_LEAST : eighth >= large ? large : eighth > SLAB_MOST ? SLAB_MOST : eighth;
	unsigned room = c->limit > c->frames ? c->limit - c->frames : SLAB_LEAST;

	return c->purgeable && n > room ? room : n;
}

static bool add_slab(struct cache *c)
{
	unsigned n = slab_pages(c);
	size_t bytes = rounded(sizeof(struct slab)) + n * (c->frame_bytes + c->page_bytes);
	struct slab *s;

	s = block_resize(NULL, 0, bytes);
	if (s == NULL)
		return false;
	s->bytes = bytes;
	s->next = c->slabs;
	c->slabs = s;
	cut(c, s, n);
	return true;
}

static void unqueue(struct frame *f)
{
	if (!list_empty(&f->queue))
		list_remove(&f->queue);
}

static void drop(struct cache *c, struct frame *f)
{
	leave(c, f);
	unqueue(f);
	c->pages--;
	c->pinned -= f->pinned;
	f->pinned = false;
	f->next = c->free;
	c->free = f;
}

/* Drops the first of the queue that was not used since it came there. */
static bool drop_one(struct cache *c)
{
	struct list *it;

	while ((it = list_pop(&c->queue)) != NULL) {
		struct frame *f = CONTAINER_OF(it, struct frame, queue);

		if (f->pinned)
			continue;                   /* comes back when it is not */
		if (!f->used) {
			drop(c, f);
			return true;
		}
		f->used = false;
		list_append(&c->queue, it);
	}
	return false;
}

static struct frame *take_free(struct cache *c)
{
	struct frame *f;

	if (c->free == NULL && !add_slab(c))
		(void)drop_one(c);
	f = c->free;
	if (f != NULL)
		c->free = f->next;
	return f;
}

/* ---- what SQLite calls ---- */

static int cache_init(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

static void cache_shutdown(void *arg)
{
	(void)arg;
}

static sqlite3_pcache *cache_create(int page, int extra, int purgeable)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	if (!set_buckets(c, BUCKETS_LEAST)) {
		free(c);
		return NULL;
	}
	c->purgeable = purgeable != 0;
	c->page_bytes = (size_t)page;
	c->frame_bytes = rounded(sizeof(struct frame) + (size_t)extra);
	list_init(&c->queue);
	return (sqlite3_pcache *)c;
}

/* Fewer pages than there are, as beside a large value (memory.c): no more memory; and what comes then is the first to go, so that the others stay. */
static void cache_size(sqlite3_pcache *c, int pages)
{
	of(c)->limit = pages > 0 ? (unsigned)pages : 0;
}

static int cache_count(sqlite3_pcache *c)
{
	return (int)of(c)->pages;
}

static void pin(struct cache *c, struct frame *f)
{
	f->pinned = f->used = true;
	c->pinned++;
}

/* create 1: only if it costs no more than is allowed; SQLite writes changed pages to the log then, and asks again with 2. */
static struct frame *make(struct cache *c, unsigned number, int create)
{
	struct frame *f;

	if (create == 1 && c->pinned >= c->limit - c->limit / 10)
		return NULL;
	if (c->purgeable && c->pages >= c->limit)
		drop_one(c);
	if (c->pages > c->mask)
		(void)!set_buckets(c, (c->mask + 1) * 2);   /* without memory it is only slower */
	f = take_free(c);
	if (f == NULL)
		return NULL;
	*(void **)f->page.pExtra = NULL;            /* so SQLite sees that the page is new */
	enter(c, f, number);
	c->pages++;
	if (number > c->highest)
		c->highest = number;
	return f;
}

/* SQLite is about to look at its notes and at the beginning of the page, one after the other: their way from memory begins here, for all at once. */
static void foresee(const struct cache *c, const struct frame *f)
{
	const uint8_t *at = (const uint8_t *)f;

	for (size_t i = LINE; i < c->frame_bytes + PAGE_BEGINNING; i += LINE)
		__builtin_prefetch(at + i);
}

static sqlite3_pcache_page *cache_fetch(sqlite3_pcache *p, unsigned number, int create)
{
	struct cache *c = of(p);
	struct frame *f = *bucket(c, number);

	if (f != NULL)
		foresee(c, f);
	while (f != NULL && f->number != number)
		f = f->next;
	if (f == NULL && create != 0)
		f = make(c, number, create);
	if (f == NULL)
		return NULL;
	if (!f->pinned)
		pin(c, f);
	return &f->page;
}

static void cache_unpin(sqlite3_pcache *p, sqlite3_pcache_page *page, int discard)
{
	struct cache *c = of(p);
	struct frame *f = CONTAINER_OF(page, struct frame, page);

	if (discard) {
		drop(c, f);
		return;
	}
	f->pinned = false;
	c->pinned--;
	if (!list_empty(&f->queue))
		return;
	f->used = c->pages <= c->limit;
	list_append(f->used ? &c->queue : c->queue.next, &f->queue);     /* at the end, or in front of all */
}

/* Balancing a tree lends a page, for a moment, the number of the page at 1 GiB. */
static void cache_rekey(sqlite3_pcache *p, sqlite3_pcache_page *page, unsigned from, unsigned to)
{
	struct cache *c = of(p);
	struct frame *f = CONTAINER_OF(page, struct frame, page), *other = *bucket(c, to);

	while (other != NULL && other->number != to)
		other = other->next;
	if (other != NULL)
		drop(c, other);
	leave(c, f);
	enter(c, f, to);
	if (to > c->highest) {
		c->before = c->highest;
		c->highest = to;
	} else if (from == c->highest && c->before != 0) {
		c->highest = c->before;
		c->before = 0;
	}
}

/* At the end of each transaction with the end of the file, as a rule for nothing; and with everything when another connection has changed the file. */
static void cache_truncate(sqlite3_pcache *p, unsigned limit)
{
	struct cache *c = of(p);
	unsigned span;

	if (limit > c->highest)
		return;
	span = c->highest - limit < c->mask ? c->highest - limit : c->mask;
	for (unsigned i = 0; i <= span; i++) {
		for (struct frame *f = *bucket(c, limit + i), *next; f != NULL; f = next) {
			next = f->next;
			if (f->number >= limit)
				drop(c, f);
		}
	}
	c->highest = limit > 0 ? limit - 1 : 0;
	c->before = 0;
}

static void cache_destroy(sqlite3_pcache *p)
{
	struct cache *c = of(p);

	for (struct slab *s = c->slabs, *next; s != NULL; s = next) {
		next = s->next;
		block_free(s, s->bytes);
	}
	free(c->buckets);
	free(c);
}

/* Asked for by sqlite3_db_release_memory, which nobody calls: what a cache has it keeps. */
static void cache_shrink(sqlite3_pcache *c)
{
	(void)c;
}

void sqlite_register_pagecache(void)
{
	static const sqlite3_pcache_methods2 methods = {
		.iVersion = 1, .xInit = cache_init, .xShutdown = cache_shutdown, .xCreate = cache_create, .xCachesize = cache_size, .xPagecount = cache_count,
		.xFetch = cache_fetch, .xUnpin = cache_unpin, .xRekey = cache_rekey, .xTruncate = cache_truncate, .xDestroy = cache_destroy,
		.xShrink = cache_shrink,
	};

	sqlite3_config(SQLITE_CONFIG_PCACHE2, &methods);
}
