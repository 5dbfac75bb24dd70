/* dropped.c — files of databases that are being dropped. They are put away under another name
 * before the database's row is deleted, and removed when that has been committed: a server that
 * ends in between finds either a row, and takes the files back, or none, and removes them. While
 * files are on their way in either direction, the main one is put away and not in its place: it
 * goes first and comes back last. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/sqlite/sqlite_int.h"

#define DROPPED "-dropped"
#define LONGEST (SQLITE_PATH + 32)

static const char *const tails[] = { "", "-wal", "-shm", "-mark" };

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void name_of(char dst[LONGEST], const char *path, bool dropped, const char *tail)
{
	snprintf(dst, LONGEST, "%s%s%s", path, dropped ? DROPPED : "", tail);
}

/* The names are durable when their folder has been written. */
static int keep_names(const char *path, struct err *reterr)
{
	char copy[LONGEST];
	int fd, rc;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 ? -1 : fsync(fd);
	if (fd >= 0)
		close(fd);
	return rc == 0 ? 0
		       : err_raise(reterr, 50021, 16, 1, "The folder of '%.300s' cannot be written: %s.",
				   path, strerror(errno));
}

static int move(const char *path, bool put_away, const char *tail, struct err *reterr)
{
	char from[LONGEST], to[LONGEST];

	name_of(from, path, !put_away, tail);
	name_of(to, path, put_away, tail);
	if (!exists(from) || rename(from, to) == 0)
		return 0;
	return err_raise(reterr, 50021, 16, 1, "The file '%.300s' cannot be renamed to '%.300s': %s.", from,
			 to, strerror(errno));
}

static void remove_all(const char *path)
{
	char name[LONGEST];

	for (size_t i = ARRAY_LEN(tails); i > 0; i--) {
		name_of(name, path, true, tails[i - 1]);
		if (unlink(name) < 0 && errno != ENOENT)
			LOG(LOG_WARN, NULL, "file_not_removed", F_STR("file", name),
			    F_STR("reason", strerror(errno)));
	}
}

int sqlite_place_put_away(const char *path, struct err *reterr)
{
	remove_all(path); /* of an earlier one of this name */
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		if (move(path, true, tails[i], reterr) < 0)
			return -1;
	}
	return keep_names(path, reterr);
}

int sqlite_place_take_back(const char *path, struct err *reterr)
{
	char dropped[LONGEST];

	name_of(dropped, path, true, "");
	if (exists(path) || !exists(dropped))
		return 0;
	for (size_t i = ARRAY_LEN(tails); i > 0; i--) {
		if (move(path, false, tails[i - 1], reterr) < 0)
			return -1;
	}
	LOG(LOG_WARN, NULL, "drop_undone", F_STR("file", path), F_STR("reason", "it was not finished"));
	return keep_names(path, reterr);
}

/* Of the name of a file that was put away, the place that it had. */
static bool place_of(const char *name, char *dst, size_t size)
{
	size_t n = strlen(name), m = strlen(DROPPED);

	if (n <= m || n - m >= size || strcmp(name + n - m, DROPPED) != 0)
		return false;
	snprintf(dst, size, "%.*s", (int)(n - m), name);
	return true;
}

/* One whose place is known and empty is not to be removed: its database could not be opened. */
static void discard_rest(const struct sqlite_engine *e, bool (*known)(void *arg, const char *place),
			 void *arg)
{
	DIR *dir = opendir(e->dir);
	const struct dirent *entry;
	char place[ENGINE_PLACE], path[SQLITE_PATH];
	struct err ignored;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (place_of(entry->d_name, place, sizeof(place)) &&
		    sqlite_place_path(e, place, path, &ignored) == 0 && (exists(path) || !known(arg, place)))
			remove_all(path);
	}
	if (dir != NULL)
		closedir(dir);
}

void sqlite_place_discard(struct engine *base, const char *place, bool (*known)(void *arg, const char *place),
			  void *arg)
{
	const struct sqlite_engine *e = CONTAINER_OF(base, struct sqlite_engine, base);
	char path[SQLITE_PATH];
	struct err ignored;

	if (place == NULL)
		discard_rest(e, known, arg);
	else if (sqlite_place_path(e, place, path, &ignored) == 0)
		remove_all(path);
}
