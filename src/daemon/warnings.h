/* warnings.h — what works and yet should not stay as it is: told in the log, with what to do. */
#ifndef DAEMON_WARNINGS_H
#define DAEMON_WARNINGS_H

#include "config/config.h"
#include "net/net.h"

/* The data folder and the files with secrets that the settings name: who else may get at them. */
void daemon_warnings_files(const struct config *c);
void daemon_warnings_key(const char *key_file);
/* A certificate that is over, not valid yet, or over within 30 days. now: seconds since 1970. */
void daemon_warnings_certificate(const struct net_tls_ctx *tls, int64_t now);

#endif
