/* behaviour.c — see behaviour.h. libxml2's reader, without network, entities or document types. */
#include "document/behaviour.h"

#include <libxml/xmlreader.h>
#include <limits.h>
#include <string.h>

#define NAME "OutputSaveBehavior"

static bool says_replace(const xmlChar *value)
{
	char word[32];
	size_t n;

	if (value == NULL)
		return false;
	value += strspn((const char *)value, " \t\r\n");
	n = strcspn((const char *)value, " \t\r\n");
	if (n >= sizeof(word))
		return false;
	memcpy(word, value, n);
	word[n] = '\0';
	return strcmp(word, "AlwaysOverwrite") == 0 || strcmp(word, "AppendIfPossible") == 0;
}

static bool node_says(xmlTextReaderPtr r)
{
	xmlChar *value = NULL;
	bool yes;

	if (xmlTextReaderNodeType(r) != XML_READER_TYPE_ELEMENT)
		return false;
	value = xmlTextReaderGetAttribute(r, (const xmlChar *)NAME);
	if (value == NULL && xmlStrEqual(xmlTextReaderConstLocalName(r), (const xmlChar *)NAME))
		value = xmlTextReaderReadString(r);
	yes = says_replace(value);
	xmlFree(value);
	return yes;
}

static void quiet(void *arg, const char *msg, xmlParserSeverities severity, xmlTextReaderLocatorPtr where)
{
	(void)arg;
	(void)msg;
	(void)severity;
	(void)where;
}

bool document_settings_replace(const char *settings, size_t n)
{
	xmlTextReaderPtr r = n > 0 && n < INT_MAX ? xmlReaderForMemory(settings, (int)n, NULL, NULL,
								       XML_PARSE_NONET | XML_PARSE_NOERROR |
									       XML_PARSE_NOWARNING)
						  : NULL;
	bool yes = false;
	int rc;

	if (r == NULL)
		return false;
	xmlTextReaderSetErrorHandler(r, quiet, NULL);
	/* To its end: what is no XML says nothing, however it begins. */
	while ((rc = xmlTextReaderRead(r)) == 1 && xmlTextReaderNodeType(r) != XML_READER_TYPE_DOCUMENT_TYPE)
		yes = node_says(r) || yes;
	xmlFreeTextReader(r);
	return yes && rc == 0;
}
