/* natives.c — see natives.h. They run on the system executor's writer thread, inside the call's transaction. */
#include "daemon/natives.h"

#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "catalogue/catalogue.h"
#include "catalogue/native.h"

static struct str text_of(const struct native_ctx *ctx, size_t i)
{
	if (i >= ctx->nargs || ctx->args[i].null)
		return (struct str){ "", 0 };
	return ctx->args[i].u.s;
}

static int give_text(struct native_ctx *ctx, size_t i, const char *text, struct err *reterr)
{
	char *copy = arena_strndup(ctx->call->arena, text, strlen(text));

	if (copy == NULL)
		return err_nomem(reterr);
	ctx->results[i] = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), str_of(copy));
	return 0;
}

/* password_hash(@password) INTO @hash */
static int password_hash(struct native_ctx *ctx, struct err *reterr)
{
	char hash[256];

	if (auth_hash_password(text_of(ctx, 0), hash, reterr) < 0)
		return -1;
	return give_text(ctx, 0, hash, reterr);
}

/* database_create(@name, @service, @errata, @id) */
static int database_create(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	enum service service;

	if (!service_by_name(text_of(ctx, 1), &service) || service == SERVICE_SYSTEM)
		return err_set(reterr, ERR_ADMIN, "The service of a database is word, translation, schedule or state.");
	return databases_create(srv->databases, text_of(ctx, 0), service, str_eq_nocase(text_of(ctx, 2), STR("literal")), (int)ctx->args[3].u.i,
				reterr);
}

/* database_check(@name) INTO @report */
static int database_check(struct native_ctx *ctx, struct err *reterr)
{
	struct server *srv = ctx->userdata;
	char *report = NULL;
	int rc = databases_check(srv->databases, text_of(ctx, 0), &report, reterr);

	if (rc == 0 || report != NULL)
		rc = give_text(ctx, 0, report == NULL ? "ok" : report, reterr);
	free(report);
	return rc;
}

void natives_register(struct server *srv)
{
	native_register("password_hash", password_hash, srv);
	native_register("database_create", database_create, srv);
	native_register("database_check", database_check, srv);
}
