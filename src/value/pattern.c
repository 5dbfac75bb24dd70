/* pattern.c — see pattern.h. One pass with a single place to go back to: the last '%'. What an
 * earlier one could take more, the last one can take as well. */
#include "value/pattern.h"

#include <string.h>

#define STEPS_AT_ONCE 4096u /* counted before the meter hears of them */

static size_t char_length(struct str s, size_t at)
{
	unsigned char c = (unsigned char)s.p[at];
	size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	return n > s.n - at ? s.n - at : n;
}

/* The bytes of a character as a number: they sort as the characters do. */
static uint32_t character(struct str s, size_t at, size_t len, bool fold)
{
	uint32_t c = 0;

	for (size_t i = 0; i < len; i++)
		c = c << 8 | (unsigned char)s.p[at + i];
	return fold && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* [a-cx] at p.p[at]. Where it ends, or 0: it is never closed, and matches nothing. */
static size_t in_set(const struct pattern *k, size_t at, uint32_t c, bool *ret_match)
{
	struct str p = k->text;
	bool negated = at + 1 < p.n && p.p[at + 1] == '^', found = false;
	size_t i = at + 1 + negated;

	for (bool first = true; i < p.n && (first || p.p[i] != ']'); first = false) {
		size_t len = char_length(p, i);
		uint32_t low = character(p, i, len, k->fold), high = low;
		bool may_begin = low != ']' || k->bracket_begins_range;

		i += len;
		if (may_begin && i + 1 < p.n && p.p[i] == '-' && p.p[i + 1] != ']') {
			len = char_length(p, i + 1);
			high = character(p, i + 1, len, k->fold);
			i += 1 + len;
		}
		found = found || (c >= low && c <= high);
	}
	*ret_match = found != negated;
	return i < p.n ? i + 1 : 0;
}

static bool is_escape(const struct pattern *k, size_t at, size_t len)
{
	return k->escape.n > 0 && len == k->escape.n && memcmp(k->text.p + at, k->escape.p, len) == 0 &&
	       !(k->last_escape_is_plain && at + len == k->text.n);
}

/* Does the pattern's element at *at match the character? Advances *at. */
static bool element(const struct pattern *k, size_t *at, uint32_t c)
{
	size_t len = char_length(k->text, *at), end;
	bool match = false;

	if (is_escape(k, *at, len)) {
		*at += len;
		if (*at >= k->text.n)
			return false;
		len = char_length(k->text, *at);
	} else if (k->sets && k->text.p[*at] == '[') {
		end = in_set(k, *at, c, &match);
		*at = end == 0 ? k->text.n : end;
		return match && end != 0;
	} else if (k->text.p[*at] == k->one) {
		*at += 1;
		return true;
	}
	match = character(k->text, *at, len, k->fold) == c;
	*at += len;
	return match;
}

static bool is_many(const struct pattern *k, size_t at)
{
	return at < k->text.n && k->text.p[at] == k->many && !(k->escape.n == 1 && k->escape.p[0] == k->many);
}

/* ret_passed: a '%' was reached before it failed, so that a later beginning of the same text
 * would fail as well. */
static int match(const struct pattern *k, struct str text, struct meter *m, bool *ret_passed)
{
	size_t t = 0, p = 0, back_t = 0, back_p = 0, steps, end = text.n;

	*ret_passed = false;
	while (k->blanks_may_stay && end > 0 && text.p[end - 1] == ' ')
		end--;
	steps = text.n - end;
	while (p < k->text.n || t < end) {
		if (++steps >= STEPS_AT_ONCE) {
			if (!meter_spend(m, steps))
				return -1;
			steps = 0;
		}
		if (is_many(k, p)) {
			*ret_passed = true;
			back_p = ++p;
			back_t = t;
			continue;
		}
		if (p < k->text.n && t < text.n) {
			size_t len = char_length(text, t), before = p;
			bool met = element(k, &p, character(text, t, len, k->fold));

			steps += p - before;
			if (met) {
				t += len;
				continue;
			}
		}
		if (!*ret_passed || back_t >= text.n)
			return meter_spend(m, steps) ? 0 : -1;
		back_t += char_length(text, back_t);
		t = back_t;
		p = back_p;
	}
	return meter_spend(m, steps) ? 1 : -1;
}

struct pattern pattern_of_tsql(struct str text, struct str escape, bool unicode)
{
	return (struct pattern){ .text = text,
				 .many = '%',
				 .one = '_',
				 .sets = true,
				 .fold = true,
				 .bracket_begins_range = true,
				 .last_escape_is_plain = true,
				 .blanks_may_stay = !unicode,
				 .escape = escape };
}

bool pattern_is_escape(struct str s)
{
	return s.n > 0 && char_length(s, 0) == s.n;
}

int pattern_match(const struct pattern *k, struct str text, struct meter *m)
{
	bool passed;

	return match(k, text, m, &passed);
}

int pattern_find(const struct pattern *k, struct str text, struct meter *m, size_t *ret_at)
{
	struct pattern rest = *k;
	bool passed = false;
	size_t at = 0;
	int rc;

	while (is_many(&rest, 0)) {
		rest.text.p++;
		rest.text.n--;
	}
	rc = match(&rest, text, m, &passed);
	while (rc == 0 && is_many(k, 0) && !passed && at < text.n) {
		at += char_length(text, at);
		rc = match(&rest, (struct str){ text.p + at, text.n - at }, m, &passed);
	}
	if (rc > 0)
		*ret_at = at;
	return rc;
}
