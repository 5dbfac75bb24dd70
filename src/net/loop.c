/* loop.c — a thread with an event loop of its own, and the way into it from other threads: posts.
 * The loop never ticks: it wakes for sockets, posts and timers that somebody set. */
#define _GNU_SOURCE /* names of threads */
#include "net/net.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/thread.h"
#include "net/net_int.h"

/* The loop whose thread this is: what it posts to itself needs no lock, and no system call to
 * wake it. global: only a variable of the thread can tell which thread this is */
static _Thread_local struct net_loop *here;

static void move_all(struct list *from, struct list *to)
{
	struct list *it;

	list_init(to);
	while ((it = list_pop(from)) != NULL)
		list_append(to, it);
}

static bool run_all(struct list *batch)
{
	bool any = !list_empty(batch);
	struct list *it;

	while ((it = list_pop(batch)) != NULL) {
		struct net_post *p = CONTAINER_OF(it, struct net_post, link);

		p->fn(p);
	}
	return any;
}

/* What is posted while the batch runs waits for the next one, so that posts cannot starve the
 * sockets. */
static bool run_posts(struct net_loop *l)
{
	struct list batch;

	lock_take(&l->lock);
	move_all(&l->posts, &batch);
	lock_give(&l->lock);
	return run_all(&batch);
}

static bool run_next(struct net_loop *l)
{
	struct list batch;

	move_all(&l->next, &batch);
	return run_all(&batch);
}

static void on_wake(uv_async_t *h)
{
	run_posts(h->data);
}

void net_loop_post(struct net_loop *l, struct net_post *item)
{
	bool first;

	assert(item->fn != NULL);
	list_init(&item->link);
	if (l == here) {
		list_append(&l->next, &item->link);
		return;
	}
	lock_take(&l->lock);
	first = list_empty(&l->posts);
	list_append(&l->posts, &item->link);
	if (first)
		/* inside the lock: the loop cannot run the item and be gone before this call
		 * returns */
		uv_async_send(&l->wake);
	lock_give(&l->lock);
}

static void run_last(struct net_loop *l)
{
	run_all(&l->last);
}

void net_loop_last(struct net_loop *l, struct net_post *item)
{
	assert(net_loop_is_here(l) && item->fn != NULL);
	list_append(&l->last, &item->link);
}

bool net_loop_is_here(const struct net_loop *l)
{
	return here == l;
}

bool net_loop_is_alone(const struct net_loop *l)
{
	return l->index > 0 && atomic_load(&l->nstreams) <= 1;
}

static void on_idle(uv_idle_t *h)
{
	(void)h; /* its being active is what matters: the loop does not sleep */
}

/* Runs before the loop sleeps. One round over its own posts and the streams at hand; those that
 * come back keep the loop awake but let the sockets have their turn. */
static void on_prepare(uv_prepare_t *h)
{
	struct net_loop *l = h->data;
	struct list batch;
	struct list *it;

	assert(net_loop_is_here(l));
	run_last(l);
	run_next(l);
	move_all(&l->ready, &batch);
	while ((it = list_pop(&batch)) != NULL) {
		struct net_stream *s = CONTAINER_OF(it, struct net_stream, ready);

		net_output_again(s);
		net_input_again(s);
	}
	run_last(l);
	if (list_empty(&l->ready) && list_empty(&l->next))
		uv_idle_stop(&l->idle);
	else
		uv_idle_start(&l->idle, on_idle);
}

void net_loop_defer(struct net_loop *l, struct net_stream *s)
{
	assert(net_loop_is_here(l) && s->loop == l);
	if (list_empty(&s->ready))
		list_append(&l->ready, &s->ready);
}

