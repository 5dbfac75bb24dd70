/* location.c — see location.h. */
#include "document/location.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "document/errors.h"

#define LOCATION_MAX 8192

static int refuse(char text[DOCUMENT_TEXT_MAX], const char *why, const char *what)
{
	snprintf(text, DOCUMENT_TEXT_MAX, "%s: '%.200s'", why, what);
	return DOCUMENT_OUTSIDE_ROOTS;
}

static bool has_prefix(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strlen(text) >= n && str_eq_nocase((struct str){ text, n }, (struct str){ prefix, n });
}

static char *join(const char *root, const char *name)
{
	char *joined = NULL;
	size_t n = strlen(root);
	bool bare = n == 0, slash = n > 0 && root[n - 1] == '/';

	while (!bare && *name == '/')
		name++;
	if (n + strlen(name) + 2 > LOCATION_MAX ||
	    asprintf(&joined, "%s%s%s", root, bare || slash ? "" : "/", name) < 0)
		return NULL;
	return joined;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* %XX in place. False: an escape that is none, or a NUL that would end the name early. */
static bool unescape(char *s)
{
	char *dst = s;

	for (; *s != '\0'; s++) {
		if (*s != '%') {
			*dst++ = *s;
			continue;
		}
		if (hex(s[1]) < 0 || hex(s[2]) < 0 || (s[1] == '0' && s[2] == '0'))
			return false;
		*dst++ = (char)(hex(s[1]) << 4 | hex(s[2]));
		s += 2;
	}
	*dst = '\0';
	return true;
}

/* Empty and "." parts go; ".." stays, since only the file system knows where it leads. In place. */
static void normalise(char *path)
{
	char *dst = path;
	const char *p = path;

	assert(path[0] == '/');
	while (*p != '\0') {
		size_t n;

		while (*p == '/')
			p++;
		n = strcspn(p, "/");
		if (n == 0)
			break;
		if (!(n == 1 && p[0] == '.')) {
			*dst++ = '/';
			memmove(dst, p, n);
			dst += n;
		}
		p += n;
	}
	if (dst == path)
		*dst++ = '/';
	*dst = '\0';
}

static int locate_file_url(char *url, char text[DOCUMENT_TEXT_MAX])
{
	const char *path = url + strlen("file://");

	if (has_prefix(path, "localhost/"))
		path += strlen("localhost");
	if (*path != '/')
		return refuse(text, "a file URL names a file of this machine, file:///folder/name", url);
	memmove(url, path, strlen(path) + 1);
	return unescape(url) ? DOCUMENT_OK : refuse(text, "the URL has a wrong escape", url);
}

int document_locate(const char *root, const char *name, struct document_location *ret,
		    char text[DOCUMENT_TEXT_MAX])
{
	char *joined = join(root != NULL ? root : "", name);
	bool remote = false;
	int error = DOCUMENT_OK;

	if (joined == NULL)
		return refuse(text, "the name is too long", name);
	if (has_prefix(joined, "http://") || has_prefix(joined, "https://"))
		remote = true;
	else if (has_prefix(joined, "file://"))
		error = locate_file_url(joined, text);
	else if (joined[0] != '/')
		error = refuse(text, "neither a whole path nor an http, https or file URL", joined);
	if (error != DOCUMENT_OK) {
		free(joined);
		return error;
	}
	if (!remote)
		normalise(joined);
	*ret = (struct document_location){ remote, joined };
	return DOCUMENT_OK;
}

void document_location_fini(struct document_location *l)
{
	free(l->text);
	l->text = NULL;
}
