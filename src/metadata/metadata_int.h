/* metadata_int.h — private to this folder: a question with its arguments, and the functions that
 * answer, an area a file. */
#ifndef METADATA_METADATA_INT_H
#define METADATA_METADATA_INT_H

#include "base/buf.h"
#include "metadata/metadata.h"

struct metadata_call {
	const struct metadata_client *client;
	const struct value *args;
	size_t nargs;
	struct arena *arena;
	struct value *ret;
	struct err *err;
};
/* 1 with *ret filled, -1 with *err filled. */
typedef int metadata_fn(const struct metadata_call *c);

/* value.c: arguments. 1: given, 0: left out or NULL, -1: it does not convert. */
MUST_CHECK int metadata_arg_text(const struct metadata_call *c, size_t i, struct str *ret);
MUST_CHECK int metadata_arg_int(const struct metadata_call *c, size_t i, int64_t *ret);
MUST_CHECK int metadata_arg_bytes(const struct metadata_call *c, size_t i, struct str *ret);
/* Answers. Each gives 1, or -1 when memory is out. */
int metadata_null(const struct metadata_call *c);
int metadata_int(const struct metadata_call *c, int64_t i);
int metadata_name(const struct metadata_call *c, const char *name); /* a sysname */
int metadata_variant(const struct metadata_call *c, struct value inner);

/* names.c: databases, schemas, objects. */
metadata_fn metadata_db_id, metadata_db_name, metadata_schema_id, metadata_schema_name, metadata_object_id,
	metadata_object_name, metadata_object_schema_name, metadata_object_definition,
	metadata_object_property, metadata_object_property_ex;
/* What a name means here; neither procedure nor view: nothing that the client may see. ret_db:
 * where it is. */
void metadata_object(const struct metadata_call *c, struct str name, struct object *ret,
		     struct database **ret_db);
/* The object whose number is the first argument, in the database of another one. 1: it is there. */
MUST_CHECK int metadata_numbered(const struct metadata_call *c, size_t database_arg, struct object *ret);
bool metadata_may_enter(const struct metadata_client *s, const struct database *db);
bool metadata_is_schema(struct str name);

/* columns.c: columns and parameters of objects, types; what there is nothing of. */
metadata_fn metadata_col_name, metadata_col_length, metadata_column_property, metadata_type_id,
	metadata_type_name, metadata_type_property, metadata_no_index, metadata_no_full_text,
	metadata_filegroup_name;

/* people.c: logins, users, roles. */
metadata_fn metadata_suser_id, metadata_suser_name, metadata_suser_sid, metadata_user_id, metadata_user_name,
	metadata_is_member, metadata_is_srvrolemember, metadata_login_property;

/* rights.c: what the client may do. */
metadata_fn metadata_has_dbaccess, metadata_has_perms;

/* rows.c, numbers.c: a text as JSON; the rows of views over numbers, an array that is not closed
 * yet. */
void metadata_put_text(struct buf *b, const char *s);
MUST_CHECK int metadata_put_numbers(const struct metadata_client *client, struct buf *b, struct err *reterr);
MUST_CHECK int metadata_put_procedures(const struct metadata_client *client, struct buf *b,
				       struct err *reterr);

/* properties.c */
metadata_fn metadata_server_property, metadata_connection_property, metadata_database_property_ex,
	metadata_database_property, metadata_session_property, metadata_collation_property;

#endif
