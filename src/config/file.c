/* file.c — files with settings: [section], name = value, comments. The syntax is inih's. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/table.h"

/* inih reads a line into 200 bytes and would take the rest for another line: longer ones are
 * refused before it sees them. */
#define LINE_MAX_BYTES 198
#define FILE_MAX_BYTES (1024 * 1024)

struct reading {
	config_entry *entry;
	void *arg;
	bool refused;
	struct err err; /* of the first line that was refused */
};

/* Called by inih for every name = value. 0 makes it report the line as bad; it goes on, but
 * remembers the first of these. */
static int on_line(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;

	if (r->refused)
		return 0;
	r->refused = r->entry(r->arg, section, name, value, &r->err) < 0;
	return !r->refused;
}

/* The whole file as text, from malloc. */
static int read_file(const char *path, char **ret, struct err *reterr)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n;

	if (f == NULL)
		return err_raise(reterr, 50000, 16, 1, "cannot read the configuration file '%s': %s", path,
				 strerror(errno));
	text = malloc(FILE_MAX_BYTES + 1);
	if (text == NULL) {
		fclose(f);
		return err_nomem(reterr);
	}
	n = fread(text, 1, FILE_MAX_BYTES + 1, f);
	if (ferror(f) != 0) {
		err_raise(reterr, 50000, 16, 1, "cannot read the configuration file '%s': %s", path,
			  strerror(errno));
	} else if (n > FILE_MAX_BYTES) {
		err_raise(reterr, 50000, 16, 1, "the configuration file '%s' is larger than a megabyte",
			  path);
	} else if (memchr(text, '\0', n) != NULL) {
		err_raise(reterr, 50000, 16, 1, "the configuration file '%s' is not text", path);
	} else {
		text[n] = '\0';
		fclose(f);
		*ret = text;
		return 0;
	}
	free(text);
	fclose(f);
	return -1;
}

static int check_line_lengths(const char *path, const char *text, struct err *reterr)
{
	int line = 1;

	for (const char *p = text; *p != '\0'; line++) {
		size_t n = strcspn(p, "\n");
		if (n > LINE_MAX_BYTES)
			return err_raise(reterr, 50000, 16, 1,
					 "%s:%d: the line is longer than %d bytes; give this setting by flag "
					 "or environment",
					 path, line, LINE_MAX_BYTES);
		p += n + (p[n] == '\n');
	}
	return 0;
}

int config_file_read(const char *path, config_entry *entry, void *arg, struct err *reterr)
{
	struct reading r = { .entry = entry, .arg = arg };
	char *text = NULL;
	int line;

	if (read_file(path, &text, reterr) < 0)
		return -1;
	if (check_line_lengths(path, text, reterr) < 0) {
		free(text);
		return -1;
	}
	line = ini_parse_string(text, on_line, &r);
	free(text);
	if (line < 0)
		return err_nomem(reterr);
	if (line == 0)
		return 0;
	return err_raise(reterr, 50000, 16, 1, "%s:%d: %s", path, line,
			 r.refused
				 ? r.err.text
				 : "not a setting; write 'name = value', one a line, comments after ; or #");
}
