/* test_types.c — every type out and back in: as a column of every version, read by a small
 * client, and as an output value, read by our own decoder of parameters. */
#include "row_reader.h"
#include "tds/request.h"

static const enum tds_version versions[] = { TDS_70,  TDS_71,  TDS_71R1, TDS_72,
					     TDS_73A, TDS_73B, TDS_74,   TDS_80 };

#define TEXT(tid, len, lit) \
	{ \
		.type = { (tid), 0, 0, (len) }, .u.s = {(lit), sizeof(lit) - 1 } \
	}
#define INT(tid, x) \
	{ \
		.type = { (tid), 0, 0, 0 }, .u.i = (x) \
	}
#define DEC(tid, p, s, x, neg) \
	{ \
		.type = { (tid), (p), (s), 0 }, .u.dec = {(x), (neg) } \
	}
#define MOMENT(tid, s, d, t, o) \
	{ \
		.type = { (tid), 0, (s), 0 }, .u.moment = {(d), (t), (o) } \
	}
#define HOUR INT64_C(36000000000)

/* Token in 7.4 when nullable / not, token before 7.3, before 7.2; text that the reader shows,
 * for old versions if it differs. */
static const struct {
	struct value v;
	uint8_t nullable, fixed, below73, below72;
	const char *shown, *shown_old;
} cases[] = {
	{ INT(TYPE_BIT, 1), 0x68, 0x32, 0, 0, "1", NULL },
	{ INT(TYPE_TINYINT, 255), 0x26, 0x30, 0, 0, "255", NULL },
	{ INT(TYPE_SMALLINT, -2), 0x26, 0x34, 0, 0, "-2", NULL },
	{ INT(TYPE_INT, -70000), 0x26, 0x38, 0, 0, "-70000", NULL },
	{ INT(TYPE_BIGINT, INT64_MIN), 0x26, 0x7F, 0, 0, "-9223372036854775808", NULL },
	{ DEC(TYPE_DECIMAL, 9, 2, 12345, false), 0x6A, 0x6A, 0, 0, "0139300000", NULL },
	{ DEC(TYPE_NUMERIC, 19, 0, 1, true), 0x6C, 0x6C, 0, 0, "000100000000000000", NULL },
	{ DEC(TYPE_DECIMAL, 28, 5, 256, false), 0x6A, 0x6A, 0, 0, "01000100000000000000000000", NULL },
	{ DEC(TYPE_DECIMAL, 38, 38, (unsigned __int128)7 << 64 | 9, true), 0x6A, 0x6A, 0, 0,
	  "0009000000000000000700000000000000", NULL },
	{ INT(TYPE_SMALLMONEY, -1), 0x6E, 0x7A, 0, 0, "FFFFFFFF", NULL },
	{ INT(TYPE_MONEY, (INT64_C(1) << 32) + 2), 0x6E, 0x3C, 0, 0, "0100000002000000", NULL },
	{ { .type = { TYPE_REAL, 0, 0, 0 }, .u.f = 1.5 }, 0x6D, 0x3B, 0, 0, "1.5", NULL },
	{ { .type = { TYPE_FLOAT, 0, 0, 0 }, .u.f = -2.25 }, 0x6D, 0x3E, 0, 0, "-2.25", NULL },
	{ TEXT(TYPE_CHAR, 5, "a\xE2\x82\xAC"), 0xAF, 0xAF, 0, 0, "a\xE2\x82\xAC   ", NULL },
	{ TEXT(TYPE_VARCHAR, 10, "\xC3\xA9\xE6\x97\xA5x"), 0xA7, 0xA7, 0, 0, "\xC3\xA9?x", NULL },
	{ TEXT(TYPE_VARCHAR, 3, "abcdef"), 0xA7, 0xA7, 0, 0, "abc", NULL },
	{ TEXT(TYPE_VARCHAR, TYPE_MAX, "\xC3\xA9\xE6\x97\xA5x"), 0xA7, 0xA7, 0, 0x23, "\xC3\xA9?x", NULL },
	{ TEXT(TYPE_TEXT, TYPE_MAX, "text"), 0x23, 0x23, 0, 0, "text", NULL },
	{ TEXT(TYPE_NCHAR, 4, "\xE6\x97\xA5"), 0xEF, 0xEF, 0, 0, "\xE6\x97\xA5   ", NULL },
	{ TEXT(TYPE_NVARCHAR, 10, "a\xF0\x9F\x98\x80"), 0xE7, 0xE7, 0, 0, "a\xF0\x9F\x98\x80", NULL },
	/* cut before, not inside, a pair */
	{ TEXT(TYPE_NVARCHAR, 2, "a\xF0\x9F\x98\x80"), 0xE7, 0xE7, 0, 0, "a", NULL },
	{ TEXT(TYPE_NVARCHAR, 10, ""), 0xE7, 0xE7, 0, 0, "", NULL },
	{ TEXT(TYPE_NVARCHAR, TYPE_MAX, "a\xF0\x9F\x98\x80"), 0xE7, 0xE7, 0, 0x63, "a\xF0\x9F\x98\x80",
	  NULL },
	{ TEXT(TYPE_NTEXT, TYPE_MAX, "ntext"), 0x63, 0x63, 0, 0, "ntext", NULL },
	{ TEXT(TYPE_XML, TYPE_MAX, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>"), 0xF1, 0xF1,
	  0, 0x63, "<a/>", NULL },
	{ TEXT(TYPE_XML, TYPE_MAX, "<?xml-stylesheet?><a/>"), 0xF1, 0xF1, 0, 0x63, "<?xml-stylesheet?><a/>",
	  NULL },
	{ TEXT(TYPE_BINARY, 4, "\1\2"), 0xAD, 0xAD, 0, 0, "01020000", NULL },
	{ TEXT(TYPE_VARBINARY, 4, "\1\2"), 0xA5, 0xA5, 0, 0, "0102", NULL },
	{ TEXT(TYPE_VARBINARY, TYPE_MAX, "\1\2\3"), 0xA5, 0xA5, 0, 0x22, "010203", NULL },
	{ TEXT(TYPE_VARBINARY, TYPE_MAX, ""), 0xA5, 0xA5, 0, 0x22, "", NULL },
	{ TEXT(TYPE_IMAGE, TYPE_MAX, "\1\2"), 0x22, 0x22, 0, 0, "0102", NULL },
	{ { .type = { TYPE_GUID, 0, 0, 0 },
	    .u.guid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
	  0x24,
	  0x24,
	  0,
	  0,
	  "0102030405060708090A0B0C0D0E0F10",
	  NULL },
	{ MOMENT(TYPE_DATE, 0, 730119, 0, 0), 0x28, 0x28, 0xE7, 0, "07240B", "2000-01-01" },
	{ MOMENT(TYPE_TIME, 7, 0, HOUR, 0), 0x29, 0x29, 0xE7, 0, "0068C46108", "01:00:00.0000000" },
	{ MOMENT(TYPE_TIME, 0, 0, HOUR, 0), 0x29, 0x29, 0xE7, 0, "100E00", "01:00:00" },
	{ INT(TYPE_SMALLDATETIME, 86400 * 300 + 120 * 300), 0x6F, 0x3A, 0, 0, "01000200", NULL },
	{ INT(TYPE_DATETIME, INT64_C(36524) * 86400 * 300 + 3600 * 300), 0x6F, 0x3D, 0, 0, "AC8E0000C07A1000",
	  NULL },
	{ INT(TYPE_DATETIME, -1), 0x6F, 0x3D, 0, 0, "FFFFFFFFFF818B01", NULL },
	{ MOMENT(TYPE_DATETIME2, 3, 730119, HOUR, 0), 0x2A, 0x2A, 0xE7, 0, "80EE360007240B",
	  "2000-01-01 01:00:00.000" },
	{ MOMENT(TYPE_DATETIMEOFFSET, 7, 730119, HOUR, 60), 0x2B, 0x2B, 0xE7, 0, "0068C4610807240B3C00",
	  "2000-01-01 02:00:00.0000000 +01:00" },
};
#define NCASES ARRAY_LEN(cases)

static uint8_t wanted_token(size_t i, enum tds_version v, bool nullable)
{
	if (v < TDS_72 && cases[i].below72 != 0)
		return cases[i].below72;
	if (v < TDS_73A && cases[i].below73 != 0)
		return cases[i].below73;
	return nullable ? cases[i].nullable : cases[i].fixed;
}

static const char *wanted_text(size_t i, enum tds_version v)
{
	return v < TDS_73A && cases[i].shown_old != NULL ? cases[i].shown_old : cases[i].shown;
}

static void check_rows(enum tds_version v, bool nullable, size_t packet_size)
{
	struct column cols[NCASES];
	struct value vals[NCASES];
	char *texts[NCASES];
	struct reader r = { .version = v };
	struct tds_out o;
	struct buf b;

	tds_out_init(&o, 1 << 20);
	o.version = v;
	o.packet_size = packet_size;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	for (size_t i = 0; i < NCASES; i++) {
		cols[i] = (struct column){ "c", cases[i].v.type, nullable };
		vals[i] = cases[i].v;
	}
	tds_put_colmetadata(&o, cols, NCASES);
	tds_put_row(&o, cols, vals, NCASES);
	for (size_t i = 0; nullable && i < NCASES; i++)
		vals[i] = value_null(cols[i].type);
	tds_put_row(&o, cols, vals, NCASES);
	tds_out_end(&o);
	b = payload_of(&o);
	r.c = tds_cursor_of(b.data, b.len);
	reader_metadata(&r);
	assert_int_equal(r.n, NCASES);
	for (size_t i = 0; i < NCASES; i++) {
		assert_int_equal(r.cols[i].token, wanted_token(i, v, nullable));
		assert_int_equal(r.cols[i].flags,
				 (nullable ? 9 : 8) | (cases[i].v.type.id == TYPE_XML ? 2 : 0));
		assert_string_equal(r.cols[i].name, "c");
	}
	for (int row = 0; row < 2; row++) {
		reader_row(&r, texts);
		for (size_t i = 0; i < NCASES; i++) {
			assert_string_equal(texts[i], row == 1 && nullable ? "NULL" : wanted_text(i, v));
			free(texts[i]);
		}
	}
	assert_int_equal(tds_left(&r.c), 0);
	buf_fini(&b);
	tds_out_fini(&o);
}

static void every_type_as_a_column_of_every_version(void **state)
{
	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		check_rows(versions[v], true, 4096);
		check_rows(versions[v], false, 4096);
	}
}

static void the_token_of_a_type_can_be_asked(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++)
		assert_int_equal(tds_type_token(&cases[i].v.type), cases[i].nullable);
}

