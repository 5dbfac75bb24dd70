/* batch.c — SQLBatch [MS-TDS] 2.2.6.7: UTF-16 to the end of the message, no length. */
#include "tds/request.h"
#include "tds/tds_int.h"

int tds_get_batch(struct tds_cursor *c, struct arena *a, struct str *ret, struct err *reterr)
{
	if (tds_left(c) % 2 != 0)
		return err_set(reterr, ERR_STREAM_ENDED);
	if (tds_text_from_utf16(*c, a, ret, reterr) < 0)
		return -1;
	c->pos = c->end;
	return 0;
}
