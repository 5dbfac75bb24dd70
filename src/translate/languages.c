/* languages.c — see languages.h. */
#include "translate/languages.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const struct {
	char two[3], three[4];
} languages[] = {
#define LANGUAGE(two, three) { two, three },
#include "translate/languages.def"
#undef LANGUAGE
};

/* A tag in its parts: the language, and what follows with underscores, its region in capitals, as
 * Apertium writes it. */
struct tag {
	char language[4];
	char rest[TRANSLATE_TAG_MAX];
};

bool translate_tag_is_valid(const char *tag)
{
	size_t language = strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
	       n = strlen(tag);

	if (n >= TRANSLATE_TAG_MAX || language < 2 || language > 3)
		return false;
	for (size_t i = language; i < n; i++) {
		bool joint = tag[i] == '-' || tag[i] == '_';

		if (!joint && !isalnum((unsigned char)tag[i]))
			return false;
		if (joint && !isalnum((unsigned char)tag[i + 1]))
			return false;
	}
	return true;
}

static void read_tag(const char *text, struct tag *ret)
{
	size_t language = strcspn(text, "-_"), n = 0;

	*ret = (struct tag){ 0 };
	for (size_t i = 0; i < language && i < 3; i++)
		ret->language[i] = (char)tolower((unsigned char)text[i]);
	for (const char *p = text + language; *p != '\0';) {
		size_t part = strcspn(p + 1, "-_");

		ret->rest[n++] = '_';
		for (size_t i = 1; i <= part; i++)
			ret->rest[n++] = (char)(part == 2 ? toupper((unsigned char)p[i])
							  : tolower((unsigned char)p[i]));
		p += part + 1;
	}
}

/* The codes of a language: what was written, and the others that mean the same. Returns how many of
 * at most max. */
static size_t codes_of(const char *language, const char **ret, size_t max)
{
	size_t n = 0;

	ret[n++] = language;
	for (size_t i = 0; i < ARRAY_LEN(languages) && n < max; i++) {
		if (strcmp(languages[i].two, language) == 0)
			ret[n++] = languages[i].three;
		else if (strcmp(languages[i].three, language) == 0)
			ret[n++] = languages[i].two;
	}
	return n;
}

#define CODES_MAX 8

static bool is_same_language(const char *a, const char *b)
{
	const char *codes[CODES_MAX];
	size_t n = codes_of(a, codes, CODES_MAX);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(codes[i], b) == 0)
			return true;
	}
	return false;
}

bool translate_tag_matches(const char *pattern, const char *tag)
{
	struct tag p, t;

	if (strcmp(pattern, "*") == 0)
		return true;
	read_tag(pattern, &p);
	read_tag(tag, &t);
	return is_same_language(p.language, t.language) && (p.rest[0] == '\0' || strcmp(p.rest, t.rest) == 0);
}

static bool try_pair(const char *folder, const struct tag *from, bool from_rest, const struct tag *to,
		     bool to_rest, char *ret, size_t size)
{
	const char *from_codes[CODES_MAX], *to_codes[CODES_MAX];
	size_t nfrom = codes_of(from->language, from_codes, CODES_MAX),
	       nto = codes_of(to->language, to_codes, CODES_MAX);

	for (size_t i = 0; i < nfrom * nto; i++) {
		int n = snprintf(ret, size, "%s/modes/%s%s-%s%s.mode", folder, from_codes[i / nto],
				 from_rest ? from->rest : "", to_codes[i % nto], to_rest ? to->rest : "");

		if (n > 0 && (size_t)n < size && access(ret, R_OK) == 0)
			return true;
	}
	return false;
}

bool translate_find_mode(const char *folder, const char *from, const char *to, char *ret, size_t size)
{
	struct tag f, t;

	read_tag(from, &f);
	read_tag(to, &t);
	return try_pair(folder, &f, true, &t, true, ret, size) ||
	       try_pair(folder, &f, false, &t, true, ret, size) ||
	       try_pair(folder, &f, true, &t, false, ret, size) ||
	       try_pair(folder, &f, false, &t, false, ret, size);
}
