/* remote.c — outputs that are elsewhere. A host that can (WebDAV: DELETE and MOVE) gets the
 * document as .procession-TAG.part beside its place, by PUT, and then its name, by MOVE, which says
 * whether something may give way: so it is whole or not there. Where nothing may give way a note
 * goes before, .procession-TAG.done, with length and checksum of the document, and goes away after
 * the report: a later attempt sees by it that what is at its place is its own work, whoever died
 * when.
 *
 * A host without DELETE gets nothing but the document, by one PUT: no temporary name could be
 * taken away again. There a later attempt compares what is at its place with what it has made
 * itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "document/document_int.h"

#define CLOSE_SECONDS 5 /* the report of the next document waits for it */
/* Two runs over one document differ in times and identifiers: of a PDF 14 digits, three
 * checksums of 32, and its metadata. */
#define ALIKE_MAX 256

struct document_remote {
	const struct document_places *places;
	CURL *curl;
	char *url;
	char *part, *note; /* beside it; NULL: the URL has a query, and so nothing is beside it */
	bool replace, again;
	bool noted; /* the note is there */
	bool lost;  /* no answer came to what decided: it may have been done */
};

static bool is_good(long status)
{
	return status >= 200 && status < 300 && status != 207; /* of several documents: something failed */
}

static bool is_missing(long status)
{
	return status == 404 || status == 410;
}

static bool cannot(long status)
{
	return status == 405 || status == 501;
}

/* --- making and ending ------------------------------------------------------------------------ */

/* The URL of a neighbour; NULL: there can be none. Without control characters, since it becomes
 * part of a header. */
static char *neighbour(const char *url, const char *tag, const char *kind)
{
	const char *path = strstr(url, "://"), *slash;
	char *made = NULL;

	path = path != NULL ? strchr(path + 3, '/') : NULL;
	slash = path != NULL ? strrchr(path, '/') : NULL;
	if (slash == NULL || slash[1] == '\0' || strpbrk(url, "?#") != NULL)
		return NULL;
	return asprintf(&made, "%.*s/.procession-%s.%s", (int)(slash - url), url, tag, kind) < 0 ? NULL
												 : made;
}

/* As it goes over the wire. NULL: it is no URL, or there is no memory. */
static char *encoded(const char *url)
{
	CURLU *u = curl_url();
	char *text = NULL, *copy = NULL;

	if (u != NULL && curl_url_set(u, CURLUPART_URL, url, CURLU_URLENCODE) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_URL, &text, 0) == CURLUE_OK)
		copy = strdup(text);
	curl_free(text);
	curl_url_cleanup(u);
	for (const char *c = copy; c != NULL && *c != '\0'; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f) {
			free(copy);
			return NULL;
		}
	return copy;
}

static void remote_free(struct document_remote *r)
{
	if (r == NULL)
		return;
	curl_easy_cleanup(r->curl);
	free(r->url);
	free(r->part);
	free(r->note);
	free(r);
}

static struct document_remote *remote_new(const struct document_places *p, const char *url, const char *tag)
{
	struct document_remote *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	*r = (struct document_remote){ .places = p, .curl = curl_easy_init(), .url = strdup(url) };
	r->part = neighbour(url, tag, "part");
	r->note = neighbour(url, tag, "done");
	if (r->curl == NULL || r->url == NULL) {
		remote_free(r);
		return NULL;
	}
	return r;
}

static int out_of_memory(char text[DOCUMENT_TEXT_MAX])
{
	snprintf(text, DOCUMENT_TEXT_MAX, "out of memory");
	return DOCUMENT_OUTPUT_WRITE;
}

static int exists(char text[DOCUMENT_TEXT_MAX])
{
	snprintf(text, DOCUMENT_TEXT_MAX,
		 "the document exists already, and OutputSaveBehavior does not say AlwaysOverwrite");
	return DOCUMENT_OUTPUT_EXISTS;
}

/* --- requests --------------------------------------------------------------------------------- */

