/* Streams over real sockets: consuming, back-pressure, timers, the ways to end. */
#include "net_test.h"

#include <fcntl.h>
#include <sys/poll.h>

#include "net/net_int.h"

static void many_clients_get_their_own_bytes_back(void **state)
{
	struct harness h = { 0 };
	int fds[100];

	(void)state;
	harness_start(&h, 3, 1000);
	for (int i = 0; i < 100; i++)
		fds[i] = client_connect(&h);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			char text[40] = { 0 };

			snprintf(text, sizeof(text), "client %d round %d", i, round);
			send_all(fds[i], text, sizeof(text));
		}
		for (int i = 0; i < 100; i++) {
			char text[40] = { 0 }, got[40];

			snprintf(text, sizeof(text), "client %d round %d", i, round);
			recv_all(fds[i], got, sizeof(got));
			assert_memory_equal(text, got, sizeof(got));
		}
	}
	assert_int_equal(net_connections(h.net), 100);
	for (unsigned i = 0; i < 3; i++) /* each loop has its share */
		assert_in_range(atomic_load(&h.net->loops[i].nstreams), 33, 34);
	for (int i = 0; i < 100; i++)
		close(fds[i]);
	WAIT_FOR(net_connections(h.net) == 0);
	assert_true(reason_has(&h, "closed by the client"));
	harness_stop(&h);
}

/* Messages of a length byte and so many bytes more; one is consumed a call, answered by its
 * length. */
static size_t length_data(struct conn *c, const uint8_t *p, size_t n)
{
	if (n < 1u + p[0])
		return 0;
	stream_write(c->s, p, 1);
	return 1u + p[0];
}

static void unconsumed_bytes_are_offered_again(void **state)
{
	struct harness h = { .data = length_data };
	uint8_t message[] = { 3, 'a', 'b', 'c', 0, 5, '1', '2', '3', '4', '5' }, answer[3];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	for (int round = 0; round < 2; round++) { /* glued together, then byte by byte */
		if (round == 0)
			send_all(fd, message, sizeof(message));
		for (size_t i = 0; round == 1 && i < sizeof(message); i++) {
			send_all(fd, message + i, 1);
			usleep(500);
		}
		recv_all(fd, answer, 3);
		assert_memory_equal(answer, ((uint8_t[]){ 3, 0, 5 }), 3);
	}
	close(fd);
	harness_stop(&h);
}

#define UNITS 400

/* Takes the bytes in units of the size that the test says; number counts the units, and the
 * first wrong one stops it. Byte i of the stream is i * 7 + i / 256. */
static size_t unit_data(struct conn *c, const uint8_t *p, size_t n)
{
	size_t unit = *(size_t *)c->h->test, at = (size_t)c->number * unit;

	if (n < unit)
		return 0;
	for (size_t i = 0; i < unit; i++) {
		if (p[i] != (uint8_t)((at + i) * 7 + (at + i) / 256)) {
			net_stream_close(c->s, false, "another byte than was sent");
			return n;
		}
	}
	if (++c->number == UNITS)
		stream_write(c->s, (const uint8_t *)"!", 1);
	return unit;
}

/* What is left of a read is less than a packet, or more than fits before the next read. */
static void what_is_left_and_what_follows_are_one(void **state)
{
	static const size_t units[] = { 1, 4096, 4099, 32767, 40000, 61000 };

	(void)state;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		size_t unit = units[u], n = unit * UNITS;
		struct harness h = { .data = unit_data, .test = &unit };
		uint8_t *bytes = malloc(n), answer;
		int fd;

		assert_non_null(bytes);
		for (size_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)(i * 7 + i / 256);
		harness_start(&h, 1, 10);
		fd = client_connect(&h);
		send_all(fd, bytes, n);
		recv_all(fd, &answer, 1);
		assert_int_equal(answer, '!');
		close(fd);
		harness_stop(&h);
		free(bytes);
	}
}

static size_t consume_nothing(struct conn *c, const uint8_t *p, size_t n)
{
	(void)c;
	(void)p;
	(void)n;
	return 0;
}

static void set_small_limit(struct conn *c)
{
	net_stream_set_limit(c->s, 1000);
}

