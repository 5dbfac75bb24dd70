/* known.c — what the system databases know of a database that is moved: its row in that of this
 * server, and in that of the other engine, with the logins that may use it. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "databases/databases_int.h"
#include "engine/ask.h"

struct engine_database *databases_system_engine(struct databases *d)
{
	return databases_system(d)->engine;
}

int databases_tell_rest(struct databases *d, const struct database_entry *e, const char *rest,
			struct err *reterr)
{
	const struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar(e->db.name) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
		{ .name = STR("@rest"), .value = value_nvarchar(rest) },
		{ .name = STR("@server"), .value = value_nvarchar(d->server) },
	};

	return databases_tell(databases_system_engine(d), "procession_database_rest", args, ARRAY_LEN(args),
			      NULL, reterr);
}

int databases_settings_of(struct databases *d, const struct database_entry *e, struct engine_settings *ret,
			  struct err *reterr)
{
	struct engine_answer a;

	*ret = (struct engine_settings){ .commit_interval_ms = DATABASES_COMMIT_INTERVAL_MS };
	if (engine_ask(databases_system_engine(d), "procession_database_known", NULL, 0, NULL, &a, reterr) <
	    0)
		return -1;
	for (const struct engine_row *row = a.rows.first; row != NULL; row = row->next)
		databases_read_settings(row, e->db.name, ret);
	engine_answer_fini(&a);
	return 0;
}

int databases_tell_place(struct databases *d, struct engine_database *system, const char *of,
			 const struct database_entry *e, const char *engine, const char *place,
			 const char *rest, struct err *reterr)
{
	struct engine_settings s;

	if (databases_settings_of(d, e, &s, reterr) < 0)
		return -1;
	const struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar(e->db.name) },
		{ .name = STR("@service"), .value = value_nvarchar(catalogue_service_name(e->db.service)) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
		{ .name = STR("@engine"), .value = value_nvarchar(strcmp(engine, of) == 0 ? "" : engine) },
		{ .name = STR("@place"), .value = value_nvarchar(place) },
		{ .name = STR("@server"), .value = value_nvarchar(d->server) },
		{ .name = STR("@rest"), .value = value_nvarchar(rest) },
		{ .name = STR("@errata"),
		  .value = value_nvarchar(s.errata_literal ? "literal" : "corrected") },
		{ .name = STR("@commit"), .value = value_nvarchar(s.relaxed ? "relaxed" : "durable") },
		{ .name = STR("@commit_interval"), .value = value_int(TYPE_INT, s.commit_interval_ms) },
		{ .name = STR("@renewal_slack"), .value = value_int(TYPE_INT, s.renewal_slack_s) },
	};

	return databases_tell(system, "procession_database_place", args, ARRAY_LEN(args), NULL, reterr);
}

int databases_known_there(struct engine_database *system, const struct database_entry *e, int *ret,
			  struct err *reterr)
{
	const struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar(e->db.name) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
	};

	return databases_tell(system, "procession_database_stands", args, ARRAY_LEN(args), ret, reterr);
}

const char *databases_which_engine(const struct databases *d, bool other)
{
	return other ? d->other_name : d->engine_name;
}

/* ---- logins: whoever may use it here may use it there ---- */

static int take_login(struct engine_database *there, const struct database_entry *e,
		      const struct engine_row *row, struct databases_move *m, struct err *reterr)
{
	struct argument args[8] = { { .name = STR("@name") },    { .name = STR("@hash") },
				    { .name = STR("@admin") },   { .name = STR("@disabled") },
				    { .name = STR("@default") }, { .name = STR("@sid") },
				    { .name = STR("@rights") },  { .name = STR("@database") } };
	size_t n = m == NULL ? 0 : strlen(m->note);
	int status = 0;

	assert(row->n == 7);
	for (size_t i = 0; i < row->n; i++)
		args[i].value = row->values[i];
	args[7].value = value_nvarchar(e->db.name);
	if (databases_tell(there, "procession_login_take", args, ARRAY_LEN(args), &status, reterr) < 0)
		return -1;
	if (status == 2 && m != NULL && n + 2 < sizeof(m->note))
		snprintf(m->note + n, sizeof(m->note) - n, "%s%.*s",
			 n == 0 ? "logins that are there already, with a password and rights of their own: "
				: ", ",
			 STR_ARG(row->values[0].u.s));
	return 0;
}

static int copy_logins(struct databases *d, struct engine_database *there, const struct database_entry *e,
		       struct databases_move *m, struct err *reterr)
{
	const struct argument args[] = { { .name = STR("@database"), .value = value_nvarchar(e->db.name) } };
	struct engine_answer a;
	int rc = 0;

	if (engine_ask(databases_system_engine(d), "procession_login_those", args, ARRAY_LEN(args), NULL, &a,
		       reterr) < 0)
		return -1;
	for (const struct engine_row *row = a.rows.first; rc == 0 && row != NULL; row = row->next)
		rc = take_login(there, e, row, m, reterr);
	engine_answer_fini(&a);
	return rc;
}

/* The other engine's servers find it there, or learn where it went. One that was never there is
 * none of their business. */
int databases_make_known(struct databases *d, const struct database_entry *e, struct databases_move *m,
			 struct err *reterr)
{
	struct engine_database *there;
	int known = 0;

	if (databases_other_system(d, &there, reterr) < 0 ||
	    databases_known_there(there, e, &known, reterr) < 0)
		return -1;
	if (known == 0 && !e->other)
		return 0;
	if (databases_tell_place(d, there, d->other_name, e, databases_which_engine(d, e->other), e->place,
				 "", reterr) < 0)
		return -1;
	return e->other ? copy_logins(d, there, e, m, reterr) : 0;
}