/* Packets so small that every value meets their end somewhere. */
static void packets_may_end_anywhere(void **state)
{
	(void)state;
	for (size_t size = 16; size < 60; size++) {
		check_rows(TDS_74, true, size);
		check_rows(TDS_71R1, false, size);
	}
}

static void old_clients_get_dates_as_text_of_known_length(void **state)
{
	static const struct column cols[] = {
		{ "a", { TYPE_DATE, 0, 0, 0 }, true },
		{ "b", { TYPE_TIME, 0, 7, 0 }, true },
		{ "c", { TYPE_DATETIME2, 0, 7, 0 }, true },
		{ "d", { TYPE_DATETIMEOFFSET, 0, 7, 0 }, true },
	};
	static const uint32_t max[] = { 20, 32, 54, 68 };
	struct reader r = { .version = TDS_72 };
	struct tds_out o;
	struct buf b;

	(void)state;
	tds_out_init(&o, 1 << 20);
	o.version = TDS_72;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, cols, ARRAY_LEN(cols));
	tds_out_end(&o);
	b = payload_of(&o);
	r.c = tds_cursor_of(b.data, b.len);
	reader_metadata(&r);
	for (size_t i = 0; i < ARRAY_LEN(cols); i++)
		assert_int_equal(r.cols[i].max, max[i]);
	buf_fini(&b);
	tds_out_fini(&o);
}

