/* token.h — the little of a client's token that is looked at before GSSAPI gets it. Pure functions over bytes. */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_KERBEROS, TOKEN_NTLM, TOKEN_SPNEGO, TOKEN_KINDS };

/* What the first token of an exchange is. False: nothing we know. */
bool token_kind(const uint8_t *p, size_t n, enum token_kind *ret);

/* NTLM messages of FreeTDS that gss-ntlmssp does not understand, though they carry all that is needed:
 * - the negotiate message does not ask for the target, but the client cannot answer a challenge without it;
 * - the authenticate message claims to hold a version, and has other bytes in its place.
 * mend() makes the first ask and the second claim nothing. An integrity check (MIC) over the messages would notice; but the client of the first knows no
 * way to send one, and in the second there is no room for it. */
bool token_ntlm_is_odd(const uint8_t *p, size_t n);
void token_ntlm_mend(uint8_t *p, size_t n);

#endif
