/* xml.c — drives libxml2's parser over a value: encoding first, then events into the content
 * model. The parser asks for the text in small pieces, and with each piece it is asked whether
 * to go on. */
#define _GNU_SOURCE
#include "service/xml.h"

#include <assert.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>

#include "base/utf.h"
#include "service/xml_int.h"

/* ---- events ---- */

static struct xml_reader *reader_of(void *ctx)
{
	return ((xmlParserCtxtPtr)ctx)->_private;
}

static void on_start(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int nns,
		     const xmlChar **ns, int nattributes, int ndefaulted, const xmlChar **attributes)
{
	struct xml_reader *r = reader_of(ctx);

	(void)prefix, (void)nns, (void)ns, (void)ndefaulted;
	service_xml_valid_start(r, (const char *)name, (const char *)uri, nattributes, attributes);
	if (++r->level <= XML_DEPTH_MAX)
		return;
	assert(r->failed); /* no model is that deep */
	xmlStopParser(ctx);
}

static void on_end(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct xml_reader *r = reader_of(ctx);

	(void)name, (void)prefix, (void)uri;
	r->level--;
	service_xml_valid_end(r);
}

static void on_text(void *ctx, const xmlChar *p, int n)
{
	service_xml_valid_text(reader_of(ctx), (const char *)p, (size_t)n);
}

/* Called at <!DOCTYPE, before anything of it could be defined or fetched. */
static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *external_id, const xmlChar *system_id)
{
	struct xml_reader *r = reader_of(ctx);

	(void)name, (void)external_id, (void)system_id;
	if (!r->failed || r->invalid)
		(void)err_set(r->reterr, ERR_XML_DTD);
	r->failed = true;
	r->invalid = false;
	xmlStopParser(ctx);
}

static xmlEntityPtr on_entity(void *ctx, const xmlChar *name)
{
	(void)ctx;
	return xmlGetPredefinedEntity(name);
}

static void on_error(void *ctx, xmlErrorPtr e)
{
	struct xml_reader *r = reader_of(ctx);

	if ((r->failed && !r->invalid) || e->level < XML_ERR_ERROR || e->code == XML_ERR_USER_STOP)
		return;
	r->invalid = false;
	(void)service_xml_parse_error(r, e->code, e->line, e->int2);
	xmlStopParser(ctx);
}

static void set_handlers(xmlSAXHandler *sax)
{
	memset(sax, 0, sizeof(*sax));
	sax->initialized = XML_SAX2_MAGIC;
	sax->startElementNs = on_start;
	sax->endElementNs = on_end;
	sax->characters = on_text;
	sax->ignorableWhitespace = on_text;
	sax->cdataBlock = on_text;
	sax->internalSubset = on_doctype;
	sax->getEntity = on_entity;
	sax->serror = on_error;
}

/* ---- encoding ---- */

/* The encoding named in <?xml … encoding="…"?>, or empty. */
static struct str declared_encoding(struct str s)
{
	const char *end, *p;
	char quote;

	if (s.n < 6 || memcmp(s.p, "<?xml", 5) != 0)
		return (struct str){ "", 0 };
	end = memmem(s.p, s.n, "?>", 2);
	p = end == NULL ? NULL : memmem(s.p, (size_t)(end - s.p), "encoding", 8);
	if (p == NULL)
		return (struct str){ "", 0 };
	for (p += 8; p < end && *p != '"' && *p != '\''; p++)
		;
	if (p >= end)
		return (struct str){ "", 0 };
	quote = *p++;
	for (s.p = p; p < end && *p != quote; p++)
		;
	return (struct str){ s.p, (size_t)(p - s.p) };
}

static bool is_utf16(struct str name)
{
	return str_eq_nocase(name, STR("utf-16")) || str_eq_nocase(name, STR("ucs-2")) ||
	       str_eq_nocase(name, STR("utf-16le"));
}

static bool is_1252(struct str name)
{
	static const char *const names[] = { "windows-1252", "cp1252",   "iso-8859-1",
					     "latin1",       "us-ascii", "ascii" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq_nocase(name, str_of(names[i])))
			return true;
	return false;
}

static int encoding_error(struct err *reterr, int number, const char *reason, struct str name)
{
	return err_raise(reterr, number, 16, 1, "XML parsing: line 1, character %d, %s", (int)(name.n + 30),
			 reason);
}

static int from_1252(struct str *text, struct arena *a, struct err *reterr)
{
	char *utf8;

	if (text->n > SIZE_MAX / 3)
		return err_nomem(reterr);
	utf8 = arena_alloc_raw(a, text->n * 3);
	if (utf8 == NULL)
		return err_nomem(reterr);
	*text = (struct str){ utf8, utf8_from_cp1252(utf8, (const uint8_t *)text->p, text->n) };
	return 0;
}

