/* type_binary.c — binary, varbinary, image: bytes as they came, left in the message. */
#include "tds/tds_int.h"

int tds_read_binary(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	(void)r;
	*ret = value_bytes(w->type, b.pos, tds_left(&b));
	return 0;
}
