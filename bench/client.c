/* client.c — see client.h. */
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "channel.h"

enum phase { HANDSHAKE, PRELOGIN, LOGIN, RUNNING, STOPPED };

struct client {
	struct channel channel;
	enum phase phase;
	bool idle;
	struct script script;
	struct answer last;
	bool has_last;
	uint8_t *in;
	size_t in_len, in_cap, in_mark;
	const struct message *out;
	size_t out_done;
	uint64_t sent_ns;
};

struct options opt;
struct totals totals;
bool measuring;

static struct message prelogin, login;
static struct client *clients;
static uint8_t *scratch;
static size_t scratch_cap;
static int epfd;
static unsigned running, finished, opened;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void die(const char *what, const char *why)
{
	fprintf(stderr, "load: %s: %s\n", what, why);
	exit(1);
}

static void arm(struct client *c, uint32_t events, int op)
{
	struct epoll_event e = { .events = events, .data.ptr = c };

	if (epoll_ctl(epfd, op, c->channel.fd, &e) < 0)
		die("epoll", strerror(errno));
}

static void flush(struct client *c)
{
	size_t n;

	while (c->out != NULL && c->out_done < c->out->len) {
		switch (channel_send(&c->channel, c->out->data + c->out_done, c->out->len - c->out_done,
				     &n)) {
		case CHANNEL_OK: break;
		case CHANNEL_WANT_READ: return;
		case CHANNEL_WANT_WRITE: arm(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD); return;
		case CHANNEL_FAILED: die("send", strerror(errno));
		}
		c->out_done += n;
	}
}

static void start(struct client *c, const struct message *m)
{
	c->out = m;
	c->out_done = 0;
	if (measuring)
		totals.sent_bytes += m->len;
	flush(c);
}

static void next_call(struct client *c)
{
	const struct message *m = c->idle ? NULL
					  : opt.workload->next(&c->script, c->has_last ? &c->last : NULL);

	if (m == NULL) {
		c->phase = STOPPED;
		finished += !c->idle;
		return;
	}
	if (!opt.storm)
		c->sent_ns = now_ns();
	start(c, m);
}

/* The connection can be used: log in, or begin. */
static void connected(struct client *c)
{
	if (opt.workload->protocol->login) {
		c->phase = PRELOGIN;
		start(c, &prelogin);
		return;
	}
	c->phase = RUNNING;
	running++;
	next_call(c);
}

static void handshake(struct client *c)
{
	switch (channel_handshake(&c->channel)) {
	case CHANNEL_OK: connected(c); break;
	case CHANNEL_WANT_READ: break;
	case CHANNEL_WANT_WRITE: arm(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD); break;
	case CHANNEL_FAILED: die("TLS handshake", strerror(errno));
	}
}

static void client_open(struct client *c)
{
	c->sent_ns = now_ns();
	if (!channel_open(&c->channel, &opt.address, opt.tls, opened++))
		die("connect", strerror(errno));
	c->in_len = c->in_mark = 0;
	c->out = NULL;
	c->has_last = false;
	arm(c, EPOLLIN, EPOLL_CTL_ADD);
	if (!opt.tls) {
		connected(c);
		return;
	}
	c->phase = HANDSHAKE;
	handshake(c);
}

/* A call ends with the last byte of its answer; checking a large one takes the load generator a
 * while. */
static void count(const struct client *c, size_t bytes, uint64_t arrived_ns)
{
	uint64_t ns = arrived_ns - c->sent_ns;

	if (!measuring)
		return;
	totals.received_bytes += bytes;
	histogram_add(&totals.all, ns);
	histogram_add(&totals.kinds[c->script.kind], ns);
}

