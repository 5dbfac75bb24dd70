/* Certificate files: made once, whole, private; and every trouble with them is named. */
#include "net_test.h"

#include <sys/stat.h>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tls_files.h"

static int setup(void **state)
{
	struct tls_files *f = calloc(1, sizeof(*f));

	tls_files_name(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	tls_files_remove(*state);
	free(*state);
	return 0;
}

static X509 *read_cert(const struct tls_files *f)
{
	FILE *file = fopen(f->cert, "r");
	X509 *x;

	assert_non_null(file);
	x = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	assert_non_null(x);
	return x;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void the_pair_serves_the_names_of_this_machine(void **state)
{
	struct tls_files *f = *state;
	struct net_tls_ctx *c = NULL;
	char host[65];
	struct stat st;
	struct err e;
	X509 *x;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	assert_int_equal(stat(f->key, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	x = read_cert(f);
	assert_int_equal(X509_check_host(x, "localhost", 0, 0, NULL), 1);
	assert_int_equal(X509_check_ip_asc(x, "127.0.0.1", 0), 1);
	assert_int_equal(X509_check_ip_asc(x, "::1", 0), 1);
	assert_int_equal(X509_check_host(x, "example.org", 0, 0, NULL), 0);
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	assert_int_equal(X509_check_host(x, host, 0, 0, NULL), 1);
	assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(x)), 2048);
	assert_int_equal(X509_verify(x, X509_get0_pubkey(x)), 1);
	X509_free(x);
	assert_int_equal(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e), 0);
	net_tls_ctx_unref(net_tls_ctx_ref(c));
	net_tls_ctx_unref(c);
}

static void existing_files_are_left_alone(void **state)
{
	struct tls_files *f = *state;
	struct stat before, after;
	struct err e;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	assert_int_equal(stat(f->cert, &before), 0);
	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	assert_int_equal(stat(f->cert, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

static void an_interrupted_start_is_completed(void **state)
{
	struct tls_files *f = *state;
	struct net_tls_ctx *c = NULL;
	struct err e;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	unlink(f->cert);
	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	assert_int_equal(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e), 0);
	net_tls_ctx_unref(c);
}

static void a_certificate_without_its_key_is_named(void **state)
{
	struct tls_files *f = *state;
	struct err e;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	unlink(f->key);
	assert_true(net_tls_make_certificate(f->cert, f->key, &e) < 0);
	assert_non_null(strstr(e.text, f->key));
	assert_int_equal(access(f->key, F_OK), -1);
}

static void a_folder_that_is_missing_is_named(void **state)
{
	struct err e;

	(void)state;
	assert_true(net_tls_make_certificate("/nowhere/a.crt", "/nowhere/a.key", &e) < 0);
	assert_non_null(strstr(e.text, "/nowhere/a.key"));
}

static void unusable_files_are_named(void **state)
{
	struct tls_files *f = *state, other;
	struct net_tls_ctx *c = NULL;
	struct err e;

	assert_true(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e) < 0);
	assert_non_null(strstr(e.text, f->cert));
	write_file(f->cert, "not a certificate\n");
	assert_true(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e) < 0);
	assert_non_null(strstr(e.text, f->cert));
	unlink(f->cert);
	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	write_file(f->key, "not a key\n");
	assert_true(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e) < 0);
	assert_non_null(strstr(e.text, f->key));
	tls_files_make(&other);
	assert_true(net_tls_ctx_new(f->cert, other.key, NULL, &c, &e) < 0);
	assert_non_null(strstr(e.text, other.key));
	tls_files_remove(&other);
	assert_null(c);
}

static void an_encrypted_key_is_named_and_not_asked_for(void **state)
{
	struct tls_files *f = *state;
	struct net_tls_ctx *c = NULL;
	struct err e;
	EVP_PKEY *key = EVP_RSA_gen(2048);
	FILE *file;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	file = fopen(f->key, "w");
	assert_non_null(file);
	assert_int_equal(PEM_write_PrivateKey(file, key, EVP_aes_128_cbc(), (const unsigned char *)"pass", 4,
					      NULL, NULL),
			 1);
	fclose(file);
	EVP_PKEY_free(key);
	assert_true(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e) < 0);
	assert_non_null(strstr(e.text, "encrypted"));
	assert_non_null(strstr(e.text, f->key));
	unlink(f->cert);
	assert_true(net_tls_make_certificate(f->cert, f->key, &e) < 0);
	assert_non_null(strstr(e.text, f->key));
}

static void versions_and_suites_must_mean_something(void **state)
{
	static const struct {
		struct net_tls_rules rules;
		const char *why; /* NULL: accepted */
	} cases[] = {
		{ { NET_TLS_1_2, "ECDHE+AESGCM", "TLS_AES_128_GCM_SHA256" }, NULL },
		{ { NET_TLS_1_2, "AES128-SHA:!aNULL:@STRENGTH", NULL }, NULL },
		{ { NET_TLS_1_0, "ECDHE+AESGCM:ECDHE+AES+SHA1", NULL }, NULL },
		{ { NET_TLS_1_3, NULL, NULL }, NULL },
		{ { NET_TLS_1_2, "ECDHE+AESGCM:AES128-SAH", NULL }, "'AES128-SAH'" },
		{ { NET_TLS_1_2, "", NULL }, "tls_ciphers leaves no" },
		{ { NET_TLS_1_2, "HIGH:!ALL", NULL }, "tls_ciphers leaves no" },
		{ { NET_TLS_1_2, NULL, "TLS_AES_128_GCM_SHA256:TLS_NO" }, "'TLS_NO'" },
		{ { NET_TLS_1_1, "ECDHE+AESGCM", NULL }, "have none" },
	};
	struct tls_files *f = *state;
	struct err e;

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct net_tls_ctx *c = NULL;
		int rc = net_tls_ctx_new(f->cert, f->key, &cases[i].rules, &c, &e);

		assert_int_equal(rc, cases[i].why == NULL ? 0 : -1);
		if (cases[i].why != NULL && strstr(e.text, cases[i].why) == NULL)
			fail_msg("'%s' lacks '%s'", e.text, cases[i].why);
		net_tls_ctx_unref(c);
	}
}

static void validity_is_told(void **state)
{
	struct tls_files *f = *state;
	struct net_tls_ctx *c = NULL;
	struct err e;
	int64_t from, until, now = (int64_t)time(NULL);

	assert_int_equal(net_tls_make_certificate(f->cert, f->key, &e), 0);
	assert_int_equal(net_tls_ctx_new(f->cert, f->key, NULL, &c, &e), 0);
	net_tls_ctx_validity(c, &from, &until);
	assert_in_range(now - from, 3500, 3700);
	assert_in_range(until - now, 3649LL * 86400, 3660LL * 86400);
	net_tls_ctx_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_pair_serves_the_names_of_this_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(existing_files_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(an_interrupted_start_is_completed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_certificate_without_its_key_is_named, setup, teardown),
		cmocka_unit_test(a_folder_that_is_missing_is_named),
		cmocka_unit_test_setup_teardown(unusable_files_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(an_encrypted_key_is_named_and_not_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_and_suites_must_mean_something, setup, teardown),
		cmocka_unit_test_setup_teardown(validity_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
