/* xml_scan.c — a look at the tags before the parser sees them. libxml2 compares every
 * attribute of an element with every other one and cannot be stopped meanwhile, so an element
 * with too many of them must not reach it. Only what matters for counting is understood: where
 * tags begin and end, and how many values in quotes they have. Where a document is not well
 * formed this may go astray, but then the parser stops at that place, before it comes to what
 * was not counted rightly. */
#include <string.h>

#include "service/xml_int.h"

static bool starts(struct str s, size_t at, struct str mark)
{
	return s.n - at >= mark.n && memcmp(s.p + at, mark.p, mark.n) == 0;
}

/* Where the text goes on after the mark; its end when there is none. */
static size_t past(struct str s, size_t at, struct str mark)
{
	while (at < s.n) {
		const char *p = memchr(s.p + at, mark.p[0], s.n - at);

		if (p == NULL)
			break;
		at = (size_t)(p - s.p);
		if (starts(s, at, mark))
			return at + mark.n;
		at++;
	}
	return s.n;
}

/* After the start tag at this place. *ret_attributes: the values in quotes, namespaces among
 * them. */
static size_t past_tag(struct str s, size_t at, unsigned *ret_attributes)
{
	unsigned n = 0;

	for (at++; at < s.n && s.p[at] != '>' && n <= XML_TAG_ATTRIBUTES_MAX; at++) {
		const char *end;

		if (s.p[at] != '"' && s.p[at] != '\'')
			continue;
		n++;
		end = memchr(s.p + at + 1, s.p[at], s.n - at - 1);
		at = end == NULL ? s.n - 1 : (size_t)(end - s.p);
	}
	*ret_attributes = n;
	return at;
}

int service_xml_scan(struct xml_reader *r, struct str s)
{
	size_t at = 0, before;
	const char *p;

	while (at < s.n && (p = memchr(s.p + at, '<', s.n - at)) != NULL) {
		unsigned attributes = 0;

		before = at;
		at = (size_t)(p - s.p);
		if (starts(s, at, STR("<!--")))
			at = past(s, at + 4, STR("-->"));
		else if (starts(s, at, STR("<![CDATA[")))
			at = past(s, at + 9, STR("]]>"));
		else if (starts(s, at, STR("<?")))
			at = past(s, at + 2, STR("?>"));
		else if (starts(s, at, STR("<!")))
			return 0; /* a DTD or nonsense: the parser goes no further */
		else if (starts(s, at, STR("</")))
			at = past(s, at + 2, STR(">"));
		else
			at = past_tag(s, at, &attributes);
		if (attributes > XML_TAG_ATTRIBUTES_MAX)
			return service_xml_too_many_attributes(r);
		if (service_xml_stopped(r, at - before))
			return -1;
	}
	return 0;
}
