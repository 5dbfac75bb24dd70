/* fuzz_prelogin.c — the body of a PRELOGIN message. */
#include <string.h>

#include "fuzz.h"
#include "tds/prelogin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tds_prelogin p;
	uint8_t answer;

	if (tds_get_prelogin(tds_cursor_of(data, size), &p) != TDS_OK)
		return 0;
	HOLDS(memchr(p.instance, '\0', sizeof(p.instance)) != NULL);
	HOLDS((p.encryption & 0x20) == 0);
	for (int policy = TDS_POLICY_NO_TLS; policy <= TDS_POLICY_REQUIRED; policy++) {
		enum tds_tls_mode mode = tds_negotiate(p.encryption, (enum tds_policy)policy, &answer);
		HOLDS(answer <= TDS_ENCRYPT_REQ);
		HOLDS(policy != TDS_POLICY_REQUIRED || mode == TDS_TLS_ALL || mode == TDS_TLS_REFUSE);
		HOLDS(policy != TDS_POLICY_NO_TLS || mode == TDS_TLS_NONE || mode == TDS_TLS_REFUSE);
	}
	return 0;
}
