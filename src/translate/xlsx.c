/* xlsx.c — the zip file and its parts. See xlsx_text.c for the texts. */
#include "translate/xlsx.h"

#include <fnmatch.h>
#include <libxml/parser.h>
#include <stdlib.h>

#include "translate/xlsx_int.h"

#define PARTS_MAX 2000
#define PART_MAX ((zip_uint64_t)128 << 20)
#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

static int no_memory(struct translate_failure *f)
{
	return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
}

static int corrupt(struct translate_failure *f, const char *what)
{
	return translate_fail(f, DOCUMENT_INPUT_CORRUPT, "The spreadsheet is damaged: %.200s", what);
}

/* Reads a part whole; the caller frees. */
static int read_part(struct translate_xlsx *x, zip_uint64_t index, char **ret, size_t *ret_len,
		     struct translate_failure *f)
{
	zip_stat_t st;
	zip_file_t *file;
	char *data;
	size_t n = 0;

	if (zip_stat_index(x->zip, index, 0, &st) < 0 || (st.valid & ZIP_STAT_SIZE) == 0)
		return corrupt(f, zip_strerror(x->zip));
	if (st.size > PART_MAX)
		return translate_fail(f, DOCUMENT_UNPACKED_TOO_LARGE,
				      "A part of the spreadsheet unpacks to %llu bytes.",
				      (unsigned long long)st.size);
	data = malloc(st.size + 1);
	if (data == NULL)
		return no_memory(f);
	file = zip_fopen_index(x->zip, index, 0);
	while (file != NULL && n < st.size) {
		zip_int64_t got = zip_fread(file, data + n, st.size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (file != NULL)
		(void)zip_fclose(file);
	if (n < st.size) {
		free(data);
		return corrupt(f, "a part of it cannot be unpacked");
	}
	*ret = data;
	*ret_len = n;
	return 0;
}

static int parse_part(struct translate_xlsx *x, zip_uint64_t index, xmlDoc **ret, struct translate_failure *f)
{
	char *data = NULL;
	size_t n = 0;

	if (read_part(x, index, &data, &n, f) < 0)
		return -1;
	*ret = xmlReadMemory(data, (int)n, NULL, NULL, PARSE_OPTIONS);
	free(data);
	return *ret == NULL ? corrupt(f, "a part of it is no XML") : 0;
}

static bool named(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* Names that a table or a pivot table compares with its cells: these must not change alone. */
static void collect_names(struct translate_xlsx *x, const xmlNode *parent)
{
	for (const xmlNode *n = parent->children; n != NULL; n = n->next) {
		if (named(n, "tableColumn") || named(n, "cacheField")) {
			xmlChar *name = xmlGetNoNsProp(n, (const xmlChar *)"name");

			if (name != NULL)
				(void)xmlHashAddEntry(x->names, name, x);
			xmlFree(name);
		}
		if (n->type == XML_ELEMENT_NODE)
			collect_names(x, n);
	}
}

/* The elements that hold texts: si of the shared strings, is of a cell, text of a comment. */
static int collect_texts(struct translate_xlsx *x, xmlNode *parent, struct translate_failure *f)
{
	for (xmlNode *n = parent->children; n != NULL; n = n->next) {
		int rc = 0;

		if (named(n, "si") || named(n, "is") || named(n, "text"))
			rc = translate_xlsx_take(x, n, f);
		else if (n->type == XML_ELEMENT_NODE)
			rc = collect_texts(x, n, f);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static bool holds_texts(const char *name)
{
	return strcmp(name, "xl/sharedStrings.xml") == 0 ||
	       fnmatch("xl/worksheets/*.xml", name, FNM_PATHNAME) == 0 ||
	       fnmatch("xl/comments*.xml", name, FNM_PATHNAME) == 0;
}

static bool holds_names(const char *name)
{
	return fnmatch("xl/tables/*.xml", name, FNM_PATHNAME) == 0 ||
	       fnmatch("xl/pivotCache/pivotCacheDefinition*.xml", name, FNM_PATHNAME) == 0;
}

static int read_names(struct translate_xlsx *x, zip_int64_t entries, struct translate_failure *f)
{
	for (zip_int64_t i = 0; i < entries; i++) {
		const char *name = zip_get_name(x->zip, (zip_uint64_t)i, 0);
		xmlDoc *doc = NULL;

		if (name == NULL || !holds_names(name))
			continue;
		if (parse_part(x, (zip_uint64_t)i, &doc, f) < 0)
			return -1;
		collect_names(x, (const xmlNode *)doc);
		xmlFreeDoc(doc);
	}
	return 0;
}

static int read_texts(struct translate_xlsx *x, zip_int64_t entries, struct translate_failure *f)
{
	for (zip_int64_t i = 0; i < entries; i++) {
		const char *name = zip_get_name(x->zip, (zip_uint64_t)i, 0);
		struct translate_xlsx_part *part = &x->part[x->nparts];
		size_t before = x->n;

		if (name == NULL || !holds_texts(name))
			continue;
		if (parse_part(x, (zip_uint64_t)i, &part->doc, f) < 0)
			return -1;
		part->index = (zip_uint64_t)i;
		x->nparts++;
		if (collect_texts(x, (xmlNode *)part->doc, f) < 0)
			return -1;
		if (x->n == before) { /* a sheet of numbers: it is not written anew */
			xmlFreeDoc(part->doc);
			x->nparts--;
		}
	}
	return 0;
}

static int open_zip(struct translate_xlsx *x, struct str file, struct translate_failure *f)
{
	zip_error_t e;
	zip_int64_t entries;

	zip_error_init(&e);
	x->source = zip_source_buffer_create(file.p, file.n, 0, &e);
	if (x->source == NULL)
		return no_memory(f);
	zip_source_keep(x->source);
	x->zip = zip_open_from_source(x->source, 0, &e);
	if (x->zip == NULL) {
		zip_source_free(x->source);
		(void)corrupt(f, zip_error_strerror(&e));
		zip_error_fini(&e);
		return -1;
	}
	entries = zip_get_num_entries(x->zip, 0);
	if (entries > PARTS_MAX)
		return translate_fail(f, DOCUMENT_UNPACKED_TOO_LARGE, "The spreadsheet has %lld parts.",
				      (long long)entries);
	x->part = calloc((size_t)entries + 1, sizeof(*x->part));
	x->names = xmlHashCreate(64);
	if (x->part == NULL || x->names == NULL)
		return no_memory(f);
	return read_names(x, entries, f) < 0 || read_texts(x, entries, f) < 0 ? -1 : 0;
}

int translate_xlsx_read(struct str file, struct translate_xlsx **ret, struct translate_failure *f)
{
	struct translate_xlsx *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return no_memory(f);
	if (open_zip(x, file, f) < 0) {
		translate_xlsx_free(x);
		return -1;
	}
	*ret = x;
	return 0;
}

void translate_xlsx_free(struct translate_xlsx *x)
{
	if (x == NULL)
		return;
	for (size_t i = 0; i < x->n; i++)
		buf_fini(&x->segment[i].text);
	if (x->zip != NULL)
		zip_discard(x->zip);
	for (size_t i = 0; i < x->nparts; i++) {
		xmlFreeDoc(x->part[i].doc);
		xmlFree(x->part[i].text);
	}
	if (x->names != NULL)
		xmlHashFree(x->names, NULL);
	if (x->source != NULL)
		zip_source_free(x->source);
	free(x->segment);
	free(x->part);
	free(x);
}

size_t translate_xlsx_count(const struct translate_xlsx *x)
{
	return x->n;
}

struct str translate_xlsx_source(const struct translate_xlsx *x, size_t i)
{
	return (struct str){ (const char *)x->segment[i].text.data, x->segment[i].text.len };
}

int translate_xlsx_set_target(struct translate_xlsx *x, size_t i, struct str marked,
			      struct translate_failure *f)
{
	return translate_xlsx_fill(&x->segment[i], marked) < 0 ? no_memory(f) : 0;
}

static int replace_part(struct translate_xlsx *x, struct translate_xlsx_part *part,
			struct translate_failure *f)
{
	zip_source_t *source;
	int n = 0;

	xmlDocDumpMemoryEnc(part->doc, &part->text, &n, "UTF-8");
	source = part->text == NULL ? NULL : zip_source_buffer(x->zip, part->text, (zip_uint64_t)n, 0);
	if (source == NULL)
		return no_memory(f);
	if (zip_file_replace(x->zip, part->index, source, 0) < 0) {
		zip_source_free(source);
		return no_memory(f);
	}
	return 0;
}

static int read_back(struct translate_xlsx *x, struct buf *out, struct translate_failure *f)
{
	char piece[65536];
	zip_int64_t got;

	if (zip_source_open(x->source) < 0)
		return translate_fail(f, DOCUMENT_UNKNOWN, "The spreadsheet could not be written.");
	while ((got = zip_source_read(x->source, piece, sizeof(piece))) > 0)
		buf_put(out, piece, (size_t)got);
	(void)zip_source_close(x->source);
	if (got < 0 || out->failed)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "The translation is longer than the limit.");
	return 0;
}

int translate_xlsx_write(struct translate_xlsx *x, struct buf *out, struct translate_failure *f)
{
	for (size_t i = 0; i < x->nparts; i++) {
		if (replace_part(x, &x->part[i], f) < 0)
			return -1;
	}
	if (zip_close(x->zip) < 0)
		return translate_fail(f, DOCUMENT_UNKNOWN, "The spreadsheet could not be written: %.200s",
				      zip_strerror(x->zip));
	x->zip = NULL;
	return read_back(x, out, f);
}
