/* usage.c — see usage.h. */
#include "usage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *open_proc(int pid, const char *file, const char *mode)
{
	char path[64];

	if (pid <= 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return fopen(path, mode);
}

static void read_lines(int pid, const char *file, struct usage *u)
{
	FILE *f = open_proc(pid, file, "r");
	char line[512];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		(void)sscanf(line, "write_bytes: %lu", &u->written);
		(void)sscanf(line, "VmRSS: %ld", &u->rss_kb);
		(void)sscanf(line, "VmHWM: %ld", &u->peak_kb);
	}
	if (f != NULL)
		fclose(f);
}

/* schedstat would be finer, but counts one thread only; stat has the whole process in ticks. */
static double cpu_seconds(int pid)
{
	FILE *f = open_proc(pid, "stat", "r");
	unsigned long ut = 0, st = 0;
	char line[1024], *name_end;

	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) != NULL && (name_end = strrchr(line, ')')) != NULL)
		(void)sscanf(name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &ut, &st);
	fclose(f);
	return (double)(ut + st) / (double)sysconf(_SC_CLK_TCK);
}

struct usage usage_of(int pid)
{
	struct usage u = { .cpu_s = cpu_seconds(pid) };

	read_lines(pid, "io", &u);
	read_lines(pid, "status", &u);
	return u;
}

void usage_reset_peak(int pid)
{
	FILE *f = open_proc(pid, "clear_refs", "w");

	if (f == NULL)
		return;
	fputs("5", f);
	fclose(f);
}
