/* checksum.c — two functions for the statements of procedures, so that bytes which the disk has
 * changed never come back as a value:
 *   checksum(value)        a whole number of 32 bits (the CRC of zlib, and of most others), stored
 *                          beside the value, best on another page
 *   verified(value, sum)   the value, if it still has that checksum; error 824 otherwise
 * NULL has a checksum, too: a value that became NULL is as wrong as another one. */
#include <zlib.h>

#include "engine/sqlite/store/store_int.h"

#define SUM_OF_NULL 0x4e554c4c

static int32_t sum_of(sqlite3_value *v)
{
	const uint8_t *p;

	if (sqlite3_value_type(v) == SQLITE_NULL)
		return SUM_OF_NULL;
	p = sqlite3_value_blob(v);
	return (int32_t)crc32_z(crc32_z(0, NULL, 0), p == NULL ? (const uint8_t *)"" : p,
				(size_t)sqlite3_value_bytes(v));
}

static void checksum(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	(void)n;
	sqlite3_result_int64(ctx, sum_of(args[0]));
}

static void verified(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	struct store_conn *c = sqlite3_user_data(ctx);

	(void)n;
	if (sqlite3_value_type(args[1]) == SQLITE_INTEGER &&
	    sqlite3_value_int64(args[1]) == sum_of(args[0])) {
		sqlite3_result_value(ctx, args[0]);
		return;
	}
	c->damaged = true; /* store_error() tells it */
	sqlite3_result_error(ctx, "the checksum of a stored value is wrong", -1);
}

int store_checksum_register(struct store_conn *c)
{
	/* innocuous: the view "damaged" may use them */
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function_v2(c->db, "checksum", 1, flags, c, checksum, NULL, NULL, NULL);

	return rc != SQLITE_OK ? rc
			       : sqlite3_create_function_v2(c->db, "verified", 2, flags, c, verified, NULL,
							    NULL, NULL);
}