/* Values of many sizes around the chunk and packet boundaries. */
static void check_long(const struct type *t, enum tds_version v, const char *unit, size_t times,
		       const char *shown_unit)
{
	struct column col = { "c", *t, true };
	size_t n = strlen(unit), shown_n = strlen(shown_unit);
	char *text = malloc(n * times + 1), *texts[1];
	struct reader r = { .version = v };
	struct value val;
	struct tds_out o;
	struct buf b;

	for (size_t i = 0; i < times; i++)
		memcpy(text + i * n, unit, n);
	val = (struct value){ .type = *t, .u.s = { text, n * times } };
	tds_out_init(&o, 64 << 20);
	o.version = v;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, &col, 1);
	tds_put_row(&o, &col, &val, 1);
	tds_out_end(&o);
	b = payload_of(&o);
	r.c = tds_cursor_of(b.data, b.len);
	reader_metadata(&r);
	reader_row(&r, texts);
	assert_int_equal(tds_left(&r.c), 0);
	assert_int_equal(strlen(texts[0]), shown_n * times);
	for (size_t i = 0; i < times; i++)
		assert_memory_equal(texts[0] + i * shown_n, shown_unit, shown_n);
	free(texts[0]);
	free(text);
	buf_fini(&b);
	tds_out_fini(&o);
}

