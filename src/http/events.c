/* events.c — /api/events?watch=VIEW&ARGUMENT=…&watch=VIEW…: views that are looked at again and sent
 * when they have changed, as server-sent events whose id is the number of the view among them, from
 * 0. A page needs one stream for all that it shows. A browser that does not read gets nothing new
 * until it has read the last: one event of each view is kept for it, no more. When it goes, its
 * questions end, and its place is free again before they would have been asked once more. */
#define _GNU_SOURCE /* POLLRDHUP */

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/str.h"
#include "http/shared.h"

#define STREAMS_MOST 64u
#define WATCHES_MOST 8u
#define PENDING_MOST (2 * RESULT_MOST)
#define UNREAD_MS 2000
#define COMMENT_MS 15000

struct watch {
	const struct http_view *view;
	struct http_arguments arguments; /* owned */
	struct http_result *result;      /* counted */
	uint64_t seen;                   /* the version that was sent; 0: none */
	int64_t due_ms;
	bool waits; /* under the lock: an event of it was not read yet */
};

struct stream {
	struct http *http;
	struct watch watches[WATCHES_MOST];
	size_t n;
	struct http_who who;
	struct MHD_Connection *connection;
	struct http_task task;
	int64_t sent_ms;
	struct lock lock;
	/* under the lock */
	struct buf pending;
	size_t taken; /* of pending */
	bool suspended, ended, gone;
	unsigned refs; /* the answer's and the task's */
};

static void unref(struct stream *s)
{
	struct http_streams *all = &s->http->streams;
	bool last;

	lock_take(&s->lock);
	last = --s->refs == 0;
	lock_give(&s->lock);
	if (!last)
		return;
	for (size_t i = 0; i < s->n; i++) {
		http_result_put(s->watches[i].result);
		http_arguments_fini(&s->watches[i].arguments);
	}
	lock_take(&all->lock);
	all->n--;
	lock_give(&all->lock);
	lock_fini(&s->lock);
	buf_fini(&s->pending);
	free(s);
}

/* ---- on the library's thread ---- */

/* Under the lock: all was read. */
static void emptied(struct stream *s)
{
	buf_reset(&s->pending, 4096);
	s->taken = 0;
	for (size_t i = 0; i < s->n; i++)
		s->watches[i].waits = false;
}

static ssize_t read_events(void *arg, uint64_t pos, char *dst, size_t max)
{
	struct stream *s = arg;
	size_t n;

	(void)pos;
	lock_take(&s->lock);
	n = s->pending.len - s->taken;
	n = n < max ? n : max;
	if (n > 0) {
		memcpy(dst, s->pending.data + s->taken, n);
		s->taken += n;
		if (s->taken == s->pending.len)
			emptied(s);
	} else if (!s->ended) {
		s->suspended = true;
		MHD_suspend_connection(s->connection);
	}
	bool ended = n == 0 && s->ended;
	lock_give(&s->lock);
	return ended ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)n;
}

static void reader_gone(void *arg)
{
	struct stream *s = arg;

	lock_take(&s->lock);
	s->gone = true;
	lock_give(&s->lock);
	unref(s);
}

/* ---- on a work thread ---- */

/* Under the lock. */
static void wake(struct stream *s)
{
	assert(lock_is_mine(&s->lock));
	if (!s->suspended)
		return;
	s->suspended = false;
	MHD_resume_connection(s->connection);
}

static void end(struct stream *s)
{
	lock_take(&s->lock);
	s->ended = true;
	if (s->pending.len == s->taken)
		buf_printf(&s->pending, "event: end\ndata: {}\n\n");
	wake(s);
	lock_give(&s->lock);
	unref(s);
}

/* Under the lock. What finds no room is left for the next time. */
static void put_event(struct stream *s, struct watch *w, const struct http_news *news, const struct buf *b)
{
	if (s->pending.len + b->len + 100 > PENDING_MOST)
		return;
	buf_printf(&s->pending,
		   "event: %s\nid: %zu\ndata: ", news->status == MHD_HTTP_OK ? "view" : "problem",
		   (size_t)(w - s->watches));
	buf_put(&s->pending, b->data, b->len);
	buf_printf(&s->pending, "\n\n");
	w->seen = news->version;
	w->waits = true;
	s->sent_ms = clock_mono_ms();
}

static void offer(struct stream *s, struct watch *w, const struct http_news *news, const struct buf *b)
{
	lock_take(&s->lock);
	if (news->what == NEWS_SOME) {
		put_event(s, w, news, b);
	} else if (s->pending.len == 0 && clock_mono_ms() - s->sent_ms >= COMMENT_MS) {
		buf_printf(&s->pending, ":\n\n");
		s->sent_ms = clock_mono_ms();
	}
	if (s->pending.failed)
		s->ended = true;
	if (s->pending.len > 0 || s->ended)
		wake(s);
	lock_give(&s->lock);
}

/* Under the lock. The library does not look at a connection that is suspended: as long as there is
 * nothing to send, only we can see that the browser has closed it. */
