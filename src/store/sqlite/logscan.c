/* logscan.c — walks over a write-ahead log as SQLite's recovery does: the header, then frames, each with the salt of the header and a checksum that goes on from the one before.
 * The format is that of "Write-Ahead Log File Format" in SQLite's documentation. All reads are compared with what is there; nothing is written. */
#include "store/sqlite/logscan.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x377f0682u           /* its last bit: the checksums are over big-endian words */
#define FORMAT 3007000u
#define PAGE_LEAST 512u
#define PAGE_MOST 65536u

struct sum {
	bool big;
	uint32_t a, b;
};

static uint32_t word_at(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	return be32toh(w);
}

/* n: a multiple of 8. */
static void sum_add(struct sum *s, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i += 8) {
		uint32_t x, y;

		memcpy(&x, p + i, sizeof(x));
		memcpy(&y, p + i + 4, sizeof(y));
		s->a += (s->big ? be32toh(x) : le32toh(x)) + s->b;
		s->b += (s->big ? be32toh(y) : le32toh(y)) + s->a;
	}
}

static bool sum_is(const struct sum *s, const uint8_t *p)
{
	return word_at(p) == s->a && word_at(p + 4) == s->b;
}

static bool read_header(logscan_read *read, void *arg, struct logscan *ret, struct sum *sum)
{
	uint8_t h[LOGSCAN_HEADER];
	uint32_t size;

	if (read(arg, 0, h, sizeof(h)) != sizeof(h) || (word_at(h) & ~1u) != MAGIC || word_at(h + 4) != FORMAT)
		return false;
	size = word_at(h + 8);
	if (size < PAGE_LEAST || size > PAGE_MOST || (size & (size - 1)) != 0)
		return false;
	*sum = (struct sum){ .big = (word_at(h) & 1u) != 0 };
	sum_add(sum, h, 24);
	if (!sum_is(sum, h + 24))
		return false;
	ret->page_size = size;
	ret->salt = (struct logscan_salt){ word_at(h + 16), word_at(h + 20) };
	return true;
}

/* Page number, size of the database after a commit (else 0), salt, checksum; then the page. */
static bool frame_is_sound(const struct logscan *l, const uint8_t *f, struct sum *sum)
{
	if (word_at(f) == 0 || word_at(f + 8) != l->salt.a || word_at(f + 12) != l->salt.b)
		return false;
	sum_add(sum, f, 8);
	sum_add(sum, f + LOGSCAN_FRAME, l->page_size);
	return sum_is(sum, f + 16);
}

bool logscan_frame_commits(const uint8_t *frame, struct logscan_salt *ret)
{
	*ret = (struct logscan_salt){ word_at(frame + 8), word_at(frame + 12) };
	return word_at(frame) != 0 && word_at(frame + 4) != 0;
}

int logscan_run(logscan_read *read, void *arg, uint32_t limit, struct logscan *ret)
{
	struct sum sum;
	uint8_t *frame;
	size_t size;

	*ret = (struct logscan){ 0 };
	if (!read_header(read, arg, ret, &sum))
		return 0;
	ret->sound = true;
	size = LOGSCAN_FRAME + ret->page_size;
	frame = malloc(size);
	if (frame == NULL)
		return -1;
	while (ret->frames < limit && read(arg, LOGSCAN_HEADER + (uint64_t)ret->frames * size, frame, size) == size && frame_is_sound(ret, frame, &sum)) {
		ret->frames++;
		if (word_at(frame + 4) != 0)
			ret->committed = ret->frames;
	}
	free(frame);
	return 0;
}