static void more_unconsumed_bytes_than_the_limit_end_the_stream(void **state)
{
	struct harness h = { .data = consume_nothing, .opened = set_small_limit };
	char bytes[1001] = { 0 };
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	send_all(fd, bytes, 1000);
	usleep(20000);
	assert_int_equal(atomic_load(&h.closes), 0);
	send_all(fd, bytes, 1);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "limit"));
	close(fd);
	harness_stop(&h);
}

static void a_half_closed_client_still_gets_its_answer(void **state)
{
	struct harness h = { 0 };
	size_t size = 3 * 1024 * 1024;
	uint8_t *bytes = malloc(size), *got = malloc(size);
	int fd, sent_all = 0;
	size_t sent = 0, received = 0;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 999);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while (received < size) {
		struct pollfd pfd = { fd, POLLIN | (sent < size ? POLLOUT : 0), 0 };

		assert_true(poll(&pfd, 1, 10000) > 0);
		if (sent < size && (pfd.revents & POLLOUT) != 0) {
			ssize_t k = send(fd, bytes + sent, size - sent, MSG_NOSIGNAL);

			if (k > 0)
				sent += (size_t)k;
		}
		if (sent == size && !sent_all) {
			sent_all = 1;
			shutdown(fd, SHUT_WR);
		}
		if ((pfd.revents & POLLIN) != 0) {
			ssize_t k = recv(fd, got + received, size - received, 0);

			assert_true(k > 0);
			received += (size_t)k;
		}
	}
	assert_memory_equal(bytes, got, size);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	assert_ended(fd);
	close(fd);
	free(bytes);
	free(got);
	harness_stop(&h);
}

static void a_client_that_does_not_read_is_held_back(void **state)
{
	struct harness h = { 0 };
	size_t size = 65536, sent = 0, back = 0;
	uint8_t *bytes = calloc(1, size);
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	for (int stuck = 0; stuck < 50;) { /* until the kernel's buffers and ours are full */
		ssize_t k = send(fd, bytes, size, MSG_NOSIGNAL);

		stuck = k > 0 ? 0 : stuck + 1;
		sent += k > 0 ? (size_t)k : 0;
		if (k <= 0)
			usleep(2000);
		assert_true(sent < (size_t)256 * 1024 * 1024);
	}
	assert_in_range(atomic_load(&h.most_pending), 512 * 1024, 600 * 1024);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	while (back < sent) { /* now it reads, and everything is there */
		ssize_t k = recv(fd, bytes, size, 0);

		assert_true(k > 0);
		back += (size_t)k;
	}
	assert_true(atomic_load(&h.drains) > 0);
	send_all(fd, "x", 1);
	recv_all(fd, bytes, 1);
	close(fd);
	free(bytes);
	harness_stop(&h);
}

static void timer_again(struct conn *c)
{
	if (++c->number < 3) {
		net_stream_set_timer(c->s, 1);
		return;
	}
	stream_write(c->s, (const uint8_t *)"late", 4);
	net_stream_close(c->s, true, "time is over");
}

static void timer_set(struct conn *c)
{
	net_stream_set_timer(c->s, 100000);
	net_stream_set_timer(c->s, 1); /* the second replaces the first */
}

static void a_timer_fires_once_each_time_it_is_set(void **state)
{
	struct harness h = { .opened = timer_set, .timeout = timer_again };
	char got[4];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	recv_all(fd, got, 4);
	assert_memory_equal(got, "late", 4);
	assert_ended(fd);
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_int_equal(atomic_load(&h.timeouts), 3);
	assert_true(reason_has(&h, "time is over"));
	harness_stop(&h);
}

static void timer_cancel(struct conn *c)
{
	net_stream_set_timer(c->s, 1);
	net_stream_set_timer(c->s, 0);
}

static void a_cancelled_timer_does_not_fire(void **state)
{
	struct harness h = { .opened = timer_cancel };
	char got[1];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	usleep(20000);
	send_all(fd, "x", 1);
	recv_all(fd, got, 1);
	assert_int_equal(atomic_load(&h.timeouts), 0);
	close(fd);
	harness_stop(&h);
}

/* A large last answer, then the end; bytes the client still sends are dropped without a reset. */
static size_t answer_and_close(struct conn *c, const uint8_t *p, size_t n)
{
	static const uint8_t block[65536];

	(void)p;
	for (int i = 0; i < 64; i++)
		stream_write(c->s, block, sizeof(block));
	net_stream_close(c->s, true, "done");
	stream_write(c->s, block, sizeof(block)); /* too late: not sent */
	net_stream_close(c->s, true, "again");
	return n;
}

