/* test_login7.c — LOGIN7 as the drivers send it, and as nobody should. */
#include "login7_make.h"
#include "tds/login7.h"

static const struct login7_spec sqlclient = {
	.version = 0x74000004,
	.packet_size = 8000,
	.option1 = 0xE0,
	.option2 = 0x03,
	.option3 = 0x10,
	.fixed = 94,
	.host = "client",
	.user = "sa",
	.password = "P@ss word",
	.app = "app",
	.server = "host,1433",
	.library = "Core .Net SqlClient Data Provider",
	.language = "us_english",
	.database = "StateService",
	.features = "01 00 00 00 00  0A 01 00 00 00 01  05 00 00 00 00 FF",
};

static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	return 0;
}
static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

/* The copy lives until the next call: SSPI is a slice of it. */
static enum tds_status decode(const void *p, size_t n, struct tds_login7 *ret)
{
	static uint8_t *copy;

	free(copy);
	copy = heap_copy(p, n);
	return tds_get_login7(tds_cursor_of(copy, n), &arena, ret);
}

static enum tds_status decode_spec(const struct login7_spec *s, struct tds_login7 *ret)
{
	struct buf b = make_login7(s);
	enum tds_status st = decode(b.data, b.len, ret);

	buf_fini(&b);
	return st;
}

static void sqlclient_is_understood(void **state)
{
	struct tds_login7 l;

	(void)state;
	assert_int_equal(decode_spec(&sqlclient, &l), TDS_OK);
	assert_int_equal(l.tds_version_wire, 0x74000004);
	assert_int_equal(l.packet_size, 8000);
	assert_int_equal(l.client_lcid, 0x409);
	assert_string_equal(l.host.p, "client");
	assert_string_equal(l.user.p, "sa");
	assert_string_equal(l.password.p, "P@ss word");
	assert_string_equal(l.server.p, "host,1433");
	assert_string_equal(l.library.p, "Core .Net SqlClient Data Provider");
	assert_string_equal(l.language.p, "us_english");
	assert_string_equal(l.database.p, "StateService");
	assert_true(l.odbc && l.wants_utf8 && l.wants_session_recovery);
	assert_false(l.integrated || l.has_recovery_data || l.wants_fedauth || l.change_password ||
		     l.read_only_intent);
	const char *secret = l.password.p;
	tds_login7_wipe(&l);
	assert_int_equal(l.password.n, 0);
	assert_int_equal(secret[0], 0);
}

static void a_password_is_unveiled(void **state)
{
	struct login7_spec s = sqlclient;
	struct buf b;

	(void)state;
	s.password = "a";
	b = make_login7(&s);
	assert_int_equal(b.data[94 + 2 * 6 + 2 * 2], 0xB3); /* wire notes: "a" 61 00 is B3 A5 */
	assert_int_equal(b.data[94 + 2 * 6 + 2 * 2 + 1], 0xA5);
	buf_fini(&b);
}

static void every_truncation_is_refused(void **state)
{
	struct buf b = make_login7(&sqlclient);
	struct tds_login7 l;

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		assert_int_equal(decode(b.data, n, &l), TDS_MALFORMED);
		arena_reset(&arena);
	}
	/* also when the length says so */
	for (size_t n = 0; n < b.len; n++) {
		set32(&b, 0, n);
		assert_int_equal(decode(b.data, n, &l), TDS_MALFORMED);
		arena_reset(&arena);
	}
	buf_fini(&b);
}

static void jtds_has_86_bytes_and_its_length_twice(void **state)
{
	struct login7_spec s = { .version = 0x71000001,
				 .option1 = 0xE0,
				 .option2 = 0x03,
				 .option3 = 0x11,
				 .fixed = 86,
				 .host = "H",
				 .user = "u",
				 .password = "p",
				 .app = "jTDS",
				 .library = "jTDS",
				 .database = "db" };
	struct tds_login7 l;

	(void)state;
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_string_equal(l.host.p, "H");
	assert_string_equal(l.database.p, "db");
	assert_int_equal(l.packet_size, 0);
	assert_false(l.change_password); /* OptionFlags3 means nothing before 7.2 */
	assert_int_equal(tds_left(&l.sspi), 0);
}

static void tedious_sets_the_extension_flag_in_every_version(void **state)
{
	static const uint32_t versions[] = { 0x71000001, 0x72090002, 0x730A0003, 0x730B0003 };
	struct login7_spec s = sqlclient;
	struct tds_login7 l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct buf b;
		s.version = versions[i];
		s.features = NULL;
		s.option3 = 0x18;
		b = make_login7(&s);
		set16(&b, 56, 0xFFFF); /* whatever stands there */
		set16(&b, 58, 0x00FF);
		assert_int_equal(decode(b.data, b.len, &l), TDS_OK);
		assert_false(l.wants_utf8);
		buf_fini(&b);
	}
}

static void features_are_bounded(void **state)
{
	static const char *const bad[] = {
		"01 00 00 00 00", "0A 02 00 00 00 01 FF", "0A FF FF FF FF 01 FF", "0A 01 00", "",
	};
	struct login7_spec s = sqlclient;
	struct tds_login7 l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		s.features = bad[i];
		assert_int_equal(decode_spec(&s, &l), TDS_MALFORMED);
	}
	s.features = "FF";
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	s.features = "77 03 00 00 00 01 02 03 02 02 00 00 00 05 06 01 04 00 00 00 00 00 00 00 0A 01 00 00 00 "
		     "00 FF";
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_true(l.wants_fedauth && l.has_recovery_data);
	assert_false(l.wants_utf8);
	s.version = 0x08000000;
	s.features = "0A 01 00 00 00 01 FF";
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_true(l.wants_utf8);
}

