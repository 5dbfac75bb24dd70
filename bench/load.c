/* load.c — the load generator: many connections from one thread, requests encoded in advance, every answer checked. Prints one line of JSON.
 *
 *   load --server HOST:PORT --password-file FILE --workload NAME [--connections N] [--seconds S] [--warmup S] [--pid SERVERPID] [--login-storm] [--idle N] */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define BUCKETS 2048

enum phase { CONNECT_PRELOGIN, CONNECT_LOGIN, RUNNING, STOPPED };

struct client {
	int fd;
	enum phase phase;
	struct script script;
	struct answer last;
	bool has_last;
	uint8_t *in;
	size_t in_len, in_cap;
	const struct message *out;
	size_t out_done;
	uint64_t sent_ns;
};

struct options {
	struct sockaddr_in address;
	char password[256];
	const char *user;
	const struct workload *workload;
	unsigned connections;
	double seconds, warmup;
	int pid;
	bool storm;
	bool hold;
};

struct totals {
	uint64_t calls, histogram[BUCKETS];
	uint64_t max_ns;
};

static struct options opt;
static struct totals totals;
static struct message prelogin, login;
static uint8_t *scratch;
static size_t scratch_cap;
static int epfd;
static bool measuring;
static unsigned running, finished;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noreturn)) static void die(const char *what, const char *why)
{
	fprintf(stderr, "load: %s: %s\n", what, why);
	exit(1);
}

/* ---- latencies: 32 steps for each power of two ---- */

static size_t bucket_of(uint64_t ns)
{
	unsigned log = ns < 32 ? 5 : 63 - (unsigned)__builtin_clzll(ns);
	size_t b = (size_t)(log - 5) * 32 + (size_t)((ns >> (log - 5)) & 31);

	return b < BUCKETS ? b : BUCKETS - 1;
}

static double bucket_us(size_t b)
{
	return (double)((32 + b % 32) << (b / 32)) / 1000.0;
}

static double percentile(double p)
{
	uint64_t want = (uint64_t)((double)totals.calls * p), seen = 0;

	for (size_t b = 0; b < BUCKETS; b++) {
		seen += totals.histogram[b];
		if (seen > want)
			return bucket_us(b);
	}
	return (double)totals.max_ns / 1000.0;
}

/* ---- connections ---- */

static void arm(struct client *c, uint32_t events, int op)
{
	struct epoll_event e = { .events = events, .data.ptr = c };

	if (epoll_ctl(epfd, op, c->fd, &e) < 0)
		die("epoll", strerror(errno));
}

static void client_open(struct client *c)
{
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&opt.address, sizeof(opt.address)) < 0)
		die("connect", strerror(errno));
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	c->phase = CONNECT_PRELOGIN;
	c->in_len = 0;
	arm(c, EPOLLIN, EPOLL_CTL_ADD);
}

