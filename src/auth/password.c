/* password.c — argon2id with the parameters that OWASP gives as a minimum for interactive
 * logins: 19 MiB, two passes, one lane. The PHC string carries them, so that stored hashes stay
 * good when they change. */
#include "auth/auth.h"

#include <argon2.h>
#include <openssl/rand.h>

#include "base/log.h"

enum { MEMORY_KIB = 19 * 1024, PASSES = 2, LANES = 1, SALT_LEN = 16, HASH_LEN = 32 };

int auth_hash_password(struct str password, char dst[256], struct err *reterr)
{
	uint8_t salt[SALT_LEN];
	int rc;

	if (RAND_bytes(salt, sizeof(salt)) != 1)
		return err_set(
			reterr, ERR_START,
			"No random bytes for a password's salt. Check the system's random number generator.");
	rc = argon2id_hash_encoded(PASSES, MEMORY_KIB, LANES, password.p, password.n, salt, sizeof(salt),
				   HASH_LEN, dst, 256);
	if (rc == ARGON2_MEMORY_ALLOCATION_ERROR)
		return err_nomem(reterr);
	if (rc != ARGON2_OK)
		return err_set(reterr, ERR_START, argon2_error_message(rc));
	return 0;
}

/* The library compares in constant time; a string that is no argon2id hash fits no password.
 * What keeps the library from finding out is no verdict. */
int auth_verify_password(struct str password, const char *hash)
{
	int rc = argon2id_verify(hash, password.p, password.n);

	if (rc == ARGON2_MEMORY_ALLOCATION_ERROR || rc == ARGON2_THREAD_FAIL) {
		LOG(LOG_ERROR, NULL, "password_not_checked", F_STR("error", argon2_error_message(rc)),
		    F_STR("remedy", "a login takes 19 MiB while it is checked: give the server more memory"));
		return -1;
	}
	return rc == ARGON2_OK;
}
