/* listen.c — addresses to listen on, and the distribution of connections to the loops. Loop 0
 * accepts for all: each connection goes to the loop that has the fewest, so that one port (also
 * "any port") serves every loop and long-lived connections stay balanced; among equals not to
 * loop 0, which has something to do already. The options of a listening socket are inherited by
 * what it accepts (tcp(7)): set once. */
#define _GNU_SOURCE /* accept4 */
#include "net/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "net/net_int.h"

#define ACCEPT_BATCH 64 /* then the other sockets of the loop have their turn */
#define ACCEPT_RETRY_MS 100

void net_format_address(const struct sockaddr_storage *ss, char *dst, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (ss->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)ss;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(dst, size, "%s:%u", host, ntohs(in->sin_port));
	} else if (ss->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
		bool mapped = IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr);

		/* A client that came by IPv4 is shown, throttled and logged as one, whatever the
		 * socket. */
		if (mapped)
			inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], host, sizeof(host));
		else
			inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(dst, size, mapped ? "%s:%u" : "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		snprintf(dst, size, "?");
	}
}

/* "host:port", "[v6]:port" or "*:port" into its parts. */
static bool split_address(const char *where, char *host, size_t host_size, char *port, size_t port_size)
{
	const char *colon = strrchr(where, ':');
	struct str h;
	unsigned long number = 0;

	if (colon == NULL || colon == where || colon[1] == '\0' || strlen(colon + 1) > 5)
		return false;
	for (const char *p = colon + 1; *p != '\0'; p++) {
		if (*p < '0' || *p > '9')
			return false;
		number = number * 10 + (unsigned long)(*p - '0');
	}
	h = (struct str){ where, (size_t)(colon - where) };
	if (h.n >= 2 && h.p[0] == '[' && h.p[h.n - 1] == ']')
		h = (struct str){ h.p + 1, h.n - 2 };
	else if (memchr(h.p, ':', h.n) != NULL)
		return false; /* an IPv6 address without brackets: where does it end? */
	if (number > 65535 || h.n == 0 || h.n >= host_size)
		return false;
	str_copy(host, host_size, h);
	str_copy(port, port_size, str_of(colon + 1));
	return true;
}

static void set_options(int fd, int family, bool both_families)
{
	int on = 1, v6only = !both_families, idle = 60, interval = 10, count = 6;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* a vanished client is noticed after two minutes */
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only));
}

/* A bound and listening socket, or -1 with errno. */
static int open_socket(const struct sockaddr *sa, socklen_t len, bool both_families, unsigned backlog)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	int saved;

	if (fd < 0)
		return -1;
	set_options(fd, sa->sa_family, both_families);
	if (bind(fd, sa, len) == 0 && listen(fd, (int)backlog) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int add_listener(struct net *n, int fd, struct err *reterr)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);

	if (n->nlisteners == NET_LISTENERS) {
		close(fd);
		return net_fail(reterr, "More than %u addresses to listen on. Shorten the setting listen.",
				NET_LISTENERS);
	}
	if (n->nlisteners == 0 && getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		net_format_address(&ss, n->address, sizeof(n->address));
	n->listeners[n->nlisteners] = (struct net_listener){ .fd = fd, .net = n };
	n->nlisteners++;
	return 0;
}

/* The port that the system chose for fd, written into another address. */
static void copy_port(int fd, struct sockaddr *sa)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} bound = { .v6 = { .sin6_family = AF_UNSPEC } };
	socklen_t len = sizeof(bound);
	in_port_t port;

	if (getsockname(fd, &bound.any, &len) < 0)
		return;
	port = bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port;
	if (sa->sa_family == AF_INET6)
		((struct sockaddr_in6 *)sa)->sin6_port = port;
	else
		((struct sockaddr_in *)sa)->sin_port = port;
}

static const char *remedy(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "Another program (or another processiond) has this port: stop it, or choose another "
		       "port with --listen.";
	case EACCES:
		return "Ports below 1024 need the capability CAP_NET_BIND_SERVICE: choose a higher port with "
		       "--listen.";
	case EADDRNOTAVAIL:
		return "This machine has no such address: choose one that it has, or *:PORT for all, with "
		       "--listen.";
	default: return "Check the setting listen.";
	}
}

/* A name may have several addresses (localhost: IPv6 and IPv4): all are served, on one port, and
 * one that works is enough. */
static int listen_all(struct net *n, const char *where, const struct addrinfo *list, bool both_families,
		      struct err *reterr)
{
	int first = -1, error = 0;

	for (const struct addrinfo *ai = list; ai != NULL; ai = ai->ai_next) {
		int fd;

		if (first >= 0)
			copy_port(first, ai->ai_addr);
		fd = open_socket(ai->ai_addr, ai->ai_addrlen, both_families && ai->ai_family == AF_INET6,
				 n->backlog);
		if (fd < 0) {
			if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL && !(both_families && first >= 0))
				return net_fail(reterr, "Cannot listen on %s: %s. %s", where, strerror(errno),
						remedy(errno));
			error = errno;
			continue;
		}
		if (add_listener(n, fd, reterr) < 0)
			return -1;
		first = fd;
		if (both_families && ai->ai_family == AF_INET6)
			return 0; /* this one serves IPv4 too */
	}
	if (first < 0)
		return net_fail(reterr, "Cannot listen on %s: %s. %s", where, strerror(error), remedy(error));
	return 0;
}

static int by_family(const struct addrinfo *list, bool v6_first, struct addrinfo *dst, size_t max)
{
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (const struct addrinfo *ai = list; ai != NULL && n < max; ai = ai->ai_next) {
			bool v6 = ai->ai_family == AF_INET6;

			if ((v6 || ai->ai_family == AF_INET) && (v6 == v6_first) == (pass == 0))
				dst[n++] = *ai;
		}
	for (size_t i = 0; i < n; i++)
		dst[i].ai_next = i + 1 < n ? &dst[i + 1] : NULL;
	return (int)n;
}

