/* backup.c — see backup.h. The thread works a quarter of the time at most and sleeps in between, so
 * that calls keep processor and disk. */
#include "daemon/backup.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

#define STAGING "backup-staging"
#define PATH_BYTES 4096
#define NICENESS 10
#define FORGOTTEN_MS 60000 /* one that nobody has read for so long may be replaced */
#define PIECE (256u * 1024)
#define PAUSE_MOST_NS 200000000

struct backup {
	struct databases *dbs;
	char data[PATH_BYTES - 300], folder[PATH_BYTES - 280];
	struct lock lock;
	pthread_t thread;
	bool started; /* thread is to be joined */
	atomic_bool stop;
	/* under the lock */
	enum backup_state state;
	char id[BACKUP_ID];
	int64_t taken_us, touched_ms;
	struct err why;
	struct backup_file *files; /* owned */
	struct engine_held **held; /* owned; as many */
	size_t n;
	struct backup_left_out *left_out; /* owned */
	size_t nleft_out;
	struct timespec since; /* the thread's: when it last slept */
};

const char *daemon_backup_state_name(enum backup_state s)
{
	static const char *const names[] = { "none", "running", "ready", "failed" };

	return names[s];
}

/* ---- the folder ---- */

static void path_of(const struct backup *b, size_t i, char *dst, size_t size)
{
	snprintf(dst, size, "%s/%zu", b->folder, i);
}

static void remove_folder(const struct backup *b)
{
	DIR *d = opendir(b->folder);
	struct dirent *e;
	char path[PATH_BYTES];

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (snprintf(path, sizeof(path), "%s/%s", b->folder, e->d_name) < (int)sizeof(path))
			(void)unlink(path);
	}
	if (d != NULL)
		closedir(d);
	(void)rmdir(b->folder);
}

static int make_folder(const struct backup *b, struct err *reterr)
{
	remove_folder(b);
	if (mkdir(b->folder, 0700) == 0)
		return 0;
	return err_raise(reterr, 50021, 16, 1, "The folder '%.300s' for the backup could not be made: %s.",
			 b->folder, strerror(errno));
}

/* What the files take now; the copies take no more. */
static int check_room(const struct backup *b, struct err *reterr)
{
	unsigned long long need = 0, room;
	char path[PATH_BYTES];
	struct statvfs v;
	struct stat s;

	for (size_t i = 0; i < b->n; i++) {
		static const char *const parts[] = { "", "-wal" };

		for (size_t j = 0; j < ARRAY_LEN(parts); j++) {
			snprintf(path, sizeof(path), "%s/%s%s", b->data, b->files[i].file, parts[j]);
			if (stat(path, &s) == 0)
				need += (unsigned long long)s.st_size;
		}
	}
	if (statvfs(b->data, &v) != 0)
		return 0; /* then writing will tell */
	room = (unsigned long long)v.f_bavail * v.f_frsize;
	if (need <= room)
		return 0;
	return err_raise(
		reterr, 50021, 16, 1,
		"A backup needs %llu MiB for a while on the disk of the data folder, which has %llu MiB "
		"left. Make room, or save single databases (--database).",
		(need >> 20) + 1, room >> 20);
}

/* ---- the thread ---- */

static int64_t elapsed_ns(struct timespec from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)(now.tv_sec - from.tv_sec) * 1000000000 + (now.tv_nsec - from.tv_nsec);
}

/* Sleeps three times as long as it has worked: then the disk is the calls' as a rule. */
static bool goes_on(void *arg)
{
	struct backup *b = arg;
	int64_t wanted = 3 * elapsed_ns(b->since);
	struct timespec pause = { 0, wanted > PAUSE_MOST_NS ? PAUSE_MOST_NS : wanted };

	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b->since);
	return !atomic_load(&b->stop);
}

static int digest_fd(struct backup *b, int fd, EVP_MD_CTX *md, uint64_t *ret_bytes)
{
	uint8_t *piece = malloc(PIECE);
	ssize_t n = -1;

	*ret_bytes = 0;
	while (piece != NULL && (n = read(fd, piece, PIECE)) > 0) {
		if (EVP_DigestUpdate(md, piece, (size_t)n) != 1 || !goes_on(b))
			n = -1;
		if (n < 0)
			break;
		*ret_bytes += (uint64_t)n;
	}
	free(piece);
	return n == 0 ? 0 : -1;
}

