/* ahead.c — the pages of a large value in few system calls. SQLite reads every page by itself, and a value of 64 MiB has 16,384 of them; as a rule they lie one behind the
 * other, in the log as in the file. While such a value is read or replaced, or the log copied into the file, a read that goes on where the last one ended takes many pages
 * at once into a window, and the next ones are found there.
 *
 * Safe because a window lives within one transaction or checkpoint. What the transaction may read does not change under it: frames of the log up to its snapshot stay, and a
 * page that a checkpoint writes into the file is one that the transaction finds in the log first. A checkpoint copies frames of commits that were there when it began. What
 * the connection itself writes into the log ends a window that has it. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite_int.h"

#define WINDOW ((sqlite3_int64)128 << 10)
#define GAP 24                              /* the header of a frame, which SQLite leaves out */

static bool holds(const struct sqlite_window *w, int n, sqlite3_int64 at)
{
	return at >= w->at && at + n <= w->at + w->len;
}

/* From here on, as much as the file has. Where it fails, the read itself is made, and tells why. */
static void fill(struct sqlite_window *w, sqlite3_file *f, const sqlite3_io_methods *m, sqlite3_int64 at)
{
	sqlite3_int64 size, len;

	w->len = 0;
	if (w->data == NULL)
		w->data = malloc((size_t)WINDOW);
	if (w->data == NULL || m->xFileSize(f, &size) != SQLITE_OK || size <= at)
		return;
	len = size - at < WINDOW ? size - at : WINDOW;
	if (m->xRead(f, w->data, (int)len, at) != SQLITE_OK)
		return;
	w->at = at;
	w->len = len;
}

int sqlite_window_read(struct sqlite_window *w, sqlite3_file *f, const sqlite3_io_methods *m, void *p, int n, sqlite3_int64 at)
{
	bool goes_on;

	if (w == NULL)
		return m->xRead(f, p, n, at);
	goes_on = at >= w->next && at - w->next <= GAP;
	w->next = at + n;
	if (!holds(w, n, at) && goes_on)
		fill(w, f, m, at);
	if (!holds(w, n, at))
		return m->xRead(f, p, n, at);
	memcpy(p, w->data + (at - w->at), (size_t)n);
	return SQLITE_OK;
}

void sqlite_window_written(struct sqlite_window *w, int n, sqlite3_int64 at)
{
	if (w != NULL && at < w->at + w->len && at + n > w->at)
		w->len = 0;
}

/* Behind the system's own file object. The table of its methods is ours, but for one function they are its own and work on it as ever. */
struct mainfile {
	sqlite3_io_methods methods;
	const sqlite3_io_methods *real;
	struct sqlite_window *window;
};

static int main_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	const struct mainfile *m = (const struct mainfile *)f->pMethods;

	return sqlite_window_read(m->window, f, m->real, p, n, at);
}

size_t sqlite_mainfile_size(void)
{
	return sizeof(struct mainfile);
}

void sqlite_mainfile_init(sqlite3_file *f, void *room)
{
	struct mainfile *m = room;

	if (f->pMethods == NULL)
		return;
	*m = (struct mainfile){ .methods = *f->pMethods, .real = f->pMethods };
	m->methods.xRead = main_read;
	f->pMethods = &m->methods;
}

static void set_main(sqlite3 *db, struct sqlite_window *w)
{
	sqlite3_file *f = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f) == SQLITE_OK && f != NULL && f->pMethods != NULL && f->pMethods->xRead == main_read)
		((struct mainfile *)(uintptr_t)f->pMethods)->window = w;
}

static void window_fini(struct sqlite_window *w)
{
	free(w->data);
	*w = (struct sqlite_window){ 0 };
}

void sqlite_read_ahead(struct sqlite_conn *c, bool on)
{
	if (c->ahead == on)
		return;
	c->ahead = on;
	set_main(c->db, on ? &c->main_window : NULL);
	sqlite_log_set_window(c->db, on ? &c->log_window : NULL);
	window_fini(&c->main_window);
	window_fini(&c->log_window);
}
