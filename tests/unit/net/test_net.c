/* The whole: addresses, limits, posts from other threads, blocking work, stopping. */
#include "net_test.h"

#include "net/net_int.h"

static int start_on(const char *where, struct net **ret, struct err *e)
{
	static struct harness h;
	const char *const listen[] = { where, NULL };
	struct net_options o = {
		.listen = listen, .loops = 2, .max_connections = 10, .handler = &h.handler, .arg = &h
	};

	return net_start(&o, ret, e);
}

static void addresses_are_understood_or_named(void **state)
{
	static const char *const bad[] = { "",           "1433",        ":1433",           "127.0.0.1",
					   "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
					   "::1:1433",   "[]:1433",     "127.0.0.1:999999" };
	struct net *n = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_true(start_on(bad[i], &n, &e) < 0);
		assert_non_null(strstr(e.text, "HOST:PORT"));
	}
	assert_true(start_on("no-such-host.invalid:1433", &n, &e) < 0);
	assert_non_null(strstr(e.text, "no-such-host.invalid"));
	assert_true(start_on("192.0.2.1:1433", &n, &e) < 0);
	assert_non_null(strstr(e.text, "no such address"));
}

static void a_name_may_have_several_addresses(void **state)
{
	struct net *n = NULL;
	struct err e;

	(void)state;
	assert_int_equal(start_on("localhost:0", &n, &e), 0);
	assert_non_null(strstr(net_address(n), "127.0.0.1:"));
	net_stop(n);
	assert_int_equal(start_on("*:0", &n, &e), 0);
	net_stop(n);
}

static void a_port_in_use_is_named(void **state)
{
	struct harness h = { 0 };
	struct net *n = NULL;
	struct err e;

	(void)state;
	harness_start(&h, 1, 10);
	assert_true(start_on(net_address(h.net), &n, &e) < 0);
	assert_non_null(strstr(e.text, net_address(h.net)));
	assert_non_null(strstr(e.text, "Another program"));
	harness_stop(&h);
}

static void note_over_limit(struct conn *c)
{
	if (!net_stream_over_limit(c->s))
		return;
	stream_write(c->s, (const uint8_t *)"full", 4);
	net_stream_close(c->s, true, "over the limit");
}

static void connections_above_the_maximum_can_be_told(void **state)
{
	struct harness h = { .opened = note_over_limit };
	char got[4];
	int a, b, c;

	(void)state;
	harness_start(&h, 2, 2);
	a = client_connect(&h);
	b = client_connect(&h);
	WAIT_FOR(net_connections(h.net) == 2);
	c = client_connect(&h);
	recv_all(c, got, 4);
	assert_memory_equal(got, "full", 4);
	assert_ended(c);
	close(c);
	WAIT_FOR(net_connections(h.net) == 2);
	close(a);
	WAIT_FOR(net_connections(h.net) == 1);
	a = client_connect(&h);
	send_all(a, "x", 1);
	recv_all(a, got, 1);
	close(a);
	close(b);
	harness_stop(&h);
}

static void note_peer(struct conn *c)
{
	const char *peer = net_stream_peer(c->s);

	stream_write(c->s, (const uint8_t *)peer, strlen(peer) + 1);
}

static void the_peer_is_named_by_address_and_port(void **state)
{
	struct harness h = { .opened = note_peer };
	struct sockaddr_in me;
	socklen_t len = sizeof(me);
	char expected[40], got[40] = { 0 };
	int fd;

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	getsockname(fd, (struct sockaddr *)&me, &len);
	snprintf(expected, sizeof(expected), "127.0.0.1:%u", ntohs(me.sin_port));
	recv_all(fd, got, strlen(expected) + 1);
	assert_string_equal(expected, got);
	close(fd);
	harness_stop(&h);
}

#define POSTS 2000

struct counted_post {
	struct net_post post;
	pthread_t *loop_thread; /* all run on one */
	atomic_int *count;
};

static void count_post(struct net_post *item)
{
	struct counted_post *p = CONTAINER_OF(item, struct counted_post, post);

	if (pthread_equal(pthread_self(), *p->loop_thread))
		atomic_fetch_add(p->count, 1);
	free(p);
}

struct poster {
	struct net_loop *loop;
	atomic_int *count;
};

static void *post_many(void *arg)
{
	struct poster *p = arg;

	for (int i = 0; i < POSTS; i++) {
		struct counted_post *item = calloc(1, sizeof(*item));

		item->post.fn = count_post;
		item->loop_thread = &p->loop->thread;
		item->count = p->count;
		net_loop_post(p->loop, &item->post);
	}
	return NULL;
}

static void posts_from_many_threads_run_on_the_loop(void **state)
{
	struct harness h = { 0 };
	atomic_int count = 0;
	struct poster p = { .count = &count };
	pthread_t threads[4];

	(void)state;
	harness_start(&h, 2, 10);
	p.loop = &h.net->loops[1];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_many, &p), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	harness_stop(&h); /* what was posted before runs before the end */
	assert_int_equal(atomic_load(&count), 4 * POSTS);
}

struct job {
	struct net_work work;
	pthread_t loop_thread;
	atomic_int *ran, *done;
	bool off_loop, on_loop;
};

static void job_run(struct net_work *w)
{
	struct job *j = CONTAINER_OF(w, struct job, work);

	j->off_loop = !pthread_equal(pthread_self(), j->loop_thread);
	usleep(1000);
	atomic_fetch_add(j->ran, 1);
}

static void job_done(struct net_work *w)
{
	struct job *j = CONTAINER_OF(w, struct job, work);

	j->on_loop = pthread_equal(pthread_self(), j->loop_thread);
	atomic_fetch_add(j->done, 1);
}

