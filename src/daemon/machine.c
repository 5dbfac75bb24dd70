/* machine.c — see machine.h. The limits of control groups are read as Linux shows them: version
 * 2, every group from ours upwards; version 1, what a container sees as its own. What cannot be
 * read limits nothing. */
#include "daemon/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"
#define PATH_SIZE 4096

/* "max", and what is no number, is no limit. */
static uint64_t read_limit(const char *path)
{
	char text[64];
	char *end = text;
	FILE *f = fopen(path, "re");
	uint64_t n = UINT64_MAX;

	if (f == NULL)
		return n;
	if (fgets(text, sizeof(text), f) != NULL) {
		n = strtoull(text, &end, 10);
		if (end == text || n == 0)
			n = UINT64_MAX;
	}
	fclose(f);
	return n;
}

/* The group of this process in version 2: "0::/system.slice/processiond.service". */
static void own_group(char *dst, size_t size)
{
	char line[PATH_SIZE];
	FILE *f = fopen("/proc/self/cgroup", "re");

	dst[0] = '\0';
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (snprintf(dst, size, "%s", line + 3) >= (int)size)
			dst[0] = '\0';
		break;
	}
	fclose(f);
}

static uint64_t group_limit(void)
{
	char group[PATH_SIZE], path[PATH_SIZE + 64];
	uint64_t least = read_limit(ROOT "/memory/memory.limit_in_bytes"), n;

	own_group(group, sizeof(group));
	for (;;) {
		char *slash = strrchr(group, '/');

		snprintf(path, sizeof(path), ROOT "%s/memory.max", group);
		n = read_limit(path);
		least = n < least ? n : least;
		if (slash == NULL)
			return least;
		*slash = '\0';
	}
}

uint64_t daemon_machine_memory(void)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
		 group = group_limit();

	return group < all ? group : all;
}
