/* dump.h — every SELECT of test_select.c also as PostgreSQL's SQL, for
 * tests/postgres/test_select.py, which runs it there and compares the rows. One line of JSON a
 * batch (sql, values), then a line for each row that SQLite gave, and an end; into the file that
 * QUERY_DUMP names, if it names one. */
#ifndef TESTS_QUERY_DUMP_H
#define TESTS_QUERY_DUMP_H

#include "batch.h"

static inline FILE *dump_file(void)
{
	const char *name = getenv("QUERY_DUMP");

	return name == NULL ? NULL : fopen(name, "a");
}

static inline void dump_text(FILE *f, struct str s)
{
	fputc('"', f);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x20 || c == '"' || c == '\\')
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static inline void dump_hex(FILE *f, const void *p, size_t n)
{
	fputs("{\"hex\": \"", f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", ((const unsigned char *)p)[i]);
	fputs("\"}", f);
}

static inline void dump_value(FILE *f, const struct value *v)
{
	const struct type_info *info = type_info(v->type.id);
	struct arena a;
	struct str s = STR("");

	if (v->null)
		fputs("null", f);
	else if (info->is_binary)
		dump_hex(f, v->u.s.p, v->u.s.n);
	else if (v->type.id == TYPE_GUID)
		dump_hex(f, v->u.guid, sizeof(v->u.guid));
	else if (info->is_text)
		dump_text(f, v->u.s);
	else if (v->type.id == TYPE_FLOAT || v->type.id == TYPE_REAL)
		fprintf(f, "%.17g", v->u.f);
	else if (info->has_precision) {
		arena_init(&a, 65536);
		if (value_to_text(v, &a, &s, NULL) == 0)
			dump_text(f, s);
		arena_fini(&a);
	} else {
		fprintf(f, "%lld", (long long)v->u.i);
	}
}

/* What is put into a store (its number is the first character of the file's name). */
static inline void dump_fill(const char *path, const char *sql)
{
	FILE *f = dump_file();

	if (f == NULL)
		return;
	fprintf(f, "{\"store\": %c, \"fill\": ", strrchr(path, '/')[1]);
	dump_text(f, str_of(sql));
	fputs("}\n", f);
	fclose(f);
}

static inline void dump_row(const struct value *row, size_t n)
{
	FILE *f = dump_file();

	if (f == NULL)
		return;
	fputs("{\"row\": [", f);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fputs(", ", f);
		dump_value(f, &row[i]);
	}
	fputs("]}\n", f);
	fclose(f);
}

static inline void dump_end(int rc)
{
	FILE *f = dump_file();

	if (f == NULL)
		return;
	fprintf(f, "{\"end\": %d}\n", rc);
	fclose(f);
}

static inline const char *dump_kind(const struct value *v)
{
	const struct type_info *info = type_info(v->type.id);

	return info->is_binary || v->type.id == TYPE_GUID            ? "bytea"
	       : info->is_text || info->has_precision                ? "text"
	       : v->type.id == TYPE_FLOAT || v->type.id == TYPE_REAL ? "float8"
								     : "int8";
}

static inline int dump_query(struct host *h, struct tsql_run *r)
{
	const struct query *q = r->query;
	FILE *f = dump_file();
	struct err e;

	(void)h;
	err_clear(&e);
	fprintf(f, "{\"system\": %s, \"database\": \"%s\", \"sql\": ", q->system ? "true" : "false",
		q->system ? "" : q->database);
	dump_text(f, str_of(q->sql));
	fputs(", \"values\": [", f);
	for (size_t i = 0; i < q->nvalues; i++) {
		fprintf(f, "%s[\"%s\", ", i > 0 ? ", " : "", dump_kind(&q->values[i]));
		dump_value(f, &q->values[i]);
		fputc(']', f);
	}
	fputs("]}\n", f);
	fclose(f);
	tsql_query_done(r, 0, &e, 0, NULL);
	return 0;
}

static inline void dump_for_postgres(const char *text)
{
	FILE *f = dump_file();
	struct host h;

	if (f == NULL)
		return;
	fputs("{\"batch\": ", f);
	dump_text(f, str_of(text));
	fputs("}\n", f);
	fclose(f);
	host_init(&h);
	h.host.sql = QUERY_POSTGRES;
	h.query = dump_query;
	(void)host_run(&h, text);
	host_fini(&h);
}

#endif
