/* LIKE, GLOB, instr and replace: the same answers as SQLite's own, on many small cases. They and
 * those of T-SQL can be interrupted. What T-SQL's compute:
 * tests/behaviour/queries/test_queries_functions.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "engine/sqlite/store/store_int.h"

static sqlite3 *theirs;
static struct store_conn ours;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &theirs), SQLITE_OK);
	assert_int_equal(sqlite3_open(":memory:", &ours.db), SQLITE_OK);
	return store_match_functions(&ours) != SQLITE_OK || store_tsql_functions(&ours) != SQLITE_OK;
}

static int teardown(void **state)
{
	(void)state;
	sqlite3_close(theirs);
	sqlite3_close(ours.db);
	return 0;
}

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

/* Of characters, so that none is torn. */
static void fill(char *dst, size_t most, const char *const *letters, uint32_t n)
{
	size_t count = random_below((uint32_t)most + 1), at = 0;

	for (size_t i = 0; i < count; i++) {
		const char *letter = letters[random_below(n)];

		memcpy(dst + at, letter, strlen(letter));
		at += strlen(letter);
	}
	dst[at] = '\0';
}

static void answer(sqlite3 *db, sqlite3_stmt *st, const char *a, const char *b, const char *c, char *dst,
		   size_t size)
{
	const char *args[] = { a, b, c };
	int rc;

	sqlite3_reset(st);
	for (int i = 0; i < sqlite3_bind_parameter_count(st); i++)
		sqlite3_bind_text(st, i + 1, args[i], -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		snprintf(dst, size, "%d %s", sqlite3_column_type(st, 0),
			 sqlite3_column_type(st, 0) == SQLITE_NULL
				 ? ""
				 : (const char *)sqlite3_column_text(st, 0));
	else
		snprintf(dst, size, "%d %s", rc, sqlite3_errmsg(db));
}

static void compare(const char *sql, const char *const *texts, uint32_t ntexts, const char *const *patterns,
		    uint32_t npatterns)
{
	sqlite3_stmt *x, *y;

	assert_int_equal(sqlite3_prepare_v2(theirs, sql, -1, &x, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(ours.db, sql, -1, &y, NULL), SQLITE_OK);
	for (int i = 0; i < 60000; i++) {
		char text[64], pattern[64], third[64], a[400], b[400];

		fill(text, 8, texts, ntexts);
		fill(pattern, 8, patterns, npatterns);
		fill(third, 1, patterns, npatterns);
		answer(theirs, x, text, pattern, third, a, sizeof(a));
		answer(ours.db, y, text, pattern, third, b, sizeof(b));
		if (strcmp(a, b) != 0)
			fail_msg("%s of '%s', '%s', '%s': %s, not %s", sql, text, pattern, third, b, a);
	}
	sqlite3_finalize(x);
	sqlite3_finalize(y);
}

static void same_as_sqlite(void **state)
{
	static const char *const letters[] = { "a", "b", "B", "c", "ä", "€", "%", "*", "]" };
	static const char *const like[] = { "a", "b", "B", "ä", "€", "%", "%", "%", "_", "\\" };
	static const char *const glob[] = { "a", "b", "c", "ä", "*", "*", "?", "[", "]", "^", "-" };

	(void)state;
	compare("SELECT ?1 LIKE ?2", letters, 9, like, 10);
	compare("SELECT ?1 LIKE ?2 ESCAPE '\\'", letters, 9, like, 10);
	compare("SELECT ?1 LIKE ?2 ESCAPE ?3", letters, 9, like, 10);
	compare("SELECT ?1 GLOB ?2", letters, 9, glob, 11);
	compare("SELECT instr(?1, ?2)", letters, 4, letters, 5);
	compare("SELECT replace(?1, ?2, ?3)", letters, 4, letters, 4);
	compare("SELECT instr(CAST(?1 AS BLOB), CAST(?2 AS BLOB)), instr(1, ?2), instr(NULL, ?1)", letters, 4,
		letters, 4);
	compare("SELECT replace(?1, '', ?2), ?1 LIKE NULL, 12 LIKE 1", letters, 4, letters, 4);
}

static bool yes(void *arg)
{
	++*(int *)arg;
	return true;
}

static int run(const char *sql)
{
	sqlite3_stmt *st;
	int rc;

	assert_int_equal(sqlite3_prepare_v2(ours.db, sql, -1, &st, NULL), SQLITE_OK);
	rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc;
}

static void can_be_interrupted(void **state)
{
	static const char *const texts[] = {
		"SELECT replace(hex(zeroblob(4000000)), '0', 'a') LIKE '%' || replace(hex(zeroblob(3900)), "
		"'0', 'a') || 'b%'",
		"SELECT replace(hex(zeroblob(4000000)), '0', 'a') GLOB '*' || replace(hex(zeroblob(3900)), "
		"'0', 'a') || 'b*'",
		"SELECT instr(hex(zeroblob(4000000)), '01')",
		"SELECT replace(hex(zeroblob(4000000)), '00', '1')",
		"SELECT tsql_like(replace(hex(zeroblob(4000000)), '0', 'a'), '%' || "
		"replace(hex(zeroblob(3900)), '0', 'a') || 'b%')",
		"SELECT tsql_charindex('01', hex(zeroblob(4000000)))",
		"SELECT tsql_replace(hex(zeroblob(4000000)), '00', '1')",
	};
	int asked = 0;

	(void)state;
	ours.stop = yes;
	ours.stop_arg = &asked;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_int_equal(run(texts[i]), SQLITE_INTERRUPT);
		assert_int_equal(asked, (int)i + 1);
	}
	ours.stop = NULL;
	/* what doubled with every '%' */
	assert_int_equal(run("SELECT hex(zeroblob(200)) LIKE "
			     "'%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%"
			     "0%0%0%0%0%0%0%0%0%0%0%0b'"),
			 SQLITE_ROW);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_as_sqlite),
					    cmocka_unit_test(can_be_interrupted) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
