/* backupfile.c — see backupfile.h; libarchive does the format. */
#include "cli/backupfile.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "cli/manifest.h"

#define MANIFEST "manifest.json"
#define MANIFEST_MAX (1u << 20)
#define PATH_BYTES 4096

/* ---- writing ---- */

struct archive_writer {
	char path[PATH_BYTES], part[PATH_BYTES]; /* under its name; until then */
	int fd;
	struct archive *a;
};

static int write_failed(const struct archive_writer *w, struct err *reterr)
{
	int number = w->a == NULL ? 0 : archive_errno(w->a);

	return err_raise(reterr, 50000, 16, 1, "cannot write '%.300s': %s", w->path,
			 strerror(number > 0 ? number : errno));
}

static int put_header(struct archive_writer *w, const char *name, uint64_t bytes, struct err *reterr)
{
	struct archive_entry *e = archive_entry_new();
	int rc = 0;

	if (e == NULL)
		return err_nomem(reterr);
	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)bytes);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0600);
	if (archive_write_header(w->a, e) != ARCHIVE_OK)
		rc = write_failed(w, reterr);
	archive_entry_free(e);
	return rc;
}

int cli_archive_put(struct archive_writer *w, const void *p, size_t n, struct err *reterr)
{
	assert(w->fd >= 0);
	return archive_write_data(w->a, p, n) == (la_ssize_t)n ? 0 : write_failed(w, reterr);
}

int cli_archive_begin(struct archive_writer *w, const struct archive_database *d, struct err *reterr)
{
	assert(strchr(d->file, '/') == NULL && d->file[0] != '.'); /* it is unpacked into a folder */
	return put_header(w, d->file, d->bytes, reterr);
}

