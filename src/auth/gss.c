/* gss.c — see gss.h. The first token says which kind it is: raw NTLM, raw Kerberos or SPNEGO;
 * each kind has credentials of its own. */
#define _GNU_SOURCE /* memrchr */
#include "auth/gss.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>
#include <gssapi/gssapi_krb5.h>

#include "auth/token.h"
#include "base/log.h"

#define LEGS_MAX 10
#define OID(bytes) \
	{ \
		sizeof(bytes) - 1, (void *)(bytes) \
	}

static const gss_OID_desc oid_krb5 = OID("\x2a\x86\x48\x86\xf7\x12\x01\x02\x02");
static const gss_OID_desc oid_spnego = OID("\x2b\x06\x01\x05\x05\x02");
static const gss_OID_desc oid_ntlm = OID("\x2b\x06\x01\x04\x01\x82\x37\x02\x02\x0a");

struct auth_gss {
	gss_cred_id_t creds[TOKEN_KINDS]; /* GSS_C_NO_CREDENTIAL: switched off or not to be had */
	gss_cred_id_t again[TOKEN_KINDS]; /* the same without replay cache: see accept_token */
};

struct auth_exchange {
	struct auth_gss *gss;
	struct auth_bindings bindings;
	gss_ctx_id_t ctx;
	gss_buffer_desc out;
	enum token_kind kind;
	unsigned legs;
	char principal[300];
	const char *mechanism;
	char reason[300];
};

/* ---- credentials ---- */

static void describe(OM_uint32 major, OM_uint32 minor, gss_OID mech, char *dst, size_t size)
{
	gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
	OM_uint32 ctx = 0, ignored;
	size_t n = 0;

	dst[0] = '\0';
	if (gss_display_status(&ignored, major, GSS_C_GSS_CODE, GSS_C_NO_OID, &ctx, &text) == GSS_S_COMPLETE)
		n = (size_t)snprintf(dst, size, "%.*s", (int)text.length, (char *)text.value);
	gss_release_buffer(&ignored, &text);
	ctx = 0;
	if (n < size && minor != 0 &&
	    gss_display_status(&ignored, minor, GSS_C_MECH_CODE, mech, &ctx, &text) == GSS_S_COMPLETE)
		snprintf(dst + n, size - n, ": %.*s", (int)text.length, (char *)text.value);
	gss_release_buffer(&ignored, &text);
}

/* again: for tokens that the replay cache has already let pass. */
/* What nobody has set up is off without a word: a server without a domain is the usual one. */
static gss_cred_id_t acquire(const gss_OID_desc *mech, bool again, bool set_up, const char *name)
{
	gss_OID_desc one = *mech; /* GSSAPI has no word for what it only reads */
	gss_OID_set_desc set = { 1, &one };
	gss_key_value_element_desc element = { "rcache", "none:" };
	gss_key_value_set_desc store = { 1, &element };
	gss_cred_id_t cred = GSS_C_NO_CREDENTIAL;
	OM_uint32 minor, major;
	char why[300];

	major = gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &set, GSS_C_ACCEPT,
				      again ? &store : GSS_C_NO_CRED_STORE, &cred, NULL, NULL);
	if (!GSS_ERROR(major))
		return cred;
	describe(major, minor, &one, why, sizeof(why));
	LOG(set_up ? LOG_INFO : LOG_DEBUG, NULL, "mechanism_off", F_STR("mechanism", name),
	    F_STR("reason", why));
	return GSS_C_NO_CREDENTIAL;
}

/* SPNEGO may only agree on what is switched on. */
static gss_cred_id_t acquire_spnego(bool again, bool kerberos, bool ntlm)
{
	gss_OID_desc mechs[2];
	gss_OID_set_desc set = { 0, mechs };
	gss_cred_id_t cred;
	OM_uint32 minor;

	if (kerberos)
		mechs[set.count++] = oid_krb5;
	if (ntlm)
		mechs[set.count++] = oid_ntlm;
	if (set.count == 0)
		return GSS_C_NO_CREDENTIAL;
	cred = acquire(&oid_spnego, again, true, "spnego");
	if (cred != GSS_C_NO_CREDENTIAL && GSS_ERROR(gss_set_neg_mechs(&minor, cred, &set))) {
		LOG(LOG_WARN, NULL, "mechanism_off", F_STR("mechanism", "spnego"),
		    F_STR("reason", "its choice cannot be limited"));
		gss_release_cred(&minor, &cred);
	}
	return cred;
}

