/* token_returnstatus.c — RETURNSTATUS [MS-TDS] 2.2.7.18. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_returnstatus(struct tds_out *o, int32_t status)
{
	struct tds_piece p;

	tds_piece_begin(o, &p);
	tds_piece_le(&p, TDS_TOKEN_RETURNSTATUS, 1);
	tds_piece_le(&p, (uint32_t)status, 4);
	tds_piece_end(o, &p);
}
