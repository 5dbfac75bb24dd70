/* test_rpc.c — RPC requests: names, separators, every type that a client may send, and streams
 * that are wrong. */
#include "tds_test.h"

#include "tds/request.h"

#define COLLATION "09 04 D0 00 34"
#define UTF8_COLLATION "09 04 D0 24 00"

static const struct tds_limits limits = { .max_params = 2100, .max_value = 1 << 20 };
static struct arena arena;
static uint8_t *message; /* of the last call: values may be slices of it */
static struct err last_err;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 8 << 20);
	return 0;
}
static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	free(message);
	message = NULL;
	return 0;
}

static int decode_with(const struct tds_limits *l, const void *p, size_t n, enum tds_version v,
		       struct tds_rpc *ret, size_t *ret_left)
{
	struct tds_cursor c;
	int rc;

	free(message);
	message = heap_copy(p, n);
	c = tds_cursor_of(message, n);
	last_err = (struct err){ 0 };
	rc = tds_get_rpc(&c, v, l, &arena, ret, &last_err);
	*ret_left = tds_left(&c);
	return rc < 0 ? last_err.number : rc;
}

static int decode(const void *p, size_t n, enum tds_version v, struct tds_rpc *ret)
{
	size_t left;

	return decode_with(&limits, p, n, v, ret, &left);
}

static int decode_text(const char *s, enum tds_version v, struct tds_rpc *ret)
{
	struct buf b = bytes_of(s);
	int rc = decode(b.data, b.len, v, ret);

	buf_fini(&b);
	return rc;
}

/* One parameter: TYPE_INFO and value as given; all truncations are tried on the way. */
static int one(const char *typed, enum tds_version v, struct tds_rpc *ret)
{
	struct buf b = bytes_of("01 00 'p' 00 00 02 '@a' 00 ");
	size_t start = b.len;
	int rc;

	put_bytes(&b, typed);
	for (size_t n = 1; n < b.len; n++) {
		struct tds_rpc r;
		rc = decode(b.data, n, v, &r);
		if (n == start - 6) /* before the parameter: a whole call */
			assert_int_equal(rc, 1);
		else
			assert_int_not_equal(rc, 1);
		arena_reset(&arena);
	}
	rc = decode(b.data, b.len, v, ret);
	buf_fini(&b);
	return rc;
}

static struct value good(const char *typed, enum tds_version v)
{
	struct tds_rpc r;

	assert_int_equal(one(typed, v, &r), 1);
	assert_int_equal(r.nparams, 1);
	assert_string_equal(r.params[0].name.p, "@a");
	return r.params[0].value;
}

static void assert_int_value(const char *typed, enum type_id id, int64_t want)
{
	struct value v = good(typed, TDS_70);

	assert_int_equal(v.type.id, id);
	assert_false(v.null);
	assert_true(v.u.i == want);
}

static void assert_null_value(const char *typed, enum type_id id)
{
	struct value v = good(typed, TDS_74);

	assert_int_equal(v.type.id, id);
	assert_true(v.null);
}

static void assert_text(const char *typed, enum tds_version ver, enum type_id id, int32_t length,
			const char *want)
{
	struct value v = good(typed, ver);

	assert_int_equal(v.type.id, id);
	assert_int_equal(v.type.length, length);
	assert_false(v.null);
	assert_int_equal(v.u.s.n, strlen(want));
	assert_memory_equal(v.u.s.p, want, v.u.s.n);
}

static void assert_refused(const char *typed, enum tds_version v, int number)
{
	struct buf b = bytes_of("01 00 'p' 00 00 02 '@a' 00 ");
	struct tds_rpc r;

	put_bytes(&b, typed);
	assert_int_equal(decode(b.data, b.len, v, &r), number);
	buf_fini(&b);
}

