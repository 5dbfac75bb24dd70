/* beneath.c — paths that stay below a folder. The kernel resolves them (openat2 with
 * RESOLVE_BENEATH): no link and no ".." leads out, also when somebody changes the tree
 * meanwhile. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "document/document_int.h"

/* What is left of path below root; NULL: it is not below. */
static const char *below(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (n == 1) /* "/" */
		return path[1] != '\0' ? path + 1 : ".";
	if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path[n] == '/' && path[n + 1] != '\0' ? path + n + 1 : ".";
}

const struct root *document_beneath_find(const struct document_places *p, const char *path,
					 const char **ret_rest)
{
	const struct root *found = NULL;

	for (size_t i = 0; i < p->nroots; i++) {
		const char *rest = below(p->roots[i].given, path);

		if (rest == NULL)
			rest = below(p->roots[i].real, path);
		/* The longest root is the one that is meant. */
		if (rest != NULL && (found == NULL || strlen(rest) < strlen(*ret_rest))) {
			found = &p->roots[i];
			*ret_rest = rest;
		}
	}
	return found;
}

int document_beneath_open(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int fd;

	assert(dir >= 0); /* never the working folder: invariant 3 */
	/* EAGAIN: the tree was changed while it was looked at. */
	do {
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	} while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	return fd;
}

/* The folder of one more part. Takes over dir. */
static int enter(int dir, const char *part)
{
	int next = document_beneath_open(dir, part, O_RDONLY | O_DIRECTORY), saved;

	if (next < 0 && errno == ENOENT && (mkdirat(dir, part, 0777) == 0 || errno == EEXIST))
		next = document_beneath_open(dir, part, O_RDONLY | O_DIRECTORY);
	saved = errno;
	close(dir);
	errno = saved;
	return next;
}

int document_beneath_make_parent(const struct root *root, const char *path, const char **ret_name)
{
	const char *last = strrchr(path, '/');
	int dir;

	*ret_name = last != NULL ? last + 1 : path;
	if (strcmp(*ret_name, ".") == 0 || strcmp(*ret_name, "..") == 0) {
		errno = EISDIR;
		return -1;
	}
	/* As a whole first: part by part a ".." would be compared with its own folder, not with
	 * the root. */
	if (last != NULL) {
		char *parent = strndup(path, (size_t)(last - path));

		dir = parent != NULL ? document_beneath_open(root->fd, parent, O_RDONLY | O_DIRECTORY) : -1;
		if (dir < 0 && parent != NULL && errno == ENOENT) {
			char *rest = parent, *part;

			dir = document_beneath_open(root->fd, ".", O_RDONLY | O_DIRECTORY);
			while (dir >= 0 && (part = strsep(&rest, "/")) != NULL)
				dir = enter(dir, part);
		}
		free(parent);
		return dir;
	}
	return document_beneath_open(root->fd, ".", O_RDONLY | O_DIRECTORY);
}

int document_spool_open(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir != NULL && dir[0] == '/' ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Where the file system has no unnamed files they are in memory. */
	return fd >= 0 ? fd : (int)syscall(SYS_memfd_create, "procession-document", 1u /* close on exec */);
}
