/* principal.c — from a proved principal to a login: a row of its own, or a rule of the setting
 * principal_map. */
#define _GNU_SOURCE /* FNM_CASEFOLD, memrchr */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "auth/auth_int.h"

static enum auth_result take(struct auth *a, struct str name, struct auth_login *ret)
{
	struct auth_row row;
	int rc = auth_store_login(a, name, &row);

	if (rc < 0)
		return AUTH_ERROR;
	if (rc == 0)
		return AUTH_NO_LOGIN;
	explicit_bzero(row.hash, sizeof(row.hash));
	if (row.disabled)
		return AUTH_DISABLED;
	*ret = row.login;
	return AUTH_OK;
}

/* One rule, "PATTERN=LOGIN"; true: it names the login for this principal. Letter case does not
 * matter, as in Windows names. */
static bool rule_fits(struct str rule, const char *principal, struct str *ret_login)
{
	const char *equals = memrchr(rule.p, '=', rule.n);
	char pattern[300];

	/* A pattern that was cut off would fit more than it says. */
	if (equals == NULL || (size_t)(equals - rule.p) >= sizeof(pattern))
		return false;
	str_copy(pattern, sizeof(pattern), str_trim((struct str){ rule.p, (size_t)(equals - rule.p) }));
	*ret_login = str_trim((struct str){ equals + 1, rule.n - (size_t)(equals + 1 - rule.p) });
	return fnmatch(pattern, principal, FNM_NOESCAPE | FNM_CASEFOLD) == 0;
}

enum auth_result auth_find_principal(struct auth *a, const char *principal, struct auth_login *ret)
{
	enum auth_result r = take(a, str_of(principal), ret);
	const char *p = a->principal_map;

	while (r == AUTH_NO_LOGIN && *p != '\0') {
		size_t n = strcspn(p, ";");
		struct str login;

		if (rule_fits((struct str){ p, n }, principal, &login))
			return take(a, login, ret);
		p += n + (p[n] == ';');
	}
	return r;
}
