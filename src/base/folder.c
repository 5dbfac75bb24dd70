/* folder.c — see folder.h. */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define PATH_SIZE 4096

bool folder_make(const char *path)
{
	char part[PATH_SIZE];
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(part)) {
		errno = n == 0 ? ENOENT : ENAMETOOLONG;
		return false;
	}
	memcpy(part, path, n + 1);
	for (char *p = part + 1; *p != '\0'; p++) {
		if (*p == '/') {
			*p = '\0';
			(void)mkdir(part, 0700);
			*p = '/';
		}
	}
	return mkdir(part, 0700) == 0 || errno == EEXIST;
}

static bool path_in(const char *dir, const char *name, char dst[PATH_SIZE])
{
	if (snprintf(dst, PATH_SIZE, "%s/%s", dir, name) < PATH_SIZE)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

FILE *folder_fopen(const char *dir, const char *name, const char *mode)
{
	char path[PATH_SIZE];

	return path_in(dir, name, path) ? fopen(path, mode) : NULL;
}

bool folder_rename(const char *dir, const char *from, const char *to)
{
	char a[PATH_SIZE], b[PATH_SIZE];

	return path_in(dir, from, a) && path_in(dir, to, b) && rename(a, b) == 0;
}

/* The folder itself, which cannot be taken away while it has files: a lock on it stays when
 * files in it are deleted, or when it is renamed. Some network file systems know no locks of
 * folders; there the file must do. */
static bool lock_dir(const char *dir, int *ret)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), why;

	*ret = fd;
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return true;
	why = errno;
	close(fd);
	*ret = -1;
	if (why == EWOULDBLOCK) {
		errno = why;
		return false;
	}
	LOG(LOG_WARN, NULL, "folder_not_locked", F_STR("folder", dir), F_STR("reason", strerror(why)),
	    F_STR("remedy", "keep this folder on a local disk: its file system knows no locks of folders"));
	return true;
}

/* Also for those who know the file only: programs of before, and where folders cannot be locked. */
static bool lock_file(const char *dir, int *ret)
{
	char path[PATH_SIZE];

	*ret = path_in(dir, "lock", path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	return *ret >= 0 && flock(*ret, LOCK_EX | LOCK_NB) == 0;
}

bool folder_lock(const char *dir, struct folder_lock *ret)
{
	struct folder_lock l = FOLDER_UNLOCKED;
	int why;

	if (lock_dir(dir, &l.dir) && lock_file(dir, &l.file)) {
		*ret = l;
		return true;
	}
	why = errno;
	folder_unlock(&l);
	errno = why;
	return false;
}

void folder_unlock(struct folder_lock *l)
{
	if (l->file >= 0)
		close(l->file);
	if (l->dir >= 0)
		close(l->dir);
	*l = FOLDER_UNLOCKED;
}
