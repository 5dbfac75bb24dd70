/* host_int.h — private to host*.c: the functions of the language that only the session can answer, an area a file. */
#ifndef SESSION_HOST_INT_H
#define SESSION_HOST_INT_H

#include "session/session_int.h"

struct host_call {
	struct session *session;
	const struct value *args;
	size_t nargs;
	struct arena *arena;
	struct value *ret;
	struct err *err;
};
/* 1 with *ret filled, -1 with *err filled. */
typedef int host_fn(const struct host_call *c);

/* host_value.c: arguments. 1: given, 0: left out or NULL, -1: it does not convert. */
MUST_CHECK int host_arg_text(const struct host_call *c, size_t i, struct str *ret);
MUST_CHECK int host_arg_int(const struct host_call *c, size_t i, int64_t *ret);
MUST_CHECK int host_arg_bytes(const struct host_call *c, size_t i, struct str *ret);
/* Answers. Each gives 1, or -1 when memory is out. */
int host_null(const struct host_call *c);
int host_int(const struct host_call *c, int64_t i);
int host_name(const struct host_call *c, const char *name); /* a sysname */
int host_variant(const struct host_call *c, struct value inner);

/* host_names.c: databases, schemas, objects. */
host_fn host_db_id, host_db_name, host_schema_id, host_schema_name, host_object_id, host_object_name,
	host_object_schema_name, host_object_property, host_col_name;
/* What a name means here; neither procedure nor view: nothing that this session may see. ret_db: where it is. */
void host_object(const struct host_call *c, struct str name, struct object *ret, struct database **ret_db);
bool host_may_enter(struct session *s, const struct database *db);
bool host_is_schema(struct str name);

/* host_people.c: logins, users, roles. */
host_fn host_suser_id, host_suser_name, host_suser_sid, host_user_id, host_user_name, host_is_member,
	host_is_srvrolemember;

/* host_rights.c: what this session may do. */
host_fn host_has_dbaccess, host_has_perms;

/* host_properties.c */
host_fn host_server_property, host_connection_property, host_database_property_ex, host_database_property,
	host_session_property;

#endif
