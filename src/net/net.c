/* net.c — starts the loops and listeners, and stops them in an order that leaves nothing
 * hanging: no new connections, no streams, no blocking work, and only then no loops — so that
 * whatever is posted on the way still finds its thread. */
#include "net/net.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/net_int.h"

int net_fail(struct err *reterr, const char *fmt, ...)
{
	char text[900];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(reterr, ERR_START, text);
}

int net_open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int start_loops(struct net *n, unsigned loops, struct err *reterr)
{
	n->loops = calloc(loops, sizeof(*n->loops));
	if (n->loops == NULL)
		return err_nomem(reterr);
	for (; n->nloops < loops; n->nloops++)
		if (net_loop_init(&n->loops[n->nloops], n, n->nloops, reterr) < 0)
			return -1;
	/* Loop 0 takes connections as soon as it runs, and gives them to the others: it starts
	 * last. */
	for (unsigned i = loops; i > 1; i--)
		if (net_loop_start(&n->loops[i - 1], reterr) < 0)
			return -1;
	return 0;
}

int net_start(const struct net_options *o, struct net **ret, struct err *reterr)
{
	struct net *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return err_nomem(reterr);
	n->handler = o->handler;
	n->arg = o->arg;
	n->max_connections = o->max_connections;
	n->backlog = o->backlog != 0 ? o->backlog : 512;
	lock_init(&n->lock);
	pthread_cond_init(&n->changed, NULL);
	net_work_init(n, o);
	net_over_init(n);
	n->spare_fd = net_open_spare();
	if (start_loops(n, o->loops != 0 ? o->loops : 1, reterr) < 0)
		goto fail;
	for (size_t i = 0; o->listen[i] != NULL; i++)
		if (net_listen(n, o->listen[i], reterr) < 0)
			goto fail;
	if (net_listeners_start(n, reterr) < 0)
		goto fail;
	*ret = n; /* before the first stream can open: the owner may use it there */
	if (net_loop_start(&n->loops[0], reterr) < 0) {
		*ret = NULL;
		goto fail;
	}
	return 0;
fail:
	net_stop(n);
	return -1;
}

const char *net_address(const struct net *n)
{
	return n->address;
}

unsigned net_connections(const struct net *n)
{
	return atomic_load(&n->connections);
}

void net_traffic(const struct net *n, uint64_t *ret_received, uint64_t *ret_sent)
{
	*ret_received = *ret_sent = 0;
	for (unsigned i = 0; i < n->nloops; i++) {
		*ret_received += atomic_load_explicit(&n->loops[i].received, memory_order_relaxed);
		*ret_sent += atomic_load_explicit(&n->loops[i].sent, memory_order_relaxed);
	}
}

void net_stop_listening(struct net *n)
{
	bool first;

	lock_take(&n->lock);
	first = !n->listening_ended;
	n->listening_ended = true;
	lock_give(&n->lock);
	if (first && n->nloops > 0)
		net_loop_call(&n->loops[0], net_listeners_close);
}

/* A loop that never ran has no streams; it only needs its handles closed by one round of its
 * own. */
static void close_streams(struct net *n)
{
	unsigned running = 0;

	for (unsigned i = 0; i < n->nloops; i++)
		if (n->loops[i].running) {
			running++;
			net_loop_call(&n->loops[i], net_loop_close_streams);
		}
	lock_take(&n->lock);
	while (n->quiet_loops < running)
		lock_wait(&n->lock, &n->changed);
	lock_give(&n->lock);
}

void net_stop(struct net *n)
{
	if (n == NULL)
		return;
	net_stop_listening(n);
	close_streams(n);
	net_work_end(n);
	for (unsigned i = 0; i < n->nloops; i++)
		net_loop_fini(&n->loops[i]);
	free(n->loops);
	free(n->listeners);
	if (n->spare_fd >= 0)
		close(n->spare_fd);
	net_work_fini(n);
	pthread_cond_destroy(&n->changed);
	lock_fini(&n->lock);
	free(n);
}

static void answer(struct net_post *item)
{
	atomic_store(&CONTAINER_OF(item, struct net_loop, ping)->pinged, false);
}

void net_ping(struct net *n)
{
	for (unsigned i = 0; i < n->nloops; i++) {
		struct net_loop *l = &n->loops[i];

		if (atomic_exchange(&l->pinged, true))
			continue;
		l->ping.fn = answer;
		net_loop_post(l, &l->ping);
	}
}

bool net_answered(const struct net *n)
{
	for (unsigned i = 0; i < n->nloops; i++)
		if (atomic_load(&n->loops[i].pinged))
			return false;
	return true;
}

struct each {
	struct net_post post;
	struct net_loop *loop;
	void (*fn)(void *owner);
};

/* Streams leave the list in their close callback only, so fn may close the one at hand. */
static void run_each(struct net_post *item)
{
	struct each *e = CONTAINER_OF(item, struct each, post);

	LIST_EACH (it, &e->loop->streams) {
		struct net_stream *s = CONTAINER_OF(it, struct net_stream, link);

		if (s->state == NET_OPEN && s->owner != NULL)
			e->fn(s->owner);
	}
	free(e);
}

void net_each(struct net *n, void (*fn)(void *owner))
{
	for (unsigned i = 0; i < n->nloops; i++) {
		struct each *e = calloc(1, sizeof(*e));

		if (e == NULL)
			/* net_each is a request to hurry; without memory they end in their own
			 * time */
			return;
		e->post.fn = run_each;
		e->loop = &n->loops[i];
		e->fn = fn;
		net_loop_post(e->loop, &e->post);
	}
}
