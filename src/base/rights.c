/* rights.c — who may what with a file. */
#include "base/rights.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void rights_describe(const char *path, char *dst, size_t size)
{
	struct stat s;

	dst[0] = '\0';
	if (stat(path, &s) == 0)
		snprintf(dst, size, " (owner uid %u, mode %04o; this program runs as uid %u)",
			 (unsigned)s.st_uid, (unsigned)s.st_mode & 07777, (unsigned)geteuid());
}
