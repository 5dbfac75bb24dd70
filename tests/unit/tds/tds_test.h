/* tds_test.h — what the tests of this folder share: bytes written as people read them, and
 * copies of exactly that length on the heap, so that the address sanitizer sees every step too
 * far. */
#ifndef TDS_TEST_H
#define TDS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tds/out.h"
#include "tds/packet.h"

/* "E3 03 'ab' \"xy\"": hex, 'text' as UTF-16LE, "text" as it stands. Appends to b. */
static inline void put_bytes(struct buf *b, const char *s)
{
	unsigned v;

	while (*s != '\0') {
		if (*s == '\'' || *s == '"') {
			char quote = *s++;
			for (; *s != quote; s++) {
				buf_put_u8(b, (uint8_t)*s);
				if (quote == '\'')
					buf_put_u8(b, 0);
			}
			s++;
		} else if (*s == ' ' || *s == '\n') {
			s++;
		} else {
			assert_int_equal(sscanf(s, "%2x", &v), 1);
			buf_put_u8(b, (uint8_t)v);
			s += 2;
		}
	}
}

static inline struct buf bytes_of(const char *s)
{
	struct buf b;

	buf_init(&b, SIZE_MAX);
	put_bytes(&b, s);
	return b;
}

/* Exactly n bytes on the heap (one for n = 0, of which none may be read). */
static inline uint8_t *heap_copy(const void *p, size_t n)
{
	uint8_t *c = malloc(n == 0 ? 1 : n);

	assert_non_null(c);
	if (n > 0)
		memcpy(c, p, n);
	return c;
}

static inline void assert_bytes(const void *got, size_t n, const char *want)
{
	struct buf w = bytes_of(want);

	if (n != w.len || (n > 0 && memcmp(got, w.data, n) != 0)) {
		print_error("want:");
		for (size_t i = 0; i < w.len; i++)
			print_error(" %02X", w.data[i]);
		print_error("\ngot: ");
		for (size_t i = 0; i < n; i++)
			print_error(" %02X", ((const uint8_t *)got)[i]);
		print_error("\n");
		fail();
	}
	buf_fini(&w);
}

/* The payload of everything that was sent: packets taken apart by our own decoder. */
static inline struct buf payload_of(const struct tds_out *o)
{
	struct tds_cursor c = tds_cursor_of(o->wire.bytes.data, o->wire.bytes.len);
	struct tds_packet p;
	struct buf b;

	buf_init(&b, SIZE_MAX);
	assert_false(o->wire.bytes.failed);
	while (tds_left(&c) > 0) {
		assert_int_equal(tds_get_packet(&c, TDS_PACKET_MAX, &p), TDS_OK);
		buf_put(&b, p.body.pos, tds_left(&p.body));
		if (tds_left(&c) > 0 && (p.flags & TDS_STATUS_EOM) == 0)
			assert_int_equal(p.length, o->packet_size);
	}
	return b;
}

static inline void assert_payload(const struct tds_out *o, const char *want)
{
	struct buf b = payload_of(o);

	assert_bytes(b.data, b.len, want);
	buf_fini(&b);
}

/* A generator that gives the same numbers everywhere. */
static inline uint32_t test_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

#endif