static void integers(void **state)
{
	(void)state;
	assert_int_value("30 FF", TYPE_TINYINT, 255);
	assert_int_value("32 02", TYPE_BIT, 1);
	assert_int_value("34 FE FF", TYPE_SMALLINT, -2);
	assert_int_value("38 FE FF FF FF", TYPE_INT, -2);
	assert_int_value("7F FE FF FF FF FF FF FF FF", TYPE_BIGINT, -2);
	assert_int_value("26 01 01 FF", TYPE_TINYINT, 255);
	assert_int_value("26 02 02 00 80", TYPE_SMALLINT, -32768);
	assert_int_value("26 04 04 2A 00 00 00", TYPE_INT, 42);
	assert_int_value("26 08 08 00 00 00 00 00 00 00 80", TYPE_BIGINT, INT64_MIN);
	assert_int_value("26 08 04 FF FF FF FF", TYPE_BIGINT, -1);
	assert_int_value("68 01 01 01", TYPE_BIT, 1);
	assert_null_value("26 04 00", TYPE_INT);
	assert_null_value("68 01 00", TYPE_BIT);
	assert_null_value("1F", TYPE_NULL);
	assert_refused("26 03 03 00 00 00", TDS_74, 8016);
	assert_refused("26 04 08 00 00 00 00 00 00 00 00", TDS_74, 8016);
	assert_refused("26 04 03 00 00 00", TDS_74, 8016);
	assert_refused("68 02 01 00", TDS_74, 8016);
}

static void floats_and_money(void **state)
{
	(void)state;
	assert_true(good("3E 00 00 00 00 00 00 F8 3F", TDS_70).u.f == 1.5);
	assert_true(good("3B 00 00 C0 BF", TDS_70).u.f == -1.5);
	assert_true(good("6D 08 08 00 00 00 00 00 00 F8 3F", TDS_74).u.f == 1.5);
	assert_true(good("6D 04 04 00 00 C0 3F", TDS_74).u.f == 1.5);
	assert_null_value("6D 08 00", TYPE_FLOAT);
	assert_null_value("6D 04 00", TYPE_REAL);
	assert_refused("3E 00 00 00 00 00 00 F8 7F", TDS_74, 8023);       /* NaN */
	assert_refused("6D 08 08 00 00 00 00 00 00 F0 FF", TDS_74, 8023); /* -∞ */
	assert_refused("6D 08 04 00 00 C0 3F", TDS_74, 8016);
	assert_int_value("3C 01 00 00 00 02 00 00 00", TYPE_MONEY, (INT64_C(1) << 32) + 2);
	assert_int_value("7A FF FF FF FF", TYPE_SMALLMONEY, -1);
	assert_int_value("6E 08 08 FF FF FF FF FE FF FF FF", TYPE_MONEY, -2);
	assert_int_value("6E 04 04 10 27 00 00", TYPE_SMALLMONEY, 10000);
	assert_null_value("6E 08 00", TYPE_MONEY);
}

static void assert_decimal(const char *typed, enum type_id id, int p, int s, bool negative, uint64_t hi,
			   uint64_t lo)
{
	struct value v = good(typed, TDS_74);

	assert_int_equal(v.type.id, id);
	assert_int_equal(v.type.precision, p);
	assert_int_equal(v.type.scale, s);
	assert_int_equal(v.u.dec.negative, negative);
	assert_true(v.u.dec.magnitude == ((unsigned __int128)hi << 64 | lo));
}

static void decimals_of_any_length(void **state)
{
	(void)state;
	assert_decimal("6C 11 26 02 05 01 39 30 00 00", TYPE_NUMERIC, 38, 2, false, 0, 12345);
	assert_decimal("6A 05 09 02 02 00 7B", TYPE_DECIMAL, 9, 2, true, 0, 123);
	assert_decimal("6A 09 13 00 09 01 FF FF FF FF FF FF FF 00", TYPE_DECIMAL, 19, 0, false, 0,
		       0xFFFFFFFFFFFFFF);
	assert_decimal("6A 11 26 00 11 01 FF FF FF FF 3F 22 8A 09 7A C4 86 5A A8 4C 3B 4B", TYPE_DECIMAL, 38,
		       0, false, UINT64_C(0x4B3B4CA85A86C47A), UINT64_C(0x098A223FFFFFFFFF));
	/* old code; no minus zero */
	assert_decimal("37 05 09 02 02 00 00", TYPE_DECIMAL, 9, 2, false, 0, 0);
	assert_decimal("3F 05 09 02 03 01 00 01", TYPE_NUMERIC, 9, 2, false, 0, 256);
	assert_null_value("6A 11 26 0A 00", TYPE_DECIMAL);
	assert_refused("6A 11 27 00 00", TDS_74, 8017);
	assert_refused("6A 11 00 00 00", TDS_74, 8017);
	assert_refused("6A 11 05 06 00", TDS_74, 8017);
	assert_refused("6A 11 26 00 01 01", TDS_74, 8016);
	assert_refused("6A 11 26 00 12 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", TDS_74, 8016);
	/* 10³⁸ */
	assert_refused("6A 11 26 00 11 01 00 00 00 00 40 22 8A 09 7A C4 86 5A A8 4C 3B 4B", TDS_74, 8023);
	assert_refused("6A 05 03 00 05 01 E8 03 00 00", TDS_74, 8023); /* 1000 is no decimal(3,0) */
}

