/* sqlite_int.h — what the files of store/sqlite share. open.c: the file, its schema. conn.c: a connection. log.c: the write-ahead log. stmt.c: statements.
 * values.c: values to columns and back. error.c: SQLite's failures in the client's words. sandbox.c: what SELECT may touch. */
#ifndef STORE_SQLITE_INT_H
#define STORE_SQLITE_INT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "catalogue/query.h"
#include "store/sqlite/walscan.h"
#include "store/store_int.h"

/* A column that a readable view reads (or its table as such: column ""), or a function that it uses (table NULL). */
struct sqlite_grant {
	char *table; /* owned */
	char *name;  /* owned */
};

/* So many frames of a log; 0: none. */
struct sqlite_marked {
	struct wal_salt salt;
	uint32_t frames;
};

/* How much of the log has been flushed; see walmark.c. */
struct sqlite_mark {
	pthread_mutex_t lock;
	int fd;                         /* owned; -1: nothing is marked */
	int log_fd;                     /* owned: the log; -1: not open */
	uint32_t page_size;             /* of the log */
	struct sqlite_marked committed; /* the last commit */
	struct sqlite_marked written;   /* what the file says */
};

struct sqlite_store {
	struct store base;
	char *path, *name; /* owned */
	const struct service_procs *service;
	unsigned cache_mib;
	bool temporary;                /* the file goes away with the store */
	int lock_fd;                   /* owned: keeps other servers from the file; -1: none */
	char identity[STORE_IDENTITY]; /* fixed once the store is open */
	atomic_bool damaged;           /* SQLite has found the file to be broken */
	struct sqlite_grant *grants;   /* owned; fixed once the store is open */
	size_t ngrants, grants_room;
	bool grants_failed; /* no memory while they were collected */
	atomic_uint wal_pages,
		wal_done;       /* pages in the write-ahead log; of these, copied or not worth another try */
	atomic_uint file_pages; /* in the file, when the log was last copied */
	atomic_int flush_error; /* errno of the flush that failed; 0: the store is sound */
	struct sqlite_mark mark;
};

#define SQLITE_BUSY_MS 10000 /* other programs may hold the file for a moment: backup, sqlite3 */

struct sqlite_conn;

struct sqlite_stmt {
	struct store_stmt base;
	struct sqlite_conn *conn;
	sqlite3_stmt *handle;           /* owned; NULL: not prepared yet */
	const struct statement *source; /* of a kept one */
	bool kept;                      /* reset by finish, not freed */
	bool query;                     /* in the sandbox */
	struct value *inner;            /* owned: inner values of sql_variant columns, one a column */
};

#define SQLITE_SAVEPOINTS 8 /* depths whose statements are kept prepared */
enum savepoint_verb { SAVEPOINT_SAVE, SAVEPOINT_RELEASE, SAVEPOINT_BACK, SAVEPOINT_VERBS };

struct sqlite_conn {
	struct store_conn base;
	struct sqlite_store *store; /* outlives the connection */
	sqlite3 *db;
	bool read_only;
	bool impatient, busy; /* does not wait for other processes; had to, since it was told so */
	bool sandbox;         /* what is prepared or run now is a client's query */
	bool damaged;         /* a value did not have its checksum */
	bool failed;          /* a function of tsql.c has … */
	struct err failure;   /* … for this reason */
	char denied[160];     /* what the sandbox refused last */
	sqlite3_stmt *begin, *commit, *rollback;
	sqlite3_stmt *savepoints[SAVEPOINT_VERBS][SQLITE_SAVEPOINTS];
	struct sqlite_stmt *stmts; /* owned: by statement id */
	size_t nstmts;
	bool (*stop)(void *arg);
	void *stop_arg;
	bool logged; /* the commit under way has written to the log: not so one that changed nothing */
	bool narrow; /* a large value is under way: few pages are kept */
};

#define SQLITE_STORE(st) ((struct sqlite_store *)(st))
#define SQLITE_CONN(c) ((struct sqlite_conn *)(c))
#define SQLITE_STMT(s) ((struct sqlite_stmt *)(s))

