/* damage.c — databases whose file is not what it was: what the folder knows of the system store, and putting a file aside when the operator says so. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "databases/databases_int.h"

bool databases_listed(const char *list, const char *name)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, ",");
		struct str one = str_trim((struct str){ list, n });

		if (one.n > 0 && str_eq_nocase(one, str_of(name)))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

void databases_warn_unknown(struct databases *d, const char *setting, const char *list)
{
	const struct log_ctx ctx = { 0 };

	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		struct str one = str_trim((struct str){ list, n });
		char name[129];

		str_copy(name, sizeof(name), one);
		if (one.n > 0 && databases_find(d, one) == NULL)
			LOG(LOG_WARN, &ctx, "unknown_database", F_STR("setting", setting),
			    F_STR("name", name), F_STR("remedy", "procession database list shows the names"));
		list += n + (list[n] == ',');
	}
}

static bool is_other_database(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, ".db") == 0 && strcmp(name, SYSTEM_FILE) != 0;
}

static bool has_log(const struct databases *d)
{
	char path[DATABASES_PATH];
	struct stat s;

	return snprintf(path, sizeof(path), "%s/" SYSTEM_FILE "-wal", d->dir) < (int)sizeof(path) &&
	       stat(path, &s) == 0 && s.st_size > 0;
}

/* The system store is made first, and is on the disk before any other file: what else could have made them? A certificate, or a password, may have been put there by people. */
bool databases_folder_is_used(const struct databases *d)
{
	DIR *dir = opendir(d->dir);
	struct dirent *e;
	bool found = has_log(d);

	while (!found && dir != NULL && (e = readdir(dir)) != NULL)
		found = is_other_database(e->d_name);
	if (dir != NULL)
		closedir(dir);
	return found;
}

static int move_one(const char *path, const char *stamp, const char *tail, bool *moved, struct err *reterr)
{
	char from[DATABASES_PATH + 16], to[DATABASES_PATH + 64];

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
int databases_set_aside(const char *path, const char *name, const struct err *why, struct err *reterr)
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

/* Not what is in use, nor what there was no memory for. */
bool databases_may_set_aside(const struct err *e)
{
	return e->number == 50021 || e->number == 50010;
}

/* A database that cannot be served: it has its name, its number and the reason, but neither store nor executor. */
int databases_add_damaged(struct databases *d, const struct database_row *r, const struct err *why,
			  struct err *reterr)
{
	const struct log_ctx ctx = { .database = r->name };
	struct database_entry *e = databases_entry_new(r);

	if (e == NULL)
		return err_nomem(reterr);
	e->damage = strdup(why->text);
	if (e->damage == NULL || databases_publish(d, e, reterr) < 0) {
		bool full = e->damage != NULL;

		databases_entry_free(e);
		return full ? -1 : err_nomem(reterr);
	}
	LOG(LOG_ERROR, &ctx, "database_damaged", F_STR("reason", why->text));
	return 0;
}

const char *databases_damage(const struct database *db)
{
	const struct database_entry *e = CONTAINER_OF(db, const struct database_entry, db);

	if (e->damage != NULL)
		return e->damage;
	if (store_damaged(e->store))
		return "SQLite has found the file to be damaged while it was in use; the server's log says "
		       "where. What can still be read is served. "
		       "procession_database_check shows the extent. Restore the file from a backup.";
	return NULL;
}

size_t databases_damaged(struct databases *d)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire), damaged = 0;

	for (size_t i = 0; i < n; i++)
		damaged += databases_damage(&d->entries[i]->db) != NULL;
	return damaged;
}
