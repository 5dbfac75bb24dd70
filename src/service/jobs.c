/* jobs.c — see jobs.h. The content models are the specifications' schemas; the two databases
 * differ in namespace and in whether `out` is required [E-TRAN-18]. */
#include "service/jobs.h"

#include <assert.h>

#include "service/jobs_int.h"

#define WORD_URI "http://schemas.microsoft.com/office/server/word/2009/08/"
#define TRANSLATION_URI "http://schemas.microsoft.com/office/server/translation/2010/11/"

enum { ROW_ITEM, ROW_START, ROW_FAILED };

static const struct xml_attribute_rule word_item[] = { { "id", XML_INT, true },
						       { "in", XML_STRING, true },
						       { "out", XML_STRING, false } };
static const struct xml_attribute_rule translation_item[] = { { "id", XML_INT, true },
							      { "in", XML_STRING, true },
							      { "out", XML_STRING, true } };
static const struct xml_attribute_rule start_item[] = {
	{ "job", XML_LONG, true },
	{ "group", XML_SHORT, true },
	{ "id", XML_INT, true },
	{ "wsi", XML_GUID, true },
};
static const struct xml_attribute_rule failed_item[] = {
	{ "job", XML_LONG, true },
	{ "group", XML_SHORT, true },
	{ "id", XML_INT, true },
	{ "error", XML_INT, true },
};

#define ITEMS(rule, kind, at_least) \
	((const struct xml_element_rule[]){ \
		{ "item", (at_least), XML_UNBOUNDED, (kind), (rule), ARRAY_LEN(rule), NULL, 0 } })

static const struct xml_element_rule batch_parts[] = {
	{ "start", 1, 1, -1, NULL, 0, ITEMS(start_item, ROW_START, 0), 1 },
	{ "failed", 1, 1, -1, NULL, 0, ITEMS(failed_item, ROW_FAILED, 0), 1 },
};
static const struct xml_element_rule batch_root = { "batch", 1, 1,           -1,
						    NULL,    0, batch_parts, ARRAY_LEN(batch_parts) };
static const struct xml_element_rule word_group_root = {
	"group", 1, 1, -1, NULL, 0, ITEMS(word_item, ROW_ITEM, 1), 1
};
static const struct xml_element_rule translation_group_root = {
	"group", 1, 1, -1, NULL, 0, ITEMS(translation_item, ROW_ITEM, 1), 1
};

static const struct xml_model word_group = { WORD_URI "databaseJobAdd", &word_group_root };
static const struct xml_model word_batch = { WORD_URI "databaseBatchUpdate", &batch_root };
static const struct xml_model translation_group = { TRANSLATION_URI "databaseJobAdd",
						    &translation_group_root };
static const struct xml_model translation_batch = { TRANSLATION_URI "databaseBatchUpdate", &batch_root };

struct reading {
	struct job_document *document;
	struct arena *arena;
};

static int take_row(void *arg, int row, const struct value *fields, size_t nfields, struct err *reterr)
{
	struct reading *r = arg;
	struct job_document *d = r->document;
	struct job_rows *rows = row == ROW_ITEM ? &d->items : row == ROW_START ? &d->start : &d->failed;

	return service_job_rows_add(rows, r->arena, fields, nfields, reterr);
}

/* Reads the document and keeps its rows for the EACH steps that follow. As a rule that is done
 * before the call is submitted; when it runs, then, perhaps once more after it was undone,
 * nothing has been changed by it yet. */
static int read_document(struct native_ctx *ctx, struct err *reterr)
{
	struct arena *a = ctx->call->arena;
	struct job_document *d = ctx->call->scratch;
	struct reading r = { NULL, a };

	assert(ctx->nargs > 0 && ctx->call->arena != NULL);
	if (d != NULL) {
		service_job_rows_begin(&d->items);
		service_job_rows_begin(&d->start);
		service_job_rows_begin(&d->failed);
		return 0;
	}
	r.document = d = arena_alloc(a, sizeof(*d));
	if (d == NULL)
		return err_nomem(reterr);
	if (service_xml_read(&ctx->args[0], ctx->userdata, ctx->meter, a, take_row, &r, reterr) < 0)
		return -1;
	if (service_job_rows_last_only(&d->start, reterr) < 0 ||
	    service_job_rows_last_only(&d->failed, reterr) < 0)
		return -1;
	ctx->call->scratch = d;
	return 0;
}

static int each_row(struct native_ctx *ctx, struct job_rows *rows, size_t nfields, struct err *reterr)
{
	assert(ctx->each != NULL && ctx->call->scratch != NULL);
	for (size_t i = 0; i < rows->n; i++) {
		if (ctx->each(ctx, rows->rows[i], nfields, reterr) != 0)
			return -1;
		rows->changed[i] = rows->changed[i] || ctx->changes > 0;
	}
	return 0;
}

static struct job_document *document_of(struct native_ctx *ctx, struct err *reterr)
{
	if (ctx->call->scratch == NULL)
		(void)err_raise(reterr, 50010, 16, 1, "The procedure uses a document that it has not read.");
	return ctx->call->scratch;
}

static int group_items(struct native_ctx *ctx, struct err *reterr)
{
	struct job_document *d = document_of(ctx, reterr);

	return d == NULL ? -1 : each_row(ctx, &d->items, 3, reterr);
}

static int batch_start(struct native_ctx *ctx, struct err *reterr)
{
	struct job_document *d = document_of(ctx, reterr);

	return d == NULL ? -1 : each_row(ctx, &d->start, 4, reterr);
}

static int batch_failed(struct native_ctx *ctx, struct err *reterr)
{
	struct job_document *d = document_of(ctx, reterr);

	return d == NULL ? -1 : each_row(ctx, &d->failed, 4, reterr);
}

/* The next changed row at or after *i; NULL: none. */
static const struct value *next_changed(const struct job_rows *r, size_t *i)
{
	while (*i < r->n && !r->changed[*i])
		(*i)++;
	return *i < r->n ? r->rows[*i] : NULL;
}

/* Both lists are in the order of their keys: they are merged, and each group is given once. */
static int batch_groups(struct native_ctx *ctx, struct err *reterr)
{
	struct job_document *d = document_of(ctx, reterr);
	const struct value *last = NULL;
	size_t i = 0, k = 0;

	if (d == NULL)
		return -1;
	for (;;) {
		const struct value *a = next_changed(&d->start, &i), *b = next_changed(&d->failed, &k), *pick;

		if (a == NULL && b == NULL)
			return 0;
		if (b == NULL || (a != NULL && service_job_key_compare(a, b, 2) <= 0)) {
			pick = a;
			i++;
		} else {
			pick = b;
			k++;
		}
		if (last != NULL && service_job_key_compare(last, pick, 2) == 0)
			continue;
		last = pick;
		if (ctx->each(ctx, pick, 2, reterr) != 0)
			return -1;
	}
}

void service_jobs_register(struct catalogue_natives *all)
{
	service_xml_init();
	catalogue_native_register_ahead(all, "word_group", read_document, (void *)&word_group);
	catalogue_native_register_ahead(all, "word_batch", read_document, (void *)&word_batch);
	catalogue_native_register_ahead(all, "translation_group", read_document, (void *)&translation_group);
	catalogue_native_register_ahead(all, "translation_batch", read_document, (void *)&translation_batch);
	catalogue_native_register(all, "group_items", group_items, NULL);
	catalogue_native_register(all, "batch_start", batch_start, NULL);
	catalogue_native_register(all, "batch_failed", batch_failed, NULL);
	catalogue_native_register(all, "batch_groups", batch_groups, NULL);
}
