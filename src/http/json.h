/* json.h — answers as JSON text, and the members of a JSON object or of a query string as the
 * values of a batch. */
#ifndef HTTP_JSON_H
#define HTTP_JSON_H

#include "base/buf.h"
#include "local/local.h"

void http_json_string(struct buf *b, struct str s);
/* {"status":0,"sets":[{"columns":["a"],"rows":[[1]]}],"messages":["…"]} */
void http_json_answer(struct buf *b, const struct local_answer *a);
/* {"error":"…"} */
void http_json_error(struct buf *b, const char *text);

#define HTTP_ARGUMENTS 40u
/* Names and texts are owned. */
struct http_arguments {
	struct local_value values[HTTP_ARGUMENTS];
	size_t n;
};
/* "name" becomes "@name". False: too many, a name that is none, or no memory. text NULL: NULL. */
MUST_CHECK bool http_arguments_add(struct http_arguments *a, const char *name, const char *text, size_t n);
/* The members of one flat JSON object: texts, whole numbers, true, false, null. */
MUST_CHECK bool http_arguments_read(struct http_arguments *a, const void *p, size_t n);
void http_arguments_fini(struct http_arguments *a);
/* The text of an argument; empty when it is missing. name with '@'. */
struct str http_arguments_text(const struct http_arguments *a, const char *name);

#endif
