/* fuzz_xml.c — documents in arguments: encodings, the look at the tags, libxml2 under our
 * handlers, the content model, simple types. Input: BYTE flags (how the value arrived; whether
 * reading is stopped, and after how many steps), then the document. */
#include <string.h>

#include "fuzz.h"
#include "service/xml.h"

#define URI "urn:x"

struct seen {
	unsigned rows;
};

static const struct xml_attribute_rule attributes[] = {
	{ "job", XML_LONG, true },  { "group", XML_SHORT, true }, { "id", XML_INT, false },
	{ "wsi", XML_GUID, false }, { "in", XML_STRING, false },
};
static const struct xml_element_rule items[] = { { "item", 0, XML_UNBOUNDED, 1, attributes,
						   ARRAY_LEN(attributes), NULL, 0 } };
static const struct xml_element_rule parts[] = { { "start", 1, 1, -1, NULL, 0, items, 1 },
						 { "failed", 0, 1, -1, NULL, 0, items, 1 } };
static const struct xml_element_rule root = { "batch", 1, 1, -1, NULL, 0, parts, ARRAY_LEN(parts) };
static const struct xml_model model = { URI, &root };

static int take_row(void *arg, int row, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct seen *s = arg;

	(void)reterr;
	HOLDS(row == 1 && nfields == ARRAY_LEN(attributes) && !fields[0].null && !fields[1].null);
	HOLDS(fields[1].u.i >= INT16_MIN && fields[1].u.i <= INT16_MAX);
	HOLDS(fields[2].null || (fields[2].u.i >= INT32_MIN && fields[2].u.i <= INT32_MAX));
	/* no document has one */
	HOLDS(fields[4].null || memchr(fields[4].u.s.p, '\0', fields[4].u.s.n) == NULL);
	s->rows++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = { 0 };
	struct meter meter = { .left = UINT64_MAX };
	struct value v = value_null(TYPE_OF(TYPE_XML));
	struct err e = { 0 };
	struct arena a;
	int rc;

	if (size < 1)
		return 0;
	v.null = false;
	v.xml_encoding = (data[0] & 1) != 0 ? XML_BYTES : XML_UTF8_FROM_UNICODE;
	v.u.s = (struct str){ (const char *)data + 1, size - 1 };
	if ((data[0] & 2) != 0)
		meter.left = (uint64_t)(data[0] >> 4) * 16;
	service_xml_init();
	arena_init(&a, 32 << 20);
	rc = service_xml_read(&v, &model, &meter, &a, take_row, &seen, &e);
	HOLDS(rc == 0 || e.number != 0);
	HOLDS(rc < 0 || (e.number == 0 && !meter.gave_up)); /* who is told to stop does not succeed */
	HOLDS(strlen(e.text) < sizeof(e.text));
	arena_fini(&a);
	return 0;
}
