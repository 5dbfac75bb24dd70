/* http.c — documents that are elsewhere: fetched by GET, stored by PUT (WebDAV), with libcurl.
 * Redirects are followed here, one by one, because every target is a decision of its own: its
 * host must be in the list, and its address is looked at when the connection is opened, so that
 * no name can change its address in between. */
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
	int fd;
	bool sending, replace;
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
		ssize_t w = write(t->fd, data + done, n - done);

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
	ssize_t got = read(t->fd, data, size * n);

	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

/* What was sent before the server asked for a name and password is sent again. */
static int seek_bytes(void *arg, curl_off_t offset, int origin)
{
	const struct transfer *t = arg;

	return lseek(t->fd, (off_t)offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

static bool set_common(CURL *c, struct transfer *t, char *error)
{
	const struct document_limits *l = &t->places->limits;

	error[0] = '\0';
	return curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_PROXY, "") ==
		       CURLE_OK && /* through one, the address would be the proxy's to choose */
	       curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, 20L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)l->seconds) == CURLE_OK &&
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

static bool set_upload(CURL *c, struct transfer *t, struct curl_slist **headers)
{
	off_t size = lseek(t->fd, 0, SEEK_END);

	if (!t->replace)
		*headers = curl_slist_append(*headers, "If-None-Match: *");
	*headers = curl_slist_append(*headers, "Expect:");
	return size >= 0 && lseek(t->fd, 0, SEEK_SET) == 0 && *headers != NULL &&
	       curl_easy_setopt(c, CURLOPT_UPLOAD, 1L) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)size) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_READFUNCTION, give_bytes) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_READDATA, t) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_bytes) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_SEEKDATA, t) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_HTTPHEADER, *headers) == CURLE_OK;
}

static int judge_status(struct transfer *t, long status)
{
	char number[16];

	snprintf(number, sizeof(number), "%ld", status);
	if (status == 404 || status == 410)
		return failed(t, t->sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_NOT_FOUND,
			      "the server answered %s: there is no such document or folder", number);
	if (status == 401 || status == 403 || status == 407)
		return failed(t, t->sending ? DOCUMENT_OUTPUT_DENIED : DOCUMENT_INPUT_DENIED,
			      "the server answered %s: not allowed", number);
	if (t->sending && status == 412)
		return failed(t, DOCUMENT_OUTPUT_EXISTS,
			      "the server answered %s: the document exists already", number);
	return failed(t, t->sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_READ, "the server answered %s",
		      number);
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

/* One request. *ret_next: where a redirect leads, from curl; the caller's. */
static int request(struct transfer *t, CURL *c, const char *url, char **ret_next)
{
	struct curl_slist *headers = NULL;
	char error[CURL_ERROR_SIZE], *next = NULL;
	long status = 0;
	CURLcode rc = CURLE_OUT_OF_MEMORY;
	int result;

	*ret_next = NULL;
	t->moved = 0;
	if (!t->sending && (ftruncate(t->fd, 0) < 0 || lseek(t->fd, 0, SEEK_SET) < 0))
		return failed(t, DOCUMENT_INPUT_READ, "%s", "no room for what the server sends");
	curl_easy_reset(c);
	if (set_common(c, t, error) && set_credentials(c, t->places) &&
	    curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK && (!t->sending || set_upload(c, t, &headers)))
		rc = curl_easy_perform(c);
	if (rc == CURLE_OK)
		(void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (rc != CURLE_OK)
		result = judge_failure(t, rc, error);
	else if (status >= 200 && status < 300)
		result = DOCUMENT_OK;
	else if (status >= 300 && status < 400 &&
		 curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &next) == CURLE_OK && next != NULL)
		result = (*ret_next = strdup(next)) != NULL
				 ? DOCUMENT_OK
				 : failed(t, DOCUMENT_INPUT_READ, "%s", "out of memory");
	else
		result = judge_status(t, status);
	curl_slist_free_all(headers);
	return result;
}

static int transfer(struct transfer *t, const char *url)
{
	CURL *c = curl_easy_init();
	char *at = strdup(url), *next = NULL;
	int error = c != NULL && at != NULL ? DOCUMENT_OK
					    : failed(t, DOCUMENT_INPUT_READ, "%s", "out of memory");

	for (unsigned hops = 0; error == DOCUMENT_OK; hops++) {
		if (hops > REDIRECTS_MAX) {
			error = failed(t, t->sending ? DOCUMENT_OUTPUT_WRITE : DOCUMENT_INPUT_READ, "%s",
				       "too many redirects");
			break;
		}
		t->redirected = hops > 0;
		error = check_url(t, at);
		if (error == DOCUMENT_OK)
			error = request(t, c, at, &next);
		if (error != DOCUMENT_OK || next == NULL)
			break;
		free(at);
		at = next;
	}
	free(at);
	curl_easy_cleanup(c);
	return error;
}

int document_http_fetch(const struct document_places *p, const char *url, int fd,
			char text[DOCUMENT_TEXT_MAX])
{
	struct transfer t = { .places = p, .fd = fd, .text = text };

	return transfer(&t, url);
}

int document_http_store(const struct document_places *p, const char *url, int fd, bool replace,
			char text[DOCUMENT_TEXT_MAX])
{
	struct transfer t = { .places = p, .fd = fd, .sending = true, .replace = replace, .text = text };

	return transfer(&t, url);
}
