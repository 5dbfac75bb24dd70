/* test_token.c — the tokens, byte by byte, against the examples of the specification and of
 * captures. */
#include "tds_test.h"

static struct tds_out out;

static int setup(void **state)
{
	(void)state;
	tds_out_init(&out, 1 << 20);
	out.server_name = "S";
	tds_out_begin(&out, TDS_MSG_RESPONSE);
	return 0;
}
static int teardown(void **state)
{
	(void)state;
	tds_out_fini(&out);
	return 0;
}

static void expect(const char *want)
{
	tds_out_end(&out);
	assert_payload(&out, want);
	output_reset(&out.wire, 0);
	tds_out_begin(&out, TDS_MSG_RESPONSE);
}

static void a_login_response(void **state)
{
	struct err e = { .number = 5701,
			 .severity = 10,
			 .state = 2,
			 .line = 1,
			 .text = "Changed database context to 'db1'." };

	(void)state;
	tds_put_envchange_text(&out, 1, STR("db1"), STR("master"));
	tds_put_message(&out, &e);
	tds_put_envchange_bytes(&out, 7, tds_collation_default, 5, NULL, 0);
	tds_put_envchange_text(&out, 2, STR("us_english"), STR(""));
	tds_put_loginack(&out, 0x74000004);
	tds_put_envchange_text(&out, 4, STR("8000"), STR("4096"));
	tds_put_featureextack_utf8(&out);
	tds_put_done(&out, TDS_DONE, 0, 0, 0);
	expect("E3 15 00 01 03 64 00 62 00 31 00 06 6D 00 61 00 73 00 74 00 65 00 72 00"
	       "AB 54 00 45 16 00 00 02 00 22 00 'Changed database context to ' 27 00 'db1' 27 00 '.' 01 53 "
	       "00 00 01 00 00 00"
	       "E3 08 00 07 05 09 04 D0 00 34 00"
	       "E3 17 00 02 0A 'us_english' 00"
	       "AD 32 00 01 74 00 00 04 14 'Microsoft SQL Server' 10 00 10 0C"
	       "E3 13 00 04 04 38 00 30 00 30 00 30 00 04 34 00 30 00 39 00 36 00"
	       "AE 0A 01 00 00 00 01 FF"
	       "FD 00 00 00 00 00 00 00 00 00 00 00 00");
}

static void a_procedure_call(void **state)
{
	static const struct column col = { "a", { TYPE_INT, 0, 0, 0 }, true };
	struct tds_wire_type wire = { .token = 0x38, .type = TYPE_OF(TYPE_INT) };
	struct value one = value_int(TYPE_INT, 1), answer = value_int(TYPE_INT, 42);

	(void)state;
	tds_put_colmetadata(&out, &col, 1);
	tds_put_row(&out, &col, &one, 1);
	tds_put_done(&out, TDS_DONEINPROC, TDS_DONE_MORE | TDS_DONE_COUNT, 0xC1, 1);
	tds_put_returnstatus(&out, 5);
	tds_put_returnvalue(&out, 1, STR("@b"), &wire, &answer);
	tds_put_done(&out, TDS_DONEPROC, 0, 0xE0, 0);
	expect("81 01 00  00 00 00 00  09 00  26 04  01 61 00"
	       "D1 04 01 00 00 00"
	       "FF 11 00 C1 00 01 00 00 00 00 00 00 00"
	       "79 05 00 00 00"
	       "AC 01 00  02 40 00 62 00  01  00 00 00 00  00 00  26 04  04 2A 00 00 00"
	       "FE 00 00 E0 00 00 00 00 00 00 00 00 00");
}

static void the_same_for_an_old_client(void **state)
{
	static const struct column col = { "a", { TYPE_INT, 0, 0, 0 }, false };
	struct tds_wire_type wire = { .token = 0x26, .type = TYPE_OF(TYPE_INT) };
	struct value one = value_int(TYPE_INT, 1), none = value_null(TYPE_OF(TYPE_INT));
	struct err e = {
		.number = 50000, .severity = 16, .state = 1, .line = 70000, .proc = "p", .text = "x"
	};

	(void)state;
	out.version = TDS_71R1;
	tds_put_colmetadata(&out, &col, 1);
	tds_put_row(&out, &col, &one, 1);
	tds_put_message(&out, &e);
	tds_put_returnvalue(&out, 1, STR("@b"), &wire, &none);
	tds_put_done(&out, TDS_DONEPROC, TDS_DONE_ERROR, 0xE0, UINT64_C(1) << 40);
	tds_put_loginack(&out, 0x71000001);
	expect("81 01 00  00 00  08 00  38  01 61 00"
	       "D1 01 00 00 00"
	       "AA 12 00 50 C3 00 00 01 10 01 00 'x' 01 'S' 01 'p' FF FF"
	       "AC 01 00  02 40 00 62 00  01  00 00  00 00  26 04  00"
	       "FE 02 00 E0 00 FF FF FF FF"
	       "AD 32 00 01 71 00 00 01 14 'Microsoft SQL Server' 10 00 10 0C");
}

