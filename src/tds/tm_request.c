/* tm_request.c — transaction manager requests [MS-TDS] 2.2.6.9. Names are counted in bytes. */
#include "tds/request.h"
#include "tds/tds_int.h"

enum { FLAG_BEGIN_AGAIN = 1 };

static int get_name(struct tds_cursor *c, struct arena *a, struct str *ret, struct err *reterr)
{
	struct tds_cursor s;
	uint8_t n;

	if (!tds_get_u8(c, &n) || n % 2 != 0 || !tds_get_slice(c, n, &s))
		return err_set(reterr, ERR_STREAM_ENDED);
	return tds_text_from_utf16(s, a, ret, reterr);
}

static int get_begin(struct tds_cursor *c, struct arena *a, uint8_t *ret_isolation, struct str *ret_name,
		     struct err *reterr)
{
	if (!tds_get_u8(c, ret_isolation))
		return err_set(reterr, ERR_STREAM_ENDED);
	return get_name(c, a, ret_name, reterr);
}

static int get_end(struct tds_cursor *c, struct arena *a, struct tds_tm *tm, struct err *reterr)
{
	uint8_t flags;

	if (get_name(c, a, &tm->name, reterr) < 0)
		return -1;
	if (!tds_get_u8(c, &flags))
		return err_set(reterr, ERR_STREAM_ENDED);
	tm->begin_again = (flags & FLAG_BEGIN_AGAIN) != 0;
	return tm->begin_again ? get_begin(c, a, &tm->new_isolation, &tm->new_name, reterr) : 0;
}

static int get_payload(struct tds_cursor *c, struct arena *a, struct tds_tm *tm, struct err *reterr)
{
	switch (tm->type) {
	case TDS_TM_BEGIN: return get_begin(c, a, &tm->isolation, &tm->name, reterr);
	case TDS_TM_COMMIT:
	case TDS_TM_ROLLBACK: return get_end(c, a, tm, reterr);
	case TDS_TM_SAVE: return get_name(c, a, &tm->name, reterr);
	default: /* distributed transactions: refused by their type alone */ return 0;
	}
}

int tds_get_tm(struct tds_cursor *c, struct arena *a, struct tds_tm *ret, struct err *reterr)
{
	struct tds_tm tm = { .name = STR(""), .new_name = STR("") };
	struct tds_cursor in = *c;

	if (!tds_get_u16(&in, &tm.type))
		return err_set(reterr, ERR_STREAM_ENDED);
	if (get_payload(&in, a, &tm, reterr) < 0)
		return -1;
	in.pos = in.end;
	*c = in;
	*ret = tm;
	return 0;
}
