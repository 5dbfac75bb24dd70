/* fuzz_walscan.c — a write-ahead log as a broken disk may give it back. */
#include <string.h>

#include "fuzz.h"
#include "engine/sqlite/store/walscan.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static size_t read_input(void *arg, uint64_t at, void *dst, size_t n)
{
	const struct input *in = arg;

	if (at >= in->size)
		return 0;
	if (n > in->size - at)
		n = in->size - (size_t)at;
	memcpy(dst, in->data + at, n);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct walscan all, part;

	HOLDS(store_walscan_run(read_input, &in, UINT32_MAX, &all) == 0);
	HOLDS(all.committed <= all.frames);
	HOLDS(all.sound || (all.frames == 0 && all.page_size == 0));
	if (!all.sound)
		return 0;
	HOLDS(WAL_HEADER + (uint64_t)all.frames * (WAL_FRAME_HEADER + all.page_size) <= size);
	/* what is behind the last commit does not matter */
	in.size = WAL_HEADER + (size_t)all.committed * (WAL_FRAME_HEADER + all.page_size);
	HOLDS(store_walscan_run(read_input, &in, UINT32_MAX, &part) == 0);
	HOLDS(part.frames == all.committed && part.committed == all.committed);
	return 0;
}
