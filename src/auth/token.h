/* token.h — the little of a client's token that is looked at before GSSAPI gets it. Pure
 * functions over bytes. */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind { TOKEN_KERBEROS, TOKEN_NTLM, TOKEN_SPNEGO, TOKEN_KINDS };

/* What the first token of an exchange is. False: nothing we know. */
bool auth_token_kind(const uint8_t *p, size_t n, enum token_kind *ret);

/* NTLM messages that gss-ntlmssp does not understand, though they carry all that is needed:
 * - FreeTDS' negotiate message does not ask for the target, but it cannot answer a challenge
 *   without it;
 * - jTDS' negotiate message ends before the place of the version, which it does not claim to
 *   hold;
 * - FreeTDS' authenticate message claims to hold a version, and has other bytes in its place;
 * - tedious' authenticate message gives the length of its answer as 16, the proof alone; what
 *   the proof is about follows up to the end.
 * mend() puts that right. An integrity check (MIC) over the messages would notice; but clients
 * of the first two kinds know no way to send one, and in the others there is no room for it. */
#define TOKEN_NTLM_ROOM 40
bool auth_token_ntlm_is_odd(const uint8_t *p, size_t n);
/* p has TOKEN_NTLM_ROOM bytes at least, zero beyond n. Gives the new length. */
size_t auth_token_ntlm_mend(uint8_t *p, size_t n);
/* An NTLM authenticate message, alone or anywhere inside another token, answers with less than
 * NTLMv2. gss-ntlmssp 1.2 may take any password then: it compares the client's LM answer with
 * itself when LM is allowed, by LM_COMPAT_LEVEL or because the host has joined a domain. */
bool auth_token_ntlm_is_old(const uint8_t *p, size_t n);

#endif
