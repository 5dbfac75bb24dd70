/* manylegs.c — a mechanism for the system's GSSAPI that wants as many legs as MANYLEGS says,
 * then is satisfied and calls its client CORP\bob. No mechanism that comes with the system ever
 * wants more than five, so the limit could not be reached with them. Loaded by libgssapi in
 * place of NTLM (GSS_MECH_CONFIG). */
#include <stdlib.h>
#include <string.h>

#include <gssapi/gssapi.h>

static gss_OID_desc ntlm = { 10, "\x2b\x06\x01\x04\x01\x82\x37\x02\x02\x0a" };
static int the_cred, the_name;

struct exchange {
	int legs;
};

static OM_uint32 text(gss_buffer_t out, const char *s)
{
	out->length = strlen(s);
	out->value = strdup(s);
	return out->value == NULL ? GSS_S_FAILURE : GSS_S_COMPLETE;
}

OM_uint32 gss_acquire_cred(OM_uint32 *minor, gss_name_t name, OM_uint32 time, gss_OID_set mechs,
			   gss_cred_usage_t usage, gss_cred_id_t *cred, gss_OID_set *actual,
			   OM_uint32 *time_rec)
{
	(void)name, (void)time, (void)mechs, (void)usage;
	*minor = 0;
	*cred = (gss_cred_id_t)&the_cred;
	if (actual != NULL)
		*actual = GSS_C_NO_OID_SET;
	if (time_rec != NULL)
		*time_rec = GSS_C_INDEFINITE;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_cred(OM_uint32 *minor, gss_cred_id_t *cred)
{
	*minor = 0;
	*cred = GSS_C_NO_CREDENTIAL;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_accept_sec_context(OM_uint32 *minor, gss_ctx_id_t *ctx, gss_cred_id_t cred, gss_buffer_t in,
				 gss_channel_bindings_t bindings, gss_name_t *source, gss_OID *mech,
				 gss_buffer_t out, OM_uint32 *flags, OM_uint32 *time_rec,
				 gss_cred_id_t *delegated)
{
	const char *wanted = getenv("MANYLEGS");
	struct exchange *x = (struct exchange *)*ctx;

	(void)cred, (void)in, (void)bindings;
	*minor = 0;
	if (mech != NULL)
		*mech = &ntlm;
	if (x == NULL)
		x = calloc(1, sizeof(*x));
	if (x == NULL)
		return GSS_S_FAILURE;
	*ctx = (gss_ctx_id_t)x;
	if (flags != NULL)
		*flags = 0;
	if (time_rec != NULL)
		*time_rec = GSS_C_INDEFINITE;
	if (delegated != NULL)
		*delegated = GSS_C_NO_CREDENTIAL;
	if (++x->legs < atoi(wanted != NULL ? wanted : "1000"))
		return text(out, "go on") == GSS_S_COMPLETE ? GSS_S_CONTINUE_NEEDED : GSS_S_FAILURE;
	if (source != NULL)
		*source = (gss_name_t)&the_name;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_delete_sec_context(OM_uint32 *minor, gss_ctx_id_t *ctx, gss_buffer_t out)
{
	*minor = 0;
	if (out != NULL)
		*out = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
	free(*ctx);
	*ctx = GSS_C_NO_CONTEXT;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_display_name(OM_uint32 *minor, gss_name_t name, gss_buffer_t out, gss_OID *type)
{
	(void)name;
	*minor = 0;
	if (type != NULL)
		*type = GSS_C_NO_OID;
	return text(out, "CORP\\bob");
}

OM_uint32 gss_duplicate_name(OM_uint32 *minor, const gss_name_t name, gss_name_t *ret)
{
	*minor = 0;
	*ret = name;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_release_name(OM_uint32 *minor, gss_name_t *name)
{
	*minor = 0;
	*name = GSS_C_NO_NAME;
	return GSS_S_COMPLETE;
}

OM_uint32 gss_display_status(OM_uint32 *minor, OM_uint32 value, int type, gss_OID mech, OM_uint32 *context,
			     gss_buffer_t out)
{
	(void)value, (void)type, (void)mech;
	*minor = 0;
	*context = 0;
	return text(out, "a leg");
}
