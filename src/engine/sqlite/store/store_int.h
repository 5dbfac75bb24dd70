/* store_int.h — what the files of this folder share: the store, a connection to it, a statement of
 * that; and the functions that they offer each other. The README says what is in which file. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "catalogue/query.h"
#include "engine/sqlite/store/store.h"
#include "engine/sqlite/store/walscan.h"

/* A column that a readable view reads (or its table as such: column ""), or a function that it
 * uses (table NULL). */
struct store_grant {
	char *table; /* owned */
	char *name;  /* owned */
};

/* So many frames of a WAL; 0: none. */
struct store_marked {
	struct wal_salt salt;
	uint32_t frames;
};

/* How much of the WAL has been flushed; see walmark.c. */
struct store_mark {
	struct lock lock;
	int fd;                        /* owned; -1: nothing is marked */
	int wal_fd;                    /* owned: the WAL; -1: not open */
	uint32_t page_size;            /* of the WAL */
	struct store_marked committed; /* the last commit */
	struct store_marked written;   /* what the file says */
};

struct store {
	char *path, *name; /* owned */
	const struct service_procs *service;
	unsigned cache_mib;
	pthread_rwlock_t *commits;     /* borrowed; NULL: none */
	bool temporary;                /* the file goes away with the store */
	int lock_fd;                   /* owned: keeps other servers from the file; -1: none */
	char identity[STORE_IDENTITY]; /* fixed once the store is open */
	atomic_bool damaged;           /* SQLite has found the file to be broken */
	struct store_grant *grants;    /* owned; fixed once the store is open */
	size_t ngrants, grants_room;
	bool grants_failed;      /* no memory while they were collected */
	atomic_uint connections; /* open now; none when the store is closed */
	/* pages in the write-ahead log; of these, copied or not worth another try */
	atomic_uint wal_pages, wal_done;
	atomic_uint file_pages; /* in the file, when the WAL was last copied */
	atomic_int flush_error; /* errno of the flush that failed; 0: the store is sound */
	struct store_mark mark;
	/* as the service declares them, with all that was committed; right once counted is true */
	atomic_llong numbers[SERVICE_NUMBERS_MAX];
	atomic_bool counted;
};

/* other programs may hold the file for a moment: backup, sqlite3 */
#define STORE_BUSY_MS 10000

struct store_stmt {
	struct store_conn *conn;
	sqlite3_stmt *handle;           /* owned; NULL: not prepared yet */
	const struct statement *source; /* of a kept one */
	bool kept;                      /* reset by finish, not freed */
	bool query;                     /* in the sandbox */
	bool in_use;                    /* from store_statement() or store_query() to store_finish() */
	struct value *inner;            /* owned: inner values of sql_variant columns, one a column */
};

/* tally.c: what this connection has added to the numbers of its store since its transaction
 * began. */
struct store_tally {
	bool kept; /* it is the one that keeps them */
	int64_t pending[SERVICE_NUMBERS_MAX];
	int64_t before[SERVICE_NUMBERS_MAX];   /* pending, when the statement began */
	int64_t (*saved)[SERVICE_NUMBERS_MAX]; /* owned: pending, at each savepoint */
	size_t nsaved;
};

/* noted.c: what this connection has changed since its transaction began. */
struct store_note {
	struct store_noted *to; /* borrowed; NULL: nothing is noted */
	struct copy_keys pending;
	bool lost; /* a key could not be kept: no memory */
};

#define STORE_SAVEPOINTS 8 /* depths whose statements are kept prepared */
enum savepoint_verb { SAVEPOINT_SAVE, SAVEPOINT_RELEASE, SAVEPOINT_BACK, SAVEPOINT_VERBS };

struct store_conn {
	struct store *store; /* outlives the connection */
	sqlite3 *db;
	bool read_only;
	/* does not wait for other processes; had to, since it was told so */
	bool impatient, busy;
	bool commits_taken; /* the lock that commits share, for all of its commits until it is given up */
	bool sandbox;       /* what is prepared or run now is a client's query */
	bool damaged;       /* a value did not have its checksum */
	bool failed;        /* a function of tsql.c did, while a statement ran */
	struct err failure; /* why it did */
	char denied[160];   /* what the sandbox refused last */
	sqlite3_stmt *begin, *commit, *rollback;
	sqlite3_stmt *savepoints[SAVEPOINT_VERBS][STORE_SAVEPOINTS];
	struct store_stmt *stmts; /* owned: by statement id */
	size_t nstmts;
	bool (*stop)(void *arg);
	void *stop_arg;
	/* the commit under way has written to the WAL: not so one that changed nothing */
	bool wrote_wal;
	bool narrow; /* a large value is under way: few pages are kept */
	struct store_tally tally;
	struct store_note note;
};

/* file.c: path, name and lock of the store; makes the file, or refuses a known one that is
 * missing or empty. */
MUST_CHECK int store_file_prepare(struct store *st, const struct store_options *o, bool *ret_new,
				  struct err *reterr);