/* The second credentials never know NTLM: its mechanism has no replay cache, and makes unusable
 * credentials when it is told about one. */
static void acquire_all(struct auth_gss *g, const struct auth_gss_options *o)
{
	if (o->kerberos)
		g->creds[TOKEN_KERBEROS] = acquire(&oid_krb5, false, o->keytab[0] != '\0', "kerberos");
	if (o->ntlm)
		g->creds[TOKEN_NTLM] = acquire(&oid_ntlm, false, true, "ntlm");
	g->creds[TOKEN_SPNEGO] = acquire_spnego(false, g->creds[TOKEN_KERBEROS] != GSS_C_NO_CREDENTIAL,
						g->creds[TOKEN_NTLM] != GSS_C_NO_CREDENTIAL);
	if (!o->channel_binding || g->creds[TOKEN_KERBEROS] == GSS_C_NO_CREDENTIAL)
		return;
	g->again[TOKEN_KERBEROS] = acquire(&oid_krb5, true, true, "kerberos");
	g->again[TOKEN_SPNEGO] = acquire_spnego(true, true, false);
}

/* Both are read by the mechanisms for the whole process: a credential store for one of them
 * would be shown to the others, too. */
static bool name_files(const struct auth_gss_options *o)
{
	if (o->ntlm && o->ntlm_user_file[0] != '\0' && setenv("NTLM_USER_FILE", o->ntlm_user_file, 1) < 0)
		return false;
	return !o->kerberos || o->keytab[0] == '\0' ||
	       krb5_gss_register_acceptor_identity(o->keytab) == GSS_S_COMPLETE;
}

int auth_gss_open(const struct auth_gss_options *o, struct auth_gss **ret, struct err *reterr)
{
	struct auth_gss *g = calloc(1, sizeof(*g));

	*ret = NULL;
	if (g == NULL)
		return err_nomem(reterr);
	if (!name_files(o)) {
		free(g);
		return err_nomem(reterr);
	}
	acquire_all(g, o);
	if (g->creds[TOKEN_KERBEROS] == GSS_C_NO_CREDENTIAL && g->creds[TOKEN_NTLM] == GSS_C_NO_CREDENTIAL) {
		auth_gss_close(g);
		return 0;
	}
	*ret = g;
	return 0;
}

void auth_gss_close(struct auth_gss *g)
{
	OM_uint32 minor;

	if (g == NULL)
		return;
	for (int i = 0; i < TOKEN_KINDS; i++) {
		gss_release_cred(&minor, &g->creds[i]);
		gss_release_cred(&minor, &g->again[i]);
	}
	free(g);
}

/* ---- one exchange ---- */

struct auth_exchange *auth_exchange_new(struct auth_gss *g, const struct auth_bindings *bindings)
{
	struct auth_exchange *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	x->gss = g;
	x->ctx = GSS_C_NO_CONTEXT;
	x->mechanism = "";
	if (bindings != NULL)
		x->bindings = *bindings;
	return x;
}

void auth_exchange_free(struct auth_exchange *x)
{
	OM_uint32 minor;

	if (x == NULL)
		return;
	if (x->ctx != GSS_C_NO_CONTEXT)
		gss_delete_sec_context(&minor, &x->ctx, GSS_C_NO_BUFFER);
	gss_release_buffer(&minor, &x->out);
	free(x);
}

static enum auth_step refuse(struct auth_exchange *x, const char *why)
{
	snprintf(x->reason, sizeof(x->reason), "%s", why);
	return AUTH_STEP_REFUSED;
}

static enum auth_step no_memory(struct auth_exchange *x)
{
	(void)refuse(x, "out of memory");
	return AUTH_STEP_ERROR;
}

static bool is_mech(const gss_OID_desc *mech, const gss_OID_desc *wanted)
{
	return mech != NULL && mech->length == wanted->length &&
	       memcmp(mech->elements, wanted->elements, mech->length) == 0;
}