static void dates(void **state)
{
	struct value v;

	(void)state;
	/* wire notes 12.1: 2000-01-01 01:00 */
	assert_int_value("3D AC 8E 00 00 C0 7A 10 00", TYPE_DATETIME,
			 INT64_C(36524) * 86400 * 300 + 3600 * 300);
	assert_int_value("6F 08 08 46 2E FF FF 00 00 00 00", TYPE_DATETIME, INT64_C(-53690) * 86400 * 300);
	assert_int_value("3A 01 00 02 00", TYPE_SMALLDATETIME, 86400 * 300 + 2 * 60 * 300);
	assert_int_value("6F 04 04 FF FF 9F 05", TYPE_SMALLDATETIME,
			 INT64_C(65535) * 86400 * 300 + 1439 * 60 * 300);
	assert_null_value("6F 08 00", TYPE_DATETIME);
	assert_refused("6F 08 08 45 2E FF FF 00 00 00 00", TDS_74, 8023);
	assert_refused("6F 08 08 80 24 2D 00 00 00 00 00", TDS_74, 8023);
	assert_refused("6F 08 08 00 00 00 00 00 82 8B 01", TDS_74, 8023);
	assert_refused("6F 04 04 00 00 A0 05", TDS_74, 8023);
	v = good("28 03 07 24 0B", TDS_73A);
	assert_true(v.type.id == TYPE_DATE && v.u.moment.day == 730119);
	v = good("29 07 05 00 68 C4 61 08", TDS_73A);
	assert_true(v.type.id == TYPE_TIME && v.type.scale == 7 && v.u.moment.tick == INT64_C(36000000000));
	v = good("29 00 03 10 0E 00", TDS_74);
	assert_true(v.u.moment.tick == INT64_C(36000000000));
	v = good("2A 03 07 80 EE 36 00 07 24 0B", TDS_74);
	assert_true(v.type.id == TYPE_DATETIME2 && v.u.moment.tick == INT64_C(36000000000) &&
		    v.u.moment.day == 730119);
	v = good("2B 07 0A 00 68 C4 61 08 07 24 0B C4 FF", TDS_74);
	assert_true(v.type.id == TYPE_DATETIMEOFFSET && v.u.moment.offset == -60 && v.u.moment.day == 730119);
	assert_null_value("28 00", TYPE_DATE);
	assert_null_value("2B 07 00", TYPE_DATETIMEOFFSET);
	assert_refused("28 03 DB B9 37", TDS_74, 8023);    /* 10000-01-01 */
	assert_refused("29 00 03 80 51 01", TDS_74, 8023); /* 24:00 */
	assert_refused("29 08 03 00 00 00", TDS_74, 8017);
	assert_refused("29 07 03 00 00 00", TDS_74, 8016);
	assert_refused("2B 00 08 00 00 00 07 24 0B 49 03", TDS_74, 8023); /* +841 */
	assert_refused("2B 00 08 00 00 00 00 00 00 FF FF", TDS_74, 8023); /* local time before the year 1 */
	/* so far away that the sum overflowed; found by fuzz_rpc */
	assert_refused("2A 03 07 80 EE 36 00 07 24 FF", TDS_74, 8023);
	assert_refused("28 03 07 24 0B", TDS_72, 8009);
}

static void guids(void **state)
{
	struct value v = good("24 10 10 33 22 11 00 55 44 77 66 88 99 AA BB CC DD EE FF", TDS_74);

	(void)state;
	assert_bytes(v.u.guid, 16, "33 22 11 00 55 44 77 66 88 99 AA BB CC DD EE FF");
	assert_null_value("24 10 00", TYPE_GUID);
	assert_refused("24 0F 0F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", TDS_74, 8016);
	assert_refused("24 10 0F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", TDS_74, 8016);
}

