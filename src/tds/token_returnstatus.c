/* token_returnstatus.c — RETURNSTATUS [MS-TDS] 2.2.7.18. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_returnstatus(struct tds_out *o, int32_t status)
{
	tds_put_u8(o, TDS_TOKEN_RETURNSTATUS);
	tds_put_u32(o, (uint32_t)status);
}