/* makes the name of a new file durable */
MUST_CHECK int store_file_keep(const struct store *st, struct err *reterr);
/* after the last connection: its lock; and all of it */
void store_file_let_go(struct store *st);
void store_file_release(struct store *st);
/* "The file … of database … why. remedy", and the same for a file that has lost what was in it. */
int store_refuse(const struct store *st, const char *why, const char *remedy, struct err *reterr);
int store_refuse_lost(const struct store *st, const char *why, struct err *reterr);
/* schema.c: creates or migrates; refuses what is not ours, and what is empty though it is known. */
MUST_CHECK int store_schema_apply(struct store_conn *c, bool known, struct err *reterr);
/* identity.c: gives the file its identity or compares it with the expected one ("": any). */
MUST_CHECK int store_identity_settle(struct store_conn *c, const char *expected, bool accept,
				     struct err *reterr);

/* checkpoint.c */
void store_wal_watch(struct store_conn *c);

/* checksum.c: SQLite's result code. */
int store_checksum_register(struct store_conn *c);

/* messages.c: for the whole process, before SQLite is used. */
void store_messages_set_up(void);

/* mend.c */
void store_unsound(struct store *st, int system_error);

/* walmark.c. Before SQLite opens the file: refuses a WAL that has lost what had been flushed;
 * accept: says so and goes on. */
MUST_CHECK int store_mark_check(struct store *st, bool accept, struct err *reterr);
void store_mark_init(struct store_mark *m);
void store_mark_disconnected(struct store *st); /* a connection was closed */
void store_mark_let_go(struct store *st);       /* after the last connection: its files */
void store_mark_fini(struct store *st);
/* After a commit; flushed: it is on the disk. */
void store_mark_committed(struct store *st, bool flushed);
/* Around a flush on another thread: what it will cover at least; and that it did. */
void store_mark_flushing(struct store *st, struct store_marked *ret);
void store_mark_flushed(struct store *st, const struct store_marked *what);

/* tally.c: along with the transaction. Around a statement of a connection that keeps numbers. */
void store_tally_begin(struct store_conn *c);
void store_tally_commit(struct store_conn *c);
MUST_CHECK int store_tally_save(struct store_conn *c, unsigned n, struct err *reterr);
void store_tally_back(struct store_conn *c, unsigned n);
void store_tally_statement(struct store_conn *c);
void store_tally_failed(struct store_conn *c);
void store_tally_fini(struct store_conn *c);

/* noted.c: along with the transaction. */
void store_note_begin(struct store_conn *c);
void store_note_commit(struct store_conn *c);
void store_note_fini(struct store_conn *c);

/* transaction.c */
void store_transaction_fini(struct store_conn *c);

/* stmt.c */
void store_stmts_fini(struct store_conn *c);

/* values.c: SQLite's result code. */
int store_bind_value(sqlite3_stmt *h, int index, const struct value *v);
/* inner: room for the inner value of a sql_variant. */
MUST_CHECK int store_column_value(sqlite3_stmt *h, int index, const struct type *as, struct value *inner,
				  struct value *ret, struct err *reterr);

/* error.c: fills reterr from the connection's last error; returns -1. */
int store_error(struct store_conn *c, int code, struct err *reterr);

/* match.c, tsql.c: SQLite's result code. */
int store_match_functions(struct store_conn *c);
int store_tsql_functions(struct store_conn *c);

/* sandbox.c */
int store_authorize(void *arg, int action, const char *a, const char *b, const char *schema,
		    const char *inner);
/* Looks at what the service's views read and remembers it in the store. */
MUST_CHECK int store_grants_collect(struct store_conn *c, struct err *reterr);
void store_grants_fini(struct store *st);

/* memory.c. Gives the connection the cache that its kind and state want; SQLite's result code. */
int store_set_cache(struct store_conn *c);
/* While a value of so many bytes is written or read, a writing connection keeps few pages. */
#define STORE_LARGE ((size_t)8 << 20)
void store_narrow(struct store_conn *c);
void store_widen(struct store_conn *c);

/* writeout.c: begins to write large commits to the disk before their flush. */
struct store_writeout {
	const char *path;        /* of the WAL; SQLite's, until it is closed */
	int fd;                  /* -1: not needed yet */
	sqlite3_int64 from, end; /* written one after the other, and not begun yet */
};
void store_writeout_init(struct store_writeout *w, const char *path);
void store_writeout_wrote(struct store_writeout *w, int n, sqlite3_int64 at);
void store_writeout_flushed(struct store_writeout *w);
void store_writeout_fini(struct store_writeout *w);

/* vfs.c: a VFS that forwards to the system's and writes the WAL of a commit at once. */
#define STORE_VFS_NAME "procession"
void store_register_vfs(void);
/* File control of the database (SQLite keeps numbers below 100 for itself): gives its struct
 * walfile *, or NULL. */
#define STORE_CONTROL_WAL 0x50435300
/* walfile.c. Of the connection's WAL: commits from now on need not reach the disk. */
void store_wal_set_lazy(sqlite3 *db, bool lazy);

#endif
