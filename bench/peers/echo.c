/* echo.c — the physical limit of the network part: the same message sizes through the same event loop as the server (libuv, as many loops as
 * it has threads), and nothing done in between. A request says how long it is and how long its answer shall be. Prints "ready HOST:PORT".
 *
 *   echo [LOOPS] */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#define LOOPS_MAX 16
#define REQUEST_MAX (256u << 20)

/* All answers are pieces of these zeros, but for their first eight bytes. */
static uint8_t *zeros;

struct peer {
	uv_tcp_t tcp;
	uint8_t *in;
	size_t in_len, in_cap;
};

static void on_close(uv_handle_t *h)
{
	struct peer *p = (struct peer *)h;

	free(p->in);
	free(p);
}

static void on_written(uv_write_t *w, int status)
{
	(void)status;
	free(w);
}

/* Most answers fit the socket's buffer at once; only the rest of a long one is queued. */
static void answer(struct peer *p, uint32_t n)
{
	uint8_t head[8] = { 0 };
	uv_buf_t bufs[2] = { uv_buf_init((char *)head, 8), uv_buf_init((char *)zeros, n - 8) };
	uv_write_t *w;
	int done;

	if (n < 8 || n > REQUEST_MAX)
		abort();
	memcpy(head, &n, sizeof(n));
	done = uv_try_write((uv_stream_t *)&p->tcp, bufs, 2);
	if (done == (int)n)
		return;
	w = calloc(1, sizeof(*w));
	/* A peer that does not read eight bytes is none of ours. */
	if (w == NULL || done < 8)
		abort();
	bufs[1] = uv_buf_init((char *)zeros, n - (uint32_t)done);
	uv_write(w, (uv_stream_t *)&p->tcp, &bufs[1], 1, on_written);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct peer *p = (struct peer *)h;

	(void)suggested;
	if (p->in_cap - p->in_len < 4096) {
		p->in_cap = p->in_cap * 2 + 16384;
		p->in = realloc(p->in, p->in_cap);
		if (p->in == NULL)
			abort();
	}
	*ret = uv_buf_init((char *)p->in + p->in_len, (unsigned)(p->in_cap - p->in_len));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct peer *p = (struct peer *)s;
	uint32_t head[2];

	(void)buf;
	if (n < 0) {
		uv_close((uv_handle_t *)s, on_close);
		return;
	}
	p->in_len += (size_t)n;
	while (p->in_len >= sizeof(head)) {
		memcpy(head, p->in, sizeof(head));
		if (head[0] < sizeof(head) || p->in_len < head[0])
			break;
		memmove(p->in, p->in + head[0], p->in_len - head[0]);
		p->in_len -= head[0];
		answer(p, head[1]);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (status < 0 || p == NULL)
		abort();
	uv_tcp_init(server->loop, &p->tcp);
	if (uv_accept(server, (uv_stream_t *)&p->tcp) < 0) {
		uv_close((uv_handle_t *)&p->tcp, on_close);
		return;
	}
	uv_tcp_nodelay(&p->tcp, 1);
	uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read);
}

/* Every loop has a socket of its own at the same port; the kernel spreads the connections. */
static int listener(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	socklen_t len = sizeof(*at);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 || bind(fd, (struct sockaddr *)at, sizeof(*at)) < 0 ||
	    getsockname(fd, (struct sockaddr *)at, &len) < 0) {
		perror("echo");
		exit(1);
	}
	return fd;
}

static void *run(void *arg)
{
	uv_loop_t *loop = calloc(1, sizeof(*loop));
	uv_tcp_t *tcp = calloc(1, sizeof(*tcp));
	int fd = *(int *)arg;

	if (loop == NULL || tcp == NULL || uv_loop_init(loop) < 0 || uv_tcp_init(loop, tcp) < 0 || uv_tcp_open(tcp, fd) < 0 ||
	    uv_listen((uv_stream_t *)tcp, 1024, on_connection) < 0)
		abort();
	uv_run(loop, UV_RUN_DEFAULT);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	long loops = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
	static int fds[LOOPS_MAX];
	pthread_t thread;

	zeros = calloc(1, REQUEST_MAX);
	if (loops < 1 || loops > LOOPS_MAX || zeros == NULL)
		return 2;
	for (long i = 0; i < loops; i++)
		fds[i] = listener(&at);
	for (long i = 1; i < loops; i++)
		if (pthread_create(&thread, NULL, run, &fds[i]) != 0)
			return 1;
	printf("ready 127.0.0.1:%d\n", ntohs(at.sin_port));
	fflush(stdout);
	run(&fds[0]);
	return 0;
}
