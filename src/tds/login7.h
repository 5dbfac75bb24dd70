/* login7.h — LOGIN7 [MS-TDS] 2.2.6.4, and its feature extensions. */
#ifndef TDS_LOGIN7_H
#define TDS_LOGIN7_H

#include "base/arena.h"
#include "base/str.h"
#include "tds/cursor.h"
#include "tds/tds.h"

struct tds_login7 {
	uint32_t tds_version_wire;
	uint32_t packet_size;
	uint32_t client_pid, client_version, client_lcid;
	uint8_t option1, option2, type_flags, option3;
	/* UTF-8, in the arena, NUL-terminated; passwords are wiped by the caller with
	 * tds_login7_wipe. */
	struct str host, user, password, app, server, library, language, database, new_password;
	bool integrated; /* fIntSecurity */
	bool change_password;
	bool read_only_intent;
	bool odbc;              /* fODBC or fOLEDB: ANSI defaults on */
	struct tds_cursor sspi; /* slice of the message */
	bool wants_utf8, wants_session_recovery, has_recovery_data, wants_fedauth;
};
/* TDS_MALFORMED: close without an answer (17832 in the log); also when the arena is full.
 * TDS_TOO_BIG: 128 KiB or more. */
enum tds_status tds_get_login7(struct tds_cursor body, struct arena *a, struct tds_login7 *ret);
void tds_login7_wipe(struct tds_login7 *l);
/* Wire notes 8.2: the version agreed with a client that asked for wire value v: its own, or our
 * highest. False: below 7.0, error 17802. */
bool tds_version_agree(uint32_t v, enum tds_version *ret);
/* Four bytes of LOGINACK: what was agreed, in the odd spellings of the older versions. asked is
 * what LOGIN7 had. */
void tds_version_ack(enum tds_version v, uint32_t asked, uint8_t ret[4]);
const char *tds_version_name(enum tds_version v); /* "7.3B" */

#endif
