/* lexer.c — T-SQL text as tokens. Reads forward only, one character ahead at most two; every
 * step compares with the end of the text. */
#include "tsql/parse/lexer.h"

#include <assert.h>
#include <string.h>

#define NAME_LIMIT 128

void tsql_lexer_init(struct lexer *lx, struct str text, bool quoted_identifier)
{
	lx->p = text.p;
	lx->end = text.p + text.n;
	lx->line = 1;
	lx->quoted_identifier = quoted_identifier;
	/* some clients put a byte order mark first */
	if (text.n >= 3 && memcmp(text.p, "\xEF\xBB\xBF", 3) == 0)
		lx->p += 3;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#' ||
	       (unsigned char)c >= 0x80;
}

static bool is_name(char c)
{
	return is_name_start(c) || is_digit(c) || c == '@' || c == '$';
}

static char peek(const struct lexer *lx, size_t n)
{
	return (size_t)(lx->end - lx->p) > n ? lx->p[n] : '\0';
}

/* Blanks of Unicode that people paste: no-break space and the byte order mark. */
static size_t wide_blank(const struct lexer *lx)
{
	size_t left = (size_t)(lx->end - lx->p);

	if (left >= 2 && memcmp(lx->p, "\xC2\xA0", 2) == 0)
		return 2;
	if (left >= 3 && (memcmp(lx->p, "\xEF\xBB\xBF", 3) == 0 || memcmp(lx->p, "\xE3\x80\x80", 3) == 0))
		return 3;
	return 0;
}

/* Comments nest, as T-SQL's do. */
static int skip_comment(struct lexer *lx, struct err *reterr)
{
	size_t depth = 0;

	do {
		if (lx->end - lx->p < 2) {
			int rc = err_raise(reterr, 113, 15, 1, "Missing end comment mark '*/'.");
			if (reterr != NULL)
				reterr->line = lx->line;
			return rc;
		}
		if (lx->p[0] == '/' && lx->p[1] == '*') {
			depth++;
			lx->p += 2;
		} else if (lx->p[0] == '*' && lx->p[1] == '/') {
			assert(depth > 0); /* the first thing that was seen opened one */
			depth--;
			lx->p += 2;
		} else {
			lx->line += *lx->p == '\n';
			lx->p++;
		}
	} while (depth > 0);
	return 0;
}

static int skip_blanks(struct lexer *lx, struct err *reterr)
{
	while (lx->p < lx->end) {
		char c = *lx->p;
		size_t wide;

		if (c == '\n') {
			lx->line++;
			lx->p++;
		} else if (c == '-' && peek(lx, 1) == '-') {
			while (lx->p < lx->end && *lx->p != '\n')
				lx->p++;
		} else if (c == '/' && peek(lx, 1) == '*') {
			if (skip_comment(lx, reterr) < 0)
				return -1;
		} else if ((unsigned char)c <= ' ') {
			lx->p++;
		} else if ((wide = wide_blank(lx)) > 0) {
			lx->p += wide;
		} else {
			break;
		}
	}
	return 0;
}

static int too_long(const struct token *t, struct err *reterr)
{
	int rc = err_raise(reterr, 103, 15, 4,
			   "The identifier that starts with '%.*s' is too long. Maximum length is %d.",
			   NAME_LIMIT, t->text.p, NAME_LIMIT);
	if (reterr != NULL)
		reterr->line = t->line;
	return rc;
}

/* From the opening quote to the closing one; a doubled closing quote stands for itself. */
static int read_quoted(struct lexer *lx, char close, struct token *t, struct err *reterr)
{
	const char *from = lx->p;

	lx->p++;
	while (lx->p < lx->end) {
		if (*lx->p == close) {
			if (peek(lx, 1) != close)
				break;
			lx->p++;
		}
		lx->line += *lx->p == '\n';
		lx->p++;
	}
	if (lx->p >= lx->end) {
		size_t n = (size_t)(lx->end - from) - 1;
		char shown[129];
		int rc;

		str_copy(shown, sizeof(shown), (struct str){ from + 1, n });
		rc = err_set(reterr, ERR_UNCLOSED_QUOTE, shown);
		if (reterr != NULL)
			reterr->line = t->line;
		return rc;
	}
	lx->p++;
	if (t->kind == T_QUOTED && (size_t)(lx->p - from) > 4 * NAME_LIMIT + 2)
		return too_long(t, reterr);
	return 0;
}

static void read_digits(struct lexer *lx)
{
	while (lx->p < lx->end && is_digit(*lx->p))
		lx->p++;
}

