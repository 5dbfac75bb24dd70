/* rows.c — what the session knows and no table holds, as rows: the sessions, the server. One JSON
 * text, so that any engine takes it as one value, however many rows there are. */
#include "metadata/metadata_int.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

#define ROWS_MAX (32u << 20) /* of 32,717 sessions with names of 128 characters each */

/* ---- JSON ---- */

void metadata_put_text(struct buf *b, const char *s)
{
	buf_put_u8(b, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			buf_put_u8(b, '\\');
		if ((unsigned char)*s < 0x20)
			buf_printf(b, "\\u%04x", (unsigned)*s);
		else
			buf_put_u8(b, (uint8_t)*s);
	}
	buf_put_u8(b, '"');
}

struct field {
	const char *name;
	const char *text; /* NULL: the number */
	int64_t number;
};

static void put_row(struct buf *b, bool first, const struct field *fields, size_t n)
{
	buf_put_u8(b, first ? '[' : ',');
	for (size_t i = 0; i < n; i++) {
		buf_put_u8(b, i == 0 ? '{' : ',');
		metadata_put_text(b, fields[i].name);
		buf_put_u8(b, ':');
		if (fields[i].text != NULL)
			metadata_put_text(b, fields[i].text);
		else
			buf_printf(b, "%lld", (long long)fields[i].number);
	}
	buf_put_u8(b, '}');
}

/* ---- the sessions ---- */

/* What SET changed is told of the asking session only: others' options are theirs alone. */
static void put_session(struct buf *b, bool first, const struct metadata_session *s,
			const struct metadata_client *client)
{
	const struct tsql_session *v = client->vars;
	bool own = s->spid == client->spid;
	const struct field fields[] = {
		{ "spid", NULL, s->spid },
		{ "login_time", NULL, s->login_time },
		{ "host", s->host, 0 },
		{ "program", s->program, 0 },
		{ "process", NULL, s->process },
		{ "login", s->login, 0 },
		{ "status", s->status, 0 },
		{ "command", s->command, 0 },
		{ "database", s->database, 0 },
		{ "blocker", NULL, s->blocker },
		{ "last_request", NULL, s->last_request },
		{ "address", s->address, 0 },
		{ "scheme", s->scheme, 0 },
		{ "encrypted", NULL, s->encrypted },
		{ "isolation", NULL, own ? v->isolation : TSQL_READ_COMMITTED },
		{ "transactions", NULL, own ? v->trancount : 0 },
		{ "requests", NULL, (int64_t)s->requests },
		{ "text_size", NULL, own ? v->textsize : -1 },
		{ "date_first", NULL, own ? v->datefirst : 7 },
		{ "lock_timeout", NULL, own ? v->lock_timeout_ms : -1 },
		{ "quoted_identifier", NULL, own ? v->quoted_identifier : 1 },
		{ "arithabort", NULL, own ? v->arithabort : 1 },
		{ "ansi_null_dflt_on", NULL, own ? v->ansi_null_dflt_on : 1 },
		{ "ansi_warnings", NULL, own ? v->ansi_warnings : 1 },
		{ "ansi_padding", NULL, own ? v->ansi_padding : 1 },
		{ "ansi_nulls", NULL, own ? v->ansi_nulls : 1 },
		{ "concat_null_yields_null", NULL, own ? v->concat_null_yields_null : 1 },
	};

	put_row(b, first, fields, ARRAY_LEN(fields));
}

static int put_sessions(const struct metadata_client *client, struct arena *a, struct buf *b,
			struct err *reterr)
{
	struct metadata_session *list;
	size_t n;

	if (client->ops->sessions(client, a, &list, &n, reterr) < 0)
		return -1;
	assert(n > 0); /* who asks is there */
	for (size_t i = 0; i < n; i++)
		put_session(b, i == 0, &list[i], client);
	return 0;
}

/* ---- the server ---- */

/* The value of a line NAME="…" of /etc/os-release, or the name of the kind. */
static void os_release(const char *name, char *dst, size_t size)
{
	FILE *f = fopen("/etc/os-release", "re");
	size_t n = strlen(name);
	char line[256];

	str_copy(dst, size, STR("Linux"));
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		struct str value = { line + n + 1, strcspn(line + n, "\n") - 1 };

		if (strncmp(line, name, n) != 0 || line[n] != '=')
			continue;
		if (value.n >= 2 && value.p[0] == '"')
			value = (struct str){ value.p + 1, value.n - 2 };
		str_copy(dst, size, value);
	}
	if (f != NULL)
		fclose(f);
}

static void put_server(const struct metadata_client *client, struct buf *b)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
	     page = sysconf(_SC_PAGESIZE);
	char distribution[128], release[128];
	struct utsname u;

	if (uname(&u) < 0)
		memset(&u, 0, sizeof(u));
	os_release("NAME", distribution, sizeof(distribution));
	os_release("VERSION_ID", release, sizeof(release));
	const struct field fields[] = {
		{ "name", client->server_name, 0 },
		{ "distribution", distribution, 0 },
		{ "release", release, 0 },
		{ "architecture", u.machine, 0 },
		{ "cpus", NULL, cpus },
		{ "memory", NULL, (int64_t)pages * page / 1024 },
		{ "started", NULL, client->started },
		{ "up", NULL, (clock_ticks() - client->started) * 1000 / TICKS_PER_SECOND },
		{ "pid", NULL, getpid() },
		{ "max_connections", NULL, client->max_connections },
	};

	put_row(b, true, fields, ARRAY_LEN(fields));
}

int metadata_rows(const struct metadata_client *client, const char *name, struct arena *a, struct str *ret,
		  struct err *reterr)
{
	struct buf b;
	char *copy = NULL;
	int rc = 0;

	buf_init(&b, ROWS_MAX);
	if (strcmp(name, "sessions") == 0)
		rc = put_sessions(client, a, &b, reterr);
	else if (strcmp(name, "server") == 0)
		put_server(client, &b);
	else if (strcmp(name, "numbers") == 0)
		rc = metadata_put_numbers(client, &b, reterr);
	else if (strcmp(name, "procedures") == 0)
		rc = metadata_put_procedures(client, &b, reterr);
	else
		assert(!"a view is declared OVER rows that nobody makes");
	buf_put_u8(&b, ']');
	assert(b.len <= ROWS_MAX); /* invariant 5 */
	if (rc == 0 && !b.failed)
		copy = arena_strndup(a, (const char *)b.data, b.len);
	if (rc == 0 && copy == NULL)
		rc = err_nomem(reterr);
	if (rc == 0)
		*ret = (struct str){ copy, b.len };
	buf_fini(&b);
	return rc;
}
