/* fuzz_postgres.c — a column of an answer of PostgreSQL, of any type, read as any of ours: two
 * bytes that choose, then the value. And texts there and back. */
#include "fuzz.h"

#include "engine/postgres/postgres_int.h"
#include "value/convert.h"
#include "value/decimal.h"

static const Oid kinds[] = { 16, 17, 19, 20, 21, 23, 25, 26, 700, 701, 705, 1042, 1043, 1700 };

static PGresult *row_of(Oid type, const uint8_t *bytes, size_t n)
{
	PGresAttDesc column = { .name = (char *)"c", .format = 1, .typid = type };
	PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);

	HOLDS(PQsetResultAttrs(r, 1, &column) && PQsetvalue(r, 0, 0, (char *)(uintptr_t)bytes, (int)n));
	return r;
}

static void read_column(const PGresult *r, struct type as, struct arena *a)
{
	struct value v;
	struct str text;
	struct err err;

	if (postgres_column(r, 0, 0, &as, a, &v, &err) < 0) {
		HOLDS(err.number != 0);
		return;
	}
	HOLDS(!v.null);
	if (as.id == TYPE_DECIMAL)
		HOLDS(decimal_fits(&v.u.dec, as.precision));
	if (v.type.id != TYPE_VARIANT && value_to_text(&v, a, &text, &err) < 0)
		HOLDS(err.number != 0); /* it can be shown, or is refused */
}

static void there_and_back(struct str s, struct arena *a)
{
	struct str in, out, again;
	struct err err;

	/* what came is taken for one of our texts; then it goes out and comes back as it is */
	if (postgres_text_in(s, a, &in, &err) < 0 || postgres_text_out(in, a, &out, &err) < 0 ||
	    postgres_text_in(out, a, &again, &err) < 0)
		return;
	HOLDS(again.n == in.n && (in.n == 0 || memcmp(again.p, in.p, in.n) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;
	struct type as;
	PGresult *r;

	if (size < 2 || size > 4096)
		return 0;
	arena_init(&a, 1 << 20);
	as = (struct type){
		.id = (uint8_t)(data[1] % (TYPE_COUNT)), .length = 4000, .precision = 38, .scale = 4
	};
	r = row_of(kinds[data[0] % ARRAY_LEN(kinds)], data + 2, size - 2);
	read_column(r, as, &a);
	PQclear(r);
	there_and_back((struct str){ (const char *)data + 2, size - 2 }, &a);
	arena_fini(&a);
	return 0;
}
