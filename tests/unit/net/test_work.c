/* Lanes of work: bounds, turns, cancelling. One thread serves the logins, and a first job holds
 * it until the test has filled the lanes. */
#include "net_test.h"

#include <semaphore.h>

#include "net/net_int.h"

#define JOBS 200

struct crowd {
	struct harness h;
	sem_t gate;
	atomic_int ran, done, dropped;
	int order[JOBS]; /* numbers of the jobs as they ran; written by the one thread */
};

struct job {
	struct net_work work;
	struct crowd *crowd;
	int number;
	bool was_dropped, is_done;
};

static void gate_run(struct net_work *w)
{
	sem_wait(&CONTAINER_OF(w, struct job, work)->crowd->gate);
}

static void job_run(struct net_work *w)
{
	struct job *j = CONTAINER_OF(w, struct job, work);

	j->crowd->order[atomic_fetch_add(&j->crowd->ran, 1)] = j->number;
}

static void job_done(struct net_work *w)
{
	struct job *j = CONTAINER_OF(w, struct job, work);

	j->was_dropped = w->dropped;
	j->is_done = true;
	atomic_fetch_add(&j->crowd->dropped, w->dropped);
	atomic_fetch_add(&j->crowd->done, 1);
}

static void submit(struct crowd *c, struct job *j, enum net_lane lane, uint64_t key, int number)
{
	*j = (struct job){ .work = { .run = job_run,
				     .done = job_done,
				     .loop = &c->h.net->loops[1],
				     .lane = lane,
				     .key = key },
			   .crowd = c,
			   .number = number };
	net_work_submit(c->h.net, &j->work);
}

/* The one thread has the first job, and nothing else waits. */
static void begin(struct crowd *c, struct job *first, unsigned queue)
{
	memset(c, 0, sizeof(*c));
	c->h.login_threads = 1;
	c->h.login_queue = queue;
	sem_init(&c->gate, 0, 0);
	harness_start(&c->h, 2, 10);
	*first = (struct job){ .work = { .run = gate_run,
					 .done = job_done,
					 .loop = &c->h.net->loops[1],
					 .lane = NET_LANE_KNOWN },
			       .crowd = c };
	net_work_submit(c->h.net, &first->work);
	WAIT_FOR(net_work_waiting(c->h.net, NET_LANE_KNOWN) == 0);
}

static void finish(struct crowd *c)
{
	harness_stop(&c->h);
	sem_destroy(&c->gate);
}

static void keys_take_turns(void **state)
{
	struct crowd c;
	struct job first, jobs[22];

	(void)state;
	begin(&c, &first, 0);
	for (int i = 0; i < 20; i++)
		submit(&c, &jobs[i], NET_LANE_STRANGER, 1, i);
	submit(&c, &jobs[20], NET_LANE_STRANGER, 2, 20);
	submit(&c, &jobs[21], NET_LANE_STRANGER, 3, 21);
	sem_post(&c.gate);
	WAIT_FOR(atomic_load(&c.done) == 23);
	assert_int_equal(c.order[0], 0);
	assert_int_equal(c.order[1], 20);
	assert_int_equal(c.order[2], 21);
	for (int i = 3; i < 22; i++)
		assert_int_equal(c.order[i], i - 2); /* in the order of coming */
	finish(&c);
}

static void a_full_lane_drops_the_youngest_of_whom_has_most(void **state)
{
	struct crowd c;
	struct job first, jobs[12];

	(void)state;
	begin(&c, &first, 10);
	for (int i = 0; i < 10; i++)
		submit(&c, &jobs[i], NET_LANE_STRANGER, 1, i);
	submit(&c, &jobs[10], NET_LANE_STRANGER, 2, 10);
	WAIT_FOR(atomic_load(&c.dropped) == 1);
	assert_true(jobs[9].is_done && jobs[9].was_dropped);
	submit(&c, &jobs[11], NET_LANE_STRANGER, 1, 11); /* from him who has most */
	WAIT_FOR(atomic_load(&c.dropped) == 2);
	assert_true(jobs[11].is_done && jobs[11].was_dropped);
	assert_int_equal(net_work_waiting(c.h.net, NET_LANE_STRANGER), 10);
	sem_post(&c.gate);
	WAIT_FOR(atomic_load(&c.done) == 13);
	assert_int_equal(atomic_load(&c.ran), 10);
	assert_false(jobs[10].was_dropped);
	finish(&c);
}

