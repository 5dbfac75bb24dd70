/* store.c — the physical limit of the store: the statements of the StateService procedures on a
 * database like the server's, in one thread, without a network, a queue or a parser. What the
 * server spares SQLite, its page cache and its way to write the log (src/store/sqlite), is
 * spared here too. Prints one line of JSON, as load does.
 *
 *   store --workload state_read|state_rw --database FILE --schema procedures/state/schema.sql
 *   [--seconds S] [--warmup S] [--group N] [--connections N]
 *   store --workload state_large --bytes N … one item of that size, locked and updated again and
 *   again, each time in a transaction of its own
 *
 * Creates and fills the file if it is not there. The calls are those of N connections in turn;
 * as many as --group in one transaction, or many reads, as the server does. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../usage.h"
#include "engine/sqlite/store/store_int.h"

#define ITEMS 100000
#define TIMES_MAX 100000  /* updates whose time is kept */
#define TIMEOUT 60        /* minutes */
#define LOG_MOST 40000    /* pages, then they are copied into the file; as the server does */
#define READS_HELD 100000 /* renewals that share a commit: the server holds those of five seconds */
#define CONNECTIONS_MAX 1024

static const struct workload {
	const char *name;
	bool writes, large;
} workloads[] = { { "state_read", false, false },
		  { "state_rw", true, false },
		  { "state_large", true, true } };

/* What the procedures in procedures/state do for an item that is there, is small and does not
 * expire sooner than before. */
enum { BEGIN, COMMIT, ADD, ADD_BODY, GET, RENEW, LOOK, LOCK, FIND, UPDATE, UPDATE_BODY, STATEMENTS };
#define STATE \
	"CASE WHEN locked <> 0 THEN 1 ELSE 0 END, CASE WHEN locked <> 0 AND lock_time < ?2 THEN ?2 / 300 - " \
	"lock_time / 300 ELSE 0 END"
#define DATA \
	"CASE WHEN locked = 0 AND length(data) <= 100000 THEN data END, CASE WHEN locked = 0 AND " \
	"length(data) > 100000 THEN item.n END" \
	" FROM item LEFT JOIN body ON body.n = item.n WHERE id = ?1"
static const char *const sql[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ADD] = "INSERT INTO item (id, cookie, locked, lock_time, timeout, expires, sweep)"
		" VALUES (?1, 1, 0, ?2, ?3 * 18000, ?2 + ?3 * 18000, (?2 + ?3 * 18000) / 18000) ON CONFLICT "
		"(id) DO NOTHING RETURNING n",
	[ADD_BODY] = "INSERT INTO body (n, data) VALUES (?1, ?2)",
	[GET] = "SELECT item.n, " STATE ", cookie, " DATA,
	[RENEW] = "UPDATE item SET expires = ?2 + timeout WHERE n = ?1",
	[LOOK] = "SELECT item.n, " STATE ", CASE WHEN locked <> 0 THEN cookie WHEN cookie = 2147483647 THEN "
		 "1 ELSE cookie + 1 END, " DATA,
	[LOCK] = "UPDATE item SET expires = ?2 + timeout, cookie = ?3, lock_time = CASE WHEN locked <> 0 "
		 "THEN lock_time ELSE ?2 END, locked = 1 WHERE n = ?1",
	[FIND] = "SELECT n, CASE WHEN sweep > (?2 + ?3 * 18000) / 18000 THEN (?2 + ?3 * 18000) / 18000 END "
		 "FROM item WHERE id = ?1 AND cookie = ?4",
	[UPDATE] = "UPDATE item SET locked = 0, timeout = ?3 * 18000, expires = ?2 + ?3 * 18000 WHERE n = ?1",
	[UPDATE_BODY] = "UPDATE body SET data = ?2 WHERE n = ?1",
};

struct connection {
	unsigned key;
	int cookie;
}; /* cookie 0: nothing is locked */

