/* test_lexer.c — tokens, their lines, and what is never closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tsql/parse/lexer.h"

static void tokens_are(const char *text, size_t n, const struct token *want)
{
	struct lexer lx;
	struct token t;
	struct err e;

	tsql_lexer_init(&lx, str_of(text), true);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(tsql_lexer_next(&lx, &t, &e), 0);
		assert_int_equal(t.kind, want[i].kind);
		assert_true(str_eq(t.text, want[i].text));
		assert_int_equal(t.line, want[i].line);
		if (t.kind == T_OP)
			assert_int_equal(t.op, want[i].op);
	}
	for (int again = 0; again < 2; again++) {
		assert_int_equal(tsql_lexer_next(&lx, &t, &e), 0);
		assert_int_equal(t.kind, T_END);
	}
}
#define TOKENS(text, ...) \
	tokens_are(text, sizeof((struct token[]){ __VA_ARGS__ }) / sizeof(struct token), \
		   (struct token[]){ __VA_ARGS__ })
#define T(kind, line, text) \
	{ \
		kind, 0, line, STR(text) \
	}
#define OP(op, line, text) \
	{ \
		T_OP, op, line, STR(text) \
	}

static void every_kind_of_token(void **state)
{
	(void)state;
	TOKENS("a _b #t \xC3\xA9 [x]]y] \"q\"", T(T_NAME, 1, "a"), T(T_NAME, 1, "_b"), T(T_NAME, 1, "#t"),
	       T(T_NAME, 1, "\xC3\xA9"), T(T_QUOTED, 1, "[x]]y]"), T(T_QUOTED, 1, "\"q\""));
	TOKENS("1 1.5 .5 1. 1e5 1e+5 2E-1 1e 0xAb 0x $1.5 $", T(T_INT, 1, "1"), T(T_DECIMAL, 1, "1.5"),
	       T(T_DECIMAL, 1, ".5"), T(T_DECIMAL, 1, "1."), T(T_FLOAT, 1, "1e5"), T(T_FLOAT, 1, "1e+5"),
	       T(T_FLOAT, 1, "2E-1"), T(T_FLOAT, 1, "1e"), T(T_BINARY, 1, "0xAb"), T(T_BINARY, 1, "0x"),
	       T(T_MONEY, 1, "$1.5"), T(T_MONEY, 1, "$"));
	TOKENS("'a''b' N'c' n'' @x @@y @", T(T_STRING, 1, "'a''b'"), T(T_NSTRING, 1, "N'c'"),
	       T(T_NSTRING, 1, "n''"), T(T_VARIABLE, 1, "@x"), T(T_GLOBAL, 1, "@@y"), T(T_VARIABLE, 1, "@"));
	TOKENS("<= <> != += =-;.", OP(TSQL_OP2('<', '='), 1, "<="), OP(TSQL_OP2('<', '>'), 1, "<>"),
	       OP(TSQL_OP2('!', '='), 1, "!="), OP(TSQL_OP2('+', '='), 1, "+="), OP('=', 1, "="),
	       OP('-', 1, "-"), OP(';', 1, ";"), OP('.', 1, "."));
	TOKENS("1a", T(T_INT, 1, "1"), T(T_NAME, 1, "a"));
	TOKENS("a\xC2\xA0"
	       "b",
	       T(T_NAME, 1, "a"), T(T_NAME, 1, "b"));
}

static void lines_and_comments(void **state)
{
	(void)state;
	TOKENS("a -- x\nb /* \n /* \n */ */ c\r\n'd\n' e", T(T_NAME, 1, "a"), T(T_NAME, 2, "b"),
	       T(T_NAME, 4, "c"), T(T_STRING, 5, "'d\n'"), T(T_NAME, 6, "e"));
	TOKENS("\xEF\xBB\xBF"
	       "a--",
	       T(T_NAME, 1, "a"));
	TOKENS("a/ *b", T(T_NAME, 1, "a"), OP('/', 1, "/"), OP('*', 1, "*"), T(T_NAME, 1, "b"));
}

static void what_is_never_closed(void **state)
{
	static const struct {
		const char *text;
		int number;
		int line;
	} cases[] = {
		{ "\n'abc", 105, 2 }, { "[abc", 105, 1 },     { "\"abc", 105, 1 },
		{ "'a''", 105, 1 },   { "/* /* */", 113, 1 }, { "/*/", 113, 1 },
	};
	struct lexer lx;
	struct token t;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		tsql_lexer_init(&lx, str_of(cases[i].text), true);
		assert_int_equal(tsql_lexer_next(&lx, &t, &e), -1);
		assert_int_equal(e.number, cases[i].number);
		assert_int_equal(e.line, cases[i].line);
	}
}

static void contents(void **state)
{
	static const struct {
		const char *text, *content;
	} cases[] = {
		{ "'it''s'", "it's" },  { "N''''", "'" },   { "[a]]b]", "a]b" },
		{ "\"a\"\"\"", "a\"" }, { "name", "name" }, { "''", "" },
	};
	struct arena a;

	(void)state;
	arena_init(&a, 1 << 16);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct lexer lx;
		struct token t;
		struct str s;

		tsql_lexer_init(&lx, str_of(cases[i].text), true);
		assert_int_equal(tsql_lexer_next(&lx, &t, NULL), 0);
		assert_int_equal(tsql_token_content(&t, &a, &s, NULL), 0);
		assert_true(str_eq(s, str_of(cases[i].content)));
	}
	arena_fini(&a);
}

static void reserved_words(void **state)
{
	static const char *const yes[] = { "add",         "SELECT",
					   "Identitycol", "identity_insert",
					   "try_convert", "current_timestamp",
					   "writetext",   "CURRENT",
					   "user",        "with" };
	static const char *const no[] = { "",        "a",    "offset", "throw", "selec",
					  "selects", "work", "try",    "zzz",   "sum" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(tsql_keyword_reserved(str_of(yes[i])));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(tsql_keyword_reserved(str_of(no[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_token),  cmocka_unit_test(lines_and_comments),
		cmocka_unit_test(what_is_never_closed), cmocka_unit_test(contents),
		cmocka_unit_test(reserved_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