static void texts(void **state)
{
	(void)state;
	assert_text("A7 0A 00 " COLLATION " 03 00 \"abc\"", TDS_71, TYPE_VARCHAR, 10, "abc");
	/* 7.0 has no collation */
	assert_text("A7 0A 00 03 00 \"abc\"", TDS_70, TYPE_VARCHAR, 10, "abc");
	assert_text("AF 03 00 " COLLATION " 02 00 80 E9", TDS_74, TYPE_CHAR, 3, "\xE2\x82\xAC\xC3\xA9");
	/* raw collation: go */
	assert_text("A7 03 00 00 00 00 00 00 01 00 E9", TDS_74, TYPE_VARCHAR, 3, "\xC3\xA9");
	assert_text("A7 04 00 " UTF8_COLLATION " 02 00 C3 A9", TDS_74, TYPE_VARCHAR, 4, "\xC3\xA9");
	assert_refused("A7 04 00 " UTF8_COLLATION " 02 00 C3 28", TDS_74, 8023);
	assert_text("E7 0A 00 " COLLATION " 06 00 'abc'", TDS_74, TYPE_NVARCHAR, 5, "abc");
	assert_text("EF 0A 00 " COLLATION " 02 00 AC 20", TDS_74, TYPE_NCHAR, 5, "\xE2\x82\xAC");
	assert_text("E7 00 00 " COLLATION " 00 00", TDS_74, TYPE_NVARCHAR, 1, "");
	assert_text("2F 05 03 \"abc\"", TDS_74, TYPE_CHAR, 5, "abc");
	assert_text("27 05 03 \"abc\"", TDS_74, TYPE_VARCHAR, 5, "abc");
	assert_null_value("A7 0A 00 " COLLATION " FF FF", TYPE_VARCHAR);
	assert_null_value("E7 40 1F " COLLATION " FF FF", TYPE_NVARCHAR);
	assert_null_value("27 05 00", TYPE_VARCHAR);
	assert_refused("E7 0A 00 " COLLATION " 03 00 61 00 62", TDS_74, 8016);
	assert_refused("E7 02 00 " COLLATION " 04 00 'ab'", TDS_74, 8016);
	assert_refused("A7 41 1F " COLLATION " 01 00 61", TDS_74, 8016);
	assert_refused("AF FF FF " COLLATION " 01 00 61", TDS_74, 8016);
	assert_refused("A7 FF FF " COLLATION " 01 00 61", TDS_71R1, 8016); /* no (max) yet */
}

static void binaries(void **state)
{
	struct value v = good("A5 0A 00 03 00 01 02 03", TDS_70);

	(void)state;
	assert_int_equal(v.type.length, 10);
	assert_bytes(v.u.s.p, v.u.s.n, "01 02 03");
	v = good("AD 02 00 02 00 01 00", TDS_74);
	assert_int_equal(v.type.id, TYPE_BINARY);
	v = good("2D 04 02 01 00", TDS_74);
	assert_int_equal(v.type.id, TYPE_BINARY);
	v = good("25 04 02 01 00", TDS_74);
	assert_int_equal(v.type.id, TYPE_VARBINARY);
	v = good("A5 0A 00 00 00", TDS_74);
	assert_true(!v.null && v.u.s.n == 0);
	assert_null_value("A5 0A 00 FF FF", TYPE_VARBINARY);
}

static void old_lobs(void **state)
{
	struct value v;
	struct tds_rpc r;

	(void)state;
	assert_text("23 FF FF FF 7F " COLLATION " 03 00 00 00 \"abc\"", TDS_74, TYPE_TEXT, TYPE_MAX, "abc");
	/* jTDS: maximum in characters */
	assert_text("63 02 00 00 00 " COLLATION " 06 00 00 00 'abc'", TDS_71R1, TYPE_NTEXT, TYPE_MAX, "abc");
	v = good("22 FF FF FF 7F 02 00 00 00 01 02", TDS_71R1);
	assert_int_equal(v.type.id, TYPE_IMAGE);
	assert_bytes(v.u.s.p, v.u.s.n, "01 02");
	assert_null_value("23 FF FF FF 7F " COLLATION " FF FF FF FF", TYPE_TEXT);
	assert_null_value("22 FF FF FF 7F FF FF FF FF", TYPE_IMAGE);
	assert_refused("63 FE FF FF 7F " COLLATION " 03 00 00 00 61 00 62", TDS_74, 8016);
	assert_refused("22 FF FF FF 7F FE FF FF FF", TDS_74, 8016);
	assert_int_equal(decode_text("01 00 'p' 00 00 02 '@a' 01 22 FF FF FF 7F FF FF FF FF", TDS_74, &r),
			 8018);
}

