/* host_names.c — DB_ID, OBJECT_ID, SCHEMA_ID and their kin: names and numbers as the catalogue views show them. */
#include "session/host_int.h"

bool host_may_enter(struct session *s, const struct database *db)
{
	return db->service == SERVICE_SYSTEM || session_rights(s, db) != 0;
}

/* ---- databases: everybody may see which there are ---- */

int host_db_id(const struct host_call *c)
{
	struct database *db = c->session->database;
	struct str name;
	int rc = host_arg_text(c, 0, &name);

	if (rc < 0)
		return -1;
	if (c->nargs > 0)
		db = rc == 0 || name.n == 0 ? NULL : databases_find(c->session->server->databases, name);
	return db == NULL ? host_null(c) : host_int(c, atomic_load(&db->id));
}

int host_db_name(const struct host_call *c)
{
	struct database *db = c->session->database;
	int64_t id;
	int rc = host_arg_int(c, 0, &id);

	if (rc < 0)
		return -1;
	if (c->nargs > 0)
		db = rc == 0 ? NULL : databases_by_id(c->session->server->databases, id);
	return db == NULL ? host_null(c) : host_name(c, db->name);
}

/* ---- schemas, as sys.schemas numbers them ---- */

static const char *const schemas[] = { NULL, "dbo", "guest", "INFORMATION_SCHEMA", "sys" };

static int64_t schema_number(struct str name)
{
	for (size_t i = 1; i < ARRAY_LEN(schemas); i++) {
		if (str_eq_nocase(name, str_of(schemas[i])))
			return (int64_t)i;
	}
	return 0;
}

bool host_is_schema(struct str name)
{
	return schema_number(name) != 0;
}

int host_schema_id(const struct host_call *c)
{
	struct str name = STR("dbo");
	int rc = host_arg_text(c, 0, &name);
	int64_t id = schema_number(name);

	if (rc < 0)
		return -1;
	return id == 0 || (rc == 0 && c->nargs > 0) ? host_null(c) : host_int(c, id);
}

int host_schema_name(const struct host_call *c)
{
	int64_t id = 1;
	int rc = host_arg_int(c, 0, &id);

	if (rc < 0)
		return -1;
	if ((rc == 0 && c->nargs > 0) || id < 1 || id >= (int64_t)ARRAY_LEN(schemas))
		return host_null(c);
	return host_name(c, schemas[id]);
}

/* ---- objects ---- */

/* What a database does not let in is asked about in vain: its objects look as if they did not exist. */
void host_object(const struct host_call *c, struct str name, struct object *ret, struct database **ret_db)
{
	struct database *db = c->session->database;
	struct proc_name parts;
	struct err ignored;

	*ret = (struct object){ 0 };
	*ret_db = db;
	if (proc_name_parse(name, c->arena, &parts, &ignored) < 0)
		return;
	if (parts.database.n > 0)
		db = databases_find(c->session->server->databases, parts.database);
	if (db == NULL || !host_may_enter(c->session, db))
		return;
	*ret_db = db;
	ret->proc = catalogue_find(db->service, parts.schema, parts.name);
	if (ret->proc != NULL && ret->proc->object_id == 0)
		ret->proc = NULL;
	if (ret->proc == NULL)
		ret->view = catalogue_find_view(db->service, parts.schema, parts.name);
}

/* The second argument: P and V are all that exists here. */
static bool kind_fits(const struct object *o, struct str kind)
{
	kind = str_trim(kind);
	return o->proc != NULL ? str_eq_nocase(kind, STR("P")) : str_eq_nocase(kind, STR("V"));
}

int host_object_id(const struct host_call *c)
{
	struct str name, kind = { "", 0 };
	struct database *db;
	struct object o;
	int rc = host_arg_text(c, 0, &name), rc_kind = host_arg_text(c, 1, &kind);

	if (rc < 0 || rc_kind < 0)
		return -1;
	if (rc == 0)
		return host_null(c);
	host_object(c, name, &o, &db);
	if ((o.proc == NULL && o.view == NULL) || (c->nargs > 1 && (rc_kind == 0 || !kind_fits(&o, kind))))
		return host_null(c);
	return host_int(c, o.proc != NULL ? o.proc->object_id : o.view->object_id);
}

/* The object of the first argument in the database of another one; 1: it is there. */
static int numbered(const struct host_call *c, size_t database_arg, struct object *ret)
{
	struct database *db = c->session->database;
	int64_t id, db_id;
	int rc = host_arg_int(c, 0, &id), rc_db = host_arg_int(c, database_arg, &db_id);

	if (rc < 0 || rc_db < 0)
		return -1;
	if (database_arg < c->nargs)
		db = rc_db == 0 ? NULL : databases_by_id(c->session->server->databases, db_id);
	if (rc == 0 || id != (int32_t)id || db == NULL || !host_may_enter(c->session, db))
		return 0;
	*ret = catalogue_object(db->service, (int32_t)id);
	return ret->proc != NULL || ret->view != NULL;
}

int host_object_name(const struct host_call *c)
{
	struct object o;
	int rc = numbered(c, 1, &o);

	return rc < 0 ? -1 : rc == 0 ? host_null(c) : host_name(c, object_name(&o));
}

int host_object_schema_name(const struct host_call *c)
{
	struct object o;
	int rc = numbered(c, 1, &o);

	return rc < 0 ? -1 : rc == 0 ? host_null(c) : host_name(c, object_schema(&o));
}

int host_object_property(const struct host_call *c)
{
	struct object o;
	struct str name;
	int rc = numbered(c, c->nargs, &o), rc_name = host_arg_text(c, 1, &name);

	if (rc < 0 || rc_name < 0)
		return -1;
	if (rc == 0 || rc_name == 0)
		return host_null(c);
	const struct {
		const char *name;
		bool is;
	} list[] = {
		{ "IsProcedure", o.proc != NULL },
		{ "IsView", o.view != NULL },
		{ "IsTable", false },
		{ "IsUserTable", false },
		{ "IsSystemTable", false },
		{ "IsScalarFunction", false },
		{ "IsTableFunction", false },
		{ "IsTrigger", false },
		{ "IsEncrypted", false },
		{ "IsSchemaBound", false },
		{ "IsMSShipped", str_eq(str_of(object_schema(&o)), STR("sys")) },
		{ "ExecIsQuotedIdentOn", true },
		{ "ExecIsAnsiNullsOn", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (str_eq_nocase(name, str_of(list[i].name)))
			return host_int(c, list[i].is);
	}
	return host_null(c);
}

int host_col_name(const struct host_call *c)
{
	struct object o;
	int64_t number;
	int rc = numbered(c, c->nargs, &o), rc_number = host_arg_int(c, 1, &number);

	if (rc < 0 || rc_number < 0)
		return -1;
	if (rc == 0 || rc_number == 0 || o.view == NULL || number < 1 || number > o.view->ncolumns)
		return host_null(c);
	return host_name(c, o.view->columns[number - 1].name);
}
