/* arguments.c — what a request gives: names and texts. JSON is read by jansson. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "http/json.h"

#define NAME_MOST 32u

/* Letters and '_', digits behind: what can be a variable. */
static bool is_name(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > NAME_MOST || (name[0] >= '0' && name[0] <= '9'))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == n;
}

bool http_arguments_add(struct http_arguments *a, const char *name, const char *text, size_t n)
{
	struct local_value *v;
	char *own_name, *own_text;

	if (a->n == HTTP_ARGUMENTS || !is_name(name))
		return false;
	own_name = malloc(strlen(name) + 2);
	own_text = malloc(n + 1);
	if (own_name == NULL || own_text == NULL) {
		free(own_name);
		free(own_text);
		return false;
	}
	snprintf(own_name, strlen(name) + 2, "@%s", name);
	if (n > 0)
		memcpy(own_text, text, n);
	own_text[n] = '\0';
	v = &a->values[a->n++];
	v->name = own_name;
	v->text.p = own_text;
	v->text.n = n;
	v->null = text == NULL;
	return true;
}

static bool add_member(struct http_arguments *a, const char *name, const json_t *v)
{
	char number[32];

	if (json_is_string(v))
		return http_arguments_add(a, name, json_string_value(v), json_string_length(v));
	if (json_is_null(v))
		return http_arguments_add(a, name, NULL, 0);
	if (json_is_boolean(v))
		return http_arguments_add(a, name, json_is_true(v) ? "1" : "0", 1);
	if (!json_is_integer(v))
		return false;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return http_arguments_add(a, name, number, strlen(number));
}

bool http_arguments_read(struct http_arguments *a, const void *p, size_t n)
{
	json_t *root = json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL);
	bool ok = json_is_object(root);

	if (ok) {
		for (void *it = json_object_iter(root); ok && it != NULL;
		     it = json_object_iter_next(root, it))
			ok = add_member(a, json_object_iter_key(it), json_object_iter_value(it));
	}
	json_decref(root);
	return ok;
}

void http_arguments_fini(struct http_arguments *a)
{
	for (size_t i = 0; i < a->n; i++) {
		explicit_bzero((void *)(uintptr_t)a->values[i].text.p, a->values[i].text.n);
		free((void *)(uintptr_t)a->values[i].text.p);
		free((void *)(uintptr_t)a->values[i].name);
	}
	a->n = 0;
}

struct str http_arguments_text(const struct http_arguments *a, const char *name)
{
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->values[i].name, name) == 0)
			return a->values[i].text;
	}
	return (struct str){ "", 0 };
}
