/* walscan.c — walks over a write-ahead log as SQLite's recovery does, and stops where that
 * would. All reads are compared with what is there; nothing is written. */
#include "engine/sqlite/store/walscan.h"

#include <stdlib.h>

int store_walscan_run(walscan_read *read, void *arg, uint32_t limit, struct walscan *ret)
{
	uint8_t header[WAL_HEADER], *frame;
	struct wal_walk walk;
	size_t size;

	*ret = (struct walscan){ 0 };
	if (read(arg, 0, header, sizeof(header)) != sizeof(header) || !store_wal_walk_begin(&walk, header))
		return 0;
	*ret = (struct walscan){ .sound = true, .page_size = walk.page_size, .salt = walk.salt };
	size = WAL_FRAME_HEADER + walk.page_size;
	frame = malloc(size);
	if (frame == NULL)
		return -1;
	while (ret->frames < limit &&
	       read(arg, WAL_HEADER + (uint64_t)ret->frames * size, frame, size) == size &&
	       store_wal_walk_frame(&walk, frame)) {
		ret->frames++;
		if (store_wal_frame_commit(frame) != 0)
			ret->committed = ret->frames;
	}
	free(frame);
	return 0;
}
