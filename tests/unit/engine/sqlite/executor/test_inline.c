/* test_inline.c — short calls that come alone: who runs them, and that the writer, which sleeps
 * meanwhile, misses nothing. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"

#define THREADS 4
#define PER_THREAD 200
/* at which the WAL is copied into the file, see engine/sqlite/store/checkpoint.c */
#define WAL_WORTH 1500
#define HANGS_MOST 3000 /* ms */

/* Flushes by others than the main thread take until this is false again. */
static atomic_bool flushes_hang;
static pthread_t main_thread;
static int flushes_here; /* by the main thread */

/* In the place of the C library's. */
int fdatasync(int fd)
{
	bool here = pthread_equal(main_thread, pthread_self()) != 0;

	for (int i = 0; !here && atomic_load(&flushes_hang) && i < HANGS_MOST; i++)
		usleep(1000);
	if (here)
		flushes_here++;
	return (int)syscall(SYS_fdatasync, fd);
}

/* As a session does that has its loop to itself. */
static void bring(struct fixture *f, struct test_call *t)
{
	if (engine_submit_quietly(&f->db, &t->call))
		engine_wake(&f->db, true);
}

static bool ran_here(const struct test_call *t)
{
	return pthread_equal(t->completed_by, pthread_self()) != 0;
}

/* True: this thread ran it. */
static bool bring_one(struct fixture *f, enum fixture_proc p, int id, int n)
{
	struct test_call t;
	bool here;

	call_init(&t, p, id, n);
	bring(f, &t);
	assert_int_equal(call_wait(&t), 0);
	assert_int_equal(t.completions, 1);
	here = ran_here(&t);
	call_fini(&t);
	return here;
}

/* Again and again until this thread runs it: the writer needs a moment to fall asleep, and on a
 * busy machine any call may take long. */
static void run_inline(struct fixture *f, enum fixture_proc p, int id)
{
	for (int i = 0; !bring_one(f, p, id + i, 1); i++) {
		assert_true(i < 10000);
		usleep(1000);
	}
}

static void a_short_call_is_run_by_who_brings_it(void **state)
{
	struct fixture *f = *state;

	fixture_start(f);
	run_inline(f, P_PUT, 0);
	run_inline(f, P_PUT, 100000);
	assert_true(count_items(f) >= 2); /* committed: a reader sees it */
}

static void a_failure_is_the_calls_own(void **state)
{
	struct fixture *f = *state;
	struct test_call t;

	fixture_start(f);
	run_inline(f, P_PUT, 100);
	do {
		call_init(&t, P_PUT, 100, 1);
		bring(f, &t);
		assert_true(call_wait(&t) < 0);
		assert_int_equal(t.call.err.number, 2627);
		call_fini(&t);
	} while (!ran_here(&t));
	run_inline(f, P_PUT, 100000);
}

static void other_calls_are_the_writers(void **state)
{
	struct fixture *f = *state;
	struct test_call two[2], large;
	struct txn *txn;

	fixture_start(f);
	run_inline(f, P_PUT, 100);
	assert_false(bring_one(f, P_BUMP, 100, 1)); /* does not say that it is short */
	run_inline(f, P_PUT, 100000);
	for (int i = 0; i < 2; i++) {
		call_init(&two[i], P_PUT, 1 + i, 1);
		if (engine_submit_quietly(&f->db, &two[i].call) && i > 0)
			fail_msg("the first one said that it wakes for both");
	}
	engine_wake(&f->db, true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(call_wait(&two[i]), 0);
		assert_false(ran_here(&two[i]));
		call_fini(&two[i]);
	}
	run_inline(f, P_PUT, 200000);
	call_init(&large, P_PUT, 3, 1);
	/* nobody reads it */
	large.values[3] = (struct value){ .type = TYPE_LEN(TYPE_VARBINARY, TYPE_MAX),
					  .u.s = { "", 3 << 20 } };
	large.call.nvalues = 4;
	bring(f, &large);
	assert_int_equal(call_wait(&large), 0);
	assert_false(ran_here(&large));
	call_fini(&large);
	txn = engine_begin(&f->db, false);
	assert_int_equal(run_in(f, txn, P_PUT, 4, 1), 0);
	call_init(&large, P_PUT, 5, 1);
	bring(f, &large);
	assert_false(call_is_done(&large)); /* waits for the transaction, as ever */
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	engine_txn_free(txn);
	assert_int_equal(call_wait(&large), 0);
	call_fini(&large);
}

