/* T-SQL's LIKE and PATINDEX against the plain definition of them, on many small cases; and what
 * they cost on the cases that once took minutes. SQLite's LIKE and GLOB are compared with
 * SQLite's own in store/test_match.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "value/pattern.h"

static int like(struct str text, struct str pattern, struct str escape, struct meter *m)
{
	struct pattern k = pattern_of_tsql(pattern, escape, false);

	return pattern_match(&k, text, m);
}

static int find(struct str text, struct str pattern, struct meter *m, size_t *ret_at)
{
	struct pattern k = pattern_of_tsql(pattern, STR(""), false);

	return pattern_find(&k, text, m, ret_at);
}

/* ---- the definition: every way to spread the text over the pattern is tried ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Where the set at p ends (behind its ']'), NULL: nowhere. */
static const char *set(const char *p, char c, bool *ret)
{
	bool negated = *++p == '^', found = false;
	const char *first;

	p += negated;
	for (first = p; *p != '\0' && (p == first || *p != ']');) {
		char low = lower(*p), high = low;

		p++;
		if (p[0] == '-' && p[1] != '\0' && p[1] != ']') {
			high = lower(p[1]);
			p += 2;
		}
		found = found || (lower(c) >= low && lower(c) <= high);
	}
	*ret = found != negated;
	return *p == '\0' ? NULL : p + 1;
}

static bool defined(const char *t, const char *p, char escape)
{
	const char *next = p + 1;
	bool match;

	if (*p == '\0')
		return strspn(t, " ") == strlen(t);
	if (*p == '%' && escape != '%') {
		for (;; t++) {
			if (defined(t, next, escape))
				return true;
			if (*t == '\0')
				return false;
		}
	}
	if (*t == '\0')
		return false;
	if (escape != '\0' && *p == escape && *next != '\0') {
		match = lower(*next) == lower(*t);
		next++;
	} else if (*p == '[') {
		next = set(p, *t, &match);
		if (next == NULL)
			return false;
	} else {
		match = *p == '_' || lower(*p) == lower(*t);
	}
	return match && defined(t + 1, next, escape);
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % n;
}

static void fill(char *dst, size_t most, const char *letters)
{
	size_t n = random_below((uint32_t)most + 1);

	for (size_t i = 0; i < n; i++)
		dst[i] = letters[random_below((uint32_t)strlen(letters))];
	dst[n] = '\0';
}

static void is_as_defined(void **state)
{
	(void)state;
	for (int i = 0; i < 300000; i++) {
		char text[12], pattern[12],
			escape[2] = { random_below(3) == 0 ? "!%_"[random_below(3)] : '\0' };
		struct str e = { escape, escape[0] == '\0' ? 0 : 1 };
		int rc;

		fill(text, 8, "abBc !%");
		fill(pattern, 10, "abBc%%%__[]^- !");
		rc = like(str_of(text), str_of(pattern), e, NULL);
		if (rc != (int)defined(text, pattern, escape[0]))
			fail_msg("'%s' like '%s' escape '%s' is %d", text, pattern, escape, rc);
	}
}

/* PATINDEX: the first place from which the rest of the pattern matches. */
static void is_found_where_it_matches(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++) {
		char text[12], pattern[12] = "%";
		size_t at = 0, expected = 0;
		int rc;

		fill(text, 8, "abc ");
		fill(pattern + 1, 8, "abc%_[]");
		rc = find(str_of(text), str_of(pattern), NULL, &at);
		for (size_t k = 0; k <= strlen(text) && expected == 0; k++)
			if (defined(text + k, pattern + strspn(pattern, "%"), '\0'))
				expected = k + 1;
		if (rc != (expected > 0) || (rc > 0 && at + 1 != expected))
			fail_msg("patindex('%s', '%s') is %d at %zu, not %zu", pattern, text, rc, at,
				 expected);
	}
}

static void costs_text_times_pattern_at_most(void **state)
{
	enum { N = 250, M = 200 };
	struct meter m = { .left = (uint64_t)4 * (N + 1) * (M + 1) };
	char text[N + 1], pattern[M + 2];
	size_t at = 0;

	(void)state;
	memset(text, 'a', N);
	text[N] = '\0';
	for (int i = 0; i < M; i += 2)
		memcpy(pattern + i, "%a", 2);
	memcpy(pattern + M, "b", 2);
	assert_int_equal(like(str_of(text), str_of(pattern), STR(""), &m), 0);
	assert_int_equal(find(str_of(text), str_of(pattern), &m, &at), 0);
	assert_false(m.gave_up);
}

static bool yes(void *arg)
{
	++*(int *)arg;
	return true;
}

static void can_be_stopped(void **state)
{
	static char text[100000], pattern[8000];
	int asked = 0;
	struct meter m = { .left = 1000000, .stop = yes, .arg = &asked };
	size_t at;

	(void)state;
	memset(text, 'a', sizeof(text));
	memset(pattern, 'a', sizeof(pattern));
	pattern[0] = pattern[sizeof(pattern) - 1] = '%';
	pattern[sizeof(pattern) - 2] = 'b';
	assert_int_equal(like((struct str){ text, sizeof(text) }, (struct str){ pattern, sizeof(pattern) },
			      STR(""), &m),
			 -1);
	assert_int_equal(asked, 1);
	m = (struct meter){ .left = 1000000, .stop = yes, .arg = &asked };
	assert_int_equal(
		find((struct str){ text, sizeof(text) }, (struct str){ pattern, sizeof(pattern) }, &m, &at),
		-1);
	assert_int_equal(asked, 2);
}

/* Each beginning fails after a few steps, but there are many: those count as well. */
static void short_failures_count(void **state)
{
	static char text[10000], pattern[1002];
	struct meter m = { .left = UINT64_MAX };
	size_t at;

	(void)state;
	memset(text, 'a', sizeof(text));
	memset(pattern, 'a', sizeof(pattern));
	pattern[0] = '%';
	pattern[sizeof(pattern) - 1] = 'b';
	assert_int_equal(
		find((struct str){ text, sizeof(text) }, (struct str){ pattern, sizeof(pattern) }, &m, &at),
		0);
	assert_true(UINT64_MAX - m.left > (uint64_t)9000 * 1000);
}

static void an_escape_is_one_character(void **state)
{
	(void)state;
	assert_true(pattern_is_escape(STR("!")) && pattern_is_escape(STR("é")) &&
		    pattern_is_escape(STR("€")));
	assert_false(pattern_is_escape(STR("")) || pattern_is_escape(STR("!!")) ||
		     pattern_is_escape(STR("é!")));
	assert_int_equal(like(STR("50%"), STR("50€%"), STR("€"), NULL), 1);
	assert_int_equal(like(STR("500"), STR("50€%"), STR("€"), NULL), 0);
}

static void texts_have_any_byte(void **state)
{
	(void)state;
	assert_int_equal(like(STR("a\0b"), STR("a_B"), STR(""), NULL), 1);
	assert_int_equal(like(STR("a\0b"), STR("a\0c"), STR(""), NULL), 0);
	assert_int_equal(like(STR("a\0b"), STR("a"), STR(""), NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_as_defined),
		cmocka_unit_test(is_found_where_it_matches),
		cmocka_unit_test(costs_text_times_pattern_at_most),
		cmocka_unit_test(can_be_stopped),
		cmocka_unit_test(short_failures_count),
		cmocka_unit_test(an_escape_is_one_character),
		cmocka_unit_test(texts_have_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
