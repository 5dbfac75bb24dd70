/* headers.c — ALL_HEADERS [MS-TDS] 2.2.5.3, before every request of 7.2 and later. Only the
 * transaction descriptor is of interest. */
#include "tds/request.h"

enum { HEADER_TRANSACTION = 2, HEADER_TRANSACTION_LEN = 18 };

static bool get_header(struct tds_cursor *all, uint16_t *ret_type, struct tds_cursor *ret)
{
	uint32_t length;

	return tds_get_u32(all, &length) && length >= 6 && tds_get_slice(all, length - 4, ret) &&
	       tds_get_u16(ret, ret_type);
}

int tds_get_headers(struct tds_cursor *c, enum tds_version v, uint64_t *ret_descriptor, struct err *reterr)
{
	struct tds_cursor in = *c, all, data;
	uint64_t descriptor = 0;
	uint32_t total;
	uint16_t type;
	bool seen = false;

	if (v < TDS_72) {
		*ret_descriptor = 0;
		return 0;
	}
	if (!tds_get_u32(&in, &total) || total < 4 || !tds_get_slice(&in, total - 4, &all))
		return err_set(reterr, ERR_HEADERS);
	while (tds_left(&all) > 0) {
		if (!get_header(&all, &type, &data))
			return err_set(reterr, ERR_HEADERS);
		if (type != HEADER_TRANSACTION) /* notification, trace: nothing for us */
			continue;
		if (seen || tds_left(&data) != HEADER_TRANSACTION_LEN - 6 || !tds_get_u64(&data, &descriptor))
			return err_set(reterr, ERR_HEADERS);
		seen = true;
	}
	if (!seen)
		return err_set(reterr, ERR_NO_TRAN_HEADER);
	*c = in;
	*ret_descriptor = descriptor;
	return 0;
}
