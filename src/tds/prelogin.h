/* prelogin.h — PRELOGIN options [MS-TDS] 2.2.6.5. */
#ifndef TDS_PRELOGIN_H
#define TDS_PRELOGIN_H

#include "base/buf.h"
#include "tds/cursor.h"
#include "tds/tds.h"

enum tds_encryption {
	TDS_ENCRYPT_OFF = 0,
	TDS_ENCRYPT_ON = 1,
	TDS_ENCRYPT_NOT_SUP = 2,
	TDS_ENCRYPT_REQ = 3,
	TDS_ENCRYPT_CERT = 0x80
};

struct tds_prelogin {
	bool has_encryption, has_mars, has_fedauth, has_instance;
	uint8_t version[6];
	uint8_t encryption; /* 0x20 masked away; NOT_SUP when the option is missing */
	uint8_t mars, fedauth;
	char instance[256]; /* NUL-terminated */
	bool has_trace;
	uint8_t trace_id[36];
};
/* Any malformed table (overlap is allowed, leaving the message is not; VERSION must come first)
 * is TDS_MALFORMED. */
enum tds_status tds_get_prelogin(struct tds_cursor body, struct tds_prelogin *ret);

/* Wire notes 4.1: what to answer, and what follows. */
enum tds_tls_mode { TDS_TLS_NONE, TDS_TLS_LOGIN_ONLY, TDS_TLS_ALL, TDS_TLS_REFUSE /* answer, then close */ };
enum tds_policy { TDS_POLICY_NO_TLS, TDS_POLICY_OPTIONAL, TDS_POLICY_REQUIRED };
enum tds_tls_mode tds_negotiate(uint8_t client, enum tds_policy policy, uint8_t *ret_answer);
/* Body of the answer: VERSION, ENCRYPTION, INSTOPT, THREADID, MARS, in this order and contiguous
 * (jTDS reads by position). */
void tds_put_prelogin_answer(struct buf *out, uint8_t encryption, bool instance_matches);

#endif