/* Kerberos: "user@REALM". An escaped character (a backslash, a second @) would let a name of one
 * realm look like one of another. */
static bool split_kerberos(struct str name, struct str *ret_realm, struct str *ret_user)
{
	const char *at = memrchr(name.p, '@', name.n);

	if (at == NULL || memchr(name.p, '\\', name.n) != NULL)
		return false;
	*ret_user = (struct str){ name.p, (size_t)(at - name.p) };
	*ret_realm = (struct str){ at + 1, name.n - ret_user->n - 1 };
	return true;
}

/* NTLM: "DOMAIN\user", or "user" when the client named no domain. */
static bool split_ntlm(struct str name, struct str *ret_realm, struct str *ret_user)
{
	const char *slash = memchr(name.p, '\\', name.n);

	*ret_realm = (struct str){ name.p, slash == NULL ? 0 : (size_t)(slash - name.p) };
	*ret_user = slash == NULL ? name : (struct str){ slash + 1, name.n - ret_realm->n - 1 };
	return memchr(ret_user->p, '\\', ret_user->n) == NULL;
}

/* Becomes "REALM\user", realm in capitals. */
static bool take_name(struct auth_exchange *x, struct str name, bool ntlm)
{
	struct str realm = { 0 }, user = { 0 };

	if (name.n > 0 && name.p[name.n - 1] == '\0') /* gss-ntlmssp counts the end of the string */
		name.n--;
	if (!(ntlm ? split_ntlm : split_kerberos)(name, &realm, &user))
		return false;
	if (user.n == 0 || realm.n + user.n + 2 > sizeof(x->principal) ||
	    memchr(name.p, '\0', name.n) != NULL)
		return false;
	snprintf(x->principal, sizeof(x->principal), "%.*s\\%.*s", STR_ARG(realm), STR_ARG(user));
	for (size_t i = 0; i < realm.n; i++)
		x->principal[i] = (char)toupper((unsigned char)x->principal[i]);
	return true;
}

static enum auth_step finish(struct auth_exchange *x, gss_name_t source, gss_OID mech)
{
	gss_buffer_desc text = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor;
	bool ok;

	if (GSS_ERROR(gss_display_name(&minor, source, &text, NULL)))
		return refuse(x, "the name of the client cannot be read");
	ok = take_name(x, (struct str){ text.value, text.length }, is_mech(mech, &oid_ntlm));
	gss_release_buffer(&minor, &text);
	return ok ? AUTH_STEP_DONE : refuse(x, "the name of the client cannot be used");
}

struct accepted {
	OM_uint32 major, minor, flags;
	gss_name_t source;
	gss_OID mech;
};

static void accept_with(struct auth_exchange *x, gss_cred_id_t cred, gss_buffer_t in,
			const struct auth_binding *binding, struct accepted *ret)
{
	struct gss_channel_bindings_struct cb = { .initiator_addrtype = GSS_C_AF_UNSPEC,
						  .acceptor_addrtype = GSS_C_AF_UNSPEC };
	OM_uint32 ignored;

	if (binding != NULL)
		cb.application_data = (gss_buffer_desc){ binding->n, (void *)binding->data };
	*ret = (struct accepted){ .source = GSS_C_NO_NAME, .mech = GSS_C_NO_OID };
	gss_release_buffer(&ignored, &x->out);
	ret->major = gss_accept_sec_context(&ret->minor, &x->ctx, cred, in,
					    binding == NULL ? GSS_C_NO_CHANNEL_BINDINGS : &cb, &ret->source,
					    &ret->mech, &x->out, &ret->flags, NULL, NULL);
}

/* Clients may bind to the connection in two ways, and do not say in which: Kerberos tokens are
 * tried with both. The replay cache has seen the token in the first try and would take the
 * second for a replay; so the second goes without it. A token that is a replay already fails the
 * first try. */
static bool may_try_again(const struct auth_exchange *x, const struct accepted *r)
{
	return GSS_ROUTINE_ERROR(r->major) == GSS_S_BAD_BINDINGS && x->legs == 1 && x->bindings.n > 1 &&
	       x->gss->again[x->kind] != GSS_C_NO_CREDENTIAL;
}

