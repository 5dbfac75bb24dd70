/* store.h — a database as one SQLite file, that can run the statements of procedures. A struct
 * store is one database; a struct store_conn is used by one thread at a time. Private to the
 * SQLite engine. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <pthread.h>

#include "base/budget.h"
#include "base/err.h"
#include "catalogue/copyrows.h"
#include "catalogue/proc.h"

struct store;
struct store_conn;
struct store_stmt;

struct store_options {
	/* file of the database; ":memory:" for tests: a file that goes away with the store */
	const char *path;
	const char *name; /* database name, for messages */
	const struct service_procs *service;
	unsigned cache_mib; /* memory for pages of the writing connection; 0: 16 */
	/* it was there before: a file that is missing or empty is refused, instead of made anew */
	bool known;
	const char *identity; /* that the file must have; NULL or "": whichever it has */
	/* the file is taken whichever identity it has, and without what a damaged WAL has lost */
	bool accept;
	/* that every commit shares; NULL: none. Borrowed: outlives the store */
	pthread_rwlock_t *commits;
};
#define STORE_IDENTITY 33 /* 32 hexadecimal digits and a NUL */

/* Creates the file and its schema or migrates it; refuses a newer schema or another service's
 * file, saying so. */
MUST_CHECK int store_open(const struct store_options *o, struct store **ret, struct err *reterr);
void store_close(struct store *st);
/* Lets go of the file, if no connection has it; the store itself stays, for those who ask for its
 * numbers. Nobody connects any more. */
void store_let_go(struct store *st);
MUST_CHECK int store_connect(struct store *st, bool read_only, struct store_conn **ret, struct err *reterr);
/* Reads only, and waits for no other process, also while it connects: store_set_waits(). */
MUST_CHECK int store_connect_now(struct store *st, struct store_conn **ret, struct err *reterr);
void store_disconnect(struct store_conn *c);
/* PRAGMA integrity_check, foreign keys and checksums: 0 when sound; ret_report from malloc
 * either way. */
MUST_CHECK int store_check(struct store *st, char **ret_report, struct err *reterr);
/* A copy of the whole, as it is at one moment: store_hold begins to see, on a connection that only
 * reads; then store_backup writes it to a file that does not exist yet, some pages at a time;
 * goes_on (NULL: always) is asked in between. Beside all else. store_release_held also
 * disconnects. */
MUST_CHECK int store_hold(struct store_conn *c, struct err *reterr);
MUST_CHECK int store_backup(struct store_conn *c, const char *file, bool (*goes_on)(void *arg), void *arg,
			    struct err *reterr);
void store_release_held(struct store_conn *c);

/* Which database the file is: made with it, kept by every copy of it. Fixed but for renew, which
 * gives a copy an identity of its own; before others use the store. */
const char *store_identity(const struct store *st);
MUST_CHECK int store_identity_renew(struct store *st, struct err *reterr);
/* The engine has found the file to be broken, now or since it was opened. Thread-safe. */
bool store_damaged(const struct store *st);

/* Numbers of the service, kept by counting (catalogue/proc.h). keep: by this connection, the only
 * one that changes what they count, from now on. count: all that there was when this one, which
 * only reads, began to see, and before the other committed anything. read: -> false until then.
 * Thread-safe. */
bool store_has_numbers(const struct store *st);
MUST_CHECK int store_tally_keep(struct store_conn *c, struct err *reterr);
MUST_CHECK int store_tally_count(struct store_conn *c, struct err *reterr);
bool store_tally_read(struct store *st, int64_t *dst);

/* The keys of all rows that a connection changes from now on, told once their transaction has been
 * committed; while it has none. NULL: no more. */
struct store_noted;
struct store_noted *store_noted_new(void);    /* NULL: no memory */
void store_noted_free(struct store_noted *n); /* no connection has it. NULL is welcome */
/* Of which tables; copied. */
void store_noted_tables(struct store_noted *n, const struct copy_tables *t);
MUST_CHECK int store_note(struct store_conn *c, struct store_noted *noted, struct err *reterr);
/* All that were told and not taken yet. Thread-safe. Together with what a transaction sees, while
 * nobody commits: all that changed before it. */
