/* shared.h — what a view has found, for all who watch it: a question that many browsers ask with
 * the same arguments and the same rights is asked once, and not again before ten times as long as
 * it took. */
#ifndef HTTP_SHARED_H
#define HTTP_SHARED_H

#include "http/api.h"

#define RESULT_MOST ((size_t)4 << 20)

struct http_result; /* of one view, its arguments and one login */

void http_shared_init(struct http_shared *s);
void http_shared_fini(struct http_shared *s); /* nobody watches any more */

/* The one of this view; who and a are copied where needed. NULL: no memory. */
struct http_result *http_result_get(struct http *h, const struct http_view *v, const struct http_who *who,
				    const struct http_arguments *a);
void http_result_put(struct http_result *r); /* NULL is welcome */

struct http_news {
	enum { NEWS_NONE, NEWS_SOME, NEWS_LATER /* somebody asks just now */ } what;
	uint64_t version; /* of what was found; what differs has another */
	unsigned status;
	int64_t again_ms; /* monotonic: there is nothing new before */
};
/* What there is that is not of this version, into b. Asks, and blocks for it, when what is known is
 * too old. Thread-safe. */
struct http_news http_result_look(struct http_result *r, const struct http_who *who, uint64_t seen,
				  struct buf *b);

#endif
