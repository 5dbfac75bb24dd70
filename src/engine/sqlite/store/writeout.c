/* writeout.c — a large commit reaches the disk while it is still being written. Otherwise the
 * disk is idle while SQLite makes the pages of a large value, and SQLite is while the flush at
 * the end writes them all. Only the beginning of the work is brought forward: the flush remains
 * what makes the commit durable. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "engine/sqlite/store/store_int.h"

#define STEP ((sqlite3_int64)4 << 20)

void store_writeout_init(struct store_writeout *w, const char *path)
{
	*w = (struct store_writeout){ .path = path, .fd = -1 };
}

/* By a descriptor of its own: SQLite does not tell its. No lock of SQLite's is on the WAL, which
 * closing this one would give up. */
static void begin(struct store_writeout *w)
{
	if (w->fd < 0)
		w->fd = open(w->path, O_RDWR | O_CLOEXEC);
	if (w->fd >= 0)
		/* a wish: what goes wrong, the flush will tell */
		(void)sync_file_range(w->fd, w->from, w->end - w->from, SYNC_FILE_RANGE_WRITE);
	w->from = w->end;
}

void store_writeout_wrote(struct store_writeout *w, int n, sqlite3_int64 at)
{
	if (at != w->end)
		w->from = at;
	w->end = at + n;
	if (w->end - w->from >= STEP)
		begin(w);
}

void store_writeout_flushed(struct store_writeout *w)
{
	w->from = w->end;
}

void store_writeout_fini(struct store_writeout *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}
