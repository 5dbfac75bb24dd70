/* prelogin.c — PRELOGIN [MS-TDS] 2.2.6.5: a table of options, big-endian, and the bargain over
 * encryption. */
#include "tds/prelogin.h"

enum option {
	OPTION_VERSION = 0,
	OPTION_ENCRYPTION = 1,
	OPTION_INSTANCE = 2,
	OPTION_THREADID = 3,
	OPTION_MARS = 4,
	OPTION_TRACEID = 5,
	OPTION_FEDAUTH = 6,
	OPTION_END = 0xFF,
};

#define ENCRYPT_RESERVED 0x20 /* a bit that must not change anything */

/* One entry of the table; its data as a slice of the body. */
static bool get_option(struct tds_cursor *table, struct tds_cursor body, uint8_t *ret_token,
		       struct tds_cursor *ret)
{
	uint16_t offset, length;

	if (!tds_get_u8(table, ret_token))
		return false;
	*ret = (struct tds_cursor){ body.pos, body.pos };
	if (*ret_token == OPTION_END)
		return true;
	if (!tds_get_u16be(table, &offset) || !tds_get_u16be(table, &length))
		return false;
	if (length == 0) /* then the offset means nothing */
		return true;
	return tds_skip(&body, offset) && tds_get_slice(&body, length, ret);
}

static void take_instance(struct tds_cursor data, struct tds_prelogin *p)
{
	size_t n = strnlen((const char *)data.pos, tds_left(&data));

	if (n >= sizeof(p->instance))
		n = sizeof(p->instance) - 1;
	memcpy(p->instance, data.pos, n);
	p->instance[n] = '\0';
	p->has_instance = true;
}

static bool take_option(uint8_t token, struct tds_cursor data, struct tds_prelogin *p)
{
	switch (token) {
	case OPTION_VERSION: return tds_get_bytes(&data, p->version, sizeof(p->version));
	case OPTION_ENCRYPTION:
		p->has_encryption = tds_get_u8(&data, &p->encryption);
		p->encryption &= (uint8_t)~ENCRYPT_RESERVED;
		return p->has_encryption;
	case OPTION_INSTANCE: take_instance(data, p); return true;
	case OPTION_MARS: p->has_mars = tds_get_u8(&data, &p->mars); return true;
	case OPTION_FEDAUTH: p->has_fedauth = tds_get_u8(&data, &p->fedauth); return true;
	case OPTION_TRACEID:
		p->has_trace = tds_get_bytes(&data, p->trace_id, sizeof(p->trace_id));
		return true;
	default: /* thread id, nonce, and what is yet to be invented */ return true;
	}
}

enum tds_status tds_get_prelogin(struct tds_cursor body, struct tds_prelogin *ret)
{
	struct tds_prelogin p = { .encryption = TDS_ENCRYPT_NOT_SUP };
	struct tds_cursor table = body, data;
	uint8_t token;

	for (bool first = true;; first = false) {
		if (!get_option(&table, body, &token, &data) || (first && token != OPTION_VERSION))
			return TDS_MALFORMED;
		if (token == OPTION_END)
			break;
		if (!take_option(token, data, &p))
			return TDS_MALFORMED;
	}
	*ret = p;
	return TDS_OK;
}

/* Rows: what the client sent; columns: enum tds_policy. Wire notes 4.1, last column first. */
static const struct {
	uint8_t client;
	struct {
		uint8_t answer, mode;
	} by[3];
} bargains[] = {
	{ TDS_ENCRYPT_OFF,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_NONE },
	    { TDS_ENCRYPT_OFF, TDS_TLS_LOGIN_ONLY },
	    { TDS_ENCRYPT_REQ, TDS_TLS_ALL } } },
	{ TDS_ENCRYPT_ON,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_REFUSE },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL } } },
	{ TDS_ENCRYPT_NOT_SUP,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_NONE },
	    { TDS_ENCRYPT_NOT_SUP, TDS_TLS_NONE },
	    { TDS_ENCRYPT_REQ, TDS_TLS_REFUSE } } },
	{ TDS_ENCRYPT_REQ,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_REFUSE },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL } } },
	{ TDS_ENCRYPT_CERT | TDS_ENCRYPT_OFF,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_REFUSE },
	    { TDS_ENCRYPT_OFF, TDS_TLS_LOGIN_ONLY },
	    { TDS_ENCRYPT_REQ, TDS_TLS_ALL } } },
	{ TDS_ENCRYPT_CERT | TDS_ENCRYPT_ON,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_REFUSE },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL } } },
	{ TDS_ENCRYPT_CERT | TDS_ENCRYPT_REQ,
	  { { TDS_ENCRYPT_NOT_SUP, TDS_TLS_REFUSE },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL },
	    { TDS_ENCRYPT_ON, TDS_TLS_ALL } } },
};

enum tds_tls_mode tds_negotiate(uint8_t client, enum tds_policy policy, uint8_t *ret_answer)
{
	client &= (uint8_t)~ENCRYPT_RESERVED;
	for (size_t i = 0; i < ARRAY_LEN(bargains); i++) {
		if (bargains[i].client != client)
			continue;
		*ret_answer = bargains[i].by[policy].answer;
		return (enum tds_tls_mode)bargains[i].by[policy].mode;
	}
	*ret_answer = TDS_ENCRYPT_REQ; /* 0x82, a certificate without encryption, and nonsense */
	return TDS_TLS_REFUSE;
}

void tds_put_prelogin_answer(struct buf *out, uint8_t encryption, bool instance_matches)
{
	const uint8_t version[6] = {
		TDS_PRODUCT_MAJOR, TDS_PRODUCT_MINOR, TDS_PRODUCT_BUILD >> 8, TDS_PRODUCT_BUILD & 0xFF, 0, 0
	};
	static const struct {
		uint8_t token, length;
	} table[] = {
		{ OPTION_VERSION, 6 },  { OPTION_ENCRYPTION, 1 }, { OPTION_INSTANCE, 1 },
		{ OPTION_THREADID, 0 }, { OPTION_MARS, 1 },
	};
	uint8_t offset = ARRAY_LEN(table) * 5 + 1;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		buf_put(out, (const uint8_t[5]){ table[i].token, 0, offset, 0, table[i].length }, 5);
		offset = (uint8_t)(offset + table[i].length);
	}
	buf_put_u8(out, OPTION_END);
	buf_put(out, version, sizeof(version));
	buf_put_u8(out, encryption);
	buf_put_u8(out, instance_matches ? 0 : 1);
	buf_put_u8(out, 0); /* MARS: no */
}
