/* token_envchange.c — ENVCHANGE [MS-TDS] 2.2.7.9: something about the session changed; the new
 * value stands before the old one. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_envchange_text(struct tds_out *o, uint8_t type, struct str new_value, struct str old_value)
{
	struct tds_length l;

	tds_put_u8(o, TDS_TOKEN_ENVCHANGE);
	l = tds_length_begin(o, 2);
	tds_put_u8(o, type);
	tds_put_b_varchar(o, new_value);
	tds_put_b_varchar(o, old_value);
	tds_length_end(o, &l, 1);
}

void tds_put_envchange_bytes(struct tds_out *o, uint8_t type, const void *new_value, uint8_t new_len,
			     const void *old_value, uint8_t old_len)
{
	tds_put_u8(o, TDS_TOKEN_ENVCHANGE);
	tds_put_u16(o, (uint16_t)(3 + new_len + old_len));
	tds_put_u8(o, type);
	tds_put_u8(o, new_len);
	tds_put(o, new_value, new_len);
	tds_put_u8(o, old_len);
	tds_put(o, old_value, old_len);
}
