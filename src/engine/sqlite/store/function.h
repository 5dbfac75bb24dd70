/* function.h — private: what the files with functions for SQLite (match.c, tsql.c) share. */
#ifndef STORE_SQLITE_FUNCTION_H
#define STORE_SQLITE_FUNCTION_H

#include "base/meter.h"
#include "engine/sqlite/store/store_int.h"
#include "value/pattern.h"

struct function_entry {
	const char *name;
	int n; /* arguments */
	void (*fn)(sqlite3_context *ctx, int n, sqlite3_value **v);
};

/* SQLite's result code. */
int store_function_register(struct store_conn *c, const struct function_entry *table, size_t n);

/* Asks whether the connection was told to stop. Short calls ask nothing: the virtual machine
 * does between them. */
struct meter store_function_meter(sqlite3_context *ctx);
struct str store_function_text(sqlite3_value *v); /* valid until v is read in another way */
bool store_function_any_null(int n, sqlite3_value **v);

/* So many bytes, and one more for SQLite; NULL: it has been told why not. */
char *store_function_room(sqlite3_context *ctx, size_t n);
void store_function_return(sqlite3_context *ctx, char *dst,
			   size_t n); /* of store_function_room, which it takes */

void store_function_match(sqlite3_context *ctx, const struct pattern *k, struct str text);
/* what is not empty; searched: as in text_replace(). */
void store_function_replace(sqlite3_context *ctx, struct str s, struct str searched, struct str what,
			    struct str with);

#endif
