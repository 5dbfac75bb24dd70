/* api.c — /api/VIEW (GET) and /api/CHANGE (POST): finds the text, gives it its arguments, has it
 * run with the rights of the login, and answers in JSON. */
#include "http/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"

#define ANSWER_MOST ((size_t)8 << 20)
#define PREFIX "/api/"

struct http_view {
	const char *name, *declarations, *text;
	bool change;
};

static const struct http_view views[] = {
#define VIEW(name, declarations, text) { #name, declarations, text, false },
#define CHANGE(name, declarations, text) { #name, declarations, text, true },
#include "http/api.def"
#undef VIEW
#undef CHANGE
	/* not texts, or not known before: run() */
	{ "overview", NULL, NULL, false },    { "history", NULL, NULL, false },
	{ "occurrences", NULL, NULL, false }, { "classes", NULL, NULL, false },
	{ "content", NULL, NULL, false },     { "kill", NULL, NULL, true },
};

const struct http_view *http_view_find(const char *name, bool change)
{
	for (size_t i = 0; i < ARRAY_LEN(views); i++) {
		if (views[i].change == change && strcmp(views[i].name, name) == 0)
			return &views[i];
	}
	return NULL;
}

/* ---- running ---- */

/* What HTTP calls it; browsers only tell apart whether it went well. */
static unsigned status_of(const struct err *e)
{
	if (e == NULL)
		return MHD_HTTP_OK;
	switch (e->number) {
	case ERR_PERMISSION_NUMBER:
	case ERR_MONITOR_PERMISSION_NUMBER:
	case ERR_NO_ACCESS_NUMBER:
	case ERR_KILL_PERMISSION_NUMBER: return MHD_HTTP_FORBIDDEN;
	case ERR_TIMEOUT_NUMBER: return MHD_HTTP_GATEWAY_TIMEOUT;
	default: return MHD_HTTP_BAD_REQUEST;
	}
}

static unsigned fail(struct buf *b, unsigned status, const char *text)
{
	http_json_error(b, text);
	return status;
}

static unsigned run_text(struct http *h, const struct http_who *who, const struct local_batch *batch,
			 struct buf *b)
{
	const struct local_client client = { .server = h->server,
					     .login = who->login,
					     .address = who->address,
					     .program = "dashboard",
					     .spid = who->spid,
					     .admin = who->admin };
	struct local_answer answer;
	unsigned status;
	struct err e;

	if (local_run(&client, batch, &answer, &e) < 0)
		return fail(b, status_of(&e), e.text);
	status = status_of(answer.error);
	if (answer.error != NULL)
		http_json_error(b, answer.error->text);
	else
		http_json_answer(b, &answer);
	local_answer_fini(&answer);
	return status;
}

/* Who may not enter a database does not learn whether it is there. */
static struct database *database_of(struct http *h, const struct http_who *who, struct str name)
{
	struct database *db = databases_find(h->server->databases, name);

	if (db != NULL && db->service != SERVICE_SYSTEM && !who->admin &&
	    auth_rights(h->server->auth, who->login, db->name) == 0)
		return NULL;
	return db;
}

/* KILL takes a number, not a variable. */
static unsigned run_kill(struct http *h, const struct http_who *who, const struct http_arguments *a,
			 struct buf *b)
{
	struct local_batch batch = { .declarations = "",
				     .database = databases_system(h->server->databases),
				     .timeout_ms = HTTP_API_MS };
	struct str given = http_arguments_text(a, "@session");
	char text[40], number[20];

	str_copy(number, sizeof(number), given);
	if (given.n == 0 || given.n > 6 || strspn(number, "0123456789") != given.n)
		return fail(b, MHD_HTTP_BAD_REQUEST, "The session is a number.");
	snprintf(text, sizeof(text), "KILL %s", number);
	batch.text = text;
	return run_text(h, who, &batch, b);
}

unsigned http_view_run(struct http *h, const struct http_view *v, const struct http_who *who,
		       const struct http_arguments *a, struct buf *b)
{
	struct local_batch batch = { .declarations = v->declarations,
				     .text = v->text,
				     .values = a->values,
				     .nvalues = a->n,
				     .timeout_ms = HTTP_API_MS };

	if (strcmp(v->name, "overview") == 0)
		return http_overview(h, who, b);
	if (strcmp(v->name, "history") == 0)
		return http_history_view(h, who, b);
	if (strcmp(v->name, "occurrences") == 0)
		return http_occurrences(a, b);
	if (strcmp(v->name, "classes") == 0)
		return http_classes(b);
	if (strcmp(v->name, "kill") == 0)
		return run_kill(h, who, a, b);
	batch.database = database_of(h, who, http_arguments_text(a, "@db"));
	if (batch.database == NULL)
		return fail(b, MHD_HTTP_FORBIDDEN, "There is no such database for this login.");
	if (batch.database->engine == NULL)
		return fail(b, MHD_HTTP_SERVICE_UNAVAILABLE, "The database is damaged and not served.");
	if (strcmp(v->name, "content") == 0)
		return http_content(h, who, batch.database, b);
	return run_text(h, who, &batch, b);
}

