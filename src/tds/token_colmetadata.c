/* token_colmetadata.c — COLMETADATA [MS-TDS] 2.2.7.4: what the rows that follow are made of. */
#include "tds/tds_int.h"
#include "tds/token.h"

enum { FLAG_NULLABLE = 0x0001, FLAG_CASE_SENSITIVE = 0x0002, FLAG_UPDATEABLE_UNKNOWN = 0x0008 };

static void put_column(struct tds_out *o, const struct column *col)
{
	struct tds_form f = tds_form_of(o, &col->type, col->nullable, PLACE_COLUMN);
	uint16_t flags = FLAG_UPDATEABLE_UNKNOWN;
	struct tds_piece p;

	if (col->nullable)
		flags |= FLAG_NULLABLE;
	if (col->type.id == TYPE_XML)
		flags |= FLAG_CASE_SENSITIVE;
	tds_piece_begin(o, &p);
	tds_piece_user_type(&p, o->version);
	tds_piece_le(&p, flags, 2);
	tds_piece_type_info(&p, &f);
	if (f.how == HOW_POINTER) { /* such a column names its table: one part, empty */
		if (o->version >= TDS_72)
			tds_piece_le(&p, 1, 1);
		tds_piece_le(&p, 0, 2);
	}
	tds_piece_end(o, &p);
	tds_put_b_varchar(o, str_of(col->name));
}

void tds_put_colmetadata(struct tds_out *o, const struct column *cols, size_t n)
{
	if (n >= UINT16_MAX) { /* FFFF would mean "no metadata" */
		tds_out_fail(o);
		return;
	}
	tds_put_u8(o, TDS_TOKEN_COLMETADATA);
	tds_put_u16(o, (uint16_t)n);
	for (size_t i = 0; i < n; i++)
		put_column(o, &cols[i]);
}
