/* nursery_int.h — the inside of procession-converter: the process that LibreOffice is
 * initialised in, and its children, one for each document. */
#ifndef CONVERT_NURSERY_INT_H
#define CONVERT_NURSERY_INT_H

#include <sys/types.h>

#include "convert/sniff.h"
#include "convert/wire.h"
#include "jail/jail.h"

#define LOK_USE_UNSTABLE_API
#include <LibreOfficeKit/LibreOfficeKit.h>

#define CONVERT_PATH_MAX 256

/* What a child says at its end, by a pipe. */
struct convert_report {
	int32_t error;
	char text[512];
};

/* One document, in the parent. */
struct convert_child {
	pid_t pid; /* 0: free */
	int pidfd, report;
	uint64_t id;
	int64_t started, deadline; /* ms, monotonic */
	uint32_t seconds;
	/* why we killed it: DOCUMENT_TIMEOUT, DOCUMENT_CANCELLED; 0: we did not */
	int ended;
};

struct convert_job;

struct convert_nursery {
	struct convert_hello hello;
	int64_t started;
	int socket;
	LibreOfficeKit *kit;
	struct jail_filter *alone, *executing;
	struct convert_child children[CONVERT_SLOTS_MAX];
	struct convert_job *job; /* in a child: what it is there for */
};

/* LibreOffice's poll callback. In the parent it serves and does not return; in a child it goes
 * one step on. */
int convert_nursery_poll(void *nursery, int timeout_ms);

/* --- one document, in the child ----------------------------------------------------------- */

/* Everything before LibreOffice gets to see it, then its first step. Comes back when
 * LibreOffice's loop has to run; otherwise the process ends in it. */
void convert_job_begin(struct convert_nursery *n, const struct convert_request *r, int input, int output,
		       int report);
/* The next step; the last one ends the process. */
void convert_job_step(struct convert_job *job, int timeout_ms);

/* A file: the whole of the source is written to the target. -1: errno. */
MUST_CHECK int convert_copy(int from, int to);
/* soffice --convert-to, in a profile of its own. Returns 0 when it has ended with an output. */
MUST_CHECK int convert_by_office(const struct convert_nursery *n, const struct convert_order *o,
				 const char *folder, const char *input, const char *output,
				 struct err *reterr);
/* LibreOffice's settings, as a file: no macros, no links, no recovery, no first start. */
/* language: a tag of letters, digits and hyphens, or empty for none. */
MUST_CHECK int convert_write_profile(const char *path, const char *language);
/* The web page and the pictures in this folder as one MIME file. */
MUST_CHECK int convert_write_mhtml(const char *folder, const char *page, int output);
/* The document becomes a template: its content type in the package. */
MUST_CHECK int convert_make_template(const char *path);
/* A small document that has a bit of everything, for LibreOffice to load its libraries with. */
/* Of a document without macro in its name: LibreOffice leaves them in. */
MUST_CHECK int convert_drop_macros(const char *path);
/* Whether LibreOffice will open the package for reading only, because it says so. */
bool convert_package_is_read_only(const char *path);
MUST_CHECK int convert_write_warmup(const char *path);

#endif
