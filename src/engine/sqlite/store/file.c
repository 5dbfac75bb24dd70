/* file.c — the file of a database before SQLite opens it: made with a mode that keeps others
 * out, or looked at whether it still is what was there, and locked for this server.
 *
 * An empty file must be noticed here. SQLite takes it for a new database and deletes the WAL
 * beside it, in which everything may still be. */
#define _GNU_SOURCE /* mkostemp */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rights.h"
#include "engine/sqlite/store/store_int.h"

static int file_error(const struct store *st, const char *doing, struct err *reterr)
{
	int why = errno;
	char rights[100];

	rights_describe(st->path, rights, sizeof(rights));
	return err_raise(reterr, 50021, 16, 1,
			 "Cannot %s the file '%s' of database '%s': %s%s. Check that the folder exists and "
			 "that the server may write to it.",
			 doing, st->path, st->name, strerror(why), rights);
}

int store_refuse(const struct store *st, const char *why, const char *remedy, struct err *reterr)
{
	return err_raise(reterr, 50021, 16, 1, "The file '%s' of database '%s' %s. %s", st->path, st->name,
			 why, remedy);
}

int store_refuse_lost(const struct store *st, const char *why, struct err *reterr)
{
	char remedy[300];

	snprintf(remedy, sizeof(remedy),
		 "Restore it from a backup, or start once with --set-aside \"%s\", which keeps what is left "
		 "under another name and begins an empty database",
		 st->name);
	return err_raise(
		reterr, 50021, 16, 1,
		"The file '%s' of database '%s' %s, although the database is known to this server. %s.",
		st->path, st->name, why, remedy);
}

/* The name of a new file is durable only when its folder has been written. */
int store_file_keep(const struct store *st, struct err *reterr)
{
	char *copy = strdup(st->path);
	int fd, rc;

	if (copy == NULL)
		return err_nomem(reterr);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return file_error(st, "make durable", reterr);
	rc = fsync(fd);
	close(fd);
	return rc < 0 ? file_error(st, "make durable", reterr) : 0;
}

static int look_at_known(const struct store *st, struct err *reterr)
{
	struct stat s;

	if (stat(st->path, &s) < 0)
		return errno == ENOENT ? store_refuse_lost(st, "is missing", reterr)
				       : file_error(st, "look at", reterr);
	return s.st_size > 0 ? 0 : store_refuse_lost(st, "is empty", reterr);
}

/* Makes an empty file that only we may read: it holds password hashes and clients' data. SQLite
 * gives its WAL and the index of that the same mode. */
static int make_file(struct store *st, bool *ret_new, struct err *reterr)
{
	int fd = open(st->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*ret_new = fd >= 0;
	if (fd < 0 && errno != EEXIST)
		return file_error(st, "create", reterr);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int make_temporary(struct store *st, struct err *reterr)
{
	const char *dir = getenv("TMPDIR");
	size_t size = (dir == NULL ? 4 : strlen(dir)) + 32;
	int fd;

	st->path = malloc(size);
	if (st->path == NULL)
		return err_nomem(reterr);
	snprintf(st->path, size, "%s/procession-XXXXXX", dir == NULL ? "/tmp" : dir);
	fd = mkostemp(st->path, O_CLOEXEC);
	if (fd < 0)
		return file_error(st, "create", reterr);
	close(fd);
	st->temporary = true;
	return 0;
}

/* Two servers on one file would each keep a WAL of their own for it if it has two names, and
 * destroy it. SQLite locks with fcntl(), which this does not touch; but closing any descriptor
 * of the file would give those locks up, so that this one stays open until all connections are
 * closed. */
static int lock_file(struct store *st, struct err *reterr)
{
	st->lock_fd = open(st->path, O_RDWR | O_CLOEXEC);
	if (st->lock_fd < 0)
		return file_error(st, "open", reterr);
	if (flock(st->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(reterr, ERR_FILE_IN_USE, st->path, st->name);
	/* a file system without such locks: the lock of the folder must do */
	return 0;
}

int store_file_prepare(struct store *st, const struct store_options *o, bool *ret_new, struct err *reterr)
{
	*ret_new = false;
	st->name = strdup(o->name);
	if (st->name == NULL)
		return err_nomem(reterr);
	if (strcmp(o->path, ":memory:") == 0)
		return make_temporary(st, reterr);
	st->path = strdup(o->path);
	if (st->path == NULL)
		return err_nomem(reterr);
	if ((o->known ? look_at_known(st, reterr) : make_file(st, ret_new, reterr)) < 0)
		return -1;
	return lock_file(st, reterr);
}

static void remove_temporary(const char *path)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char file[4096];

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		if (snprintf(file, sizeof(file), "%s%s", path, tails[i]) < (int)sizeof(file))
			unlink(file);
	}
}

void store_file_let_go(struct store *st)
{
	if (st->lock_fd >= 0)
		close(st->lock_fd);
	st->lock_fd = -1;
}

void store_file_release(struct store *st)
{
	if (st->temporary)
		remove_temporary(st->path);
	store_file_let_go(st);
	free(st->path);
	free(st->name);
}