bool http_api_may_monitor(struct http *h, const struct http_who *who)
{
	const struct local_client client = { .server = h->server,
					     .login = who->login,
					     .address = "",
					     .program = "dashboard",
					     .spid = who->spid,
					     .admin = who->admin };
	const struct local_batch batch = {
		.declarations = "",
		.text = "SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')",
		.database = databases_system(h->server->databases),
		.timeout_ms = HTTP_API_MS
	};
	struct local_answer answer;
	struct err e;
	bool may;

	if (who->admin)
		return true;
	if (local_run(&client, &batch, &answer, &e) < 0)
		return false;
	may = answer.error == NULL && answer.sets != NULL && answer.sets->rows.first != NULL &&
	      !answer.sets->rows.first->values[0].null && answer.sets->rows.first->values[0].u.i == 1;
	local_answer_fini(&answer);
	return may;
}

/* ---- requests ---- */

static enum MHD_Result add_argument(void *arg, enum MHD_ValueKind kind, const char *name, const char *text)
{
	(void)kind;
	return http_arguments_add(arg, name, text == NULL ? "" : text, text == NULL ? 0 : strlen(text))
		       ? MHD_YES
		       : MHD_NO;
}

bool http_api_query(struct http_request *r, struct http_arguments *ret)
{
	int n = MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, NULL, NULL);

	if (n >= 0 &&
	    MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, add_argument, ret) == n &&
	    ret->n == (size_t)n)
		return true;
	http_answer_error(r, MHD_HTTP_BAD_REQUEST, "The query string has too many parts, or no names.");
	return false;
}

static void answer_view(struct http_request *r, const struct http_view *v, const struct http_who *who,
			const struct http_arguments *a)
{
	struct buf b;
	unsigned status;

	buf_init(&b, ANSWER_MOST);
	status = http_view_run(r->http, v, who, a, &b);
	http_answer_buf(r, status, "application/json", &b);
}

void http_api_get(struct http_request *r)
{
	const struct http_view *v = http_view_find(r->path + strlen(PREFIX), false);
	struct http_arguments a = { .n = 0 };
	struct http_who who;

	if (!http_api_who(r, &who))
		return;
	if (v == NULL)
		http_answer_error(r, MHD_HTTP_NOT_FOUND, "There is no such view.");
	else if (http_api_query(r, &a))
		answer_view(r, v, &who, &a);
	http_arguments_fini(&a);
}

void http_api_post(struct http_request *r)
{
	const struct http_view *v = http_view_find(r->path + strlen(PREFIX), true);
	struct http_arguments a = { .n = 0 };
	struct http_who who;

	if (!http_api_who(r, &who) || !http_api_may_change(r, &who))
		return;
	if (v == NULL)
		http_answer_error(r, MHD_HTTP_NOT_FOUND, "There is no such change.");
	else if (http_api_read_body(r, &a))
		answer_view(r, v, &who, &a);
	http_arguments_fini(&a);
}

/* ---- who ---- */

struct databases_told {
	struct http *http;
	const struct http_who *who;
	struct buf *buf;
	bool some;
};

static void tell_database(struct database *db, void *arg)
{
	struct databases_told *t = arg;
	unsigned rights = t->who->admin ? RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN
					: auth_rights(t->http->server->auth, t->who->login, db->name);
	const char *damage = databases_damage(db);

	if (rights == 0 || db->service == SERVICE_SYSTEM)
		return;
	buf_printf(t->buf, "%s{\"name\":", t->some ? "," : "");
	http_json_string(t->buf, str_of(db->name));
	buf_printf(t->buf, ",\"service\":\"%s\",\"select\":%s,\"execute\":%s,\"damage\":",
		   catalogue_service_name(db->service), (rights & RIGHT_SELECT) != 0 ? "true" : "false",
		   (rights & RIGHT_EXECUTE) != 0 ? "true" : "false");
	if (damage == NULL)
		buf_printf(t->buf, "null}");
	else {
		http_json_string(t->buf, str_of(t->who->admin ? damage : "damaged"));
		buf_put_u8(t->buf, '}');
	}
	t->some = true;
}

void http_api_databases(struct http *h, const struct http_who *who, struct buf *b)
{
	struct databases_told t = { h, who, b, false };

	buf_put_u8(b, '[');
	databases_each(h->server->databases, tell_database, &t);
	buf_put_u8(b, ']');
}

void http_api_tell_who(struct http_request *r, const struct http_who *who)
{
	struct buf b;

	buf_init(&b, ANSWER_MOST);
	buf_printf(&b, "{\"login\":");
	http_json_string(&b, str_of(who->login));
	buf_printf(
		&b,
		",\"admin\":%s,\"monitor\":%s,\"session\":%u,\"token\":\"%s\",\"version\":\"%s\",\"server\":",
		who->admin ? "true" : "false", http_api_may_monitor(r->http, who) ? "true" : "false",
		who->spid, who->proof, PROCESSION_VERSION);
	http_json_string(&b, str_of(r->http->server->name));
	buf_printf(&b, ",\"databases\":");
	http_api_databases(r->http, who, &b);
	buf_put_u8(&b, '}');
	http_answer_buf(r, MHD_HTTP_OK, "application/json", &b);
}
