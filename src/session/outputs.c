/* outputs.c — values that go back through OUTPUT parameters: RETURNVALUE tokens for an RPC,
 * variables for EXEC. */
#include "session/request_int.h"

#include <assert.h>

#include "value/convert.h"

/* Values of this size leave from where they lie. With TLS smaller ones are encrypted faster as a
 * whole. */
#define LENDS_CLEAR ((size_t)64 << 10)
#define LENDS_TLS ((size_t)4 << 20)

/* The value that the procedure has for argument i, or NULL. Most clients give all arguments in
 * their order: the search begins there. */
static const struct value *proc_output(struct session *s, const struct invocation *inv, size_t i)
{
	size_t n = inv->proc->nparams, p = i < n ? i : 0;

	for (size_t k = 0; k < n; k++) {
		if (inv->origin[p] == (int)i && inv->proc->params[p].output)
			return &s->call.values[p];
		p = p + 1 < n ? p + 1 : 0;
	}
	return NULL;
}

/* The value that argument i gets, or NULL when it is not an output. */
static const struct value *output_of(struct session *s, struct invocation *inv, size_t i)
{
	if (!inv->args[i].is_output)
		return NULL;
	return inv->proc != NULL ? proc_output(s, inv, i) : &inv->args[i].value;
}

static const struct value *rpc_output(struct session *s, struct invocation *inv, size_t i,
				      struct value *handle)
{
	if (inv->returns_handle && inv->fixed.handle_arg == (int)i) {
		*handle = value_int(TYPE_INT, inv->handle);
		return handle;
	}
	return output_of(s, inv, i);
}

/* Below 7.2 a long value does not fit an output parameter; cutting it silently would lose data. */
static int check_old_client(const struct session *s, const struct tds_param *p, const struct value *v,
			    struct err *reterr)
{
	bool bytes = type_info(v->type.id)->is_binary || type_info(v->type.id)->is_text;

	if (s->wire.version >= TDS_72 || v->null || !bytes || v->u.s.n <= 8000)
		return 0;
	(void)p;
	return err_set(reterr, ERR_LOB_OUTPUT, v->u.s.n);
}

int session_outputs_convert(struct session *s, struct invocation *inv, struct value **ret, struct err *reterr)
{
	const struct tds_rpc *rpc = inv->rpc;
	struct value *out = arena_array(&s->arena, rpc->nparams + 1, sizeof(*out));

	if (out == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; i < rpc->nparams; i++) {
		struct value handle;
		const struct value *v = rpc_output(s, inv, i, &handle);

		if (v == NULL)
			continue;
		if (check_old_client(s, &rpc->params[i], v, reterr) < 0)
			return -1;
		if (value_convert(v, &rpc->params[i].wire.type, CONVERT_OUTPUT, NULL, &s->arena, &out[i],
				  reterr) < 0)
			return -1;
	}
	*ret = out;
	return 0;
}

static void send_one(struct session *s, struct invocation *inv, size_t i, const struct value *converted)
{
	const struct tds_param *p = &inv->rpc->params[i];

	assert(i < inv->rpc->nparams && s->out.flush == NULL);
	tds_put_returnvalue(&s->out, (uint16_t)i, p->name, &p->wire, &converted[i]);
}

/* In the order of the declaration; each ordinal is the position in the request (errata,
 * clarification 2). Values of a procedure lie in the arena or the request, which stay until the
 * answer has left: a large one is not copied, if no other call follows. */
void session_outputs_send(struct session *s, struct invocation *inv, const struct value *converted)
{
	if (inv->proc != NULL) {
		if (tds_left(&s->request->body) == 0)
			s->out.lends = net_stream_is_tls(s->stream) ? LENDS_TLS : LENDS_CLEAR;
		for (uint16_t p = 0; p < inv->proc->nparams; p++)
			if (inv->proc->params[p].output && inv->origin[p] >= 0 &&
			    inv->args[inv->origin[p]].is_output)
				send_one(s, inv, (size_t)inv->origin[p], converted);
		s->out.lends = 0;
		return;
	}
	for (size_t i = 0; i < inv->nargs; i++) {
		bool handle = inv->returns_handle && inv->fixed.handle_arg == (int)i;
		if (handle || (inv->args[i].is_output &&
			       (i >= inv->fixed.first_value || session_special_is_cursor(inv->special))))
			send_one(s, inv, i, converted);
	}
}

struct value *session_outputs_collect(struct session *s, struct invocation *inv)
{
	struct value *out = arena_array(&s->arena, inv->nargs + 1, sizeof(*out));

	for (size_t i = 0; out != NULL && i < inv->nargs; i++) {
		struct value handle;
		const struct value *v = rpc_output(s, inv, i, &handle);

		out[i] = v != NULL ? *v : inv->args[i].value;
	}
	return out;
}