int net_loop_init(struct net_loop *l, struct net *n, unsigned index, struct err *reterr)
{
	int rc;

	l->net = n;
	l->index = index;
	list_init(&l->posts);
	list_init(&l->streams);
	list_init(&l->last);
	list_init(&l->next);
	list_init(&l->ready);
	buf_init(&l->cipher, SIZE_MAX / 2);
	buf_init(&l->gather, SIZE_MAX / 2);
	l->read_buf = malloc(NET_KEPT_SIZE + NET_READ_SIZE);
	l->plain_buf = malloc(NET_PLAIN_SIZE);
	if (l->read_buf == NULL || l->plain_buf == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	rc = uv_loop_init(&l->uv);
	if (rc < 0) {
		net_fail(reterr,
			 "Cannot make an event loop: %s. Lower io_threads or raise the limit of open files "
			 "(ulimit -n).",
			 uv_strerror(rc));
		goto fail;
	}
	rc = uv_async_init(&l->uv, &l->wake, on_wake);
	if (rc < 0) {
		net_fail(reterr,
			 "Cannot make an event loop: %s. Lower io_threads or raise the limit of open files "
			 "(ulimit -n).",
			 uv_strerror(rc));
		uv_loop_close(&l->uv);
		goto fail;
	}
	uv_prepare_init(&l->uv, &l->prepare);
	uv_idle_init(&l->uv, &l->idle);
	l->wake.data = l->prepare.data = l->idle.data = l;
	uv_prepare_start(&l->prepare, on_prepare);
	lock_init(&l->lock);
	return 0;
fail:
	free(l->read_buf);
	free(l->plain_buf);
	return -1;
}

static void *loop_main(void *arg)
{
	struct net_loop *l = arg;
	char name[16];

	snprintf(name, sizeof(name), "io-%u", l->index);
	pthread_setname_np(pthread_self(), name);
	here = l;
	uv_run(&l->uv, UV_RUN_DEFAULT);
	do
		run_last(l);
	while (run_next(l) || run_posts(l)); /* what came in while the handles were closing */
	here = NULL;
	return NULL;
}

int net_loop_start(struct net_loop *l, struct err *reterr)
{
	if (thread_start(&l->thread, loop_main, l) < 0)
		return net_fail(reterr, "Cannot start an I/O thread. Lower io_threads or raise the limit of "
					"processes (ulimit -u).");
	l->running = true;
	return 0;
}

void net_loop_end(struct net_loop *l)
{
	uv_close((uv_handle_t *)&l->wake, NULL);
	uv_close((uv_handle_t *)&l->prepare, NULL);
	uv_close((uv_handle_t *)&l->idle, NULL);
}

/* A call that the other side waits for: the end of the loop, which it must not outlive, is
 * posted like any other. */
struct loop_call {
	struct net_post post;
	struct net_loop *loop;
	void (*fn)(struct net_loop *l);
	struct lock lock;
	pthread_cond_t cond;
	bool done;
};

static void run_call(struct net_post *item)
{
	struct loop_call *c = CONTAINER_OF(item, struct loop_call, post);

	c->fn(c->loop);
	lock_take(&c->lock);
	c->done = true;
	pthread_cond_signal(&c->cond);
	lock_give(&c->lock);
}

void net_loop_call(struct net_loop *l, void (*fn)(struct net_loop *l))
{
	struct loop_call c = { .post.fn = run_call, .loop = l, .fn = fn };

	if (!l->running || pthread_equal(pthread_self(), l->thread)) {
		fn(l);
		return;
	}
	lock_init(&c.lock);
	pthread_cond_init(&c.cond, NULL);
	net_loop_post(l, &c.post);
	lock_take(&c.lock);
	while (!c.done)
		lock_wait(&c.lock, &c.cond);
	lock_give(&c.lock);
	pthread_cond_destroy(&c.cond);
	lock_fini(&c.lock);
}

void net_loop_fini(struct net_loop *l)
{
	net_loop_call(l, net_loop_end);
	if (l->running)
		pthread_join(l->thread, NULL);
	else
		loop_main(l); /* never had a thread: its handles still want their round */
	uv_loop_close(&l->uv);
	lock_fini(&l->lock);
	buf_fini(&l->cipher);
	buf_fini(&l->gather);
	free(l->read_buf);
	free(l->plain_buf);
}

void net_loop_close_streams(struct net_loop *l)
{
	l->stopping = true;
	LIST_EACH (it, &l->streams)
		net_stream_close(CONTAINER_OF(it, struct net_stream, link), false, "server stops");
	net_loop_stream_gone(l);
}

void net_loop_stream_gone(struct net_loop *l)
{
	if (!l->stopping || !list_empty(&l->streams))
		return;
	lock_take(&l->net->lock);
	l->net->quiet_loops++;
	pthread_cond_broadcast(&l->net->changed);
	lock_give(&l->net->lock);
}
