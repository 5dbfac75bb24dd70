/* test_values.c — values in PostgreSQL's binary forms: every type there and back, and what an
 * expression may have made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"
#include "value/datetime.h"
#include "value/decimal.h"

enum {
	BOOL = 16,
	BYTEA = 17,
	INT8 = 20,
	INT2 = 21,
	INT4 = 23,
	TEXT = 25,
	FLOAT4 = 700,
	FLOAT8 = 701,
	NUMERIC = 1700
};

static struct arena arena;
static PGresult *row;

static int up(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	row = NULL;
	return 0;
}

static int down(void **state)
{
	(void)state;
	PQclear(row);
	arena_fini(&arena);
	return 0;
}

/* A row with one column, as it would have come over the wire; n < 0: NULL. */
static void came(Oid type, const void *bytes, int n)
{
	PGresAttDesc column = { .name = (char *)"c", .format = 1, .typid = type };

	PQclear(row);
	row = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
	assert_true(PQsetResultAttrs(row, 1, &column));
	assert_true(PQsetvalue(row, 0, 0, (char *)(uintptr_t)bytes, n));
}

static int read_as(struct type as, struct value *ret)
{
	struct err err;

	memset(ret, 0, sizeof(*ret));
	return postgres_column(row, 0, 0, &as, &arena, ret, &err) == 0 ? 0 : err.number;
}

static struct value through(const struct value *v)
{
	struct pg_params p;
	struct value ret;
	struct err err;

	assert_int_equal(postgres_params_init(&p, &arena, 1, &err), 0);
	assert_int_equal(postgres_param(&p, &arena, v, postgres_kind(&v->type), &err), 0);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.formats[0], 1);
	came(p.types[0], p.values[0], p.values[0] == NULL ? -1 : p.lengths[0]);
	assert_int_equal(read_as(v->type, &ret), 0);
	assert_int_equal(ret.null, v->null);
	return ret;
}

