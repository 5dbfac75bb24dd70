/* rules.h — which engine translates which pair of languages. A rule is a pair and an engine, as a
 * configuration or the command line has them:
 *   en-es = apertium            a mode of Apertium; a name after it chooses one
 *   en-de = http://127.0.0.1:5000/translate
 *                               a service of the LibreTranslate kind; key-file=/PATH after it: a
 *                               file whose first line is the key
 *   de-*  = lines /usr/bin/mt {from} {to}
 *                               a command that reads texts, a line of HTML each, and writes as many
 *   *-fr  = document /usr/bin/dt {from} {to}
 *                               a command that reads a document and writes one, or takes {input}
 *                               and {output}
 *   en-pl = none                nobody: an error for this pair
 * Before a command: show=/PATH, what it needs besides /usr (several), and network, when it asks
 * somebody else. The first rule that matches counts; without one Apertium is asked. */
#ifndef TRANSLATE_RULES_H
#define TRANSLATE_RULES_H

#include "base/err.h"

#define TRANSLATE_SHOW_MAX 8

enum translate_engine_kind {
	TRANSLATE_BY_APERTIUM,
	TRANSLATE_BY_HTTP,
	TRANSLATE_BY_LINES,
	TRANSLATE_BY_DOCUMENT,
	TRANSLATE_BY_NOBODY
};

struct translate_rule {
	char *from, *to; /* patterns */
	enum translate_engine_kind kind;
	/* of the engine, after its kind: mode, URL, command; the list ends with NULL and may be
	 * empty */
	char **words;
	char **show;    /* paths that a command needs in its jail; NULL at the end, NULL: none */
	bool network;   /* a command may talk to the network */
	char *key_file; /* of a service; NULL: none */
};

struct translate_rules {
	struct translate_rule *rule; /* owned */
	size_t n;
};

MUST_CHECK int translate_rules_add(struct translate_rules *r, const char *pair, const char *engine,
				   struct err *reterr);
void translate_rules_fini(struct translate_rules *r);
/* NULL: none. */
const struct translate_rule *translate_rules_find(const struct translate_rules *r, const char *from,
						  const char *to);

#endif