/* 0: there was no answer. */
static long ask(struct document_remote *r, const char *method, const char *url, unsigned seconds)
{
	const struct document_request q = { .method = method, .url = url, .fd = -1, .seconds = seconds };
	char text[DOCUMENT_TEXT_MAX];
	long status;

	return document_http_ask(r->places, r->curl, &q, &status, text) == DOCUMENT_OK ? status : 0;
}

/* What is there, in an unnamed file; -1: nothing that can be had. */
static int fetch(struct document_remote *r, const char *url)
{
	int fd = document_spool_open();
	const struct document_request q = { .method = "GET", .url = url, .fd = fd };
	char text[DOCUMENT_TEXT_MAX];
	long status;

	if (fd >= 0 && document_http_ask(r->places, r->curl, &q, &status, text) == DOCUMENT_OK &&
	    is_good(status))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* *ret_there: whether something has the name. An error: nobody can say. */
static int look(struct document_remote *r, bool *ret_there, char text[DOCUMENT_TEXT_MAX])
{
	const struct document_request q = { .method = "HEAD", .url = r->url, .fd = -1 };
	long status;
	int error = document_http_ask(r->places, r->curl, &q, &status, text), fd;

	if (error != DOCUMENT_OK)
		return error;
	*ret_there = is_good(status);
	if (cannot(status)) {
		fd = fetch(r, r->url);
		*ret_there = fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return DOCUMENT_OK;
}

/* --- what is there ---------------------------------------------------------------------------- */

/* Whether what has the name is what we have made, or an earlier attempt has. */
static bool is_there(struct document_remote *r, int fd, size_t others)
{
	int other = fetch(r, r->url);
	bool alike = document_contents_alike(fd, other, others);

	if (other >= 0)
		close(other);
	return alike;
}

/* --- the note --------------------------------------------------------------------------------- */

/* Whether what has the name is what a note beside it describes. */
static bool is_noted(struct document_remote *r)
{
	char said[DOCUMENT_NOTE_MAX] = "", is[DOCUMENT_NOTE_MAX];
	int fd = r->note != NULL ? fetch(r, r->note) : -1, there;
	bool same;

	if (fd < 0)
		return false;
	r->noted = true;
	same = pread(fd, said, sizeof(said) - 1, 0) > 0;
	close(fd);
	there = same ? fetch(r, r->url) : -1;
	same = there >= 0 && document_contents_describe(there, is) && strcmp(said, is) == 0;
	if (there >= 0)
		close(there);
	return same;
}

/* Without one it works as well, as long as nobody dies. */
static void put_note(struct document_remote *r, int fd)
{
	struct document_request q = { .method = "PUT", .url = r->note, .fd = document_spool_open() };
	char line[DOCUMENT_NOTE_MAX], text[DOCUMENT_TEXT_MAX];
	long status;

	if (q.fd < 0)
		return;
	r->noted = document_contents_describe(fd, line) && dprintf(q.fd, "%s", line) > 0 &&
		   document_http_ask(r->places, r->curl, &q, &status, text) == DOCUMENT_OK && is_good(status);
	close(q.fd);
}

static void take_note_away(struct document_remote *r, unsigned seconds)
{
	if (r->noted)
		(void)ask(r, "DELETE", r->note, seconds);
	r->noted = false;
}

/* --- storing ---------------------------------------------------------------------------------- */

/* The name is taken. */
static int taken(struct document_remote *r, int fd, char text[DOCUMENT_TEXT_MAX])
{
	return r->again && is_there(r, fd, ALIKE_MAX) ? DOCUMENT_OK : exists(text);
}

/* The answer did not come, but perhaps only the answer. */
static int answer_lost(struct document_remote *r, int fd, int error)
{
	if (is_there(r, fd, 0))
		return DOCUMENT_OK;
	r->lost = true;
	return error;
}

/* By one PUT, for a host that can do no better. Not all of them know If-None-Match. */
static int put_in_place(struct document_remote *r, int fd, char text[DOCUMENT_TEXT_MAX])
{
	const struct document_request q = { .method = "PUT",
					    .url = r->url,
					    .fd = fd,
					    .headers = { r->replace ? NULL : "If-None-Match: *" } };
	bool there = false;
	long status = 412;
	int error = r->replace ? DOCUMENT_OK : look(r, &there, text);

	if (error == DOCUMENT_OK && !there)
		error = document_http_ask(r->places, r->curl, &q, &status, text);
	if (error != DOCUMENT_OK)
		return answer_lost(r, fd, error);
	return is_good(status)                ? DOCUMENT_OK
	       : status == 412 && !r->replace ? taken(r, fd, text)
					      : document_http_judge(true, status, text);
}

/* The part gets the name. *ret_status: of the answer; 0: none came. */
static int move(struct document_remote *r, int fd, long *ret_status, char text[DOCUMENT_TEXT_MAX])
{
	char *destination = NULL, *url = encoded(r->url);
	struct document_request q = { .method = "MOVE", .url = r->part, .fd = -1 };
	int error;

	*ret_status = 0;
	if (url == NULL || asprintf(&destination, "Destination: %s", url) < 0) {
		free(url);
		return out_of_memory(text);
	}
	q.headers[0] = destination;
	q.headers[1] = r->replace ? "Overwrite: T" : "Overwrite: F";
	error = document_http_ask(r->places, r->curl, &q, ret_status, text);
	free(destination);
	free(url);
	if (error != DOCUMENT_OK)
		return answer_lost(r, fd, error);
	return is_good(*ret_status)                ? DOCUMENT_OK
	       : *ret_status == 412 && !r->replace ? taken(r, fd, text)
						   : document_http_judge(true, *ret_status, text);
}

static int put_and_move(struct document_remote *r, int fd, char text[DOCUMENT_TEXT_MAX])
{
	const struct document_request q = { .method = "PUT", .url = r->part, .fd = fd };
	long status;
	int error = document_http_ask(r->places, r->curl, &q, &status, text);

	if (error == DOCUMENT_OK && !is_good(status))
		return document_http_judge(true, status, text);
	if (error == DOCUMENT_OK)
		error = move(r, fd, &status, text);
	if (error != DOCUMENT_OK || !is_good(status)) /* taken, and by ourselves */
		(void)ask(r, "DELETE", r->part, 0);
	return error != DOCUMENT_OK && cannot(status) ? put_in_place(r, fd, text) : error;
}

int document_remote_commit(struct document_remote *r, int fd, char text[DOCUMENT_TEXT_MAX])
{
	/* A part of an attempt that has died goes; and a host that cannot do that gets none. */
	long status = r->part != NULL ? ask(r, "DELETE", r->part, 0) : 405;
	bool deletes = is_good(status) || is_missing(status);
	int error;

	if (deletes && !r->replace)
		put_note(r, fd);
	error = deletes ? put_and_move(r, fd, text) : put_in_place(r, fd, text);
	/* Another attempt may find by the note that this one did not fail. */
	if (r->lost)
		r->noted = false;
	else if (error != DOCUMENT_OK)
		take_note_away(r, 0);
	return error;
}

/* --- beginning and end ------------------------------------------------------------------------ */

int document_remote_open(const struct document_places *p, const char *url, const struct document_claim *claim,
			 bool replace, struct document_remote **ret, bool *ret_finished,
			 char text[DOCUMENT_TEXT_MAX])
{
	struct document_remote *r = remote_new(p, url, claim->tag);
	bool there = false;
	int error;

	if (r == NULL)
		return out_of_memory(text);
	r->replace = replace;
	r->again = claim->again;
	error = replace ? DOCUMENT_OK : look(r, &there, text);
	if (error == DOCUMENT_OK && there) {
		*ret_finished = is_noted(r);
		if (!*ret_finished && !r->again)
			error = exists(text);
	}
	if (error != DOCUMENT_OK) {
		document_remote_close(r, false);
		return error;
	}
	*ret = r;
	return DOCUMENT_OK;
}

void document_remote_close(struct document_remote *r, bool keep)
{
	if (r != NULL && !keep)
		take_note_away(r, CLOSE_SECONDS);
	remote_free(r);
}

bool document_remote_recover(const struct document_places *p, const char *url, const char *tag)
{
	struct document_remote *r = remote_new(p, url, tag);
	bool finished = r != NULL && is_noted(r);

	document_remote_close(r, false);
	return finished;
}
