/* Accounts above one another: what is refused changes nothing, what is given back is there
 * again, whoever asks at the same time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/budget.h"

struct family {
	struct budget server, login, session;
};

static void make(struct family *f)
{
	budget_init(&f->server, NULL, 100000);
	budget_init(&f->login, &f->server, 80000);
	budget_init(&f->session, &f->login, 60000);
}

static void expect(const struct family *f, size_t session, size_t login, size_t server)
{
	assert_int_equal(budget_used(&f->session), session);
	assert_int_equal(budget_used(&f->login), login);
	assert_int_equal(budget_used(&f->server), server);
}

static void test_each_level_refuses(void **state)
{
	struct family f;
	struct budget other;

	(void)state;
	make(&f);
	budget_init(&other, &f.login, 60000);
	assert_true(budget_take(&f.session, 60000));
	assert_false(budget_take(&f.session, 1));
	expect(&f, 60000, 60000, 60000);
	assert_false(budget_take(&other, 20001)); /* the login's */
	assert_int_equal(budget_used(&other), 0);
	assert_true(budget_take(&f.server, 40000));
	assert_false(budget_take(&other, 1)); /* the server's */
	expect(&f, 60000, 60000, 100000);
	budget_give(&f.server, 40000);
	assert_true(budget_take(&other, 20000));
	assert_false(budget_take(&f.session, SIZE_MAX)); /* does not wrap */
	budget_give(&other, 20000);
	budget_give(&f.session, 60000);
	expect(&f, 0, 0, 0);
	budget_fini(&f.session);
}

static void test_what_cannot_be_refused_counts(void **state)
{
	struct family f;

	(void)state;
	make(&f);
	budget_take_anyway(&f.session, 90000);
	expect(&f, 90000, 90000, 90000);
	assert_false(budget_take(&f.session, 1));
	assert_true(budget_take(&f.server, 10000));
	budget_give(&f.server, 10000);
	budget_give(&f.session, 90000);
	expect(&f, 0, 0, 0);
	assert_true(budget_take(NULL, SIZE_MAX));
}

static void test_an_account_moves_with_what_it_has(void **state)
{
	struct family f;
	struct budget login;

	(void)state;
	make(&f);
	budget_init(&login, &f.server, 80000);
	assert_true(budget_take(&f.session, 5000));
	budget_move(&f.session, &login);
	expect(&f, 5000, 0, 5000);
	assert_int_equal(budget_used(&login), 5000);
	budget_give(&f.session, 5000);
	assert_int_equal(budget_used(&login), 0);
}

static void test_arenas_and_buffers_ask_first(void **state)
{
	static const uint8_t bytes[50000];
	struct family f;
	struct arena a;
	struct buf b, moved;

	(void)state;
	make(&f);
	arena_init(&a, SIZE_MAX / 2);
	arena_charge(&a, &f.session);
	buf_init(&b, SIZE_MAX / 2);
	buf_charge(&b, &f.session);
	assert_non_null(arena_alloc(&a, 20000));
	assert_in_range(budget_used(&f.server), 20000, 21000);
	assert_null(arena_alloc(&a, 50000));
	buf_put(&b, bytes, 30000);
	assert_false(b.failed);
	buf_put(&b, bytes, 50000);
	assert_true(b.failed && b.denied);
	assert_int_equal(b.len, 30000);
	buf_reset(&b, SIZE_MAX);
	assert_false(b.failed || b.denied);
	moved = b; /* with what it was charged */
	buf_forget(&b);
	assert_ptr_equal(b.budget, &f.session);
	buf_fini(&moved);
	arena_reset(&a);
	arena_fini(&a);
	buf_fini(&b);
	expect(&f, 0, 0, 0);
}

/* A buffer that fails for its own bound was not denied memory. */
static void test_a_bound_is_not_a_budget(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	buf_put(&b, "0123456789a", 11);
	assert_true(b.failed && !b.denied);
	buf_fini(&b);
}

#define THREADS 4
#define ROUNDS 20000

static void *take_and_give(void *arg)
{
	struct budget *b = arg;
	uintptr_t got = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!budget_take(b, 30000))
			continue;
		got++;
		assert_true(budget_used(b) <= 60000 + THREADS * 30000);
		budget_give(b, 30000);
	}
	return (void *)got;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	struct family f;
	uintptr_t got = 0;
	void *one;

	(void)state;
	make(&f);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &f.session), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &one), 0);
		got += (uintptr_t)one;
	}
	assert_true(got > 0);
	expect(&f, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_level_refuses),
		cmocka_unit_test(test_what_cannot_be_refused_counts),
		cmocka_unit_test(test_an_account_moves_with_what_it_has),
		cmocka_unit_test(test_arenas_and_buffers_ask_first),
		cmocka_unit_test(test_a_bound_is_not_a_budget),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
