/* test_gate.c — the way into a database that is moved: what waits, where it goes on, and that every
 * call is counted out again. The engine behind it is a list of the calls that it got. What happens
 * while a gate is being shut is done by stop(), which the gate asks between two looks. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "engine/gate.h"
#include "engine/implement.h"

#define CALLS 16
#define SOON_MS 20
#define LONG_MS 20000

struct place {
	struct engine_database base;
	bool keeps; /* calls stay until the test ends them */
	struct call *got[CALLS];
	size_t n, cancelled;
	atomic_uint all; /* of several threads: that many came */
};

struct place_txn {
	struct txn base;
	bool lost;
};

struct one {
	struct call call;
	atomic_uint completed;
};

struct fixture {
	struct engine engine;
	struct place here, there;
	unsigned txns; /* that are not freed */
	struct one calls[CALLS];
	size_t ncalls;
	/* for stop(): its step, and what it works with */
	unsigned looks;
	struct txn *txn;
};
static struct fixture *fixture;

/* ---- the engine ---- */

static struct place *place_of(struct engine_database *db)
{
	return CONTAINER_OF(db, struct place, base);
}

static void end_call(struct call *c)
{
	engine_call_succeed(c);
	engine_call_complete(c);
}

static bool take_call(struct engine_database *db, struct call *c)
{
	struct place *p = place_of(db);

	if (p->n < CALLS)
		p->got[p->n++] = c;
	if (!p->keeps)
		end_call(c);
	return false;
}

static bool count_call(struct engine_database *db, struct call *c)
{
	atomic_fetch_add(&place_of(db)->all, 1);
	end_call(c);
	return false;
}

static void note_cancel(struct engine_database *db, struct call *c)
{
	assert_true(list_empty(&c->link)); /* the engine would take it out of a queue of its own */
	place_of(db)->cancelled++;
}

static struct txn *begin_txn(struct engine_database *db, bool snapshot)
{
	struct place_txn *t = calloc(1, sizeof(*t));

	t->base.database = db;
	t->base.snapshot = snapshot;
	fixture->txns++;
	return &t->base;
}

static bool is_lost(struct txn *t, struct err *ret)
{
	struct place_txn *p = CONTAINER_OF(t, struct place_txn, base);

	if (p->lost)
		*ret = (struct err){ .number = 1222 };
	return p->lost;
}

static void free_txn(struct txn *t)
{
	fixture->txns--;
	free(CONTAINER_OF(t, struct place_txn, base));
}

static const struct engine_ops ops = { .submit = take_call,
				       .cancel = note_cancel,
				       .begin = begin_txn,
				       .txn_is_lost = is_lost,
				       .txn_free = free_txn };
static const struct engine_ops quick = { .submit = count_call };

/* ---- calls ---- */

static void completed(struct call *c)
{
	atomic_fetch_add(&CONTAINER_OF(c, struct one, call)->completed, 1);
}

static void make_call(struct one *o, struct txn *t)
{
	call_begin(&o->call, CALL_PROC);
	o->call.proc = &catalogue_service_procs[SERVICE_STATE].procs[0];
	o->call.complete = completed;
	o->call.txn = t;
}

static struct one *submit(struct fixture *f, struct place *p, struct txn *t)
{
	struct one *o = &f->calls[f->ncalls++];

	assert_true(f->ncalls <= CALLS);
	make_call(o, t);
	engine_submit(&p->base, &o->call);
	return o;
}

static int64_t in_ms(int64_t ms)
{
	return clock_mono_ms() + ms;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static bool at_once(void *arg)
{
	(void)arg;
	return true;
}

static void shut(struct place *p)
{
	assert_true(engine_gate_narrow(&p->base, in_ms(LONG_MS), never, NULL));
	assert_true(engine_gate_shut(&p->base, in_ms(LONG_MS), never, NULL));
}

static bool is_open(struct place *p)
{
	return atomic_load(&p->base.gate.state) == GATE_OPEN;
}

static void assert_got(const struct place *p, struct one *const *list, size_t n)
{
	assert_int_equal(p->n, n);
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(p->got[i], &list[i]->call);
}

static int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->engine.ops = &ops;
	engine_database_init(&f->here.base, &f->engine, "here", SERVICE_STATE, false);
	engine_database_init(&f->there.base, &f->engine, "there", SERVICE_STATE, false);
	*state = fixture = f;
	return 0;
}

/* Every call has ended once, and nothing is counted any more. */
static int down(void **state)
{
	struct fixture *f = *state;
	int rc = f->txns == 0 && atomic_load(&f->here.base.gate.inside) == 0 &&
				 atomic_load(&f->there.base.gate.inside) == 0
			 ? 0
			 : -1;

	for (size_t i = 0; i < f->ncalls; i++)
		rc = f->calls[i].completed == 1 ? rc : -1;
	engine_database_fini(&f->here.base);
	engine_database_fini(&f->there.base);
	free(f);
	return rc;
}

