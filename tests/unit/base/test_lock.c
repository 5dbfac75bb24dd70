/* test_lock.c — a lock is its holder's and nobody else's, also around a wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"

struct shared {
	struct lock lock;
	pthread_cond_t cond;
	bool asked, mine_before, mine_inside, mine_after;
};

static void setup(struct shared *s)
{
	*s = (struct shared){ .asked = false };
	lock_init(&s->lock);
	lock_cond_init(&s->cond);
}

static void teardown(struct shared *s)
{
	pthread_cond_destroy(&s->cond);
	lock_fini(&s->lock);
}

static void *answer(void *arg)
{
	struct shared *s = arg;

	s->mine_before = lock_is_mine(&s->lock);
	lock_take(&s->lock);
	s->mine_inside = lock_is_mine(&s->lock);
	s->asked = true;
	pthread_cond_signal(&s->cond);
	lock_give(&s->lock);
	s->mine_after = lock_is_mine(&s->lock);
	return NULL;
}

static void who_has_it_is_known_to_holder_and_others(void **state)
{
	struct shared s;
	pthread_t t;

	(void)state;
	setup(&s);
	assert_false(lock_is_mine(&s.lock));
	lock_take(&s.lock);
	assert_true(lock_is_mine(&s.lock));
	assert_int_equal(thread_start(&t, answer, &s), 0);
	while (!s.asked)
		lock_wait(&s.lock, &s.cond);
	assert_true(lock_is_mine(&s.lock));
	lock_give(&s.lock);
	assert_false(lock_is_mine(&s.lock));
	pthread_join(t, NULL);
	assert_false(s.mine_before);
	assert_true(s.mine_inside);
	assert_false(s.mine_after);
	teardown(&s);
}

static void a_wait_ends_with_its_time(void **state)
{
	struct shared s;
	int64_t until = clock_mono_ms() + 20;
	bool in_time = true;

	(void)state;
	setup(&s);
	lock_take(&s.lock);
	while (in_time)
		in_time = lock_wait_until(&s.lock, &s.cond, until);
	assert_true(clock_mono_ms() >= until);
	assert_true(lock_is_mine(&s.lock));
	lock_give(&s.lock);
	teardown(&s);
}

static void a_wait_without_a_time_ends_when_it_is_told(void **state)
{
	struct shared s;
	pthread_t t;

	(void)state;
	setup(&s);
	lock_take(&s.lock);
	assert_int_equal(thread_start(&t, answer, &s), 0);
	while (!s.asked)
		assert_true(lock_wait_until(&s.lock, &s.cond, LOCK_NEVER));
	lock_give(&s.lock);
	pthread_join(t, NULL);
	teardown(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(who_has_it_is_known_to_holder_and_others),
					    cmocka_unit_test(a_wait_ends_with_its_time),
					    cmocka_unit_test(a_wait_without_a_time_ends_when_it_is_told) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
