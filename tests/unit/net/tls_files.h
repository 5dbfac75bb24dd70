/* tls_files.h — a folder with a certificate and its key, for one test program. */
#ifndef TEST_TLS_FILES_H
#define TEST_TLS_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/net.h"

struct tls_files {
	char dir[64], cert[96], key[96];
};

static inline void tls_files_name(struct tls_files *f)
{
	snprintf(f->dir, sizeof(f->dir), "/tmp/procession-net-XXXXXX");
	if (mkdtemp(f->dir) == NULL)
		exit(99);
	snprintf(f->cert, sizeof(f->cert), "%s/server.crt", f->dir);
	snprintf(f->key, sizeof(f->key), "%s/server.key", f->dir);
}

static inline void tls_files_make(struct tls_files *f)
{
	struct err e;

	tls_files_name(f);
	if (net_tls_make_certificate(f->cert, f->key, &e) < 0) {
		fprintf(stderr, "%s\n", e.text);
		exit(99);
	}
}

static inline void tls_files_remove(struct tls_files *f)
{
	unlink(f->cert);
	unlink(f->key);
	rmdir(f->dir);
}

#endif