static void chunks_are_joined(void **state)
{
	struct value v = good(
		"A5 FF FF 05 00 00 00 00 00 00 00  02 00 00 00 01 02  03 00 00 00 03 04 05  00 00 00 00",
		TDS_72);

	(void)state;
	assert_int_equal(v.type.length, TYPE_MAX);
	assert_bytes(v.u.s.p, v.u.s.n, "01 02 03 04 05");
	v = good("A5 FF FF FE FF FF FF FF FF FF FF  01 00 00 00 01  01 00 00 00 02  00 00 00 00", TDS_74);
	assert_bytes(v.u.s.p, v.u.s.n, "01 02");
	v = good("A5 FF FF 00 00 00 00 00 00 00 00 00 00 00 00", TDS_74);
	assert_true(!v.null && v.u.s.n == 0);
	/* a chunk may end inside a character */
	assert_text("E7 FF FF " COLLATION
		    " 04 00 00 00 00 00 00 00  01 00 00 00 61  03 00 00 00 00 AC 20  00 00 00 00",
		    TDS_74, TYPE_NVARCHAR, TYPE_MAX, "a\xE2\x82\xAC");
	assert_text("A7 FF FF " COLLATION " FE FF FF FF FF FF FF FF  01 00 00 00 E9  00 00 00 00", TDS_74,
		    TYPE_VARCHAR, TYPE_MAX, "\xC3\xA9");
	assert_null_value("A5 FF FF FF FF FF FF FF FF FF FF", TYPE_VARBINARY);
	assert_refused("A5 FF FF 06 00 00 00 00 00 00 00  02 00 00 00 01 02  00 00 00 00", TDS_74, 8007);
	assert_refused("A5 FF FF 01 00 00 00 00 00 00 00  02 00 00 00 01 02  00 00 00 00", TDS_74, 8007);
	assert_refused("E7 FF FF " COLLATION " 01 00 00 00 00 00 00 00  01 00 00 00 61  00 00 00 00", TDS_74,
		       8016);
}

static void any_chunking_gives_the_same_value(void **state)
{
	uint32_t seed = 3;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct buf b = bytes_of("01 00 'p' 00 00 00 00 A5 FF FF FE FF FF FF FF FF FF FF");
		struct tds_rpc r;
		size_t left = 5000;

		for (size_t i = 0; left > 0;) {
			size_t n = round == 0 ? 1 : 1 + test_random(&seed) % 700;
			if (n > left)
				n = left;
			for (int k = 0; k < 4; k++)
				buf_put_u8(&b, (uint8_t)(n >> 8 * k));
			for (size_t k = 0; k < n; k++, i++)
				buf_put_u8(&b, (uint8_t)(i * 31));
			left -= n;
		}
		put_bytes(&b, "00 00 00 00  00 00 38 2A 00 00 00");
		assert_int_equal(decode(b.data, b.len, TDS_74, &r), 1);
		assert_int_equal(r.nparams, 2);
		assert_int_equal(r.params[0].value.u.s.n, 5000);
		for (size_t i = 0; i < 5000; i++)
			assert_int_equal((uint8_t)r.params[0].value.u.s.p[i], (uint8_t)(i * 31));
		assert_int_equal(r.params[1].value.u.i, 42);
		buf_fini(&b);
	}
}

static void assert_xml(const char *typed, enum xml_encoding encoding, const char *want)
{
	struct value v = good(typed, TDS_74);

	assert_int_equal(v.type.id, TYPE_XML);
	assert_int_equal(v.xml_encoding, encoding);
	assert_int_equal(v.u.s.n, strlen(want));
	assert_memory_equal(v.u.s.p, want, v.u.s.n);
}

static void xml_in_its_encodings(void **state)
{
	(void)state;
	assert_xml("F1 00 FE FF FF FF FF FF FF FF 0A 00 00 00 FF FE '<a/>' 00 00 00 00",
		   XML_UTF8_FROM_UNICODE, "<a/>");
	assert_xml("F1 00 08 00 00 00 00 00 00 00 08 00 00 00 '<a/>' 00 00 00 00", XML_UTF8_FROM_UNICODE,
		   "<a/>");
	assert_xml("F1 00 04 00 00 00 00 00 00 00 04 00 00 00 \"<a/>\" 00 00 00 00", XML_BYTES, "<a/>");
	assert_xml("F1 00 00 00 00 00 00 00 00 00 00 00 00 00", XML_UTF8_FROM_UNICODE, "");
	assert_xml(
		"F1 01 01 'd' 03 'dbo' 02 00 'sc' 04 00 00 00 00 00 00 00 04 00 00 00 \"<a/>\" 00 00 00 00",
		XML_BYTES, "<a/>");
	assert_null_value("F1 00 FF FF FF FF FF FF FF FF", TYPE_XML);
	assert_refused("F1 00 03 00 00 00 00 00 00 00 03 00 00 00 FF FE 3C 00 00 00 00", TDS_74, 8016);
	assert_refused("F1 00 FF FF FF FF FF FF FF FF", TDS_71R1, 8009);
}

