/* test_pagecache.c — the page cache as SQLite calls it, and SQLite on a cache that is far too small for what it does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "store/sqlite/sqlite_int.h"

#define PAGE 512
#define EXTRA 40
#define LIMIT 20

static sqlite3_pcache_methods2 m;

static int up(void **state)
{
	sqlite3_pcache *c;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETPCACHE2, &m), SQLITE_OK);
	c = m.xCreate(PAGE, EXTRA, 1);
	assert_non_null(c);
	m.xCachesize(c, LIMIT);
	*state = c;
	return 0;
}

static int down(void **state)
{
	m.xDestroy(*state);
	return 0;
}

/* Every byte that SQLite may write is written, so that a sanitizer sees a page that is too short. */
static sqlite3_pcache_page *put(sqlite3_pcache *c, unsigned number)
{
	sqlite3_pcache_page *p = m.xFetch(c, number, 2);

	assert_non_null(p);
	assert_null(*(void **)p->pExtra);
	memset(p->pExtra, 0xE0, EXTRA);
	memset(p->pBuf, (int)(number & 0xFF), PAGE);
	return p;
}

static void put_and_leave(sqlite3_pcache *c, unsigned from, unsigned to)
{
	for (unsigned i = from; i <= to; i++)
		m.xUnpin(c, put(c, i), 0);
}

static bool has(sqlite3_pcache *c, unsigned number)
{
	sqlite3_pcache_page *p = m.xFetch(c, number, 0);

	if (p == NULL)
		return false;
	assert_int_equal(((uint8_t *)p->pBuf)[PAGE - 1], number & 0xFF);
	m.xUnpin(c, p, 0);
	return true;
}

static void a_page_is_found_again_and_no_other(void **state)
{
	sqlite3_pcache *c = *state;

	assert_null(m.xFetch(c, 7, 0));
	put_and_leave(c, 1, LIMIT);
	for (unsigned i = 1; i <= LIMIT; i++)
		assert_true(has(c, i));
	assert_false(has(c, LIMIT + 1));
	assert_false(has(c, 1 + 64));           /* the same bucket as 1 */
	assert_int_equal(m.xPagecount(c), LIMIT);
}

static void what_was_used_goes_last_and_what_is_pinned_never(void **state)
{
	sqlite3_pcache *c = *state;
	sqlite3_pcache_page *pinned = put(c, 100);

	put_and_leave(c, 1, LIMIT - 1);
	put_and_leave(c, 200, 200);             /* one has to go: all had been used once, so it is the first of them */
	assert_false(has(c, 1));
	assert_true(has(c, 2) && has(c, 3));
	put_and_leave(c, 201, 201);
	assert_true(has(c, 2) && has(c, 3));
	assert_false(has(c, 4));
	for (unsigned i = 300; i < 400; i++)
		m.xUnpin(c, put(c, i), 0);
	assert_ptr_equal(m.xFetch(c, 100, 0), pinned);
	assert_int_equal(m.xPagecount(c), LIMIT);
}

static void nine_of_ten_pinned_is_enough_for_who_asks_gently(void **state)
{
	sqlite3_pcache *c = *state;
	sqlite3_pcache_page *p = NULL;

	for (unsigned i = 1; i <= LIMIT - LIMIT / 10; i++)
		p = put(c, i);
	assert_null(m.xFetch(c, 50, 1));
	m.xUnpin(c, p, 0);
	assert_non_null(m.xFetch(c, 50, 1));
	assert_null(m.xFetch(c, 51, 1));
	m.xTruncate(c, 10);                     /* cut off pages are not pinned any more */
	assert_non_null(m.xFetch(c, 51, 1));
	for (unsigned i = 60; i < 60 + 10 * LIMIT; i++)     /* who must have it gets it */
		put(c, i);
	assert_true(m.xPagecount(c) > 10 * LIMIT);
}

static void a_smaller_limit_takes_no_pages_but_lets_none_come_for_free(void **state)
{
	sqlite3_pcache *c = *state;
	unsigned kept = 0;

	put_and_leave(c, 1, LIMIT);
	m.xCachesize(c, 5);
	assert_int_equal(m.xPagecount(c), LIMIT);
	put_and_leave(c, 100, 100 + 10 * LIMIT);        /* as a large value does */
	assert_int_equal(m.xPagecount(c), LIMIT);
	for (unsigned i = 1; i <= LIMIT; i++)
		kept += has(c, i);
	assert_int_equal(kept, LIMIT - 1);
	m.xCachesize(c, 2 * LIMIT);
	put_and_leave(c, 200, 200 + LIMIT - 1);
	assert_int_equal(m.xPagecount(c), 2 * LIMIT);
}

static void what_cannot_be_read_again_is_kept(void **state)
{
	sqlite3_pcache *c = m.xCreate(PAGE, EXTRA, 0);

	(void)state;
	assert_non_null(c);
	m.xCachesize(c, 10);
	put_and_leave(c, 1, 5000);
	for (unsigned i = 1; i <= 5000; i++)
		assert_true(has(c, i));
	m.xDestroy(c);
}

static void a_discarded_page_is_gone_and_its_room_is_used_again(void **state)
{
	sqlite3_pcache *c = *state;
	sqlite3_pcache_page *p = put(c, 9);

	m.xUnpin(c, p, 1);
	assert_int_equal(m.xPagecount(c), 0);
	assert_false(has(c, 9));
	assert_ptr_equal(put(c, 10), p);
	m.xUnpin(c, p, 0);
	p = m.xFetch(c, 10, 0);
	m.xUnpin(c, p, 1);                      /* one that waits in the queue */
	put_and_leave(c, 11, 11 + 3 * LIMIT);
	assert_int_equal(m.xPagecount(c), LIMIT);
	p = m.xFetch(c, 1000, 1);               /* what was discarded is not counted as pinned, then or later */
	assert_non_null(p);
	m.xUnpin(c, p, 0);
}

