/* words.c — see words.h. */
#include "base/words.h"

#include <stdlib.h>
#include <string.h>

void words_free(char **words)
{
	for (size_t i = 0; words != NULL && words[i] != NULL; i++)
		free(words[i]);
	free(words);
}

/* One word from *p into dst, which is large enough for the rest of the line. False: a quotation
 * is open. */
static bool take_word(const char **p, char *dst)
{
	char quote = '\0';

	for (; **p != '\0' && (quote != '\0' || (**p != ' ' && **p != '\t')); ++*p) {
		if (quote == '\0' && (**p == '\'' || **p == '"'))
			quote = **p;
		else if (**p == quote)
			quote = '\0';
		else if (**p == '\\' && quote != '\'' && (*p)[1] != '\0')
			*dst++ = *++*p;
		else
			*dst++ = **p;
	}
	*dst = '\0';
	return quote == '\0';
}

char **words_split(const char *line)
{
	size_t n = 0, room = strlen(line);
	bool ok = true;
	char **words = calloc(room + 2, sizeof(*words)), *word = malloc(room + 1);

	while (ok && words != NULL && word != NULL) {
		line += strspn(line, " \t");
		if (*line == '\0')
			break;
		ok = take_word(&line, word) && (words[n++] = strdup(word)) != NULL;
	}
	ok = ok && word != NULL && n > 0;
	free(word);
	if (words == NULL || !ok) {
		words_free(words);
		return NULL;
	}
	return words;
}
