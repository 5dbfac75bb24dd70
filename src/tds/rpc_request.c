/* rpc_request.c — RPC requests [MS-TDS] 2.2.6.6: one or more calls in a message, each a name or
 * number and its parameters. */
#include <string.h>

#include "tds/tds_int.h"

#define PROC_NAME_MAX 523 /* four parts of 128 characters, brackets and dots */
#define PARAM_NAME_MAX 128
#define BY_NUMBER 0xFFFF

enum { SEPARATOR_71 = 0x80, SEPARATOR_72 = 0xFF, SEPARATOR_NO_EXEC = 0xFE };
enum { PARAM_BY_REF = 0x01, PARAM_DEFAULT = 0x02, PARAM_ENCRYPTED = 0x08 };
enum { TOKEN_TVP = 0xF3 };

static int get_proc(struct tds_read *r, struct tds_cursor *c, struct tds_rpc *rpc)
{
	struct tds_cursor s;
	uint16_t n;

	if (!tds_get_u16(c, &n))
		return tds_read_ended(r);
	if (n == BY_NUMBER) {
		if (!tds_get_u16(c, &rpc->proc_id))
			return tds_read_ended(r);
		if (rpc->proc_id == 0)
			return err_set(r->reterr, ERR_RPC_NAME);
	} else {
		if (n == 0 || n > PROC_NAME_MAX)
			return err_set(r->reterr, ERR_RPC_NAME);
		if (!tds_get_slice(c, 2 * (size_t)n, &s))
			return tds_read_ended(r);
		if (tds_text_from_utf16(s, r->arena, &rpc->name, r->reterr) < 0)
			return -1;
	}
	return tds_get_u16(c, &rpc->options) ? 0 : tds_read_ended(r);
}

/* A byte that cannot begin a parameter's name: the next call follows. */
static bool is_separator(enum tds_version v, uint8_t b)
{
	return v < TDS_72 ? b == SEPARATOR_71 : b == SEPARATOR_72 || b == SEPARATOR_NO_EXEC;
}

static int get_param_name(struct tds_read *r, struct tds_cursor *c, struct str *ret)
{
	struct tds_cursor s;
	uint8_t n;

	if (!tds_get_u8(c, &n))
		return tds_read_ended(r);
	if (n > PARAM_NAME_MAX)
		return err_set(r->reterr, ERR_RPC_PARAM_NAME, r->index);
	if (!tds_get_slice(c, 2 * (size_t)n, &s))
		return tds_read_ended(r);
	if (n == 0) {
		*ret = STR("");
		return 0;
	}
	return tds_text_from_utf16(s, r->arena, ret, r->reterr);
}

static int get_status(struct tds_read *r, struct tds_cursor *c, struct tds_param *p)
{
	uint8_t status;

	if (!tds_get_u8(c, &status))
		return tds_read_ended(r);
	if ((status & PARAM_ENCRYPTED) != 0) /* we never offered it */
		return err_set(r->reterr, ERR_RPC_FLAGS, r->index);
	p->by_ref = (status & PARAM_BY_REF) != 0;
	p->is_default = (status & PARAM_DEFAULT) != 0;
	return 0;
}

static bool is_old_lob(enum type_id id)
{
	return id == TYPE_TEXT || id == TYPE_NTEXT || id == TYPE_IMAGE;
}

/* p: all zero. */
static int get_param(struct tds_read *r, struct tds_cursor *c, struct tds_param *p)
{
	struct tds_typed t;

	r->name = "";
	r->token = 0;
	if (get_param_name(r, c, &p->name) < 0)
		return -1;
	r->name = p->name.p;
	if (get_status(r, c, p) < 0 || tds_get_type_info(r, c, &t) < 0)
		return -1;
	if (t.wire.token == TOKEN_TVP) {
		if (tds_skip_tvp(r, c) < 0)
			return -1;
		return err_set(r->reterr, ERR_TVP, r->index, r->name);
	}
	if (p->by_ref && is_old_lob(t.wire.type.id))
		return err_set(r->reterr, ERR_RPC_LOB_OUTPUT, r->index, r->name, r->token);
	p->wire = t.wire;
	return tds_get_value(r, c, &t, &p->value);
}

/* Room for one more parameter. The old array stays in the arena: all of them together are no
 * larger than the last. */
static int grow(struct tds_read *r, struct tds_rpc *rpc, size_t *cap)
{
	struct tds_param *more;

	if (rpc->nparams < *cap)
		return 0;
	*cap = *cap == 0 ? 8 : 2 * *cap;
	more = arena_array(r->arena, *cap, sizeof(*more));
	if (more == NULL)
		return err_nomem(r->reterr);
	if (rpc->nparams > 0)
		memcpy(more, rpc->params, rpc->nparams * sizeof(*more));
	rpc->params = more;
	return 0;
}

static int get_params(struct tds_read *r, struct tds_cursor *c, struct tds_rpc *rpc)
{
	size_t cap = 0;

	while (tds_left(c) > 0) {
		if (is_separator(r->version, *c->pos)) {
			rpc->no_exec = *c->pos == SEPARATOR_NO_EXEC;
			c->pos++;
			break;
		}
		if (rpc->nparams >= r->limits->max_params)
			return err_set(r->reterr, ERR_RPC_PARAMS, (int)r->limits->max_params);
		if (grow(r, rpc, &cap) < 0)
			return -1;
		r->index = (int)rpc->nparams + 1;
		if (get_param(r, c, &rpc->params[rpc->nparams]) < 0)
			return -1;
		rpc->nparams++;
	}
	return 0;
}

int tds_get_rpc(struct tds_cursor *c, enum tds_version v, const struct tds_limits *limits, struct arena *a,
		struct tds_rpc *ret, struct err *reterr)
{
	struct tds_read r = { .version = v, .limits = limits, .arena = a, .reterr = reterr, .name = "" };
	struct tds_rpc rpc = { .name = STR("") };

	if (tds_left(c) == 0)
		return 0;
	if (get_proc(&r, c, &rpc) < 0 || get_params(&r, c, &rpc) < 0)
		return -1;
	*ret = rpc;
	return 1;
}
