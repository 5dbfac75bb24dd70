/* program_http.c — the program that asks a service of the LibreTranslate kind: translate-http URL
 * FROM TO. Reads texts from standard input, each a line of HTML, and writes as many translations.
 * Descriptor 3 is the file of the service's key, or /dev/null. Ends with status 0, or with 1 and a
 * struct translate_failure in descriptor 4. POST {"q": [...], "source": "en", "target": "es",
 * "format": "html"} is answered by {"translatedText": [...]}, or by {"error": "..."}. */
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "translate/bytes.h"
#include "translate/failure.h"

#define BATCH_TEXTS 64 /* in one request */
#define BATCH_BYTES 16384
#define ANSWER_MAX ((size_t)8 << 20)
#define CONNECT_SECONDS 10L
#define REQUEST_SECONDS 120L

struct service {
	CURL *curl;
	struct curl_slist *headers;
	const char *url, *from, *to;
	char key[256];
};

static size_t take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	buf_put(b, data, size * n);
	return b->failed ? 0 : size * n;
}

static char *make_request(const struct service *s, json_t *texts)
{
	json_t *request = json_pack("{s:O, s:s, s:s, s:s}", "q", texts, "source", s->from, "target", s->to,
				    "format", "html");
	char *text;

	if (request != NULL && s->key[0] != '\0')
		(void)json_object_set_new(request, "api_key", json_string(s->key));
	text = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);
	json_decref(request);
	return text;
}

/* What the service says about its refusal. */
static int refused(const struct service *s, long status, json_t *answer, struct translate_failure *f)
{
	const char *reason = json_string_value(json_object_get(answer, "error"));
	int error = status == 429 || status >= 500 ? DOCUMENT_SERVICE_UNAVAILABLE : DOCUMENT_CANNOT_TRANSLATE;

	return translate_fail(f, error, "The service %.150s refused (status %ld): %.200s", s->url, status,
			      reason == NULL ? "it gives no reason" : reason);
}

static int write_answers(const struct service *s, json_t *answer, size_t n, struct buf *out,
			 struct translate_failure *f)
{
	json_t *texts = json_object_get(answer, "translatedText");

	if (!json_is_array(texts) || json_array_size(texts) != n)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The service %.150s answered something else than %zu translations.",
				      s->url, n);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(texts, i));

		if (text == NULL)
			return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
					      "The service %.150s answered something else than texts.",
					      s->url);
		for (; *text != '\0'; text++) {
			if (*text == '\n')
				buf_put(out, "&#10;", 5);
			else
				buf_put_u8(out, (uint8_t)*text);
		}
		buf_put_u8(out, '\n');
	}
	return out->failed ? translate_fail(f, DOCUMENT_OUT_OF_MEMORY,
					    "The translation is longer than the limit.")
			   : 0;
}

static int post(const struct service *s, const char *request, struct buf *answer, long *ret_status,
		struct translate_failure *f)
{
	char reason[CURL_ERROR_SIZE] = "";
	CURLcode rc;

	curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, request);
	curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, reason);
	rc = curl_easy_perform(s->curl);
	curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, NULL);
	if (rc == CURLE_WRITE_ERROR)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The service %.150s answered more than %zu MiB.", s->url,
				      ANSWER_MAX >> 20);
	if (rc != CURLE_OK)
		return translate_fail(f, DOCUMENT_SERVICE_UNAVAILABLE,
				      "The service %.150s does not answer: %.200s", s->url,
				      reason[0] != '\0' ? reason : curl_easy_strerror(rc));
	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, ret_status);
	return 0;
}

static int ask(const struct service *s, json_t *texts, struct buf *out, struct translate_failure *f)
{
	char *request = make_request(s, texts);
	struct buf answer;
	json_t *json;
	long status = 0;
	int rc = -1;

	if (request == NULL)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE, "The text of the document is not UTF-8.");
	buf_init(&answer, ANSWER_MAX);
	if (post(s, request, &answer, &status, f) == 0) {
		json = json_loadb(answer.len == 0 ? "" : (const char *)answer.data, answer.len, 0, NULL);
		rc = status != 200 ? refused(s, status, json, f)
				   : write_answers(s, json, json_array_size(texts), out, f);
		json_decref(json);
	}
	buf_fini(&answer);
	free(request);
	return rc;
}

/* Line by line into requests of a bounded size. */
static int translate_all(const struct service *s, struct str in, struct buf *out, struct translate_failure *f)
{
	while (in.n > 0) {
		json_t *texts = json_array();
		size_t bytes = 0;
		int rc;

		while (in.n > 0 && json_array_size(texts) < BATCH_TEXTS && bytes < BATCH_BYTES) {
			const char *end = memchr(in.p, '\n', in.n);
			size_t n = end == NULL ? in.n : (size_t)(end - in.p), skip = end == NULL ? n : n + 1;

			if (json_array_append_new(texts, json_stringn(in.p, n)) < 0) {
				json_decref(texts);
				return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
						      "The text of the document is not UTF-8.");
			}
			bytes += n;
			in.p += skip;
			in.n -= skip;
		}
		rc = ask(s, texts, out, f);
		json_decref(texts);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int set_up(struct service *s, struct translate_failure *f)
{
	s->curl = curl_easy_init();
	s->headers = curl_slist_append(NULL, "Content-Type: application/json");
	if (s->curl == NULL || s->headers == NULL)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	curl_easy_setopt(s->curl, CURLOPT_URL, s->url);
	curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, s->headers);
	curl_easy_setopt(s->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(s->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(s->curl, CURLOPT_TIMEOUT, REQUEST_SECONDS);
	curl_easy_setopt(s->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(s->curl, CURLOPT_USERAGENT, "procession/" PROCESSION_VERSION);
	return 0;
}

/* Its first line. */
static void read_key(struct service *s)
{
	ssize_t n = read(3, s->key, sizeof(s->key) - 1);

	s->key[n > 0 ? n : 0] = '\0';
	s->key[strcspn(s->key, "\r\n")] = '\0';
}

/* Standard input to its end: it is a pipe, whose other end closes it when all has been said. */
static int read_input(struct buf *in, struct translate_failure *f)
{
	for (;;) {
		uint8_t *room = buf_reserve(in, 65536);
		ssize_t n = room == NULL ? -1 : read(0, room, 65536);

		if (n < 0)
			return translate_fail(f, DOCUMENT_OUT_OF_MEMORY,
					      "The text of the document is longer than the limit.");
		if (n == 0)
			return 0;
		in->len += (size_t)n;
	}
}

int main(int argc, char **argv)
{
	struct translate_failure f = { 0 };
	struct service s = { 0 };
	struct buf in, out;
	int rc = -1;

	if (argc != 4 || curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		return 2;
	s.url = argv[1];
	s.from = argv[2];
	s.to = argv[3];
	buf_init(&in, (size_t)256 << 20);
	buf_init(&out, (size_t)1 << 30);
	read_key(&s);
	if (set_up(&s, &f) == 0 && read_input(&in, &f) == 0)
		rc = translate_all(&s, (struct str){ (const char *)in.data, in.len }, &out, &f);
	if (rc == 0)
		rc = translate_bytes_write(1, (struct str){ (const char *)out.data, out.len }, &f);
	explicit_bzero(s.key, sizeof(s.key));
	curl_slist_free_all(s.headers);
	curl_easy_cleanup(s.curl);
	buf_fini(&in);
	buf_fini(&out);
	curl_global_cleanup();
	if (rc < 0 && write(4, &f, sizeof(f)) != (ssize_t)sizeof(f))
		return 2;
	return rc < 0;
}
