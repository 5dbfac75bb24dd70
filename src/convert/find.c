/* find.c — where procession-converter is: installed, or in a build folder. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/convert.h"

#define NAME "procession-converter"

static bool there(const char *folder, const char *below, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s%s/" NAME, folder, below);

	return n > 0 && (size_t)n < size && access(ret, X_OK) == 0;
}

int convert_find_program(char *ret, size_t size, struct err *reterr)
{
	/* Beside the program, as installed, and where a build folder has it. */
	static const char *const places[] = { "", "/../libexec/procession", "/../convert" };
	const char *folder = getenv("PROCESSION_LIBEXEC");
	char self[PATH_MAX];
	ssize_t n;

	if (folder != NULL && there(folder, "", ret, size))
		return 0;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		for (size_t i = 0; i < ARRAY_LEN(places); i++)
			if (there(self, places[i], ret, size))
				return 0;
	}
	return err_raise(reterr, 50000, 16, 1,
			 NAME " is not where it should be (../libexec/procession beside this program): "
			      "install Procession as a whole, or "
			      "set PROCESSION_LIBEXEC to its folder");
}
