/* output.c — outputs that are whole or not there; those elsewhere are remote.c's. A file is
 * written as .procession-TAG.part beside its place and flushed. Where a file may be replaced it
 * is renamed; where not it gets its name as a second link, which fails when something is there,
 * and keeps the first until the server knows: so a later attempt at the same item sees that the
 * file at its place is its own work. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document_int.h"

struct document_output {
	struct document_places *places;
	int fd, dir; /* dir: -1 for what is elsewhere */
	bool replace;
	struct document_remote *remote; /* NULL: of this machine */
	bool finished;
	char *where; /* for messages */
	char *name;  /* in dir */
	char *part;  /* its temporary name; NULL: none is there */
};

static int cannot_write(int error, const char *path, char text[DOCUMENT_TEXT_MAX])
{
	switch (error) {
	case EACCES:
	case EPERM:
	case EROFS:
	case EISDIR:
		snprintf(text, DOCUMENT_TEXT_MAX, "this worker may not write '%.300s': %.100s", path,
			 strerror(error));
		return DOCUMENT_OUTPUT_DENIED;
	case EXDEV:
	case ELOOP:
		snprintf(text, DOCUMENT_TEXT_MAX,
			 "'%.400s' leads out of the folders that this worker may use", path);
		return DOCUMENT_OUTSIDE_ROOTS;
	case EEXIST:
		snprintf(text, DOCUMENT_TEXT_MAX,
			 "'%.300s' exists already, and OutputSaveBehavior does not say AlwaysOverwrite",
			 path);
		return DOCUMENT_OUTPUT_EXISTS;
	default:
		snprintf(text, DOCUMENT_TEXT_MAX, "cannot write '%.300s': %.100s", path, strerror(error));
		return DOCUMENT_OUTPUT_WRITE;
	}
}

