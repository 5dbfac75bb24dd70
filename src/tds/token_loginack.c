/* token_loginack.c — LOGINACK [MS-TDS] 2.2.7.14: which TDS was agreed, and who we say we are.
 * Drivers compare the name. */
#include "tds/login7.h"
#include "tds/tds_int.h"
#include "tds/token.h"

#define INTERFACE_TSQL 1

void tds_put_loginack(struct tds_out *o, uint32_t asked)
{
	struct tds_length l;
	uint8_t version[4];

	tds_version_ack(o->version, asked, version);
	tds_put_u8(o, TDS_TOKEN_LOGINACK);
	l = tds_length_begin(o, 2);
	tds_put_u8(o, INTERFACE_TSQL);
	tds_put(o, version, sizeof(version));
	tds_put_b_varchar(o, STR("Microsoft SQL Server"));
	tds_put_u8(o, TDS_PRODUCT_MAJOR);
	tds_put_u8(o, TDS_PRODUCT_MINOR);
	tds_put_u8(o, TDS_PRODUCT_BUILD >> 8);
	tds_put_u8(o, TDS_PRODUCT_BUILD & 0xFF);
	tds_length_end(o, &l, 1);
}
