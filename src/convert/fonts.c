/* fonts.c — whether fonts were installed or removed since LibreOffice started, which looks for
 * them once: the times of the folders of fonts, which change with their contents. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/engine_int.h"

#define DEPTH_MAX 6
#define FOLDERS_MAX 4096

struct walk {
	uint64_t stamp;
	unsigned folders;
};

/* Adds in any order give the same sum. Takes over the descriptor. */
static void look(struct walk *w, int fd, int depth)
{
	struct stat st;
	struct dirent *entry;
	DIR *d;

	if (fstat(fd, &st) < 0 || ++w->folders > FOLDERS_MAX || (d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	w->stamp += (uint64_t)st.st_ino * UINT64_C(0x9E3779B97F4A7C15) ^
		    ((uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
	while (depth < DEPTH_MAX && (entry = readdir(d)) != NULL) {
		int below;

		if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		below = openat(dirfd(d), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			look(w, below, depth + 1);
	}
	closedir(d);
}

uint64_t convert_fonts_stamp(void)
{
	static const char *const folders[] = { "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts" };
	struct walk w = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		int fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			look(&w, fd, 0);
	}
	return w.stamp;
}