/* ---- what waits ---- */

static void what_comes_while_it_is_shut_goes_on_here(void **state)
{
	struct fixture *f = *state;
	struct one *c[3];

	shut(&f->here);
	for (size_t i = 0; i < ARRAY_LEN(c); i++)
		c[i] = submit(f, &f->here, NULL);
	assert_int_equal(f->here.n, 0);
	engine_gate_open(&f->here.base);
	assert_got(&f->here, c, ARRAY_LEN(c));
}

static void what_comes_while_it_is_shut_goes_on_there(void **state)
{
	struct fixture *f = *state;
	struct one *c[4];

	shut(&f->here);
	for (size_t i = 0; i < 3; i++)
		c[i] = submit(f, &f->here, NULL);
	engine_gate_lead(&f->here.base, &f->there.base);
	c[3] = submit(f, &f->here, NULL); /* and so does what comes later */
	assert_int_equal(f->here.n, 0);
	assert_got(&f->there, c, ARRAY_LEN(c));
	assert_ptr_equal(engine_follow(&f->here.base), &f->there.base);
}

static void a_narrow_gate_lets_calls_pass_but_no_new_transaction(void **state)
{
	struct fixture *f = *state;
	struct txn *t = engine_begin(&f->here.base, false);
	struct one *c[2];

	assert_true(engine_gate_narrow(&f->here.base, in_ms(LONG_MS), never, NULL));
	c[1] = submit(f, &f->here, t);
	c[0] = submit(f, &f->here, NULL);
	assert_got(&f->here, c, 1);
	engine_gate_open(&f->here.base);
	assert_got(&f->here, c, 2);
	engine_txn_free(t);
}

static void it_moves_there_and_on(void **state)
{
	struct fixture *f = *state;
	struct place third = { .keeps = false };
	struct one *c[2];

	engine_database_init(&third.base, &f->engine, "third", SERVICE_STATE, false);
	shut(&f->here);
	c[0] = submit(f, &f->here, NULL);
	shut(&f->there);
	engine_gate_lead(&f->here.base, &f->there.base); /* from one wait into the next */
	c[1] = submit(f, &f->here, NULL);
	assert_int_equal(f->there.n, 0);
	engine_gate_lead(&f->there.base, &third.base);
	assert_got(&third, c, 2);
	engine_database_fini(&third.base);
}

/* ---- transactions ---- */

/* A call of a transaction that has begun passes; the gate is waited for until that one ends. */
static bool go_on_then_end(void *arg)
{
	struct fixture *f = arg;

	if (f->looks++ == 0) {
		struct one *o = submit(f, &f->here, f->txn);

		assert_int_equal(o->completed, 1);
		assert_false(is_open(&f->here));
	} else if (f->txn != NULL) {
		engine_txn_free(f->txn);
		f->txn = NULL;
	}
	return false;
}

static void one_that_has_begun_is_waited_for(void **state)
{
	struct fixture *f = *state;

	f->txn = engine_begin(&f->here.base, false);
	(void)submit(f, &f->here, f->txn);
	assert_true(engine_gate_narrow(&f->here.base, in_ms(LONG_MS), go_on_then_end, f));
	assert_true(f->looks >= 2 && f->txn == NULL);
	assert_true(engine_gate_shut(&f->here.base, in_ms(LONG_MS), never, NULL));
	engine_gate_open(&f->here.base);
}

static void one_that_has_only_begun_goes_on_there(void **state)
{
	struct fixture *f = *state;
	struct txn *t = engine_begin(&f->here.base, true);
	struct one *c[3];

	shut(&f->here);
	c[0] = submit(f, &f->here, t);
	assert_ptr_equal(engine_txn_database(t), &f->here.base);
	engine_gate_lead(&f->here.base, &f->there.base);
	/* there it has begun: nobody can shut that gate */
	assert_false(engine_gate_narrow(&f->there.base, in_ms(SOON_MS), never, NULL));
	c[1] = submit(f, &f->here, t);
	c[2] = submit(f, &f->there, t);
	assert_got(&f->there, c, ARRAY_LEN(c));
	assert_ptr_equal(engine_txn_database(t), &f->there.base);
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		assert_ptr_equal(c[i]->call.txn->database, &f->there.base);
		assert_true(c[i]->call.txn->snapshot);
	}
	assert_int_equal(f->txns, 2);
	engine_txn_free(t);
	shut(&f->there);
	engine_gate_open(&f->there.base);
}

static void one_that_is_lost_keeps_nobody_waiting(void **state)
{
	struct fixture *f = *state;
	struct txn *t = engine_begin(&f->here.base, false);
	struct one *c;

	(void)submit(f, &f->here, t);
	CONTAINER_OF(t, struct place_txn, base)->lost = true;
	shut(&f->here);
	engine_gate_lead(&f->here.base, &f->there.base);
	c = submit(f, &f->here, t);
	assert_int_equal(f->there.n, 0);
	assert_true(c->completed == 1 && c->call.rc == -1 && c->call.txn_lost && c->call.err.number == 1222);
	engine_txn_free(t);
}

