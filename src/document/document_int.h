/* document_int.h — what the files of src/document share: the places themselves, and transfers. */
#ifndef DOCUMENT_DOCUMENT_INT_H
#define DOCUMENT_DOCUMENT_INT_H

#include "document/places.h"

#define ROOTS_MAX 64
#define HOSTS_MAX 256

struct root {
	char *given, *real; /* absolute, normalised; the second with all links resolved */
	int fd;
};

struct host {
	char *name;    /* lower case; "*" and "*.domain" are patterns */
	unsigned port; /* 0: any */
	bool pattern;
};

struct document_places {
	struct document_limits limits;
	struct root roots[ROOTS_MAX];
	size_t nroots;
	struct host hosts[HOSTS_MAX];
	size_t nhosts;
	char *netrc; /* NULL: none */
};

/* beneath.c: the root under which a path lies, and the rest of the path; "." for the root
 * itself. NULL: none. */
const struct root *document_beneath_find(const struct document_places *p, const char *path,
					 const char **ret_rest);
/* openat2 that does not leave the folder. -1 and errno. */
int document_beneath_open(int dir, const char *path, int flags);
/* The folder in which a path beneath root lies, made where it is missing. ret_name: the last
 * part, inside path. -1 and errno. */
int document_beneath_make_parent(const struct root *root, const char *path, const char **ret_name);
/* An unnamed file in the folder for temporary ones. -1 and errno. */
int document_spool_open(void);

/* http.c. fd is an empty file, or the one to be sent. */
int document_http_fetch(const struct document_places *p, const char *url, int fd,
			char text[DOCUMENT_TEXT_MAX]);
int document_http_store(const struct document_places *p, const char *url, int fd, bool replace,
			char text[DOCUMENT_TEXT_MAX]);
/* Whether the list has this host. ret_named: in full, not by a pattern. */
bool document_http_host_allowed(const struct document_places *p, const char *host, unsigned port,
				bool *ret_named);

/* address.c: loopback, private, link-local, multicast and other addresses that are not the
 * public network's. sa: struct sockaddr of AF_INET or AF_INET6; any other is private. */
struct sockaddr;
bool document_address_is_private(const struct sockaddr *sa);

#endif
