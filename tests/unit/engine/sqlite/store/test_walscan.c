/* test_walscan.c — how far a WAL is sound: WALs that SQLite itself wrote, whole and with every
 * kind of fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <unistd.h>

#include "engine/sqlite/store/walscan.h"

#define PAGE 512
#define FRAME (WAL_FRAME_HEADER + PAGE)

struct wal {
	uint8_t *data;
	size_t size;
	int frames; /* as SQLite counts them */
};

static size_t read_log(void *arg, uint64_t at, void *dst, size_t n)
{
	const struct wal *l = arg;

	if (at >= l->size)
		return 0;
	if (n > l->size - at)
		n = l->size - (size_t)at;
	memcpy(dst, l->data + at, n);
	return n;
}

static int on_commit(void *arg, sqlite3 *db, const char *schema, int pages)
{
	(void)db, (void)schema;
	((struct wal *)arg)->frames = pages;
	return SQLITE_OK;
}

/* Ten commits in a WAL of small pages. */
static int log_up(void **state)
{
	static const char begin[] = "PRAGMA page_size=512; PRAGMA journal_mode=WAL; CREATE TABLE t (a)";
	char path[] = "/tmp/procession-walscan-XXXXXX", name[64];
	struct wal *l = calloc(1, sizeof(*l));
	sqlite3 *db;
	FILE *f;

	close(mkstemp(path));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_wal_hook(db, on_commit, l);
	assert_int_equal(sqlite3_exec(db, begin, NULL, NULL, NULL), SQLITE_OK);
	for (int i = 0; i < 9; i++)
		assert_int_equal(sqlite3_exec(db, "INSERT INTO t VALUES (randomblob(600))", NULL, NULL, NULL),
				 SQLITE_OK);
	snprintf(name, sizeof(name), "%s-wal", path);
	f = fopen(name, "rb");
	assert_non_null(f);
	l->data = malloc(1 << 20);
	l->size = fread(l->data, 1, 1 << 20, f);
	fclose(f);
	sqlite3_close(db);
	unlink(path);
	*state = l;
	return 0;
}

static int log_down(void **state)
{
	struct wal *l = *state;

	free(l->data);
	free(l);
	return 0;
}

static struct walscan scan(struct wal *l)
{
	struct walscan ret;

	assert_int_equal(store_walscan_run(read_log, l, UINT32_MAX, &ret), 0);
	return ret;
}

static void a_whole_log_is_sound_to_its_end(void **state)
{
	struct wal *l = *state;
	struct walscan s = scan(l);
	const uint8_t *last = l->data + WAL_HEADER + (size_t)(l->frames - 1) * FRAME;
	struct wal_salt salt = store_wal_frame_salt(last);

	assert_true(s.sound);
	assert_int_equal(s.page_size, PAGE);
	assert_true(l->frames > 20);
	assert_int_equal(s.frames, l->frames);
	assert_int_equal(s.committed, l->frames);
	assert_true(store_wal_frame_page(last) != 0 && store_wal_frame_commit(last) != 0);
	assert_true(salt.a == s.salt.a && salt.b == s.salt.b);
	assert_int_equal(store_walscan_run(read_log, l, 5, &s), 0);
	assert_int_equal(s.frames, 5);
}

/* Every bit counts, and ends what is sound at the frame before. */
static void a_flipped_bit_ends_it_at_its_frame(void **state)
{
	struct wal *l = *state;

	for (size_t at = 0; at < l->size; at += 7) {
		uint32_t frame = at < WAL_HEADER ? 0 : (uint32_t)((at - WAL_HEADER) / FRAME);
		struct walscan s;

		l->data[at] ^= (uint8_t)(1 << at % 8);
		s = scan(l);
		l->data[at] ^= (uint8_t)(1 << at % 8);
		if (at < WAL_HEADER)
			assert_false(s.sound);
		else
			assert_int_equal(s.frames, frame);
		assert_true(s.committed <= s.frames);
	}
}

static void a_torn_end_keeps_what_is_before(void **state)
{
	struct wal *l = *state;
	size_t whole = l->size;

	for (l->size = 0; l->size < whole; l->size++) {
		struct walscan s = scan(l);
		size_t fit = l->size < WAL_HEADER ? 0 : (l->size - WAL_HEADER) / FRAME;

		assert_int_equal(s.sound, l->size >= WAL_HEADER);
		assert_int_equal(s.frames, fit);
	}
}

static void what_follows_the_end_does_not_matter(void **state)
{
	struct wal *l = *state;

	memset(l->data + l->size, 0, 3 * FRAME);
	l->size += 2 * FRAME;
	assert_int_equal(scan(l).committed, l->frames);
	/* an older frame of the same WAL */
	memcpy(l->data + l->size - 2 * FRAME, l->data + WAL_HEADER, FRAME);
	assert_int_equal(scan(l).committed, l->frames);
}

/* Its own order of bytes: SQLite writes that of the machine, and reads both. */
static void a_log_of_another_machine_is_read(void **state)
{
	static const uint8_t header[] = { 0x37, 0x7f, 0x06, 0x83, 0x00, 0x2d, 0xe2, 0x18, 0, 0, 2, 0,
					  0,    0,    0,    0,    0,    0,    0,    1,    0, 0, 0, 2 };
	uint8_t data[WAL_HEADER];
	struct wal l = { data, sizeof(data), 0 };
	uint32_t a = 0, b = 0;

	(void)state;
	memcpy(data, header, sizeof(header));
	for (size_t i = 0; i < sizeof(header); i += 8) {
		a += ((uint32_t)data[i] << 24 | (uint32_t)data[i + 1] << 16 | (uint32_t)data[i + 2] << 8 |
		      data[i + 3]) +
		     b;
		b += ((uint32_t)data[i + 4] << 24 | (uint32_t)data[i + 5] << 16 | (uint32_t)data[i + 6] << 8 |
		      data[i + 7]) +
		     a;
	}
	for (int i = 0; i < 4; i++) {
		data[24 + i] = (uint8_t)(a >> (24 - 8 * i));
		data[28 + i] = (uint8_t)(b >> (24 - 8 * i));
	}
	assert_true(scan(&l).sound);
	assert_int_equal(scan(&l).salt.b, 2);
	data[3] = 0x82;
	assert_false(scan(&l).sound);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_whole_log_is_sound_to_its_end, log_up, log_down),
		cmocka_unit_test_setup_teardown(a_flipped_bit_ends_it_at_its_frame, log_up, log_down),
		cmocka_unit_test_setup_teardown(a_torn_end_keeps_what_is_before, log_up, log_down),
		cmocka_unit_test_setup_teardown(what_follows_the_end_does_not_matter, log_up, log_down),
		cmocka_unit_test(a_log_of_another_machine_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
