/* fuzz_job_settings.c — the Settings of a job as they are read outside of any jail: what they say
 * about an existing output, for both services, and the languages of a translation.
 * Input: the settings. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "document/behaviour.h"
#include "fuzz.h"
#include "translate/job.h"

/* Whether it is XML without a document type. */
static bool is_plain_xml(const uint8_t *data, size_t size)
{
	xmlDoc *doc = xmlReadMemory((const char *)data, (int)size, NULL, NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	bool plain = doc != NULL && xmlGetIntSubset(doc) == NULL;

	xmlFreeDoc(doc);
	return plain;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct str settings = { (const char *)data, size };
	struct translate_failure f = { 0 };
	struct translate_job job;

	if (document_settings_replace(settings.p, size))
		HOLDS(is_plain_xml(data, size));
	if (translate_job_read(settings, &job, &f) < 0) {
		HOLDS(f.error == DOCUMENT_SETTINGS_INVALID && f.text[0] != '\0');
		return 0;
	}
	HOLDS(is_plain_xml(data, size));
	HOLDS(translate_tag_is_valid(job.from) && translate_tag_is_valid(job.to));
	return 0;
}
