/* places.h — the folders and hosts that a worker may use, and documents in them as files.
 * Nothing outside of them is reached: paths are resolved by the kernel beneath a folder (no link
 * and no ".." leads out), addresses are compared with a list of hosts before anything is sent.
 * After places are set up several threads may open and close documents. */
#ifndef DOCUMENT_PLACES_H
#define DOCUMENT_PLACES_H

#include "document/errors.h"
#include "document/location.h"

struct document_places;

struct document_limits {
	uint64_t max_bytes; /* of an input, and of what is fetched */
	unsigned seconds;   /* for one transfer */
};

MUST_CHECK int document_places_new(const struct document_limits *limits, struct document_places **ret,
				   struct err *reterr);
void document_places_free(struct document_places *p); /* NULL is welcome */
/* A folder that must be there. "/" allows all that the process may. */
MUST_CHECK int document_places_add_root(struct document_places *p, const char *path, struct err *reterr);
/* The folders, one in each line, also as what they are without links; from malloc, NULL without
 * memory. */
char *document_places_folders(const struct document_places *p);
/* "host", "host:port", "*.domain" or "*". Private addresses are reached only by hosts that are
 * named in full, and never by a redirect. */
MUST_CHECK int document_places_add_host(struct document_places *p, const char *host, struct err *reterr);
/* A file with names and passwords for hosts, in the form of ~/.netrc. */
MUST_CHECK int document_places_set_netrc(struct document_places *p, const char *path, struct err *reterr);

/* From now on nobody waits for a host any more: what is fetched or stored ends with an error. From
 * any thread. */
void document_places_hurry(struct document_places *p);

/* The functions below give DOCUMENT_OK, or an error of errors.def with its reason in text. */

/* A regular file at its beginning; what is elsewhere is fetched into an unnamed one. */
MUST_CHECK int document_input_open(struct document_places *p, const struct document_location *l, int *ret,
				   char text[DOCUMENT_TEXT_MAX]);

/* An output while it is written: under a temporary name beside its own, and after the commit
 * under both until it is closed. So, whoever dies when, the file is whole or not there, and a
 * later attempt with the same tag recognises what an earlier one has finished. On another machine
 * the same is done with what its server can do: see remote.c. */
struct document_output;
struct document_claim {
	const char *tag; /* of letters, digits and "-": the same for every attempt at the same item and for
			  * no other */
	bool again;      /* there was an attempt before, which may have come as far as the commit */
};
/* replace: a file that is there gives way at the commit. Folders of this machine are made. */
MUST_CHECK int document_output_open(struct document_places *p, const struct document_location *l,
				    const struct document_claim *claim, bool replace,
				    struct document_output **ret, char text[DOCUMENT_TEXT_MAX]);
/* An earlier attempt has finished it: nothing is to be written. */
bool document_output_is_finished(const struct document_output *o);
int document_output_fd(const struct document_output *o); /* empty, read-write; the output's own */
/* Flushed, then under its name. */
MUST_CHECK int document_output_commit(struct document_output *o, char text[DOCUMENT_TEXT_MAX]);
/* Takes the temporary name away; without a commit nothing is left. NULL is welcome. */
void document_output_close(struct document_output *o);
/* The same, but the temporary name stays: whoever tries the item next shall see that the file is
 * its own. */
void document_output_keep(struct document_output *o);
/* After a crash: whether the item with this tag had been committed. Takes the temporary name
 * away. */
bool document_output_recover(struct document_places *p, const struct document_location *l, const char *tag);

#endif
