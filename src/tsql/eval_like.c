/* eval_like.c — LIKE: % _ [set] [^set] and ESCAPE, letters of ASCII without case. One pass with a single place to go back to, so that
 * no pattern costs more than text × pattern; and the meter counts the steps. */
#include "base/utf.h"
#include "tsql/functions.h"

static size_t char_length(struct str s, size_t at)
{
	unsigned char c = (unsigned char)s.p[at];
	size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	return n > s.n - at ? s.n - at : n;
}

static uint32_t folded(struct str s, size_t at, size_t len)
{
	uint32_t c = 0;

	for (size_t i = 0; i < len; i++)
		c = c << 8 | (unsigned char)s.p[at + i];
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* [a-cx] at pattern.p[at] == '['. False and ret_next 0: never closed, matches nothing. */
static bool in_set(struct str pattern, size_t at, uint32_t c, size_t *ret_next)
{
	bool negated = false, found = false;
	size_t i = at + 1;

	*ret_next = 0;
	if (i < pattern.n && pattern.p[i] == '^') {
		negated = true;
		i++;
	}
	for (bool first = true; i < pattern.n && (first || pattern.p[i] != ']'); first = false) {
		size_t len = char_length(pattern, i);
		uint32_t low = folded(pattern, i, len), high = low;

		i += len;
		if (i + 1 < pattern.n && pattern.p[i] == '-' && pattern.p[i + 1] != ']') {
			len = char_length(pattern, i + 1);
			high = folded(pattern, i + 1, len);
			i += 1 + len;
		}
		found = found || (c >= low && c <= high);
	}
	if (i >= pattern.n)
		return false;
	*ret_next = i + 1;
	return found != negated;
}

/* Does the pattern's element at *at match the character? Advances *at. */
static bool element(struct str pattern, size_t *at, struct str escape, uint32_t c)
{
	size_t len = char_length(pattern, *at), next;
	bool match;

	if (escape.n > 0 && len == escape.n && memcmp(pattern.p + *at, escape.p, len) == 0 && *at + len < pattern.n) {
		*at += len;
		len = char_length(pattern, *at);
		match = folded(pattern, *at, len) == c;
		*at += len;
		return match;
	}
	if (pattern.p[*at] == '[') {
		match = in_set(pattern, *at, c, &next);
		*at = next == 0 ? pattern.n : next;
		return match && next != 0;
	}
	match = pattern.p[*at] == '_' || folded(pattern, *at, len) == c;
	*at += len;
	return match;
}

#define STEPS_AT_ONCE 4096u     /* counted before the meter hears of them */

/* 1, 0, or -1: given up. ret_passed: a % was reached before it failed, so that a later beginning of the same text would fail as well. */
static int match(struct str text, struct str pattern, struct str escape, struct meter *m, bool *ret_passed)
{
	size_t t = 0, p = 0, back_t = 0, back_p = 0, steps = 0, end = text.n;

	*ret_passed = false;
	while (end > 0 && text.p[end - 1] == ' ')       /* trailing blanks of the text need not be matched */
		end--;
	steps = text.n - end;
	while (p < pattern.n || t < end) {
		if (steps >= STEPS_AT_ONCE) {
			if (!meter_spend(m, steps))
				return -1;
			steps = 0;
		}
		if (p < pattern.n && pattern.p[p] == '%' && !(escape.n == 1 && escape.p[0] == '%')) {
			*ret_passed = true;
			back_p = ++p;
			back_t = t;
			continue;
		}
		steps++;
		if (p < pattern.n && t < text.n) {
			size_t len = char_length(text, t), before = p;
			bool met = element(pattern, &p, escape, folded(text, t, len));

			steps += p - before;
			if (met) {
				t += len;
				continue;
			}
		}
		if (!*ret_passed || back_t >= text.n)
			return 0;
		back_t += char_length(text, back_t);
		t = back_t;
		p = back_p;
	}
	return meter_spend(m, steps) ? 1 : -1;
}

int like_escape(struct str escape, struct err *reterr)
{
	char shown[33];

	if (escape.n > 0 && char_length(escape, 0) == escape.n)
		return 0;
	str_copy(shown, sizeof(shown), escape);
	return err_set(reterr, ERR_LIKE_ESCAPE, shown);
}

int like_match(struct str text, struct str pattern, struct str escape, struct meter *m)
{
	bool passed;

	return match(text, pattern, escape, m, &passed);
}

int like_find(struct str text, struct str pattern, struct meter *m, size_t *ret)
{
	struct str none = { "", 0 };
	bool passed = false;
	int rc = 0;

	*ret = 0;
	if (pattern.n == 0 || pattern.p[0] != '%') {
		rc = match(text, pattern, none, m, &passed);
		*ret = rc > 0;
		return rc < 0 ? -1 : 0;
	}
	while (pattern.n > 0 && pattern.p[0] == '%') {
		pattern.p++;
		pattern.n--;
	}
	for (size_t at = 0; at <= text.n && !passed;) {
		rc = match((struct str){ text.p + at, text.n - at }, pattern, none, m, &passed);
		if (rc > 0)
			*ret = utf16_units(text.p, at) + 1;
		if (rc != 0 || at == text.n || !meter_spend(m, 1))
			break;
		at += char_length(text, at);
	}
	return rc < 0 || meter_gave_up(m) ? -1 : 0;
}
