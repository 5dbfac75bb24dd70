/* usage.c — see usage.h. */
#include "usage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
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

struct ticks {
	unsigned long parent, own, of_ended; /* of_ended: of the children that have gone */
};

/* schedstat would be finer, but counts one thread only; stat has the whole process in ticks. */
static struct ticks read_ticks(int pid)
{
	FILE *f = open_proc(pid, "stat", "r");
	struct ticks t = { 0 };
	unsigned long ut = 0, st = 0, cut = 0, cst = 0;
	char line[1024], *name_end;

	if (f == NULL)
		return t;
	if (fgets(line, sizeof(line), f) != NULL && (name_end = strrchr(line, ')')) != NULL)
		(void)sscanf(name_end + 2, "%*c %lu %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
			     &t.parent, &ut, &st, &cut, &cst);
	fclose(f);
	t.own = ut + st;
	t.of_ended = cut + cst;
	return t;
}

double usage_of_family(int pid)
{
	struct ticks head = read_ticks(pid);
	unsigned long all = head.own + head.of_ended;
	DIR *d = pid <= 0 ? NULL : opendir("/proc");

	for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
		int other = (int)strtol(e->d_name, NULL, 10);
		struct ticks t = read_ticks(other);

		if (other > 0 && t.parent == (unsigned long)pid)
			all += t.own;
	}
	if (d != NULL)
		closedir(d);
	return (double)all / (double)sysconf(_SC_CLK_TCK);
}

struct usage usage_of(int pid)
{
	struct usage u = { .cpu_s = (double)read_ticks(pid).own / (double)sysconf(_SC_CLK_TCK) };

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