static struct {
	const char *workload, *database, *schema;
	double seconds, warmup;
	unsigned group, connections, items, bytes;
} opt = {
	.seconds = 5,
	.warmup = 1,
	.group = 19,
	.connections = 32,
	.items = ITEMS,
	.bytes = 1024,
};
static const struct workload *workload;
static sqlite3 *db;
static struct store store;
/* for what the server does with large values: little memory beside them, many pages a read */
static struct store_conn conn = { .store = &store };
static sqlite3_stmt *statements[STATEMENTS];
static struct connection connections[CONNECTIONS_MAX];
/* one byte more than an item has: the same from there on is another one */
static uint8_t *body;
static uint64_t seed = 88172645463325252u, calls;
static struct {
	double us[TIMES_MAX];
	size_t n;
} gets, updates; /* of single calls */
static int wal_pages;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "store: %s: %s\n", what, db == NULL ? "no database" : sqlite3_errmsg(db));
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ticks of 1/300 s since 1900, as the server counts. */
static sqlite3_int64 ticks(void)
{
	return (sqlite3_int64)(now_ns(CLOCK_REALTIME) / 10000000u * 3) + INT64_C(2208988800) * 300;
}

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* ---- statements ---- */

static sqlite3_stmt *with_id(int which, unsigned key, sqlite3_int64 now)
{
	sqlite3_stmt *s = statements[which];
	static char id[20];

	snprintf(id, sizeof(id), "bench-%08u", key);
	sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 2, now);
	return s;
}

static sqlite3_stmt *with_number(int which, sqlite3_int64 n, sqlite3_int64 second)
{
	sqlite3_bind_int64(statements[which], 1, n);
	sqlite3_bind_int64(statements[which], 2, second);
	return statements[which];
}

static sqlite3_stmt *with_body(int which, sqlite3_int64 n, bool other)
{
	sqlite3_bind_int64(statements[which], 1, n);
	sqlite3_bind_blob(statements[which], 2, body + other, (int)opt.bytes, SQLITE_STATIC);
	if (opt.bytes >= STORE_LARGE)
		store_narrow(&conn);
	return statements[which];
}

static void expect_row(sqlite3_stmt *s)
{
	if (sqlite3_step(s) != SQLITE_ROW)
		die(sqlite3_sql(s));
}

static void run(sqlite3_stmt *s)
{
	if (sqlite3_step(s) != SQLITE_DONE || sqlite3_reset(s) != SQLITE_OK)
		die(sqlite3_sql(s));
}

static void script(const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		die(text);
}

/* ---- calls ---- */

/* A large one straight from its pages, as the server does it. */
static void fetch(sqlite3_int64 n)
{
	static uint8_t *room;
	sqlite3_blob *b = NULL;

	if (room == NULL)
		room = malloc(opt.bytes);
	if (opt.bytes >= STORE_LARGE)
		store_narrow(&conn);
	if (room == NULL || sqlite3_blob_open(db, "main", "body", "data", n, 0, &b) != SQLITE_OK ||
	    sqlite3_blob_read(b, room, (int)opt.bytes, 0) != SQLITE_OK)
		die("the item's data");
	store_widen(&conn);
	sqlite3_blob_close(b);
}

/* proc_GetItemWithoutLock and proc_GetItemWithLock; the cookie. */
static int get(unsigned key, bool lock)
{
	sqlite3_int64 now = ticks(), n;
	sqlite3_stmt *s = with_id(lock ? LOOK : GET, key, now);
	bool large;
	int cookie;

	expect_row(s);
	n = sqlite3_column_int64(s, 0);
	cookie = sqlite3_column_int(s, 3);
	large = sqlite3_column_type(s, 5) != SQLITE_NULL;
	if (!large && sqlite3_column_int(s, 1) == 0 &&
	    (sqlite3_column_blob(s, 4) == NULL || (unsigned)sqlite3_column_bytes(s, 4) != opt.bytes))
		die("the item's data");
	sqlite3_reset(s);
	if (lock)
		sqlite3_bind_int(statements[LOCK], 3, cookie);
	run(with_number(lock ? LOCK : RENEW, n, now));
	if (large)
		fetch(n);
	return cookie;
}

