/* people.c — logins, users of a database, and the roles they are in. A login that has a
 * right in a database is a user of the same name and number there; administrators are dbo,
 * everybody else is guest. Who is not an administrator sees himself and the fixed names: the
 * logins of others are not his business. */
#include "metadata/metadata_int.h"

/* Fixed principals of every database with SQL Server's numbers. */
static const struct {
	const char *name;
	int32_t id;
	bool role;
} fixed[] = {
	{ "public", 0, true },
	{ "dbo", 1, false },
	{ "guest", 2, false },
	{ "INFORMATION_SCHEMA", 3, false },
	{ "sys", 4, false },
	{ "db_owner", 16384, true },
	{ "db_accessadmin", 16385, true },
	{ "db_securityadmin", 16386, true },
	{ "db_ddladmin", 16387, true },
	{ "db_backupoperator", 16389, true },
	{ "db_datareader", 16390, true },
	{ "db_datawriter", 16391, true },
	{ "db_denydatareader", 16392, true },
	{ "db_denydatawriter", 16393, true },
};

static const char *const server_roles[] = {
	"sysadmin",     "serveradmin", "securityadmin", "setupadmin",
	"processadmin", "diskadmin",   "dbcreator",     "bulkadmin",
};

static bool is_self(const struct metadata_client *s, const struct auth_identity *who)
{
	return str_eq_nocase(str_of(s->login), str_of(who->name));
}

/* 1: there is such a login and the session may know of it. */
static int find_login(const struct metadata_call *c, const struct auth_question *q, struct auth_identity *ret)
{
	int rc = auth_identify(c->client->auth, q, ret);

	if (rc < 0)
		return err_set(c->err, ERR_STORE, "master", "the logins cannot be read");
	return rc > 0 && (c->client->admin || is_self(c->client, ret) || ret->id == 1);
}

static int find_self(const struct metadata_call *c, struct auth_identity *ret)
{
	const struct auth_question q = { .name = str_of(c->client->login) };

	return find_login(c, &q, ret);
}

/* The login of the first argument by name, or the session's own. */
static int named_login(const struct metadata_call *c, struct auth_identity *ret)
{
	struct auth_question q = { .name = str_of(c->client->login) };
	int rc = metadata_arg_text(c, 0, &q.name);

	if (rc < 0 || (rc == 0 && c->nargs > 0) || q.name.n == 0)
		return rc < 0 ? -1 : 0;
	return find_login(c, &q, ret);
}

int metadata_suser_id(const struct metadata_call *c)
{
	struct auth_identity who;
	int rc = named_login(c, &who);

	return rc < 0 ? -1 : rc == 0 ? metadata_null(c) : metadata_int(c, who.id);
}

int metadata_suser_sid(const struct metadata_call *c)
{
	struct auth_identity who;
	int rc = named_login(c, &who);
	char *copy;

	if (rc <= 0)
		return rc < 0 ? -1 : metadata_null(c);
	copy = arena_strndup(c->arena, (const char *)who.sid, who.sid_len);
	if (copy == NULL)
		return err_nomem(c->err);
	*c->ret = value_bytes(TYPE_LEN(TYPE_VARBINARY, 85), (const uint8_t *)copy, who.sid_len);
	return 1;
}

/* SUSER_NAME(number) and SUSER_SNAME(sid); which it is tells the argument's type. */
int metadata_suser_name(const struct metadata_call *c)
{
	struct auth_question q = { .id = 0 };
	struct auth_identity who;
	int rc;

	if (c->nargs == 0)
		return metadata_name(c, c->client->login);
	if (type_info(c->args[0].type.id)->is_binary)
		rc = metadata_arg_bytes(c, 0, &q.sid);
	else
		rc = metadata_arg_int(c, 0, &q.id);
	if (rc > 0)
		rc = find_login(c, &q, &who);
	return rc < 0 ? -1 : rc == 0 ? metadata_null(c) : metadata_name(c, who.name);
}

/* ---- users of the current database ---- */

static bool is_user(const struct metadata_client *s, const struct auth_identity *who)
{
	return !who->admin && auth_rights(s->auth, who->name, s->database->name) != 0;
}

/* What the session is here: dbo (1), guest (2) or itself (0). */
static int own_kind(const struct metadata_client *s)
{
	return s->admin ? 1 : metadata_rights_in(s, s->database) == 0 ? 2 : 0;
}

int metadata_user_id(const struct metadata_call *c)
{
	struct auth_identity who;
	struct auth_question q;
	int rc = metadata_arg_text(c, 0, &q.name), kind = own_kind(c->client);

	if (rc < 0)
		return -1;
	if (c->nargs == 0) {
		rc = kind > 0 ? 1 : find_self(c, &who);
		return rc < 0 ? -1 : rc == 0 ? metadata_null(c) : metadata_int(c, kind > 0 ? kind : who.id);
	}
	for (size_t i = 0; rc > 0 && i < ARRAY_LEN(fixed); i++) {
		if (str_eq_nocase(q.name, str_of(fixed[i].name)))
			return metadata_int(c, fixed[i].id);
	}
	q = (struct auth_question){ .name = q.name };
	if (rc > 0 && q.name.n > 0)
		rc = find_login(c, &q, &who);
	return rc < 0                                 ? -1
	       : rc == 0 || !is_user(c->client, &who) ? metadata_null(c)
						      : metadata_int(c, who.id);
}

