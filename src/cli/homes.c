/* homes.c — the folders that the command keeps for its user, as the XDG base directories have
 * them. */
#include <stdlib.h>

#include "cli/batch.h"

static bool home(const char *variable, const char *below, const char *name, char *dst, size_t size)
{
	const char *given = getenv(variable), *user = getenv("HOME");

	if (given != NULL && given[0] == '/')
		return snprintf(dst, size, "%s/%s", given, name) < (int)size;
	return user != NULL && user[0] == '/' &&
	       snprintf(dst, size, "%s/%s/%s", user, below, name) < (int)size;
}

bool cli_home_data(char *dst, size_t size)
{
	return home("XDG_DATA_HOME", ".local/share", "procession", dst, size);
}

bool cli_home_state(const char *service, char *dst, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), "procession/%s", service);
	return home("XDG_STATE_HOME", ".local/state", name, dst, size);
}
