/* powerloss.c — preloaded into a server under test: a disk that keeps only what was flushed.
 *
 * Of every file in the folder $POWERLOSS_DATA there is a second one of the same name in
 * $POWERLOSS_DISK. A write is remembered; fsync and fdatasync copy what was written since the
 * last one. So the second folder always holds what a machine could find after a loss of power in
 * the worst case, with a flush done by half if it was under way.
 *
 * A write counts once it has returned: a flush that begins before need not contain it. While the
 * file $POWERLOSS_STALL exists no flush ends; while $POWERLOSS_FAIL does, every flush fails, and
 * what it should have written is lost for good: Linux takes the pages of a failed flush for
 * clean, so that a later one that succeeds does not write them, unless somebody has written to
 * them again. If there is something in one of these two files, say ".db", it is about files only
 * whose names end so. While the file $POWERLOSS_HANG exists, no read of the databases that it
 * names ends. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096
#define FILES_MAX 256
#define PATH_LEN 4096

struct file {
	dev_t dev;
	ino_t ino;
	uint8_t *dirty; /* a byte for each block: written since the last flush */
	size_t nblocks;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES_MAX];
static size_t nfiles;

static void die(const char *why)
{
	fprintf(stderr, "powerloss: %s: %m\n", why);
	abort(); /* a test must not go on with a disk that is wrong */
}

static void *real(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	if (fn == NULL)
		die(name);
	return fn;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), m = strlen(tail);

	return n >= m && strcmp(s + n - m, tail) == 0;
}

/* The name of an open file inside the folder, or NULL if it is no database and no WAL. */
static const char *name_in_folder(int fd, char *path)
{
	const char *folder = getenv("POWERLOSS_DATA");
	char link[64];
	ssize_t n;
	size_t len;

	if (folder == NULL)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_LEN - 1);
	if (n <= 0)
		return NULL;
	path[n] = 0;
	len = strlen(folder);
	if (strncmp(path, folder, len) != 0 || path[len] != '/' || strchr(path + len + 1, '/') != NULL)
		return NULL;
	return ends_with(path, ".db") || ends_with(path, ".db-wal") ? path + len + 1 : NULL;
}

/* Under the lock. NULL: not ours. The number of a file that was deleted may come back with
 * another one, which is harmless: it is only looked at too often. */
static struct file *find(int fd)
{
	char path[PATH_LEN];
	struct stat st;
	struct file *f;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	for (size_t i = 0; i < nfiles; i++) {
		if (files[i].ino == st.st_ino && files[i].dev == st.st_dev)
			return &files[i];
	}
	if (name_in_folder(fd, path) == NULL)
		return NULL;
	if (nfiles == FILES_MAX)
		die("too many files");
	f = &files[nfiles++];
	*f = (struct file){ .dev = st.st_dev, .ino = st.st_ino };
	return f;
}

static void written(int fd, off_t from, ssize_t n)
{
	size_t first = (size_t)from / BLOCK, end;
	struct file *f;

	if (n <= 0)
		return;
	pthread_mutex_lock(&lock);
	f = find(fd);
	end = ((size_t)from + (size_t)n + BLOCK - 1) / BLOCK;
	if (f != NULL && end > f->nblocks) {
		f->dirty = realloc(f->dirty, end * 2);
		if (f->dirty == NULL)
			die("memory");
		memset(f->dirty + f->nblocks, 0, end * 2 - f->nblocks);
		f->nblocks = end * 2;
	}
	if (f != NULL)
		memset(f->dirty + first, 1, end - first);
	pthread_mutex_unlock(&lock);
}

static void copy_block(int from, int to, size_t block)
{
	static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
	uint8_t data[BLOCK];
	ssize_t n = pread(from, data, BLOCK, (off_t)(block * BLOCK));

	if (real_pwrite == NULL)
		real_pwrite = real("pwrite64");
	if (n < 0 || real_pwrite(to, data, (size_t)n, (off_t)(block * BLOCK)) != n)
		die("copy");
}