static bool has_left(struct stream *s)
{
	const union MHD_ConnectionInfo *i;
	struct pollfd p = { .events = POLLRDHUP };

	assert(lock_is_mine(&s->lock));
	if (!s->suspended)
		return false;
	i = MHD_get_connection_info(s->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (i == NULL)
		return false;
	p.fd = i->connect_fd;
	return poll(&p, 1, 0) > 0;
}

static bool is_over(struct stream *s)
{
	bool over;

	lock_take(&s->lock);
	over = s->gone || s->ended || has_left(s);
	lock_give(&s->lock);
	return over || http_pool_is_stopping(&s->http->work) ||
	       !http_visitors_find(s->http->visitors, s->who.token, &s->who);
}

/* The one that is due first. */
static struct watch *next_watch(struct stream *s)
{
	struct watch *first = &s->watches[0];

	for (size_t i = 1; i < s->n; i++) {
		if (s->watches[i].due_ms < first->due_ms)
			first = &s->watches[i];
	}
	return first;
}

static void look_at(struct stream *s, struct watch *w)
{
	struct http_news news = { .what = NEWS_NONE, .again_ms = clock_mono_ms() + UNREAD_MS };
	struct buf b;
	bool waits;

	lock_take(&s->lock);
	waits = w->waits;
	lock_give(&s->lock);
	buf_init(&b, RESULT_MOST);
	if (!waits && w->due_ms <= clock_mono_ms())
		news = http_result_look(w->result, &s->who, w->seen, &b);
	else if (!waits)
		news.again_ms = w->due_ms;
	offer(s, w, &news, &b);
	buf_fini(&b);
	w->due_ms = news.again_ms;
}

static void look(struct http_task *t)
{
	struct stream *s = CONTAINER_OF(t, struct stream, task);
	int64_t due, most;

	if (is_over(s)) {
		end(s);
		return;
	}
	look_at(s, next_watch(s));
	due = next_watch(s)->due_ms;
	most = clock_mono_ms() + COMMENT_MS;
	if (!http_pool_submit(&s->http->work, t, due < most ? due : most, true))
		end(s);
}

/* ---- the request ---- */

static bool take_place(struct http_streams *all)
{
	bool taken;

	lock_take(&all->lock);
	taken = all->n < STREAMS_MOST;
	all->n += taken;
	lock_give(&all->lock);
	return taken;
}

static struct stream *stream_new(struct http_request *r, const struct http_who *who)
{
	struct stream *s = take_place(&r->http->streams) ? calloc(1, sizeof(*s)) : NULL;

	if (s == NULL)
		return NULL;
	s->http = r->http;
	s->connection = r->connection;
	s->who = *who;
	s->refs = 1;
	s->task.run = look;
	lock_init(&s->lock);
	buf_init(&s->pending, PENDING_MOST);
	return s;
}

/* A part of the query string: another view, or an argument of the last one. */
static bool take_part(struct stream *s, const char *name, const char *value)
{
	if (strcmp(name, "watch") != 0)
		return s->n > 0 &&
		       http_arguments_add(&s->watches[s->n - 1].arguments, name, value, strlen(value));
	if (s->n == WATCHES_MOST)
		return false;
	s->watches[s->n].view = http_view_find(value, false);
	return s->watches[s->n++].view != NULL;
}

struct reading {
	struct stream *stream;
	bool failed; /* the library counts the part that was refused, too */
};

static enum MHD_Result add_part(void *arg, enum MHD_ValueKind kind, const char *name, const char *text)
{
	struct reading *r = arg;

	(void)kind;
	r->failed = !take_part(r->stream, name, text == NULL ? "" : text);
	return r->failed ? MHD_NO : MHD_YES;
}

/* False: answered. */
static bool read_watches(struct http_request *r, struct stream *s)
{
	struct reading reading = { .stream = s };

	(void)MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, add_part, &reading);
	if (reading.failed || s->n == 0) {
		http_answer_error(r, MHD_HTTP_NOT_FOUND,
				  "There is no such view, or there are too many parts in the query string.");
		return false;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct watch *w = &s->watches[i];

		w->result = http_result_get(s->http, w->view, &s->who, &w->arguments);
		if (w->result == NULL) {
			http_answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "There is no memory now.");
			return false;
		}
	}
	return true;
}

static void begin(struct http_request *r, struct stream *s)
{
	if (!read_watches(r, s)) {
		unref(s);
		return;
	}
	http_answer_response(
		r, MHD_HTTP_OK, "text/event-stream",
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_events, s, reader_gone));
	if (r->response == NULL) {
		unref(s);
		return;
	}
	http_answer_header(r, "Cache-Control", "no-store");
	s->refs = 2;
	if (!http_pool_submit(&s->http->work, &s->task, clock_mono_ms(), false))
		end(s);
}

void http_events(struct http_request *r)
{
	struct http_who who;
	struct stream *s;

	if (!http_api_who(r, &who))
		return;
	s = stream_new(r, &who);
	if (s == NULL)
		http_answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many browsers watch.");
	else
		begin(r, s);
}
