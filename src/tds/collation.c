/* collation.c — the five bytes that say which code page a varchar is in (wire notes 12.6). */
#include "tds/tds.h"
#include "tds/tds_int.h"

const uint8_t tds_collation_default[5] = { 0x09, 0x04, 0xD0, 0x00, 0x34 };

/* Flag 0x40 of bits 20 … 27; a sort id fixes a code page of its own and so excludes it. */
bool tds_collation_is_utf8(const uint8_t collation[5])
{
	return collation[4] == 0 && (collation[3] & 0x04) != 0;
}
