/* The gate as a whole, with a system store of its own in a temporary folder. */
#include "fixture.h"

#include <argon2.h>

#define LIMIT 3

static int64_t test_time;

static int64_t test_clock(void)
{
	return test_time;
}

/* Made once for all tests: each takes its time. */
static const char *hash_of(const char *password)
{
	static char secret[256], work[256];
	char *hash = strcmp(password, "secret") == 0 ? secret : work;
	struct err e;

	if (hash[0] == '\0')
		assert_int_equal(auth_hash_password(str_of(password), hash, &e), 0);
	return hash;
}

static void add_login(struct fixture *f, const char *name, const char *password, int admin, int disabled)
{
	char *sql;

	sql = sqlite3_mprintf("INSERT INTO login (name, password_hash, admin, disabled, default_database) "
			      "VALUES (%Q, %Q, %d, %d, 'StateService')",
			      name, hash_of(password), admin, disabled);
	run_sql(f, sql);
	sqlite3_free(sql);
}

static int setup(void **state)
{
	struct fixture *f = fixture_new();
	struct auth_options o = {
		.system = f->system, .fail_delay_ms = 100, .fail_limit = LIMIT, .fail_window_s = 60
	};
	struct err e;

	run_sql(f,
		"INSERT INTO permission VALUES ('Worker', 'Translation', 1), ('Worker', 'StateService', 3);");
	add_login(f, "sa", "secret", 1, 0);
	add_login(f, "Worker", "work", 0, 0);
	add_login(f, "old", "work", 0, 1);
	assert_int_equal(auth_open(&o, &f->a, &e), 0);
	test_time = 1000;
	auth_set_clock(f->a, test_clock);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_free(*state);
	return 0;
}

static enum auth_result check(struct fixture *f, const char *login, const char *password, const char *peer)
{
	struct auth_login who;

	return auth_check_password(f->a, str_of(login), str_of(password), peer, &who);
}

static void a_login_is_found_without_case_and_named_as_stored(void **state)
{
	struct fixture *f = *state;
	struct auth_login who;

	assert_int_equal(auth_check_password(f->a, STR("WORKER"), STR("work"), "192.0.2.1", &who), AUTH_OK);
	assert_string_equal(who.name, "Worker");
	assert_string_equal(who.default_database, "StateService");
	assert_false(who.admin);
	assert_int_equal(auth_check_password(f->a, STR("sa"), STR("secret"), "192.0.2.1", &who), AUTH_OK);
	assert_true(who.admin);
}

static void each_failure_has_its_name_and_costs_one_hash(void **state)
{
	struct fixture *f = *state;
	char longest[400];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(check(f, "sa", "Secret", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(check(f, "nobody", "secret", "192.0.2.2"), AUTH_NO_LOGIN);
	assert_int_equal(check(f, "old", "work", "192.0.2.3"), AUTH_DISABLED);
	assert_int_equal(check(f, "", "", "192.0.2.4"), AUTH_NO_LOGIN);
	assert_int_equal(check(f, longest, "", "192.0.2.5"), AUTH_NO_LOGIN);
	assert_int_equal(auth_hashed(f->a), 5);
}

static void a_password_that_was_right_is_not_hashed_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	assert_int_equal(check(f, "SA", "secret", "192.0.2.9"), AUTH_OK);
	assert_int_equal(auth_hashed(f->a), 1);
	assert_int_equal(check(f, "sa", "secreT", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(auth_hashed(f->a), 2);
	auth_reload(f->a);
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	assert_int_equal(auth_hashed(f->a), 3);
	test_time += AUTH_CACHE_MS;
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	assert_int_equal(auth_hashed(f->a), 4);
}

static void a_changed_password_or_disabled_login_counts_at_once(void **state)
{
	struct fixture *f = *state;
	char hash[256], *sql;
	struct err e;

	assert_int_equal(check(f, "Worker", "work", "192.0.2.1"), AUTH_OK);
	assert_int_equal(auth_hash_password(STR("other"), hash, &e), 0);
	sql = sqlite3_mprintf("UPDATE login SET password_hash = %Q WHERE name = 'worker'", hash);
	run_sql(f, sql);
	sqlite3_free(sql);
	assert_int_equal(check(f, "Worker", "work", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(check(f, "Worker", "other", "192.0.2.1"), AUTH_OK);
	run_sql(f, "UPDATE login SET disabled = 1 WHERE name = 'worker'");
	assert_int_equal(check(f, "Worker", "other", "192.0.2.1"), AUTH_DISABLED);
}

static void an_address_that_fails_too_often_waits(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 100);
	assert_int_equal(check(f, "a", "x", "192.0.2.1"), AUTH_NO_LOGIN);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 100);
	assert_int_equal(check(f, "b", "x", "192.0.2.1"), AUTH_NO_LOGIN);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 200);
	assert_int_equal(check(f, "c", "x", "192.0.2.1"), AUTH_NO_LOGIN);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 400);
	for (int i = 3; i < LIMIT * AUTH_PEER_LOGINS; i++) {
		char login[16];

		snprintf(login, sizeof(login), "l%d", i);
		assert_int_equal(check(f, login, "x", "192.0.2.1"), AUTH_NO_LOGIN);
	}
	/* One attempt a second from now on, and the right password gets in with its turn. */
	assert_int_equal(check(f, "d", "x", "192.0.2.1"), AUTH_NO_LOGIN);
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_LATER);
	assert_int_equal(auth_hashed(f->a), LIMIT * AUTH_PEER_LOGINS + 1); /* waiting costs nothing */
	test_time += 1000;
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	/* from elsewhere it is welcome */
	assert_int_equal(check(f, "sa", "secret", "192.0.2.2"), AUTH_OK);
	test_time += 2 * 60 * 1000;
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 100);
}