static void answered(struct client *c, size_t n)
{
	uint64_t arrived_ns = now_ns();
	const char *wrong = NULL;

	if (c->phase == PRELOGIN) {
		c->phase = LOGIN;
		start(c, &login);
		return;
	}
	if (n > scratch_cap) {
		scratch_cap = 2 * n;
		scratch = realloc(scratch, scratch_cap);
		if (scratch == NULL)
			die("answer", "out of memory");
	}
	if (!opt.workload->protocol->read(c->in, n, scratch, &c->last))
		die("answer", "the stream cannot be read");
	if (c->last.error)
		die("answer", c->last.text);
	if (c->phase == LOGIN) {
		c->phase = RUNNING;
		running++;
		next_call(c);
		return;
	}
	if (opt.workload->check != NULL)
		wrong = opt.workload->check(&c->script, &c->last);
	if (wrong != NULL)
		die("answer", wrong);
	c->has_last = true;
	count(c, n, arrived_ns);
	if (!opt.storm) {
		next_call(c);
		return;
	}
	channel_close(&c->channel);
	client_open(c);
}

/* True: there was something to read, and there may be more. */
static bool read_some(struct client *c)
{
	enum channel_status status;
	size_t n, len;

	if (c->in_cap - c->in_len < 16384) {
		c->in_cap = c->in_cap * 2 + 32768;
		c->in = realloc(c->in, c->in_cap);
		if (c->in == NULL)
			die("answer", "out of memory");
	}
	status = channel_recv(&c->channel, c->in + c->in_len, c->in_cap - c->in_len, &n);
	if (status == CHANNEL_WANT_READ || status == CHANNEL_WANT_WRITE)
		return false;
	if (status == CHANNEL_FAILED || n == 0)
		die("recv",
		    n == 0 && status == CHANNEL_OK ? "the server closed the connection" : strerror(errno));
	c->in_len += n;
	len = opt.workload->protocol->length(c->in, c->in_len, &c->in_mark);
	if (len == 0)
		return true;
	if (len != c->in_len)
		die("answer", "more than one message");
	c->in_len = c->in_mark = 0;
	answered(c, len);
	return true;
}

static void ready(struct client *c, uint32_t events)
{
	if (events & EPOLLOUT)
		arm(c, EPOLLIN, EPOLL_CTL_MOD);
	if (c->phase == HANDSHAKE) {
		handshake(c);
		return;
	}
	if (events & EPOLLOUT)
		flush(c);
	if ((events & ~(uint32_t)EPOLLOUT) == 0)
		return;
	/* No read only to learn that there is nothing: epoll tells of what is left in the
	 * socket. */
	while (read_some(c) && c->phase != HANDSHAKE && channel_pending(&c->channel))
		;
}

void clients_run(double seconds)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	struct epoll_event events[256];

	while (now_ns() < end && !(opt.workload->once && finished == opt.connections)) {
		int n = epoll_wait(epfd, events, 256, 50);

		for (int i = 0; i < n; i++)
			ready(events[i].data.ptr, events[i].events);
	}
}

void clients_open(void)
{
	unsigned all = opt.connections + opt.idle;

	clients = calloc(all, sizeof(*clients));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	if (clients == NULL || epfd < 0)
		die("start", strerror(errno));
	message_prelogin(&prelogin);
	message_login(&login, opt.user, opt.password, opt.workload->database, "procession bench");
	/* The idle ones first: they are not to disturb those that work. */
	for (unsigned i = 0; i < all; i++) {
		struct client *c = &clients[i];

		c->idle = i < opt.idle;
		if (!c->idle) {
			unsigned k = i - opt.idle;
			c->script = (struct script){ .connection = opt.part * opt.connections + k,
						     .connections = opt.parts * opt.connections,
						     .random = 88172645463325252u + k * 7919,
						     .sizes = &opt.sizes };
			opt.workload->prepare(&c->script);
		}
		client_open(c);
		if (i % 64 == 63)
			clients_run(0.01);
		while (c->idle && i + 1 == opt.idle && running < opt.idle)
			clients_run(0.01);
	}
	while (running < all && !opt.workload->once && !opt.storm)
		clients_run(0.01);
}
