/* token_done.c — DONE, DONEPROC, DONEINPROC [MS-TDS] 2.2.7.6: the count has 4 bytes before 7.2, 8 since. */
#include "tds/tds_int.h"

void tds_put_done(struct tds_out *o, enum tds_done_kind kind, uint16_t status, uint16_t command, uint64_t count)
{
	tds_put_u8(o, (uint8_t)kind);
	tds_put_u16(o, status);
	tds_put_u16(o, command);
	if (o->version < TDS_72)
		tds_put_u32(o, (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX));
	else
		tds_put_u64(o, count);
}
