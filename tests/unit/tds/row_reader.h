/* row_reader.h — a small client: reads COLMETADATA and ROW as a driver of the given version
 * would, and shows each value as text. It shares no code with src/tds but the cursor. Numbers in
 * decimal, bytes in hex, text as it is, NULL as "NULL". */
#ifndef ROW_READER_H
#define ROW_READER_H

#include "base/utf.h"
#include "tds/cursor.h"
#include "tds_test.h"

#define READER_COLUMNS 40

struct reader_column {
	uint8_t token;
	uint32_t max;
	uint8_t precision, scale;
	uint16_t flags;
	bool collated;
	char name[64];
};
struct reader {
	struct tds_cursor c;
	enum tds_version version;
	size_t n;
	struct reader_column cols[READER_COLUMNS];
};

static inline uint64_t reader_int(struct reader *r, size_t n)
{
	uint64_t v = 0;

	assert_true(tds_left(&r->c) >= n);
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)r->c.pos[i] << 8 * i;
	r->c.pos += n;
	return v;
}

static inline void reader_type(struct reader *r, struct reader_column *col)
{
	static const uint8_t collation[5] = { 0x09, 0x04, 0xD0, 0x00, 0x34 };

	col->token = (uint8_t)reader_int(r, 1);
	switch (col->token) {
	case 0x30:
	case 0x32: col->max = 1; break;
	case 0x34: col->max = 2; break;
	case 0x38:
	case 0x3B:
	case 0x3A:
	case 0x7A: col->max = 4; break;
	case 0x7F:
	case 0x3E:
	case 0x3D:
	case 0x3C: col->max = 8; break;
	case 0x26:
	case 0x68:
	case 0x6D:
	case 0x6E:
	case 0x6F:
	case 0x24: col->max = (uint32_t)reader_int(r, 1); break;
	case 0x6A:
	case 0x6C:
		col->max = (uint32_t)reader_int(r, 1);
		col->precision = (uint8_t)reader_int(r, 1);
		col->scale = (uint8_t)reader_int(r, 1);
		break;
	case 0x28: break;
	case 0x29:
	case 0x2A:
	case 0x2B: col->scale = (uint8_t)reader_int(r, 1); break;
	case 0xA7:
	case 0xAF:
	case 0xE7:
	case 0xEF:
		col->max = (uint32_t)reader_int(r, 2);
		col->collated = true;
		break;
	case 0xA5:
	case 0xAD: col->max = (uint32_t)reader_int(r, 2); break;
	case 0x23:
	case 0x63:
		col->max = (uint32_t)reader_int(r, 4);
		col->collated = true;
		break;
	case 0x22:
	case 0x62: col->max = (uint32_t)reader_int(r, 4); break;
	case 0xF1: assert_int_equal(reader_int(r, 1), 0); break;
	default: fail_msg("type %02X", col->token);
	}
	if (col->collated && r->version >= TDS_71) {
		assert_memory_equal(r->c.pos, collation, 5);
		r->c.pos += 5;
	}
}

static inline void reader_metadata(struct reader *r)
{
	assert_int_equal(reader_int(r, 1), 0x81);
	r->n = reader_int(r, 2);
	assert_true(r->n <= READER_COLUMNS);
	for (size_t i = 0; i < r->n; i++) {
		struct reader_column *col = &r->cols[i];
		size_t units;

		*col = (struct reader_column){ 0 };
		assert_int_equal(reader_int(r, r->version < TDS_72 ? 2 : 4), 0);
		col->flags = (uint16_t)reader_int(r, 2);
		reader_type(r, col);
		if (col->token == 0x23 || col->token == 0x63 || col->token == 0x22) {
			if (r->version >= TDS_72)
				assert_int_equal(reader_int(r, 1), 1);
			assert_int_equal(reader_int(r, 2), 0);
		}
		units = reader_int(r, 1);
		assert_true(units < sizeof(col->name) && tds_left(&r->c) >= 2 * units);
		for (size_t k = 0; k < units; k++)
			col->name[k] = (char)reader_int(r, 2);
	}
}

