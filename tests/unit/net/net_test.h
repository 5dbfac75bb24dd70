/* net_test.h — a net with an owner for every connection, and blocking clients, for the tests of
 * this folder. cmocka's assertions must run on the test's own thread: owners only count and
 * remember. */
#ifndef TEST_NET_TEST_H
#define TEST_NET_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "net/net.h"

struct harness;

struct conn {
	struct harness *h;
	struct net_stream *s;
	int number;        /* free for the test */
	uint8_t bytes[64]; /* likewise */
};

/* What a test wants its owners to do; those left NULL have the defaults below. */
struct harness {
	struct net *net;
	struct net_tls_ctx *tls;
	struct net_handler handler;
	size_t (*data)(struct conn *c, const uint8_t *p, size_t n);
	void (*opened)(struct conn *c);
	void (*secured)(struct conn *c);
	void (*timeout)(struct conn *c);
	atomic_int opens, closes, timeouts, drains, secures, number;
	atomic_size_t most_pending;
	pthread_mutex_t lock;
	char reason[128]; /* the last one; under the lock */
	void *test;
	unsigned login_threads, login_queue;
};

/* Sends a copy of n bytes. */
static inline void stream_write(struct net_stream *s, const uint8_t *p, size_t n)
{
	struct output o;

	output_init(&o, n);
	buf_put(&o.bytes, p, n);
	net_stream_send(s, &o);
	output_fini(&o);
}

/* Echo, with back-pressure: no more reading while a lot is pending. */
static inline size_t echo_data(struct conn *c, const uint8_t *p, size_t n)
{
	size_t pending;

	stream_write(c->s, p, n);
	pending = net_stream_pending(c->s);
	if (pending > atomic_load(&c->h->most_pending))
		atomic_store(&c->h->most_pending, pending);
	if (pending > 512 * 1024)
		net_stream_pause(c->s);
	return n;
}

static inline void *h_opened(struct net_stream *s, void *arg)
{
	struct harness *h = arg;
	struct conn *c = calloc(1, sizeof(*c));

	c->h = h;
	c->s = s;
	atomic_fetch_add(&h->opens, 1);
	if (h->opened != NULL)
		h->opened(c);
	return c;
}

static inline size_t h_data(void *owner, const uint8_t *p, size_t n)
{
	struct conn *c = owner;

	return c->h->data != NULL ? c->h->data(c, p, n) : echo_data(c, p, n);
}

static inline void h_secured(void *owner)
{
	struct conn *c = owner;

	atomic_fetch_add(&c->h->secures, 1);
	if (c->h->secured != NULL)
		c->h->secured(c);
}

/* One flight, one message of 0x12 packets. */
static inline void h_handshake_out(void *owner, const uint8_t *p, size_t n)
{
	struct conn *c = owner;

	while (n > 0) {
		size_t k = n < 4088 ? n : 4088;
		uint8_t packet[4096] = { 0x12, k == n, (uint8_t)((k + 8) >> 8), (uint8_t)(k + 8) };

		memcpy(packet + 8, p, k);
		stream_write(c->s, packet, k + 8);
		p += k;
		n -= k;
	}
}

static inline void h_drained(void *owner)
{
	struct conn *c = owner;

	atomic_fetch_add(&c->h->drains, 1);
	net_stream_resume(c->s);
}

static inline void h_timeout(void *owner)
{
	struct conn *c = owner;

	atomic_fetch_add(&c->h->timeouts, 1);
	if (c->h->timeout != NULL)
		c->h->timeout(c);
}

static inline void h_closed(void *owner, const char *reason)
{
	struct conn *c = owner;

	pthread_mutex_lock(&c->h->lock);
	snprintf(c->h->reason, sizeof(c->h->reason), "%s", reason);
	pthread_mutex_unlock(&c->h->lock);
	atomic_fetch_add(&c->h->closes, 1);
	free(c);
}

static inline void harness_start(struct harness *h, unsigned loops, unsigned max_connections)
{
	const char *const listen[] = { "127.0.0.1:0", NULL };
	struct net_options o = { .listen = listen,
				 .loops = loops,
				 .max_connections = max_connections,
				 .handler = &h->handler,
				 .arg = h,
				 .login_threads = h->login_threads,
				 .login_queue = h->login_queue };
	struct err e;

	h->handler = (struct net_handler){ h_opened,  h_data,    h_secured, h_handshake_out,
					   h_drained, h_timeout, h_closed };
	pthread_mutex_init(&h->lock, NULL);
	if (net_start(&o, &h->net, &e) < 0)
		fail_msg("%s", e.text);
}

static inline void harness_stop(struct harness *h)
{
	net_stop(h->net);
	assert_int_equal(atomic_load(&h->opens), atomic_load(&h->closes));
	net_tls_ctx_unref(h->tls);
	pthread_mutex_destroy(&h->lock);
}

/* The port of "host:port". */
static inline uint16_t port_of(const char *address)
{
	return (uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10);
}

/* A blocking client that gives up after ten seconds instead of hanging the test. */
static inline int client_connect(struct harness *h)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(port_of(net_address(h->net))),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static inline void send_all(int fd, const void *p, size_t n)
{
	assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static inline void recv_all(int fd, void *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = recv(fd, (char *)p + got, n - got, 0);

		assert_true(k > 0);
		got += (size_t)k;
	}
}

/* The peer has closed in order: end of stream, no reset. */
static inline void assert_ended(int fd)
{
	char c;

	assert_int_equal(recv(fd, &c, 1, 0), 0);
}

#define WAIT_FOR(condition) \
	do { \
		for (int wait_ms = 0; !(condition) && wait_ms < 10000; wait_ms++) \
			usleep(1000); \
		assert_true(condition); \
	} while (0)

static inline bool reason_has(struct harness *h, const char *part)
{
	bool found;

	pthread_mutex_lock(&h->lock);
	found = strstr(h->reason, part) != NULL;
	if (!found)
		fprintf(stderr, "reason: %s\n", h->reason);
	pthread_mutex_unlock(&h->lock);
	return found;
}

#endif
