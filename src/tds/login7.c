/* login7.c — LOGIN7 [MS-TDS] 2.2.6.4. A fixed part of 94 bytes (86 from old clients) with
 * offsets and lengths of what follows. Each field is made a slice of the message first; one that
 * does not fit refuses the whole. */
#include "tds/login7.h"

#include <string.h>

#include "base/utf.h"

#define LOGIN7_MAX (128 * 1024 - 1)
#define FIXED_OLD 86 /* without ChangePassword and cbSSPILong */
#define NAME_MAX_UNITS 128
#define EXTENSION_MAX 255

enum offset {
	AT_LENGTH = 0,
	AT_VERSION = 4,
	AT_PACKET_SIZE = 8,
	AT_PROGRAM = 12,
	AT_PID = 16,
	AT_OPTIONS = 24,
	AT_LCID = 32,
	AT_HOST = 36,
	AT_USER = 40,
	AT_PASSWORD = 44,
	AT_APP = 48,
	AT_SERVER = 52,
	AT_EXTENSION = 56,
	AT_LIBRARY = 60,
	AT_LANGUAGE = 64,
	AT_DATABASE = 68,
	AT_SSPI = 78,
	AT_NEW_PASSWORD = 86,
	AT_SSPI_LONG = 90,
};
enum flags {
	OPTION1_BIG_ENDIAN = 0x01,
	OPTION2_ODBC = 0x02,
	OPTION2_INTEGRATED = 0x80,
	TYPE_OLEDB = 0x10,
	TYPE_READ_ONLY = 0x20,
	OPTION3_CHANGE_PASSWORD = 0x01,
	OPTION3_EXTENSION = 0x10,
};
enum feature { FEATURE_RECOVERY = 0x01, FEATURE_FEDAUTH = 0x02, FEATURE_UTF8 = 0x0A, FEATURE_END = 0xFF };

/* Callers know that the fixed part is there. */
static uint16_t u16_at(struct tds_cursor m, size_t at)
{
	return (uint16_t)(m.pos[at] | m.pos[at + 1] << 8);
}
static uint32_t u32_at(struct tds_cursor m, size_t at)
{
	return u16_at(m, at) | (uint32_t)u16_at(m, at + 2) << 16;
}

/* The slice that offset `ib` and n bytes describe; of an empty one the offset means nothing. */
static bool slice_at(struct tds_cursor m, size_t ib, size_t n, struct tds_cursor *ret)
{
	*ret = (struct tds_cursor){ m.pos, m.pos };
	return n == 0 || (tds_skip(&m, ib) && tds_get_slice(&m, n, ret));
}

static bool get_text(struct tds_cursor m, struct arena *a, size_t at, struct str *ret)
{
	size_t units = u16_at(m, at + 2);
	struct tds_cursor s;
	char *dst;

	if (units > NAME_MAX_UNITS || !slice_at(m, u16_at(m, at), 2 * units, &s))
		return false;
	dst = arena_alloc(a, 3 * units + 1);
	if (dst == NULL)
		return false;
	*ret = (struct str){ dst, utf8_from_utf16le(dst, s.pos, 2 * units) };
	return true;
}

/* Passwords are veiled: nibbles swapped, then XOR A5. */
static bool get_password(struct tds_cursor m, struct arena *a, size_t at, struct str *ret)
{
	size_t n = 2 * (size_t)u16_at(m, at + 2);
	uint8_t clear[2 * NAME_MAX_UNITS];
	struct tds_cursor s;
	char *dst;

	if (n > sizeof(clear) || !slice_at(m, u16_at(m, at), n, &s))
		return false;
	dst = arena_alloc(a, n / 2 * 3 + 1);
	if (dst == NULL)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint8_t x = s.pos[i] ^ 0xA5;
		clear[i] = (uint8_t)(x << 4 | x >> 4);
	}
	*ret = (struct str){ dst, utf8_from_utf16le(dst, clear, n) };
	explicit_bzero(clear, sizeof(clear));
	return true;
}

/* How long the fixed part is: the data begin where the lowest offset points. */
static size_t fixed_length(struct tds_cursor m)
{
	static const uint8_t offsets[] = {
		AT_HOST,      AT_USER,    AT_PASSWORD, AT_APP,      AT_SERVER,
		AT_EXTENSION, AT_LIBRARY, AT_LANGUAGE, AT_DATABASE, AT_SSPI,
	};
	size_t low = tds_left(&m);

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		size_t ib = u16_at(m, offsets[i]);
		if (ib >= FIXED_OLD && ib < low)
			low = ib;
	}
	return low;
}

static bool get_sspi(struct tds_cursor m, size_t fixed, struct tds_cursor *ret)
{
	size_t n = u16_at(m, AT_SSPI + 2);

	if (n == 0xFFFF && fixed >= AT_SSPI_LONG + 4 && u32_at(m, AT_SSPI_LONG) > 0)
		n = u32_at(m, AT_SSPI_LONG);
	return slice_at(m, u16_at(m, AT_SSPI), n, ret);
}