int metadata_user_name(const struct metadata_call *c)
{
	int kind = own_kind(c->client), rc;
	struct auth_question q = { .id = 0 };
	struct auth_identity who;

	if (c->nargs == 0)
		return metadata_name(c, kind == 1 ? "dbo" : kind == 2 ? "guest" : c->client->login);
	rc = metadata_arg_int(c, 0, &q.id);
	for (size_t i = 0; rc > 0 && i < ARRAY_LEN(fixed); i++) {
		if (q.id == fixed[i].id)
			return metadata_name(c, fixed[i].name);
	}
	if (rc > 0)
		rc = find_login(c, &q, &who);
	return rc < 0                                 ? -1
	       : rc == 0 || !is_user(c->client, &who) ? metadata_null(c)
						      : metadata_name(c, who.name);
}

/* ---- roles ---- */

static bool is_database_role(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		if (fixed[i].role && str_eq_nocase(name, str_of(fixed[i].name)))
			return true;
	}
	return false;
}

static bool is_server_role(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(server_roles); i++) {
		if (str_eq_nocase(name, str_of(server_roles[i])))
			return true;
	}
	return str_eq_nocase(name, STR("public"));
}

/* Of the second argument, or the session's own: whether it is an administrator, and its rights
 * here. 0: nobody we may speak of. */
static int find_member(const struct metadata_call *c, bool *ret_admin, uint8_t *ret_rights)
{
	const struct metadata_client *s = c->client;
	struct auth_identity who;
	struct auth_question q;
	int rc;

	*ret_admin = s->admin;
	*ret_rights = metadata_rights_in(s, s->database);
	if (c->nargs < 2)
		return 1;
	q = (struct auth_question){ .id = 0 };
	rc = metadata_arg_text(c, 1, &q.name);
	if (rc <= 0 || q.name.n == 0)
		return rc < 0 ? -1 : 0;
	rc = find_login(c, &q, &who);
	if (rc <= 0 || (!s->admin && !is_self(s, &who)))
		return rc < 0 ? -1 : 0;
	*ret_admin = who.admin;
	*ret_rights = auth_rights(s->auth, who.name, s->database->name);
	return 1;
}

/* The role that is asked for, and who is asked about. 0: there is no such role or login, or none of
 * the caller's business. */
static int role_and_member(const struct metadata_call *c, struct str *ret_role, bool *ret_admin,
			   uint8_t *ret_rights)
{
	int rc = metadata_arg_text(c, 0, ret_role);

	return rc <= 0 ? rc : find_member(c, ret_admin, ret_rights);
}

/* IS_MEMBER(role), IS_ROLEMEMBER(role [, user]). dbo is in db_owner and in no other role, as in
 * SQL Server; the right to read is db_datareader. */
int metadata_is_member(const struct metadata_call *c)
{
	struct str role;
	uint8_t rights;
	bool admin;
	int rc = role_and_member(c, &role, &admin, &rights);

	if (rc < 0)
		return -1;
	if (rc == 0 || !is_database_role(role) || (c->nargs > 1 && rights == 0))
		return metadata_null(c);
	if (str_eq_nocase(role, STR("db_owner")))
		return metadata_int(c, admin);
	if (str_eq_nocase(role, STR("db_datareader")))
		return metadata_int(c, !admin && (rights & RIGHT_SELECT) != 0);
	return metadata_int(c, str_eq_nocase(role, STR("public")));
}

/* Administrators are sysadmin, who have the powers of all other roles. */
int metadata_is_srvrolemember(const struct metadata_call *c)
{
	struct str role;
	uint8_t rights;
	bool admin;
	int rc = role_and_member(c, &role, &admin, &rights);

	if (rc < 0)
		return -1;
	if (rc == 0 || !is_server_role(role))
		return metadata_null(c);
	return metadata_int(c, admin || str_eq_nocase(role, STR("public")));
}

/* LOGINPROPERTY(login, property): passwords do not expire here, and no login is locked; who fails
 * too often waits. */
int metadata_login_property(const struct metadata_call *c)
{
	static const char *const no[] = { "IsLocked", "IsExpired", "IsMustChange", "BadPasswordCount",
					  "HistoryLength" };
	struct auth_identity who;
	struct str name;
	int rc = named_login(c, &who), rc_name = metadata_arg_text(c, 1, &name);

	if (rc < 0 || rc_name < 0)
		return -1;
	for (size_t i = 0; rc > 0 && rc_name > 0 && i < ARRAY_LEN(no); i++) {
		if (str_eq_nocase(name, str_of(no[i])))
			return metadata_variant(c, value_int(TYPE_INT, 0));
	}
	return metadata_null(c);
}