static uint8_t read_number(struct lexer *lx)
{
	uint8_t kind = T_INT;

	if (*lx->p == '0' && (peek(lx, 1) == 'x' || peek(lx, 1) == 'X')) {
		lx->p += 2;
		while (lx->p < lx->end && is_hex(*lx->p))
			lx->p++;
		return T_BINARY;
	}
	read_digits(lx);
	if (peek(lx, 0) == '.') {
		kind = T_DECIMAL;
		lx->p++;
		read_digits(lx);
	}
	if (peek(lx, 0) == 'e' || peek(lx, 0) == 'E') {
		kind = T_FLOAT;
		lx->p++;
		if ((peek(lx, 0) == '+' || peek(lx, 0) == '-') && is_digit(peek(lx, 1)))
			lx->p++;
		read_digits(lx);
	}
	return kind;
}

static void read_money(struct lexer *lx)
{
	lx->p++;
	if (peek(lx, 0) == '-' || peek(lx, 0) == '+')
		lx->p++;
	read_digits(lx);
	if (peek(lx, 0) == '.') {
		lx->p++;
		read_digits(lx);
	}
}

static int read_name(struct lexer *lx, struct token *t, struct err *reterr)
{
	const char *from = lx->p;

	while (lx->p < lx->end && is_name(*lx->p) && wide_blank(lx) == 0)
		lx->p++;
	if ((size_t)(lx->p - from) > 3 * NAME_LIMIT)
		return too_long(t, reterr);
	return 0;
}

static int read_op(struct lexer *lx)
{
	static const char pairs[][2] = {
		{ '<', '=' }, { '>', '=' }, { '<', '>' }, { '!', '=' }, { '!', '<' },
		{ '!', '>' }, { '+', '=' }, { '-', '=' }, { '*', '=' }, { '/', '=' },
		{ '%', '=' }, { '&', '=' }, { '^', '=' }, { '|', '=' }, { ':', ':' }
	};
	char a = *lx->p, b = peek(lx, 1);

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		if (pairs[i][0] == a && pairs[i][1] == b) {
			lx->p += 2;
			return TSQL_OP2(a, b);
		}
	}
	lx->p++;
	return (unsigned char)a;
}

static int read_token(struct lexer *lx, struct token *t, struct err *reterr)
{
	char c = *lx->p, next = peek(lx, 1);

	if (c == '\'') {
		t->kind = T_STRING;
		return read_quoted(lx, '\'', t, reterr);
	}
	if ((c == 'N' || c == 'n') && next == '\'') {
		t->kind = T_NSTRING;
		lx->p++;
		return read_quoted(lx, '\'', t, reterr);
	}
	if (c == '"') {
		t->kind = lx->quoted_identifier ? T_QUOTED : T_STRING;
		return read_quoted(lx, '"', t, reterr);
	}
	if (c == '[') {
		t->kind = T_QUOTED;
		return read_quoted(lx, ']', t, reterr);
	}
	if (is_digit(c) || (c == '.' && is_digit(next))) {
		t->kind = read_number(lx);
		return 0;
	}
	if (c == '$') {
		t->kind = T_MONEY;
		read_money(lx);
		return 0;
	}
	if (c == '@') {
		t->kind = next == '@' ? T_GLOBAL : T_VARIABLE;
		return read_name(lx, t, reterr);
	}
	if (is_name_start(c)) {
		t->kind = T_NAME;
		return read_name(lx, t, reterr);
	}
	t->kind = T_OP;
	t->op = read_op(lx);
	return 0;
}

int tsql_lexer_next(struct lexer *lx, struct token *ret, struct err *reterr)
{
	struct token t = { .kind = T_END };

	if (skip_blanks(lx, reterr) < 0)
		return -1;
	t.line = lx->line;
	t.text.p = lx->p;
	if (lx->p < lx->end && read_token(lx, &t, reterr) < 0)
		return -1;
	t.text.n = (size_t)(lx->p - t.text.p);
	*ret = t;
	return 0;
}

int tsql_token_content(const struct token *t, struct arena *a, struct str *ret, struct err *reterr)
{
	struct str s = t->text;
	char quote, *dst;
	size_t n = 0;

	if (t->kind == T_NSTRING) {
		s.p++;
		s.n--;
	}
	if (t->kind != T_QUOTED && t->kind != T_STRING && t->kind != T_NSTRING) {
		*ret = s;
		return 0;
	}
	quote = s.p[s.n - 1];
	s.p++;
	s.n -= 2;
	if (memchr(s.p, quote, s.n) == NULL) {
		*ret = s;
		return 0;
	}
	dst = arena_alloc_raw(a, s.n);
	if (dst == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; i < s.n; i++) {
		dst[n++] = s.p[i];
		if (s.p[i] == quote)
			i++;
	}
	*ret = (struct str){ dst, n };
	return 0;
}

bool tsql_token_is(const struct token *t, const char *keyword)
{
	return t->kind == T_NAME && str_eq_nocase(t->text, str_of(keyword));
}
