/* gss.c — see gss.h. The first token says which kind it is: raw NTLM, raw Kerberos or SPNEGO; each kind has credentials of its own. */
#define _GNU_SOURCE             /* memmem, memrchr */
#include "auth/gss.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>

#include "base/log.h"

#define LEGS_MAX 10
#define OID(bytes) { sizeof(bytes) - 1, (void *)(bytes) }

static gss_OID_desc oid_krb5 = OID("\x2a\x86\x48\x86\xf7\x12\x01\x02\x02");
static gss_OID_desc oid_spnego = OID("\x2b\x06\x01\x05\x05\x02");
static gss_OID_desc oid_ntlm = OID("\x2b\x06\x01\x04\x01\x82\x37\x02\x02\x0a");

enum kind { KIND_KERBEROS, KIND_NTLM, KIND_SPNEGO, KIND_COUNT };

struct auth_gss {
	gss_cred_id_t creds[KIND_COUNT];        /* GSS_C_NO_CREDENTIAL: switched off or not to be had */
};

struct auth_exchange {
	struct auth_gss *gss;
	gss_ctx_id_t ctx;
	gss_buffer_desc out;
	enum kind kind;
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
	if (n < size && minor != 0 && gss_display_status(&ignored, minor, GSS_C_MECH_CODE, mech, &ctx, &text) == GSS_S_COMPLETE)
		snprintf(dst + n, size - n, ": %.*s", (int)text.length, (char *)text.value);
	gss_release_buffer(&ignored, &text);
}

static gss_cred_id_t acquire(gss_OID mech, const char *keytab, const char *name)
{
	gss_OID_set_desc set = { 1, mech };
	gss_key_value_element_desc element = { "keytab", keytab };
	gss_key_value_set_desc store = { 1, &element };
	gss_cred_id_t cred = GSS_C_NO_CREDENTIAL;
	OM_uint32 minor, major;
	char why[300];

	major = gss_acquire_cred_from(&minor, GSS_C_NO_NAME, GSS_C_INDEFINITE, &set, GSS_C_ACCEPT,
				      keytab[0] == '\0' ? GSS_C_NO_CRED_STORE : &store, &cred, NULL, NULL);
	if (!GSS_ERROR(major))
		return cred;
	describe(major, minor, mech, why, sizeof(why));
	LOG(LOG_INFO, NULL, "mechanism_off", F_STR("mechanism", name), F_STR("reason", why));
	return GSS_C_NO_CREDENTIAL;
}

/* SPNEGO may only agree on what is switched on. */
static gss_cred_id_t acquire_spnego(const struct auth_gss *g, const char *keytab)
{
	gss_OID_desc mechs[2];
	gss_OID_set_desc set = { 0, mechs };
	gss_cred_id_t cred;
	OM_uint32 minor;

	if (g->creds[KIND_KERBEROS] != GSS_C_NO_CREDENTIAL)
		mechs[set.count++] = oid_krb5;
	if (g->creds[KIND_NTLM] != GSS_C_NO_CREDENTIAL)
		mechs[set.count++] = oid_ntlm;
	if (set.count == 0)
		return GSS_C_NO_CREDENTIAL;
	cred = acquire(&oid_spnego, keytab, "spnego");
	if (cred != GSS_C_NO_CREDENTIAL && GSS_ERROR(gss_set_neg_mechs(&minor, cred, &set)))
		LOG(LOG_WARN, NULL, "mechanism_off", F_STR("mechanism", "spnego"), F_STR("reason", "its choice cannot be limited"));
	return cred;
}

