/* columns.c — columns of views, parameters of procedures, data types: COLUMNPROPERTY, COL_LENGTH,
 * TYPE_ID and their kin; and the functions that ask for what there is none of. */
#include "metadata/metadata_int.h"

#include <string.h>

/* ---- columns and parameters ---- */

struct described {
	const char *name;
	struct type type;
	bool nullable, output, parameter;
	int64_t number; /* from 1 */
};

/* The column or parameter of this name; false: there is none. */
static bool describe(const struct object *o, struct str name, struct described *ret)
{
	for (int i = 0; o->view != NULL && i < o->view->ncolumns; i++) {
		const struct column *c = &o->view->columns[i];

		*ret = (struct described){ c->name, c->type, c->nullable, false, false, i + 1 };
		if (str_eq_nocase(name, str_of(c->name)))
			return true;
	}
	for (int i = 0; o->proc != NULL && i < o->proc->nparams; i++) {
		const struct param *p = &o->proc->params[i];

		*ret = (struct described){ p->name, p->type, true, p->output, true, i + 1 };
		if (str_eq_nocase(name, str_of(p->name)))
			return true;
	}
	return false;
}

int metadata_col_name(const struct metadata_call *c)
{
	struct object o;
	int64_t number;
	int rc = metadata_numbered(c, c->nargs, &o), rc_number = metadata_arg_int(c, 1, &number);

	if (rc < 0 || rc_number < 0)
		return -1;
	if (rc == 0 || rc_number == 0 || o.view == NULL || number < 1 || number > o.view->ncolumns)
		return metadata_null(c);
	return metadata_name(c, o.view->columns[number - 1].name);
}

/* COL_LENGTH(name of the view, name of the column) */
int metadata_col_length(const struct metadata_call *c)
{
	struct str object, column;
	struct described d;
	struct database *db;
	struct object o;
	int rc = metadata_arg_text(c, 0, &object), rc_column = metadata_arg_text(c, 1, &column);

	if (rc < 0 || rc_column < 0)
		return -1;
	if (rc == 0 || rc_column == 0)
		return metadata_null(c);
	metadata_object(c, object, &o, &db);
	if (o.view == NULL || !describe(&o, column, &d))
		return metadata_null(c);
	return metadata_int(c, type_max_bytes(&d.type));
}

static int64_t characters_of(const struct type *t)
{
	const struct type_info *info = type_info(t->id);

	return info->is_text || info->is_binary ? t->length : 0;
}

static int precision_of(const struct type *t)
{
	switch (t->id) {
	case TYPE_BIT: return 1;
	case TYPE_TINYINT: return 3;
	case TYPE_SMALLINT: return 5;
	case TYPE_INT: return 10;
	case TYPE_BIGINT: return 19;
	case TYPE_REAL: return 24;
	case TYPE_FLOAT: return 53;
	case TYPE_DATETIME: return 23;
	case TYPE_GUID: return 36;
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return t->precision;
	default: return (int)characters_of(t);
	}
}

static int property_of(const struct metadata_call *c, const struct described *d, struct str name)
{
	const struct {
		const char *name;
		int64_t value;
	} list[] = {
		{ "AllowsNull", d->nullable },
		{ "ColumnId", d->number },
		{ "CharMaxLen", characters_of(&d->type) },
		{ "Precision", precision_of(&d->type) },
		{ "Scale", d->type.scale },
		{ "IsOutParam", d->output },
		{ "UsesAnsiTrim", 1 },
		{ "IsComputed", 0 },
		{ "IsIdentity", 0 },
		{ "IsIdNotForRepl", 0 },
		{ "IsRowGuidCol", 0 },
		{ "IsSparse", 0 },
		{ "IsColumnSet", 0 },
		{ "IsHidden", 0 },
		{ "IsFulltextIndexed", 0 },
		{ "StatisticalSemantics", 0 },
		{ "IsIndexable", 0 },
		{ "GeneratedAlwaysType", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		if (str_eq_nocase(name, str_of(list[i].name)))
			return metadata_int(c, list[i].value);
	}
	return metadata_null(c);
}

/* COLUMNPROPERTY(number of the object, column or parameter, property) */
int metadata_column_property(const struct metadata_call *c)
{
	struct str column, name;
	struct described d;
	struct object o;
	int rc = metadata_numbered(c, c->nargs, &o), rc_column = metadata_arg_text(c, 1, &column),
	    rc_name = metadata_arg_text(c, 2, &name);

	if (rc < 0 || rc_column < 0 || rc_name < 0)
		return -1;
	if (rc == 0 || rc_column == 0 || rc_name == 0 || !describe(&o, column, &d))
		return metadata_null(c);
	return property_of(c, &d, name);
}

/* ---- types ---- */

/* user_type_id of sys.types: that of the system's types but for sysname. */
#define SYSNAME_ID 256

int metadata_type_id(const struct metadata_call *c)
{
	struct str name;
	struct type t;
	int rc = metadata_arg_text(c, 0, &name);

	if (rc < 0)
		return -1;
	if (rc > 0 && str_eq_nocase(name, STR("sysname")))
		return metadata_int(c, SYSNAME_ID);
	if (rc == 0 || !type_by_name(name, &t))
		return metadata_null(c);
	return metadata_int(c, type_info(t.id)->system_type_id);
}

int metadata_type_name(const struct metadata_call *c)
{
	int64_t id;
	int rc = metadata_arg_int(c, 0, &id);

	if (rc < 0)
		return -1;
	if (rc > 0 && id == SYSNAME_ID)
		return metadata_name(c, "sysname");
	for (int t = TYPE_NULL + 1; rc > 0 && t < TYPE_COUNT; t++) {
		if (type_info((enum type_id)t)->system_type_id == id)
			return metadata_name(c, type_info((enum type_id)t)->name);
	}
	return metadata_null(c);
}

/* TYPEPROPERTY(type, property) */
int metadata_type_property(const struct metadata_call *c)
{
	struct str name, property;
	struct type t;
	int rc = metadata_arg_text(c, 0, &name), rc_property = metadata_arg_text(c, 1, &property);

	if (rc < 0 || rc_property < 0)
		return -1;
	if (rc == 0 || rc_property == 0 || !type_by_name(name, &t))
		return metadata_null(c);
	if (str_eq_nocase(property, STR("AllowsNull")))
		return metadata_int(c, 1);
	if (str_eq_nocase(property, STR("Precision")))
		return metadata_int(c, precision_of(&t));
	if (str_eq_nocase(property, STR("Scale")) && type_info(t.id)->has_scale)
		return metadata_int(c, t.scale);
	return metadata_null(c);
}

/* ---- what there is none of ---- */

/* INDEXPROPERTY and its kin: there is no index that a client could name. */
int metadata_no_index(const struct metadata_call *c)
{
	return metadata_null(c);
}

int metadata_no_full_text(const struct metadata_call *c)
{
	return metadata_int(c, 0);
}

int metadata_filegroup_name(const struct metadata_call *c)
{
	int64_t id;
	int rc = metadata_arg_int(c, 0, &id);

	return rc < 0 ? -1 : rc == 0 || id != 1 ? metadata_null(c) : metadata_name(c, "PRIMARY");
}