static enum auth_step accept_token(struct auth_exchange *x, gss_buffer_t in)
{
	const struct auth_bindings *b = &x->bindings;
	OM_uint32 ignored;
	enum auth_step step;
	struct accepted r;

	accept_with(x, x->gss->creds[x->kind], in, b->n > 0 ? &b->list[0] : NULL, &r);
	if (may_try_again(x, &r)) {
		if (x->ctx != GSS_C_NO_CONTEXT)
			gss_delete_sec_context(&ignored, &x->ctx, GSS_C_NO_BUFFER);
		gss_release_name(&ignored, &r.source);
		accept_with(x, x->gss->again[x->kind], in, &b->list[1], &r);
	}
	if (is_mech(r.mech, &oid_ntlm))
		x->mechanism = "ntlm";
	else if (is_mech(r.mech, &oid_krb5))
		x->mechanism = "kerberos";
	if (GSS_ERROR(r.major)) {
		describe(r.major, r.minor, r.mech, x->reason, sizeof(x->reason));
		step = r.minor == ENOMEM ? AUTH_STEP_ERROR : AUTH_STEP_REFUSED;
	} else if ((r.major & GSS_S_CONTINUE_NEEDED) != 0) {
		step = AUTH_STEP_MORE;
	} else if ((r.flags & GSS_C_ANON_FLAG) != 0) {
		step = refuse(x, "anonymous");
	} else {
		step = finish(x, r.source, r.mech);
	}
	gss_release_name(&ignored, &r.source);
	return step;
}

static enum auth_step accept_mended(struct auth_exchange *x, const uint8_t *token, size_t n)
{
	gss_buffer_desc in = { n, calloc(1, n < TOKEN_NTLM_ROOM ? TOKEN_NTLM_ROOM : n) };
	enum auth_step step;

	if (in.value == NULL)
		return no_memory(x);
	memcpy(in.value, token, n);
	in.length = auth_token_ntlm_mend(in.value, n);
	step = auth_token_ntlm_is_old(in.value, in.length) ? refuse(x, "older than NTLMv2")
							   : accept_token(x, &in);
	free(in.value);
	return step;
}

static enum auth_step accept_any(struct auth_exchange *x, const uint8_t *token, size_t n)
{
	gss_buffer_desc in = { n, (void *)token };

	if (x->kind == TOKEN_NTLM && auth_token_ntlm_is_odd(token, n))
		return accept_mended(x, token, n);
	if (x->kind != TOKEN_KERBEROS && auth_token_ntlm_is_old(token, n))
		return refuse(x, "older than NTLMv2");
	return accept_token(x, &in);
}

static const char *const kind_names[TOKEN_KINDS] = {
	[TOKEN_KERBEROS] = "kerberos", [TOKEN_NTLM] = "ntlm", [TOKEN_SPNEGO] = "spnego"
};

enum auth_step auth_exchange_step(struct auth_exchange *x, const uint8_t *token, size_t n,
				  struct str *ret_token)
{
	enum auth_step step;

	*ret_token = (struct str){ "", 0 };
	if (++x->legs > LEGS_MAX)
		return refuse(x, "too many legs");
	if (x->legs == 1 && !auth_token_kind(token, n, &x->kind))
		return refuse(x, "not a Kerberos, NTLM or SPNEGO token");
	if (x->legs == 1)
		x->mechanism = kind_names[x->kind];
	if (x->gss->creds[x->kind] == GSS_C_NO_CREDENTIAL)
		return refuse(x, "the mechanism is switched off");
	step = accept_any(x, token, n);
	if (step == AUTH_STEP_MORE && x->out.length == 0)
		return refuse(x, "the mechanism has nothing to say");
	if (x->out.length > 65535)
		return refuse(x, "the answer is too long for a token");
	*ret_token = (struct str){ x->out.value, x->out.length };
	return step;
}

const char *auth_exchange_principal(const struct auth_exchange *x)
{
	return x->principal;
}

const char *auth_exchange_mechanism(const struct auth_exchange *x)
{
	return x->mechanism;
}

const char *auth_exchange_reason(const struct auth_exchange *x)
{
	return x->reason;
}
