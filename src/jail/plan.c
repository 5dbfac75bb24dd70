/* plan.c — the root of a jail: which paths of the machine it shows, and how it is put together.
 *
 * The paths are looked at outside, before the process of the jail exists. Inside, each becomes a
 * detached copy of its mount, made read-only while nobody can see it yet, and is then moved into
 * an empty file system in memory, which becomes the root. There is no /proc: nothing that we run
 * needs it, and what is not there cannot be misused. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/jail_int.h"

#define LINK_MAX_BYTES 4096

static const char *const system_paths[] = {
	"/usr",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/bin",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/alternatives",
};
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom" };

/* --- outside ------------------------------------------------------------------------------ */

static int add(struct jail_plan *p, enum jail_kind kind, const char *source, const char *target, bool folder,
	       struct err *reterr)
{
	struct jail_entry *e = &p->entries[p->n];

	assert(p->n <= JAIL_ENTRIES_MAX);
	if (p->n == JAIL_ENTRIES_MAX)
		return err_raise(reterr, 50000, 16, 1, "more than %d paths were asked for in a jail",
				 JAIL_ENTRIES_MAX);
	*e = (struct jail_entry){ .kind = kind, .folder = folder, .tree = -1 };
	e->source = strdup(source);
	e->target = strdup(target[0] == '/' ? target + 1 : target);
	p->n++;
	return e->source == NULL || e->target == NULL ? err_nomem(reterr) : 0;
}

/* A link stays a link (/lib to usr/lib) when it is shown under its own name; otherwise what it
 * leads to is shown. */
static int add_path(struct jail_plan *p, const char *source, const char *target, struct err *reterr)
{
	char text[LINK_MAX_BYTES];
	struct stat st;
	ssize_t n;

	if (target == NULL && lstat(source, &st) == 0 && S_ISLNK(st.st_mode)) {
		n = readlink(source, text, sizeof(text) - 1);
		if (n <= 0)
			return 0;
		text[n] = '\0';
		return add(p, JAIL_LINK, text, source, false, reterr);
	}
	if (stat(source, &st) < 0)
		return 0;
	return add(p, JAIL_BIND, source, target != NULL ? target : source, S_ISDIR(st.st_mode), reterr);
}

int jail_plan_make(struct jail_plan *p, const struct jail_spec *spec, struct err *reterr)
{
	int rc = 0;

	assert(!spec->off);
	*p = (struct jail_plan){ 0 };
	snprintf(p->tmp_options, sizeof(p->tmp_options), "size=%llu,mode=700",
		 (unsigned long long)spec->tmp_size);
	for (size_t i = 0; i < ARRAY_LEN(system_paths) && rc == 0; i++)
		rc = add_path(p, system_paths[i], NULL, reterr);
	for (size_t i = 0; i < ARRAY_LEN(devices) && rc == 0; i++)
		rc = add(p, JAIL_DEVICE, devices[i], devices[i], false, reterr);
	for (size_t i = 0; i < spec->npaths && rc == 0; i++)
		rc = add_path(p, spec->paths[i].source, spec->paths[i].target, reterr);
	if (rc < 0)
		jail_plan_free(p);
	return rc;
}

void jail_plan_free(struct jail_plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->entries[i].source);
		free(p->entries[i].target);
	}
	p->n = 0;
}

/* --- inside: system calls only ------------------------------------------------------------ */

/* A detached copy of what is mounted there, which nobody can write to. */
static int take_tree(struct jail_entry *e)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID };

	e->tree = open_tree(AT_FDCWD, e->source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (e->tree < 0)
		return -1;
	/* A device is written to although its mount is read-only, but cannot be opened where
	 * devices are forbidden. */
	attr.attr_set |= e->kind == JAIL_DEVICE ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
	return mount_setattr(e->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr));
}

/* The folders above a path, which is ours and may be written to. */
static int make_parents(char *path)
{
	for (char *p = strchr(path, '/'); p != NULL; p = strchr(p + 1, '/')) {
		int rc;

		*p = '\0';
		rc = mkdir(path, 0755);
		*p = '/';
		if (rc < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

static int place(struct jail_entry *e)
{
	int fd;

	if (make_parents(e->target) < 0)
		return -1;
	if (e->kind == JAIL_LINK)
		return symlink(e->source, e->target);
	if (e->folder) {
		if (mkdir(e->target, 0755) < 0 && errno != EEXIST)
			return -1;
	} else {
		fd = open(e->target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0)
			return -1;
		close(fd);
	}
	return move_mount(e->tree, "", AT_FDCWD, e->target, MOVE_MOUNT_F_EMPTY_PATH);
}

const char *jail_plan_enter(struct jail_plan *p)
{
	struct mount_attr sealed = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return "making the mounts private";
	/* First all copies, since /tmp, where some of the paths may lie, is about to be covered. */
	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].kind != JAIL_LINK && take_tree(&p->entries[i]) < 0)
			return p->entries[i].source;
	if (mount("jail", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=16m,mode=755") < 0 ||
	    chdir("/tmp") < 0)
		return "mounting a file system in memory";
	/* Before the paths are placed: some of them may lie in /tmp, and are seen there. */
	if (mkdir("tmp", 0700) < 0 || mount("tmp", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, p->tmp_options) < 0)
		return "mounting /tmp";
	for (size_t i = 0; i < p->n; i++)
		if (place(&p->entries[i]) < 0)
			return p->entries[i].target;
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/tmp") < 0)
		return "changing the root";
	if (mount_setattr(AT_FDCWD, "/", 0, &sealed, sizeof(sealed)) < 0)
		return "making the root read-only";
	return NULL;
}
