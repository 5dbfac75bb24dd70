/* walformat.c — see walformat.h. */
#include "engine/sqlite/store/walformat.h"

#include <endian.h>
#include <string.h>

#define MAGIC 0x377f0682u /* its last bit: checksums are of big-endian words */
#define FORMAT 3007000u
#define PAGE_LEAST 512u
#define PAGE_MOST 65536u

static uint32_t word_at(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return be32toh(w);
}

/* n: a multiple of 8. */
static void add(struct wal_walk *w, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint32_t x, y;

		memcpy(&x, p + i, sizeof(x));
		memcpy(&y, p + i + 4, sizeof(y));
		w->sum[0] += (w->big_endian ? be32toh(x) : le32toh(x)) + w->sum[1];
		w->sum[1] += (w->big_endian ? be32toh(y) : le32toh(y)) + w->sum[0];
	}
}

static bool sum_is(const struct wal_walk *w, const uint8_t *p)
{
	return word_at(p) == w->sum[0] && word_at(p + 4) == w->sum[1];
}

bool store_wal_walk_begin(struct wal_walk *w, const uint8_t *header)
{
	uint32_t size = word_at(header + 8);

	if ((word_at(header) & ~1u) != MAGIC || word_at(header + 4) != FORMAT)
		return false;
	if (size < PAGE_LEAST || size > PAGE_MOST || (size & (size - 1)) != 0)
		return false;
	*w = (struct wal_walk){ .page_size = size,
				.salt = { word_at(header + 16), word_at(header + 20) },
				.big_endian = (word_at(header) & 1u) != 0 };
	add(w, header, WAL_HEADER - 8);
	return sum_is(w, header + 24);
}

bool store_wal_walk_frame(struct wal_walk *w, const uint8_t *frame)
{
	struct wal_salt salt = store_wal_frame_salt(frame);

	if (store_wal_frame_page(frame) == 0 || salt.a != w->salt.a || salt.b != w->salt.b)
		return false;
	add(w, frame, 8);
	add(w, frame + WAL_FRAME_HEADER, w->page_size);
	return sum_is(w, frame + 16);
}

struct wal_salt store_wal_frame_salt(const uint8_t *frame)
{
	return (struct wal_salt){ word_at(frame + 8), word_at(frame + 12) };
}

uint32_t store_wal_frame_page(const uint8_t *frame)
{
	return word_at(frame);
}

uint32_t store_wal_frame_commit(const uint8_t *frame)
{
	return word_at(frame + 4);
}
