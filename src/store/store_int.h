/* store_int.h — the seam between store.h and the engines behind it. An engine embeds these as the first member of its own structs and offers a
 * table of functions; store.c only forwards. A new engine is a new folder with a table, and one line in store_open(). */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include "store/store.h"

struct store_ops {
	int (*open)(const struct store_options *o, struct store **ret, struct err *reterr);
	void (*close)(struct store *st);
	int (*connect)(struct store *st, bool read_only, struct store_conn **ret, struct err *reterr);
	void (*disconnect)(struct store_conn *c);
	int (*check)(struct store *st, char **ret_report, struct err *reterr);
	const char *(*identity)(const struct store *st);
	int (*identity_renew)(struct store *st, struct err *reterr);
	bool (*damage)(const struct store *st);
	int (*script)(struct store_conn *c, const char *sql, struct err *reterr);

	int (*begin)(struct store_conn *c, struct err *reterr);
	int (*commit)(struct store_conn *c, struct err *reterr);
	int (*commit_lazily)(struct store_conn *c, struct err *reterr);
	int (*flush)(struct store *st, struct err *reterr);
	int (*sound)(struct store *st, struct err *reterr);
	int (*mend)(struct store_conn *c, struct err *reterr);
	void (*rollback)(struct store_conn *c);
	int (*save)(struct store_conn *c, unsigned n, struct err *reterr);
	int (*release)(struct store_conn *c, unsigned n, struct err *reterr);
	int (*rollback_to)(struct store_conn *c, unsigned n, struct err *reterr);
	bool (*in_transaction)(struct store_conn *c);
	int (*is_current)(struct store_conn *c, bool *ret, struct err *reterr);
	void (*set_waits)(struct store_conn *c, bool waits);
	bool (*was_busy)(struct store_conn *c);
	void (*set_interrupt)(struct store_conn *c, bool (*stop)(void *arg), void *arg);
	unsigned (*wal_waiting)(struct store *st);
	unsigned (*checkpoint_worth)(struct store *st);
	unsigned (*wal_pages)(struct store *st);
	void (*checkpoint)(struct store_conn *c, bool alone);

	int (*statement)(struct store_conn *c, const struct statement *s, struct store_stmt **ret,
			 struct err *reterr);
	int (*query)(struct store_conn *c, const char *sql, struct store_stmt **ret, struct err *reterr);
	int (*bind)(struct store_stmt *s, unsigned index, const struct value *v, struct err *reterr);
	int (*step)(struct store_stmt *s, struct err *reterr);
	int (*column)(struct store_stmt *s, unsigned index, const struct type *as, struct value *ret,
		      struct err *reterr);
	int (*fetch)(struct store_conn *c, const char *table, const char *column, int64_t row,
		     struct arena *a, struct value *ret, struct err *reterr);
	int (*fetch_size)(struct store_conn *c, const char *table, const char *column, int64_t row,
			  size_t *ret, struct err *reterr);
	int (*fetch_into)(struct store_conn *c, const char *table, const char *column, int64_t row,
			  uint8_t *dst, size_t n, struct err *reterr);
	uint64_t (*changes)(struct store_conn *c);
	void (*finish)(struct store_stmt *s);
};

struct store {
	const struct store_ops *ops;
};
struct store_conn {
	const struct store_ops *ops;
};
struct store_stmt {
	const struct store_ops *ops;
};

extern const struct store_ops sqlite_store_ops;

#endif
