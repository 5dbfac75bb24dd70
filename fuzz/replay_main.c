/* replay_main.c — feeds every file of the given folders to a fuzz target once: what was found
 * stays found, without libFuzzer. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define FILE_MAX (1 << 20)

static int files;

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *big = malloc(FILE_MAX), *exact;
	size_t n;

	HOLDS(f != NULL && big != NULL);
	n = fread(big, 1, FILE_MAX, f);
	fclose(f);
	exact = malloc(n == 0 ? 1 : n); /* exactly as long, for the address sanitizer */
	HOLDS(exact != NULL);
	memcpy(exact, big, n);
	free(big);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	files++;
}

static void replay_folder(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[4096];
	struct stat st;

	if (d == NULL) {
		fprintf(stderr, "%s: cannot be read\n", folder);
		exit(1);
	}
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
			replay_file(path);
	}
	closedir(d);
}

int main(int argc, char **argv)
{
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		replay_folder(argv[i]);
	printf("%d files replayed\n", files);
	return files > 0 ? 0 : 1;
}