static void after_a_long_one_the_writer_has_its_turn(void **state)
{
	struct fixture *f = *state;
	int64_t began;

	fixture_start(f);
	run_inline(f, P_LONG, 0);
	began = clock_mono_ms();
	assert_false(bring_one(f, P_PUT, 1, 1));
	run_inline(f, P_PUT, 100000);
	assert_true(clock_mono_ms() - began >= 900);
}

/* Somebody else has the database, as a backup has it for a moment. The thread that brings a call
 * does not wait for that. */
static void another_process_is_left_to_the_writer(void **state)
{
	struct fixture *f = *state;
	struct store_conn *other;
	struct test_call t;

	fixture_start(f);
	run_inline(f, P_PUT, 0);
	if (store_connect(f->store, false, &other, &f->err) < 0 || store_begin(other, &f->err) < 0)
		fail_msg("%s", f->err.text);
	usleep(20000); /* the writer falls asleep */
	call_init(&t, P_PUT, 500000, 1);
	/* comes back: else it would wait for what only this thread can end */
	bring(f, &t);
	assert_false(call_is_done(&t));
	store_rollback(other);
	store_disconnect(other);
	assert_int_equal(call_wait(&t), 0);
	assert_int_equal(t.completions, 1);
	assert_false(ran_here(&t));
	call_fini(&t);
}

/* Who looks at all databases as of one moment waits, with the lock that commits share, for those
 * of other databases that are being flushed. */
static void who_copies_all_is_left_to_the_writer(void **state)
{
	struct fixture *f = *state;
	struct test_call t;

	fixture_start(f);
	run_inline(f, P_PUT, 0);
	assert_int_equal(pthread_rwlock_wrlock(&f->commits), 0);
	usleep(20000); /* the writer falls asleep */
	call_init(&t, P_PUT, 500000, 1);
	bring(f, &t);
	assert_false(call_is_done(&t));
	pthread_rwlock_unlock(&f->commits);
	assert_int_equal(call_wait(&t), 0);
	assert_int_equal(t.completions, 1);
	assert_false(ran_here(&t));
	call_fini(&t);
	run_inline(f, P_PUT, 600000);
	/* nothing of it is kept */
	assert_int_equal(pthread_rwlock_trywrlock(&f->commits), 0);
	pthread_rwlock_unlock(&f->commits);
}

/* The writer would wait for the flusher: with an interval of nothing, each flush is late. */
static void a_late_flush_is_made_by_who_brings_the_call(void **state)
{
	struct fixture *f = *state;
	bool here = false;

	f->options.relaxed = true;
	fixture_start(f);
	run_inline(f, P_PUT, 0);
	for (int i = 0; !here; i++) {
		struct test_call t;
		int before = flushes_here;

		assert_true(i < 10000);
		call_init(&t, P_PUT, 500000 + i, 1);
		atomic_store(&flushes_hang, true);
		bring(f, &t);
		here = call_is_done(&t) && ran_here(&t);
		atomic_store(&flushes_hang, false);
		assert_int_equal(call_wait(&t), 0);
		assert_int_equal(flushes_here - before, here);
		call_fini(&t);
		usleep(here ? 0 : 1000);
	}
}

/* When the engine gives a transaction up, each of the others has one of its own: that is the
 * writer's, which may wait. */
static void a_transaction_that_is_lost_is_left_to_the_writer(void **state)
{
	static const enum fixture_proc kinds[] = { P_RENEW, P_LOSE, P_RENEW };
	struct fixture *f = *state;
	bool here = false;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	for (int round = 0; !here; round++) {       /* until the one that loses it is run by this thread */
		struct test_call t[3];
		bool wake = false;

		assert_true(round < 1000);
		run_inline(f, P_RENEW, 1);
		for (int i = 0; i < 3; i++) {
			call_init(&t[i], kinds[i], 1, 5 + i);
			wake |= engine_submit_quietly(&f->db, &t[i].call);
		}
		if (wake)
			engine_wake(&f->db, false);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(call_wait(&t[i]), i == 1 ? -1 : 0);
			assert_int_equal(t[i].completions, 1);
		}
		here = ran_here(&t[1]);
		assert_false(ran_here(&t[0]) || ran_here(&t[2]));
		assert_int_equal(t[1].call.err.number, 2627);
		for (int i = 0; i < 3; i++)
			call_fini(&t[i]);
		assert_int_equal(number_of(f, P_LARGEST), 7);
	}
}

