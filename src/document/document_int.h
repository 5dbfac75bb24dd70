/* document_int.h — what the files of src/document share: the places themselves, and transfers. */
#ifndef DOCUMENT_DOCUMENT_INT_H
#define DOCUMENT_DOCUMENT_INT_H

#include <stdatomic.h>

#include <curl/curl.h>

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
	atomic_bool hurry;
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

/* http.c: one request, with the redirects that it leads to. */
struct document_request {
	const char *method; /* GET, HEAD, PUT, DELETE, MOVE */
	const char *url;
	int fd;                 /* of GET: empty, filled; of PUT: what is sent, from its beginning */
	const char *headers[2]; /* more of them; NULL: none */
	unsigned seconds;       /* 0: the limit for a transfer */
};
/* DOCUMENT_OK: there is an answer, whatever its status says. c may be used for several requests,
 * one after the other, and keeps its connection. */
MUST_CHECK int document_http_ask(const struct document_places *p, CURL *c, const struct document_request *r,
				 long *ret_status, char text[DOCUMENT_TEXT_MAX]);
/* What a status other than 2xx means. */
int document_http_judge(bool sending, long status, char text[DOCUMENT_TEXT_MAX]);
/* GET as a whole; fd is empty. */
MUST_CHECK int document_http_fetch(const struct document_places *p, const char *url, int fd,
				   char text[DOCUMENT_TEXT_MAX]);

/* contents.c: length and checksum of a file as a line; false: it cannot be read. */
#define DOCUMENT_NOTE_MAX 128
bool document_contents_describe(int fd, char ret[DOCUMENT_NOTE_MAX]);
/* Whether two files have as many bytes, of which no more than so many differ. */
bool document_contents_alike(int a, int b, size_t others);

/* remote.c: the part of an output that is elsewhere; see places.h for what the words mean. */
struct document_remote;
MUST_CHECK int document_remote_open(const struct document_places *p, const char *url,
				    const struct document_claim *claim, bool replace,
				    struct document_remote **ret, bool *ret_finished,
				    char text[DOCUMENT_TEXT_MAX]);
MUST_CHECK int document_remote_commit(struct document_remote *r, int fd, char text[DOCUMENT_TEXT_MAX]);
/* keep: what was noted about it on its host stays there. NULL is welcome. */
void document_remote_close(struct document_remote *r, bool keep);
bool document_remote_recover(const struct document_places *p, const char *url, const char *tag);

/* Whether the list has this host. ret_named: in full, not by a pattern. */
bool document_http_host_allowed(const struct document_places *p, const char *host, unsigned port,
				bool *ret_named);

/* address.c: loopback, private, link-local, multicast and other addresses that are not the
 * public network's. sa: struct sockaddr of AF_INET or AF_INET6; any other is private. */
struct sockaddr;
bool document_address_is_private(const struct sockaddr *sa);

#endif
