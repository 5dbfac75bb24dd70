/* audit.c — see audit.h. Of the arguments only those are written that are known to be no secret. */
#include "session/audit.h"

#include <stdio.h>

#include "call/call.h"
#include "catalogue/catalogue.h"

#define ARGUMENTS_MOST 600

static bool is_harmless(const char *name)
{
	static const char *const names[] = { "@name",      "@login",
					     "@database",  "@rights",
					     "@service",   "@errata",
					     "@commit",    "@commit_interval",
					     "@admin",     "@disabled",
					     "@windows",   "@enabled",
					     "@principal", "@default_database",
					     "@force",     "@renewal_slack",
					     "@to" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq_nocase(str_of(names[i]), str_of(name)))
			return true;
	}
	return false;
}

static void put_argument(const struct param *p, const struct value *v, char *dst, size_t size)
{
	const struct type_info *t = type_info(v->type.id);
	size_t n = strlen(dst);

	if (v->null || p->output || !is_harmless(p->name))
		return;
	if (t->is_text)
		snprintf(dst + n, size - n, "%s%s=%.*s", n > 0 ? " " : "", p->name, STR_ARG(v->u.s));
	else if (t->is_integer)
		snprintf(dst + n, size - n, "%s%s=%lld", n > 0 ? " " : "", p->name, (long long)v->u.i);
}

void session_audit_call(struct server *srv, const struct log_ctx *who, const struct call *c, bool open)
{
	char arguments[ARGUMENTS_MOST] = "";

	if (c->proc->service != SERVICE_SYSTEM || c->proc->read_only)
		return;
	auth_reload(srv->auth);
	for (unsigned i = 0; i < c->proc->nparams; i++)
		put_argument(&c->proc->params[i], &c->values[i], arguments, sizeof(arguments));
	LOG(LOG_INFO, who, "audit", F_STR("action", c->proc->name), F_STR("arguments", arguments),
	    F_STR("transaction", open ? "open" : NULL));
}

void session_audit_kill(const struct log_ctx *who, int64_t spid)
{
	LOG(LOG_INFO, who, "audit", F_STR("action", "KILL"), F_INT("killed", spid));
}
