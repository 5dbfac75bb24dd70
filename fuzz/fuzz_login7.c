/* fuzz_login7.c — the body of a LOGIN7 message. */
#include "fuzz.h"
#include "tds/login7.h"

static void check_text(struct str s)
{
	HOLDS(s.p != NULL && s.n <= 3 * 128 && s.p[s.n] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tds_cursor body = tds_cursor_of(data, size);
	struct tds_login7 l;
	enum tds_version v;
	struct arena a;

	arena_init(&a, 1 << 20);
	if (tds_get_login7(body, &a, &l) == TDS_OK) {
		check_text(l.host);
		check_text(l.user);
		check_text(l.password);
		check_text(l.app);
		check_text(l.server);
		check_text(l.library);
		check_text(l.language);
		check_text(l.database);
		check_text(l.new_password);
		HOLDS(tds_left(&l.sspi) == 0 || (l.sspi.pos >= body.pos && l.sspi.end <= body.end));
		HOLDS(!l.wants_utf8 || (tds_version_agree(l.tds_version_wire, &v) && v >= TDS_74));
		tds_login7_wipe(&l);
		HOLDS(l.password.n == 0 && l.new_password.n == 0);
	}
	arena_fini(&a);
	return 0;
}