static void variants(void **state)
{
	struct value v = good("62 49 1F 00 00 06 00 00 00 38 00 2A 00 00 00", TDS_74);

	(void)state;
	assert_int_equal(v.type.id, TYPE_VARIANT);
	assert_true(v.u.variant->type.id == TYPE_INT && v.u.variant->u.i == 42);
	v = good("62 49 1F 00 00 0D 00 00 00 E7 07 " COLLATION " 40 1F 'ab'", TDS_74);
	assert_true(v.u.variant->type.id == TYPE_NVARCHAR && v.u.variant->type.length == 4000);
	assert_string_equal(v.u.variant->u.s.p, "ab");
	v = good("62 49 1F 00 00 15 00 00 00 6C 02 26 02 01 39 30 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
		 TDS_74);
	assert_true(v.u.variant->type.scale == 2 && v.u.variant->u.dec.magnitude == 12345);
	v = good("62 49 1F 00 00 06 00 00 00 29 01 00 10 0E 00", TDS_74);
	assert_true(v.u.variant->u.moment.tick == INT64_C(36000000000));
	v = good("62 49 1F 00 00 06 00 00 00 A5 02 40 1F 01 02", TDS_74);
	assert_int_equal(v.u.variant->u.s.n, 2);
	v = good("62 49 1F 00 00 12 00 00 00 24 00 33 22 11 00 55 44 77 66 88 99 AA BB CC DD EE FF", TDS_74);
	assert_int_equal(v.u.variant->type.id, TYPE_GUID);
	assert_null_value("62 49 1F 00 00 00 00 00 00", TYPE_VARIANT);
	assert_refused("62 49 1F 00 00 01 00 00 00 38", TDS_74, 8016);
	assert_refused("62 49 1F 00 00 05 00 00 00 38 00 2A 00 00", TDS_74, 8016);
	assert_refused("62 49 1F 00 00 04 00 00 00 38 02 01 02", TDS_74, 8016);
	assert_refused("62 49 1F 00 00 02 00 00 00 62 00", TDS_74, 8023);
	assert_refused("62 49 1F 00 00 02 00 00 00 F1 00", TDS_74, 8023);
	assert_refused("62 49 1F 00 00 05 00 00 00 29 01 08 10 0E", TDS_74, 8016);
}

#define TVP_COLUMNS \
	"F3 00 03 'dbo' 02 'tt' 02 00  00 00 00 00 00 00 26 04 00  00 00 00 00 00 00 E7 0A 00 " COLLATION \
	" 00 "

static void table_values_are_read_and_refused(void **state)
{
	(void)state;
	assert_refused(TVP_COLUMNS "00 01 04 01 00 00 00 02 00 'a' 01 00 FF FF 00", TDS_74, 8062);
	assert_refused(TVP_COLUMNS "10 01 00 01 00 01 11 01 00 01 00 00 00", TDS_74, 8062);
	assert_refused("F3 00 00 02 'tt' FF FF 00 00", TDS_74, 8062);
	/* a default column has no data */
	assert_refused("F3 00 00 02 'tt' 01 00 00 00 00 00 00 02 26 04 00 00 01 01 01 00", TDS_74, 8062);
	assert_refused(TVP_COLUMNS "00 02 00", TDS_74, 8009);
	assert_refused(TVP_COLUMNS "00 01 05 01 00 00 00", TDS_74, 8016);
	assert_refused("F3 00 00 02 'tt' 01 04 00", TDS_74, 8016);
	assert_refused("F3 00 00 02 'tt' 01 00 00 00 00 00 00 00 1F 00 00 00", TDS_74, 8009);
	assert_refused("F3 00 00 02 'tt' FF FF 00 00", TDS_72, 8009);
}

static void every_truncation_of_a_table_value_is_refused(void **state)
{
	struct buf b = bytes_of("01 00 'p' 00 00 02 '@a' 00 " TVP_COLUMNS
				"10 01 00 01 00 01 00 01 04 01 00 00 00 02 00 'a' 01 00 FF FF 00");
	struct tds_rpc r;

	(void)state;
	for (size_t n = 7; n < b.len; n++) {
		assert_int_equal(decode(b.data, n, TDS_74, &r), 4002);
		arena_reset(&arena);
	}
	assert_int_equal(decode(b.data, b.len, TDS_74, &r), 8062);
	buf_fini(&b);
}

