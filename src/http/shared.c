/* shared.c — see shared.h. One lock; it is not held while a view runs. */
#include "http/shared.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define EVERY_MS 2000
#define SHARE 10 /* a view that takes t is not run again before 10 t */
#define BUSY_MS 100
#define KEPT_MOST ((size_t)64 << 20) /* of all results together; what is more is asked again */

struct http_result {
	struct list link;
	struct http *http;
	const struct http_view *view;
	struct http_arguments arguments; /* owned */
	char login[129];
	uint16_t spid; /* 0: all sessions of this login are told the same */
	bool admin;
	/* under the lock */
	unsigned refs;
	bool asking, kept; /* somebody runs it; data is what was found last */
	struct buf data;
	unsigned status;
	uint64_t version;
	int64_t again_ms;
};

void http_shared_init(struct http_shared *s)
{
	lock_init(&s->lock);
	list_init(&s->all);
	s->bytes = 0;
}

void http_shared_fini(struct http_shared *s)
{
	assert(list_empty(&s->all) && s->bytes == 0);
	lock_fini(&s->lock);
}

static bool same_arguments(const struct http_arguments *a, const struct http_arguments *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct local_value *x = &a->values[i], *y = &b->values[i];

		if (strcmp(x->name, y->name) != 0 || x->null != y->null || !str_eq(x->text, y->text))
			return false;
	}
	return true;
}

static bool copy_arguments(struct http_arguments *dst, const struct http_arguments *src)
{
	for (size_t i = 0; i < src->n; i++) {
		const struct local_value *v = &src->values[i];

		if (!http_arguments_add(dst, v->name + 1, v->null ? NULL : v->text.p, v->text.n))
			return false;
	}
	return true;
}

static void result_free(struct http_result *r)
{
	buf_fini(&r->data);
	http_arguments_fini(&r->arguments);
	free(r);
}

static struct http_result *result_new(struct http *h, const struct http_view *v, const struct http_who *who,
				      const struct http_arguments *a)
{
	struct http_result *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->http = h;
	r->view = v;
	r->refs = 1;
	r->admin = who->admin;
	/* who may not see all sessions sees his own */
	r->spid = http_api_may_monitor(h, who) ? 0 : who->spid;
	str_copy(r->login, sizeof(r->login), str_of(who->login));
	buf_init(&r->data, RESULT_MOST);
	if (copy_arguments(&r->arguments, a))
		return r;
	result_free(r);
	return NULL;
}

static bool same(const struct http_result *a, const struct http_result *b)
{
	return a->view == b->view && a->admin == b->admin && a->spid == b->spid &&
	       strcmp(a->login, b->login) == 0 && same_arguments(&a->arguments, &b->arguments);
}

struct http_result *http_result_get(struct http *h, const struct http_view *v, const struct http_who *who,
				    const struct http_arguments *a)
{
	struct http_result *made = result_new(h, v, who, a), *found = NULL;
	struct http_shared *s = &h->shared;

	if (made == NULL)
		return NULL;
	lock_take(&s->lock);
	LIST_EACH (it, &s->all) {
		struct http_result *r = CONTAINER_OF(it, struct http_result, link);

		if (same(r, made)) {
			found = r;
			break;
		}
	}
	if (found != NULL)
		found->refs++;
	else
		list_append(&s->all, &made->link);
	lock_give(&s->lock);
	if (found == NULL)
		return made;
	result_free(made);
	return found;
}

/* Under the lock. */
static void forget(struct http_result *r)
{
	struct http_shared *s = &r->http->shared;

	assert(lock_is_mine(&s->lock) && s->bytes >= r->data.len);
	s->bytes -= r->data.len;
	buf_reset(&r->data, 0);
	r->kept = false;
}

void http_result_put(struct http_result *r)
{
	struct http_shared *s;
	bool last;

	if (r == NULL)
		return;
	s = &r->http->shared;
	lock_take(&s->lock);
	assert(r->refs > 0);
	last = --r->refs == 0;
	if (last) {
		forget(r);
		list_remove(&r->link);
	}
	lock_give(&s->lock);
	if (last)
		result_free(r);
}

/* FNV-1a; never 0, which nobody has seen. */
static uint64_t version_of(const struct buf *b, unsigned status)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ status;

	for (size_t i = 0; i < b->len; i++)
		hash = (hash ^ b->data[i]) * UINT64_C(1099511628211);
	return hash == 0 ? 1 : hash;
}

/* Under the lock. */
static void keep(struct http_result *r, const struct buf *b)
{
	struct http_shared *s = &r->http->shared;

	forget(r);
	if (b->len > KEPT_MOST - s->bytes)
		return;
	buf_put(&r->data, b->data, b->len);
	if (r->data.failed)
		buf_reset(&r->data, 0);
	else
		r->kept = true;
	s->bytes += r->data.len;
}

/* What did not fit or found no memory is told again the next time. */
static struct http_news news_of(const struct http_result *r, uint64_t seen, const struct buf *found)
{
	return (struct http_news){ .what = r->version == seen || found->failed ? NEWS_NONE : NEWS_SOME,
				   .version = r->version,
				   .status = r->status,
				   .again_ms = r->again_ms };
}

static struct http_news ask(struct http_result *r, const struct http_who *who, uint64_t seen, struct buf *b)
{
	struct http_shared *s = &r->http->shared;
	int64_t began = clock_mono_ms(), took;
	unsigned status = http_view_run(r->http, r->view, who, &r->arguments, b);
	uint64_t version = version_of(b, status);
	struct http_news news;

	took = clock_mono_ms() - began;
	lock_take(&s->lock);
	r->asking = false;
	r->status = status;
	r->version = version;
	r->again_ms = clock_mono_ms() + (took * SHARE > EVERY_MS ? took * SHARE : EVERY_MS);
	if (!b->failed)
		keep(r, b);
	news = news_of(r, seen, b);
	lock_give(&s->lock);
	return news;
}

struct http_news http_result_look(struct http_result *r, const struct http_who *who, uint64_t seen,
				  struct buf *b)
{
	struct http_shared *s = &r->http->shared;
	struct http_news news = { .what = NEWS_LATER, .again_ms = clock_mono_ms() + BUSY_MS };
	bool mine = false;

	lock_take(&s->lock);
	if (r->kept && clock_mono_ms() < r->again_ms) {
		if (r->version != seen)
			buf_put(b, r->data.data, r->data.len);
		news = news_of(r, seen, b);
	} else if (!r->asking) {
		mine = r->asking = true;
	}
	lock_give(&s->lock);
	return mine ? ask(r, who, seen, b) : news;
}
