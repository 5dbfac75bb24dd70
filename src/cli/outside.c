/* outside.c — `procession backup` where PostgreSQL keeps the databases: PostgreSQL's own means save
 * these; what is left is what the installation has outside of them, which is here: the certificate,
 * its key and the password of sa in the data folder, and the configuration. */
#include "cli/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "config/config.h"

#define CONFIGURATION "/etc/procession/processiond.ini"
#define FILE_MAX ((size_t)1 << 20)
#define FILES_MAX 4

struct outside {
	struct archive_manifest *m;
	uint8_t *bytes[FILES_MAX]; /* owned; of m's files, in their order */
};

/* ---- reading ---- */

static int unreadable(const char *path, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1, "cannot read '%.300s': %s", path, strerror(errno));
}

static int read_all(int fd, const char *path, uint8_t *dst, size_t *ret, struct err *reterr)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < FILE_MAX && (got = read(fd, dst + n, FILE_MAX - n)) != 0) {
		if (got < 0 && errno != EINTR)
			return unreadable(path, reterr);
		n += got > 0 ? (size_t)got : 0;
	}
	*ret = n;
	return got == 0 ? 0 : err_raise(reterr, 50000, 16, 1, "'%.300s' is larger than 1 MiB", path);
}

static bool describe(struct archive_database *d, const char *name, const uint8_t *bytes, size_t n)
{
	uint8_t sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	snprintf(d->name, sizeof(d->name), "%s", name);
	snprintf(d->service, sizeof(d->service), "%s", ARCHIVE_NO_DATABASE);
	snprintf(d->file, sizeof(d->file), "%s", name);
	d->bytes = n;
	if (EVP_Digest(bytes, n, sum, &len, EVP_sha256(), NULL) != 1)
		return false;
	for (unsigned i = 0; i < len; i++)
		snprintf(d->sha256 + (size_t)2 * i, 3, "%02x", sum[i]);
	return true;
}

/* One that is not there is none of this installation. */
static int add(struct outside *o, const char *name, const char *path, struct err *reterr)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	uint8_t *bytes;
	size_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : unreadable(path, reterr);
	bytes = malloc(FILE_MAX);
	rc = bytes == NULL ? err_nomem(reterr) : read_all(fd, path, bytes, &n, reterr);
	close(fd);
	if (rc == 0 && !describe(&o->m->databases[o->m->n], name, bytes, n))
		rc = err_nomem(reterr);
	if (rc < 0) {
		free(bytes);
		return -1;
	}
	o->bytes[o->m->n++] = bytes;
	return 0;
}

/* The packages' configuration, if it is that of a server of PostgreSQL's. */
static int add_configuration(struct outside *o, const char *data, struct err *reterr)
{
	char *argv[] = { "processiond", "--data", (char *)data, "--config", CONFIGURATION, NULL };
	struct config *c = NULL;
	struct err ignored;
	bool ours = config_load(5, argv, &c, &ignored) == 0 && c->engine == ENGINE_POSTGRES;

	config_free(c);
	return ours ? add(o, "processiond.ini", CONFIGURATION, reterr) : 0;
}

static int gather(struct outside *o, const char *data, struct err *reterr)
{
	static const char *const names[] = { "server.crt", "server.key", "sa-password" };
	char path[4096];
	time_t now = time(NULL);
	struct tm utc;

	o->m->databases = calloc(FILES_MAX, sizeof(*o->m->databases));
	if (o->m->databases == NULL)
		return err_nomem(reterr);
	snprintf(o->m->version, sizeof(o->m->version), "%s", PROCESSION_VERSION);
	if (gmtime_r(&now, &utc) == NULL ||
	    strftime(o->m->taken, sizeof(o->m->taken), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		return err_raise(reterr, 50000, 16, 1, "the clock has no time");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", data, names[i]);
		if (add(o, names[i], path, reterr) < 0)
			return -1;
	}
	return add_configuration(o, data, reterr);
}

/* ---- writing ---- */

static int put_all(struct outside *o, struct archive_writer *w, struct err *reterr)
{
	for (size_t i = 0; i < o->m->n; i++)
		if (cli_archive_begin(w, &o->m->databases[i], reterr) < 0 ||
		    cli_archive_put(w, o->bytes[i], o->m->databases[i].bytes, reterr) < 0)
			return -1;
	return 0;
}

static int save(struct outside *o, const char *path, struct err *reterr)
{
	struct archive_manifest again;
	struct archive_writer *w;

	if (o->m->n == 0)
		return err_raise(reterr, 50000, 16, 1,
				 "the data folder has no file of a server in it: nothing to save");
	if (cli_archive_create(path, o->m, &w, reterr) < 0)
		return -1;
	if (put_all(o, w, reterr) < 0) {
		cli_archive_abandon(w);
		return -1;
	}
	if (cli_archive_finish(w, reterr) < 0 || cli_archive_read(path, NULL, &again, reterr) < 0)
		return -1;
	cli_archive_manifest_fini(&again);
	return 0;
}

int cli_backup_outside(const char *data, const char *path, struct archive_manifest *m, struct err *reterr)
{
	struct outside o = { .m = m };
	int rc = gather(&o, data, reterr);

	if (rc == 0)
		rc = save(&o, path, reterr);
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (o.bytes[i] != NULL)
			explicit_bzero(o.bytes[i], m->databases[i].bytes);
		free(o.bytes[i]);
	}
	return rc;
}