static void unknown_types_are_refused(void **state)
{
	(void)state;
	assert_refused("F0 00 00 00 FF FF FF FF FF FF FF FF", TDS_74, 8009); /* CLR */
	assert_refused("F4 FF FF FF FF FF FF FF FF", TDS_74, 8009);
	assert_refused("00", TDS_74, 8009);
	assert_refused("FF", TDS_74, 8009);
	assert_string_equal(last_err.text, "The incoming tabular data stream (TDS) remote procedure call "
					   "(RPC) protocol stream is incorrect. "
					   "Parameter 1 (\"@a\"): Data type 0xFF is unknown.");
}

static void names_and_numbers(void **state)
{
	struct tds_rpc r;
	struct buf b;

	(void)state;
	assert_int_equal(decode_text("", TDS_74, &r), 0);
	assert_int_equal(decode_text("07 00 'dbo.p;1' 02 00", TDS_74, &r), 1);
	assert_string_equal(r.name.p, "dbo.p;1");
	assert_int_equal(r.proc_id, 0);
	assert_int_equal(r.options, 2);
	assert_int_equal(r.nparams, 0);
	assert_int_equal(decode_text("FF FF 0A 00 00 00", TDS_74, &r), 1);
	assert_int_equal(r.proc_id, 10);
	assert_int_equal(r.name.n, 0);
	assert_int_equal(decode_text("FF FF 00 00 00 00", TDS_74, &r), 8004);
	assert_int_equal(decode_text("00 00 00 00", TDS_74, &r), 8004);
	assert_int_equal(decode_text("0C 02", TDS_74, &r), 8004); /* 524 */
	b = bytes_of("0B 02");                                    /* 523 */
	for (int i = 0; i < 523; i++)
		put_bytes(&b, "'x'");
	put_bytes(&b, "00 00");
	assert_int_equal(decode(b.data, b.len, TDS_74, &r), 1);
	assert_int_equal(r.name.n, 523);
	buf_fini(&b);
	assert_int_equal(decode_text("01 00 'p' 00 00 81", TDS_74, &r), 8005);
	assert_int_equal(decode_text("01 00 'p' 00 00 FF 00", TDS_71R1, &r), 8005);
	assert_int_equal(decode_text("01 00 'p' 00 00 00 08 38 01 00 00 00", TDS_74, &r), 8006);
}

static void parameters_have_directions(void **state)
{
	struct tds_rpc r;

	(void)state;
	assert_int_equal(decode_text("01 00 'p' 00 00  00 00 26 04 04 01 00 00 00  02 '@b' 01 26 04 00  02 "
				     "'@c' 02 E7 02 00 " COLLATION " FF FF"
				     "02 '@d' 03 38 05 00 00 00",
				     TDS_74, &r),
			 1);
	assert_int_equal(r.nparams, 4);
	assert_int_equal(r.params[0].name.n, 0);
	assert_false(r.params[0].by_ref || r.params[0].is_default);
	assert_true(r.params[1].by_ref && !r.params[1].is_default && r.params[1].value.null);
	assert_int_equal(r.params[1].wire.token, 0x26);
	assert_int_equal(r.params[1].wire.type.id, TYPE_INT);
	assert_true(!r.params[2].by_ref && r.params[2].is_default);
	assert_bytes(r.params[2].wire.collation, 5, COLLATION);
	assert_true(r.params[3].by_ref && r.params[3].is_default);
}