static int digest(struct backup *b, const char *path, struct backup_file *f, struct err *reterr)
{
	uint8_t sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	uint64_t bytes = 0;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = md != NULL && fd >= 0 && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		  digest_fd(b, fd, md, &bytes) == 0 && EVP_DigestFinal_ex(md, sum, &len) == 1;

	if (fd >= 0)
		close(fd);
	EVP_MD_CTX_free(md);
	if (!ok)
		return err_raise(reterr, 50021, 16, 1, "The copy of database '%s' could not be read again.",
				 f->name);
	lock_take(&b->lock);
	for (unsigned i = 0; i < len && i < 32; i++)
		snprintf(f->sha256 + (size_t)2 * i, 3, "%02x", sum[i]);
	f->bytes = bytes;
	lock_give(&b->lock);
	return 0;
}

static int copy_all(struct backup *b, struct err *reterr)
{
	char path[PATH_BYTES];

	for (size_t i = 0; i < b->n; i++) {
		path_of(b, i, path, sizeof(path));
		assert(b->held[i] != NULL); /* the moment that all of them have in common */
		if (engine_backup(b->held[i], path, goes_on, b, reterr) < 0)
			return -1;
		engine_release(b->held[i]); /* the WAL may begin anew */
		b->held[i] = NULL;
		if (digest(b, path, &b->files[i], reterr) < 0)
			return -1;
	}
	return 0;
}

static void release_all(struct backup *b)
{
	for (size_t i = 0; i < b->n; i++) {
		engine_release(b->held[i]);
		b->held[i] = NULL;
	}
}

static void *backup_main(void *arg)
{
	struct backup *b = arg;
	struct err why = { 0 };
	int rc;

	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
	clock_gettime(CLOCK_MONOTONIC, &b->since);
	rc = copy_all(b, &why);
	release_all(b);
	if (rc < 0)
		remove_folder(b);
	lock_take(&b->lock);
	assert(b->state == BACKUP_RUNS);
	b->state = rc == 0 ? BACKUP_READY : BACKUP_FAILED;
	b->why = why;
	b->touched_ms = clock_mono_ms();
	lock_give(&b->lock);
	if (rc == 0)
		LOG(LOG_INFO, NULL, "backup_ready", F_INT("databases", (int64_t)b->n));
	else
		LOG(LOG_ERROR, NULL, "backup_failed", F_STR("reason", why.text));
	return NULL;
}

/* ---- beginning ---- */

struct choice {
	struct backup *b;
	struct str names;
	struct engine_database **dbs;
	struct err *err;
	int rc;
};

static bool listed(struct str names, const char *name)
{
	while (names.n > 0) {
		size_t n = 0;

		while (n < names.n && names.p[n] != ',')
			n++;
		if (str_eq_nocase(str_trim((struct str){ names.p, n }), str_of(name)))
			return true;
		n += n < names.n;
		names = (struct str){ names.p + n, names.n - n };
	}
	return false;
}

/* One that was moved to the other engine is not in the copies of this one. */
static bool is_in_files(const struct backup *b, const struct database *db)
{
	return strcmp(databases_engine_name(b->dbs, db),
		      databases_engine_name(b->dbs, databases_system(b->dbs))) == 0;
}

static void leave_out(struct backup *b, const struct database *db)
{
	struct backup_left_out *l = &b->left_out[b->nleft_out++];

	*l = (struct backup_left_out){ .service = db->service };
	str_copy(l->name, sizeof(l->name), str_of(db->name));
	str_copy(l->engine, sizeof(l->engine), str_of(databases_engine_name(b->dbs, db)));
}