/* open.c */
int sqlite_open(const struct store_options *o, struct store **ret, struct err *reterr);
void sqlite_close(struct store *st);
int sqlite_check(struct store *st, char **ret_report, struct err *reterr);
/* file.c: path, name and lock of the store; makes the file, or refuses a known one that is missing or empty. */
MUST_CHECK int sqlite_file_prepare(struct sqlite_store *st, const struct store_options *o, bool *ret_new,
				   struct err *reterr);
MUST_CHECK int sqlite_file_keep(const struct sqlite_store *st,
				struct err *reterr); /* makes the name of a new file durable */
void sqlite_file_release(struct sqlite_store *st);   /* after the last connection */
/* "The file … of database … why. remedy", and the same for a file that has lost what was in it. */
int sqlite_refuse(const struct sqlite_store *st, const char *why, const char *remedy, struct err *reterr);
int sqlite_refuse_lost(const struct sqlite_store *st, const char *why, struct err *reterr);
/* schema.c: creates or migrates; refuses what is not ours, and what is empty though it is known. */
MUST_CHECK int sqlite_schema_apply(struct sqlite_conn *c, bool known, struct err *reterr);
/* identity.c: gives the file its identity or compares it with the expected one ("": any). */
MUST_CHECK int sqlite_identity_settle(struct sqlite_conn *c, const char *expected, bool accept,
				      struct err *reterr);
int sqlite_identity_renew(struct store *st, struct err *reterr);
const char *sqlite_identity(const struct store *st);

/* conn.c */
int sqlite_connect(struct store *st, bool read_only, struct store_conn **ret, struct err *reterr);
void sqlite_disconnect(struct store_conn *c);
int sqlite_script(struct store_conn *c, const char *sql, struct err *reterr);
void sqlite_set_waits(struct store_conn *c, bool waits);
bool sqlite_was_busy(struct store_conn *c);
void sqlite_set_interrupt(struct store_conn *c, bool (*stop)(void *arg), void *arg);
uint64_t sqlite_changes(struct store_conn *c);

/* checkpoint.c */
void sqlite_wal_watch(struct sqlite_conn *c);
unsigned sqlite_wal_waiting(struct store *st);
unsigned sqlite_checkpoint_worth(struct store *st);
unsigned sqlite_wal_pages(struct store *st);
void sqlite_checkpoint(struct store_conn *c, bool alone);
int sqlite_flush(struct store *st, struct err *reterr);

/* checksum.c: SQLite's result code. */
int sqlite_checksum_register(struct sqlite_conn *c);

/* messages.c: for the whole process, before SQLite is used. */
void sqlite_messages_set_up(void);

/* mend.c */
void sqlite_unsound(struct sqlite_store *st, int system_error);
int sqlite_sound(struct store *st, struct err *reterr);
int sqlite_mend(struct store_conn *c, struct err *reterr);

/* walmark.c. Before SQLite opens the file: refuses a log that has lost what had been flushed; accept: says so and goes on. */
MUST_CHECK int sqlite_mark_check(struct sqlite_store *st, bool accept, struct err *reterr);
void sqlite_mark_init(struct sqlite_mark *m);
void sqlite_mark_disconnected(struct sqlite_store *st); /* a connection was closed */
void sqlite_mark_fini(struct sqlite_store *st);         /* after the last connection */
/* After a commit; flushed: it is on the disk. */
void sqlite_mark_committed(struct sqlite_store *st, bool flushed);
/* Around a flush on another thread: what it will cover at least; and that it did. */
void sqlite_mark_flushing(struct sqlite_store *st, struct sqlite_marked *ret);
void sqlite_mark_flushed(struct sqlite_store *st, const struct sqlite_marked *what);

/* transaction.c */
int sqlite_begin(struct store_conn *c, struct err *reterr);
int sqlite_commit(struct store_conn *c, struct err *reterr);
int sqlite_commit_lazily(struct store_conn *c, struct err *reterr);
void sqlite_rollback(struct store_conn *c);
int sqlite_save(struct store_conn *c, unsigned n, struct err *reterr);
int sqlite_release(struct store_conn *c, unsigned n, struct err *reterr);
int sqlite_rollback_to(struct store_conn *c, unsigned n, struct err *reterr);
bool sqlite_in_transaction(struct store_conn *c);
int sqlite_is_current(struct store_conn *c, bool *ret, struct err *reterr);
void sqlite_transaction_fini(struct sqlite_conn *c);