static void calls_are_separated_by_version(void **state)
{
	static const struct {
		enum tds_version v;
		const char *s;
		bool no_exec;
	} table[] = {
		{ TDS_70, "01 00 'p' 00 00 00 00 38 01 00 00 00 80 01 00 'q' 00 00", false },
		{ TDS_71R1, "01 00 'p' 00 00 00 00 38 01 00 00 00 80 01 00 'q' 00 00 80", false },
		{ TDS_72, "01 00 'p' 00 00 00 00 38 01 00 00 00 FF 01 00 'q' 00 00", false },
		{ TDS_74, "01 00 'p' 00 00 00 00 38 01 00 00 00 FE 01 00 'q' 00 00 FF", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf b = bytes_of(table[i].s);
		struct tds_cursor c = tds_cursor_of(b.data, b.len);
		struct err err;
		struct tds_rpc r;

		assert_int_equal(tds_get_rpc(&c, table[i].v, &limits, &arena, &r, &err), 1);
		assert_string_equal(r.name.p, "p");
		assert_int_equal(r.nparams, 1);
		assert_int_equal(r.no_exec, table[i].no_exec);
		assert_int_equal(tds_get_rpc(&c, table[i].v, &limits, &arena, &r, &err), 1);
		assert_string_equal(r.name.p, "q");
		assert_false(r.no_exec);
		assert_int_equal(tds_get_rpc(&c, table[i].v, &limits, &arena, &r, &err), 0);
		buf_fini(&b);
	}
}

static void there_are_at_most_so_many_parameters(void **state)
{
	struct buf b = bytes_of("01 00 'p' 00 00");
	struct tds_rpc r;

	(void)state;
	for (int i = 0; i < 2100; i++)
		put_bytes(&b, "00 00 30 07");
	assert_int_equal(decode(b.data, b.len, TDS_74, &r), 1);
	assert_int_equal(r.nparams, 2100);
	assert_int_equal(r.params[0].value.u.i, 7);
	assert_int_equal(r.params[2099].value.u.i, 7);
	put_bytes(&b, "00 00 30 07");
	assert_int_equal(decode(b.data, b.len, TDS_74, &r), 8003);
	buf_fini(&b);
}

static void values_past_the_limit_are_refused(void **state)
{
	static const char *const typed[] = {
		"A5 FF FF 05 00 00 00 00 00 00 00 05 00 00 00 01 02 03 04 05 00 00 00 00",
		"A5 FF FF FE FF FF FF FF FF FF FF 03 00 00 00 01 02 03 02 00 00 00 04 05 00 00 00 00",
		"A5 FF FF FE FF FF FF FF FF FF FF 05 00 00 00 01 02 03 04 05 00 00 00 00",
		"22 FF FF FF 7F 05 00 00 00 01 02 03 04 05",
		"A5 0A 00 05 00 01 02 03 04 05",
	};
	struct tds_limits small = { .max_params = 10, .max_value = 4 };
	struct tds_rpc r;
	size_t left;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		struct buf b = bytes_of("01 00 'p' 00 00 02 '@a' 00 ");
		put_bytes(&b, typed[i]);
		assert_int_equal(decode_with(&small, b.data, b.len, TDS_74, &r, &left), 50005);
		assert_string_equal(last_err.text, "@a is larger than the limit of 4 bytes (setting "
						   "max_value_size); nothing was changed.");
		small.max_value = 5;
		assert_int_equal(decode_with(&small, b.data, b.len, TDS_74, &r, &left), 1);
		small.max_value = 4;
		buf_fini(&b);
	}
}

static void a_full_arena_is_an_error(void **state)
{
	struct tds_rpc r;

	(void)state;
	arena_fini(&arena);
	arena_init(&arena, 64);
	assert_int_equal(decode_text("01 00 'p' 00 00 02 '@a' 00 26 04 00", TDS_74, &r), 701);
}

/* Large text is measured first and converted in pieces: the same result. */
static void long_texts(void **state)
{
	/* 131072 bytes */
	struct buf b = bytes_of("01 00 'p' 00 00 00 00 23 FF FF FF 7F " COLLATION " 00 00 02 00");
	struct tds_rpc r;

	(void)state;
	for (int i = 0; i < 131072; i++)
		buf_put_u8(&b, i % 2 == 0 ? 0x80 : 0xE9);
	assert_int_equal(decode(b.data, b.len, TDS_74, &r), 1);
	assert_int_equal(r.params[0].value.u.s.n, 65536 * 5);
	for (size_t i = 0; i < 65536; i++)
		assert_memory_equal(r.params[0].value.u.s.p + i * 5, "\xE2\x82\xAC\xC3\xA9", 5);
	buf_fini(&b);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(integers),
		TEST(floats_and_money),
		TEST(decimals_of_any_length),
		TEST(dates),
		TEST(guids),
		TEST(texts),
		TEST(binaries),
		TEST(old_lobs),
		TEST(chunks_are_joined),
		TEST(any_chunking_gives_the_same_value),
		TEST(xml_in_its_encodings),
		TEST(variants),
		TEST(table_values_are_read_and_refused),
		TEST(every_truncation_of_a_table_value_is_refused),
		TEST(unknown_types_are_refused),
		TEST(names_and_numbers),
		TEST(parameters_have_directions),
		TEST(calls_are_separated_by_version),
		TEST(there_are_at_most_so_many_parameters),
		TEST(values_past_the_limit_are_refused),
		TEST(a_full_arena_is_an_error),
		TEST(long_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