static void integers_and_times(void **state)
{
	static const struct {
		enum type_id id;
		int64_t i;
	} cases[] = {
		{ TYPE_BIT, 1 },         { TYPE_TINYINT, 255 },           { TYPE_SMALLINT, INT16_MIN },
		{ TYPE_INT, INT32_MIN }, { TYPE_BIGINT, INT64_MIN },      { TYPE_MONEY, INT64_MAX },
		{ TYPE_SMALLMONEY, -1 }, { TYPE_DATETIME, DATETIME_MIN }, { TYPE_SMALLDATETIME, 18000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value v = value_int(cases[i].id, cases[i].i);

		assert_true(through(&v).u.i == cases[i].i);
		v.null = true;
		(void)through(&v);
	}
}

static void moments(void **state)
{
	static const enum type_id ids[] = { TYPE_DATE, TYPE_TIME, TYPE_DATETIME2, TYPE_DATETIMEOFFSET };
	struct moment last = { .day = DAY_LAST, .tick = MOMENT_DAY - 1, .offset = -840 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct value v = { .type = TYPE_OF(ids[i]), .u.moment = last }, r;

		if (ids[i] == TYPE_DATE)
			v.u.moment.tick = 0;
		if (ids[i] == TYPE_TIME)
			v.u.moment.day = 0;
		if (ids[i] != TYPE_DATETIMEOFFSET)
			v.u.moment.offset = 0;
		r = through(&v);
		assert_int_equal(r.u.moment.day, v.u.moment.day);
		assert_true(r.u.moment.tick == v.u.moment.tick);
		assert_int_equal(r.u.moment.offset, v.u.moment.offset);
	}
}

static void texts_bytes_and_numbers(void **state)
{
	struct value v = value_text(TYPE_LEN(TYPE_NVARCHAR, 20), (struct str){ "a\0b", 3 }), r = through(&v);

	(void)state;
	assert_int_equal(r.u.s.n, 3);
	assert_memory_equal(r.u.s.p, "a\0b", 3);
	v = value_bytes(TYPE_LEN(TYPE_VARBINARY, 20), "\0\xff", 2);
	r = through(&v);
	assert_int_equal(r.u.s.n, 2);
	assert_memory_equal(r.u.s.p, "\0\xff", 2);
	v = value_bytes(TYPE_LEN(TYPE_VARBINARY, 20), NULL, 0); /* empty is not NULL */
	assert_int_equal(through(&v).u.s.n, 0);
	v = (struct value){ .type = TYPE_OF(TYPE_FLOAT), .u.f = -0.1 };
	assert_true(through(&v).u.f == -0.1);
	v = (struct value){ .type = TYPE_OF(TYPE_GUID) };
	memcpy(v.u.guid, "0123456789abcdef", 16);
	assert_memory_equal(through(&v).u.guid, "0123456789abcdef", 16);
	v = (struct value){ .type = { .id = TYPE_DECIMAL, .precision = 10, .scale = 3 },
			    .u.dec = { .magnitude = 1234567, .negative = true } };
	r = through(&v);
	assert_true(r.u.dec.magnitude == 1234567 && r.u.dec.negative);
}

/* ---- what an expression makes ---- */

static void small_integers_and_booleans(void **state)
{
	struct value v;

	(void)state;
	came(INT4, "\xff\xff\xff\xfe", 4);
	assert_int_equal(read_as(TYPE_OF(TYPE_INT), &v), 0);
	assert_int_equal(v.u.i, -2);
	assert_int_equal(read_as(TYPE_OF(TYPE_FLOAT), &v), 0);
	assert_true(v.u.f == -2.0);
	assert_int_equal(read_as(TYPE_LEN(TYPE_NVARCHAR, 20), &v), 0);
	assert_memory_equal(v.u.s.p, "-2", 2);
	assert_int_equal(read_as(TYPE_OF(TYPE_TINYINT), &v), 8115);
	came(INT2, "\xff\xff", 2);
	assert_int_equal(read_as(TYPE_OF(TYPE_SMALLINT), &v), 0);
	assert_int_equal(v.u.i, -1);
	came(BOOL, "\1", 1);
	assert_int_equal(read_as(TYPE_OF(TYPE_BIT), &v), 0);
	assert_int_equal(v.u.i, 1);
	came(INT8, "\0\0\0\0\x80\0\0\0", 8);
	assert_int_equal(read_as(TYPE_OF(TYPE_INT), &v), 8115);
	assert_int_equal(read_as(TYPE_OF(TYPE_NULL), &v), 0);
	assert_int_equal(v.type.id, TYPE_BIGINT);
	assert_int_equal(read_as(TYPE_OF(TYPE_VARIANT), &v), 0);
	assert_int_equal(v.u.variant->type.id, TYPE_BIGINT);
	came(INT8, "\x7f\xff\xff\xff\xff\xff\xff\xff", 8); /* a day that there is not */
	assert_int_equal(read_as(TYPE_OF(TYPE_DATE), &v), 8115);
	assert_int_equal(read_as(TYPE_OF(TYPE_DATETIME2), &v), 8115);
	came(INT8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	assert_int_equal(read_as(TYPE_OF(TYPE_DATE), &v), 50010);
}

static void floats(void **state)
{
	struct value v;

	(void)state;
	came(FLOAT8, "\x3f\xf8\0\0\0\0\0\0", 8);
	assert_int_equal(read_as(TYPE_OF(TYPE_INT), &v), 0);
	assert_int_equal(v.u.i, 1);
	assert_int_equal(read_as((struct type){ .id = TYPE_DECIMAL, .precision = 5, .scale = 2 }, &v), 0);
	assert_true(v.u.dec.magnitude == 150);
	came(FLOAT4, "\x3f\xc0\0\0", 4);
	assert_int_equal(read_as(TYPE_OF(TYPE_REAL), &v), 0);
	assert_true(v.u.f == 1.5);
	came(FLOAT8, "\x7f\xf8\0\0\0\0\0\0", 8); /* not a number */
	assert_int_equal(read_as(TYPE_OF(TYPE_BIGINT), &v), 8115);
	came(TEXT, "1.5", 3);
	assert_int_equal(read_as(TYPE_OF(TYPE_FLOAT), &v), 50010);
	assert_int_equal(read_as(TYPE_OF(TYPE_INT), &v), 50010);
}

static int numeric(const char *bytes, int n, int scale, struct value *ret)
{
	came(NUMERIC, bytes, n);
	return read_as((struct type){ .id = TYPE_DECIMAL, .precision = 38, .scale = (uint8_t)scale }, ret);
}

static void numerics(void **state)
{
	/* 38 nines: ten groups, of which the first is 99 */
	static const char nines[] =
		"\0\x0a\0\x09\0\0\0\0\0\x63\x27\x0f\x27\x0f\x27\x0f\x27\x0f\x27\x0f\x27\x0f\x27\x0f"
		"\x27\x0f\x27\x0f";
	/* 1 with a scale of 16383 */
	static const char fine[] = "\0\1\0\0\0\0\x3f\xff\0\1";
	struct value v;

	(void)state;
	assert_int_equal(numeric("\0\2\0\0\x40\0\0\2\0\x0c\x13\x88", 12, 2, &v), 0); /* -12.50 */
	assert_true(v.u.dec.magnitude == 1250 && v.u.dec.negative);
	assert_int_equal(numeric("\0\0\0\0\0\0\0\3", 8, 2, &v), 0); /* 0.000 */
	assert_true(v.u.dec.magnitude == 0);
	assert_int_equal(numeric("\0\1\0\2\0\0\0\0\0\1", 10, 0, &v), 0); /* 100000000 */
	assert_true(v.u.dec.magnitude == 100000000);
	assert_int_equal(numeric("\0\1\xff\xff\0\0\0\4\x03\xe8", 10, 4, &v), 0); /* 0.1000 */
	assert_true(v.u.dec.magnitude == 1000);
	assert_int_equal(numeric(nines, sizeof(nines) - 1, 0, &v), 0);
	assert_int_equal(decimal_digits(&v.u.dec), 38);
	assert_int_equal(numeric(fine, sizeof(fine) - 1, 2, &v), 0);
	assert_true(v.u.dec.magnitude == 100);
	assert_int_equal(read_as(TYPE_OF(TYPE_FLOAT), &v), 0);
	assert_true(v.u.f == 1.0);
	assert_int_equal(read_as(TYPE_OF(TYPE_INT), &v), 0);
	assert_int_equal(v.u.i, 1);
	assert_int_equal(numeric("\0\1\0\x0a\0\0\0\0\0\1", 10, 0, &v), 8115); /* 10^40 */
	assert_int_equal(numeric("\0\0\0\0\xc0\0\0\0", 8, 0, &v), 8115);      /* NaN */
	assert_int_equal(numeric("\0\2\0\0\0\0\0\0\0\1", 10, 0, &v), 8115);   /* cut off */
	assert_int_equal(numeric("\0\1\0", 3, 0, &v), 8115);
}

static void arrays(void **state)
{
	struct value values[3] = { value_int(TYPE_BIGINT, 1), value_null(TYPE_OF(TYPE_BIGINT)),
				   value_int(TYPE_BIGINT, -1) };
	static const char expected[] = "\0\0\0\1\0\0\0\1\0\0\0\x14\0\0\0\3\0\0\0\1"
				       "\0\0\0\x08\0\0\0\0\0\0\0\1\xff\xff\xff\xff"
				       "\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xff";
	struct pg_params p;
	struct err err;

	(void)state;
	assert_int_equal(postgres_params_init(&p, &arena, 2, &err), 0);
	assert_int_equal(postgres_param_array(&p, &arena, values, 1, 3, PG_INT8, &err), 0);
	assert_int_equal(p.types[0], 1016);
	assert_int_equal(p.lengths[0], sizeof(expected) - 1);
	assert_memory_equal(p.values[0], expected, sizeof(expected) - 1);
	assert_int_equal(postgres_param_array(&p, &arena, NULL, 1, 0, PG_TEXT, &err), 0);
	assert_int_equal(p.lengths[1], 12);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct value v = value_nvarchar("text");
	struct pg_params p;
	struct err err;

	(void)state;
	assert_int_equal(postgres_params_init(&p, &arena, 1, &err), 0);
	assert_int_equal(postgres_param(&p, &arena, &v, PG_INT8, &err), -1);
	assert_int_equal(err.number, 50010);
	v = value_int(TYPE_INT, 1);
	assert_int_equal(postgres_param(&p, &arena, &v, PG_BYTEA, &err), -1);
	came(BYTEA, "short", 5);
	assert_int_equal(read_as(TYPE_OF(TYPE_GUID), &v), 50010);
	came(TEXT, "2008-01-31 01:01:01.0000000Z+9", 30);
	assert_int_equal(read_as(TYPE_OF(TYPE_DATETIMEOFFSET), &v), 50010);
}

/* Bytes that nobody reads: only their number counts here. */
static struct value large_bytes(size_t n)
{
	struct value v = { .type = TYPE_OF(TYPE_VARBINARY) };

	v.u.s = (struct str){ "", n };
	return v;
}

/* PostgreSQL ends the session that sends a message of a gibibyte. */
static void a_statement_has_no_more_than_a_row_could_hold(void **state)
{
	struct value v = large_bytes(1000000000), one = large_bytes(1);
	struct pg_params p;
	struct err err;

	(void)state;
	assert_int_equal(postgres_params_init(&p, &arena, 3, &err), 0);
	assert_int_equal(postgres_param(&p, &arena, &v, PG_BYTEA, &err), 0);
	assert_int_equal(postgres_param(&p, &arena, &one, PG_BYTEA, &err), -1);
	assert_int_equal(err.number, 50005);
	assert_non_null(strstr(err.text, "1000000000 bytes"));
	assert_int_equal(postgres_params_init(&p, &arena, 3, &err), 0);
	v = large_bytes(1000000001);
	assert_int_equal(postgres_param(&p, &arena, &v, PG_BYTEA, &err), -1);
	assert_int_equal(err.number, 50005);
	v = large_bytes((size_t)3 << 30);
	assert_int_equal(postgres_param_array(&p, &arena, &v, 1, 1, PG_BYTEA, &err), -1);
	assert_int_equal(err.number, 50005);
	assert_int_equal(postgres_param(&p, &arena, &one, PG_BYTEA, &err), 0);
	assert_int_equal(p.bytes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(integers_and_times, up, down),
		cmocka_unit_test_setup_teardown(moments, up, down),
		cmocka_unit_test_setup_teardown(texts_bytes_and_numbers, up, down),
		cmocka_unit_test_setup_teardown(small_integers_and_booleans, up, down),
		cmocka_unit_test_setup_teardown(floats, up, down),
		cmocka_unit_test_setup_teardown(numerics, up, down),
		cmocka_unit_test_setup_teardown(arrays, up, down),
		cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, up, down),
		cmocka_unit_test_setup_teardown(a_statement_has_no_more_than_a_row_could_hold, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