static void choose(struct database *db, void *arg)
{
	struct choice *c = arg;
	struct backup *b = c->b;
	struct backup_file *f = &b->files[b->n];

	if (c->rc < 0 || (db->service != SERVICE_SYSTEM && c->names.n > 0 && !listed(c->names, db->name)))
		return;
	if (!is_in_files(b, db)) {
		if (c->names.n > 0)
			c->rc = err_raise(c->err, 50021, 16, 1,
					  "The database '%s' is in PostgreSQL, which has better means: "
					  "pg_basebackup or "
					  "pgBackRest.",
					  db->name);
		else
			leave_out(b, db);
		return;
	}
	if (db->engine == NULL) {
		c->rc = err_raise(
			c->err, 50021, 16, 1,
			"The database '%s' is damaged and cannot be saved; procession database list "
			"says why. The others can: name them with --database.",
			db->name);
		return;
	}
	*f = (struct backup_file){ .service = db->service };
	str_copy(f->name, sizeof(f->name), str_of(db->name));
	str_copy(f->file, sizeof(f->file), str_of(engine_place(db->engine)));
	c->dbs[b->n++] = db->engine;
}

static void count(struct database *db, void *arg)
{
	(void)db;
	++*(size_t *)arg;
}

static int check_names(struct backup *b, struct str names, struct err *reterr)
{
	while (names.n > 0) {
		size_t n = 0;
		struct str one;
		char shown[129];

		while (n < names.n && names.p[n] != ',')
			n++;
		one = str_trim((struct str){ names.p, n });
		str_copy(shown, sizeof(shown), one);
		if (one.n == 0 || databases_find(b->dbs, one) == NULL)
			return err_raise(reterr, 50020, 16, 1,
					 "There is no database '%s'. procession_database_list shows the "
					 "databases there are.",
					 shown);
		n += n < names.n;
		names = (struct str){ names.p + n, names.n - n };
	}
	return 0;
}

/* Under the lock: what was there is forgotten. */
static void forget(struct backup *b)
{
	if (b->started)
		pthread_join(b->thread, NULL);
	b->started = false;
	assert(b->state != BACKUP_RUNS); /* whoever fetches one has it until it is forgotten */
	remove_folder(b);
	free(b->files);
	free(b->held);
	free(b->left_out);
	b->files = NULL;
	b->held = NULL;
	b->left_out = NULL;
	b->n = b->nleft_out = 0;
	b->state = BACKUP_NONE;
}

/* Under the lock: the databases that are wanted, all as of one moment. */
static int hold(struct backup *b, struct str names, struct err *reterr)
{
	size_t most = 0;
	struct choice c = { .b = b, .names = names, .err = reterr };

	assert(lock_is_mine(&b->lock));
	databases_each(b->dbs, count, &most);
	most += 16; /* that may come meanwhile; further ones are left out */
	b->files = calloc(most, sizeof(*b->files));
	b->held = calloc(most, sizeof(struct engine_held *));
	b->left_out = calloc(most, sizeof(*b->left_out));
	c.dbs = calloc(most, sizeof(struct engine_database *));
	if (b->files == NULL || b->held == NULL || b->left_out == NULL || c.dbs == NULL)
		c.rc = err_nomem(reterr);
	if (c.rc == 0)
		databases_each(b->dbs, choose, &c);
	if (c.rc == 0)
		c.rc = check_room(b, reterr);
	if (c.rc == 0)
		c.rc = make_folder(b, reterr);
	if (c.rc == 0)
		c.rc = engine_hold(c.dbs, b->n, b->held, reterr);
	b->taken_us = clock_unix_us();
	free(c.dbs);
	return c.rc;
}