/* ---- cancelling ---- */

static void a_call_that_waits_is_cancelled(void **state)
{
	struct fixture *f = *state;
	struct one *c[3];

	shut(&f->here);
	for (size_t i = 0; i < ARRAY_LEN(c); i++)
		c[i] = submit(f, &f->here, NULL);
	engine_cancel(&f->here.base, &c[1]->call);
	assert_true(c[1]->completed == 1 && c[1]->call.rc == -1 && err_is(&c[1]->call.err, ERR_CANCELLED));
	engine_gate_open(&f->here.base);
	c[1] = c[2];
	assert_got(&f->here, c, 2);
}

/* Its owner only knows the database that it gave it to. */
static void a_call_is_cancelled_wherever_it_is(void **state)
{
	struct fixture *f = *state;
	struct one *runs, *waits;

	f->there.keeps = true;
	shut(&f->here);
	runs = submit(f, &f->here, NULL);
	engine_gate_lead(&f->here.base, &f->there.base);
	engine_cancel(&f->here.base, &runs->call);
	assert_int_equal(f->there.cancelled, 1);
	end_call(&runs->call);
	shut(&f->there);
	waits = submit(f, &f->here, NULL);
	engine_cancel(&f->here.base, &waits->call);
	assert_int_equal(waits->completed, 1);
	assert_int_equal(f->there.cancelled, 1);
	engine_gate_open(&f->there.base);
	assert_int_equal(f->there.n, 1);
}

/* ---- not now ---- */

static void too_long_a_transaction_leaves_it_open(void **state)
{
	struct fixture *f = *state;
	struct txn *t = engine_begin(&f->here.base, false);

	(void)submit(f, &f->here, t);
	assert_false(engine_gate_narrow(&f->here.base, in_ms(SOON_MS), never, NULL));
	assert_true(is_open(&f->here));
	assert_false(engine_gate_narrow(&f->here.base, in_ms(LONG_MS), at_once, NULL));
	assert_true(is_open(&f->here));
	engine_txn_free(t);
}

static bool submit_one_more(void *arg)
{
	struct fixture *f = arg;

	if (f->looks++ == 0)
		(void)submit(f, &f->here, NULL);
	return false;
}

static void too_long_a_call_leaves_it_open(void **state)
{
	struct fixture *f = *state;
	struct one *c[2];

	f->here.keeps = true;
	c[0] = submit(f, &f->here, NULL);
	assert_true(engine_gate_narrow(&f->here.base, in_ms(LONG_MS), never, NULL));
	assert_false(engine_gate_shut(&f->here.base, in_ms(SOON_MS), submit_one_more, f));
	assert_true(is_open(&f->here));
	c[1] = &f->calls[1]; /* what waited meanwhile goes on */
	assert_got(&f->here, c, 2);
	for (size_t i = 0; i < ARRAY_LEN(c); i++)
		end_call(&c[i]->call);
	shut(&f->here);
	engine_gate_open(&f->here.base);
}

/* ---- from many threads ---- */

#define THREADS 4
#define EACH 3000

static void *call_again_and_again(void *arg)
{
	struct fixture *f = arg;
	struct one o = { .completed = 0 };

	for (unsigned i = 0; i < EACH; i++) {
		make_call(&o, NULL);
		engine_submit(&f->here.base, &o.call);
		while (atomic_load(&o.completed) == i)
			sched_yield();
	}
	return NULL;
}

/* Nothing is in the engine while it is shut; each call is done once, here or there. */
static void no_call_slips_through(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[THREADS];
	unsigned before;

	f->here.base.ops = f->there.base.ops = &quick;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_again_and_again, f), 0);
	for (unsigned i = 0; i < 20; i++) {
		shut(&f->here);
		before = atomic_load(&f->here.all);
		sched_yield();
		assert_int_equal(atomic_load(&f->here.all), before);
		engine_gate_open(&f->here.base);
	}
	shut(&f->here);
	before = atomic_load(&f->here.all);
	engine_gate_lead(&f->here.base, &f->there.base);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&f->here.all), before);
	assert_int_equal(atomic_load(&f->there.all) + before, THREADS * EACH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_comes_while_it_is_shut_goes_on_here),
		TEST(what_comes_while_it_is_shut_goes_on_there),
		TEST(a_narrow_gate_lets_calls_pass_but_no_new_transaction),
		TEST(it_moves_there_and_on),
		TEST(one_that_has_begun_is_waited_for),
		TEST(one_that_has_only_begun_goes_on_there),
		TEST(one_that_is_lost_keeps_nobody_waiting),
		TEST(a_call_that_waits_is_cancelled),
		TEST(a_call_is_cancelled_wherever_it_is),
		TEST(too_long_a_transaction_leaves_it_open),
		TEST(too_long_a_call_leaves_it_open),
		TEST(no_call_slips_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
