/* http.c — requests to other machines, with libcurl: what remote.c and places.c do with
 * documents that are elsewhere. Redirects are followed here, one by one, because every target is
 * a decision of its own: its host must be in the list, and its address is looked at when the
 * connection is opened, so that no name can change its address in between. */
#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "document/document_int.h"

#define REDIRECTS_MAX 5

struct transfer {
	const struct document_places *places;
	const struct document_request *r;
	bool sending;           /* or doing something else than fetching */
	bool redirected, named; /* this request: after a redirect; to a host that the list names in full */
	bool refused_address, too_large, disk_failed;
	uint64_t moved;
	char *text;
};

static int failed(struct transfer *t, int error, const char *fmt, const char *what)
{
	snprintf(t->text, DOCUMENT_TEXT_MAX, fmt, what);
	return error;
}

static bool host_matches(const struct host *h, const char *name, unsigned port)
{
	size_t n = strlen(name), m;

	if (h->port != 0 && h->port != port)
		return false;
	if (!h->pattern)
		return str_eq_nocase(str_of(h->name), str_of(name));
	m = strlen(h->name + 1); /* ".domain", or nothing */
	return n > m && str_eq_nocase((struct str){ name + n - m, m }, (struct str){ h->name + 1, m });
}

bool document_http_host_allowed(const struct document_places *p, const char *host, unsigned port,
				bool *ret_named)
{
	bool allowed = false;

	*ret_named = false;
	for (size_t i = 0; i < p->nhosts; i++) {
		if (host_matches(&p->hosts[i], host, port)) {
			allowed = true;
			*ret_named = *ret_named || !p->hosts[i].pattern;
		}
	}
	return allowed;
}

/* Whether the worker may ask this URL at all. */
static int check_url(struct transfer *t, const char *url)
{
	CURLU *u = curl_url();
	char *host = NULL, *port = NULL, *user = NULL, *scheme = NULL;
	int error = DOCUMENT_OK;

	if (u == NULL || curl_url_set(u, CURLUPART_URL, url, CURLU_URLENCODE) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK ||
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
		error = failed(t, DOCUMENT_HOST_NOT_ALLOWED, "this is no address: '%.200s'", url);
	else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		error = failed(t, DOCUMENT_HOST_NOT_ALLOWED, "only http and https are followed, not '%.100s'",
			       scheme);
	else if (curl_url_get(u, CURLUPART_USER, &user, 0) == CURLUE_OK)
		error = failed(
			t, DOCUMENT_HOST_NOT_ALLOWED,
			"an address may not hold a name and password; the setting netrc has them: '%.100s'",
			host);
	else {
		size_t n = strlen(host);

		if (n > 2 && host[0] == '[' && host[n - 1] == ']') { /* IPv6, as the list has it */
			memmove(host, host + 1, n - 2);
			host[n - 2] = '\0';
		}
		if (!document_http_host_allowed(t->places, host, (unsigned)strtoul(port, NULL, 10),
						&t->named))
			error = failed(t, DOCUMENT_HOST_NOT_ALLOWED,
				       "the host '%.200s' is not in the setting hosts of this worker", host);
	}
	curl_free(host);
	curl_free(port);
	curl_free(user);
	curl_free(scheme);
	curl_url_cleanup(u);
	return error;
}

/* The address that the name has right now is the one that is connected to. */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct transfer *t = arg;

	(void)purpose;
	if (document_address_is_private(&a->addr) && (t->redirected || !t->named)) {
		t->refused_address = true;
		return CURL_SOCKET_BAD;
	}
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t take_bytes(char *data, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	n *= size;
	t->moved += n;
	if (t->moved > t->places->limits.max_bytes) {
		t->too_large = true;
		return 0;
	}
	if (t->sending)
		return n; /* what the server says to a PUT is of no interest */
	for (size_t done = 0; done < n;) {
		ssize_t w = write(t->r->fd, data + done, n - done);

		if (w <= 0) {
			t->disk_failed = true;
			return 0;
		}
		done += (size_t)w;
	}
	return n;
}

static size_t give_bytes(char *data, size_t size, size_t n, void *arg)
{
	const struct transfer *t = arg;
	ssize_t got = read(t->r->fd, data, size * n);

	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* What was sent before the server asked for a name and password is sent again. */
static int seek_bytes(void *arg, curl_off_t offset, int origin)
{
	const struct transfer *t = arg;

	return lseek(t->r->fd, (off_t)offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

/* libcurl asks once a second at least. */
static int is_over(void *arg, curl_off_t a, curl_off_t b, curl_off_t d, curl_off_t e)
{
	const struct transfer *t = arg;

	(void)a, (void)b, (void)d, (void)e;
	return atomic_load(&t->places->hurry) ? 1 : 0;
}

static bool set_common(CURL *c, struct transfer *t, char *error)
{
	long seconds = t->r->seconds != 0 ? t->r->seconds : t->places->limits.seconds;

	error[0] = '\0';
	return curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROXY, "") ==
		       CURLE_OK && /* through one, the address would be the proxy's to choose */
	       curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 20L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_TIMEOUT, seconds) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, is_over) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_XFERINFODATA, t) == CURLE_OK &&
	       /* a connection that is kept was opened to another question: its address may not
	        * do for a redirect */
	       curl_easy_setopt(c, CURLOPT_FRESH_CONNECT, t->redirected ? 1L : 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_WRITEDATA, t) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_USERAGENT, "procession/" PROCESSION_VERSION) == CURLE_OK;
}

static bool set_credentials(CURL *c, const struct document_places *p)
{
	return p->netrc == NULL ||
	       (curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_REQUIRED) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_NETRC_FILE, p->netrc) == CURLE_OK &&
		curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_ANY) == CURLE_OK);
}

