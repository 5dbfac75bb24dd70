/* events.c — /api/events?watch=VIEW&…: a view that is run again every two seconds and sent when it
 * has changed, as server-sent events. A browser that does not read gets nothing new until it has
 * read the last: one event is kept for it, no more. When it goes, its questions end, and its place
 * is free again before they would have been asked once more. */
#define _GNU_SOURCE /* POLLRDHUP */
#include <stdlib.h>
#include <string.h>

#include <poll.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/str.h"
#include "http/api.h"

#define STREAMS_MOST 64u
#define EVENT_MOST ((size_t)4 << 20)
#define EVERY_MS 2000
#define SHARE 10 /* a view that takes t is not run again before 10 t */
#define COMMENT_MS 15000

struct stream {
	struct http *http;
	const struct http_view *view;
	struct http_who who;
	struct http_arguments arguments;
	struct MHD_Connection *connection;
	struct http_task task;
	uint32_t last; /* of what was sent */
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
	lock_take(&all->lock);
	all->n--;
	lock_give(&all->lock);
	lock_fini(&s->lock);
	buf_fini(&s->pending);
	http_arguments_fini(&s->arguments);
	free(s);
}

/* ---- on the library's thread ---- */

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
		if (s->taken == s->pending.len) {
			buf_reset(&s->pending, 4096);
			s->taken = 0;
		}
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

/* What was not read yet stays; the news is then left for the next time. */
static void offer(struct stream *s, const struct buf *b, unsigned status)
{
	uint32_t now = b->failed ? 0
				 : str_hash_nocase((struct str){ (const char *)b->data, b->len }) ^ status;
	int64_t at = clock_mono_ms();

	lock_take(&s->lock);
	if (s->pending.len == 0 && !b->failed && (now != s->last || s->sent_ms == 0)) {
		buf_printf(&s->pending, "event: %s\ndata: ", status == MHD_HTTP_OK ? "view" : "problem");
		buf_put(&s->pending, b->data, b->len);
		buf_printf(&s->pending, "\n\n");
		s->last = now;
		s->sent_ms = at;
	} else if (s->pending.len == 0 && at - s->sent_ms >= COMMENT_MS) {
		buf_printf(&s->pending, ":\n\n");
		s->sent_ms = at;
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

static void look(struct http_task *t)
{
	struct stream *s = CONTAINER_OF(t, struct stream, task);
	int64_t began = clock_mono_ms(), took;
	unsigned status;
	struct buf b;

	if (is_over(s)) {
		end(s);
		return;
	}
	buf_init(&b, EVENT_MOST);
	status = http_view_run(s->http, s->view, &s->who, &s->arguments, &b);
	offer(s, &b, status);
	buf_fini(&b);
	took = clock_mono_ms() - began;
	if (!http_pool_submit(&s->http->work, t,
			      clock_mono_ms() + (took * SHARE > EVERY_MS ? took * SHARE : EVERY_MS), true))
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

static struct stream *stream_new(struct http_request *r, const struct http_view *v,
				 const struct http_who *who)
{
	struct stream *s = take_place(&r->http->streams) ? calloc(1, sizeof(*s)) : NULL;

	if (s == NULL)
		return NULL;
	s->http = r->http;
	s->connection = r->connection;
	s->view = v;
	s->who = *who;
	s->refs = 1;
	s->task.run = look;
	lock_init(&s->lock);
	buf_init(&s->pending, EVENT_MOST + 64);
	return s;
}

static void begin(struct http_request *r, struct stream *s)
{
	if (!http_api_query(r, &s->arguments)) {
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
	const char *name = http_request_argument(r, "watch");
	const struct http_view *v = name == NULL ? NULL : http_view_find(name, false);
	struct http_who who;
	struct stream *s;

	if (!http_api_who(r, &who))
		return;
	if (v == NULL) {
		http_answer_error(r, MHD_HTTP_NOT_FOUND, "There is no such view.");
		return;
	}
	s = stream_new(r, v, &who);
	if (s == NULL)
		http_answer_error(r, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many browsers watch.");
	else
		begin(r, s);
}
