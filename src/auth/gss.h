/* gss.h — integrated logins: Kerberos, NTLM and SPNEGO tokens through GSSAPI. Every function
 * blocks and belongs on a work thread, except new and free. */
#ifndef AUTH_GSS_H
#define AUTH_GSS_H

#include "base/err.h"
#include "base/str.h"

struct auth_gss;      /* the server's credentials */
struct auth_exchange; /* one client's exchange of tokens */

struct auth_gss_options {
	bool kerberos, ntlm, channel_binding;
	const char *keytab;         /* "": the system's */
	const char *ntlm_user_file; /* "": none; DOMAIN:USER:PASSWORD a line, or empty and winbind */
};

/* Before any thread starts (the mechanisms are told their files for the whole process). A
 * mechanism whose credentials cannot be had is logged and left out; *ret is NULL when none is
 * left. */
MUST_CHECK int auth_gss_open(const struct auth_gss_options *o, struct auth_gss **ret, struct err *reterr);
void auth_gss_close(struct auth_gss *g); /* NULL is welcome */

/* What identifies the TLS connection (RFC 5929): "tls-unique:…", "tls-server-end-point:…". The
 * likelier one comes first. */
struct auth_binding {
	uint8_t data[96];
	size_t n;
};
struct auth_bindings {
	struct auth_binding list[2];
	size_t n; /* 0: none; what the client may have bound to is not looked at */
};

/* A client that binds its token to the connection must mean one of these; NULL: none. A client
 * that does not bind is welcome. NULL: no memory. */
struct auth_exchange *auth_exchange_new(struct auth_gss *g, const struct auth_bindings *bindings);
void auth_exchange_free(struct auth_exchange *x);

enum auth_step {
	AUTH_STEP_MORE,    /* send the token, wait for the next */
	AUTH_STEP_DONE,    /* who it is is known; send the token if there is one */
	AUTH_STEP_REFUSED, /* wrong password, expired or replayed ticket, nonsense */
	AUTH_STEP_ERROR,   /* no memory: no verdict */
};
/* Takes the client's next token. ret_token lives until the next step. After ten legs every
 * exchange is refused. */
enum auth_step auth_exchange_step(struct auth_exchange *x, const uint8_t *token, size_t n,
				  struct str *ret_token);
/* After AUTH_STEP_DONE: "REALM\name"; "" before. The mechanism, as far as it is known:
 * "kerberos", "ntlm", "spnego", "". After REFUSED and ERROR: why, for the log. */
const char *auth_exchange_principal(const struct auth_exchange *x);
const char *auth_exchange_mechanism(const struct auth_exchange *x);
const char *auth_exchange_reason(const struct auth_exchange *x);

#endif