struct worker {
	struct fixture *f;
	int base;
};

static void *bring_many(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < PER_THREAD; i++)
		(void)bring_one(w->f, i % 8 == 7 ? P_COUNT : P_PUT, w->base + i, 1);
	return NULL;
}

/* Each claims to be alone, as loops with one connection each do; now and then somebody runs
 * calls inline while others submit. How many run where depends on how busy the machine is; the
 * other tests see to each way. */
static void many_at_once_lose_nothing(void **state)
{
	struct fixture *f = *state;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	fixture_start(f);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .f = f, .base = i * PER_THREAD };
		assert_int_equal(pthread_create(&threads[i], NULL, bring_many, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(count_items(f), THREADS * PER_THREAD / 8 * 7);
}

/* The largest n; *ret_here: this thread read it. */
static int64_t look(struct fixture *f, bool *ret_here)
{
	struct test_call t;
	int64_t n;

	call_init(&t, P_LOOK, 0, 0);
	bring(f, &t);
	assert_int_equal(call_wait(&t), 0);
	*ret_here = ran_here(&t);
	n = t.values[2].u.i;
	call_fini(&t);
	return n;
}

/* Again and again until this thread reads it: on a busy machine any call may take long, and then
 * none is run inline for a while. */
static int64_t look_here(struct fixture *f)
{
	bool here;
	int64_t n = look(f, &here);

	for (int i = 0; !here; i++) {
		assert_true(i < 10000);
		usleep(1000);
		n = look(f, &here);
	}
	return n;
}

static void a_short_read_is_run_by_who_brings_it_whatever_the_writer_does(void **state)
{
	struct fixture *f = *state;
	struct txn *txn;

	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 7), 0);
	assert_int_equal(look_here(f), 7);
	txn = engine_begin(&f->db, false);
	assert_int_equal(run_in(f, txn, P_PUT, 2, 8), 0);
	/* the transaction has the writer, and is not committed */
	assert_int_equal(look_here(f), 7);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	engine_txn_free(txn);
	assert_int_equal(look_here(f), 8);
}

static void a_short_read_sees_what_is_held(void **state)
{
	struct fixture *f = *state;
	bool here;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	assert_int_equal(run(f, P_RENEW, 1, 3), 0); /* answered, and not committed yet */
	assert_int_equal(look(f, &here), 3);
	assert_false(here);
	assert_int_equal(look_here(f), 3);
}

static void *look_often(void *f)
{
	int64_t last = 0, n;
	bool here;

	for (int i = 0; i < PER_THREAD; i++, last = n) {
		n = look(f, &here);
		assert_true(n >= last);
	}
	return NULL;
}

/* More than there are connections for. */
static void many_read_at_once(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[12];

	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 0), 0);
	for (int i = 0; i < 12; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_often, f), 0);
	for (int i = 1; i < 50; i++)
		assert_int_equal(run(f, P_PUT, 1 + i, i), 0);
	for (int i = 0; i < 12; i++)
		pthread_join(threads[i], NULL);
}

/* Several calls at once, from a thread that has others to serve. Gives how many of them it ran. */
static int bring_together(struct fixture *f, const enum fixture_proc *procs_of, int n, int value)
{
	struct test_call t[8];
	bool wake = false;
	int here = 0;

	for (int i = 0; i < n; i++) {
		call_init(&t[i], procs_of[i], procs_of[i] == P_RENEW ? 1 : value + i, value);
		wake |= engine_submit_quietly(&f->db, &t[i].call);
	}
	if (wake)
		engine_wake(&f->db, false);
	for (int i = 0; i < n; i++) {
		assert_int_equal(call_wait(&t[i]), 0);
		here += ran_here(&t[i]);
		call_fini(&t[i]);
	}
	return here;
}

static void renewals_are_run_by_who_brings_them(void **state)
{
	static const enum fixture_proc renewals[] = { P_RENEW, P_RENEW, P_RENEW },
				       mixed[] = { P_RENEW, P_PUT, P_RENEW };
	struct fixture *f = *state;
	int i = 0;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	while (bring_together(f, renewals, 3, 5) < 3) {
		assert_true(i++ < 10000); /* the writer needs a moment to fall asleep */
		usleep(1000);
	}
	assert_int_equal(number_of(f, P_LARGEST), 5);
	for (i = 0; i < 20; i++) {
		usleep(2000);
		/* one wants its flush: that is the writer's */
		assert_int_equal(bring_together(f, mixed, 3, 100 + 10 * i), 0);
	}
}