static void the_known_have_three_turns_of_four(void **state)
{
	struct crowd c;
	struct job first, jobs[40];
	int strangers = 0;

	(void)state;
	begin(&c, &first, 0);
	for (int i = 0; i < 20; i++)
		submit(&c, &jobs[i], NET_LANE_STRANGER, (uint64_t)i, 100);
	for (int i = 20; i < 40; i++)
		submit(&c, &jobs[i], NET_LANE_KNOWN, (uint64_t)i, 0);
	sem_post(&c.gate);
	WAIT_FOR(atomic_load(&c.done) == 41);
	for (int i = 0; i < 20; i++)
		strangers += c.order[i] == 100;
	assert_int_equal(strangers, 5);
	finish(&c);
}

static void requests_do_not_wait_for_logins(void **state)
{
	struct crowd c;
	struct job first, login, request;

	(void)state;
	begin(&c, &first, 0);
	submit(&c, &login, NET_LANE_KNOWN, 1, 1);
	submit(&c, &request, NET_LANE_REQUEST, 1, 2);
	WAIT_FOR(atomic_load(&c.done) == 1);
	assert_true(request.is_done && !login.is_done);
	sem_post(&c.gate);
	WAIT_FOR(atomic_load(&c.done) == 3);
	finish(&c);
}

/* Cancelling is for the loop's thread. */
struct cancelling {
	struct net_post post;
	struct job *job;
	sem_t done;
	bool taken_back;
};

static void cancel_here(struct net_post *item)
{
	struct cancelling *k = CONTAINER_OF(item, struct cancelling, post);

	k->taken_back = net_work_cancel(k->job->crowd->h.net, &k->job->work);
	sem_post(&k->done);
}

static bool cancel(struct job *j)
{
	struct cancelling k = { .post.fn = cancel_here, .job = j };

	sem_init(&k.done, 0, 0);
	net_loop_post(j->work.loop, &k.post);
	sem_wait(&k.done);
	sem_destroy(&k.done);
	return k.taken_back;
}

static void what_is_cancelled_in_time_never_runs(void **state)
{
	struct crowd c;
	struct job first, jobs[JOBS];
	int cancelled = 0;

	(void)state;
	begin(&c, &first, 0);
	for (int i = 0; i < JOBS; i++)
		submit(&c, &jobs[i], i % 2 == 0 ? NET_LANE_KNOWN : NET_LANE_STRANGER, (uint64_t)(i % 7), i);
	assert_false(cancel(&first)); /* it runs */
	for (int i = 0; i < JOBS; i += 3)
		cancelled += cancel(&jobs[i]);
	assert_int_equal(cancelled, (JOBS + 2) / 3);
	assert_false(cancel(&jobs[0]));
	sem_post(&c.gate);
	WAIT_FOR(atomic_load(&c.done) == 1 + JOBS - cancelled);
	assert_int_equal(atomic_load(&c.ran), JOBS - cancelled);
	for (int i = 0; i < JOBS; i++)
		assert_true(jobs[i].is_done == (i % 3 != 0));
	assert_int_equal(
		net_work_waiting(c.h.net, NET_LANE_KNOWN) + net_work_waiting(c.h.net, NET_LANE_STRANGER), 0);
	finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_take_turns),
		cmocka_unit_test(a_full_lane_drops_the_youngest_of_whom_has_most),
		cmocka_unit_test(the_known_have_three_turns_of_four),
		cmocka_unit_test(requests_do_not_wait_for_logins),
		cmocka_unit_test(what_is_cancelled_in_time_never_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