static void a_success_clears_the_address(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 3; round++) {
		assert_int_equal(check(f,
				       round == 0   ? "u"
				       : round == 1 ? "v"
						    : "w",
				       "x", "192.0.2.1"),
				 AUTH_NO_LOGIN);
		assert_int_equal(check(f,
				       round == 0   ? "x"
				       : round == 1 ? "y"
						    : "z",
				       "x", "192.0.2.1"),
				 AUTH_NO_LOGIN);
		assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
	}
}

/* Ten guesses, and more, from many addresses: the attack of a crowd on one login. */
static void attack(struct fixture *f, const char *login, int from, int to)
{
	char peer[32];

	for (int i = from; i < to; i++) {
		snprintf(peer, sizeof(peer), "198.51.100.%d", i);
		(void)check(f, login, "x", peer);
	}
}

static void strangers_wait_for_their_turn_at_a_login_under_attack(void **state)
{
	struct fixture *f = *state;

	attack(f, "Sa", 1, 1 + LIMIT);
	/* A turn a second, for whoever asks first; nobody is told wrong or right, and nothing is
	 * hashed, before that. */
	assert_int_equal(check(f, "sa", "x", "198.51.100.50"), AUTH_WRONG_PASSWORD);
	assert_int_equal(auth_hashed(f->a), LIMIT + 1);
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_LATER);
	assert_int_equal(check(f, "sa", "x", "203.0.113.2"), AUTH_LATER);
	assert_int_equal(auth_hashed(f->a), LIMIT + 1);
	/* Who has failed has no turn: a guess every few seconds from one address takes none from
	 * the others. */
	assert_int_equal(check(f, "sa", "secret", "198.51.100.50"), AUTH_THROTTLED);
	test_time += 1000;
	assert_int_equal(check(f, "sa", "secret", "198.51.100.50"), AUTH_THROTTLED);
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
	/* From now on it is known there, and waits for nobody. */
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
	/* Another login has no part in this. */
	assert_int_equal(check(f, "Worker", "work", "203.0.113.9"), AUTH_OK);
}

static void a_login_is_known_at_many_addresses(void **state)
{
	struct fixture *f = *state;
	char peer[32];

	for (int i = 1; i <= 40; i++) {
		snprintf(peer, sizeof(peer), "203.0.113.%d", i);
		assert_int_equal(check(f, "sa", "secret", peer), AUTH_OK);
	}
	attack(f, "sa", 1, 30);
	test_time += 20 * 60 * 1000; /* longer than passwords are remembered */
	attack(f, "sa", 1, 30);
	assert_int_equal(check(f, "sa", "secret", "192.0.2.200"), AUTH_LATER);
	for (int i = 1; i <= 40; i++) {
		snprintf(peer, sizeof(peer), "203.0.113.%d", i);
		assert_int_equal(check(f, "SA", "secret", peer), AUTH_OK);
	}
	/* A day later it is a stranger there again. */
	test_time += 25 * 60 * 60 * 1000;
	attack(f, "sa", 1, 2 + LIMIT);
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_LATER);
}