static void flush(struct client *c)
{
	while (c->out_done < c->out->len) {
		ssize_t n = send(c->fd, c->out->data + c->out_done, c->out->len - c->out_done, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN) {
			arm(c, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
			return;
		}
		if (n < 0)
			die("send", strerror(errno));
		c->out_done += (size_t)n;
	}
}

static void start(struct client *c, const struct message *m)
{
	c->out = m;
	c->out_done = 0;
	flush(c);
}

static void next_call(struct client *c)
{
	const struct message *m = opt.workload->next(&c->script, c->has_last ? &c->last : NULL);

	if (m == NULL) {
		c->phase = STOPPED;
		running--;
		finished++;
		return;
	}
	if (!opt.storm)
		c->sent_ns = now_ns();
	start(c, m);
}

static void reconnect(struct client *c)
{
	close(c->fd);
	c->sent_ns = now_ns();
	client_open(c);
	start(c, &prelogin);
}

static void count(uint64_t ns)
{
	if (!measuring)
		return;
	totals.calls++;
	totals.histogram[bucket_of(ns)]++;
	if (ns > totals.max_ns)
		totals.max_ns = ns;
}

static void answered(struct client *c, size_t n)
{
	const char *wrong = NULL;

	if (c->phase == CONNECT_PRELOGIN) {
		c->phase = CONNECT_LOGIN;
		start(c, &login);
		return;
	}
	if (n > scratch_cap) {
		scratch_cap = 2 * n;
		scratch = realloc(scratch, scratch_cap);
	}
	if (!answer_read(c->in, n, scratch, &c->last))
		die("answer", "the stream cannot be read");
	if (c->last.error)
		die("answer", c->last.text);
	if (c->phase == CONNECT_LOGIN) {
		c->phase = RUNNING;
		running++;
		c->has_last = false;
		if (!opt.hold)
			next_call(c);
		return;
	}
	if (opt.workload->check != NULL)
		wrong = opt.workload->check(&c->script, &c->last);
	if (wrong != NULL)
		die("answer", wrong);
	c->has_last = true;
	count(now_ns() - c->sent_ns);
	if (opt.storm) {
		running--;
		reconnect(c);
	} else {
		next_call(c);
	}
}

static void readable(struct client *c)
{
	ssize_t n;
	size_t len;

	if (c->in_cap - c->in_len < 16384) {
		c->in_cap = c->in_cap * 2 + 32768;
		c->in = realloc(c->in, c->in_cap);
	}
	n = recv(c->fd, c->in + c->in_len, c->in_cap - c->in_len, 0);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0)
		die("recv", n == 0 ? "the server closed the connection" : strerror(errno));
	c->in_len += (size_t)n;
	/* The PRELOGIN answer is a message like the others. */
	len = answer_length(c->in, c->in_len);
	if (len == 0)
		return;
	if (len != c->in_len)
		die("answer", "more than one message");
	c->in_len = 0;
	answered(c, len);
}

/* ---- measuring ---- */

struct usage { double cpu_s; uint64_t written; long rss_kb; };

static struct usage usage_of(int pid)
{
	struct usage u = { 0 };
	char path[64], line[512];
	unsigned long ut, st;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f != NULL) {
		if (fgets(line, sizeof(line), f) != NULL && strrchr(line, ')') != NULL &&
		    sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ut, &st) == 2)
			u.cpu_s = (double)(ut + st) / (double)sysconf(_SC_CLK_TCK);
		fclose(f);
	}
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "write_bytes: %lu", &u.written);
	if (f != NULL)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "VmRSS: %ld", &u.rss_kb);
	if (f != NULL)
		fclose(f);
	return u;
}

static void report(double seconds, const struct usage *before, const struct usage *after)
{
	double calls = totals.calls == 0 ? 1 : (double)totals.calls;

	printf("{\"workload\":\"%s\",\"connections\":%u,\"storm\":%s,\"seconds\":%.2f,\"calls\":%lu,\"calls_per_s\":%.0f,"
	       "\"p50_us\":%.0f,\"p95_us\":%.0f,\"p99_us\":%.0f,\"p999_us\":%.0f,\"max_us\":%.0f,"
	       "\"server_cpu_us_per_call\":%.2f,\"written_bytes_per_call\":%.0f,\"rss_kb\":%ld}\n",
	       opt.workload->name, opt.connections, opt.storm ? "true" : "false", seconds, totals.calls, (double)totals.calls / seconds, percentile(0.5),
	       percentile(0.95), percentile(0.99), percentile(0.999), (double)totals.max_ns / 1000.0, (after->cpu_s - before->cpu_s) * 1e6 / calls,
	       (double)(after->written - before->written) / calls, after->rss_kb);
}

static void pump(double seconds)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	struct epoll_event events[256];

	while (now_ns() < end && !(opt.workload->once && finished == opt.connections)) {
		int n = epoll_wait(epfd, events, 256, 50);

		for (int i = 0; i < n; i++) {
			struct client *c = events[i].data.ptr;

			if ((events[i].events & EPOLLOUT) != 0) {
				arm(c, EPOLLIN, EPOLL_CTL_MOD);
				flush(c);
			}
			if ((events[i].events & ~EPOLLOUT) != 0)
				readable(c);
		}
	}
}

