/* xml_int.h — what the files that read XML share. */
#ifndef SERVICE_XML_INT_H
#define SERVICE_XML_INT_H

#include <libxml/parser.h>

#include "service/xml.h"

#define XML_STACK_MAX 4 /* elements of a model in one another */
/* Of any document, also one that is not valid, which is read on to see whether it is well
 * formed. */
#define XML_DEPTH_MAX 64
#define XML_TAG_ATTRIBUTES_MAX 64 /* of one element, namespaces among them */

/* An open element. */
struct xml_open {
	const struct xml_element_rule *rule;
	size_t child;     /* position in the rule's list of children */
	unsigned count;   /* how often that child has come */
	unsigned seen[4]; /* how often each child has come: the numbers of the location path */
	unsigned number;  /* this element's own number among its namesakes */
};

struct xml_reader {
	const struct xml_model *model;
	struct arena *arena;
	xml_row_fn row;
	void *arg;
	struct err *reterr;
	bool failed; /* reterr is filled; nothing more is looked at */
	/* A rule of the schema is broken. Reading goes on all the same: a document that is not well
	 * formed is told so before anything else */
	bool invalid;
	xmlParserCtxtPtr ctxt;
	struct xml_open stack[XML_STACK_MAX];
	unsigned depth;  /* of elements that are valid */
	unsigned level;  /* of all elements */
	struct str rest; /* what the parser has not asked for yet */
	struct meter *meter;
	bool root_seen;
};

/* xml.c: before so many bytes are looked at; true: they are not to be, and reterr says so. */
bool service_xml_stopped(struct xml_reader *r, size_t bytes);
/* xml_scan.c: refuses what would take the parser long. */
MUST_CHECK int service_xml_scan(struct xml_reader *r, struct str text);
/* xml_valid.c: the content model. */
int service_xml_too_many_attributes(struct xml_reader *r);
void service_xml_valid_start(struct xml_reader *r, const char *name, const char *uri, int nattributes,
			     const xmlChar **attributes);
void service_xml_valid_end(struct xml_reader *r);
void service_xml_valid_text(struct xml_reader *r, const char *p, size_t n);
/* xml_simple.c: the text of an attribute as a value; false: not of the type. */
bool service_xml_simple_value(enum xml_type type, struct str text, struct arena *a, struct value *ret,
			      bool *ret_nomem);
/* xml_error.c: libxml2's code as SQL Server's number and text. */
int service_xml_parse_error(struct xml_reader *r, int code, int line, int column);

#endif
