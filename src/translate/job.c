/* job.c — see job.h. */
#include "translate/job.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#define SETTINGS_MAX 65536

static int set(struct translate_job *job, const char *name, const xmlChar *value, struct translate_failure *f)
{
	struct str text = str_trim(str_of((const char *)value));
	char *tag = strcmp(name, "SourceLanguage") == 0   ? job->from
		    : strcmp(name, "TargetLanguage") == 0 ? job->to
							  : NULL;

	if (strcmp(name, "OutputSaveBehavior") == 0)
		return 0;
	if (tag == NULL)
		return translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "The settings have '%.60s', which means nothing here: SourceLanguage "
				      "and TargetLanguage do.",
				      name);
	str_copy(tag, TRANSLATE_TAG_MAX, text);
	if (text.n >= TRANSLATE_TAG_MAX || !translate_tag_is_valid(tag))
		return translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "%s '%.60s' is no language: write en, pt-BR or eng.", name,
				      (const char *)value);
	return 0;
}

static int set_from_node(struct translate_job *job, const xmlNode *node, struct translate_failure *f)
{
	xmlChar *value = xmlNodeGetContent(node);
	int rc = value == NULL ? translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.")
			       : set(job, (const char *)node->name, value, f);

	xmlFree(value);
	return rc;
}

static int read_root(const xmlNode *root, struct translate_job *job, struct translate_failure *f)
{
	for (const xmlAttr *a = root->properties; a != NULL; a = a->next) {
		if (set_from_node(job, (const xmlNode *)a, f) < 0)
			return -1;
	}
	for (const xmlNode *n = root->children; n != NULL; n = n->next) {
		if (n->type == XML_ELEMENT_NODE && set_from_node(job, n, f) < 0)
			return -1;
	}
	if (job->to[0] == '\0')
		return translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "The settings of the job have no TargetLanguage.");
	if (job->from[0] == '\0')
		return translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "The settings of the job have no SourceLanguage.");
	return 0;
}

int translate_job_read(struct str settings, struct translate_job *ret, struct translate_failure *f)
{
	struct translate_job job = { 0 };
	xmlDoc *doc = NULL;
	int rc;

	if (settings.n > 0 && settings.n <= SETTINGS_MAX)
		doc = xmlReadMemory(settings.p, (int)settings.n, NULL, NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (doc == NULL)
		return translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "The settings of the job are no XML: SourceLanguage and TargetLanguage "
				      "must be in them.");
	rc = xmlGetIntSubset(doc) != NULL
		     ? translate_fail(f, DOCUMENT_SETTINGS_INVALID,
				      "The settings of the job have a DTD, which is not read.")
		     : read_root(xmlDocGetRootElement(doc), &job, f);
	xmlFreeDoc(doc);
	if (rc == 0)
		*ret = job;
	return rc;
}
