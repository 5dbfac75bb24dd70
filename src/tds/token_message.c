/* token_message.c — ERROR and INFO [MS-TDS] 2.2.7.10, 2.2.7.13. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_message(struct tds_out *o, const struct err *e)
{
	uint32_t line = e->line > 0 ? (uint32_t)e->line : 0;
	struct tds_length l;

	tds_put_u8(o, err_is_error(e) ? TDS_TOKEN_ERROR : TDS_TOKEN_INFO);
	l = tds_length_begin(o, 2);
	tds_put_u32(o, (uint32_t)e->number);
	tds_put_u8(o, e->state);
	tds_put_u8(o, e->severity == 10 ? 0 : e->severity); /* as SQL Server does */
	tds_put_us_varchar(o, str_of(e->text));
	tds_put_b_varchar(o, str_of(o->server_name));
	tds_put_b_varchar(o, str_of(e->proc));
	if (o->version < TDS_72)
		tds_put_u16(o, (uint16_t)(line < UINT16_MAX ? line : UINT16_MAX));
	else
		tds_put_u32(o, line);
	tds_length_end(o, &l, 1);
}
