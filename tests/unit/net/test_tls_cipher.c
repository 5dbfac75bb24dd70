/* The shorter way to AES-GCM is taken with OpenSSL 3.0 and its default provider only, and leads to the same bytes. */
#define OPENSSL_SUPPRESS_DEPRECATED     /* engines are */
#include "net/tls_cipher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those above first */
#include <cmocka.h>

#include <openssl/evp.h>

#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_ENGINE)
#include <openssl/engine.h>

static const bool wanted_with_3_0 = true;

static bool is_taken(int nid)
{
	ENGINE *e = ENGINE_get_cipher_engine(nid);

	ENGINE_finish(e);
	return e != NULL;
}
#else
static const bool wanted_with_3_0 = false;

static bool is_taken(int nid)
{
	(void)nid;
	return false;
}
#endif

/* 40 bytes of text and a tag. */
static void encrypt(uint8_t dst[56])
{
	static const uint8_t key[32] = { 1, 2, 3 }, iv[12] = { 4, 5, 6 }, head[5] = { 0x17, 3, 3, 0, 57 }, text[40] = { 7, 8, 9 };
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	assert_int_equal(EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, iv), 1);
	assert_int_equal(EVP_EncryptUpdate(c, NULL, &n, head, sizeof(head)), 1);
	assert_int_equal(EVP_EncryptUpdate(c, dst, &n, text, sizeof(text)), 1);
	assert_int_equal(EVP_EncryptFinal_ex(c, dst + n, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, dst + 40), 1);
	EVP_CIPHER_CTX_free(c);
}

static void a_chosen_provider_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(EVP_set_default_properties(NULL, "fips=yes"), 1);
	net_tls_cipher_shortcut();
	assert_false(is_taken(NID_aes_256_gcm));
	assert_int_equal(EVP_set_default_properties(NULL, ""), 1);
}

static void both_ways_lead_to_the_same_bytes(void **state)
{
	bool wanted = wanted_with_3_0 && OPENSSL_version_major() == 3 && OPENSSL_version_minor() == 0;
	uint8_t before[56], after[56];

	(void)state;
	assert_false(is_taken(NID_aes_256_gcm));
	encrypt(before);
	net_tls_cipher_shortcut();
	net_tls_cipher_shortcut();              /* every context asks for it */
	assert_int_equal(is_taken(NID_aes_128_gcm), wanted);
	assert_int_equal(is_taken(NID_aes_256_gcm), wanted);
	encrypt(after);
	assert_memory_equal(before, after, sizeof(after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chosen_provider_is_left_alone),
		cmocka_unit_test(both_ways_lead_to_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
