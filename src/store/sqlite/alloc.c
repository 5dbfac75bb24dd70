/* alloc.c — the memory that SQLite asks for.
 * Small blocks, a dozen for a call, are kept by the thread that frees them: SQLite has a store of its own for that, which Debian's build leaves out, and malloc's takes five times
 * as many instructions. Large ones, every row that is written or read is one, are touched once: they are worth huge pages (base/block.h). */
#include <pthread.h>

#include "base/block.h"
#include "base/poison.h"
#include "store/sqlite/sqlite_int.h"

#define STEP 64                     /* a small block has a multiple of it … */
#define SMALL 4096                  /* … up to this */
#define SIZES (SMALL / STEP + 1)
#define KEPT_MOST 8                 /* of each size: a thread keeps less than 1 MiB */

/* In front of every block: SQLite asks for sizes. Eight bytes keep the alignment that it wants. */
struct head {
	uint64_t size;
};

/* A block that is not in use, instead of its contents. */
struct kept {
	struct kept *next;
};

struct keeper {
	struct kept *first[SIZES];
	uint8_t n[SIZES];
	bool known;                 /* the thread's end gives it all back */
};

static _Thread_local struct keeper keeper;
static pthread_key_t at_end;

static struct head *head_of(void *p)
{
	return (struct head *)p - 1;
}

static size_t real_size(const struct head *h)
{
	return sizeof(*h) + h->size;
}

static void give_back(void *arg)
{
	struct keeper *k = arg;

	for (size_t i = 0; i < SIZES; i++) {
		while (k->first[i] != NULL) {
			struct kept *b = k->first[i];

			k->first[i] = b->next;
			UNPOISON(b + 1, head_of(b)->size - sizeof(*b));
			block_free(head_of(b), real_size(head_of(b)));
		}
		k->n[i] = 0;
	}
	k->known = false;
}

/* False: the block is not of a size that is kept, or there are enough of them. */
static bool keep(struct keeper *k, void *p)
{
	size_t size = head_of(p)->size, which = size / STEP;
	struct kept *b = p;

	if (size > SMALL || k->n[which] >= KEPT_MOST)
		return false;
	if (!k->known)
		k->known = pthread_setspecific(at_end, k) == 0;
	if (!k->known)
		return false;
	b->next = k->first[which];
	k->first[which] = b;
	k->n[which]++;
	POISON(b + 1, size - sizeof(*b));
	return true;
}

static void *take(struct keeper *k, size_t size)
{
	size_t which = size / STEP;
	struct kept *b;

	if (size > SMALL || k->first[which] == NULL)
		return NULL;
	b = k->first[which];
	k->first[which] = b->next;
	k->n[which]--;
	UNPOISON(b + 1, size - sizeof(*b));
	return b;
}

static int mem_roundup(int n)
{
	return n <= SMALL ? (n + STEP - 1) & -STEP : (n + 7) & ~7;
}

/* n is rounded up: SQLite does so before it resizes a block. */
static void *resize(void *p, int n)
{
	struct head *old = p == NULL ? NULL : head_of(p);
	struct head *h = block_resize(old, old == NULL ? 0 : real_size(old), sizeof(*h) + (size_t)n);

	if (h == NULL)
		return NULL;
	h->size = (uint64_t)n;
	return h + 1;
}

static void *mem_malloc(int n)
{
	int size = mem_roundup(n);
	void *p = take(&keeper, (size_t)size);

	return p != NULL ? p : resize(NULL, size);
}

static void mem_free(void *p)
{
	if (p != NULL && !keep(&keeper, p))
		block_free(head_of(p), real_size(head_of(p)));
}

static int mem_size(void *p)
{
	return p == NULL ? 0 : (int)head_of(p)->size;
}

static int mem_init(void *arg)
{
	(void)arg;
	return pthread_key_create(&at_end, give_back) == 0 ? SQLITE_OK : SQLITE_NOMEM;
}

static void mem_shutdown(void *arg)
{
	(void)arg;
	give_back(&keeper);
	pthread_key_delete(at_end);
}

void sqlite_alloc_set_up(void)
{
	static const sqlite3_mem_methods methods = { mem_malloc, mem_free, resize, mem_size, mem_roundup, mem_init, mem_shutdown, NULL };

	/* SQLite would take a lock for its statistics with every allocation. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