/* Whether both names are there and mean one file. */
static bool same_file(int dir, const char *a, const char *b)
{
	struct stat sa, sb;

	assert(a != NULL && b != NULL);
	return fstatat(dir, a, &sa, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(dir, b, &sb, AT_SYMLINK_NOFOLLOW) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static struct document_output *output_new(struct document_places *p, const char *where, bool replace)
{
	struct document_output *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	*o = (struct document_output){
		.places = p, .fd = -1, .dir = -1, .replace = replace, .where = strdup(where)
	};
	if (o->where == NULL) {
		document_output_close(o);
		return NULL;
	}
	return o;
}

/* Where the file shall be: dir, name and part. 0 or errno. */
static int find_place(struct document_output *o, const char *tag)
{
	const char *rest, *name;
	const struct root *root = document_beneath_find(o->places, o->where, &rest);

	if (root == NULL)
		return EXDEV;
	o->dir = document_beneath_make_parent(root, rest, &name);
	if (o->dir < 0)
		return errno;
	o->name = strdup(name);
	if (o->name == NULL || asprintf(&o->part, ".procession-%s.part", tag) < 0) {
		o->part = NULL;
		return ENOMEM;
	}
	return 0;
}

/* 0 or errno. */
static int create_part(struct document_output *o)
{
	struct stat st;
	bool there;
	int error;

	assert(o->name != NULL);
	there = fstatat(o->dir, o->name, &st, 0) == 0;
	if (there && S_ISDIR(st.st_mode))
		error = EISDIR;
	else if (there && !o->replace && !same_file(o->dir, o->name, o->part))
		error = EEXIST;
	else
		error = 0;
	if (error != 0)
		return error;
	/* What an earlier attempt at this item has made gives way to this one. */
	o->replace = o->replace || there;
	if (unlinkat(o->dir, o->part, 0) < 0 && errno != ENOENT)
		return errno;
	o->fd = openat(o->dir, o->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return o->fd < 0 ? errno : 0;
}

static int open_remote(struct document_output *o, const struct document_claim *claim,
		       char text[DOCUMENT_TEXT_MAX])
{
	o->fd = document_spool_open();
	if (o->fd < 0)
		return cannot_write(errno, o->where, text);
	return document_remote_open(o->places, o->where, claim, o->replace, &o->remote, &o->finished, text);
}

static int open_local(struct document_output *o, const char *tag, char text[DOCUMENT_TEXT_MAX])
{
	int error = find_place(o, tag);

	if (error == 0)
		error = create_part(o);
	if (error == 0)
		return DOCUMENT_OK;
	if (o->fd < 0) { /* what is there under the temporary name is not ours */
		free(o->part);
		o->part = NULL;
	}
	return cannot_write(error, o->where, text);
}

int document_output_open(struct document_places *p, const struct document_location *l,
			 const struct document_claim *claim, bool replace, struct document_output **ret,
			 char text[DOCUMENT_TEXT_MAX])
{
	struct document_output *o = output_new(p, l->text, replace);
	int error;

	if (o == NULL)
		return cannot_write(ENOMEM, l->text, text);
	error = l->remote ? open_remote(o, claim, text) : open_local(o, claim->tag, text);
	if (error != DOCUMENT_OK) {
		document_output_close(o);
		return error;
	}
	*ret = o;
	return DOCUMENT_OK;
}

bool document_output_is_finished(const struct document_output *o)
{
	return o->finished;
}

int document_output_fd(const struct document_output *o)
{
	return o->fd;
}

/* 0 or errno. */
static int name_it(struct document_output *o)
{
	assert(o->dir >= 0 && o->name != NULL && o->part != NULL);
	if (!o->replace) {
		if (linkat(o->dir, o->part, o->dir, o->name, 0) == 0)
			return 0;
		/* A file system without links. */
		if (errno != EPERM && errno != EOPNOTSUPP && errno != EMLINK)
			return errno;
	}
	if (renameat2(o->dir, o->part, o->dir, o->name, o->replace ? 0 : RENAME_NOREPLACE) < 0)
		return errno;
	free(o->part);
	o->part = NULL;
	return 0;
}

int document_output_commit(struct document_output *o, char text[DOCUMENT_TEXT_MAX])
{
	struct stat st, named;
	int error = 0;

	assert(o->fd >= 0 && !o->finished);
	if (o->remote != NULL)
		return document_remote_commit(o->remote, o->fd, text);
	/* Somebody who took this attempt for dead may have begun anew: then the name is theirs. */
	if (fstat(o->fd, &st) < 0 || fstatat(o->dir, o->part, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_ino != named.st_ino)
		error = ESTALE;
	else if (fsync(o->fd) < 0)
		error = errno;
	if (error == 0)
		error = name_it(o);
	if (error == 0 && fsync(o->dir) < 0)
		error = errno;
	return error == 0 ? DOCUMENT_OK : cannot_write(error, o->where, text);
}

void document_output_close(struct document_output *o)
{
	struct stat st, named;

	if (o == NULL)
		return;
	if (o->part != NULL && o->dir >= 0 && o->fd >= 0 && fstat(o->fd, &st) == 0 &&
	    fstatat(o->dir, o->part, &named, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == named.st_ino)
		(void)unlinkat(o->dir, o->part, 0);
	document_remote_close(o->remote, false);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	free(o->part);
	free(o->name);
	free(o->where);
	free(o);
}

void document_output_keep(struct document_output *o)
{
	free(o->part);
	o->part = NULL;
	document_remote_close(o->remote, true);
	o->remote = NULL;
	document_output_close(o);
}

bool document_output_recover(struct document_places *p, const struct document_location *l, const char *tag)
{
	struct document_output *o = l->remote ? NULL : output_new(p, l->text, false);
	bool finished = l->remote && document_remote_recover(p, l->text, tag);

	if (o == NULL)
		return finished;
	if (find_place(o, tag) == 0) {
		finished = same_file(o->dir, o->part, o->name);
		(void)unlinkat(o->dir, o->part, 0);
	}
	document_output_close(o);
	return finished;
}
