/* token_returnvalue.c — RETURNVALUE [MS-TDS] 2.2.7.19: an OUTPUT parameter on its way home, in
 * the client's own type, always in the nullable form. The collation of text is ours, except for
 * a client that was promised UTF-8 and asked for it in this parameter. */
#include "tds/tds_int.h"
#include "tds/token.h"

enum { STATUS_OUTPUT = 0x01 };

static void use_client_utf8(const struct tds_out *o, const struct tds_wire_type *wire, struct tds_form *f)
{
	if (o->utf8 && f->charset == CHARSET_1252 && f->collation != NULL &&
	    tds_collation_is_utf8(wire->collation)) {
		f->charset = CHARSET_UTF8;
		f->collation = wire->collation;
	}
}

void tds_put_returnvalue(struct tds_out *o, uint16_t ordinal, struct str name,
			 const struct tds_wire_type *wire, const struct value *v)
{
	struct tds_form f = tds_form_of(o, &wire->type, true, PLACE_RETURNVALUE);
	struct tds_piece p;

	use_client_utf8(o, wire, &f);
	tds_piece_begin(o, &p);
	tds_piece_le(&p, TDS_TOKEN_RETURNVALUE, 1);
	tds_piece_le(&p, ordinal, 2);
	tds_piece_end(o, &p);
	tds_put_b_varchar(o, name);
	tds_piece_begin(o, &p);
	tds_piece_le(&p, STATUS_OUTPUT, 1);
	tds_piece_user_type(&p, o->version);
	tds_piece_le(&p, 0, 2); /* flags */
	tds_piece_type_info(&p, &f);
	tds_piece_end(o, &p);
	tds_put_value(o, &f, v);
}
