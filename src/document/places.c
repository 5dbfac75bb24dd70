/* places.c — see places.h: the lists themselves, and opening what shall be read. */
#include "document/places.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/document_int.h"

int document_places_new(const struct document_limits *limits, struct document_places **ret,
			struct err *reterr)
{
	struct document_places *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return err_nomem(reterr);
	/* Counted by the library itself. */
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(p);
		return err_raise(reterr, 50000, 16, 1, "libcurl could not be started");
	}
	/* libxml2 sets its tables up with its first parser, and two threads that have their first
	 * one at the same time harm them: so here, before the engines have threads. */
	xmlInitParser();
	p->limits = *limits;
	*ret = p;
	return 0;
}

void document_places_free(struct document_places *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->nroots; i++) {
		free(p->roots[i].given);
		free(p->roots[i].real);
		close(p->roots[i].fd);
	}
	for (size_t i = 0; i < p->nhosts; i++)
		free(p->hosts[i].name);
	free(p->netrc);
	free(p);
	curl_global_cleanup();
}

int document_places_add_root(struct document_places *p, const char *path, struct err *reterr)
{
	struct document_location l;
	struct root r = { .fd = -1 };
	char text[DOCUMENT_TEXT_MAX];

	if (p->nroots == ROOTS_MAX)
		return err_raise(reterr, 50000, 16, 1, "more than %d roots", ROOTS_MAX);
	if (path[0] != '/' || document_locate(NULL, path, &l, text) != DOCUMENT_OK)
		return err_raise(reterr, 50000, 16, 1,
				 "a root is a whole path, such as /srv/documents, not '%s'", path);
	r.given = l.text;
	r.real = realpath(path, NULL);
	if (r.real != NULL)
		r.fd = open(r.real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r.fd < 0) {
		int saved = errno;

		free(r.given);
		free(r.real);
		return err_raise(reterr, 50000, 16, 1, "the root '%s' cannot be used: %s", path,
				 strerror(saved));
	}
	p->roots[p->nroots++] = r;
	return 0;
}

char *document_places_folders(const struct document_places *p)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return NULL;
	for (size_t i = 0; i < p->nroots; i++) {
		fprintf(f, "%s%s", i > 0 ? "\n" : "", p->roots[i].given);
		if (strcmp(p->roots[i].given, p->roots[i].real) != 0)
			fprintf(f, "\n%s", p->roots[i].real);
	}
	return fclose(f) == 0 ? text : NULL;
}

int document_places_add_host(struct document_places *p, const char *host, struct err *reterr)
{
	struct host h = { 0 };
	const char *colon = strrchr(host, ':');
	char *end = NULL;
	size_t n = strlen(host);

	/* An IPv6 address without brackets has colons of its own. */
	if (colon != NULL && (strchr(host, ':') == colon || (colon > host && colon[-1] == ']'))) {
		unsigned long port = strtoul(colon + 1, &end, 10);

		if (end == colon + 1 || *end != '\0' || port == 0 || port > 65535)
			return err_raise(reterr, 50000, 16, 1,
					 "'%s' is no host: the port is a number from 1 to 65535", host);
		h.port = (unsigned)port;
		n = (size_t)(colon - host);
	}
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	h.pattern = n > 0 && host[0] == '*';
	if (n == 0 || (h.pattern && n > 1 && host[1] != '.') || memchr(host + 1, '*', n - 1) != NULL ||
	    memchr(host, '/', n) != NULL)
		return err_raise(reterr, 50000, 16, 1, "a host is a name, name:port, *.domain or *, not '%s'",
				 host);
	if (p->nhosts == HOSTS_MAX)
		return err_raise(reterr, 50000, 16, 1, "more than %d hosts", HOSTS_MAX);
	h.name = strndup(host, n);
	if (h.name == NULL)
		return err_nomem(reterr);
	p->hosts[p->nhosts++] = h;
	return 0;
}

int document_places_set_netrc(struct document_places *p, const char *path, struct err *reterr)
{
	if (access(path, R_OK) < 0)
		return err_raise(reterr, 50000, 16, 1, "cannot read '%s': %s", path, strerror(errno));
	free(p->netrc);
	p->netrc = strdup(path);
	return p->netrc != NULL ? 0 : err_nomem(reterr);
}

/* --- inputs ----------------------------------------------------------------------------------- */

static int cannot_read(int error, const char *path, char text[DOCUMENT_TEXT_MAX])
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		snprintf(text, DOCUMENT_TEXT_MAX, "there is no file '%.400s'", path);
		return DOCUMENT_INPUT_NOT_FOUND;
	case EACCES:
	case EPERM:
		snprintf(text, DOCUMENT_TEXT_MAX, "this worker may not read '%.400s'", path);
		return DOCUMENT_INPUT_DENIED;
	case EXDEV:
	case ELOOP:
		snprintf(text, DOCUMENT_TEXT_MAX,
			 "'%.400s' leads out of the folders that this worker may use", path);
		return DOCUMENT_OUTSIDE_ROOTS;
	default:
		snprintf(text, DOCUMENT_TEXT_MAX, "cannot read '%.300s': %.100s", path, strerror(error));
		return DOCUMENT_INPUT_READ;
	}
}

static int check_input(const struct document_places *p, int fd, const char *path,
		       char text[DOCUMENT_TEXT_MAX])
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return cannot_read(errno, path, text);
	if (!S_ISREG(st.st_mode)) {
		snprintf(text, DOCUMENT_TEXT_MAX, "'%.400s' is no regular file", path);
		return DOCUMENT_INPUT_UNSUPPORTED;
	}
	if ((uint64_t)st.st_size > p->limits.max_bytes) {
		snprintf(text, DOCUMENT_TEXT_MAX, "'%.300s' has %lld bytes, more than max_input allows", path,
			 (long long)st.st_size);
		return DOCUMENT_INPUT_TOO_LARGE;
	}
	return DOCUMENT_OK;
}

static int open_local(const struct document_places *p, const char *path, int *ret,
		      char text[DOCUMENT_TEXT_MAX])
{
	const char *rest;
	const struct root *root = document_beneath_find(p, path, &rest);
	int fd, error;

	if (root == NULL)
		return cannot_read(EXDEV, path, text);
	/* Not to wait for the other end of a pipe. */
	fd = document_beneath_open(root->fd, rest, O_RDONLY | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return cannot_read(errno, path, text);
	error = check_input(p, fd, path, text);
	if (error != DOCUMENT_OK) {
		close(fd);
		return error;
	}
	(void)fcntl(fd, F_SETFL, 0);
	*ret = fd;
	return DOCUMENT_OK;
}

static int open_remote(const struct document_places *p, const char *url, int *ret,
		       char text[DOCUMENT_TEXT_MAX])
{
	int fd = document_spool_open(), error;

	if (fd < 0)
		return cannot_read(errno, url, text);
	error = document_http_fetch(p, url, fd, text);
	if (error == DOCUMENT_OK && lseek(fd, 0, SEEK_SET) < 0)
		error = cannot_read(errno, url, text);
	if (error != DOCUMENT_OK) {
		close(fd);
		return error;
	}
	*ret = fd;
	return DOCUMENT_OK;
}

int document_input_open(struct document_places *p, const struct document_location *l, int *ret,
			char text[DOCUMENT_TEXT_MAX])
{
	return l->remote ? open_remote(p, l->text, ret, text) : open_local(p, l->text, ret, text);
}

void document_places_hurry(struct document_places *p)
{
	atomic_store(&p->hurry, true);
}