static void an_address_that_is_known_still_may_not_guess(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
	for (int i = 0; i < LIMIT; i++)
		assert_int_equal(check(f, "sa", "x", "203.0.113.1"), AUTH_WRONG_PASSWORD);
	/* One a second, and not more with what is remembered: that would tell a guesser. */
	assert_int_equal(check(f, "sa", "x", "203.0.113.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_LATER);
	test_time += 1000;
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
}

static void neighbours_behind_one_address_do_not_lock_each_other_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
	for (int i = 0; i < 10 * LIMIT; i++) {
		test_time += 1000;
		assert_int_equal(check(f, "Worker", "x", "203.0.113.1"), AUTH_WRONG_PASSWORD);
	}
	assert_int_equal(check(f, "Worker", "work", "203.0.113.1"), AUTH_LATER);
	assert_int_equal(check(f, "sa", "secret", "203.0.113.1"), AUTH_OK);
	/* Not even one that was never seen there. */
	assert_int_equal(check(f, "nobody", "x", "203.0.113.1"), AUTH_NO_LOGIN);
}

static void what_others_do_does_not_lock_this_machine_out(void **state)
{
	struct fixture *f = *state;

	attack(f, "sa", 1, 30);
	assert_int_equal(check(f, "sa", "secret", "127.0.0.1"), AUTH_OK);
	attack(f, "Worker", 40, 60);
	assert_int_equal(check(f, "Worker", "work", "[::1]"), AUTH_OK);
	/* such may be anybody's, behind a forwarder */
	assert_int_equal(check(f, "Worker", "work", "127.0.0.2"), AUTH_LATER);
}

static void an_integrated_login_makes_its_address_known(void **state)
{
	struct fixture *f = *state;

	assert_false(auth_knows_peer(f->a, "203.0.113.1"));
	auth_succeeded(f->a, "CORP\\alice", "203.0.113.1");
	assert_true(auth_knows_peer(f->a, "203.0.113.1"));
	assert_false(auth_knows_peer(f->a, "203.0.113.2"));
	assert_true(auth_peer_number(f->a, "203.0.113.1") != auth_peer_number(f->a, "203.0.113.2"));
	assert_true(auth_peer_number(f->a, "[2001:db8::1]") == auth_peer_number(f->a, "[2001:db8::2]"));
	test_time += 25 * 60 * 60 * 1000;
	assert_false(auth_knows_peer(f->a, "203.0.113.1"));
}

/* The linker gives our calls of the library to this one. */
int __real_argon2id_verify(const char *encoded, const void *pwd, size_t pwdlen);
int __wrap_argon2id_verify(const char *encoded, const void *pwd, size_t pwdlen);
static int argon2_error;

int __wrap_argon2id_verify(const char *encoded, const void *pwd, size_t pwdlen)
{
	return argon2_error != 0 ? argon2_error : __real_argon2id_verify(encoded, pwd, pwdlen);
}

static void a_password_that_cannot_be_checked_is_not_wrong(void **state)
{
	struct fixture *f = *state;

	argon2_error = ARGON2_MEMORY_ALLOCATION_ERROR;
	for (int i = 0; i < 2 * LIMIT; i++) {
		assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_ERROR);
		assert_int_equal(check(f, "nobody", "secret", "192.0.2.1"), AUTH_ERROR);
	}
	argon2_error = 0;
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 100);
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_OK);
}

/* ---- several servers ---- */

static struct auth *another(struct fixture *f)
{
	static const uint8_t key[32] = { 7 };
	struct auth_options o = { .system = f->system,
				  .fail_delay_ms = 100,
				  .fail_limit = LIMIT,
				  .fail_window_s = 60,
				  .shared_key = key };
	struct auth *a;
	struct err e;

	assert_int_equal(auth_open(&o, &a, &e), 0);
	auth_set_clock(a, test_clock);
	return a;
}

static enum auth_result try_at(struct auth *a, const char *login, const char *password, const char *peer)
{
	struct auth_login l;

	return auth_check_password(a, str_of(login), str_of(password), peer, &l);
}