static void offsets_outside_are_refused(void **state)
{
	static const uint8_t fields[] = { 36, 40, 44, 48, 52, 60, 64, 68, 78 };
	struct tds_login7 l;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		struct buf b = make_login7(&sqlclient);
		set16(&b, fields[i], 0xFFFF);
		set16(&b, fields[i] + 2, 1);
		assert_int_equal(decode(b.data, b.len, &l), TDS_MALFORMED);
		set16(&b, fields[i] + 2, 0); /* empty: the offset means nothing */
		assert_int_equal(decode(b.data, b.len, &l), TDS_OK);
		set16(&b, fields[i], 94);
		set16(&b, fields[i] + 2, 0xFFFF);
		assert_int_equal(decode(b.data, b.len, &l), TDS_MALFORMED);
		buf_fini(&b);
	}
}

static void names_have_128_characters_at_most(void **state)
{
	struct login7_spec s = sqlclient;
	char name[130];
	struct tds_login7 l;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[129] = '\0';
	s.app = name;
	assert_int_equal(decode_spec(&s, &l), TDS_MALFORMED);
	name[128] = '\0';
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_int_equal(l.app.n, 128);
}

static void integrated_login_has_its_token(void **state)
{
	struct login7_spec s = sqlclient;
	struct tds_login7 l;
	struct buf b;

	(void)state;
	s.option2 = 0x83;
	s.sspi = "4E 54 4C 4D 53 53 50 00 01";
	s.features = NULL;
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_true(l.integrated);
	assert_bytes(l.sspi.pos, tds_left(&l.sspi), s.sspi);
	/* long form: FFFF and the length apart */
	b = make_login7(&s);
	set16(&b, 80, 0xFFFF);
	set32(&b, 90, 9);
	assert_int_equal(decode(b.data, b.len, &l), TDS_OK);
	assert_int_equal(tds_left(&l.sspi), 9);
	set32(&b, 90, 10);
	assert_int_equal(decode(b.data, b.len, &l), TDS_MALFORMED);
	buf_fini(&b);
}

static void a_changed_password_is_read_when_asked(void **state)
{
	struct login7_spec s = sqlclient;
	struct tds_login7 l;

	(void)state;
	s.new_password = "new";
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_false(l.change_password);
	assert_int_equal(l.new_password.n, 0);
	s.option3 |= 1;
	assert_int_equal(decode_spec(&s, &l), TDS_OK);
	assert_true(l.change_password);
	assert_string_equal(l.new_password.p, "new");
}

static void big_endian_and_huge_messages_are_refused(void **state)
{
	struct login7_spec s = sqlclient;
	struct tds_login7 l;
	uint8_t *huge = calloc(1, 131072);

	(void)state;
	s.option1 |= 1;
	assert_int_equal(decode_spec(&s, &l), TDS_MALFORMED);
	assert_int_equal(decode(huge, 131072, &l), TDS_TOO_BIG);
	free(huge);
}

static void a_full_arena_is_no_crash(void **state)
{
	struct tds_login7 l;

	(void)state;
	arena_fini(&arena);
	arena_init(&arena, 10);
	assert_int_equal(decode_spec(&sqlclient, &l), TDS_MALFORMED);
}

static void versions_are_agreed(void **state)
{
	static const struct {
		uint32_t asked;
		enum tds_version v;
		const char *ack, *name;
	} table[] = {
		{ 0x70000000, TDS_70, "07 00 00 00", "7.0" },
		{ 0x71000000, TDS_71, "07 01 00 00", "7.1" },
		{ 0x71000001, TDS_71R1, "71 00 00 01", "7.1r1" },
		{ 0x72090002, TDS_72, "72 09 00 02", "7.2" },
		{ 0x730A0003, TDS_73A, "73 0A 00 03", "7.3A" },
		{ 0x730B0003, TDS_73B, "73 0B 00 03", "7.3B" },
		{ 0x74000004, TDS_74, "74 00 00 04", "7.4" },
		{ 0x08000000, TDS_80, "08 00 00 00", "8.0" },
		{ 0x75000000, TDS_74, "74 00 00 04", "7.4" },
		{ 0xFFFFFFFF, TDS_74, "74 00 00 04", "7.4" },
		{ 0x730A0004, TDS_73A, "73 0A 00 03", "7.3A" },
		{ 0x72000000, TDS_71R1, "71 00 00 01", "7.1r1" },
	};
	enum tds_version v;
	uint8_t ack[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		assert_true(tds_version_agree(table[i].asked, &v));
		assert_int_equal(v, table[i].v);
		tds_version_ack(v, table[i].asked, ack);
		assert_bytes(ack, 4, table[i].ack);
		assert_string_equal(tds_version_name(v), table[i].name);
	}
	assert_false(tds_version_agree(0x06000000, &v));
	assert_false(tds_version_agree(0, &v));
	assert_false(tds_version_agree(0x08000001, &v));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sqlclient_is_understood),
		TEST(a_password_is_unveiled),
		TEST(every_truncation_is_refused),
		TEST(jtds_has_86_bytes_and_its_length_twice),
		TEST(tedious_sets_the_extension_flag_in_every_version),
		TEST(features_are_bounded),
		TEST(offsets_outside_are_refused),
		TEST(names_have_128_characters_at_most),
		TEST(integrated_login_has_its_token),
		TEST(a_changed_password_is_read_when_asked),
		TEST(big_endian_and_huge_messages_are_refused),
		TEST(a_full_arena_is_no_crash),
		TEST(versions_are_agreed),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	(void)decode("", 0, &(struct tds_login7){ 0 });
	return rc;
}