static void a_graceful_close_delivers_everything_first(void **state)
{
	struct harness h = { .data = answer_and_close };
	uint8_t *got = malloc(64 * 65536);
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	send_all(fd, "x", 1);
	usleep(10000);
	send_all(fd, "more that nobody wants", 22);
	recv_all(fd, got, 64 * 65536);
	assert_ended(fd);
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "done"));
	free(got);
	harness_stop(&h);
}

static void a_closing_stream_whose_client_never_reads_is_given_up(void **state)
{
	struct harness h = { .data = answer_and_close };
	int small = 4096, fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	send_all(fd, "x", 1);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	close(fd);
	harness_stop(&h);
}

static size_t close_at_once(struct conn *c, const uint8_t *p, size_t n)
{
	(void)p;
	net_stream_close(c->s, false, "at once");
	stream_write(c->s, (const uint8_t *)"x", 1);
	net_stream_set_timer(c->s, 1);
	net_stream_pause(c->s);
	net_stream_resume(c->s);
	net_stream_close(c->s, true, "twice");
	return n / 2;
}

static void the_owner_may_close_inside_data(void **state)
{
	struct harness h = { .data = close_at_once };
	char got[1];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	send_all(fd, "some bytes", 10);
	assert_true(recv(fd, got, 1, 0) <= 0);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "at once"));
	close(fd);
	harness_stop(&h);
}

/* Takes one byte, pauses; the timer resumes. */
static size_t one_byte_and_pause(struct conn *c, const uint8_t *p, size_t n)
{
	(void)n;
	stream_write(c->s, p, 1);
	net_stream_pause(c->s);
	net_stream_set_timer(c->s, 1);
	return 1;
}

static void resume_reading(struct conn *c)
{
	net_stream_resume(c->s);
}

static void a_resumed_stream_offers_what_was_left(void **state)
{
	struct harness h = { .data = one_byte_and_pause, .timeout = resume_reading };
	char got[10];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	send_all(fd, "0123456789", 10);
	recv_all(fd, got, 10);
	assert_memory_equal(got, "0123456789", 10);
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	harness_stop(&h);
}

/* Resumes inside data(): offered again from the loop, not from within. */
static size_t pause_and_resume(struct conn *c, const uint8_t *p, size_t n)
{
	(void)n;
	if (c->number != 0)
		net_stream_close(c->s, false, "entered twice");
	c->number = 1;
	stream_write(c->s, p, 1);
	net_stream_pause(c->s);
	net_stream_resume(c->s);
	net_stream_pause(c->s);
	net_stream_resume(c->s);
	c->number = 0;
	return 1;
}

static void resuming_inside_data_does_not_nest(void **state)
{
	struct harness h = { .data = pause_and_resume };
	char got[10];
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	send_all(fd, "0123456789", 10);
	recv_all(fd, got, 10);
	assert_memory_equal(got, "0123456789", 10);
	close(fd);
	harness_stop(&h);
}

static void a_reset_by_the_client_closes(void **state)
{
	struct harness h = { 0 };
	struct linger reset = { 1, 0 };
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	WAIT_FOR(atomic_load(&h.opens) == 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "read"));
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_clients_get_their_own_bytes_back),
		cmocka_unit_test(unconsumed_bytes_are_offered_again),
		cmocka_unit_test(what_is_left_and_what_follows_are_one),
		cmocka_unit_test(more_unconsumed_bytes_than_the_limit_end_the_stream),
		cmocka_unit_test(a_half_closed_client_still_gets_its_answer),
		cmocka_unit_test(a_client_that_does_not_read_is_held_back),
		cmocka_unit_test(a_timer_fires_once_each_time_it_is_set),
		cmocka_unit_test(a_cancelled_timer_does_not_fire),
		cmocka_unit_test(a_graceful_close_delivers_everything_first),
		cmocka_unit_test(a_closing_stream_whose_client_never_reads_is_given_up),
		cmocka_unit_test(the_owner_may_close_inside_data),
		cmocka_unit_test(a_resumed_stream_offers_what_was_left),
		cmocka_unit_test(resuming_inside_data_does_not_nest),
		cmocka_unit_test(a_reset_by_the_client_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
