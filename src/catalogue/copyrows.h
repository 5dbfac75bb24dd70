/* copyrows.h — tables, rows and keys of a database that is copied, as every engine has them. */
#ifndef CATALOGUE_COPYROWS_H
#define CATALOGUE_COPYROWS_H

#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"

#define COPY_TABLES 16
#define COPY_COLUMNS 16
#define COPY_NAME 32
#define COPY_KEY_NUMBERS 3
#define COPY_KEY_BYTES 16

enum copy_kind { COPY_NULL, COPY_NUMBER, COPY_TEXT, COPY_BYTES };

struct copy_cell {
	enum copy_kind kind;
	int64_t number;
	struct str bytes; /* of COPY_TEXT and COPY_BYTES; valid until the next row */
};

struct copy_column {
	char name[COPY_NAME];
	enum copy_kind kind;
	/* each engine has its own value, which it makes by this expression over its own rows
	 * (copier.c says for which); NULL: the value is copied */
	const char *own;
};
struct copy_table {
	char name[COPY_NAME];
	struct copy_column columns[COPY_COLUMNS];
	unsigned ncolumns;
	/* the primary key, by number of columns: numbers, or bytes, then numbers. 0: a table of one
	 * row */
	unsigned keys[COPY_KEY_NUMBERS], nkeys;
	bool counts;   /* the key is a number that the engine gives */
	bool sequence; /* and that it never gives twice */
};
struct copy_tables {
	struct copy_table table[COPY_TABLES];
	unsigned n;
};

/* A row that has changed, by its key. */
struct copy_key {
	uint8_t table;
	uint8_t nbytes;
	uint8_t bytes[COPY_KEY_BYTES];
	int64_t numbers[COPY_KEY_NUMBERS];
};
#define COPY_KEYS_MOST ((size_t)4 << 20) /* that are remembered: 192 MiB */
struct copy_keys {
	struct copy_key *list; /* from malloc */
	size_t n, room;
};
/* -1: no memory, or too many. */
MUST_CHECK static inline int catalogue_copy_keys_add(struct copy_keys *k, const struct copy_key *key)
{
	if (k->n == k->room) {
		size_t room = k->room == 0 ? 256 : k->room * 2;
		struct copy_key *more = room > COPY_KEYS_MOST ? NULL : realloc(k->list, room * sizeof(*more));

		if (more == NULL)
			return -1;
		k->list = more;
		k->room = room;
	}
	k->list[k->n++] = *key;
	return 0;
}

static inline void catalogue_copy_keys_fini(struct copy_keys *k)
{
	free(k->list);
	*k = (struct copy_keys){ .n = 0 };
}

typedef int copy_row(void *arg, const struct copy_cell *cells, struct err *reterr);

#endif
