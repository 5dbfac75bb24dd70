/* backupfile.h — the file that `procession backup` makes: a tar archive (zstd beneath when its name
 * ends with .zst) with manifest.json first, which says what else is in it, how long, and with which
 * SHA-256; then a file for each database. */
#ifndef CLI_BACKUPFILE_H
#define CLI_BACKUPFILE_H

#include "base/err.h"

#define ARCHIVE_FORMAT 1
#define ARCHIVE_DATABASES_MAX 1100

#define ARCHIVE_NO_DATABASE "none" /* as its service: a file that a server has beside databases */
struct archive_database {
	char name[129], service[33], file[261];
	uint64_t bytes;
	char sha256[65];
};

/* A database of the server that is not in the archive, and who has it. */
struct archive_left_out {
	char name[129], service[33], engine[17];
};

struct archive_manifest {
	char version[32], taken[40], server[130];
	struct archive_database *databases; /* owned */
	size_t n;
	struct archive_left_out *left_out; /* owned */
	size_t nleft_out;
};
void cli_archive_manifest_fini(struct archive_manifest *m);
/* Whether it has no database, only what is outside of PostgreSQL (outside.h). */
bool cli_archive_is_outside(const struct archive_manifest *m);

/* ---- writing ---- */

struct archive_writer;
/* Writes beside path; the file is there once it is whole. */
MUST_CHECK int cli_archive_create(const char *path, const struct archive_manifest *m,
				  struct archive_writer **ret, struct err *reterr);
/* The next database of the manifest begins; then its bytes. */
MUST_CHECK int cli_archive_begin(struct archive_writer *w, const struct archive_database *d,
				 struct err *reterr);
MUST_CHECK int cli_archive_put(struct archive_writer *w, const void *p, size_t n, struct err *reterr);
/* On the disk, under its name. Frees the writer, whatever comes of it. */
MUST_CHECK int cli_archive_finish(struct archive_writer *w, struct err *reterr);
void cli_archive_abandon(struct archive_writer *w); /* nothing is left. NULL is welcome */

/* ---- reading ---- */

/* What is done with the bytes of a database, from begin to end; all may be NULL. */
struct archive_sink {
	int (*begin)(void *arg, const struct archive_database *d, struct err *reterr);
	int (*data)(void *arg, const void *p, size_t n, struct err *reterr);
	int (*end)(void *arg, struct err *reterr);
	void *arg;
};
/* Reads all of it and compares: nothing missing, nothing besides, every length and sum right, and
 * not newer than this program. *ret is filled on success. sink may be NULL. */
MUST_CHECK int cli_archive_read(const char *path, const struct archive_sink *sink,
				struct archive_manifest *ret, struct err *reterr);

#endif