/* PLP, checked on the way: known total, chunks of at most 8192 bytes, nothing missing. */
static inline bool reader_plp(struct reader *r, struct buf *b)
{
	uint64_t total = reader_int(r, 8);
	uint32_t n;

	if (total == UINT64_MAX)
		return false;
	while ((n = (uint32_t)reader_int(r, 4)) != 0) {
		assert_true(n <= 8192 && n <= tds_left(&r->c));
		buf_put(b, r->c.pos, n);
		r->c.pos += n;
	}
	assert_true(total == b->len);
	return true;
}

/* The bytes of a value; false: NULL. */
static inline bool reader_bytes(struct reader *r, const struct reader_column *col, struct buf *b)
{
	size_t n = 0;

	switch (col->token) {
	case 0x30:
	case 0x32:
	case 0x34:
	case 0x38:
	case 0x7F:
	case 0x3B:
	case 0x3E:
	case 0x3A:
	case 0x3D:
	case 0x7A:
	case 0x3C: n = col->max; break;
	case 0x26:
	case 0x68:
	case 0x6D:
	case 0x6E:
	case 0x6F:
	case 0x24:
	case 0x6A:
	case 0x6C:
	case 0x28:
	case 0x29:
	case 0x2A:
	case 0x2B:
		n = reader_int(r, 1);
		if (n == 0)
			return false;
		assert_true(col->max == 0 || n == col->max);
		break;
	case 0xA7:
	case 0xAF:
	case 0xE7:
	case 0xEF:
	case 0xA5:
	case 0xAD:
		if (col->max == 0xFFFF)
			return reader_plp(r, b);
		n = reader_int(r, 2);
		if (n == 0xFFFF)
			return false;
		assert_true(n <= col->max);
		break;
	case 0x23:
	case 0x63:
	case 0x22:
		if (reader_int(r, 1) == 0)
			return false;
		r->c.pos += 24;
		n = reader_int(r, 4);
		break;
	case 0xF1: return reader_plp(r, b);
	case 0x62:
		n = reader_int(r, 4);
		if (n == 0)
			return false;
		break;
	}
	assert_true(n <= tds_left(&r->c));
	buf_put(b, r->c.pos, n);
	r->c.pos += n;
	return true;
}

static inline int64_t reader_signed(const struct buf *b)
{
	uint64_t v = 0;

	for (size_t i = 0; i < b->len; i++)
		v |= (uint64_t)b->data[i] << 8 * i;
	return b->len == 2 ? (int16_t)v : b->len == 4 ? (int32_t)v : (int64_t)v;
}

/* dst: room for 3 bytes for every one of b, and for any number. */
static inline void reader_show(const struct reader_column *col, const struct buf *b, char *dst, size_t size)
{
	double d = 0;
	float f = 0;

	switch (col->token) {
	case 0x30:
	case 0x32:
	case 0x34:
	case 0x38:
	case 0x7F:
	case 0x26:
	case 0x68: snprintf(dst, size, "%lld", (long long)reader_signed(b)); break;
	case 0x3B:
	case 0x3E:
	case 0x6D:
		if (b->len == 4)
			memcpy(&f, b->data, 4);
		else
			memcpy(&d, b->data, 8);
		snprintf(dst, size, "%g", b->len == 4 ? (double)f : d);
		break;
	case 0xE7:
	case 0xEF:
	case 0x63:
	case 0xF1:
		assert_int_equal(b->len % 2, 0);
		dst[utf8_from_utf16le(dst, b->data, b->len)] = '\0';
		break;
	case 0xA7:
	case 0xAF:
	case 0x23: dst[utf8_from_cp1252(dst, b->data, b->len)] = '\0'; break;
	default:
		dst[0] = '\0';
		for (size_t i = 0; i < b->len; i++)
			snprintf(dst + 2 * i, size - 2 * i, "%02X", b->data[i]);
	}
}

/* One ROW token; texts[i] is malloc'ed. */
static inline void reader_row(struct reader *r, char **texts)
{
	assert_int_equal(reader_int(r, 1), 0xD1);
	for (size_t i = 0; i < r->n; i++) {
		struct buf b;

		buf_init(&b, SIZE_MAX);
		if (reader_bytes(r, &r->cols[i], &b)) {
			texts[i] = malloc(3 * b.len + 32);
			reader_show(&r->cols[i], &b, texts[i], 3 * b.len + 32);
		} else {
			texts[i] = strdup("NULL");
		}
		buf_fini(&b);
	}
}

#endif
