/* names.c — DB_ID, OBJECT_ID, SCHEMA_ID and their kin: names and numbers as the catalogue
 * views show them. */
#include "metadata/metadata_int.h"

#include <assert.h>

bool metadata_may_enter(const struct metadata_client *s, const struct database *db)
{
	return db->service == SERVICE_SYSTEM || metadata_rights_in(s, db) != 0;
}

/* ---- databases: everybody may see which there are ---- */

int metadata_db_id(const struct metadata_call *c)
{
	struct database *db = c->client->database;
	struct str name;
	int rc = metadata_arg_text(c, 0, &name);

	if (rc < 0)
		return -1;
	if (c->nargs > 0)
		db = rc == 0 || name.n == 0 ? NULL : databases_find(c->client->databases, name);
	return db == NULL ? metadata_null(c) : metadata_int(c, atomic_load(&db->id));
}

int metadata_db_name(const struct metadata_call *c)
{
	struct database *db = c->client->database;
	int64_t id;
	int rc = metadata_arg_int(c, 0, &id);

	if (rc < 0)
		return -1;
	if (c->nargs > 0)
		db = rc == 0 ? NULL : databases_by_id(c->client->databases, id);
	return db == NULL ? metadata_null(c) : metadata_name(c, db->name);
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

bool metadata_is_schema(struct str name)
{
	return schema_number(name) != 0;
}

int metadata_schema_id(const struct metadata_call *c)
{
	struct str name = STR("dbo");
	int rc = metadata_arg_text(c, 0, &name);
	int64_t id = schema_number(name);

	if (rc < 0)
		return -1;
	return id == 0 || (rc == 0 && c->nargs > 0) ? metadata_null(c) : metadata_int(c, id);
}

int metadata_schema_name(const struct metadata_call *c)
{
	int64_t id = 1;
	int rc = metadata_arg_int(c, 0, &id);

	if (rc < 0)
		return -1;
	if ((rc == 0 && c->nargs > 0) || id < 1 || id >= (int64_t)ARRAY_LEN(schemas))
		return metadata_null(c);
	return metadata_name(c, schemas[id]);
}

/* ---- objects ---- */

/* What a database does not let in is asked about in vain: its objects look as if they did not
 * exist. */
void metadata_object(const struct metadata_call *c, struct str name, struct object *ret,
		     struct database **ret_db)
{
	struct database *db = c->client->database;
	struct proc_name parts;
	struct err ignored;

	*ret = (struct object){ 0 };
	*ret_db = db;
	if (catalogue_name_parse(name, c->arena, &parts, &ignored) < 0)
		return;
	if (parts.database.n > 0)
		db = databases_find(c->client->databases, parts.database);
	if (db == NULL || !metadata_may_enter(c->client, db))
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

int metadata_object_id(const struct metadata_call *c)
{
	struct str name, kind = { "", 0 };
	struct database *db;
	struct object o;
	int rc = metadata_arg_text(c, 0, &name), rc_kind = metadata_arg_text(c, 1, &kind);

	if (rc < 0 || rc_kind < 0)
		return -1;
	if (rc == 0)
		return metadata_null(c);
	metadata_object(c, name, &o, &db);
	if ((o.proc == NULL && o.view == NULL) || (c->nargs > 1 && (rc_kind == 0 || !kind_fits(&o, kind))))
		return metadata_null(c);
	return metadata_int(c, o.proc != NULL ? o.proc->object_id : o.view->object_id);
}

int metadata_numbered(const struct metadata_call *c, size_t database_arg, struct object *ret)
{
	struct database *db = c->client->database;
	int64_t id, db_id;
	int rc = metadata_arg_int(c, 0, &id), rc_db = metadata_arg_int(c, database_arg, &db_id);

	if (rc < 0 || rc_db < 0)
		return -1;
	if (database_arg < c->nargs)
		db = rc_db == 0 ? NULL : databases_by_id(c->client->databases, db_id);
	if (rc == 0 || id != (int32_t)id || db == NULL || !metadata_may_enter(c->client, db))
		return 0;
	*ret = catalogue_object(db->service, (int32_t)id);
	assert(ret->proc == NULL || ret->view == NULL);
	return ret->proc != NULL || ret->view != NULL;
}

int metadata_object_name(const struct metadata_call *c)
{
	struct object o;
	int rc = metadata_numbered(c, 1, &o);

	return rc < 0 ? -1 : rc == 0 ? metadata_null(c) : metadata_name(c, catalogue_object_name(&o));
}

int metadata_object_schema_name(const struct metadata_call *c)
{
	struct object o;
	int rc = metadata_numbered(c, 1, &o);

	return rc < 0 ? -1 : rc == 0 ? metadata_null(c) : metadata_name(c, catalogue_object_schema(&o));
}

int metadata_object_definition(const struct metadata_call *c)
{
	struct object o;
	int rc = metadata_numbered(c, c->nargs, &o);

	if (rc <= 0)
		return rc < 0 ? -1 : metadata_null(c);
	/* generated texts: they outlive every call */
	*c->ret = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX),
			     str_of(o.proc != NULL ? o.proc->source : o.view->definition));
	return 1;
}

int metadata_object_property(const struct metadata_call *c)
{
	struct object o;
	struct str name;
	int rc = metadata_numbered(c, c->nargs, &o), rc_name = metadata_arg_text(c, 1, &name);

	if (rc < 0 || rc_name < 0)
		return -1;
	if (rc == 0 || rc_name == 0)
		return metadata_null(c);
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
		{ "IsMSShipped", str_eq(str_of(catalogue_object_schema(&o)), STR("sys")) },
		{ "ExecIsQuotedIdentOn", true },
		{ "ExecIsAnsiNullsOn", true },
	};
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (str_eq_nocase(name, str_of(list[i].name)))
			return metadata_int(c, list[i].is);
	}
	return metadata_null(c);
}

/* The same as sql_variant; and the kind of the object, which is a text. */
int metadata_object_property_ex(const struct metadata_call *c)
{
	struct object o;
	struct str name;
	int rc = metadata_numbered(c, c->nargs, &o), rc_name = metadata_arg_text(c, 1, &name);

	if (rc < 0 || rc_name < 0)
		return -1;
	if (rc > 0 && rc_name > 0 && str_eq_nocase(name, STR("BaseType")))
		return metadata_variant(c, value_nvarchar(o.proc != NULL ? "P" : "V"));
	rc = metadata_object_property(c);
	return rc < 0 || c->ret->null ? rc : metadata_variant(c, *c->ret);
}