static void transactions(void **state)
{
	static const uint8_t d[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	tds_put_envchange_bytes(&out, 8, d, 8, NULL, 0);
	tds_put_envchange_bytes(&out, 9, NULL, 0, d, 8);
	tds_put_envchange_bytes(&out, 10, NULL, 0, d, 8);
	tds_put_envchange_bytes(&out, 18, NULL, 0, NULL, 0);
	expect("E3 0B 00 08 08 01 02 03 04 05 06 07 08 00"
	       "E3 0B 00 09 00 08 01 02 03 04 05 06 07 08"
	       "E3 0B 00 0A 00 08 01 02 03 04 05 06 07 08"
	       "E3 03 00 12 00 00");
}

static void an_attention_is_acknowledged(void **state)
{
	(void)state;
	out.spid = 0x33;
	tds_put_done(&out, TDS_DONE, TDS_DONE_ATTN, 0xFD, 0);
	tds_out_end(&out);
	assert_bytes(out.wire.bytes.data, out.wire.bytes.len,
		     "04 01 00 15 00 33 01 00  FD 20 00 FD 00 00 00 00 00 00 00 00 00");
	output_reset(&out.wire, 0);
	out.version = TDS_71;
	tds_out_begin(&out, TDS_MSG_RESPONSE);
	tds_put_done(&out, TDS_DONE, TDS_DONE_ATTN, 0xFD, 0);
	tds_out_end(&out);
	assert_int_equal(out.wire.bytes.len, 17);
}

static void severities(void **state)
{
	struct err e = { .number = 1, .severity = 10, .state = 1, .text = "t" };

	(void)state;
	tds_put_message(&out, &e);
	e.severity = 0;
	tds_put_message(&out, &e);
	e.severity = 9;
	tds_put_message(&out, &e);
	e.severity = 11;
	tds_put_message(&out, &e);
	expect("AB 12 00 01 00 00 00 01 00 01 00 't' 01 'S' 00 00 00 00 00"
	       "AB 12 00 01 00 00 00 01 00 01 00 't' 01 'S' 00 00 00 00 00"
	       "AB 12 00 01 00 00 00 01 09 01 00 't' 01 'S' 00 00 00 00 00"
	       "AA 12 00 01 00 00 00 01 0B 01 00 't' 01 'S' 00 00 00 00 00");
}

static void sspi(void **state)
{
	static const uint8_t big[65536];

	(void)state;
	tds_put_sspi(&out, "abc", 3);
	expect("ED 03 00 \"abc\"");
	tds_put_sspi(&out, big, 65535);
	assert_false(out.wire.bytes.failed);
	tds_put_sspi(&out, big, 65536);
	assert_true(out.wire.bytes.failed);
}

static void a_null_in_a_column_that_has_none_fails(void **state)
{
	static const struct column col = { "a", { TYPE_INT, 0, 0, 0 }, false };
	struct value null = value_null(TYPE_OF(TYPE_INT));

	(void)state;
	tds_put_row(&out, &col, &null, 1);
	assert_true(out.wire.bytes.failed);
}

static void a_value_of_another_kind_fails(void **state)
{
	static const struct column cols[] = { { "a", { TYPE_NVARCHAR, 0, 0, 5 }, true },
					      { "b", { TYPE_INT, 0, 0, 0 }, true } };
	struct value v = value_int(TYPE_INT, 1), t = value_nvarchar("x");
	struct tds_mark m = tds_out_mark(&out);

	(void)state;
	tds_put_row(&out, &cols[0], &v, 1);
	assert_true(out.wire.bytes.failed);
	assert_true(tds_out_rewind(&out, &m));
	tds_put_row(&out, &cols[1], &t, 1);
	assert_true(out.wire.bytes.failed);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_login_response),
		TEST(a_procedure_call),
		TEST(the_same_for_an_old_client),
		TEST(transactions),
		TEST(an_attention_is_acknowledged),
		TEST(severities),
		TEST(sspi),
		TEST(a_null_in_a_column_that_has_none_fails),
		TEST(a_value_of_another_kind_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