int auth_gss_open(const struct auth_gss_options *o, struct auth_gss **ret, struct err *reterr)
{
	struct auth_gss *g = calloc(1, sizeof(*g));

	*ret = NULL;
	if (g == NULL)
		return err_nomem(reterr);
	if (o->ntlm && o->ntlm_user_file[0] != '\0' && setenv("NTLM_USER_FILE", o->ntlm_user_file, 1) < 0) {
		free(g);
		return err_nomem(reterr);
	}
	if (o->kerberos)
		g->creds[KIND_KERBEROS] = acquire(&oid_krb5, o->keytab, "kerberos");
	if (o->ntlm)
		g->creds[KIND_NTLM] = acquire(&oid_ntlm, "", "ntlm");
	g->creds[KIND_SPNEGO] = acquire_spnego(g, g->creds[KIND_KERBEROS] != GSS_C_NO_CREDENTIAL ? o->keytab : "");
	if (g->creds[KIND_KERBEROS] == GSS_C_NO_CREDENTIAL && g->creds[KIND_NTLM] == GSS_C_NO_CREDENTIAL) {
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
	for (int i = 0; i < KIND_COUNT; i++)
		if (g->creds[i] != GSS_C_NO_CREDENTIAL)
			gss_release_cred(&minor, &g->creds[i]);
	free(g);
}

/* ---- one exchange ---- */

struct auth_exchange *auth_exchange_new(struct auth_gss *g)
{
	struct auth_exchange *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	x->gss = g;
	x->ctx = GSS_C_NO_CONTEXT;
	x->mechanism = "";
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

static bool contains(const uint8_t *p, size_t n, const gss_OID_desc *oid)
{
	/* [APPLICATION 0] length, then the mechanism's OID: within the first bytes of a framed token */
	return n > 12 && memmem(p, n < 40 ? n : 40, oid->elements, oid->length) != NULL;
}

static bool kind_of(const uint8_t *p, size_t n, enum kind *ret)
{
	if (n >= 8 && memcmp(p, "NTLMSSP", 8) == 0)
		*ret = KIND_NTLM;
	else if (n > 0 && p[0] == 0x60 && contains(p, n, &oid_spnego))
		*ret = KIND_SPNEGO;
	else if (n > 0 && p[0] == 0x60 && contains(p, n, &oid_krb5))
		*ret = KIND_KERBEROS;
	else
		return false;
	return true;
}

static enum auth_step refuse(struct auth_exchange *x, const char *why)
{
	snprintf(x->reason, sizeof(x->reason), "%s", why);
	return AUTH_STEP_REFUSED;
}

/* "user@REALM" and "DOMAIN\user" become "REALM\user", realm in capitals. */
static bool take_name(struct auth_exchange *x, struct str name)
{
	const char *at = memrchr(name.p, '@', name.n), *slash = memchr(name.p, '\\', name.n);
	struct str realm = { 0 }, user = name;

	if (slash != NULL) {
		realm = (struct str){ name.p, (size_t)(slash - name.p) };
		user = (struct str){ slash + 1, name.n - realm.n - 1 };
	} else if (at != NULL) {
		user = (struct str){ name.p, (size_t)(at - name.p) };
		realm = (struct str){ at + 1, name.n - user.n - 1 };
	}
	if (user.n == 0 || realm.n + user.n + 2 > sizeof(x->principal))
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
	ok = take_name(x, (struct str){ text.value, text.length });
	gss_release_buffer(&minor, &text);
	x->mechanism = mech != NULL && mech->length == oid_ntlm.length && memcmp(mech->elements, oid_ntlm.elements, mech->length) == 0 ? "ntlm" : "kerberos";
	return ok ? AUTH_STEP_DONE : refuse(x, "the name of the client cannot be used");
}

static enum auth_step accept_token(struct auth_exchange *x, const uint8_t *token, size_t n)
{
	gss_buffer_desc in = { n, (void *)token };
	gss_name_t source = GSS_C_NO_NAME;
	gss_OID mech = GSS_C_NO_OID;
	OM_uint32 minor, ignored, flags = 0, major;
	enum auth_step step;

	gss_release_buffer(&ignored, &x->out);
	major = gss_accept_sec_context(&minor, &x->ctx, x->gss->creds[x->kind], &in, GSS_C_NO_CHANNEL_BINDINGS, &source, &mech, &x->out, &flags, NULL, NULL);
	if (GSS_ERROR(major)) {
		describe(major, minor, mech, x->reason, sizeof(x->reason));
		step = AUTH_STEP_REFUSED;
	} else if ((major & GSS_S_CONTINUE_NEEDED) != 0) {
		step = AUTH_STEP_MORE;
	} else if ((flags & GSS_C_ANON_FLAG) != 0) {
		step = refuse(x, "anonymous");
	} else {
		step = finish(x, source, mech);
	}
	gss_release_name(&ignored, &source);
	return step;
}

enum auth_step auth_exchange_step(struct auth_exchange *x, const uint8_t *token, size_t n, struct str *ret_token)
{
	enum auth_step step;

	*ret_token = (struct str){ "", 0 };
	if (++x->legs > LEGS_MAX)
		return refuse(x, "too many legs");
	if (x->legs == 1 && !kind_of(token, n, &x->kind))
		return refuse(x, "not a Kerberos, NTLM or SPNEGO token");
	if (x->gss->creds[x->kind] == GSS_C_NO_CREDENTIAL)
		return refuse(x, "the mechanism is switched off");
	step = accept_token(x, token, n);
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
