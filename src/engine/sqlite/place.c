/* place.c — databases as files in the data folder: where one lies, whether it is another one's,
 * too, what other files tell of a system database that is missing, and putting a file aside when
 * the operator says so. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/sqlite/sqlite_int.h"

int sqlite_place_path(const struct sqlite_engine *e, const char *place, char *dst, struct err *reterr)
{
	if (place[0] == '\0' || strchr(place, '/') != NULL ||
	    snprintf(dst, SQLITE_PATH, "%s/%s", e->dir, place) >= SQLITE_PATH)
		return err_raise(reterr, 50021, 16, 1,
				 "The file name '%.200s' of a database will not do: it must be a name in the "
				 "data folder.",
				 place);
	return 0;
}

/* Two databases in one file, by links, would each keep a WAL of their own for it. */
int sqlite_place_is_own(struct sqlite_engine *e, const char *path, const char *name, struct err *reterr)
{
	const struct sqlite_database *other = NULL;
	struct stat s;

	if (stat(path, &s) < 0)
		return 0;
	lock_take(&e->lock);
	LIST_EACH (it, &e->databases) {
		const struct sqlite_database *db = CONTAINER_OF(it, struct sqlite_database, link);

		if (db->device == s.st_dev && db->inode == s.st_ino)
			other = db;
	}
	lock_give(&e->lock);
	if (other == NULL)
		return 0;
	return err_raise(reterr, 50021, 16, 1,
			 "The file '%s' of database '%s' is that of database '%s', too, by a link. Put the "
			 "right file in its place.",
			 path, name, other->base.name);
}

/* ---- what is there ---- */

static bool is_other_database(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, ".db") == 0 && strcmp(name, SQLITE_SYSTEM_PLACE) != 0;
}

static off_t size_of(const struct sqlite_engine *e, const char *tail)
{
	char path[SQLITE_PATH];
	struct stat s;
	int n = snprintf(path, sizeof(path), "%s/" SQLITE_SYSTEM_PLACE "%s", e->dir, tail);

	return n < (int)sizeof(path) && stat(path, &s) == 0 ? s.st_size : 0;
}

/* A WAL is begun when its database has its first page. Without that page the file was taken away or
 * cut. With it the WAL may be what is left of a first start that was killed before its first
 * commit: the store finds out, and knows by its mark when commits are missing. */
static bool has_only_wal(const struct sqlite_engine *e)
{
	return size_of(e, "") == 0 && size_of(e, "-wal") > 0;
}

/* The system database is made first, and is on the disk before any other file: what else could have
 * made them? A certificate, or a password, may have been put there by people. */
bool sqlite_place_is_used(const struct sqlite_engine *e)
{
	DIR *dir = opendir(e->dir);
	const struct dirent *entry;
	bool found = has_only_wal(e);

	while (!found && dir != NULL && (entry = readdir(dir)) != NULL)
		found = is_other_database(entry->d_name);
	if (dir != NULL)
		closedir(dir);
	return found;
}

/* ---- putting aside ---- */

/* Not what is in use, nor what there was no memory for. */
bool sqlite_place_may_set_aside(const struct err *why)
{
	return why->number == ERR_START_NUMBER || why->number == ERR_STORE_NUMBER;
}

static int move_one(const char *path, const char *stamp, const char *tail, bool *moved, struct err *reterr)
{
	char from[SQLITE_PATH + 16], to[SQLITE_PATH + 64];

	snprintf(from, sizeof(from), "%s%s", path, tail);
	snprintf(to, sizeof(to), "%s.damaged-%s%s", path, stamp, tail);
	if (access(from, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (access(to, F_OK) == 0 || rename(from, to) < 0)
		return err_raise(
			reterr, 50021, 16, 1,
			"The file '%.300s' cannot be renamed to '%.300s': %s. Move it away yourself.", from,
			to, access(to, F_OK) == 0 ? "that one exists" : strerror(errno));
	*moved = true;
	return 0;
}

/* With all that SQLite and we keep beside it, so that sqlite3 can still open what is left. */
int sqlite_place_set_aside(const char *path, const char *name, const struct err *why, struct err *reterr)
{
	static const char *const tails[] = { "", "-wal", "-shm", "-mark" };
	const struct log_ctx ctx = { .database = name };
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;
	bool moved = false;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		if (move_one(path, stamp, tails[i], &moved, reterr) < 0)
			return -1;
	}
	LOG(LOG_WARN, &ctx, "set_aside", F_STR("file", path),
	    F_STR("suffix", moved ? stamp : "nothing was there"), F_STR("reason", why->text));
	return 0;
}
