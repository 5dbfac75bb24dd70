/* log_out.c — lines on their way to standard error, which may be a pipe that nobody reads.
 * Whoever logs must not wait for that: a server would stand still. Until log_start_writer every
 * line is simply written, as a program that is about to end wants it. From then on a file is
 * still written at once, and a socket (journald's) as far as it takes it without waiting; all
 * else goes through a ring of whole lines, which a thread of its own empties with writes that
 * may block. When the ring is full, lines are dropped and counted, and the count is told where
 * they are missing. Making the descriptor non-blocking would be simpler, but it is not ours
 * alone: who shares it (a shell, a supervisor) would find it changed. */
#include "base/log_out.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#define RING_BYTES (1u << 20)

enum out_kind { OUT_PLAIN, OUT_FILE, OUT_SOCKET, OUT_SLOW };

/* Invariant: the bytes from head to tail (counted on without end, so tail - head <= RING_BYTES)
 * are lines, the first perhaps without its begin. Only the thread moves head. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	enum out_kind kind;
	size_t head, tail;
	unsigned long dropped; /* lines since the last that was told */
	char bytes[RING_BYTES];
	/* global: of the log, as its level is */
} out = { .lock = PTHREAD_MUTEX_INITIALIZER,
	  .filled = PTHREAD_COND_INITIALIZER,
	  .emptied = PTHREAD_COND_INITIALIZER };

static void write_plainly(const char *p, size_t n)
{
	while (write(STDERR_FILENO, p, n) < 0 && errno == EINTR)
		;
}

static void ring_put(const char *p, size_t n)
{
	size_t at = out.tail % RING_BYTES, first = n < RING_BYTES - at ? n : RING_BYTES - at;

	assert(n <= RING_BYTES - (out.tail - out.head));
	memcpy(out.bytes + at, p, first);
	memcpy(out.bytes, p + first, n - first);
	out.tail += n;
	pthread_cond_signal(&out.filled);
}

static bool ring_has_room(size_t n)
{
	return RING_BYTES - (out.tail - out.head) >= n;
}

/* A line that tells of dropped ones takes their place, as soon as there is one. */
static void tell_dropped(void)
{
	char line[LOG_LINE_MAX];

	if (out.dropped == 0 || !ring_has_room(2 * LOG_LINE_MAX))
		return;
	ring_put(line, log_line_dropped(line, out.dropped));
	out.dropped = 0;
}

static void enqueue(const char *p, size_t n)
{
	tell_dropped();
	if (out.dropped == 0 && ring_has_room(n))
		ring_put(p, n);
	else
		out.dropped++;
}

/* How much of it a socket took without waiting; a broken one takes everything. */
static size_t send_at_once(const char *p, size_t n)
{
	ssize_t done;

	if (out.kind != OUT_SOCKET || out.tail != out.head)
		return 0;
	done = send(STDERR_FILENO, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	return done >= 0 ? (size_t)done : errno == EAGAIN || errno == EWOULDBLOCK ? 0 : n;
}

void log_out(const char *line, size_t n)
{
	size_t done;

	pthread_mutex_lock(&out.lock);
	if (out.kind == OUT_PLAIN || out.kind == OUT_FILE) {
		pthread_mutex_unlock(&out.lock);
		write_plainly(line, n);
		return;
	}
	done = send_at_once(line, n);
	if (done > 0 && done < n)
		ring_put(line + done, n - done); /* the ring is empty */
	else if (done == 0)
		enqueue(line, n);
	pthread_mutex_unlock(&out.lock);
}

/* As many whole lines as one write takes; a pipe then takes them whole, too. */
static size_t ring_peek(char dst[LOG_LINE_MAX])
{
	size_t n = out.tail - out.head < LOG_LINE_MAX ? out.tail - out.head : LOG_LINE_MAX, whole = 0;

	for (size_t i = 0; i < n; i++) {
		dst[i] = out.bytes[(out.head + i) % RING_BYTES];
		if (dst[i] == '\n')
			whole = i + 1;
	}
	return whole > 0 ? whole : n;
}

/* How many of the n bytes are done with. */
static size_t write_waiting(const char *p, size_t n)
{
	ssize_t done = write(STDERR_FILENO, p, n);

	if (done >= 0)
		return (size_t)done;
	if (errno == EINTR)
		return 0;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return n; /* closed: nobody will ever read it */
	/* somebody else has made it non-blocking */
	nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000 * 1000 }, NULL);
	return 0;
}

static void *run_writer(void *arg)
{
	char lines[LOG_LINE_MAX];

	pthread_mutex_lock(&out.lock);
	for (;;) {
		size_t n = ring_peek(lines), done;

		if (n == 0) {
			pthread_cond_broadcast(&out.emptied);
			pthread_cond_wait(&out.filled, &out.lock);
			continue;
		}
		pthread_mutex_unlock(&out.lock);
		done = write_waiting(lines, n);
		pthread_mutex_lock(&out.lock);
		out.head += done;
		tell_dropped();
	}
	return arg;
}

static enum out_kind kind_of_stderr(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st) < 0)
		return OUT_SLOW;
	return S_ISREG(st.st_mode) ? OUT_FILE : S_ISSOCK(st.st_mode) ? OUT_SOCKET : OUT_SLOW;
}

int log_start_writer(void)
{
	pthread_t thread;
	int rc = 0;

	pthread_mutex_lock(&out.lock);
	if (out.kind == OUT_PLAIN) {
		rc = thread_start(&thread, run_writer, NULL);
		if (rc == 0) {
			pthread_detach(thread);
			out.kind = kind_of_stderr();
		}
	}
	pthread_mutex_unlock(&out.lock);
	return rc;
}

void log_flush(unsigned ms)
{
	int64_t left, end = clock_mono_ms() + ms;

	pthread_mutex_lock(&out.lock);
	while (out.kind != OUT_PLAIN && out.tail != out.head && (left = end - clock_mono_ms()) > 0) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += left / 1000;
		until.tv_nsec += left % 1000 * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&out.emptied, &out.lock, &until);
	}
	pthread_mutex_unlock(&out.lock);
}
