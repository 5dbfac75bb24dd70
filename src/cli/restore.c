/* restore.c — `procession restore`: the databases of an archive into an empty folder. The whole
 * archive is read and compared before the first byte is written. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "cli/answer.h"
#include "cli/backupfile.h"
#include "cli/batch.h"
#include "cli/manifest.h"

struct restore {
	const char *folder;
	struct stat owner; /* of the folder: the files belong to the same */
	int fd;            /* of the file that is written now */
	char path[4096];
};

static int failed(const struct restore *r, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1, "cannot write '%.300s': %s", r->path, strerror(errno));
}

static int begin_file(void *arg, const struct archive_database *d, struct err *reterr)
{
	struct restore *r = arg;

	assert(r->fd < 0 && strchr(d->file, '/') == NULL); /* cli_manifest_parse has looked */
	if (snprintf(r->path, sizeof(r->path), "%s/%s", r->folder, d->file) >= (int)sizeof(r->path))
		return err_raise(reterr, 50000, 16, 1, "the name of the folder is too long");
	r->fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r->fd < 0)
		return failed(r, reterr);
	if (geteuid() == 0 && fchown(r->fd, r->owner.st_uid, r->owner.st_gid) != 0)
		return failed(r, reterr);
	return 0;
}

static int put_data(void *arg, const void *p, size_t n, struct err *reterr)
{
	struct restore *r = arg;
	const char *at = p;

	assert(r->fd >= 0);
	while (n > 0) {
		ssize_t done = write(r->fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(r, reterr);
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int end_file(void *arg, struct err *reterr)
{
	struct restore *r = arg;
	int rc = fsync(r->fd);

	if (rc != 0)
		return failed(r, reterr);
	close(r->fd);
	r->fd = -1;
	return 0;
}

static bool is_empty(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	bool empty = d != NULL;

	while (empty && (e = readdir(d)) != NULL)
		empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
	if (d != NULL)
		closedir(d);
	return empty;
}

static int make_folder(struct restore *r, struct err *reterr)
{
	if (!folder_make(r->folder) || stat(r->folder, &r->owner) != 0)
		return err_raise(reterr, 50000, 16, 1, "the folder '%.300s' cannot be made: %s", r->folder,
				 strerror(errno));
	if (!is_empty(r->folder))
		return err_raise(
			reterr, 50000, 16, 1,
			"the folder '%.300s' is not empty, or cannot be read; a backup is restored into "
			"an empty one, so that nothing is overwritten",
			r->folder);
	return 0;
}

static void remove_files(const struct restore *r, const struct archive_manifest *m)
{
	char path[4096];

	for (size_t i = 0; i < m->n; i++)
		if (snprintf(path, sizeof(path), "%s/%s", r->folder, m->databases[i].file) <
		    (int)sizeof(path))
			(void)unlink(path);
}

static int flush_folder(const struct restore *r, struct err *reterr)
{
	int fd = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	return rc == 0 ? 0 : err_raise(reterr, 50000, 16, 1, "cannot flush '%.300s'", r->folder);
}

static int restore(const char *archive, struct restore *r, struct archive_manifest *m, struct err *reterr)
{
	const struct archive_sink sink = { begin_file, put_data, end_file, r };
	struct archive_manifest again;

	if (cli_archive_read(archive, NULL, m, reterr) < 0 || make_folder(r, reterr) < 0)
		return -1;
	if (cli_archive_read(archive, &sink, &again, reterr) < 0) {
		if (r->fd >= 0)
			close(r->fd);
		remove_files(r, m);
		return -1;
	}
	cli_archive_manifest_fini(&again);
	return flush_folder(r, reterr);
}

int cli_run_restore(struct cli *cli, const struct command *cmd)
{
	struct restore r = { .folder = cli->args[1], .fd = -1 };
	struct archive_manifest m = { .n = 0 };
	struct err e = { 0 };
	int rc = restore(cli->args[0], &r, &m, &e);
	bool outside = rc == 0 && cli_archive_is_outside(&m);
	const char *things = outside ? "files" : "databases";
	size_t n = m.n;
	char taken[40];

	(void)cmd;
	snprintf(taken, sizeof(taken), "%s", m.taken);
	if (rc == 0 && cli->json)
		printf("{\"ok\": true, \"%s\": %zu, \"taken\": \"%s\", ", things, n, taken);
	if (rc == 0)
		cli_archive_show_left_out(&m, cli->json);
	cli_archive_manifest_fini(&m);
	if (rc < 0)
		return cli_answer_failed(cli, &e, EXIT_REFUSED);
	if (cli->json) {
		puts("}");
		return EXIT_OK;
	}
	printf("%zu %s as of %s restored; %sstart the server with --data ", n, things, taken,
	       outside ? "restore PostgreSQL, then " : "");
	cli_output_text(stdout, cli->args[1]);
	putchar('\n');
	return EXIT_OK;
}