/* The byte order mark, in UTF-8. */
static bool starts_with_mark(struct str s)
{
	return s.n >= 3 && memcmp(s.p, "\xEF\xBB\xBF", 3) == 0;
}

/* Brings the text to UTF-8; a declaration must not contradict how the value arrived (9402). */
static int to_utf8(const struct value *v, struct str *text, struct arena *a, struct err *reterr)
{
	struct str name;

	if (starts_with_mark(*text))
		*text = (struct str){ text->p + 3, text->n - 3 };
	/* a second one is a character like others, and has no place here */
	if (starts_with_mark(*text))
		return err_raise(reterr, 9422, 16, 1,
				 "XML parsing: line 1, character 1, incorrect document syntax");
	name = declared_encoding(*text);
	if (v->xml_encoding == XML_UTF8_FROM_UNICODE)
		return name.n == 0 || is_utf16(name)
			       ? 0
			       : encoding_error(reterr, 9402, "unable to switch the encoding", name);
	if (is_utf16(name))
		return encoding_error(reterr, 9402, "unable to switch the encoding", name);
	if (is_1252(name))
		return from_1252(text, a, reterr);
	if (name.n == 0 || str_eq_nocase(name, STR("utf-8")))
		return 0;
	return encoding_error(reterr, 9401, "unrecognized encoding", name);
}

/* ---- reading ---- */

bool service_xml_stopped(struct xml_reader *r, size_t bytes)
{
	if (meter_spend(r->meter, bytes))
		return false;
	r->failed = true;
	r->invalid = false;
	(void)err_set(r->reterr, ERR_CANCELLED);
	return true;
}

/* The next piece for the parser. -1 ends its input; what it finds wrong with that is not told
 * any more. (xmlStopParser() would free the input under its caller.) */
static int feed(void *arg, char *dst, int size)
{
	struct xml_reader *r = arg;
	size_t n = r->rest.n < (size_t)size ? r->rest.n : (size_t)size;

	if (service_xml_stopped(r, n))
		return -1;
	memcpy(dst, r->rest.p, n);
	r->rest = (struct str){ r->rest.p + n, r->rest.n - n };
	return (int)n;
}

static int parse(struct xml_reader *r, struct str text)
{
	if (text.n == 0)
		return service_xml_parse_error(r, XML_ERR_DOCUMENT_EMPTY, 1, 1);
	if (service_xml_scan(r, text) < 0)
		return -1;
	r->rest = text;
	(void)xmlParseDocument(r->ctxt);
	if (!r->failed && !r->root_seen)
		return service_xml_parse_error(r, XML_ERR_DOCUMENT_EMPTY, 1, 1);
	if (!r->failed && !r->ctxt->wellFormed)
		return service_xml_parse_error(r, XML_ERR_TAG_NOT_FINISHED, 1, 1);
	return r->failed ? -1 : 0;
}

void service_xml_init(void)
{
	xmlInitParser();
}

/* The encoding is known: nothing is to be guessed from the first bytes or taken from the
 * declaration. NOENT: without it libxml2 hands out &amp; in attributes as &#38;. No entity of a
 * document's own can exist, a DTD is refused. HUGE: the size is bound by max_value_size already,
 * and without a DTD nothing can grow. */
static int open_parser(struct xml_reader *r)
{
	xmlSAXHandler sax;

	set_handlers(&sax);
	r->ctxt = xmlCreateIOParserCtxt(&sax, NULL, feed, NULL, r, XML_CHAR_ENCODING_UTF8);
	if (r->ctxt == NULL)
		return err_nomem(r->reterr);
	r->ctxt->_private = r;
	(void)xmlCtxtUseOptions(r->ctxt, XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_HUGE |
						 XML_PARSE_IGNORE_ENC | XML_PARSE_NOCDATA);
	r->ctxt->encoding = xmlStrdup((const xmlChar *)"UTF-8");
	if (r->ctxt->encoding != NULL)
		return 0;
	xmlFreeParserCtxt(r->ctxt);
	return err_nomem(r->reterr);
}

int service_xml_read(const struct value *v, const struct xml_model *model, struct meter *m, struct arena *a,
		     xml_row_fn row, void *arg, struct err *reterr)
{
	struct xml_reader r = {
		.model = model, .arena = a, .row = row, .arg = arg, .reterr = reterr, .meter = m
	};
	struct str text = v->u.s;
	int rc;

	if (to_utf8(v, &text, a, reterr) < 0 || open_parser(&r) < 0)
		return -1;
	rc = parse(&r, text);
	xmlFreeParserCtxt(r.ctxt);
	return rc;
}
