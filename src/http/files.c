/* files.c — the pages of the dashboard, which are part of the program (web/, embedded by
 * tools/embed.py). */
#include <stdio.h>
#include <string.h>

#include "http/http_int.h"
#include "http/web_files.h"

void http_file(struct http_request *r)
{
	const char *path = strcmp(r->path, "/") == 0 ? "/index.html" : r->path;
	const char *known = http_request_header(r, MHD_HTTP_HEADER_IF_NONE_MATCH);

	for (size_t i = 0; i < http_web_files_count; i++) {
		const struct http_web_file *f = &http_web_files[i];

		if (strcmp(f->path, path) != 0)
			continue;
		if (known != NULL && strcmp(known, f->tag) == 0)
			http_answer_static(r, MHD_HTTP_NOT_MODIFIED, f->type, "", 0);
		else
			http_answer_static(r, MHD_HTTP_OK, f->type, f->data, f->size);
		http_answer_header(r, MHD_HTTP_HEADER_ETAG, f->tag);
		http_answer_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
		return;
	}
	http_answer_text(r, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
}