int net_listen(struct net *n, const char *where, struct err *reterr)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list = NULL, ordered[16];
	char host[256], port[8];
	bool any;
	int rc;

	if (n->listeners == NULL) {
		n->listeners = calloc(NET_LISTENERS, sizeof(*n->listeners));
		if (n->listeners == NULL)
			return err_nomem(reterr);
	}
	if (!split_address(where, host, sizeof(host), port, sizeof(port)))
		return net_fail(reterr,
				"The address '%s' is not understood. Write HOST:PORT, [IPV6]:PORT or *:PORT.",
				where);
	any = strcmp(host, "*") == 0;
	rc = getaddrinfo(any ? NULL : host, port, &hints, &list);
	if (rc != 0)
		return net_fail(
			reterr,
			"The address '%s' cannot be resolved: %s. Check the host name in the setting listen.",
			where, gai_strerror(rc));
	/* IPv4 first where both exist: the address shown is the one that every client
	 * understands. */
	if (by_family(list, any, ordered, ARRAY_LEN(ordered)) == 0)
		rc = net_fail(reterr, "The address '%s' is neither IPv4 nor IPv6. Check the setting listen.",
			      where);
	else
		rc = listen_all(n, where, ordered, any, reterr);
	freeaddrinfo(list);
	return rc;
}

/* The loop with the fewest connections; among equals the last. */
static struct net_loop *choose_loop(struct net *n)
{
	struct net_loop *best = &n->loops[0];
	unsigned fewest = atomic_load_explicit(&best->nstreams, memory_order_relaxed);

	for (unsigned i = 1; i < n->nloops; i++) {
		unsigned count = atomic_load_explicit(&n->loops[i].nstreams, memory_order_relaxed);

		if (count <= fewest) {
			best = &n->loops[i];
			fewest = count;
		}
	}
	return best;
}

static void begin_post(struct net_post *item)
{
	net_stream_begin(CONTAINER_OF(item, struct net_stream, post));
}

static void take_connection(struct net *n, int fd, const struct sockaddr_storage *peer)
{
	bool over = atomic_load(&n->connections) - atomic_load(&n->kept) >= n->max_connections;
	struct net_loop *l;
	struct net_stream *s;

	/* Those above the maximum are told so by the session; a flood of them is not worth the
	 * memory. */
	if (over && !net_over_room(n, peer)) {
		close(fd);
		return;
	}
	l = over ? &n->loops[0] : choose_loop(n);
	s = net_stream_new(l, fd, peer);
	if (s == NULL)
		return;
	if (over)
		net_over_add(s, peer);
	atomic_fetch_add(&n->connections, 1);
	atomic_fetch_add(&l->nstreams, 1);
	if (l->index == 0) {
		net_stream_begin(s);
		return;
	}
	s->post.fn = begin_post;
	net_loop_post(l, &s->post);
}

/* There is no descriptor left: the one kept for this takes the next client in, so that it is
 * refused at once and does not wait for its own time-out. */
static void shed_one(struct net_listener *li)
{
	int fd;

	if (li->net->spare_fd < 0)
		return;
	close(li->net->spare_fd);
	fd = accept4(li->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	li->net->spare_fd = net_open_spare();
}

static void on_readable(uv_poll_t *h, int status, int events);

static void on_retry(uv_timer_t *h)
{
	struct net_listener *li = h->data;

	uv_poll_start(&li->poll, UV_READABLE, on_readable);
}

static void on_readable(uv_poll_t *h, int status, int events)
{
	struct net_listener *li = h->data;

	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		struct sockaddr_storage peer = { 0 };
		socklen_t len = sizeof(peer);
		int fd = accept4(li->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take_connection(li->net, fd, &peer);
			continue;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return;
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			/* The connection stays in the kernel's queue, and the socket readable:
			 * without a break this would spin. */
			LOG(LOG_WARN, NULL, "accept", F_STR("error", strerror(errno)),
			    F_STR("remedy", "raise the limit of open files (ulimit -n)"));
			if (errno == EMFILE || errno == ENFILE)
				shed_one(li);
			uv_poll_stop(&li->poll);
			uv_timer_start(&li->retry, on_retry, ACCEPT_RETRY_MS, 0);
			return;
		}
	}
}

int net_listeners_start(struct net *n, struct err *reterr)
{
	uv_loop_t *uv = &n->loops[0].uv;

	for (unsigned i = 0; i < n->nlisteners; i++) {
		struct net_listener *li = &n->listeners[i];
		int rc = uv_poll_init(uv, &li->poll, li->fd);

		if (rc < 0)
			return net_fail(reterr, "Cannot watch a listening socket: %s.", uv_strerror(rc));
		uv_timer_init(uv, &li->retry);
		li->poll.data = li->retry.data = li;
		uv_poll_start(&li->poll, UV_READABLE, on_readable);
	}
	return n->nlisteners > 0
		       ? 0
		       : net_fail(reterr,
				  "There is no address to listen on. Give one with --listen HOST:PORT.");
}

void net_listeners_close(struct net_loop *l)
{
	for (unsigned i = 0; i < l->net->nlisteners; i++) {
		struct net_listener *li = &l->net->listeners[i];

		if (li->poll.data != NULL) {
			/* stops watching before the descriptor goes */
			uv_close((uv_handle_t *)&li->poll, NULL);
			uv_close((uv_handle_t *)&li->retry, NULL);
		}
		close(li->fd);
	}
}