/* stmt.c */
int sqlite_statement(struct store_conn *c, const struct statement *s, struct store_stmt **ret,
		     struct err *reterr);
int sqlite_query(struct store_conn *c, const char *sql, struct store_stmt **ret, struct err *reterr);
int sqlite_bind(struct store_stmt *s, unsigned index, const struct value *v, struct err *reterr);
int sqlite_step(struct store_stmt *s, struct err *reterr);
int sqlite_column(struct store_stmt *s, unsigned index, const struct type *as, struct value *ret,
		  struct err *reterr);
void sqlite_finish(struct store_stmt *s);
void sqlite_stmts_fini(struct sqlite_conn *c);

/* fetch.c */
int sqlite_fetch(struct store_conn *c, const char *table, const char *column, int64_t row, struct arena *a,
		 struct value *ret, struct err *reterr);
int sqlite_fetch_size(struct store_conn *c, const char *table, const char *column, int64_t row, size_t *ret,
		      struct err *reterr);
int sqlite_fetch_into(struct store_conn *c, const char *table, const char *column, int64_t row, uint8_t *dst,
		      size_t n, struct err *reterr);

/* values.c: SQLite's result code. */
int sqlite_bind_value(sqlite3_stmt *h, int index, const struct value *v);
/* inner: room for the inner value of a sql_variant. */
MUST_CHECK int sqlite_column_value(sqlite3_stmt *h, int index, const struct type *as, struct value *inner,
				   struct value *ret, struct err *reterr);

/* error.c: fills reterr from the connection's last error; returns -1. */
int sqlite_error(struct sqlite_conn *c, int code, struct err *reterr);
bool sqlite_damage(const struct store *st);

/* match.c, tsql.c: SQLite's result code. */
int sqlite_match_functions(struct sqlite_conn *c);
int sqlite_tsql_functions(struct sqlite_conn *c);

/* sandbox.c */
int sqlite_authorize(void *arg, int action, const char *a, const char *b, const char *schema,
		     const char *inner);
/* Looks at what the service's views read and remembers it in the store. */
MUST_CHECK int sqlite_grants_collect(struct sqlite_conn *c, struct err *reterr);
void sqlite_grants_fini(struct sqlite_store *st);

/* memory.c. Gives the connection the cache that its kind and state want; SQLite's result code. */
int sqlite_set_cache(struct sqlite_conn *c);
/* While a value of so many bytes is written or read, a writing connection keeps few pages. */
#define SQLITE_LARGE ((size_t)8 << 20)
void sqlite_narrow(struct sqlite_conn *c);
void sqlite_widen(struct sqlite_conn *c);

/* writeout.c: begins to write large commits to the disk before their flush. */
struct sqlite_writeout {
	const char *path;        /* of the log; SQLite's, until it is closed */
	int fd;                  /* -1: not needed yet */
	sqlite3_int64 from, end; /* written one after the other, and not begun yet */
};
void sqlite_writeout_init(struct sqlite_writeout *w, const char *path);
void sqlite_writeout_wrote(struct sqlite_writeout *w, int n, sqlite3_int64 at);
void sqlite_writeout_flushed(struct sqlite_writeout *w);
void sqlite_writeout_fini(struct sqlite_writeout *w);

/* vfs.c: a VFS that forwards to the system's and writes the log of a commit at once. */
#define SQLITE_VFS_NAME "procession"
void sqlite_register_vfs(void);
/* File control of the database (SQLite keeps numbers below 100 for itself): gives its struct walfile *, or NULL. */
#define SQLITE_CONTROL_WAL 0x50435300
/* walfile.c. Of the connection's log: commits from now on need not reach the disk. */
void sqlite_wal_set_lazy(sqlite3 *db, bool lazy);

#endif
