/* contents.c — what is in a file, as a line, or beside what is in another. */
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "document/document_int.h"

struct content {
	uint8_t *p; /* mapped; NULL when n is 0 */
	size_t n;
};

static bool content_open(int fd, struct content *ret)
{
	struct stat st;

	*ret = (struct content){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	ret->n = (size_t)st.st_size;
	if (ret->n == 0)
		return true;
	ret->p = mmap(NULL, ret->n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret->p != MAP_FAILED)
		return true;
	*ret = (struct content){ 0 };
	return false;
}

static void content_close(struct content *c)
{
	if (c->p != NULL)
		munmap(c->p, c->n);
}

bool document_contents_describe(int fd, char ret[DOCUMENT_NOTE_MAX])
{
	struct content c;
	uint8_t sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	bool ok = content_open(fd, &c) && EVP_Digest(c.p, c.n, sum, &n, EVP_sha256(), NULL) == 1;
	int at = snprintf(ret, DOCUMENT_NOTE_MAX, "%zu ", c.n);

	for (unsigned i = 0; ok && i < n; i++)
		at += snprintf(ret + at, (size_t)(DOCUMENT_NOTE_MAX - at), "%02x", sum[i]);
	content_close(&c);
	return ok;
}

bool document_contents_alike(int a, int b, size_t others)
{
	struct content ca = { 0 }, cb = { 0 };
	bool alike = content_open(a, &ca) && content_open(b, &cb) && ca.n == cb.n;
	size_t different = 0;

	for (size_t i = 0; alike && i < ca.n; i++) {
		different += ca.p[i] != cb.p[i];
		alike = different <= others;
	}
	content_close(&ca);
	content_close(&cb);
	return alike;
}
