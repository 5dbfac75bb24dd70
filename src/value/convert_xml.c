/* convert_xml.c — text and bytes become xml. They are not parsed here; what is kept is how to
 * read them [E-COM-15]. */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "base/utf.h"
#include "value/value_int.h"

/* Does the text begin with an XML declaration that names an encoding? */
static bool names_encoding(struct str s)
{
	const char *end;

	if (s.n < 6 || memcmp(s.p, "<?xml", 5) != 0)
		return false;
	end = memmem(s.p, s.n, "?>", 2);
	return end != NULL && memmem(s.p, (size_t)(end - s.p), "encoding", 8) != NULL;
}

/* varchar: a named encoding speaks of the bytes as they were on the wire, so they are restored.
 * Without one the characters are what counts, and those are known: the text passes as if it had
 * come as Unicode. */
static int xml_from_code_page(struct conv *c)
{
	struct str s = c->v->u.s;
	uint8_t *bytes;
	size_t lost;

	c->out.u.s = s;
	cp1252_count(s.p, s.n, &lost);
	if (!names_encoding(s) || lost != 0)
		return 0;
	bytes = arena_alloc_raw(c->arena, s.n);
	if (bytes == NULL)
		return err_nomem(c->err);
	c->out.u.s = (struct str){ (const char *)bytes, cp1252_from_utf8(bytes, s.p, s.n, NULL) };
	c->out.xml_encoding = XML_BYTES;
	return 0;
}

int conv_to_xml(struct conv *c)
{
	const struct type_info *info = type_info(c->v->type.id);

	c->out.xml_encoding = XML_UTF8_FROM_UNICODE;
	if (c->v->type.id == TYPE_XML) {
		c->out.xml_encoding = c->v->xml_encoding;
	} else if (info->is_binary) {
		c->out.xml_encoding = XML_BYTES;
	} else if (!info->is_unicode) {
		return xml_from_code_page(c);
	}
	c->out.u.s = c->v->u.s;
	return 0;
}