static void long_values(void **state)
{
	static const size_t times[] = { 0,    1,    1332, 1333, 1334, 1999, 2000, 2001,
					2667, 3999, 4000, 4001, 7999, 8000, 8001, 30000 };
	static const enum type_id wide[] = { TYPE_NVARCHAR, TYPE_NTEXT, TYPE_XML },
				  narrow[] = { TYPE_VARCHAR, TYPE_TEXT };
	static const enum type_id bytes[] = { TYPE_VARBINARY, TYPE_IMAGE };
	static const enum tds_version some[] = { TDS_71R1, TDS_74 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		for (size_t v = 0; v < ARRAY_LEN(some); v++) {
			for (size_t k = 0; k < ARRAY_LEN(wide); k++) {
				check_long(&TYPE_LEN(wide[k], TYPE_MAX), some[v], "x", times[i], "x");
				check_long(&TYPE_LEN(wide[k], TYPE_MAX), some[v], "\xE2\x82\xAC", times[i],
					   "\xE2\x82\xAC");
				check_long(&TYPE_LEN(wide[k], TYPE_MAX), some[v], "\xF0\x9F\x98\x80",
					   times[i], "\xF0\x9F\x98\x80");
				check_long(&TYPE_LEN(wide[k], TYPE_MAX), some[v], "\xED\xA0\x80x", times[i],
					   "\xED\xA0\x80x");
			}
			for (size_t k = 0; k < ARRAY_LEN(narrow); k++) {
				check_long(&TYPE_LEN(narrow[k], TYPE_MAX), some[v], "x", times[i], "x");
				check_long(&TYPE_LEN(narrow[k], TYPE_MAX), some[v],
					   "\xE2\x82\xAC\xF0\x9F\x98\x80", times[i], "\xE2\x82\xAC?");
			}
			for (size_t k = 0; k < ARRAY_LEN(bytes); k++)
				check_long(&TYPE_LEN(bytes[k], TYPE_MAX), some[v], "\xAB", times[i], "AB");
		}
	}
	check_long(&TYPE_LEN(TYPE_NVARCHAR, 4000), TDS_74, "\xE2\x82\xAC", 4000, "\xE2\x82\xAC");
	check_long(&TYPE_LEN(TYPE_VARCHAR, 8000), TDS_74, "\xE2\x82\xAC", 8000, "\xE2\x82\xAC");
	check_long(&TYPE_LEN(TYPE_VARBINARY, 8000), TDS_74, "\xAB", 8000, "AB");
}

/* Text that is no UTF-8 must not make totals lie. */
static void broken_text_keeps_the_stream_whole(void **state)
{
	static const enum type_id ids[] = { TYPE_VARCHAR, TYPE_NVARCHAR, TYPE_XML, TYPE_TEXT, TYPE_NTEXT };
	uint32_t seed = 11;

	(void)state;
	for (int round = 0; round < 40; round++) {
		for (size_t k = 0; k < ARRAY_LEN(ids); k++) {
			size_t n = test_random(&seed) % 20000;
			char *text = malloc(n + 1), *texts[1];
			struct column col = { "c", TYPE_LEN(ids[k], TYPE_MAX), true };
			struct reader r = { .version = TDS_74 };
			struct tds_out o;
			struct buf b;

			for (size_t i = 0; i < n; i++)
				text[i] = (char)(0x80 | test_random(&seed));
			struct value v = { .type = col.type, .u.s = { text, n } };
			tds_out_init(&o, 1 << 20);
			tds_out_begin(&o, TDS_MSG_RESPONSE);
			tds_put_colmetadata(&o, &col, 1);
			tds_put_row(&o, &col, &v, 1);
			tds_out_end(&o);
			b = payload_of(&o);
			r.c = tds_cursor_of(b.data, b.len);
			reader_metadata(&r);
			reader_row(&r, texts);
			assert_int_equal(tds_left(&r.c), 0);
			free(texts[0]);
			free(text);
			buf_fini(&b);
			tds_out_fini(&o);
		}
	}
}

/* AC … TYPE_INFO value of a RETURNVALUE is what an RPC parameter looks like: read it back as
 * one. */
