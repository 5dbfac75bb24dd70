/* token_sspi.c — SSPI [MS-TDS] 2.2.7.22: the next token of an integrated login, alone in its
 * message. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_sspi(struct tds_out *o, const void *p, size_t n)
{
	if (n > UINT16_MAX) {
		tds_out_fail(o);
		return;
	}
	tds_put_u8(o, TDS_TOKEN_SSPI);
	tds_put_u16(o, (uint16_t)n);
	tds_put(o, p, n);
}
