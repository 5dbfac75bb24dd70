/* token_featureextack.c — FEATUREEXTACK [MS-TDS] 2.2.7.11. Only UTF8_SUPPORT is ever
 * acknowledged, and only to those who asked: drivers fail on anything else. */
#include "tds/tds_int.h"
#include "tds/token.h"

void tds_put_featureextack_utf8(struct tds_out *o)
{
	static const uint8_t utf8_only[] = { TDS_TOKEN_FEATUREEXTACK, 0x0A, 1, 0, 0, 0, 1, 0xFF };

	tds_put(o, utf8_only, sizeof(utf8_only));
}