/* As many as may be held are committed soon, by the writer. */
static void renewals_run_inline_leave_their_commit_to_the_writer(void **state)
{
	struct fixture *f = *state;
	unsigned before;
	int here = 0;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	before = store_wal_waiting(f->store);
	for (int i = 0; i < 300; i++)
		here += bring_together(f, (const enum fixture_proc[]){ P_RENEW }, 1, i);
	assert_true(here > 0);
	for (int i = 0; store_wal_waiting(f->store) == before; i++) {
		assert_true(i < 200); /* not after five seconds only */
		usleep(10000);
	}
}

static void *bring_a_long_one(void *f)
{
	run_inline(f, P_LONG, 0);
	return NULL;
}

/* Those who submit meanwhile wake nobody: the writer is not what they would have to wait for. */
static void what_comes_meanwhile_is_done_afterwards(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	fixture_start(f);
	run_inline(f, P_PUT, 0);
	assert_int_equal(pthread_create(&thread, NULL, bring_a_long_one, f), 0);
	usleep(10000);
	assert_int_equal(run(f, P_BUMP, 0, 1), 0);
	pthread_join(thread, NULL);
}

/* A reader does wake it, to commit what is held; it must not do so while the call runs that
 * holds it. */
static void the_writer_waits_for_what_runs_inline(void **state)
{
	struct fixture *f = *state;
	pthread_t thread;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	run_inline(f, P_RENEW, 1);
	assert_int_equal(pthread_create(&thread, NULL, bring_a_long_one, f), 0);
	usleep(10000);
	assert_int_equal(run(f, P_COUNT, 0, 0), 0);
	pthread_join(thread, NULL);
}

/* The writer fell asleep when nothing was held, without a time to wake. */
static void what_is_held_is_committed_in_time(void **state)
{
	struct fixture *f = *state;
	unsigned before = 0;
	bool here = false;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(run(f, P_RENEW, 1, 2), 0); /* makes the promise */
	for (int i = 2; !here; i++) {
		/* a reader wakes the writer, and what is held is committed */
		assert_int_equal(number_of(f, P_LARGEST), i);
		usleep(50000);
		before = store_wal_waiting(f->store);
		here = bring_one(f, P_RENEW, 1, i + 1);
	}
	assert_int_equal(store_wal_waiting(f->store), before);
	for (int i = 0; store_wal_waiting(f->store) == before; i++) {
		assert_true(i < 100); /* they are held for five seconds */
		usleep(100000);
	}
	run_inline(f, P_RENEW, 1);
	assert_int_equal(number_of(f, P_LARGEST), 1);
}

static void the_wal_is_checkpointed_though_the_writer_sleeps(void **state)
{
	struct fixture *f = *state;
	unsigned most = 0, waiting = 0;

	fixture_start(f);
	for (int i = 0; waiting >= most / 4; i++) {
		assert_true(i < 3000);
		bring_one(f, P_FILL, 0, 0);
		usleep(1000); /* the checkpointer has the time that it needs */
		waiting = store_wal_waiting(f->store);
		most = waiting > most ? waiting : most;
	}
	assert_true(most >= WAL_WORTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_short_call_is_run_by_who_brings_it, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_short_read_is_run_by_who_brings_it_whatever_the_writer_does,
						fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_short_read_sees_what_is_held, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(many_read_at_once, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(renewals_are_run_by_who_brings_them, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(renewals_run_inline_leave_their_commit_to_the_writer,
						fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_failure_is_the_calls_own, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(other_calls_are_the_writers, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(after_a_long_one_the_writer_has_its_turn, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(another_process_is_left_to_the_writer, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(who_copies_all_is_left_to_the_writer, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_late_flush_is_made_by_who_brings_the_call, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_transaction_that_is_lost_is_left_to_the_writer, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(many_at_once_lose_nothing, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(what_comes_meanwhile_is_done_afterwards, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(the_writer_waits_for_what_runs_inline, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(what_is_held_is_committed_in_time, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(the_wal_is_checkpointed_though_the_writer_sleeps, fixture_up,
						fixture_down),
	};

	main_thread = pthread_self();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