static int new_id(char dst[BACKUP_ID], struct err *reterr)
{
	uint8_t bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_raise(reterr, 50021, 16, 1, "The kernel gave no random numbers.");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(dst + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Under the lock. */
static int begin(struct backup *b, struct str names, struct err *reterr)
{
	assert(lock_is_mine(&b->lock));
	if (b->state == BACKUP_RUNS ||
	    (b->state == BACKUP_READY && clock_mono_ms() - b->touched_ms < FORGOTTEN_MS))
		return err_raise(reterr, 50021, 16, 1,
				 "Another backup is being taken or fetched. Wait until it is done; one that "
				 "nobody fetches can be replaced after a minute.");
	forget(b);
	if (check_names(b, names, reterr) < 0 || new_id(b->id, reterr) < 0)
		return -1;
	if (hold(b, names, reterr) < 0) {
		forget(b);
		return -1;
	}
	atomic_store(&b->stop, false);
	b->touched_ms = clock_mono_ms();
	if (thread_start(&b->thread, backup_main, b) < 0) {
		release_all(b);
		forget(b);
		return err_nomem(reterr);
	}
	b->started = true;
	b->state = BACKUP_RUNS;
	return 0;
}

int daemon_backup_begin(struct backup *b, struct str names, char ret_id[BACKUP_ID], struct err *reterr)
{
	int rc;

	lock_take(&b->lock);
	rc = begin(b, names, reterr);
	if (rc == 0)
		memcpy(ret_id, b->id, BACKUP_ID);
	lock_give(&b->lock);
	return rc;
}

/* ---- looking, reading, ending ---- */

int daemon_backup_look(struct backup *b, int (*fn)(const struct backup_view *v, void *arg), void *arg)
{
	struct backup_view v;
	int rc;

	lock_take(&b->lock);
	b->touched_ms = clock_mono_ms();
	v = (struct backup_view){ .state = b->state,
				  .taken_us = b->taken_us,
				  .reason = b->state == BACKUP_FAILED ? b->why.text : NULL,
				  .files = b->files,
				  .n = b->n,
				  .left_out = b->left_out,
				  .nleft_out = b->nleft_out };
	memcpy(v.id, b->id, sizeof(v.id));
	rc = fn(&v, arg);
	lock_give(&b->lock);
	return rc;
}

/* Under the lock: -1: there is no such file. */
static int open_file(const struct backup *b, struct str id, struct str file)
{
	char path[PATH_BYTES];

	assert(lock_is_mine(&b->lock));
	if (b->state != BACKUP_READY || !str_eq(id, str_of(b->id)))
		return -1;
	for (size_t i = 0; i < b->n; i++)
		if (str_eq(file, str_of(b->files[i].file))) {
			path_of(b, i, path, sizeof(path));
			return open(path, O_RDONLY | O_CLOEXEC);
		}
	return -1;
}

int daemon_backup_read(struct backup *b, struct str id, struct str file, int64_t offset, void *dst,
		       size_t size, size_t *ret, struct err *reterr)
{
	ssize_t n = 0;
	int fd;

	lock_take(&b->lock);
	b->touched_ms = clock_mono_ms();
	fd = open_file(b, id, file);
	lock_give(&b->lock);
	if (fd >= 0) {
		n = pread(fd, dst, size, (off_t)offset);
		close(fd);
	}
	if (n < 0)
		return err_raise(reterr, 50021, 16, 1, "The backup could not be read: %s.", strerror(errno));
	*ret = (size_t)n;
	return 0;
}

void daemon_backup_end(struct backup *b, struct str id)
{
	lock_take(&b->lock);
	if (b->state != BACKUP_NONE && str_eq(id, str_of(b->id))) {
		atomic_store(&b->stop, true);
		if (b->state != BACKUP_RUNS)
			forget(b);
	}
	lock_give(&b->lock);
}

int daemon_backup_new(struct databases *dbs, const char *data, struct backup **ret, struct err *reterr)
{
	struct backup *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return err_nomem(reterr);
	b->dbs = dbs;
	if (snprintf(b->data, sizeof(b->data), "%s", data) >= (int)sizeof(b->data)) {
		free(b);
		return err_set(reterr, ERR_START, "the name of the data folder is too long");
	}
	snprintf(b->folder, sizeof(b->folder), "%s/" STAGING, b->data);
	lock_init(&b->lock);
	remove_folder(b);
	*ret = b;
	return 0;
}

void daemon_backup_free(struct backup *b)
{
	if (b == NULL)
		return;
	atomic_store(&b->stop, true);
	if (b->started) /* nobody begins another any more */
		pthread_join(b->thread, NULL);
	b->started = false;
	forget(b);
	lock_fini(&b->lock);
	free(b);
}
