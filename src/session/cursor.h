/* cursor.h — server cursors of one session: the rows of a SELECT or of a procedure, kept when the
 * cursor is opened (static, read-only), and a position that fetches move. */
#ifndef SESSION_CURSOR_H
#define SESSION_CURSOR_H

#include "base/arena.h"
#include "call/sink.h"

/* scrollopt of sp_cursoropen (wire notes 15.2) */
enum {
	CURSOR_KEYSET = 0x1,
	CURSOR_DYNAMIC = 0x2,
	CURSOR_FORWARD = 0x4,
	CURSOR_STATIC = 0x8,
	CURSOR_FAST_FORWARD = 0x10,
	CURSOR_AUTO_FETCH = 0x2000,
	CURSOR_AUTO_CLOSE = 0x4000,
	CURSOR_CHECK_TYPES = 0x8000, /* only types of the next bits will do */
	CURSOR_STATIC_DOES = 0x80000,
};
/* ccopt */
enum { CURSOR_READ_ONLY = 0x1, CURSOR_ALLOW_DIRECT = 0x2000 };
/* fetchtype of sp_cursorfetch */
enum {
	FETCH_FIRST = 0x1,
	FETCH_NEXT = 0x2,
	FETCH_PRIOR = 0x4,
	FETCH_LAST = 0x8,
	FETCH_ABSOLUTE = 0x10,
	FETCH_RELATIVE = 0x20,
	FETCH_REFRESH = 0x80,
	FETCH_INFO = 0x100,
};

struct cursor {
	struct sink sink; /* takes the rows while the cursor is opened */
	struct sink *messages;
	int32_t handle;
	uint32_t scroll; /* the type that it has: CURSOR_FORWARD, CURSOR_STATIC, CURSOR_FAST_FORWARD */
	bool auto_close;
	struct arena arena;     /* columns and rows */
	struct column *columns; /* the last one is ROWSTAT, which says that the row is there */
	size_t ncolumns;
	struct value **rows;
	size_t nrows, cap;
	bool complete; /* the first result set has ended: later ones are not the cursor's */
	bool full;     /* a row found no room */
	/* the first row of the last fetch, from 1; 0: before all, nrows + 1: after all */
	int64_t position;
	int64_t fetched; /* how many rows the last fetch wanted */
};
struct cursor_table {
	struct cursor **items; /* owned */
	size_t n, cap;
	struct cursor *opening; /* owned: the one that a request is opening; NULL: none */
	int32_t next;
	struct budget *budget; /* the session's, for all of them */
};

void session_cursors_init(struct cursor_table *t, struct budget *b);
void session_cursors_fini(struct cursor_table *t);
/* A new one, without rows and a handle: it is being opened, and no other one may be. However its
 * request ends, it is kept or given up. limit: bytes that it may have. */
MUST_CHECK int session_cursor_new(struct cursor_table *t, struct sink *messages, size_t limit,
				  struct cursor **ret, struct err *reterr);
/* The one that is being opened has its rows, and gets its handle; most: cursors at once. */
MUST_CHECK int session_cursor_keep(struct cursor_table *t, size_t most, struct err *reterr);
/* It will not be opened any more; there need be none. */
void session_cursor_give_up(struct cursor_table *t);
struct cursor *session_cursor_find(const struct cursor_table *t, int32_t handle);
bool session_cursor_drop(struct cursor_table *t, int32_t handle);

/* Moves the cursor. *ret_first: the first row, from 0; *ret_n: how many. -1: this cursor cannot. */
MUST_CHECK int session_cursor_move(struct cursor *c, int type, int64_t row, int64_t n, size_t *ret_first,
				   size_t *ret_n);
/* What FETCH_INFO tells: 0 before all rows, -1 after them. */
int64_t session_cursor_where(const struct cursor *c);

#endif
