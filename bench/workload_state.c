/* workload_state.c — the StateService workloads: lock and update pairs, reads, and one large
 * item. */
#include "workload.h"

#include <stdio.h>
#include <unistd.h>

#define KEY_TEXT "bench-00000000"
#define KEY_DIGITS 6 /* offset of the digits in the text */

enum { GET_LOCK, UPDATE, GET, ADD, UPDATE_OTHER };
static const char *const kinds[] = { "get_lock", "update", "get", "add", NULL };

static size_t get_message(struct message *m, const char *proc, const char *key)
{
	size_t at;

	message_rpc(m, proc);
	at = message_varchar(m, "@id", key) + KEY_DIGITS;
	message_output_binary(m, "@item");
	message_output_bit(m, "@locked");
	message_output_int(m, "@lockAgeInSeconds");
	message_output_int(m, "@lockCookie");
	message_end(m);
	return at;
}

static void update_message(struct script *s, unsigned which, const char *key, const uint8_t *body,
			   size_t bytes)
{
	struct message *m = &s->messages[which];

	message_rpc(m, "proc_UpdateItem");
	s->at[which][0] = message_varchar(m, "@id", key) + KEY_DIGITS;
	s->at[which][1] = message_int(m, "@lockCookie", 0);
	message_int(m, "@timeout", 60);
	message_binary(m, "@item", body, bytes);
	message_end(m);
}

static void prepare(struct script *s, const char *key, size_t bytes)
{
	struct message *m = s->messages;

	s->at[GET_LOCK][0] = get_message(&m[GET_LOCK], "proc_GetItemWithLock", key);
	update_message(s, UPDATE, key, script_body(bytes), bytes);
	update_message(s, UPDATE_OTHER, key, script_body(bytes + 1) + 1, bytes);
	s->at[GET][0] = get_message(&m[GET], "proc_GetItemWithoutLock", key);
	message_rpc(&m[ADD], "proc_AddItem");
	s->at[ADD][0] = message_varchar(&m[ADD], "@id", key) + KEY_DIGITS;
	message_int(&m[ADD], "@timeout", 60);
	message_binary(&m[ADD], "@item", script_body(bytes), bytes);
	message_end(&m[ADD]);
}

static void prepare_1k(struct script *s)
{
	prepare(s, KEY_TEXT, 1024);
}

static void prepare_32k(struct script *s)
{
	prepare(s, KEY_TEXT, 32768);
	s->few_keys = true;
}

/* A key of its own for each size and run: the item must not be there yet. */
static void prepare_large(struct script *s)
{
	char key[64];

	snprintf(key, sizeof(key), "large-%zu-%d-%u", s->sizes->bytes, (int)getpid(), s->connection);
	prepare(s, key, s->sizes->bytes);
	s->step = ADD;
}

static const struct message *send_kind(struct script *s, unsigned kind)
{
	s->kind = kind;
	patch_digits(&s->messages[kind], s->at[kind][0], s->key, 8, 1);
	return &s->messages[kind];
}

/* Cookies of an item go up by one: it gets one body and the other in turn. A store need not
 * write what has not changed. */
static unsigned update_with(struct script *s, int32_t cookie)
{
	unsigned which = cookie % 2 == 0 ? UPDATE : UPDATE_OTHER;

	patch_le(&s->messages[which], s->at[which][1], (uint32_t)cookie, 4);
	s->kind = UPDATE;
	return which;
}

static const struct message *rw_next(struct script *s, const struct answer *last)
{
	unsigned which;

	s->step ^= 1;
	if (s->step == 1) {
		s->key = s->few_keys ? script_few_keys(s) : script_own_key(s);
		return send_kind(s, GET_LOCK);
	}
	which = update_with(s, last->last_int);
	patch_digits(&s->messages[which], s->at[which][0], s->key, 8, 1);
	return &s->messages[which];
}

static const struct message *read_next(struct script *s, const struct answer *last)
{
	(void)last;
	s->key = script_own_key(s);
	return send_kind(s, GET);
}

static const struct message *fill_next(struct script *s, const struct answer *last)
{
	(void)last;
	s->key = s->round++ * s->connections + s->connection;
	return s->key < KEYS ? send_kind(s, ADD) : NULL;
}

static const struct message *large_next(struct script *s, const struct answer *last)
{
	unsigned which = s->step;

	s->kind = which;
	if (which == UPDATE)
		which = update_with(s, last->last_int);
	s->step = s->kind == GET_LOCK ? UPDATE : GET_LOCK;
	return &s->messages[which];
}

static const char *check(const struct script *s, const struct answer *a)
{
	if (s->kind == GET || s->kind == GET_LOCK)
		return check_found(s, a);
	return NULL;
}

const struct workload workloads_state[] = {
	{ "state_fill", "StateService", &protocol_tds, prepare_1k, fill_next, NULL, true, kinds },
	{ "state_rw", "StateService", &protocol_tds, prepare_1k, rw_next, check, false, kinds },
	{ "state_32k", "StateService", &protocol_tds, prepare_32k, rw_next, check, false, kinds },
	{ "state_read", "StateService", &protocol_tds, prepare_1k, read_next, check, false, kinds },
	{ "state_large", "StateService", &protocol_tds, prepare_large, large_next, check, false, kinds },
	{ .name = NULL },
};
