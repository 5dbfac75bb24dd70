/* fuzz_headers_tm.c — ALL_HEADERS and what follows them, read as a transaction manager request
 * and as the text of a batch. Input: BYTE version, then the message. */
#include "base/utf.h"
#include "fuzz.h"
#include "tds/request.h"

static void check_tm(struct tds_cursor c, struct arena *a)
{
	struct tds_tm tm;
	struct err err;

	if (tds_get_tm(&c, a, &tm, &err) < 0)
		return;
	HOLDS(tm.name.p != NULL && tm.name.p[tm.name.n] == '\0');
	HOLDS(tm.new_name.p != NULL && tm.new_name.p[tm.new_name.n] == '\0');
}

static void check_batch(struct tds_cursor c, struct arena *a)
{
	size_t units = tds_left(&c) / 2;
	struct err err;
	struct str s;

	if (tds_get_batch(&c, a, &s, &err) < 0)
		return;
	HOLDS(tds_left(&c) == 0 && s.p[s.n] == '\0');
	HOLDS(utf8_valid(s.p, s.n, true) && utf16_units(s.p, s.n) == units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum tds_version v;
	struct tds_cursor c;
	struct arena a;
	struct err err;
	uint64_t descriptor;

	if (size < 1)
		return 0;
	v = (enum tds_version)(data[0] % (TDS_80 + 1));
	c = tds_cursor_of(data + 1, size - 1);
	arena_init(&a, 16 << 20);
	if (tds_get_headers(&c, v, &descriptor, &err) == 0) {
		check_tm(c, &a);
		check_batch(c, &a);
	} else {
		HOLDS(tds_left(&c) == size - 1);
	}
	arena_fini(&a);
	return 0;
}