/* What one has to say, to the other; gives the number of bytes. */
static size_t pass_on(struct auth *from, struct auth *to)
{
	uint8_t bytes[64 * 1024];
	size_t n = auth_take_events(from, bytes, sizeof(bytes));

	auth_give_events(to, bytes, n);
	return n;
}

static void failures_at_one_server_count_at_another(void **state)
{
	struct fixture *f = *state;
	struct auth *a = another(f), *b = another(f);

	for (int i = 0; i < LIMIT; i++)
		assert_int_equal(try_at(a, "Worker", "wrong", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(try_at(b, "Worker", "wrong", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_true(pass_on(a, b) > 0);
	assert_int_equal(try_at(b, "Worker", "wrong", "192.0.2.1"), AUTH_WRONG_PASSWORD); /* its turn */
	assert_int_equal(try_at(b, "Worker", "wrong", "192.0.2.1"), AUTH_LATER);
	assert_int_equal(pass_on(a, b), 0); /* once */
	auth_close(a);
	auth_close(b);
}

static void who_was_let_in_at_one_server_is_known_at_another(void **state)
{
	struct fixture *f = *state;
	struct auth *a = another(f), *b = another(f);

	assert_int_equal(try_at(a, "Worker", "work", "192.0.2.7"), AUTH_OK);
	assert_true(pass_on(a, b) > 0);
	assert_int_equal(try_at(a, "Worker", "work", "192.0.2.7"), AUTH_OK);
	assert_int_equal(pass_on(a, b), 0);   /* no news */
	for (int i = 0; i < 2 * LIMIT; i++) { /* an attack from elsewhere on the other server */
		test_time += 1000;
		(void)try_at(b, "Worker", "wrong", i % 2 == 0 ? "198.51.100.1" : "198.51.100.2");
	}
	assert_int_equal(try_at(b, "Worker", "wrong", "203.0.113.1"), AUTH_WRONG_PASSWORD); /* its turn */
	assert_int_equal(try_at(b, "Worker", "work", "203.0.113.2"), AUTH_LATER);
	assert_int_equal(try_at(b, "Worker", "work", "192.0.2.7"), AUTH_OK);
	auth_close(a);
	auth_close(b);
}

static void a_success_at_one_server_clears_at_another(void **state)
{
	struct fixture *f = *state;
	struct auth *a = another(f), *b = another(f);

	for (int i = 0; i < LIMIT - 1; i++)
		(void)try_at(a, "Worker", "wrong", "192.0.2.1");
	assert_int_equal(try_at(a, "Worker", "work", "192.0.2.1"), AUTH_OK);
	(void)pass_on(a, b);
	for (int i = 0; i < LIMIT - 1; i++)
		assert_int_equal(try_at(b, "Worker", "wrong", "192.0.2.1"), AUTH_WRONG_PASSWORD);
	assert_int_equal(try_at(b, "Worker", "work", "192.0.2.1"), AUTH_OK);
	auth_close(a);
	auth_close(b);
}

static void events_are_bounded_and_taken_from_anybody(void **state)
{
	struct fixture *f = *state;
	struct auth *a = another(f);
	uint8_t bytes[AUTH_EVENT_SIZE + 3] = { 'S' };

	for (unsigned i = 0; i < AUTH_OUTBOX + 100; i++)
		auth_failed(a, "192.0.2.1");
	assert_int_equal(auth_take_events(a, bytes, sizeof(bytes)), AUTH_EVENT_SIZE);
	assert_int_equal(auth_take_events(a, bytes, sizeof(bytes)), 0); /* the rest was dropped */
	auth_give_events(a, bytes, 0);
	auth_give_events(a, bytes, sizeof(bytes));
	bytes[0] = 'x';
	auth_give_events(a, bytes, sizeof(bytes));
	assert_int_equal(auth_take_events(f->a, bytes, sizeof(bytes)), 0); /* it is alone */
	auth_failed(f->a, "192.0.2.1");
	assert_int_equal(auth_take_events(f->a, bytes, sizeof(bytes)), 0);
	auth_close(a);
}

static void the_penalty_is_bounded(void **state)
{
	struct fixture *f = *state;
	struct auth_digest key;

	auth_digest(f->a->peer_key, (const struct str[]){ STR("peer"), STR("192.0.2.1") }, 2, &key);
	for (int i = 0; i < 100; i++)
		auth_throttle_add(&f->a->throttle, &key, test_time);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 2000);
}

static void rights_are_those_of_login_and_database(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(auth_rights(f->a, "worker", "TRANSLATION"), 1);
	assert_int_equal(auth_rights(f->a, "Worker", "StateService"), 3);
	assert_int_equal(auth_rights(f->a, "Worker", "WordAutomation"), 0);
	assert_int_equal(auth_rights(f->a, "sa", "WordAutomation"), 7 | RIGHT_MONITOR);
	assert_int_equal(auth_rights(f->a, "nobody", "StateService"), 0);
	assert_int_equal(auth_rights(f->a, "old", "StateService"), 0);
}

static void rights_are_kept_until_reload(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(auth_rights(f->a, "Worker", "Translation"), 1);
	run_sql(f, "UPDATE permission SET rights = 3 WHERE database = 'Translation'");
	assert_int_equal(auth_rights(f->a, "Worker", "Translation"), 1);
	auth_reload(f->a);
	assert_int_equal(auth_rights(f->a, "Worker", "Translation"), 3);
}

static void store_trouble_is_no_verdict(void **state)
{
	struct fixture *f = *state;

	run_sql(f, "DROP TABLE login");
	assert_int_equal(check(f, "sa", "secret", "192.0.2.1"), AUTH_ERROR);
	assert_int_equal(auth_rights(f->a, "sa", "StateService"), 0);
	assert_int_equal(auth_penalty_ms(f->a, "192.0.2.1"), 100);
}

static void *use_from_thread(void *arg)
{
	struct fixture *f = arg;
	int wrong = 0;

	for (int i = 0; i < 10; i++) {
		wrong += check(f, "sa", "secret", "192.0.2.1") != AUTH_OK;
		wrong += auth_rights(f->a, "Worker", "StateService") != 3;
		wrong += auth_penalty_ms(f->a, "192.0.2.1") != 100;
		if (i % 5 == 4)
			auth_reload(f->a);
	}
	return wrong == 0 ? NULL : f;
}

static void all_of_it_may_be_used_by_many_threads(void **state)
{
	pthread_t threads[4];
	void *result;

	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_from_thread, *state), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		pthread_join(threads[i], &result);
		assert_null(result);
	}
}

static void a_login_may_have_no_default_database(void **state)
{
	struct fixture *f = *state;
	struct auth_login who;

	run_sql(f, "UPDATE login SET default_database = NULL");
	assert_int_equal(auth_check_password(f->a, STR("sa"), STR("secret"), "192.0.2.1", &who), AUTH_OK);
	assert_string_equal(who.default_database, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_login_is_found_without_case_and_named_as_stored, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_failure_has_its_name_and_costs_one_hash, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_password_that_was_right_is_not_hashed_again, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_changed_password_or_disabled_login_counts_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_address_that_fails_too_often_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(a_success_clears_the_address, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers_wait_for_their_turn_at_a_login_under_attack, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_login_is_known_at_many_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_that_is_known_still_may_not_guess, setup,
						teardown),
		cmocka_unit_test_setup_teardown(neighbours_behind_one_address_do_not_lock_each_other_out,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_others_do_does_not_lock_this_machine_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_integrated_login_makes_its_address_known, setup, teardown),
		cmocka_unit_test_setup_teardown(a_password_that_cannot_be_checked_is_not_wrong, setup,
						teardown),
		cmocka_unit_test_setup_teardown(failures_at_one_server_count_at_another, setup, teardown),
		cmocka_unit_test_setup_teardown(who_was_let_in_at_one_server_is_known_at_another, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_success_at_one_server_clears_at_another, setup, teardown),
		cmocka_unit_test_setup_teardown(events_are_bounded_and_taken_from_anybody, setup, teardown),
		cmocka_unit_test_setup_teardown(the_penalty_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(rights_are_those_of_login_and_database, setup, teardown),
		cmocka_unit_test_setup_teardown(rights_are_kept_until_reload, setup, teardown),
		cmocka_unit_test_setup_teardown(all_of_it_may_be_used_by_many_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(a_login_may_have_no_default_database, setup, teardown),
		cmocka_unit_test_setup_teardown(store_trouble_is_no_verdict, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
