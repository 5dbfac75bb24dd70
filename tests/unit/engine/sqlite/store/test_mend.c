/* test_mend.c — after a flush that failed nothing is committed, until the WAL has been written
 * once more; and a WAL that does not hold what it should is not mended. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/sqlite/store/store_int.h"

static int put(struct fixture *f, const char *id)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "INSERT INTO item (id, n) VALUES ('%s', 1)", id);
	if (store_begin(f->conn, &f->err) < 0)
		return -1;
	if (fixture_run(f, sql) == 0 && store_commit(f->conn, &f->err) == 0)
		return 0;
	store_rollback(f->conn);
	return -1;
}

static int open_wal(const struct fixture *f)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s-wal", f->store->path);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

static void nothing_is_committed_until_it_is_mended(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put(f, "a"), 0);
	assert_int_equal(store_sound(f->store, &f->err), 0);
	assert_int_equal(store_mend(f->conn, &f->err), 0);
	store_unsound(f->store, EIO);
	assert_int_equal(store_sound(f->store, &f->err), -1);
	assert_int_equal(f->err.number, 9001);
	assert_int_equal(put(f, "b"), -1);
	assert_int_equal(f->err.number, 9001);
	assert_int_equal(store_mend(f->conn, &f->err), 0);
	assert_int_equal(store_sound(f->store, &f->err), 0);
	assert_int_equal(put(f, "c"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM item WHERE id IN ('a', 'c')"), 2);
}

/* The bytes are the same before and after, all of them and at every length of the WAL. */
static void mending_changes_no_byte_that_counts(void **state)
{
	static uint8_t before[4 << 20], after[4 << 20];
	struct fixture *f = *state;
	char id[20];

	for (int i = 0; i < 150; i++) {
		ssize_t n, m;
		int fd;

		snprintf(id, sizeof(id), "k%d", i);
		assert_int_equal(put(f, id), 0);
		if (i % 7 != 0)
			continue;
		fd = open_wal(f);
		n = pread(fd, before, sizeof(before), 0);
		store_unsound(f->store, EIO);
		assert_int_equal(store_mend(f->conn, &f->err), 0);
		m = pread(fd, after, sizeof(after), 0);
		assert_true(n > 0 && n == m && n < (ssize_t)sizeof(before));
		assert_memory_equal(before, after, (size_t)n);
		close(fd);
	}
	/* the WAL counts no frame from here on, once the next commit begins it anew */
	store_checkpoint(f->conn, true);
	store_unsound(f->store, EIO);
	assert_int_equal(store_mend(f->conn, &f->err), 0);
	assert_int_equal(put(f, "last"), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM item"), 151);
}

/* As a page is that the system has given up and read anew from the disk. */
static void a_wal_that_lost_bytes_is_not_mended(void **state)
{
	static const off_t places[] = { 4, 20, 32 + 3, 32 + 10, 32 + 24 + 1000, 32 + 4120 + 24 + 17 };
	struct fixture *f = *state;
	int fd;

	store_checkpoint(f->conn, true);
	assert_int_equal(put(f, "a"), 0);
	assert_int_equal(put(f, "b"), 0);
	assert_int_equal(put(f, "c"), 0);
	fd = open_wal(f);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		uint8_t was, other;

		assert_int_equal(pread(fd, &was, 1, places[i]), 1);
		other = (uint8_t)~was;
		assert_int_equal(pwrite(fd, &other, 1, places[i]), 1);
		store_unsound(f->store, EIO);
		assert_int_equal(store_mend(f->conn, &f->err), -1);
		assert_int_equal(f->err.number, 9001);
		assert_int_equal(store_sound(f->store, &f->err), -1);
		assert_int_equal(pwrite(fd, &was, 1, places[i]), 1);
		assert_int_equal(store_mend(f->conn, &f->err), 0);
	}
	close(fd);
	assert_int_equal(put(f, "d"), 0);
}

/* The WAL is left for the next start to look at: a checkpoint by the last connection would copy
 * what nobody has compared. */
static void an_unsound_store_is_closed_with_its_wal(void **state)
{
	char path[] = "/tmp/procession-mend-XXXXXX", wal[sizeof(path) + 4];
	struct store_options o = { .path = path, .name = "Test", .service = &fixture_service };
	struct fixture f = { 0 };
	struct stat st;

	(void)state;
	close(mkstemp(path));
	snprintf(wal, sizeof(wal), "%s-wal", path);
	for (int sound = 0; sound < 2; sound++) {
		assert_int_equal(store_open(&o, &f.store, &f.err), 0);
		assert_int_equal(store_connect(f.store, false, &f.conn, &f.err), 0);
		assert_int_equal(put(&f, sound ? "b" : "a"), 0);
		if (!sound)
			store_unsound(f.store, EIO);
		store_disconnect(f.conn);
		assert_int_equal(stat(wal, &st), sound ? -1 : 0);
		store_close(f.store);
	}
	assert_int_equal(store_open(&o, &f.store, &f.err), 0);
	assert_int_equal(store_connect(f.store, false, &f.conn, &f.err), 0);
	assert_int_equal(fixture_number(&f, "SELECT count(*) FROM item"), 2);
	store_disconnect(f.conn);
	store_close(f.store);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_committed_until_it_is_mended, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(mending_changes_no_byte_that_counts, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_wal_that_lost_bytes_is_not_mended, fixture_up,
						fixture_down),
		cmocka_unit_test(an_unsound_store_is_closed_with_its_wal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
