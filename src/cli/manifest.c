/* manifest.c — see manifest.h. */
#include "cli/manifest.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_archive_manifest_fini(struct archive_manifest *m)
{
	free(m->databases);
	free(m->left_out);
	memset(m, 0, sizeof(*m));
}

static json_t *left_out_json(const struct archive_manifest *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->nleft_out; i++) {
		const struct archive_left_out *l = &m->left_out[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", l->name, "service",
						      l->service, "engine", l->engine));
	}
	return list;
}

char *cli_manifest_text(const struct archive_manifest *m)
{
	json_t *list = json_array(), *root;
	char *text;

	for (size_t i = 0; i < m->n; i++) {
		const struct archive_database *d = &m->databases[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:I, s:s}", "name", d->name, "service",
						      d->service, "file", d->file, "bytes",
						      (json_int_t)d->bytes, "sha256", d->sha256));
	}
	root = json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "procession_backup", ARCHIVE_FORMAT, "version",
			 m->version, "taken", m->taken, "server", m->server, "databases", list, "left_out",
			 left_out_json(m));
	text = root == NULL ? NULL : json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return text;
}

void cli_archive_show_left_out(const struct archive_manifest *m, bool json)
{
	char note[400];

	if (json)
		fputs("\"left_out\": [", stdout);
	for (size_t i = 0; i < m->nleft_out; i++) {
		const struct archive_left_out *l = &m->left_out[i];

		if (json) {
			fputs(i > 0 ? ", " : "", stdout);
			json_put_string(stdout, l->name);
		}
		snprintf(note, sizeof(note),
			 "procession: left out: %s, which is in PostgreSQL and to be saved with "
			 "pg_basebackup or pgBackRest",
			 l->name);
		cli_output_note(note);
	}
	if (json)
		fputs("]", stdout);
}

/* "1.2.3", and nothing else. */
static bool read_version(const char *text, unsigned long ret[3])
{
	for (int i = 0; i < 3; i++) {
		char *end;

		if (*text < '0' || *text > '9')
			return false;
		ret[i] = strtoul(text, &end, 10);
		if (*end != (i < 2 ? '.' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}

/* What cannot be read is taken for newer, too. */
bool cli_manifest_is_newer(const char *version, const char *than)
{
	unsigned long a[3], b[3];

	if (!read_version(version, a) || !read_version(than, b))
		return true;
	for (size_t i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] > b[i];
	return false;
}

/* A text of the manifest, whole or not at all. */
static bool take(const json_t *from, const char *key, char *dst, size_t size)
{
	const char *s = json_string_value(json_object_get(from, key));

	return s != NULL && snprintf(dst, size, "%s", s) < (int)size;
}

bool cli_archive_is_outside(const struct archive_manifest *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->databases[i].service, ARCHIVE_NO_DATABASE) != 0)
			return false;
	return m->n > 0;
}

/* A name that stays in the folder it is put into. */
static bool is_file_name(const struct archive_database *d)
{
	static const char *const others[] = { "server.crt", "server.key", "sa-password", "processiond.ini" };
	const char *s = d->file;
	size_t n = strlen(s);

	for (size_t i = 0; strcmp(d->service, ARCHIVE_NO_DATABASE) == 0 && i < ARRAY_LEN(others); i++)
		if (strcmp(s, others[i]) == 0)
			return true;
	return n > 3 && s[0] != '.' && strchr(s, '/') == NULL && strcmp(s + n - 3, ".db") == 0;
}

static bool take_database(const json_t *from, struct archive_database *d)
{
	const json_t *bytes = json_object_get(from, "bytes");

	if (!take(from, "name", d->name, sizeof(d->name)) ||
	    !take(from, "service", d->service, sizeof(d->service)) ||
	    !take(from, "file", d->file, sizeof(d->file)) ||
	    !take(from, "sha256", d->sha256, sizeof(d->sha256)) || !json_is_integer(bytes) ||
	    json_integer_value(bytes) < 0 || !is_file_name(d) || strlen(d->sha256) != 64)
		return false;
	d->bytes = (uint64_t)json_integer_value(bytes);
	return true;
}

static bool take_databases(const json_t *list, struct archive_manifest *m)
{
	size_t n = json_array_size(list);

	if (n == 0 || n > ARCHIVE_DATABASES_MAX)
		return false;
	m->databases = calloc(n, sizeof(*m->databases));
	for (; m->databases != NULL && m->n < n; m->n++) {
		if (!take_database(json_array_get(list, m->n), &m->databases[m->n]))
			return false;
		for (size_t i = 0; i < m->n; i++)
			if (strcmp(m->databases[i].file, m->databases[m->n].file) == 0)
				return false;
	}
	return m->databases != NULL;
}

/* Older archives have no such list: nothing was left out of them. */
static bool take_left_out(const json_t *list, struct archive_manifest *m)
{
	size_t n = json_array_size(list);

	if (n == 0)
		return list == NULL || json_is_array(list);
	if (n > ARCHIVE_DATABASES_MAX)
		return false;
	m->left_out = calloc(n, sizeof(*m->left_out));
	for (; m->left_out != NULL && m->nleft_out < n; m->nleft_out++) {
		const json_t *from = json_array_get(list, m->nleft_out);
		struct archive_left_out *l = &m->left_out[m->nleft_out];

		if (!take(from, "name", l->name, sizeof(l->name)) ||
		    !take(from, "service", l->service, sizeof(l->service)) ||
		    !take(from, "engine", l->engine, sizeof(l->engine)))
			return false;
	}
	return m->left_out != NULL;
}

static int take_all(const json_t *root, struct archive_manifest *m, struct err *reterr)
{
	const json_t *format = json_object_get(root, "procession_backup");

	if (!json_is_integer(format) || !take(root, "version", m->version, sizeof(m->version)))
		return err_raise(reterr, 50000, 16, 1, "its manifest is not one of a Procession backup");
	if (json_integer_value(format) > ARCHIVE_FORMAT ||
	    cli_manifest_is_newer(m->version, PROCESSION_VERSION))
		return err_raise(
			reterr, 50000, 16, 1,
			"it was made by version %s, which is newer than this program (%s); use that or "
			"a later one",
			m->version, PROCESSION_VERSION);
	if (!take(root, "taken", m->taken, sizeof(m->taken)) ||
	    !take(root, "server", m->server, sizeof(m->server)) ||
	    !take_databases(json_object_get(root, "databases"), m) ||
	    !take_left_out(json_object_get(root, "left_out"), m))
		return err_raise(reterr, 50000, 16, 1, "its manifest is incomplete or wrong");
	return 0;
}

int cli_manifest_parse(const char *text, size_t n, struct archive_manifest *ret, struct err *reterr)
{
	struct archive_manifest m = { .n = 0 };
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	int rc = root == NULL ? err_raise(reterr, 50000, 16, 1, "its manifest is not JSON")
			      : take_all(root, &m, reterr);

	json_decref(root);
	if (rc < 0)
		cli_archive_manifest_fini(&m);
	else
		*ret = m;
	return rc;
}