static int as_parameter(const struct tds_out *o, enum tds_version v, struct arena *a, uint8_t **ret_message,
			struct tds_rpc *ret)
{
	static const struct tds_limits limits = { 10, 1 << 20 };
	struct buf b = payload_of(o), m = bytes_of("01 00 'p' 00 00 00 00");
	size_t skip = 1 + 2 + 1 + 2 * 2 + 1 + (v < TDS_72 ? 2 : 4) + 2;
	struct tds_cursor c;
	struct err err;
	int rc;

	assert_int_equal(b.data[0], 0xAC);
	buf_put(&m, b.data + skip, b.len - skip);
	*ret_message = heap_copy(m.data, m.len);
	c = tds_cursor_of(*ret_message, m.len);
	rc = tds_get_rpc(&c, v, &limits, a, ret, &err);
	assert_int_equal(tds_left(&c), 0);
	buf_fini(&b);
	buf_fini(&m);
	return rc;
}

static bool same(const struct value *a, const struct value *b)
{
	switch (a->type.id) {
	case TYPE_DECIMAL:
	case TYPE_NUMERIC:
		return a->u.dec.magnitude == b->u.dec.magnitude && a->u.dec.negative == b->u.dec.negative;
	case TYPE_REAL:
	case TYPE_FLOAT: return a->u.f == b->u.f;
	case TYPE_GUID: return memcmp(a->u.guid, b->u.guid, 16) == 0;
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET:
		return a->u.moment.day == b->u.moment.day && a->u.moment.tick == b->u.moment.tick &&
		       a->u.moment.offset == b->u.moment.offset;
	case TYPE_BIT:
	case TYPE_TINYINT:
	case TYPE_SMALLINT:
	case TYPE_INT:
	case TYPE_BIGINT:
	case TYPE_SMALLMONEY:
	case TYPE_MONEY:
	case TYPE_SMALLDATETIME:
	case TYPE_DATETIME: return a->u.i == b->u.i;
	default: return a->u.s.n == b->u.s.n && memcmp(a->u.s.p, b->u.s.p, a->u.s.n) == 0;
	}
}

static bool is_old_lob(enum type_id id)
{
	return id == TYPE_TEXT || id == TYPE_NTEXT || id == TYPE_IMAGE;
}

/* What the column cases lose on purpose (cut, padded, lost characters) is not compared by value. */
static bool lossless(size_t i)
{
	enum type_id id = cases[i].v.type.id;

	return id != TYPE_CHAR && id != TYPE_VARCHAR && id != TYPE_NCHAR && id != TYPE_BINARY &&
	       id != TYPE_XML && !(id == TYPE_NVARCHAR && cases[i].v.type.length == 2);
}

static void every_type_as_an_output_value(void **state)
{
	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		for (size_t i = 0; i < 2 * NCASES; i++) {
			struct value val = cases[i / 2].v;
			struct tds_wire_type wire = { .type = val.type };
			struct arena a;
			struct tds_out o;
			struct tds_rpc r;
			uint8_t *message;

			if (i % 2 == 1)
				val = value_null(val.type);
			arena_init(&a, 1 << 20);
			tds_out_init(&o, 1 << 20);
			o.version = versions[v];
			tds_out_begin(&o, TDS_MSG_RESPONSE);
			tds_put_returnvalue(&o, 3, STR("@x"), &wire, &val);
			tds_out_end(&o);
			assert_int_equal(as_parameter(&o, versions[v], &a, &message, &r), 1);
			assert_int_equal(r.params[0].value.null, val.null);
			if (versions[v] >= TDS_73A && !is_old_lob(val.type.id))
				assert_int_equal(r.params[0].value.type.id, val.type.id);
			if (!val.null && versions[v] >= TDS_73A && lossless(i / 2))
				assert_true(same(&val, &r.params[0].value));
			free(message);
			tds_out_fini(&o);
			arena_fini(&a);
		}
	}
}

static void variants_carry_their_type(void **state)
{
	static const struct column col = { "v", { TYPE_VARIANT, 0, 0, 0 }, true };

	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(versions); v++) {
		if (versions[v] < TDS_71)
			continue;
		for (size_t i = 0; i < NCASES; i++) {
			struct value inner = cases[i].v, outer = { .type = col.type, .u.variant = &inner };
			struct tds_wire_type wire = { .type = col.type };
			struct tds_mark mark;
			struct arena a;
			struct tds_out o;
			struct tds_rpc r;
			uint8_t *message;

			arena_init(&a, 1 << 20);
			tds_out_init(&o, 1 << 20);
			o.version = versions[v];
			tds_out_begin(&o, TDS_MSG_RESPONSE);
			mark = tds_out_mark(&o);
			tds_put_row(&o, &col, &outer, 1);
			assert_false(o.wire.bytes.failed);
			assert_true(tds_out_rewind(&o, &mark));
			tds_put_returnvalue(&o, 3, STR("@x"), &wire, &outer);
			tds_out_end(&o);
			assert_int_equal(as_parameter(&o, versions[v], &a, &message, &r), 1);
			assert_int_equal(r.params[0].value.type.id, TYPE_VARIANT);
			if (versions[v] >= TDS_73A && lossless(i))
				assert_true(same(&inner, r.params[0].value.u.variant));
			free(message);
			tds_out_fini(&o);
			arena_fini(&a);
		}
	}
}