/* Under the lock. */
static void copy_dirty(struct file *f, int from, int to)
{
	static int (*real_truncate)(int, off_t);
	struct stat st;

	for (size_t i = 0; i < f->nblocks; i++) {
		if (f->dirty[i])
			copy_block(from, to, i);
		f->dirty[i] = 0;
	}
	if (real_truncate == NULL)
		real_truncate = real("ftruncate64");
	if (fstat(from, &st) < 0 || real_truncate(to, st.st_size) < 0)
		die("truncate");
}

static void flushed(int fd)
{
	const char *disk = getenv("POWERLOSS_DISK"), *name;
	char path[PATH_LEN], copy[2 * PATH_LEN];
	struct file *f;
	int to;

	pthread_mutex_lock(&lock);
	f = find(fd);
	name = name_in_folder(fd, path);
	if (f != NULL && name != NULL && disk != NULL) {
		snprintf(copy, sizeof(copy), "%s/%s", disk, name);
		to = open(copy, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (to < 0)
			die(copy);
		copy_dirty(f, fd, to);
		close(to);
	}
	pthread_mutex_unlock(&lock);
}

/* Whether the switch is on for this file. */
static bool is_on(const char *variable, int fd)
{
	const char *file = getenv(variable), *name;
	char path[PATH_LEN], tail[64];
	ssize_t n;
	int in;

	if (file == NULL || access(file, F_OK) != 0)
		return false;
	name = name_in_folder(fd, path);
	in = open(file, O_RDONLY | O_CLOEXEC);
	if (name == NULL || in < 0)
		return false;
	n = read(in, tail, sizeof(tail) - 1);
	close(in);
	tail[n > 0 ? n : 0] = 0;
	return ends_with(name, tail);
}

/* A disk that takes its time. */
static void stall(int fd)
{
	while (is_on("POWERLOSS_STALL", fd))
		usleep(1000);
}

/* True: this file belongs to a database whose disk does not answer. */
static bool hangs(int fd)
{
	const char *file = getenv("POWERLOSS_HANG"), *name;
	char path[PATH_LEN], names[PATH_LEN] = "", *rest = names, *which;
	int from;

	if (file == NULL || access(file, F_OK) != 0)
		return false;
	name = name_in_folder(fd, path);
	from = open(file, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return false; /* it has just ended */
	if (read(from, names, sizeof(names) - 1) < 0)
		die(file);
	close(from);
	while (name != NULL && (which = strsep(&rest, " ")) != NULL) {
		if (strncmp(name, which, strlen(which)) == 0 && name[strlen(which)] == '.')
			return true;
	}
	return false;
}

/* What was written so far is on no disk, and nobody will try again. */
static void lost(int fd)
{
	struct file *f;

	pthread_mutex_lock(&lock);
	f = find(fd);
	if (f != NULL && f->dirty != NULL)
		memset(f->dirty, 0, f->nblocks);
	pthread_mutex_unlock(&lock);
}

static int flush_by(int (*fn)(int), int fd)
{
	stall(fd);
	if (is_on("POWERLOSS_FAIL", fd)) { /* a disk that is broken */
		lost(fd);
		errno = EIO;
		return -1;
	}
	flushed(fd);
	return fn(fd);
}

/* In place of the C library's. SQLite reads and writes its files by pread64 and pwrite64 only. */

ssize_t pread64(int fd, void *dst, size_t n, off_t at)
{
	static ssize_t (*fn)(int, void *, size_t, off_t);

	if (fn == NULL)
		fn = real("pread64");
	while (hangs(fd))
		usleep(1000);
	return fn(fd, dst, n, at);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at)
{
	static ssize_t (*fn)(int, const void *, size_t, off_t);
	ssize_t rc;

	if (fn == NULL)
		fn = real("pwrite64");
	rc = fn(fd, data, n, at);
	written(fd, at, rc);
	return rc;
}

int fdatasync(int fd)
{
	static int (*fn)(int);

	if (fn == NULL)
		fn = real("fdatasync");
	return flush_by(fn, fd);
}

int fsync(int fd)
{
	static int (*fn)(int);

	if (fn == NULL)
		fn = real("fsync");
	return flush_by(fn, fd);
}
