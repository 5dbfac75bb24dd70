/* test_prelogin.c — the option table, the answer byte by byte, and the whole table of wire notes
 * 4.1. */
#include "tds_test.h"

#include "tds/prelogin.h"

static enum tds_status decode(const void *p, size_t n, struct tds_prelogin *ret)
{
	uint8_t *copy = heap_copy(p, n);
	enum tds_status st = tds_get_prelogin(tds_cursor_of(copy, n), ret);

	free(copy);
	return st;
}

static enum tds_status decode_text(const char *s, struct tds_prelogin *ret)
{
	struct buf b = bytes_of(s);
	enum tds_status st = decode(b.data, b.len, ret);

	buf_fini(&b);
	return st;
}

/* What FreeTDS sends, with a trace id as SqlClient has it. */
#define CLIENT \
	"00 00 24 00 06  01 00 2A 00 01  02 00 2B 00 0C  03 00 37 00 04  04 00 3B 00 01  05 00 3C 00 24  " \
	"06 00 60 00 01  FF" \
	"09 00 00 00 00 00  20  \"MSSQLServer\" 00  01 02 03 04  01 " \
	"00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F " \
	"20 21 22 23  01"

static void a_client_is_understood(void **state)
{
	struct tds_prelogin p;

	(void)state;
	assert_int_equal(decode_text(CLIENT, &p), TDS_OK);
	assert_int_equal(p.version[0], 9);
	assert_true(p.has_encryption);
	assert_int_equal(p.encryption, TDS_ENCRYPT_OFF); /* 0x20 does not count */
	assert_string_equal(p.instance, "MSSQLServer");
	assert_true(p.has_mars && p.mars == 1);
	assert_true(p.has_fedauth && p.fedauth == 1);
	assert_true(p.has_trace && p.trace_id[35] == 0x23);
}

static void every_truncation_is_refused(void **state)
{
	struct buf b = bytes_of(CLIENT);
	struct tds_prelogin p;

	(void)state;
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(decode(b.data, n, &p), TDS_MALFORMED);
	assert_int_equal(decode(b.data, b.len, &p), TDS_OK);
	buf_fini(&b);
}

static void wrong_tables_are_refused(void **state)
{
	struct tds_prelogin p;

	(void)state;
	/* no VERSION */
	assert_int_equal(decode_text("FF", &p), TDS_MALFORMED);
	/* not first */
	assert_int_equal(decode_text("01 00 06 00 01 FF 00", &p), TDS_MALFORMED);
	/* too short */
	assert_int_equal(decode_text("00 00 06 00 05 FF 00 00 00 00 00", &p), TDS_MALFORMED);
	/* outside */
	assert_int_equal(decode_text("00 FF FF 00 06 FF 00 00 00 00 00 00", &p), TDS_MALFORMED);
	assert_int_equal(decode_text("00 00 06 FF FF FF 00 00 00 00 00 00", &p), TDS_MALFORMED);
	/* ENCRYPTION empty */
	assert_int_equal(decode_text("00 00 0B 00 06 01 00 00 00 00 FF 00 00 00 00 00 00", &p),
			 TDS_MALFORMED);
}

static void missing_options_have_defaults(void **state)
{
	struct tds_prelogin p;

	(void)state;
	assert_int_equal(decode_text("00 00 06 00 06 FF 0B 00 00 00 00 00", &p), TDS_OK);
	assert_false(p.has_encryption);
	assert_int_equal(p.encryption, TDS_ENCRYPT_NOT_SUP);
	assert_false(p.has_instance || p.has_mars || p.has_fedauth || p.has_trace);
}

static void a_long_instance_name_is_cut(void **state)
{
	struct buf b = bytes_of("00 00 0B 00 06 02 00 11 01 2C FF 0B 00 00 00 00 00");
	struct tds_prelogin p;

	(void)state;
	for (int i = 0; i < 300; i++)
		buf_put_u8(&b, 'x');
	assert_int_equal(decode(b.data, b.len, &p), TDS_OK);
	assert_int_equal(strlen(p.instance), 255);
	buf_fini(&b);
}

static void the_answer_is_the_one_that_all_drivers_take(void **state)
{
	struct tds_out o;
	struct buf body;

	(void)state;
	buf_init(&body, 4096);
	tds_put_prelogin_answer(&body, TDS_ENCRYPT_OFF, true);
	tds_out_init(&o, 4096);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put(&o, body.data, body.len);
	tds_out_end(&o);
	assert_bytes(o.wire.bytes.data, o.wire.bytes.len,
		     "04 01 00 2B 00 00 01 00"
		     "00 00 1A 00 06  01 00 20 00 01  02 00 21 00 01  03 00 22 00 00  04 00 22 00 01  FF"
		     "10 00 10 0C 00 00   00   00   00");
	tds_out_fini(&o);
	buf_reset(&body, 0);
	tds_put_prelogin_answer(&body, TDS_ENCRYPT_REQ, false);
	assert_int_equal(body.data[32], TDS_ENCRYPT_REQ);
	assert_int_equal(body.data[33], 1);
	buf_fini(&body);
}

static void encryption_is_agreed_as_the_specification_says(void **state)
{
	static const struct {
		uint8_t client, answer[3];
		enum tds_tls_mode mode[3];
	} table[] = {
		/* optional, mandatory, no TLS */
		{ 0x00, { 0, 3, 2 }, { TDS_TLS_LOGIN_ONLY, TDS_TLS_ALL, TDS_TLS_NONE } },
		{ 0x20, { 0, 3, 2 }, { TDS_TLS_LOGIN_ONLY, TDS_TLS_ALL, TDS_TLS_NONE } },
		{ 0x01, { 1, 1, 2 }, { TDS_TLS_ALL, TDS_TLS_ALL, TDS_TLS_REFUSE } },
		{ 0x02, { 2, 3, 2 }, { TDS_TLS_NONE, TDS_TLS_REFUSE, TDS_TLS_NONE } },
		{ 0x03, { 1, 1, 2 }, { TDS_TLS_ALL, TDS_TLS_ALL, TDS_TLS_REFUSE } },
		{ 0x80, { 0, 3, 2 }, { TDS_TLS_LOGIN_ONLY, TDS_TLS_ALL, TDS_TLS_REFUSE } },
		{ 0x81, { 1, 1, 2 }, { TDS_TLS_ALL, TDS_TLS_ALL, TDS_TLS_REFUSE } },
		{ 0x83, { 1, 1, 2 }, { TDS_TLS_ALL, TDS_TLS_ALL, TDS_TLS_REFUSE } },
		{ 0x82, { 3, 3, 3 }, { TDS_TLS_REFUSE, TDS_TLS_REFUSE, TDS_TLS_REFUSE } },
		{ 0x04, { 3, 3, 3 }, { TDS_TLS_REFUSE, TDS_TLS_REFUSE, TDS_TLS_REFUSE } },
	};
	static const enum tds_policy policies[] = { TDS_POLICY_OPTIONAL, TDS_POLICY_REQUIRED,
						    TDS_POLICY_NO_TLS };
	uint8_t answer;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		for (size_t p = 0; p < 3; p++) {
			assert_int_equal(tds_negotiate(table[i].client, policies[p], &answer),
					 table[i].mode[p]);
			assert_int_equal(answer, table[i].answer[p]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_understood),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(wrong_tables_are_refused),
		cmocka_unit_test(missing_options_have_defaults),
		cmocka_unit_test(a_long_instance_name_is_cut),
		cmocka_unit_test(the_answer_is_the_one_that_all_drivers_take),
		cmocka_unit_test(encryption_is_agreed_as_the_specification_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
