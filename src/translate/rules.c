/* rules.c — see rules.h. */
#include "translate/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "translate/languages.h"

static bool is_pattern(const char *s)
{
	return strcmp(s, "*") == 0 || translate_tag_is_valid(s);
}

/* "pt_BR-es": the first hyphen stands between the two, variants are written with an underscore. */
static int set_pair(struct translate_rule *rule, const char *pair, struct err *reterr)
{
	const char *joint = strchr(pair, '-');

	if (joint != NULL) {
		rule->from = strndup(pair, (size_t)(joint - pair));
		rule->to = strdup(joint + 1);
	}
	if (joint == NULL || rule->from == NULL || rule->to == NULL || !is_pattern(rule->from) ||
	    !is_pattern(rule->to))
		return err_raise(reterr, 50000, 16, 1,
				 "'%s' is no pair of languages: write en-es, pt_BR-en, *-fr or *-*", pair);
	return 0;
}

static void drop_first(char **words)
{
	free(words[0]);
	for (size_t i = 0; words[i] != NULL; i++)
		words[i] = words[i + 1];
}

static int set_service(struct translate_rule *rule, struct err *reterr)
{
	rule->kind = TRANSLATE_BY_HTTP;
	for (size_t i = 1; rule->words[i] != NULL; i++) {
		if (strncmp(rule->words[i], "key-file=", 9) != 0 || rule->words[i][9] != '/')
			return err_raise(
				reterr, 50000, 16, 1,
				"after the address of a service only key-file=/PATH may stand, not '%s'",
				rule->words[i]);
		free(rule->key_file);
		rule->key_file = strdup(rule->words[i] + 9);
		if (rule->key_file == NULL)
			return err_nomem(reterr);
	}
	return 0;
}

/* show=PATH and network, before the command. */
static int take_wishes(struct translate_rule *rule, struct err *reterr)
{
	size_t n = 0;

	for (size_t i = 0; rule->words[i] != NULL; i++)
		n++;
	rule->show = calloc(n + 1, sizeof(*rule->show));
	if (rule->show == NULL)
		return err_nomem(reterr);
	n = 0;
	while (rule->words[0] != NULL && rule->words[0][0] != '/') {
		if (strcmp(rule->words[0], "network") == 0) {
			rule->network = true;
		} else if (strncmp(rule->words[0], "show=/", 6) == 0 &&
			   strncmp(rule->words[0], "show=/tmp/", 10) != 0 && n < TRANSLATE_SHOW_MAX) {
			rule->show[n] = strdup(rule->words[0] + 5);
			if (rule->show[n++] == NULL)
				return err_nomem(reterr);
		} else {
			break;
		}
		drop_first(rule->words);
	}
	return 0;
}

static int set_command(struct translate_rule *rule, const char *engine, struct err *reterr)
{
	rule->kind = strcmp(rule->words[0], "lines") == 0 ? TRANSLATE_BY_LINES : TRANSLATE_BY_DOCUMENT;
	drop_first(rule->words);
	if (take_wishes(rule, reterr) < 0)
		return -1;
	if (rule->words[0] == NULL || rule->words[0][0] != '/')
		return err_raise(
			reterr, 50000, 16, 1,
			"after lines or document come show=/PATH and network, if they are needed "
			"(%d paths at most, none of them below /tmp), and then a command by its whole path, "
			"such as /usr/local/bin/translate: '%s'",
			TRANSLATE_SHOW_MAX, engine);
	return 0;
}

static int set_engine(struct translate_rule *rule, const char *engine, struct err *reterr)
{
	const char *first;

	rule->words = words_split(engine);
	if (rule->words == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "an engine is missing, or a quotation is not closed: '%s'", engine);
	first = rule->words[0];
	if (strncmp(first, "http://", 7) == 0 || strncmp(first, "https://", 8) == 0)
		return set_service(rule, reterr);
	if (strcmp(first, "lines") == 0 || strcmp(first, "document") == 0)
		return set_command(rule, engine, reterr);
	if (strcmp(first, "none") == 0 && rule->words[1] == NULL) {
		rule->kind = TRANSLATE_BY_NOBODY;
		return 0;
	}
	if (strcmp(first, "apertium") == 0 &&
	    (rule->words[1] == NULL || (rule->words[2] == NULL && strchr(rule->words[1], '/') == NULL))) {
		rule->kind = TRANSLATE_BY_APERTIUM;
		drop_first(rule->words);
		return 0;
	}
	return err_raise(reterr, 50000, 16, 1,
			 "'%s' is no engine: write apertium, apertium MODE, http://HOST:PORT/translate, "
			 "lines COMMAND, document COMMAND or none",
			 engine);
}

static void rule_fini(struct translate_rule *rule)
{
	free(rule->from);
	free(rule->to);
	free(rule->key_file);
	words_free(rule->words);
	words_free(rule->show);
}

int translate_rules_add(struct translate_rules *r, const char *pair, const char *engine, struct err *reterr)
{
	struct translate_rule *grown = realloc(r->rule, (r->n + 1) * sizeof(*grown)), rule = { 0 };

	if (grown == NULL)
		return err_nomem(reterr);
	r->rule = grown;
	if (set_pair(&rule, pair, reterr) < 0 || set_engine(&rule, engine, reterr) < 0) {
		rule_fini(&rule);
		return -1;
	}
	r->rule[r->n++] = rule;
	return 0;
}

void translate_rules_fini(struct translate_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		rule_fini(&r->rule[i]);
	free(r->rule);
	*r = (struct translate_rules){ 0 };
}

const struct translate_rule *translate_rules_find(const struct translate_rules *r, const char *from,
						  const char *to)
{
	for (size_t i = 0; i < r->n; i++) {
		if (translate_tag_matches(r->rule[i].from, from) && translate_tag_matches(r->rule[i].to, to))
			return &r->rule[i];
	}
	return NULL;
}
