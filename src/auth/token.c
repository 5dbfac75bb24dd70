/* token.c — see token.h. */
#define _GNU_SOURCE /* memmem */
#include "auth/token.h"

#include <string.h>

enum { NTLM_NEGOTIATE = 1, NTLM_AUTHENTICATE = 3 };
/* [MS-NLMP] 2.2.1: where things are */
enum {
	NEGOTIATE_FLAGS = 12,
	AUTHENTICATE_FIELDS = 12,
	AUTHENTICATE_ANSWER = 20,
	AUTHENTICATE_FLAGS = 60,
	AUTHENTICATE_VERSION = 64
};
/* LM and NTLMv1 have 24 bytes; NTLMv2 has the proof and 28 more at least */
enum { PROOF_LEN = 16, ANSWER_OLD = 24 };
#define REQUEST_TARGET 0x04u    /* in the first byte of the flags */
#define NEGOTIATE_VERSION 0x02u /* in the last */

static const uint8_t oid_krb5[] = { 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02 };
static const uint8_t oid_spnego[] = { 0x2b, 0x06, 0x01, 0x05, 0x05, 0x02 };

static bool is_ntlm(const uint8_t *p, size_t n)
{
	return n >= 12 && memcmp(p, "NTLMSSP", 8) == 0;
}

/* RFC 2743 3.1: 60, DER length, 06, length and bytes of the mechanism's OID. Cuts the OID out;
 * the mechanism itself checks the lengths against each other. */
static bool framed_oid(const uint8_t *p, size_t n, const uint8_t **ret, size_t *ret_n)
{
	size_t at = 2;

	if (n < 2 || p[0] != 0x60)
		return false;
	if (p[1] >= 0x80)
		at += p[1] & 0x7fu;
	if (at > n || n - at < 2 || p[at] != 0x06 || p[at + 1] >= 0x80 || p[at + 1] > n - at - 2)
		return false;
	*ret = p + at + 2;
	*ret_n = p[at + 1];
	return true;
}

bool auth_token_kind(const uint8_t *p, size_t n, enum token_kind *ret)
{
	const uint8_t *oid;
	size_t len;

	if (is_ntlm(p, n)) {
		*ret = TOKEN_NTLM;
		return true;
	}
	if (!framed_oid(p, n, &oid, &len))
		return false;
	if (len == sizeof(oid_spnego) && memcmp(oid, oid_spnego, len) == 0)
		*ret = TOKEN_SPNEGO;
	else if (len == sizeof(oid_krb5) && memcmp(oid, oid_krb5, len) == 0)
		*ret = TOKEN_KERBEROS;
	else
		return false;
	return true;
}

/* ---- NTLM ---- */

static bool is_message(const uint8_t *p, size_t n, uint8_t type, size_t size)
{
	return is_ntlm(p, n) && n >= size && p[8] == type && p[9] == 0 && p[10] == 0 && p[11] == 0;
}

static bool lacks_target(const uint8_t *p, size_t n)
{
	return is_message(p, n, NTLM_NEGOTIATE, NEGOTIATE_FLAGS + 4) &&
	       (p[NEGOTIATE_FLAGS] & REQUEST_TARGET) == 0;
}

static bool ends_early(const uint8_t *p, size_t n)
{
	return is_message(p, n, NTLM_NEGOTIATE, NEGOTIATE_FLAGS + 4) && n < TOKEN_NTLM_ROOM;
}

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static unsigned le16(const uint8_t *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

/* Six fields (length, room, offset) point to the data behind the head: some of it begins where
 * the version should be. */
static bool lies_about_version(const uint8_t *p, size_t n)
{
	if (!is_message(p, n, NTLM_AUTHENTICATE, AUTHENTICATE_VERSION) ||
	    (p[AUTHENTICATE_FLAGS + 3] & NEGOTIATE_VERSION) == 0)
		return false;
	for (size_t at = AUTHENTICATE_FIELDS; at < AUTHENTICATE_FLAGS; at += 8)
		if (le16(p + at) != 0 && le32(p + at + 4) == AUTHENTICATE_VERSION)
			return true;
	return false;
}

/* Nothing lies behind the answer's proof but the rest of the answer. */
static bool cuts_answer_short(const uint8_t *p, size_t n)
{
	uint32_t answer;

	if (!is_message(p, n, NTLM_AUTHENTICATE, AUTHENTICATE_VERSION) ||
	    le16(p + AUTHENTICATE_ANSWER) != PROOF_LEN)
		return false;
	answer = le32(p + AUTHENTICATE_ANSWER + 4);
	if (answer < AUTHENTICATE_VERSION || answer > n || n - answer <= ANSWER_OLD ||
	    n - answer > UINT16_MAX)
		return false;
	for (size_t at = AUTHENTICATE_FIELDS; at < AUTHENTICATE_FLAGS; at += 8)
		if (at != AUTHENTICATE_ANSWER && le16(p + at) != 0 &&
		    (le32(p + at + 4) >= answer || answer - le32(p + at + 4) < le16(p + at)))
			return false;
	return true;
}

bool auth_token_ntlm_is_odd(const uint8_t *p, size_t n)
{
	return lacks_target(p, n) || ends_early(p, n) || lies_about_version(p, n) || cuts_answer_short(p, n);
}

size_t auth_token_ntlm_mend(uint8_t *p, size_t n)
{
	if (lacks_target(p, n))
		p[NEGOTIATE_FLAGS] |= REQUEST_TARGET;
	if (lies_about_version(p, n))
		p[AUTHENTICATE_FLAGS + 3] &= (uint8_t)~NEGOTIATE_VERSION;
	if (cuts_answer_short(p, n)) {
		size_t len = n - le32(p + AUTHENTICATE_ANSWER + 4);

		p[AUTHENTICATE_ANSWER] = p[AUTHENTICATE_ANSWER + 2] = (uint8_t)len;
		p[AUTHENTICATE_ANSWER + 1] = p[AUTHENTICATE_ANSWER + 3] = (uint8_t)(len >> 8);
	}
	return ends_early(p, n) ? TOKEN_NTLM_ROOM : n;
}

bool auth_token_ntlm_is_old(const uint8_t *p, size_t n)
{
	static const uint8_t head[] = "NTLMSSP\0\3\0\0"; /* and the literal's own zero */
	const uint8_t *end = p + n, *at = p;

	/* Whichever of several looks like a message may be taken for it: all must be new. */
	while ((at = memmem(at, (size_t)(end - at), head, sizeof(head))) != NULL) {
		if (end - at < AUTHENTICATE_VERSION || le16(at + AUTHENTICATE_ANSWER) <= ANSWER_OLD)
			return true;
		at += sizeof(head);
	}
	return false;
}
