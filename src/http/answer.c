/* answer.c — making answers. All carry the headers that keep a page from being framed, sniffed or
 * cached; the page itself may load nothing but its own files, and no inline script. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "http/http_int.h"

#define CONTENT_POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const struct {
	const char *name, *value;
} always[] = {
	{ "Content-Security-Policy", CONTENT_POLICY },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

void http_answer_header(struct http_request *r, const char *name, const char *value)
{
	if (r->response != NULL)
		(void)MHD_add_response_header(r->response, name, value);
}

/* No memory for an answer is seen when there is none to send: the connection closes. */
void http_answer_response(struct http_request *r, unsigned status, const char *type,
			  struct MHD_Response *response)
{
	if (r->response != NULL)
		MHD_destroy_response(r->response);
	r->response = response;
	r->status = status;
	http_answer_header(r, "Content-Type", type);
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		http_answer_header(r, always[i].name, always[i].value);
}

void http_answer_text(struct http_request *r, unsigned status, const char *text)
{
	http_answer_response(r, status, "text/plain; charset=utf-8",
			     MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
							     MHD_RESPMEM_MUST_COPY));
	http_answer_header(r, "Cache-Control", "no-store");
}

void http_answer_buf(struct http_request *r, unsigned status, const char *type, struct buf *b)
{
	if (b->failed || b->len == 0) {
		bool failed = b->failed;

		buf_fini(b);
		http_answer_text(r, failed ? MHD_HTTP_SERVICE_UNAVAILABLE : status,
				 failed ? "The answer needs too much memory.\n" : "");
		return;
	}
	http_answer_response(r, status, type,
			     MHD_create_response_from_buffer(b->len, b->data, MHD_RESPMEM_MUST_FREE));
	if (r->response == NULL)
		free(b->data);
	buf_forget(b);
	http_answer_header(r, "Cache-Control", "no-store");
}

void http_answer_static(struct http_request *r, unsigned status, const char *type, const void *p, size_t n)
{
	http_answer_response(
		r, status, type,
		MHD_create_response_from_buffer(n, (void *)(uintptr_t)p, MHD_RESPMEM_PERSISTENT));
}

const char *http_request_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

const char *http_request_argument(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

static void resume(struct http_task *t)
{
	struct http_request *r = CONTAINER_OF(t, struct http_request, task);

	MHD_resume_connection(r->connection);
}

/* By a thread that is always soon free: those of the dashboard may all be busy. */
void http_answer_later(struct http_request *r, unsigned ms)
{
	r->task.run = resume;
	if (!http_pool_submit(&r->http->probes, &r->task, clock_mono_ms() + ms, true))
		resume(&r->task);
}