static void another_number_drives_out_who_had_it(void **state)
{
	sqlite3_pcache *c = *state;
	sqlite3_pcache_page *p;

	put_and_leave(c, 1, 4);
	p = m.xFetch(c, 2, 0);
	m.xRekey(c, p, 2, 3);
	assert_ptr_equal(m.xFetch(c, 3, 0), p);
	assert_int_equal(((uint8_t *)p->pBuf)[0], 2);
	assert_null(m.xFetch(c, 2, 0));
	assert_int_equal(m.xPagecount(c), 3);
}

static void cut_off_at_the_end_pinned_or_not(void **state)
{
	sqlite3_pcache *c = *state;

	put_and_leave(c, 1, 10);
	put(c, 11);
	put(c, 5000);
	m.xTruncate(c, 6000);
	assert_int_equal(m.xPagecount(c), 12);
	m.xTruncate(c, 10);
	assert_int_equal(m.xPagecount(c), 9);
	assert_false(has(c, 10) || has(c, 11) || has(c, 5000));
	put_and_leave(c, 12, 12);
	m.xTruncate(c, 12);
	assert_false(has(c, 12));
	assert_true(has(c, 9));
	m.xTruncate(c, 0);
	assert_int_equal(m.xPagecount(c), 0);
}

/* The page at 1 GiB, for a moment: afterwards the end is where it was. */
static void a_lent_number_is_forgotten(void **state)
{
	sqlite3_pcache *c = *state;
	sqlite3_pcache_page *p;

	put_and_leave(c, 1, 10);
	p = m.xFetch(c, 10, 0);
	m.xRekey(c, p, 10, 1 << 20);
	m.xRekey(c, p, 1 << 20, 10);
	m.xUnpin(c, p, 0);
	m.xTruncate(c, 11);
	assert_int_equal(m.xPagecount(c), 10);
	p = m.xFetch(c, 10, 0);
	m.xRekey(c, p, 10, 1 << 20);
	m.xTruncate(c, 11);
	assert_int_equal(m.xPagecount(c), 9);
}

/* ---- SQLite on it ---- */

static void script(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static sqlite3_int64 number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	sqlite3_int64 n;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static void assert_whole(sqlite3 *db)
{
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
}

#define ROWS "WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 20000)"

/* Trees that grow and shrink, changes that do not fit and go to the log early, changes that are taken back, another connection's changes, a file that becomes shorter. */
static void sqlite_with_ten_pages(void **state)
{
	char path[] = "/tmp/procession-pagecache-XXXXXX", rest[80];
	sqlite3 *a, *b;

	(void)state;
	assert_int_not_equal(close(mkstemp(path)), -1);
	assert_int_equal(sqlite3_open(path, &a), SQLITE_OK);
	script(a, "PRAGMA journal_mode=WAL; PRAGMA cache_size=10; PRAGMA auto_vacuum=FULL; CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, w BLOB); CREATE INDEX tv ON t (v)");
	assert_int_equal(sqlite3_open(path, &b), SQLITE_OK);
	script(b, "PRAGMA cache_size=10");
	script(a, "BEGIN; " ROWS " INSERT INTO t SELECT i, printf('%d', i * 7919 % 20011), zeroblob(i % 900) FROM k; COMMIT");
	assert_int_equal(number(b, "SELECT count(*) FROM t"), 20000);
	script(a, "BEGIN; DELETE FROM t WHERE k % 3 = 0; UPDATE t SET w = zeroblob(3000) WHERE k % 100 = 1; ROLLBACK");
	assert_int_equal(number(b, "SELECT count(*) FROM t INDEXED BY tv WHERE v >= ''"), 20000);
	script(a, "BEGIN; SAVEPOINT s; DELETE FROM t WHERE k > 1000; ROLLBACK TO s; DELETE FROM t WHERE k % 3 = 0; COMMIT");
	assert_int_equal(number(b, "SELECT count(*) FROM t"), 20000 - 20000 / 3);
	script(b, "DELETE FROM t WHERE k > 500; VACUUM");
	assert_int_equal(number(a, "SELECT count(*) FROM t INDEXED BY tv WHERE v >= ''"), 334);
	assert_whole(a);
	assert_whole(b);
	sqlite3_close(a);
	sqlite3_close(b);
	unlink(path);
	snprintf(rest, sizeof(rest), "%s-wal", path);
	unlink(rest);
	snprintf(rest, sizeof(rest), "%s-shm", path);
	unlink(rest);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_page_is_found_again_and_no_other, up, down),
		cmocka_unit_test_setup_teardown(what_was_used_goes_last_and_what_is_pinned_never, up, down),
		cmocka_unit_test_setup_teardown(nine_of_ten_pinned_is_enough_for_who_asks_gently, up, down),
		cmocka_unit_test_setup_teardown(a_smaller_limit_takes_no_pages_but_lets_none_come_for_free, up, down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_again_is_kept, up, down),
		cmocka_unit_test_setup_teardown(a_discarded_page_is_gone_and_its_room_is_used_again, up, down),
		cmocka_unit_test_setup_teardown(another_number_drives_out_who_had_it, up, down),
		cmocka_unit_test_setup_teardown(cut_off_at_the_end_pinned_or_not, up, down),
		cmocka_unit_test_setup_teardown(a_lent_number_is_forgotten, up, down),
		cmocka_unit_test(sqlite_with_ten_pages),
	};

	sqlite_register_pagecache();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