MUST_CHECK int store_noted_take(struct store_noted *n, struct copy_keys *add, struct err *reterr);

/* The tables of the service as rows, on a connection; used by one thread at a time. */
struct store_rows;
MUST_CHECK int store_rows_tables(struct store_conn *c, struct copy_tables *ret, struct err *reterr);
MUST_CHECK int store_rows_new(struct store_conn *c, struct store_rows **ret, struct err *reterr);
void store_rows_free(struct store_rows *r); /* NULL is welcome */
/* Rows in the order of their keys; those of some keys; and their number. */
MUST_CHECK int store_rows_each(struct store_rows *r, const struct copy_table *t, copy_row *row, void *arg,
			       struct err *reterr);
MUST_CHECK int store_rows_find(struct store_rows *r, const struct copy_table *t, const struct copy_key *keys,
			       size_t n, copy_row *row, void *arg, struct err *reterr);
MUST_CHECK int store_rows_number(struct store_rows *r, int64_t *ret, struct err *reterr, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
MUST_CHECK int store_rows_put(struct store_rows *r, const struct copy_table *t, const struct copy_cell *cells,
			      struct err *reterr);
MUST_CHECK int store_rows_remove(struct store_rows *r, const struct copy_table *t,
				 const struct copy_key *keys, size_t n, struct err *reterr);
MUST_CHECK int store_rows_own(struct store_rows *r, const struct copy_table *t, const struct copy_key *keys,
			      size_t n, struct err *reterr);
/* The number that was given last, of a table that never gives one twice. */
MUST_CHECK int store_rows_set_last(struct store_rows *r, const struct copy_table *t, int64_t last,
				   struct err *reterr);
MUST_CHECK int store_identity_set(struct store_conn *c, const char *identity, struct err *reterr);

/* Runs a script of statements without values: metadata, start-up. Not for anything a client
 * sent. */
MUST_CHECK int store_script(struct store_conn *c, const char *sql, struct err *reterr);

/* Transactions. Depth 1 is the group's or the client's; savepoints nest inside, numbered. */
MUST_CHECK int store_begin(struct store_conn *c, struct err *reterr);
MUST_CHECK int store_commit(struct store_conn *c, struct err *reterr); /* durable when it returns 0 */
/* Survives the end of this process when it returns 0, but a loss of power only after the next
 * store_commit or store_flush. Order is kept: what survives is all up to some commit. */
MUST_CHECK int store_commit_lazily(struct store_conn *c, struct err *reterr);
/* Makes what has been committed durable. Thread-safe, beside all else. */
MUST_CHECK int store_flush(struct store *st, struct err *reterr);
/* -1 after any flush that failed, of a commit, of store_flush or of a checkpoint: what was
 * committed may not be on the disk, however well later flushes end. Nothing is to be answered
 * from the store then, and no commit succeeds, until store_mend, on a writing connection without
 * a transaction, has made all of it durable anew. Thread-safe. */
MUST_CHECK int store_sound(struct store *st, struct err *reterr);
MUST_CHECK int store_mend(struct store_conn *c, struct err *reterr);
/* Whether the last commit on this connection wrote anything. */
bool store_commit_wrote(const struct store_conn *c);
void store_rollback(struct store_conn *c);
MUST_CHECK int store_save(struct store_conn *c, unsigned n, struct err *reterr);
MUST_CHECK int store_release(struct store_conn *c, unsigned n, struct err *reterr);
MUST_CHECK int store_rollback_to(struct store_conn *c, unsigned n, struct err *reterr);
/* False when the engine itself gave the transaction up (disk full, interrupt): everything since
 * begin is gone. */
bool store_in_transaction(struct store_conn *c);

/* Of a reading transaction: whether nothing has been committed since it saw its state. It goes
 * on with the newest state. */
MUST_CHECK int store_is_current(struct store_conn *c, bool *ret, struct err *reterr);

/* Pages of the write-ahead log, whether they have been copied or not: its length. */
#define STORE_PAGE 4096
unsigned store_wal_pages(struct store *st);
/* Size of the file without its WAL. Thread-safe. */
uint64_t store_file_bytes(const struct store *st);

/* Whether statements wait while another process has the database locked, as they do unless told
 * otherwise, or fail at once; then store_was_busy() tells one such failure since. Who may not wait
 * takes the lock that commits share before it begins, if it can, and gives it up after its last
 * commit. */
void store_set_waits(struct store_conn *c, bool waits);
bool store_was_busy(struct store_conn *c);
MUST_CHECK bool store_commits_try(struct store_conn *c);
void store_commits_give(struct store_conn *c);

#define STORE_STEPS_A_QUESTION 2000 /* of the engine: well below a millisecond */
/* Asked every so many engine steps while a statement runs; true stops it with ERR_CANCELLED.
 * NULL: never. */
void store_set_interrupt(struct store_conn *c, bool (*stop)(void *arg), void *arg);

/* Work that the engine has put off to keep commits short (pages of the write-ahead log), how
 * much of it makes it worth doing, and doing it, on any connection that may write. alone: nobody
 * writes meanwhile, so that all of it can be done and the WAL begin anew. Includes a flush. */
unsigned store_wal_waiting(struct store *st);
unsigned store_checkpoint_worth(struct store *st);
void store_checkpoint(struct store_conn *c, bool alone);

/* Statements of the catalogue are prepared once per connection and kept. At most one use at a
 * time of each. With the id STATEMENT_ONCE it is prepared for this use only: for C code with
 * statements of its own. */
#define STATEMENT_ONCE UINT16_MAX
MUST_CHECK int store_statement(struct store_conn *c, const struct statement *s, struct store_stmt **ret,
			       struct err *reterr);
/* Text of a translated query; freed by store_finish. The sandbox lets it read the service's
 * views only, whatever the text says. */
MUST_CHECK int store_query(struct store_conn *c, const char *sql, struct store_stmt **ret,
			   struct err *reterr);
/* Not copied: *v and what it points to must stay until store_finish. */
MUST_CHECK int store_bind(struct store_stmt *s, unsigned index /* from 1 */, const struct value *v,
			  struct err *reterr);
/* 1: a row, 0: no more, -1: error. Unique and foreign-key violations come as 2627 and 547. */
MUST_CHECK int store_step(struct store_stmt *s, struct err *reterr);
/* Column of the current row as a value of the type; slices are valid until the next step.
 * TYPE_NULL: whatever it is (bigint, float, nvarchar, varbinary). */
MUST_CHECK int store_column(struct store_stmt *s, unsigned index /* from 0 */, const struct type *as,
			    struct value *ret, struct err *reterr);
/* The binary value that is in this column of the row with this number, in the arena: for large
 * ones, of which no other copy is made on the way. */
MUST_CHECK int store_fetch(struct store_conn *c, const char *table, const char *column, int64_t row,
			   struct arena *a, struct value *ret, struct err *reterr);
/* The same in two steps: how long it is; and its bytes, exactly so many, to where they are
 * wanted. */
MUST_CHECK int store_fetch_size(struct store_conn *c, const char *table, const char *column, int64_t row,
				size_t *ret, struct err *reterr);
MUST_CHECK int store_fetch_into(struct store_conn *c, const char *table, const char *column, int64_t row,
				uint8_t *dst, size_t n, struct err *reterr);
/* Rows changed on this connection since it was made, triggers and cascades included: compare
 * before and after. */
uint64_t store_changes(struct store_conn *c);
/* Ends the use of a statement: resets a kept one, frees a query. NULL is welcome. */
void store_finish(struct store_stmt *s);

#endif