static void a_null_variant(void **state)
{
	static const struct column col = { "v", { TYPE_VARIANT, 0, 0, 0 }, true };
	struct value inner = value_null(TYPE_OF(TYPE_INT)), outer = { .type = col.type, .u.variant = &inner };
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 1 << 20);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, &col, 1);
	tds_put_row(&o, &col, &outer, 1);
	tds_out_end(&o);
	assert_payload(&o, "81 01 00 00 00 00 00 09 00 62 49 1F 00 00 01 'v' D1 00 00 00 00");
	tds_out_fini(&o);
}

static void an_untyped_null_goes_as_int(void **state)
{
	static const struct column col = { "", { TYPE_NULL, 0, 0, 0 }, true };
	struct value null = value_null(col.type);
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 1 << 20);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, &col, 1);
	tds_put_row(&o, &col, &null, 1);
	tds_out_end(&o);
	assert_payload(&o, "81 01 00 00 00 00 00 09 00 26 04 00 D1 00");
	tds_out_fini(&o);
}

static void a_client_with_utf8_gets_it_back(void **state)
{
	struct tds_wire_type wire = { .token = 0xA7,
				      .type = TYPE_LEN(TYPE_VARCHAR, 8),
				      .collation = { 0x09, 0x04, 0xD0, 0x24, 0x00 } };
	struct value v = value_text(wire.type, STR("\xE6\x97\xA5\xE6\x97\xA5\xE6\x97\xA5"));

	(void)state;
	for (int utf8 = 0; utf8 < 2; utf8++) {
		struct tds_out o;
		tds_out_init(&o, 1 << 20);
		o.utf8 = utf8;
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		tds_put_returnvalue(&o, 0, STR(""), &wire, &v);
		tds_out_end(&o);
		assert_payload(
			&o, utf8 ? "AC 00 00 00 01 00 00 00 00 00 00 A7 08 00 09 04 D0 24 00 06 00 E6 97 A5 "
				   "E6 97 A5"
				 : "AC 00 00 00 01 00 00 00 00 00 00 A7 08 00 09 04 D0 00 34 03 00 \"???\"");
		tds_out_fini(&o);
	}
}

/* Hands on what it gets: a value much larger than the buffer. */
static int count_bytes(struct output *finished, void *arg)
{
	*(uint64_t *)arg += finished->bytes.len;
	return 0;
}

static void a_huge_value_streams_through_a_small_buffer(void **state)
{
	static const struct column col = { "c", { TYPE_VARBINARY, 0, 0, TYPE_MAX }, true };
	size_t n = 64 << 20;
	struct value v = value_bytes(col.type, calloc(1, n), n);
	uint64_t total = 0;
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 64 << 10);
	o.flush = count_bytes;
	o.flush_arg = &total;
	o.flush_at = 16 << 10;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_row(&o, &col, &v, 1);
	tds_out_end(&o);
	assert_false(o.wire.bytes.failed);
	assert_true(total + o.wire.bytes.len > n);
	free((char *)(uintptr_t)v.u.s.p);
	tds_out_fini(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_as_a_column_of_every_version),
		cmocka_unit_test(the_token_of_a_type_can_be_asked),
		cmocka_unit_test(packets_may_end_anywhere),
		cmocka_unit_test(old_clients_get_dates_as_text_of_known_length),
		cmocka_unit_test(long_values),
		cmocka_unit_test(broken_text_keeps_the_stream_whole),
		cmocka_unit_test(every_type_as_an_output_value),
		cmocka_unit_test(variants_carry_their_type),
		cmocka_unit_test(a_null_variant),
		cmocka_unit_test(an_untyped_null_goes_as_int),
		cmocka_unit_test(a_client_with_utf8_gets_it_back),
		cmocka_unit_test(a_huge_value_streams_through_a_small_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