/* proc_UpdateItem; one body and the other in turn. */
static void update(const struct connection *c)
{
	sqlite3_int64 now = ticks(), n;
	sqlite3_stmt *s = with_id(FIND, c->key, now);

	sqlite3_bind_int(s, 3, TIMEOUT);
	sqlite3_bind_int(s, 4, c->cookie);
	expect_row(s);
	n = sqlite3_column_int64(s, 0);
	if (sqlite3_column_type(s, 1) != SQLITE_NULL)
		die("the item's sweep");
	sqlite3_reset(s);
	sqlite3_bind_int(statements[UPDATE], 3, TIMEOUT);
	run(with_number(UPDATE, n, now));
	run(with_body(UPDATE_BODY, n, c->cookie % 2 != 0));
	store_widen(&conn);
}

static void call(unsigned nth)
{
	struct connection *c = &connections[nth];

	if (c->cookie != 0) {
		update(c);
		c->cookie = 0;
		return;
	}
	c->key = (unsigned)(random_number() % (opt.items / opt.connections)) * opt.connections + nth;
	c->cookie = get(c->key, workload->writes);
	if (!workload->writes)
		c->cookie = 0;
}

/* ---- the database ---- */

static int on_log(void *arg, sqlite3 *of, const char *schema, int pages)
{
	(void)arg;
	(void)of;
	(void)schema;
	wal_pages = pages;
	return SQLITE_OK;
}

static void checkpoint(void)
{
	if (sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) != SQLITE_OK)
		die("checkpoint");
	wal_pages = 0;
}

static void calls_run(double seconds)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);

	while (now_ns(CLOCK_MONOTONIC) < end) {
		uint64_t from = now_ns(CLOCK_MONOTONIC);
		bool update = connections[0].cookie != 0;

		run(statements[BEGIN]);
		for (unsigned i = 0;
		     i < (workload->writes ? opt.group : READS_HELD) && now_ns(CLOCK_MONOTONIC) < end; i++)
			call((unsigned)(calls++ % opt.connections));
		run(statements[COMMIT]);
		if (workload->large && updates.n < TIMES_MAX && gets.n < TIMES_MAX) {
			double us = (double)(now_ns(CLOCK_MONOTONIC) - from) / 1e3;

			if (update)
				updates.us[updates.n++] = us;
			else
				gets.us[gets.n++] = us;
		}
		if (wal_pages >= LOG_MOST)
			checkpoint();
	}
	/* Whatever was logged is copied too: a short run is not to be cheaper than a long one. */
	checkpoint();
}

static void create(void)
{
	FILE *f = fopen(opt.schema, "r");
	static char text[65536];

	if (f == NULL || fread(text, 1, sizeof(text) - 1, f) == 0)
		die(opt.schema);
	fclose(f);
	script(text);
}

static void fill(void)
{
	run(statements[BEGIN]);
	for (unsigned i = 0; i < opt.items; i++) {
		sqlite3_stmt *s = with_id(ADD, i, ticks());
		sqlite3_int64 n;

		sqlite3_bind_int(s, 3, TIMEOUT);
		expect_row(s);
		n = sqlite3_column_int64(s, 0);
		sqlite3_reset(s);
		run(with_body(ADD_BODY, n, false));
		store_widen(&conn);
	}
	run(statements[COMMIT]);
	checkpoint();
}

/* The server's settings (src/engine/sqlite/store/conn.c) and its default cache. */
static void set_up(void)
{
	sqlite3_int64 mib = (sqlite3_int64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) >> 20;

	script("PRAGMA mmap_size=0; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
	       "temp_store=MEMORY; PRAGMA secure_delete=FAST");
	store.cache_mib = mib / 16 > 256 ? 256 : mib / 16 < 16 ? 16 : (unsigned)(mib / 16);
	if (store_set_cache(&conn) != SQLITE_OK)
		die("cache_size");
	sqlite3_wal_hook(db, on_log, NULL);
}

