/* pattern.h — LIKE, PATINDEX and GLOB: one matcher for what the evaluator computes and for what
 * the store computes over rows. Where T-SQL and SQLite mean different things by a pattern, it is
 * a field here. No pattern costs more than text × pattern, and the meter counts the steps. */
#ifndef VALUE_PATTERN_H
#define VALUE_PATTERN_H

#include "base/meter.h"
#include "base/str.h"

struct pattern {
	struct str text;
	char many, one; /* any text, any character: % _ or * ? */
	bool sets;      /* [a-c] [^x]; without them '[' means itself, as in SQLite's LIKE */
	bool fold;      /* the letters of ASCII without case; GLOB minds it */
	/* []-a] is a range from ']' to 'a'; to SQLite it is ']', '-' and 'a' */
	bool bracket_begins_range;
	/* an escape character that nothing follows means what it would without ESCAPE; to SQLite
	 * it matches nothing */
	bool last_escape_is_plain;
	bool blanks_may_stay; /* the text's trailing blanks need not be matched */
	struct str escape;    /* one character (pattern_is_escape), or empty: none */
};

/* The pattern as T-SQL's LIKE and PATINDEX mean it. unicode: text or pattern is nvarchar, and then
 * blanks at the end of the text count. */
struct pattern pattern_of_tsql(struct str text, struct str escape, bool unicode);
/* ESCAPE takes exactly one character. */
bool pattern_is_escape(struct str s);

/* 1, 0, or -1: given up. */
MUST_CHECK int pattern_match(const struct pattern *k, struct str text, struct meter *m);
/* PATINDEX: where the match begins without what leading '%' take. 1 and *ret_at (in bytes), 0:
 * nowhere, -1: given up. */
MUST_CHECK int pattern_find(const struct pattern *k, struct str text, struct meter *m, size_t *ret_at);

#endif
