/* logins.c — logins and what they may do, asked of the system database by procedures that only the
 * server itself may call. */
#include "auth/auth_int.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "engine/ask.h"

#define NAME_MOST 400 /* bytes, as the procedures declare it: no login has a longer name */

static int ask(struct auth *a, const char *proc, const struct argument *args, size_t nargs,
	       struct engine_answer *ret)
{
	struct err err;

	if (engine_ask(a->system, proc, args, nargs, NULL, ret, &err) == 0)
		return 0;
	LOG(LOG_ERROR, NULL, "login_store", F_STR("error", err.text));
	return -1;
}

static struct argument text_argument(const char *name, struct str text)
{
	return (struct argument){ .name = str_of(name),
				  .value = value_text(TYPE_LEN(TYPE_NVARCHAR, NAME_MOST), text) };
}

static void copy_text(const struct value *v, char *dst, size_t size)
{
	str_copy(dst, size, v->null ? (struct str){ "", 0 } : v->u.s);
}

int auth_store_login(struct auth *a, struct str name, struct auth_row *ret)
{
	const struct argument arg = text_argument("@name", name);
	const struct engine_row *row;
	struct engine_answer answer;

	if (name.n > NAME_MOST)
		return 0;
	if (ask(a, "procession_login_find", &arg, 1, &answer) < 0)
		return -1;
	row = answer.rows.first;
	if (row != NULL) {
		assert(row->n == 5 && row->next == NULL);
		*ret = (struct auth_row){ .login.admin = row->values[2].u.i != 0,
					  .disabled = row->values[3].u.i != 0 };
		copy_text(&row->values[0], ret->login.name, sizeof(ret->login.name));
		copy_text(&row->values[1], ret->hash, sizeof(ret->hash));
		copy_text(&row->values[4], ret->login.default_database, sizeof(ret->login.default_database));
	}
	engine_answer_fini(&answer);
	return row != NULL;
}

int auth_store_rights(struct auth *a, const char *login, const char *database, uint8_t *ret)
{
	const struct argument args[] = { text_argument("@login", str_of(login)),
					 text_argument("@database", str_of(database)) };
	const struct engine_row *row;
	struct engine_answer answer;

	if (strlen(login) > NAME_MOST || strlen(database) > NAME_MOST)
		return 0;
	if (ask(a, "procession_login_rights", args, ARRAY_LEN(args), &answer) < 0)
		return -1;
	row = answer.rows.first;
	if (row == NULL || row->values[1].u.i != 0)
		*ret = 0;
	else if (row->values[0].u.i != 0)
		*ret = AUTH_ALL_RIGHTS;
	else
		*ret = (uint8_t)((unsigned)row->values[2].u.i & AUTH_ALL_RIGHTS);
	engine_answer_fini(&answer);
	return 0;
}

static void read_identity(const struct value *v, struct auth_identity *ret)
{
	*ret = (struct auth_identity){ .id = v[1].null ? 0 : (int32_t)v[1].u.i, .admin = v[3].u.i != 0 };
	copy_text(&v[0], ret->name, sizeof(ret->name));
	if (!v[2].null && v[2].u.s.n <= sizeof(ret->sid)) {
		memcpy(ret->sid, v[2].u.s.p, v[2].u.s.n);
		ret->sid_len = v[2].u.s.n;
	}
}

int auth_identify(struct auth *a, const struct auth_question *q, struct auth_identity *ret)
{
	const struct engine_row *row;
	struct engine_answer answer;
	struct argument arg;

	if (q->name.n > NAME_MOST || q->sid.n > sizeof(ret->sid))
		return 0;
	if (q->name.n > 0)
		arg = text_argument("@name", q->name);
	else if (q->sid.n > 0)
		arg = (struct argument){ .name = STR("@sid"),
					 .value = value_bytes(TYPE_LEN(TYPE_VARBINARY, 85),
							      (const uint8_t *)q->sid.p, q->sid.n) };
	else
		arg = (struct argument){ .name = STR("@id"), .value = value_int(TYPE_BIGINT, q->id) };
	if (ask(a, "procession_login_identify", &arg, 1, &answer) < 0)
		return -1;
	row = answer.rows.first;
	if (row != NULL)
		read_identity(row->values, ret);
	engine_answer_fini(&answer);
	return row != NULL;
}
