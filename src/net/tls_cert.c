/* tls_cert.c — a self-signed certificate for a server that was given none. Files appear whole or
 * not at all (written aside, synced, renamed), the key before the certificate: a key alone is
 * what an interrupted start leaves behind, and the next start makes the certificate for it. */
#define _GNU_SOURCE /* mkostemp */

#include "net/net.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "net/net_int.h"

#define TEN_YEARS (10L * 365 * 24 * 3600)

/* The host name if it can stand in a certificate, else "localhost". */
static void host_name(char *dst, size_t size)
{
	if (gethostname(dst, size) < 0)
		dst[0] = '\0';
	dst[size - 1] = '\0';
	for (const char *p = dst; *p != '\0'; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
		      *p == '-' || *p == '.'))
			dst[0] = '\0';
	if (dst[0] == '\0')
		snprintf(dst, size, "localhost");
}

static bool add_extension(X509 *x, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;
	bool ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (e == NULL)
		return false;
	ok = X509_add_ext(x, e, -1) == 1;
	X509_EXTENSION_free(e);
	return ok;
}

static bool set_serial(X509 *x)
{
	unsigned char bytes[16];
	BIGNUM *n = NULL;
	bool ok;

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return false;
	bytes[0] &= 0x7f; /* positive */
	bytes[0] |= 0x40; /* and of full length */
	n = BN_bin2bn(bytes, sizeof(bytes), NULL);
	ok = n != NULL && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(x)) != NULL;
	BN_free(n);
	return ok;
}

static bool fill_certificate(X509 *x, EVP_PKEY *key)
{
	char host[65], san[200];
	X509_NAME *name;

	host_name(host, sizeof(host));
	snprintf(san, sizeof(san), "DNS:localhost,%s%s%sIP:127.0.0.1,IP:::1",
		 strcmp(host, "localhost") == 0 ? "" : "DNS:", strcmp(host, "localhost") == 0 ? "" : host,
		 strcmp(host, "localhost") == 0 ? "" : ",");
	name = X509_get_subject_name(x);
	return X509_set_version(x, 2) == 1 && set_serial(x) &&
	       /* clients whose clock is a little behind */
	       X509_gmtime_adj(X509_getm_notBefore(x), -3600) != NULL &&
	       X509_gmtime_adj(X509_getm_notAfter(x), TEN_YEARS) != NULL && X509_set_pubkey(x, key) == 1 &&
	       X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)host, -1, -1,
					  0) == 1 &&
	       X509_set_issuer_name(x, name) == 1 && add_extension(x, NID_subject_key_identifier, "hash") &&
	       add_extension(x, NID_authority_key_identifier, "keyid:always") &&
	       add_extension(x, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(x, NID_key_usage, "critical,digitalSignature,keyEncipherment") &&
	       add_extension(x, NID_ext_key_usage, "serverAuth") &&
	       add_extension(x, NID_subject_alt_name, san) && X509_sign(x, key, EVP_sha256()) > 0;
}

/* Writes to a file of its own beside path and renames it; one of key and cert is NULL. */
static int write_pem(const char *path, mode_t mode, EVP_PKEY *key, X509 *cert, struct err *reterr)
{
	char temp[4096];
	FILE *f = NULL;
	int fd = -1, n, saved;
	bool ok;

	n = snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
	if (n < 0 || (size_t)n >= sizeof(temp))
		return net_fail(reterr, "The file name %.200s… is too long. Choose a shorter data folder.",
				path);
	fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 from the beginning */
	if (fd < 0)
		return net_fail(reterr,
				"Cannot write %s: %s. Check that the folder exists and that the server may "
				"write to it.",
				path, strerror(errno));
	f = fdopen(fd, "w");
	if (f == NULL)
		goto fail;
	ok = key != NULL ? PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1
			 : PEM_write_X509(f, cert) == 1;
	if (!ok || fflush(f) != 0 || fchmod(fd, mode) < 0 || fsync(fd) < 0)
		goto fail;
	if (rename(temp, path) < 0)
		goto fail;
	fclose(f);
	return 0;
fail:
	saved = errno;
	if (f != NULL)
		fclose(f);
	else
		close(fd);
	unlink(temp);
	return net_fail(reterr, "Cannot write %s: %s. Check free space and permissions of its folder.", path,
			strerror(saved));
}

/* The key that an interrupted start left, or a new one. */
static EVP_PKEY *obtain_key(const char *key_file, bool exists, struct err *reterr)
{
	char no_password[] = "";
	EVP_PKEY *key;
	FILE *f;

	if (exists) {
		f = fopen(key_file, "re");
		key = f == NULL ? NULL : PEM_read_PrivateKey(f, NULL, NULL, no_password);
		if (f != NULL)
			fclose(f);
		if (key == NULL)
			net_fail(reterr,
				 "There is a private key %s without its certificate, and it cannot be read. "
				 "Restore the certificate, or remove the key to have both made anew.",
				 key_file);
		return key;
	}
	key = EVP_RSA_gen(2048);
	if (key == NULL)
		net_fail(reterr,
			 "OpenSSL could not make a private key for %s. Check that OpenSSL's configuration "
			 "allows RSA.",
			 key_file);
	else if (write_pem(key_file, 0600, key, NULL, reterr) < 0) {
		EVP_PKEY_free(key);
		key = NULL;
	}
	return key;
}

int net_tls_make_certificate(const char *cert_file, const char *key_file, struct err *reterr)
{
	bool have_cert = access(cert_file, F_OK) == 0, have_key = access(key_file, F_OK) == 0;
	EVP_PKEY *key;
	X509 *x;
	int rc;

	if (have_cert && have_key)
		return 0;
	if (have_cert)
		return net_fail(reterr,
				"There is a certificate %s but not its private key %s. Restore the key, or "
				"remove the certificate to have both made anew.",
				cert_file, key_file);
	key = obtain_key(key_file, have_key, reterr);
	if (key == NULL)
		return -1;
	x = X509_new();
	if (x == NULL || !fill_certificate(x, key))
		rc = net_fail(reterr,
			      "OpenSSL could not make the certificate %s. Give one with tls_certificate and "
			      "tls_key.",
			      cert_file);
	else
		rc = write_pem(cert_file, 0644, NULL, x, reterr);
	X509_free(x);
	EVP_PKEY_free(key);
	return rc;
}
