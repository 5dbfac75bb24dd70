/* rights.c — HAS_PERMS_BY_NAME and HAS_DBACCESS: what a call would meet. SQL Server's
 * permissions are answered by what stands for them here; those that nobody can use here (INSERT,
 * CREATE TABLE …) nobody has, and what is not a permission at all is NULL. */
#include "metadata/metadata_int.h"

#define NOBODY 0x80u /* no session has this right */

struct permission {
	const char *name;
	uint8_t needs; /* enum call_right; 0: whoever has access */
};

static const struct permission of_server[] = {
	{ "CONNECT SQL", 0 },
	{ "VIEW ANY DATABASE", 0 },
	{ "VIEW ANY DEFINITION", 0 },
	{ "CONTROL SERVER", RIGHT_ADMIN },
	{ "VIEW SERVER STATE", RIGHT_MONITOR },
	{ "ALTER ANY LOGIN", RIGHT_ADMIN },
	{ "ALTER ANY DATABASE", RIGHT_ADMIN },
	{ "CREATE ANY DATABASE", RIGHT_ADMIN },
	{ "CONNECT ANY DATABASE", RIGHT_ADMIN },
	{ "SELECT ALL USER SECURABLES", RIGHT_ADMIN },
	{ "ALTER SERVER STATE", NOBODY },
	{ "ALTER SETTINGS", NOBODY },
	{ "SHUTDOWN", NOBODY },
	{ "ADMINISTER BULK OPERATIONS", NOBODY },
	{ "ALTER ANY CONNECTION", NOBODY },
	{ "ALTER ANY SERVER ROLE", NOBODY },
	{ "ALTER TRACE", NOBODY },
	{ "IMPERSONATE ANY LOGIN", NOBODY },
};
static const struct permission of_database[] = {
	{ "CONNECT", 0 },
	{ "VIEW DEFINITION", 0 },
	{ "EXECUTE", RIGHT_EXECUTE },
	{ "SELECT", RIGHT_SELECT },
	{ "CONTROL", RIGHT_ADMIN },
	{ "ALTER", RIGHT_ADMIN },
	{ "ALTER ANY USER", RIGHT_ADMIN },
	{ "VIEW DATABASE STATE", RIGHT_ADMIN },
	{ "INSERT", NOBODY },
	{ "UPDATE", NOBODY },
	{ "DELETE", NOBODY },
	{ "REFERENCES", NOBODY },
	{ "ALTER ANY SCHEMA", NOBODY },
	{ "ALTER ANY ROLE", NOBODY },
	{ "BACKUP DATABASE", NOBODY },
	{ "BACKUP LOG", NOBODY },
	{ "CHECKPOINT", NOBODY },
	{ "CREATE TABLE", NOBODY },
	{ "CREATE VIEW", NOBODY },
	{ "CREATE PROCEDURE", NOBODY },
	{ "CREATE FUNCTION", NOBODY },
	{ "CREATE TYPE", NOBODY },
	{ "CREATE SCHEMA", NOBODY },
	{ "TAKE OWNERSHIP", NOBODY },
	{ "SHOWPLAN", NOBODY },
};

/* ANY: at least one of them. access: without it there is none. */
static int judge(const struct metadata_call *c, const struct permission *list, size_t n, struct str wanted,
		 uint8_t rights, bool access)
{
	bool any = str_eq_nocase(wanted, STR("ANY")), known = any, granted = false;

	for (size_t i = 0; i < n; i++) {
		if (!any && !str_eq_nocase(wanted, str_of(list[i].name)))
			continue;
		known = true;
		granted = granted || (access && (list[i].needs & ~rights) == 0);
	}
	return known ? metadata_int(c, granted) : metadata_null(c);
}

static int server_permission(const struct metadata_call *c, struct str wanted)
{
	const struct metadata_client *s = c->client;

	return judge(c, of_server, ARRAY_LEN(of_server), wanted,
		     metadata_rights_in(s, databases_system(s->databases)), true);
}

