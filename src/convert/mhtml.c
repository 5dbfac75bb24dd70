/* mhtml.c — a web page and its pictures as one file of MIME parts (RFC 2557): every part in
 * base64, each picture under the name by which the page refers to it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "convert/nursery_int.h"

#define BOUNDARY "----=_procession_part" /* no base64 has an underscore */
#define PIECE (57 * 256)                 /* lines of 76 characters */

static const char *type_of(const char *name)
{
	static const struct {
		const char *extension, *type;
	} types[] = {
		{ "png", "image/png" }, { "jpg", "image/jpeg" },    { "jpeg", "image/jpeg" },
		{ "gif", "image/gif" }, { "svg", "image/svg+xml" }, { "bmp", "image/bmp" },
		{ "wmf", "image/wmf" }, { "emf", "image/emf" },
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot != NULL && i < ARRAY_LEN(types); i++)
		if (str_eq_nocase(str_of(dot + 1), str_of(types[i].extension)))
			return types[i].type;
	return "application/octet-stream";
}

static void put_base64(FILE *to, const uint8_t *p, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
				(i + 2 < n ? p[i + 2] : 0);

		putc(digits[bits >> 18], to);
		putc(digits[bits >> 12 & 63], to);
		putc(i + 1 < n ? digits[bits >> 6 & 63] : '=', to);
		putc(i + 2 < n ? digits[bits & 63] : '=', to);
		if (i % 57 == 54)
			fputs("\r\n", to);
	}
}

static int put_part(FILE *to, int folder, const char *name, const char *type)
{
	uint8_t piece[PIECE];
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	fprintf(to,
		"\r\n--" BOUNDARY
		"\r\nContent-Type: %s\r\nContent-Transfer-Encoding: base64\r\nContent-Location: %s\r\n\r\n",
		type, name);
	/* From a file all of a piece comes at once, but for the last. */
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		put_base64(to, piece, (size_t)n);
	close(fd);
	return (int)n;
}

/* What LibreOffice wrote beside the page begins with the page's name. */
static int put_pictures(FILE *to, DIR *d, const char *page)
{
	size_t stem = strcspn(page, ".");
	struct dirent *entry;

	while ((entry = readdir(d)) != NULL)
		if (strncmp(entry->d_name, page, stem) == 0 && strcmp(entry->d_name, page) != 0 &&
		    put_part(to, dirfd(d), entry->d_name, type_of(entry->d_name)) < 0)
			return -1;
	return 0;
}

int convert_write_mhtml(const char *folder, const char *page, int output)
{
	const char *name = strrchr(page, '/') + 1;
	DIR *d = opendir(folder);
	int copy = d != NULL ? dup(output) : -1, rc = -1;
	FILE *to = copy >= 0 ? fdopen(copy, "w") : NULL;

	if (to != NULL) {
		fprintf(to, "MIME-Version: 1.0\r\nContent-Type: multipart/related; type=\"text/html\"; "
			    "boundary=\"" BOUNDARY "\"\r\n");
		rc = put_part(to, dirfd(d), name, "text/html; charset=utf-8");
		if (rc == 0)
			rc = put_pictures(to, d, name);
		fputs("\r\n--" BOUNDARY "--\r\n", to);
		if (ferror(to))
			rc = -1;
		if (fclose(to) != 0)
			rc = -1;
	} else if (copy >= 0) {
		close(copy);
	}
	if (d != NULL)
		closedir(d);
	return rc;
}