static int put_manifest(struct archive_writer *w, const struct archive_manifest *m, struct err *reterr)
{
	char *text = cli_manifest_text(m);
	int rc;

	if (text == NULL)
		return err_nomem(reterr);
	rc = put_header(w, MANIFEST, strlen(text), reterr);
	if (rc == 0)
		rc = cli_archive_put(w, text, strlen(text), reterr);
	free(text);
	return rc;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static int open_part(struct archive_writer *w, const char *path, struct err *reterr)
{
	if (snprintf(w->path, sizeof(w->path), "%s", path) >= (int)sizeof(w->path) ||
	    snprintf(w->part, sizeof(w->part), "%s.part", path) >= (int)sizeof(w->part))
		return err_raise(reterr, 50000, 16, 1, "the name of the archive is too long");
	if (access(path, F_OK) == 0)
		return err_raise(reterr, 50000, 16, 1, "'%.300s' exists already; choose another name", path);
	w->fd = open(w->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (w->fd < 0)
		return err_raise(reterr, 50000, 16, 1, "cannot write '%.300s': %s", w->part, strerror(errno));
	w->a = archive_write_new();
	if (w->a == NULL)
		return err_nomem(reterr);
	archive_write_set_format_pax_restricted(w->a);
	if (ends_with(path, ".zst"))
		archive_write_add_filter_zstd(w->a);
	archive_write_set_bytes_in_last_block(w->a, 1);
	return archive_write_open_fd(w->a, w->fd) == ARCHIVE_OK ? 0 : write_failed(w, reterr);
}

int cli_archive_create(const char *path, const struct archive_manifest *m, struct archive_writer **ret,
		       struct err *reterr)
{
	struct archive_writer *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return err_nomem(reterr);
	w->fd = -1;
	if (open_part(w, path, reterr) < 0 || put_manifest(w, m, reterr) < 0) {
		cli_archive_abandon(w);
		return -1;
	}
	*ret = w;
	return 0;
}

void cli_archive_abandon(struct archive_writer *w)
{
	if (w == NULL)
		return;
	archive_write_free(w->a);
	if (w->fd >= 0) {
		close(w->fd);
		(void)unlink(w->part);
	}
	free(w);
}

int cli_archive_finish(struct archive_writer *w, struct err *reterr)
{
	int rc = archive_write_close(w->a) == ARCHIVE_OK ? 0 : write_failed(w, reterr);

	if (rc == 0 && (fsync(w->fd) != 0 || rename(w->part, w->path) != 0))
		rc = err_raise(reterr, 50000, 16, 1, "cannot write '%.300s': %s", w->path, strerror(errno));
	if (rc < 0) {
		cli_archive_abandon(w);
		return -1;
	}
	archive_write_free(w->a);
	close(w->fd);
	free(w);
	return 0;
}

/* ---- reading ---- */

struct reader {
	struct archive *a;
	const struct archive_sink *sink;
	struct archive_manifest m;
	bool *seen; /* owned; one a database */
};

static int broken(struct reader *r, const char *what, struct err *reterr)
{
	const char *why = archive_error_string(r->a);

	return err_raise(reterr, 50000, 16, 1, "%s%s%s", what, why != NULL ? ": " : "",
			 why != NULL ? why : "");
}

static int read_manifest(struct reader *r, struct err *reterr)
{
	struct archive_entry *e;
	char *text;
	la_ssize_t n = -1;
	int rc;

	if (archive_read_next_header(r->a, &e) != ARCHIVE_OK || archive_entry_pathname(e) == NULL ||
	    strcmp(archive_entry_pathname(e), MANIFEST) != 0 || archive_entry_size(e) > (int)MANIFEST_MAX)
		return broken(r, "it does not begin with a manifest, so it is no backup of Procession",
			      reterr);
	text = malloc(MANIFEST_MAX);
	if (text == NULL)
		return err_nomem(reterr);
	n = archive_read_data(r->a, text, MANIFEST_MAX);
	rc = n < 0 ? broken(r, "its manifest cannot be read", reterr)
		   : cli_manifest_parse(text, (size_t)n, &r->m, reterr);
	free(text);
	return rc;
}

static int read_bytes(struct reader *r, const struct archive_database *d, EVP_MD_CTX *md, uint64_t *ret_bytes,
		      struct err *reterr)
{
	const void *p;
	size_t n;
	la_int64_t offset;
	int rc;

	while ((rc = archive_read_data_block(r->a, &p, &n, &offset)) == ARCHIVE_OK) {
		*ret_bytes += n;
		if (*ret_bytes > d->bytes)
			return err_raise(reterr, 50000, 16, 1, "'%s' is longer than the manifest says",
					 d->file);
		if (EVP_DigestUpdate(md, p, n) != 1)
			return err_nomem(reterr);
		if (r->sink != NULL && r->sink->data != NULL && r->sink->data(r->sink->arg, p, n, reterr) < 0)
			return -1;
	}
	return rc == ARCHIVE_EOF ? 0 : broken(r, "it is damaged", reterr);
}

static int compare(const struct archive_database *d, EVP_MD_CTX *md, uint64_t bytes, struct err *reterr)
{
	uint8_t sum[EVP_MAX_MD_SIZE];
	char text[2 * EVP_MAX_MD_SIZE + 1] = "";
	unsigned n = 0;

	if (EVP_DigestFinal_ex(md, sum, &n) != 1)
		return err_nomem(reterr);
	for (unsigned i = 0; i < n; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", sum[i]);
	if (bytes != d->bytes || strcmp(text, d->sha256) != 0)
		return err_raise(
			reterr, 50000, 16, 1,
			"'%s' is not what was saved: its length or SHA-256 differs from the manifest",
			d->file);
	return 0;
}

static int read_database(struct reader *r, const struct archive_database *d, struct err *reterr)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	const struct archive_sink *s = r->sink;
	uint64_t bytes = 0;
	int rc = md == NULL || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1 ? err_nomem(reterr) : 0;

	if (rc == 0 && s != NULL && s->begin != NULL)
		rc = s->begin(s->arg, d, reterr);
	if (rc == 0)
		rc = read_bytes(r, d, md, &bytes, reterr);
	if (rc == 0)
		rc = compare(d, md, bytes, reterr);
	if (rc == 0 && s != NULL && s->end != NULL)
		rc = s->end(s->arg, reterr);
	EVP_MD_CTX_free(md);
	return rc;
}

static int find_database(const struct reader *r, const char *file)
{
	for (size_t i = 0; file != NULL && i < r->m.n; i++)
		if (strcmp(r->m.databases[i].file, file) == 0 && !r->seen[i])
			return (int)i;
	return -1;
}

static int read_databases(struct reader *r, struct err *reterr)
{
	struct archive_entry *e;
	int rc;

	r->seen = calloc(r->m.n, sizeof(*r->seen));
	if (r->seen == NULL)
		return err_nomem(reterr);
	while ((rc = archive_read_next_header(r->a, &e)) == ARCHIVE_OK) {
		int i = find_database(r, archive_entry_pathname(e));

		if (i < 0)
			return err_raise(reterr, 50000, 16, 1,
					 "it holds something that its manifest does not name");
		if (read_database(r, &r->m.databases[i], reterr) < 0)
			return -1;
		r->seen[i] = true;
	}
	if (rc != ARCHIVE_EOF)
		return broken(r, "it is damaged", reterr);
	for (size_t i = 0; i < r->m.n; i++)
		if (!r->seen[i])
			return err_raise(reterr, 50000, 16, 1, "'%s' is missing: it was cut short",
					 r->m.databases[i].file);
	return 0;
}

int cli_archive_read(const char *path, const struct archive_sink *sink, struct archive_manifest *ret,
		     struct err *reterr)
{
	struct reader r = { .a = archive_read_new(), .sink = sink };
	struct err why = { 0 };
	int rc;

	if (r.a == NULL)
		return err_nomem(reterr);
	archive_read_support_format_tar(r.a);
	archive_read_support_filter_all(r.a);
	if (archive_read_open_filename(r.a, path, 1u << 18) != ARCHIVE_OK)
		rc = broken(&r, "it cannot be opened", &why);
	else
		rc = read_manifest(&r, &why) < 0 ? -1 : read_databases(&r, &why);
	archive_read_free(r.a);
	free(r.seen);
	if (rc < 0) {
		cli_archive_manifest_fini(&r.m);
		return err_raise(reterr, 50000, 16, 1, "'%.300s': %s", path, why.text);
	}
	*ret = r.m;
	return 0;
}