static bool set_upload(CURL *c, struct transfer *t)
{
	off_t size = lseek(t->r->fd, 0, SEEK_END);

	return size >= 0 && lseek(t->r->fd, 0, SEEK_SET) == 0 &&
	       curl_easy_setopt(c, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_READFUNCTION, give_bytes) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_READDATA, t) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_bytes) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_SEEKDATA, t) == CURLE_OK;
}

static bool set_method(CURL *c, struct transfer *t)
{
	const char *m = t->r->method;

	return strcmp(m, "GET") == 0    ? true
	       : strcmp(m, "PUT") == 0  ? set_upload(c, t)
	       : strcmp(m, "HEAD") == 0 ? curl_easy_setopt(c, CURLOPT_NOBODY, 1L) == CURLE_OK
					: curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, m) == CURLE_OK;
}

static bool set_headers(CURL *c, const struct document_request *r, struct curl_slist **ret)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	*ret = list;
	for (size_t i = 0; i < ARRAY_LEN(r->headers) && list != NULL && r->headers[i] != NULL; i++)
		list = curl_slist_append(list, r->headers[i]);
	return list != NULL && curl_easy_setopt(c, CURLOPT_HTTPHEADER, *ret) == CURLE_OK;
}

int document_http_judge(bool sending, long status, char text[DOCUMENT_TEXT_MAX])
{
	int error = sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_READ;
	const char *why = "";

	if (status == 404 || status == 410) {
		error = sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_NOT_FOUND;
		why = ": there is no such document or folder";
	} else if (status == 401 || status == 403 || status == 407) {
		error = sending ? DOCUMENT_OUTPUT_DENIED : DOCUMENT_INPUT_DENIED;
		why = ": not allowed";
	}
	snprintf(text, DOCUMENT_TEXT_MAX, "the server answered %ld%s", status, why);
	return error;
}

static int judge_failure(struct transfer *t, CURLcode rc, const char *error)
{
	if (t->refused_address)
		return failed(t, DOCUMENT_HOST_NOT_ALLOWED, "%s",
			      t->redirected ? "a redirect leads to a private address"
					    : "the host has a private address, and the setting hosts does "
					      "not name it in full");
	if (t->too_large)
		return failed(t, DOCUMENT_INPUT_TOO_LARGE, "%s",
			      "the server sends more than the limit max_input");
	if (t->disk_failed)
		return failed(t, DOCUMENT_INPUT_READ, "%s", "no room for what the server sends");
	return failed(t, t->sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_READ, "%.300s",
		      error[0] != '\0' ? error : curl_easy_strerror(rc));
}

/* One request. *ret_next: where a redirect leads, from strdup; the caller's. */
static int request(struct transfer *t, CURL *c, const char *url, long *ret_status, char **ret_next)
{
	struct curl_slist *headers = NULL;
	char error[CURL_ERROR_SIZE], *next = NULL;
	CURLcode rc = CURLE_OUT_OF_MEMORY;
	int result = DOCUMENT_OK;

	*ret_next = NULL;
	t->moved = 0;
	if (!t->sending && (ftruncate(t->r->fd, 0) < 0 || lseek(t->r->fd, 0, SEEK_SET) < 0))
		return failed(t, DOCUMENT_INPUT_READ, "%s", "no room for what the server sends");
	curl_easy_reset(c);
	if (set_common(c, t, error) && set_credentials(c, t->places) &&
	    curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK && set_headers(c, t->r, &headers) &&
	    set_method(c, t))
		rc = curl_easy_perform(c);
	if (rc == CURLE_OK)
		(void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, ret_status);
	if (rc != CURLE_OK)
		result = judge_failure(t, rc, error);
	else if (*ret_status >= 300 && *ret_status < 400 &&
		 curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &next) == CURLE_OK && next != NULL &&
		 (*ret_next = strdup(next)) == NULL)
		result = failed(t, DOCUMENT_INPUT_READ, "%s", "out of memory");
	curl_slist_free_all(headers);
	return result;
}

int document_http_ask(const struct document_places *p, CURL *c, const struct document_request *r,
		      long *ret_status, char text[DOCUMENT_TEXT_MAX])
{
	struct transfer t = { .places = p, .r = r, .sending = strcmp(r->method, "GET") != 0, .text = text };
	char *at = strdup(r->url), *next = NULL;
	int error = at != NULL ? DOCUMENT_OK : failed(&t, DOCUMENT_INPUT_READ, "%s", "out of memory");

	*ret_status = 0;
	for (unsigned hops = 0; error == DOCUMENT_OK; hops++) {
		if (hops > REDIRECTS_MAX) {
			error = failed(&t, t.sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_READ, "%s",
				       "too many redirects");
			break;
		}
		t.redirected = hops > 0;
		error = check_url(&t, at);
		if (error == DOCUMENT_OK)
			error = request(&t, c, at, ret_status, &next);
		if (error != DOCUMENT_OK || next == NULL)
			break;
		free(at);
		at = next;
	}
	free(at);
	if (error != DOCUMENT_OK)
		*ret_status = 0;
	return error;
}

int document_http_fetch(const struct document_places *p, const char *url, int fd,
			char text[DOCUMENT_TEXT_MAX])
{
	const struct document_request r = { .method = "GET", .url = url, .fd = fd };
	CURL *c = curl_easy_init();
	long status;
	int error;

	if (c == NULL) {
		snprintf(text, DOCUMENT_TEXT_MAX, "out of memory");
		return DOCUMENT_INPUT_READ;
	}
	error = document_http_ask(p, c, &r, &status, text);
	curl_easy_cleanup(c);
	if (error == DOCUMENT_OK && (status < 200 || status >= 300))
		error = document_http_judge(false, status, text);
	return error;
}
