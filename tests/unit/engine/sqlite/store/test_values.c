/* test_values.c — every type goes into the store and comes back as it was; in the storage class
 * that the schema expects. */
#include "fixture.h"

#include <string.h>

#include "value/datetime.h"

/* Binds v, and reads it back as its own type; class is SQLite's typeof(). The result's slices
 * live until the next call. */
static struct store_stmt *last;

static struct value through(struct fixture *f, const struct value *v, const struct type *as,
			    const char *class)
{
	static const struct statement s = { .sql = "SELECT ?1, typeof(?1)", .id = STATEMENT_ONCE };
	const struct type text = TYPE_LEN(TYPE_NVARCHAR, 10);
	struct value ret, kind;

	store_finish(last);
	last = NULL;
	assert_int_equal(store_statement(f->conn, &s, &last, &f->err), 0);
	assert_int_equal(store_bind(last, 1, v, &f->err), 0);
	assert_int_equal(store_step(last, &f->err), 1);
	if (store_column(last, 0, as, &ret, &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(store_column(last, 1, &text, &kind, &f->err), 0);
	assert_int_equal(kind.u.s.n, strlen(class));
	assert_memory_equal(kind.u.s.p, class, kind.u.s.n);
	assert_false(ret.null);
	return ret;
}

static int values_down(void **state)
{
	store_finish(last);
	last = NULL;
	return fixture_down(state);
}

static void integers_and_times_are_integers(void **state)
{
	static const struct {
		enum type_id id;
		int64_t i;
	} cases[] = {
		{ TYPE_BIT, 1 },         { TYPE_TINYINT, 255 },           { TYPE_SMALLINT, -32768 },
		{ TYPE_INT, INT32_MIN }, { TYPE_BIGINT, INT64_MIN },      { TYPE_MONEY, INT64_MAX },
		{ TYPE_SMALLMONEY, -1 }, { TYPE_DATETIME, DATETIME_MIN }, { TYPE_SMALLDATETIME, 18000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value v = value_int(cases[i].id, cases[i].i),
			     r = through(*state, &v, &v.type, "integer");

		assert_true(r.u.i == cases[i].i);
		assert_int_equal(r.type.id, cases[i].id);
	}
}

static void text_keeps_nul_bytes_and_lone_surrogates(void **state)
{
	static const char bytes[] = "a\0b\xed\xa0\x80\xf0\x9f\x98\x80";
	struct value v = value_text(TYPE_LEN(TYPE_NVARCHAR, 100), (struct str){ bytes, sizeof(bytes) - 1 });
	struct value r = through(*state, &v, &v.type, "text");

	assert_int_equal(r.u.s.n, sizeof(bytes) - 1);
	assert_memory_equal(r.u.s.p, bytes, sizeof(bytes) - 1);
}

static void empty_is_not_null(void **state)
{
	struct value text = value_text(TYPE_LEN(TYPE_VARCHAR, 10), (struct str){ NULL, 0 });
	struct value bytes = value_bytes(TYPE_LEN(TYPE_VARBINARY, 10), NULL, 0);

	text.u.s.p = bytes.u.s.p = NULL;
	assert_int_equal(through(*state, &text, &text.type, "text").u.s.n, 0);
	assert_int_equal(through(*state, &bytes, &bytes.type, "blob").u.s.n, 0);
}

static void null_is_null_of_the_asked_type(void **state)
{
	static const struct statement s = { .sql = "SELECT ?1", .id = STATEMENT_ONCE };
	struct value v = value_null(TYPE_OF(TYPE_GUID)), r;
	struct fixture *f = *state;

	assert_int_equal(store_statement(f->conn, &s, &last, &f->err), 0);
	assert_int_equal(store_bind(last, 1, &v, &f->err), 0);
	assert_int_equal(store_step(last, &f->err), 1);
	assert_int_equal(store_column(last, 0, &v.type, &r, &f->err), 0);
	assert_true(r.null);
	assert_int_equal(r.type.id, TYPE_GUID);
}

static void guids_are_sixteen_bytes(void **state)
{
	struct value v = value_null(TYPE_OF(TYPE_GUID)), r;

	v.null = false;
	for (unsigned i = 0; i < 16; i++)
		v.u.guid[i] = (uint8_t)(i * 17);
	r = through(*state, &v, &v.type, "blob");
	assert_memory_equal(r.u.guid, v.u.guid, 16);
}

static void dates_come_back(void **state)
{
	static const struct {
		struct type type;
		const char *class;
		struct moment m;
	} cases[] = {
		{ { TYPE_DATE, 0, 0, 0 }, "integer", { 733071, 0, 0 } },
		{ { TYPE_TIME, 0, 7, 0 }, "integer", { 0, 863999999999, 0 } },
		{ { TYPE_DATETIME2, 0, 7, 0 }, "integer", { 3652058, 863999999999, 0 } },
		{ { TYPE_DATETIMEOFFSET, 0, 7, 0 }, "text", { 733071, 36610000001, -840 } },
		{ { TYPE_DATETIMEOFFSET, 0, 7, 0 }, "text", { 0, 0, 60 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value v = value_null(cases[i].type), r;

		v.null = false;
		v.u.moment = cases[i].m;
		r = through(*state, &v, &v.type, cases[i].class);
		assert_int_equal(r.u.moment.day, cases[i].m.day);
		assert_true(r.u.moment.tick == cases[i].m.tick);
		assert_int_equal(r.u.moment.offset, cases[i].m.offset);
	}
}

static void decimals_keep_every_digit(void **state)
{
	struct value v = value_null(TYPE_NUM(TYPE_DECIMAL, 38, 4)), r;

	v.null = false;
	v.u.dec.negative = true;
	for (int i = 0; i < 38; i++)
		v.u.dec.magnitude = v.u.dec.magnitude * 10 + 9;
	r = through(*state, &v, &v.type, "text");
	assert_true(r.u.dec.magnitude == v.u.dec.magnitude);
	assert_true(r.u.dec.negative);
}

static void floats_and_xml_come_back(void **state)
{
	struct value f = value_null(TYPE_OF(TYPE_FLOAT)),
		     x = value_text(TYPE_LEN(TYPE_XML, TYPE_MAX), STR("<a/>")), r;

	f.null = false;
	f.u.f = 0.1;
	assert_true(through(*state, &f, &f.type, "real").u.f == 0.1);
	r = through(*state, &x, &x.type, "text");
	assert_int_equal(r.xml_encoding, XML_UTF8_FROM_UNICODE);
	x.xml_encoding = XML_BYTES;
	r = through(*state, &x, &x.type, "blob");
	assert_int_equal(r.xml_encoding, XML_BYTES);
}

static void a_variant_has_the_type_of_its_value(void **state)
{
	const struct type variant = TYPE_OF(TYPE_VARIANT);
	struct value v = value_int(TYPE_INT, 5), t = value_nvarchar("x"), r;

	r = through(*state, &v, &variant, "integer");
	assert_int_equal(r.type.id, TYPE_VARIANT);
	assert_int_equal(r.u.variant->type.id, TYPE_INT);
	r = through(*state, &t, &variant, "text");
	assert_int_equal(r.u.variant->type.id, TYPE_NVARCHAR);
}

static void numbers_that_do_not_fit_are_8115(void **state)
{
	static const struct statement s = { .sql = "SELECT 2147483648, 1e300, 'abc', x'00'",
					    .id = STATEMENT_ONCE };
	const struct type i = TYPE_OF(TYPE_INT), g = TYPE_OF(TYPE_GUID), d = TYPE_NUM(TYPE_DECIMAL, 5, 2);
	struct fixture *f = *state;
	struct value v;

	assert_int_equal(store_statement(f->conn, &s, &last, &f->err), 0);
	assert_int_equal(store_step(last, &f->err), 1);
	assert_int_equal(store_column(last, 0, &i, &v, &f->err), -1);
	assert_int_equal(f->err.number, 8115);
	assert_int_equal(store_column(last, 1, &i, &v, &f->err), -1);
	assert_int_equal(store_column(last, 0, &d, &v, &f->err), -1);
	assert_int_equal(store_column(last, 2, &d, &v, &f->err), -1);
	assert_int_equal(store_column(last, 2, &g, &v, &f->err), -1);
	assert_int_equal(store_column(last, 3, &g, &v, &f->err), -1);
	assert_int_equal(f->err.number, 50010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(integers_and_times_are_integers, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(text_keeps_nul_bytes_and_lone_surrogates, fixture_up,
						values_down),
		cmocka_unit_test_setup_teardown(empty_is_not_null, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(null_is_null_of_the_asked_type, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(guids_are_sixteen_bytes, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(dates_come_back, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(decimals_keep_every_digit, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(floats_and_xml_come_back, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(a_variant_has_the_type_of_its_value, fixture_up, values_down),
		cmocka_unit_test_setup_teardown(numbers_that_do_not_fit_are_8115, fixture_up, values_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
