/* token_done.c — DONE, DONEPROC, DONEINPROC [MS-TDS] 2.2.7.6: the count has 4 bytes before 7.2,
 * 8 since. */
#include "tds/tds_int.h"

void tds_put_done(struct tds_out *o, enum tds_done_kind kind, uint16_t status, uint16_t command,
		  uint64_t count)
{
	struct tds_piece p;

	assert(kind == TDS_DONE || kind == TDS_DONEPROC || kind == TDS_DONEINPROC);
	tds_piece_begin(o, &p);
	tds_piece_le(&p, kind, 1);
	tds_piece_le(&p, status, 2);
	tds_piece_le(&p, command, 2);
	if (o->version < TDS_72)
		tds_piece_le(&p, count < UINT32_MAX ? count : UINT32_MAX, 4);
	else
		tds_piece_le(&p, count, 8);
	tds_piece_end(o, &p);
}