static void blocking_work_runs_aside_and_reports_on_the_loop(void **state)
{
	struct harness h = { 0 };
	atomic_int ran = 0, done = 0;
	struct job jobs[20] = { 0 };

	(void)state;
	harness_start(&h, 2, 10);
	for (int i = 0; i < 20; i++) {
		struct net_loop *l = &h.net->loops[i % 2];

		jobs[i] = (struct job){ .work = { .run = job_run, .done = job_done, .loop = l },
					.loop_thread = l->thread,
					.ran = &ran,
					.done = &done };
		net_work_submit(h.net, &jobs[i].work);
	}
	WAIT_FOR(atomic_load(&done) >= 10);
	harness_stop(&h); /* the rest is still done */
	assert_int_equal(atomic_load(&ran), 20);
	assert_int_equal(atomic_load(&done), 20);
	for (int i = 0; i < 20; i++)
		assert_true(jobs[i].off_loop && jobs[i].on_loop);
}

static void close_each(void *owner)
{
	struct conn *c = owner;

	net_stream_close(c->s, true, "drained");
}

static void each_reaches_every_owner(void **state)
{
	struct harness h = { 0 };
	int fds[20];

	(void)state;
	harness_start(&h, 3, 100);
	for (int i = 0; i < 20; i++)
		fds[i] = client_connect(&h);
	WAIT_FOR(atomic_load(&h.opens) == 20);
	net_stop_listening(h.net);
	net_stop_listening(h.net);
	net_each(h.net, close_each);
	for (int i = 0; i < 20; i++) {
		assert_ended(fds[i]);
		close(fds[i]);
	}
	WAIT_FOR(net_connections(h.net) == 0);
	assert_true(reason_has(&h, "drained"));
	harness_stop(&h);
}

static void nobody_connects_after_listening_ended(void **state)
{
	struct harness h = { 0 };
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd, other;
	char got[1];

	(void)state;
	harness_start(&h, 1, 10);
	fd = client_connect(&h);
	WAIT_FOR(atomic_load(&h.opens) == 1);
	net_stop_listening(h.net);
	sa.sin_port = htons(port_of(net_address(h.net)));
	other = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(other, (struct sockaddr *)&sa, sizeof(sa)), -1);
	close(other);
	send_all(fd, "x", 1); /* those that are there go on */
	recv_all(fd, got, 1);
	close(fd);
	harness_stop(&h);
}

static void stopping_closes_open_streams(void **state)
{
	struct harness h = { 0 };
	int fds[10];

	(void)state;
	harness_start(&h, 2, 100);
	for (int i = 0; i < 10; i++)
		fds[i] = client_connect(&h);
	harness_stop(&h); /* some of them perhaps not even opened */
	for (int i = 0; i < 10; i++)
		close(fds[i]);
}

struct blocker {
	struct net_post post;
	pthread_mutex_t lock; /* held by the test while the loop is to hang */
	atomic_bool inside;
};

static void block(struct net_post *item)
{
	struct blocker *b = CONTAINER_OF(item, struct blocker, post);

	atomic_store(&b->inside, true);
	pthread_mutex_lock(&b->lock);
	pthread_mutex_unlock(&b->lock);
}

static void a_loop_that_hangs_does_not_answer(void **state)
{
	struct harness h = { 0 };
	struct blocker b = { .post.fn = block, .lock = PTHREAD_MUTEX_INITIALIZER };

	(void)state;
	harness_start(&h, 3, 10);
	assert_true(net_answered(h.net));
	for (int i = 0; i < 100; i++) /* asked again and again: the item is in use once at a time */
		net_ping(h.net);
	WAIT_FOR(net_answered(h.net));
	pthread_mutex_lock(&b.lock);
	net_loop_post(&h.net->loops[1], &b.post);
	WAIT_FOR(atomic_load(&b.inside));
	net_ping(h.net);
	WAIT_FOR(!atomic_load(&h.net->loops[0].pinged) && !atomic_load(&h.net->loops[2].pinged));
	usleep(50000);
	assert_false(net_answered(h.net));
	net_ping(h.net);
	assert_false(net_answered(h.net));
	pthread_mutex_unlock(&b.lock);
	WAIT_FOR(net_answered(h.net));
	harness_stop(&h);
}

/* Counts this process's CPU time only, so that a busy machine does not matter. */
static void an_idle_net_uses_no_time(void **state)
{
	struct harness h = { 0 };
	struct timespec before, after;
	int fd;

	(void)state;
	harness_start(&h, 2, 10);
	fd = client_connect(&h);
	WAIT_FOR(atomic_load(&h.opens) == 1);
	usleep(20000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	usleep(300000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	assert_true((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec <
		    20000000L);
	close(fd);
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_understood_or_named),
		cmocka_unit_test(a_name_may_have_several_addresses),
		cmocka_unit_test(a_port_in_use_is_named),
		cmocka_unit_test(connections_above_the_maximum_can_be_told),
		cmocka_unit_test(the_peer_is_named_by_address_and_port),
		cmocka_unit_test(posts_from_many_threads_run_on_the_loop),
		cmocka_unit_test(blocking_work_runs_aside_and_reports_on_the_loop),
		cmocka_unit_test(each_reaches_every_owner),
		cmocka_unit_test(nobody_connects_after_listening_ended),
		cmocka_unit_test(stopping_closes_open_streams),
		cmocka_unit_test(a_loop_that_hangs_does_not_answer),
		cmocka_unit_test(an_idle_net_uses_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
