/* lexer.h — T-SQL text as tokens, on demand. A lexer is small and may be copied: a copy reads
 * ahead without disturbing the original. */
#ifndef TSQL_PARSE_LEXER_H
#define TSQL_PARSE_LEXER_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum token_kind {
	T_END,
	T_NAME,   /* bare word, reserved or not */
	T_QUOTED, /* [name] or "name": never a keyword */
	T_STRING,
	T_NSTRING,
	T_INT,
	T_DECIMAL,
	T_FLOAT,
	T_MONEY,
	T_BINARY,
	T_VARIABLE, /* @x */
	T_GLOBAL,   /* @@x */
	T_OP,       /* op: the character, or TSQL_OP2 of two */
};
#define TSQL_OP2(a, b) ((a) << 8 | (b))

struct token {
	uint8_t kind;
	int op;
	int line;        /* where it begins */
	struct str text; /* as written, brackets and quotes included */
};

struct lexer {
	const char *p, *end;
	int line;
	bool quoted_identifier; /* "…" is a name, else a string */
};

void tsql_lexer_init(struct lexer *lx, struct str text, bool quoted_identifier);
/* Comments and blanks are skipped. At the end: T_END, again and again. 105 and 113 for what is
 * never closed, 103 for endless names. */
MUST_CHECK int tsql_lexer_next(struct lexer *lx, struct token *ret, struct err *reterr);
/* Content of a string or name without its quotes, doubled ones made single. */
MUST_CHECK int tsql_token_content(const struct token *t, struct arena *a, struct str *ret,
				  struct err *reterr);
bool tsql_token_is(const struct token *t, const char *keyword);
/* A word that T-SQL reserves: no alias, no bare name of anything. */
bool tsql_keyword_reserved(struct str word);

#endif