static void take_feature(uint8_t id, struct tds_cursor data, struct tds_login7 *l)
{
	switch (id) {
	case FEATURE_RECOVERY:
		l->wants_session_recovery = true;
		l->has_recovery_data = tds_left(&data) > 0;
		break;
	case FEATURE_FEDAUTH: l->wants_fedauth = true; break;
	case FEATURE_UTF8: l->wants_utf8 = tds_left(&data) > 0 && (data.pos[0] & 1) != 0; break;
	}
}

/* The Extension field holds the offset of the list { id, DWORD length, data } … FF. */
static bool get_features(struct tds_cursor m, struct tds_login7 *l)
{
	struct tds_cursor ext, list = m, data;
	size_t cb = u16_at(m, AT_EXTENSION + 2);
	uint32_t ib, n;
	uint8_t id;

	if (cb < 4)
		return true;
	if (cb > EXTENSION_MAX || !slice_at(m, u16_at(m, AT_EXTENSION), cb, &ext) || !tds_get_u32(&ext, &ib))
		return false;
	if (ib == 0)
		return true;
	if (!tds_skip(&list, ib))
		return false;
	for (;;) {
		if (!tds_get_u8(&list, &id))
			return false;
		if (id == FEATURE_END)
			return true;
		if (!tds_get_u32(&list, &n) || !tds_get_slice(&list, n, &data))
			return false;
		take_feature(id, data, l);
	}
}

static void take_fixed(struct tds_cursor m, struct tds_login7 *l)
{
	l->tds_version_wire = u32_at(m, AT_VERSION);
	l->packet_size = u32_at(m, AT_PACKET_SIZE);
	l->client_version = u32_at(m, AT_PROGRAM);
	l->client_pid = u32_at(m, AT_PID);
	l->client_lcid = u32_at(m, AT_LCID);
	l->option1 = m.pos[AT_OPTIONS];
	l->option2 = m.pos[AT_OPTIONS + 1];
	l->type_flags = m.pos[AT_OPTIONS + 2];
	l->option3 = m.pos[AT_OPTIONS + 3];
	l->integrated = (l->option2 & OPTION2_INTEGRATED) != 0;
	l->read_only_intent = (l->type_flags & TYPE_READ_ONLY) != 0;
	l->odbc = (l->option2 & OPTION2_ODBC) != 0 || (l->type_flags & TYPE_OLEDB) != 0;
}

static bool take_texts(struct tds_cursor m, struct arena *a, struct tds_login7 *l)
{
	return get_text(m, a, AT_HOST, &l->host) && get_text(m, a, AT_USER, &l->user) &&
	       get_text(m, a, AT_APP, &l->app) && get_text(m, a, AT_SERVER, &l->server) &&
	       get_text(m, a, AT_LIBRARY, &l->library) && get_text(m, a, AT_LANGUAGE, &l->language) &&
	       get_text(m, a, AT_DATABASE, &l->database) && get_password(m, a, AT_PASSWORD, &l->password);
}

/* OptionFlags3 came with 7.2 and the extension with 7.4; tedious sets fExtension in every
 * version. */
static bool take_later(struct tds_cursor m, struct arena *a, size_t fixed, struct tds_login7 *l)
{
	enum tds_version v;

	if (!tds_version_agree(l->tds_version_wire, &v) || v < TDS_72)
		return true;
	l->change_password = (l->option3 & OPTION3_CHANGE_PASSWORD) != 0;
	if (l->change_password && fixed >= AT_NEW_PASSWORD + 4 &&
	    !get_password(m, a, AT_NEW_PASSWORD, &l->new_password))
		return false;
	return v < TDS_74 || (l->option3 & OPTION3_EXTENSION) == 0 || get_features(m, l);
}

enum tds_status tds_get_login7(struct tds_cursor body, struct arena *a, struct tds_login7 *ret)
{
	struct tds_login7 l = { .new_password = STR("") };
	struct tds_cursor m;
	size_t fixed;

	if (tds_left(&body) > LOGIN7_MAX)
		return TDS_TOO_BIG;
	if (tds_left(&body) < FIXED_OLD || u32_at(body, AT_LENGTH) < FIXED_OLD ||
	    !tds_get_slice(&body, u32_at(body, AT_LENGTH), &m))
		return TDS_MALFORMED;
	take_fixed(m, &l);
	fixed = fixed_length(m);
	if ((l.option1 & OPTION1_BIG_ENDIAN) != 0 || !take_texts(m, a, &l) || !get_sspi(m, fixed, &l.sspi) ||
	    !take_later(m, a, fixed, &l)) {
		tds_login7_wipe(&l);
		return TDS_MALFORMED;
	}
	*ret = l;
	return TDS_OK;
}

static void wipe(struct str *s)
{
	if (s->n > 0) /* then it is ours, in the arena */
		explicit_bzero((char *)(uintptr_t)s->p, s->n);
	*s = STR("");
}

void tds_login7_wipe(struct tds_login7 *l)
{
	wipe(&l->password);
	wipe(&l->new_password);
}