static int database_permission(const struct metadata_call *c, struct database *db, struct str wanted)
{
	const struct metadata_client *s = c->client;

	if (db == NULL)
		return metadata_null(c);
	return judge(c, of_database, ARRAY_LEN(of_database), wanted, metadata_rights_in(s, db),
		     metadata_may_enter(s, db));
}

static bool has_column(const struct view *v, struct str name)
{
	for (size_t i = 0; v != NULL && i < v->ncolumns; i++) {
		if (str_eq_nocase(name, str_of(v->columns[i].name)))
			return true;
	}
	return false;
}

static int object_permission(const struct metadata_call *c, struct str name, struct str wanted)
{
	const struct metadata_client *s = c->client;
	struct database *db;
	struct object o;
	struct str column;
	int rc = metadata_arg_text(c, 3, &column);
	bool system;

	if (rc < 0)
		return -1;
	metadata_object(c, name, &o, &db);
	if ((o.proc == NULL && o.view == NULL) || (rc > 0 && !has_column(o.view, column)))
		return metadata_null(c);
	system = o.proc != NULL ? o.proc->service == SERVICE_SYSTEM
				: catalogue_find_view(SERVICE_SYSTEM, str_of(o.view->schema),
						      str_of(o.view->name)) == o.view;
	const struct permission list[] = {
		{ "EXECUTE", o.proc != NULL ? o.proc->needs : NOBODY },
		{ "SELECT", o.view == NULL ? NOBODY
			    : system       ? 0
					   : RIGHT_SELECT },
		{ "VIEW DEFINITION", 0 },
		{ "CONTROL", RIGHT_ADMIN },
		{ "ALTER", NOBODY },
		{ "INSERT", NOBODY },
		{ "UPDATE", NOBODY },
		{ "DELETE", NOBODY },
		{ "REFERENCES", NOBODY },
		{ "TAKE OWNERSHIP", NOBODY },
		{ "VIEW CHANGE TRACKING", NOBODY },
	};
	return judge(c, list, ARRAY_LEN(list), wanted,
		     metadata_rights_in(s, system ? databases_system(s->databases) : db), true);
}

/* HAS_PERMS_BY_NAME(securable, class, permission [, column, 'COLUMN']) */
int metadata_has_perms(const struct metadata_call *c)
{
	const struct metadata_client *s = c->client;
	struct str name = { "", 0 }, class = { "", 0 }, wanted;
	int has_name = metadata_arg_text(c, 0, &name), has_class = metadata_arg_text(c, 1, &class),
	    has_wanted = metadata_arg_text(c, 2, &wanted);

	if (has_name < 0 || has_class < 0 || has_wanted < 0)
		return -1;
	if (has_wanted == 0)
		return metadata_null(c);
	wanted = str_trim(wanted);
	if ((has_class == 0 && has_name == 0) || str_eq_nocase(class, STR("SERVER")))
		return server_permission(c, wanted);
	if (str_eq_nocase(class, STR("DATABASE")))
		return database_permission(c,
					   has_name == 0 ? s->database
					   : name.n == 0 ? NULL
							 : databases_find(s->databases, name),
					   wanted);
	if (str_eq_nocase(class, STR("SCHEMA")) && has_name > 0 && metadata_is_schema(name))
		return database_permission(c, s->database, wanted);
	if (str_eq_nocase(class, STR("OBJECT")) && has_name > 0)
		return object_permission(c, name, wanted);
	return metadata_null(c);
}

int metadata_has_dbaccess(const struct metadata_call *c)
{
	struct database *db = NULL;
	struct str name;
	int rc = metadata_arg_text(c, 0, &name);

	if (rc < 0)
		return -1;
	if (rc > 0 && name.n > 0)
		db = databases_find(c->client->databases, name);
	return db == NULL ? metadata_null(c)
			  : metadata_int(c, metadata_may_enter(c->client, db) && db->engine != NULL);
}
