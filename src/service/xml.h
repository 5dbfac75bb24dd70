/* xml.h — an XML document is read against a small content model: elements in order, attributes
 * with types. One pass, nothing is kept but what the receiver of rows keeps. DTDs are refused,
 * nothing is ever fetched; depth and attributes are bounded, the size by max_value_size
 * [E-COM-15]. The time it takes grows with the length, whatever the document is. */
#ifndef SERVICE_XML_H
#define SERVICE_XML_H

#include "base/arena.h"
#include "base/err.h"
#include "base/meter.h"
#include "value/value.h"

#define XML_ATTRIBUTES_MAX 8

enum xml_type { XML_STRING, XML_SHORT, XML_INT, XML_LONG, XML_GUID };

struct xml_attribute_rule {
	const char *name;
	enum xml_type type;
	bool required;
};

/* An element of the model. Children come in the order of the list, each between min and max
 * times. */
struct xml_element_rule {
	const char *name;
	unsigned min, max; /* XML_UNBOUNDED */
	/* tells the receiver which kind of row this element is; -1: none */
	int row;
	const struct xml_attribute_rule *attributes;
	size_t nattributes;
	const struct xml_element_rule *children;
	size_t nchildren;
};
#define XML_UNBOUNDED (~0u)

struct xml_model {
	const char *uri; /* namespace of every element */
	const struct xml_element_rule *root;
};

/* Gets each element that is a row: a value per attribute rule (NULL: not given); text is in the
 * arena. Non-zero stops. */
typedef int (*xml_row_fn)(void *arg, int row, const struct value *fields, size_t nfields, struct err *reterr);

/* Once, before threads use the parser. */
void service_xml_init(void);
/* v is not NULL. Errors: 94xx (not well formed), 6359 (DTD), 69xx (not valid), each saying what
 * and where; 6303 no memory; ERR_CANCELLED when the meter gave up. A document that is too deep,
 * which is never valid, is told the first fault of its content and not read further; more than
 * 64 attributes of one element are 6905. */
MUST_CHECK int service_xml_read(const struct value *v, const struct xml_model *model, struct meter *m,
				struct arena *a, xml_row_fn row, void *arg, struct err *reterr);

#endif
