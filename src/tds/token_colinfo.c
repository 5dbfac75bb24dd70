/* token_colinfo.c — COLINFO [MS-TDS] 2.2.7.3, after the COLMETADATA of a cursor: every column is an
 * expression, and the last one, ROWSTAT, is hidden. And the COLMETADATA that says that there is
 * none, since the client has it already. */
#include "tds/tds_int.h"
#include "tds/token.h"

enum { COLUMN_EXPRESSION = 0x04, COLUMN_HIDDEN = 0x10 };

void tds_put_colinfo(struct tds_out *o, size_t n)
{
	tds_put_u8(o, TDS_TOKEN_COLINFO);
	tds_put_u16(o, (uint16_t)(3 * n));
	for (size_t i = 1; i <= n; i++) {
		tds_put_u8(o, (uint8_t)i);
		tds_put_u8(o, 0); /* of no table */
		tds_put_u8(o, i == n ? COLUMN_EXPRESSION | COLUMN_HIDDEN : COLUMN_EXPRESSION);
	}
}

void tds_put_no_colmetadata(struct tds_out *o)
{
	tds_put_u8(o, TDS_TOKEN_COLMETADATA);
	tds_put_u16(o, 0xFFFF);
}