static void read_password(const char *file)
{
	FILE *f = fopen(file, "r");

	if (f == NULL || fgets(opt.password, sizeof(opt.password), f) == NULL)
		die(file, "no password in it");
	fclose(f);
	opt.password[strcspn(opt.password, "\r\n")] = '\0';
}

static void parse_server(char *text)
{
	char *colon = strrchr(text, ':');

	if (colon == NULL)
		die(text, "HOST:PORT is wanted");
	*colon = '\0';
	opt.address.sin_family = AF_INET;
	opt.address.sin_port = htons((uint16_t)atoi(colon + 1));
	if (inet_pton(AF_INET, text, &opt.address.sin_addr) != 1 || (ntohl(opt.address.sin_addr.s_addr) >> 24) != 127)
		die(text, "only loopback addresses are loaded");
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "server", 1, 0, 's' }, { "password-file", 1, 0, 'p' }, { "user", 1, 0, 'u' }, { "workload", 1, 0, 'w' }, { "connections", 1, 0, 'c' },
		{ "seconds", 1, 0, 't' }, { "warmup", 1, 0, 'W' }, { "pid", 1, 0, 'P' }, { "login-storm", 0, 0, 'L' }, { "hold", 0, 0, 'H' }, { 0 },
	};
	int o;

	opt = (struct options){ .user = "sa", .connections = 32, .seconds = 5, .warmup = 1 };
	while ((o = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (o) {
		case 's': parse_server(optarg); break;
		case 'p': read_password(optarg); break;
		case 'u': opt.user = optarg; break;
		case 'w': opt.workload = workload_find(optarg); break;
		case 'c': opt.connections = (unsigned)atoi(optarg); break;
		case 't': opt.seconds = atof(optarg); break;
		case 'W': opt.warmup = atof(optarg); break;
		case 'P': opt.pid = atoi(optarg); break;
		case 'L': opt.storm = true; break;
		case 'H': opt.hold = true; break;
		default: exit(2);
		}
	}
	if (opt.workload == NULL || opt.address.sin_port == 0 || opt.password[0] == '\0' || opt.connections == 0) {
		fprintf(stderr, "usage: load --server 127.0.0.1:PORT --password-file FILE --workload NAME [--connections N] [--seconds S] [--warmup S]\n"
				"            [--pid SERVERPID] [--login-storm] [--hold]\nworkloads:\n");
		workload_list();
		exit(2);
	}
}

static void open_all(struct client *clients)
{
	for (unsigned i = 0; i < opt.connections; i++) {
		struct client *c = &clients[i];

		c->script = (struct script){ .connection = i, .connections = opt.connections, .random = 88172645463325252u + i * 7919 };
		opt.workload->prepare(&c->script);
		client_open(c);
		start(c, &prelogin);
		if (i % 64 == 63)
			pump(0.02);
	}
	while (running < opt.connections && !opt.workload->once && !opt.storm)
		pump(0.05);
}

int main(int argc, char **argv)
{
	struct client *clients;
	struct usage before, after;
	uint64_t begin;

	parse(argc, argv);
	clients = calloc(opt.connections, sizeof(*clients));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	message_prelogin(&prelogin);
	message_login(&login, opt.user, opt.password, opt.workload->database, "procession bench");
	measuring = opt.workload->once;
	before = usage_of(opt.pid);
	begin = now_ns();
	open_all(clients);
	if (!opt.workload->once) {
		pump(opt.warmup);
		measuring = true;
		before = usage_of(opt.pid);
		begin = now_ns();
	}
	pump(opt.workload->once ? 600 : opt.seconds);
	after = usage_of(opt.pid);
	report((double)(now_ns() - begin) / 1e9, &before, &after);
	return 0;
}
