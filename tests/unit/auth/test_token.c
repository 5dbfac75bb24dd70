/* What is looked at in tokens, and how the messages of FreeTDS, jTDS and tedious are mended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "auth/token.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void expect_kind(const uint8_t *p, size_t n, int kind)
{
	enum token_kind found;

	assert_int_equal(auth_token_kind(p, n, &found), kind >= 0);
	if (kind >= 0)
		assert_int_equal(found, kind);
}

static void kinds(void **state)
{
	(void)state;
	expect_kind(BYTES("NTLMSSP\0\1\0\0\0"), TOKEN_NTLM);
	expect_kind(BYTES("NTLMSSP\0\1\0\0"), -1);
	expect_kind(BYTES("\x60\x08\x06\x06\x2b\x06\x01\x05\x05\x02"), TOKEN_SPNEGO);
	expect_kind(BYTES("\x60\x0b\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"), TOKEN_KERBEROS);
	expect_kind(BYTES("\x60\x82\x02\xbe\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01"),
		    TOKEN_KERBEROS);
	expect_kind(BYTES("\x60\x07\x06\x05\x2b\x05\x01\x05\x02"), -1);
	expect_kind(BYTES(""), -1);
	expect_kind(BYTES("\x60"), -1);
	expect_kind(BYTES("\x60\xff"), -1);
	expect_kind(BYTES("\x60\x84\xff\xff\xff\xff"), -1);
	expect_kind(BYTES("\x60\x08\x06\x06\x2b\x06\x01\x05\x05"), -1);
	expect_kind(BYTES("\x60\x08\x06\xff\x2b\x06\x01\x05\x05\x02"), -1);
	expect_kind(BYTES("\xa1\x05\x30\x03\xa0\x03\x0a"), -1);
}

static void negotiate_asks_for_the_target(void **state)
{
	uint8_t m[TOKEN_NTLM_ROOM + 4] = "NTLMSSP\0\1\0\0\0\x01\xb2\x08\0";

	(void)state;
	assert_true(auth_token_ntlm_is_odd(m, sizeof(m)));
	assert_int_equal(auth_token_ntlm_mend(m, sizeof(m)), sizeof(m));
	assert_int_equal(m[12], 0x05);
	assert_false(auth_token_ntlm_is_odd(m, sizeof(m)));
	m[12] = 0x01;
	assert_false(auth_token_ntlm_is_odd(m, 15));
	m[9] = 1; /* another type */
	assert_false(auth_token_ntlm_is_odd(m, sizeof(m)));
}

static void negotiate_without_version_is_filled_up(void **state)
{
	uint8_t m[TOKEN_NTLM_ROOM] = "NTLMSSP\0\1\0\0\0\x05\xb2\x08\0";

	(void)state;
	assert_true(auth_token_ntlm_is_odd(m, 36));
	assert_int_equal(auth_token_ntlm_mend(m, 36), TOKEN_NTLM_ROOM);
	assert_int_equal(auth_token_ntlm_mend(m, TOKEN_NTLM_ROOM), TOKEN_NTLM_ROOM);
}

static void field(uint8_t *m, size_t at, uint8_t len, uint8_t offset)
{
	m[at] = m[at + 2] = len;
	m[at + 4] = offset;
}

/* lm, nt, domain, user behind a head of 64 bytes, as all three clients write them */
static void authenticate(uint8_t m[200], uint8_t answer)
{
	memset(m, 0, 200);
	memcpy(m, "NTLMSSP\0\3", 9);
	field(m, 28, 8, 64);
	field(m, 36, 6, 72);
	field(m, 12, 24, 78);
	field(m, 20, answer, 102);
}

static void authenticate_claims_no_version(void **state)
{
	uint8_t m[200];

	(void)state;
	authenticate(m, 98);
	assert_false(auth_token_ntlm_is_odd(m, 200));
	m[63] = 0x02;
	assert_true(auth_token_ntlm_is_odd(m, 200));
	assert_int_equal(auth_token_ntlm_mend(m, 200), 200);
	assert_int_equal(m[63], 0);
	m[63] = 0x02;
	m[32] = 72; /* there is room for the version */
	assert_false(auth_token_ntlm_is_odd(m, 200));
}

static void answer_up_to_the_end(void **state)
{
	uint8_t m[200];

	(void)state;
	authenticate(m, 16);
	assert_true(auth_token_ntlm_is_odd(m, 200));
	assert_true(auth_token_ntlm_is_old(m, 200));
	assert_int_equal(auth_token_ntlm_mend(m, 200), 200);
	assert_int_equal(m[20], 98);
	assert_int_equal(m[22], 98);
	assert_false(auth_token_ntlm_is_odd(m, 200));
	assert_false(auth_token_ntlm_is_old(m, 200));
	authenticate(m, 16);
	assert_false(auth_token_ntlm_is_odd(m, 102 + 24)); /* nothing behind it that could be an answer */
	assert_false(auth_token_ntlm_is_odd(m, 101));
	field(m, 44, 4, 150); /* something else lies behind it */
	assert_false(auth_token_ntlm_is_odd(m, 200));
	authenticate(m, 16);
	field(m, 12, 24, 90); /* or reaches into it */
	assert_false(auth_token_ntlm_is_odd(m, 200));
	authenticate(m, 16);
	memset(m + 24, 0xff, 4);
	assert_false(auth_token_ntlm_is_odd(m, 200));
}

static void old_answers_are_found_wherever_they_are(void **state)
{
	uint8_t m[500] = { 0xa1, 0x82 };

	(void)state;
	assert_false(auth_token_ntlm_is_old(m, sizeof(m)));
	assert_false(auth_token_ntlm_is_old(m, 0));
	authenticate(m + 10, 98);
	assert_false(auth_token_ntlm_is_old(m, sizeof(m)));
	authenticate(m + 230, 24);
	assert_true(auth_token_ntlm_is_old(m, sizeof(m)));
	assert_false(auth_token_ntlm_is_old(m, 230));
	assert_true(auth_token_ntlm_is_old(m, 230 + 20)); /* cut off */
	authenticate(m + 230, 0);
	assert_true(auth_token_ntlm_is_old(m, sizeof(m)));
	authenticate(m + 230, 25);
	assert_false(auth_token_ntlm_is_old(m, sizeof(m)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(negotiate_asks_for_the_target),
		cmocka_unit_test(negotiate_without_version_is_filled_up),
		cmocka_unit_test(authenticate_claims_no_version),
		cmocka_unit_test(answer_up_to_the_end),
		cmocka_unit_test(old_answers_are_found_wherever_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
