/* workload_redis.c — the StateService workloads against Redis, with the functions of
 * peers/redis/state.lua. */
#include "workload.h"

#include <stdio.h>
#include <string.h>

#define KEY_TEXT "bench-00000000"
#define KEY_DIGITS 6
#define COOKIE_TEXT "0000000000"

enum { GET_LOCK, UPDATE, GET, ADD };
static const char *const kinds[] = { "get_lock", "update", "get", "add", NULL };

/* FCALL name 1 key [arguments follow] */
static size_t fcall(struct message *m, const char *name, unsigned arguments)
{
	resp_begin(m, 4 + arguments);
	resp_string(m, "FCALL", 5);
	resp_string(m, name, strlen(name));
	resp_string(m, "1", 1);
	return resp_string(m, KEY_TEXT, strlen(KEY_TEXT)) + KEY_DIGITS;
}

static void prepare(struct script *s, size_t bytes)
{
	struct message *m = s->messages;

	s->at[GET_LOCK][0] = fcall(&m[GET_LOCK], "get_item_with_lock", 0);
	s->at[UPDATE][0] = fcall(&m[UPDATE], "update_item", 3);
	s->at[UPDATE][1] = resp_string(&m[UPDATE], COOKIE_TEXT, strlen(COOKIE_TEXT));
	resp_string(&m[UPDATE], "60", 2);
	resp_string(&m[UPDATE], script_body(bytes), bytes);
	s->at[GET][0] = fcall(&m[GET], "get_item_without_lock", 0);
	s->at[ADD][0] = fcall(&m[ADD], "add_item", 2);
	resp_string(&m[ADD], "60", 2);
	resp_string(&m[ADD], script_body(bytes), bytes);
}

static void prepare_1k(struct script *s)
{
	prepare(s, 1024);
}

static void prepare_32k(struct script *s)
{
	prepare(s, 32768);
	s->few_keys = true;
}

static const struct message *send_kind(struct script *s, unsigned kind)
{
	s->kind = kind;
	patch_digits(&s->messages[kind], s->at[kind][0], s->key, 8, 1);
	return &s->messages[kind];
}

static const struct message *rw_next(struct script *s, const struct answer *last)
{
	s->step ^= 1;
	if (s->step == 1) {
		s->key = s->few_keys ? script_few_keys(s) : script_own_key(s);
		return send_kind(s, GET_LOCK);
	}
	patch_digits(&s->messages[UPDATE], s->at[UPDATE][1], (uint64_t)last->last_int, 10, 1);
	return send_kind(s, UPDATE);
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

/* Writes answer 1 when they changed something; the last number of a read is the cookie. An item
 * may still have the lock of an earlier run that ended between two calls: its cookie unlocks it. */
static const char *check(const struct script *s, const struct answer *a)
{
	if (a->has_int && a->last_int > 0)
		return NULL;
	return s->kind == GET || s->kind == GET_LOCK ? "the item was not found" : "nothing was changed";
}

const struct workload workloads_redis[] = {
	{ "redis_fill", "", &protocol_resp, prepare_1k, fill_next, check, true, kinds },
	{ "redis_state_rw", "", &protocol_resp, prepare_1k, rw_next, check, false, kinds },
	{ "redis_state_32k", "", &protocol_resp, prepare_32k, rw_next, check, false, kinds },
	{ "redis_state_read", "", &protocol_resp, prepare_1k, read_next, check, false, kinds },
	{ .name = NULL },
};
