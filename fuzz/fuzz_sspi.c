/* fuzz_sspi.c — the SSPI phase: what is looked at in tokens, and whole exchanges with the NTLM
 * and SPNEGO acceptors as far as this machine has them. The input is a list of tokens, each
 * behind its length in two bytes. Kerberos is left out: its keys would have to be made first. */
#include <string.h>
#include <unistd.h>

#include "auth/gss.h"
#include "auth/token.h"
#include "fuzz.h"

#define USERS "CORP:bob:bobs-pw\n"

/* NULL: gss-ntlmssp is not installed. */
static struct auth_gss *acceptor(void)
{
	static char path[] = "/tmp/procession-fuzz-XXXXXX";
	struct auth_gss_options o = {
		.ntlm = true, .channel_binding = true, .keytab = "", .ntlm_user_file = path
	};
	struct auth_gss *g;
	struct err e;
	int fd = mkstemp(path);

	HOLDS(fd >= 0 && write(fd, USERS, strlen(USERS)) == (ssize_t)strlen(USERS));
	close(fd);
	HOLDS(auth_gss_open(&o, &g, &e) == 0);
	unlink(path); /* the passwords are not to be guessed: every answer is refused */
	return g;
}

static void check_token(const uint8_t *p, size_t n)
{
	size_t room = n < TOKEN_NTLM_ROOM ? TOKEN_NTLM_ROOM : n, mended;
	uint8_t *copy = calloc(1, room);
	enum token_kind kind;

	HOLDS(copy != NULL);
	if (n > 0)
		memcpy(copy, p, n);
	(void)auth_token_kind(copy, n, &kind);
	(void)auth_token_ntlm_is_old(copy, n);
	if (auth_token_ntlm_is_odd(copy, n)) {
		mended = auth_token_ntlm_mend(copy, n);
		HOLDS(mended >= n && mended <= room && !auth_token_ntlm_is_odd(copy, mended));
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct auth_gss *g;
	static int opened;
	struct auth_bindings bindings = { .n = 1, .list[0] = { .data = "tls-unique:0123456789ab", .n = 23 } };
	enum auth_step step = AUTH_STEP_MORE;
	struct auth_exchange *x = NULL;
	unsigned legs = 0;

	if (!opened) {
		g = acceptor();
		opened = 1;
	}
	if (g != NULL)
		x = auth_exchange_new(g, size % 2 != 0 ? &bindings : NULL);
	while (size >= 2 && step == AUTH_STEP_MORE) {
		size_t n = data[0] | (size_t)data[1] << 8;
		struct str answer;
		uint8_t *token;

		data += 2;
		size -= 2;
		n = n > size ? size : n;
		check_token(data, n);
		token = malloc(n > 0 ? n : 1); /* of its own: reading beyond it shows */
		HOLDS(token != NULL);
		memcpy(token, data, n);
		if (x != NULL) {
			step = auth_exchange_step(x, token, n, &answer);
			HOLDS(step != AUTH_STEP_DONE && ++legs <= 11 &&
			      (step != AUTH_STEP_MORE || (answer.n > 0 && legs <= 10)));
			HOLDS(step != AUTH_STEP_REFUSED || auth_exchange_reason(x)[0] != '\0');
		}
		free(token);
		data += n;
		size -= n;
	}
	auth_exchange_free(x);
	return 0;
}
