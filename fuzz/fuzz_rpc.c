/* fuzz_rpc.c — the body of an RPC message (headers already read), and every value that was
 * accepted sent back: as an output value, and as a column. Input: BYTE version, BYTE limit of a
 * value in units of 64 bytes, then the body. */
#include <string.h>

#include "base/utf.h"
#include "fuzz.h"
#include "tds/out.h"
#include "tds/request.h"

static void check_value(const struct value *v)
{
	if (v->null)
		return;
	switch (v->type.id) {
	case TYPE_CHAR:
	case TYPE_VARCHAR:
	case TYPE_TEXT:
	case TYPE_NCHAR:
	case TYPE_NVARCHAR:
	case TYPE_NTEXT: HOLDS(utf8_valid(v->u.s.p, v->u.s.n, true)); break;
	case TYPE_VARIANT:
		HOLDS(v->u.variant != NULL && v->u.variant->type.id != TYPE_VARIANT);
		check_value(v->u.variant);
		break;
	}
}

/* What came in can go out, in every form, and never breaks the stream. */
static void send_back(const struct tds_param *p, enum tds_version v)
{
	struct column cols[2] = { { "a", p->value.type, true }, { "b", p->value.type, false } };
	struct value both[2] = { p->value, p->value };
	struct tds_out o;

	tds_out_init(&o, 64 << 20);
	o.version = v;
	o.utf8 = v >= TDS_74;
	o.packet_size = TDS_PACKET_MIN;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_returnvalue(&o, 0, p->name, &p->wire, &p->value);
	tds_put_colmetadata(&o, cols, 2);
	tds_put_row(&o, cols, both, p->value.null ? 1 : 2);
	HOLDS(!o.wire.bytes.failed);
	tds_out_end(&o);
	tds_out_fini(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tds_limits limits = { .max_params = 64 };
	enum tds_version v;
	struct tds_cursor c;
	struct tds_rpc rpc;
	struct arena a;
	struct err err;
	uint8_t *body;

	if (size < 2)
		return 0;
	v = (enum tds_version)(data[0] % (TDS_80 + 1));
	limits.max_value = (size_t)data[1] * 64;
	size -= 2;
	body = malloc(size == 0 ? 1 : size); /* writable: chunks are joined in place */
	HOLDS(body != NULL);
	memcpy(body, data + 2, size);
	c = tds_cursor_of(body, size);
	arena_init(&a, 4 << 20);
	for (;;) {
		const uint8_t *before = c.pos;
		int rc = tds_get_rpc(&c, v, &limits, &a, &rpc, &err);

		HOLDS(c.pos <= c.end);
		if (rc <= 0) {
			HOLDS(rc == 0 || err.number != 0);
			break;
		}
		HOLDS(c.pos > before && rpc.nparams <= limits.max_params);
		for (size_t i = 0; i < rpc.nparams; i++) {
			check_value(&rpc.params[i].value);
			send_back(&rpc.params[i], v);
		}
	}
	arena_fini(&a);
	free(body);
	return 0;
}