static void open_database(void)
{
	bool is_new = access(opt.database, F_OK) != 0;

	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as the server */
	store_register_vfs();
	if (sqlite3_open_v2(opt.database, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    STORE_VFS_NAME) != SQLITE_OK)
		die(opt.database);
	conn.db = db;
	if (store_checksum_register(&conn) != SQLITE_OK) /* the schema uses it */
		die("checksum()");
	set_up();
	if (is_new)
		create();
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &statements[i], NULL) !=
		    SQLITE_OK)
			die(sql[i]);
	body = malloc((size_t)opt.bytes + 1);
	if (body == NULL)
		die("an item");
	for (size_t i = 0; i <= opt.bytes; i++)
		body[i] = (uint8_t)random_number();
	if (is_new)
		fill();
	/* The server has filled its database itself, and so has it in its cache. */
	script("SELECT sum(length(data)) FROM body; SELECT sum(expires) FROM item; SELECT count(id) FROM "
	       "item");
	/* A read renews, and its renewal may reach the disk later. */
	store_wal_set_lazy(db, !workload->writes);
}

/* ---- the command ---- */

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "workload", 1, 0, 'w' },    { "database", 1, 0, 'd' }, { "schema", 1, 0, 's' },
		{ "seconds", 1, 0, 't' },     { "warmup", 1, 0, 'u' },   { "group", 1, 0, 'g' },
		{ "connections", 1, 0, 'c' }, { "bytes", 1, 0, 'b' },    { 0 },
	};
	int o;

	while ((o = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		switch (o) {
		case 'w': opt.workload = optarg; break;
		case 'd': opt.database = optarg; break;
		case 's': opt.schema = optarg; break;
		case 't': opt.seconds = strtod(optarg, NULL); break;
		case 'u': opt.warmup = strtod(optarg, NULL); break;
		case 'g': opt.group = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'c': opt.connections = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'b': opt.bytes = (unsigned)strtoul(optarg, NULL, 10); break;
		default: exit(2);
		}
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]) && opt.workload != NULL; i++)
		if (strcmp(opt.workload, workloads[i].name) == 0)
			workload = &workloads[i];
	if (workload == NULL || opt.database == NULL || opt.schema == NULL || opt.group == 0 ||
	    opt.connections == 0 || opt.connections > CONNECTIONS_MAX || opt.bytes == 0 ||
	    opt.bytes > INT32_MAX / 2) {
		fprintf(stderr,
			"usage: store --workload state_read|state_rw|state_large --database FILE --schema "
			"FILE [--seconds S] [--warmup S] [--group N] [--connections N] [--bytes N]\n");
		exit(2);
	}
	if (workload->large)
		opt.items = opt.connections = opt.group = 1;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *us, size_t n)
{
	qsort(us, n, sizeof(*us), by_size);
	return n == 0 ? 0 : us[n / 2];
}

int main(int argc, char **argv)
{
	struct usage before, after;
	uint64_t from;
	double cpu, seconds;

	parse(argc, argv);
	open_database();
	calls_run(opt.warmup);
	calls = gets.n = updates.n = 0;
	before = usage_of(getpid());
	cpu = cpu_seconds();
	from = now_ns(CLOCK_MONOTONIC);
	calls_run(opt.seconds);
	seconds = (double)(now_ns(CLOCK_MONOTONIC) - from) / 1e9;
	cpu = cpu_seconds() - cpu;
	after = usage_of(getpid());
	printf("{\"workload\":\"%s\",\"connections\":%u,\"group\":%u,\"seconds\":%.3f,\"calls\":%lu,\"calls_"
	       "per_s\":%.1f,\"server_cpu_us_per_call\":%.2f,"
	       "\"written_bytes_per_call\":%.0f,\"rss_kb\":%ld,\"get_p50_us\":%.1f,\"update_p50_us\":%.1f}\n",
	       opt.workload, opt.connections, opt.group, seconds, (unsigned long)calls,
	       (double)calls / seconds, cpu * 1e6 / (double)calls,
	       (double)(after.written - before.written) / (double)calls, after.rss_kb,
	       median(gets.us, gets.n), median(updates.us, updates.n));
	return 0;
}
