/* result.c — result sets as text. */
#include "client/client_int.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* The header of db-lib has no name for it. */
#define XML_TYPE 241

bool client_result_add_message(struct client_result *r, const struct err *e)
{
	struct err *grown = realloc(r->messages, (r->nmessages + 1) * sizeof(*grown));

	if (grown == NULL)
		return false;
	r->messages = grown;
	grown[r->nmessages++] = *e;
	return true;
}

static bool is_numeric(int type)
{
	switch (type) {
	case SYBINT1:
	case SYBINT2:
	case SYBINT4:
	case SYBINT8:
	case SYBINTN:
	case SYBREAL:
	case SYBFLT8:
	case SYBFLTN:
	case SYBDECIMAL:
	case SYBNUMERIC:
	case SYBMONEY:
	case SYBMONEY4:
	case SYBMONEYN:
	case SYBBIT:
	case SYBBITN: return true;
	default: return false;
	}
}

static char *format_time(DBPROCESS *db, int type, const BYTE *data)
{
	DBDATEREC2 d;
	char *text = NULL;

	if (dbanydatecrack(db, &d, type, data) == FAIL)
		return NULL;
	/* month counts from 0 */
	if (asprintf(&text, "%04d-%02d-%02d %02d:%02d:%02d.%03d", d.dateyear, d.datemonth + 1, d.datedmonth,
		     d.datehour, d.dateminute, d.datesecond, d.datensecond / 1000000) < 0)
		return NULL;
	return text;
}

static char *format_binary(const BYTE *data, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char *text = malloc(2 * n + 3);

	if (text == NULL)
		return NULL;
	memcpy(text, "0x", 2);
	for (size_t i = 0; i < n; i++) {
		text[2 + 2 * i] = digits[data[i] >> 4];
		text[3 + 2 * i] = digits[data[i] & 15];
	}
	text[2 + 2 * n] = '\0';
	return text;
}

/* The fewest digits that are read as the same number again: 0.1, where all 17 would be
 * 0.10000000000000001. */
static char *format_float(const BYTE *data, bool is_double)
{
	int digits = is_double ? 15 : 6, most = is_double ? 17 : 9;
	char *text = malloc(32);
	double d;
	float f;

	if (text == NULL)
		return NULL;
	if (is_double) {
		memcpy(&d, data, sizeof(d));
	} else {
		memcpy(&f, data, sizeof(f));
		d = (double)f;
	}
	for (;; digits++) {
		snprintf(text, 32, "%.*g", digits, d);
		if (digits == most || (is_double ? strtod(text, NULL) == d : strtof(text, NULL) == (float)d))
			return text;
	}
}

/* The library's text has no end mark of its own. */
static char *copy_text(const BYTE *data, DBINT n)
{
	size_t len = n > 0 ? (size_t)n : 0;
	char *text = malloc(len + 1);

	if (text == NULL)
		return NULL;
	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

/* The value of a column of the current row as text from malloc; NULL without memory. */
static char *format_value(DBPROCESS *db, int column)
{
	const BYTE *data = dbdata(db, column);
	DBINT n = dbdatlen(db, column);
	int type = dbcoltype(db, column);
	char small[128];

	switch (type) {
	case SYBCHAR:
	case SYBVARCHAR:
	case SYBTEXT:
	case SYBNTEXT:
	case SYBNVARCHAR:
	case XML_TYPE: return copy_text(data, n);
	case SYBFLT8: return format_float(data, true);
	case SYBREAL: return format_float(data, false);
	case SYBBINARY:
	case SYBVARBINARY:
	case SYBIMAGE: return format_binary(data, n > 0 ? (size_t)n : 0);
	case SYBDATETIME:
	case SYBDATETIME4:
	case SYBDATETIMN:
	case SYBMSDATETIME2:
	case SYBMSDATE:
	case SYBMSTIME:
	case SYBMSDATETIMEOFFSET: return format_time(db, type, data);
	default:
		n = dbconvert(db, type, data, n, SYBCHAR, (BYTE *)small, sizeof(small) - 1);
		return n < 0 ? strdup("?") : strndup(small, (size_t)n);
	}
}

static bool begin_table(DBPROCESS *db, struct client_result *r)
{
	int n = dbnumcols(db);
	struct client_table *grown = realloc(r->tables, (r->ntables + 1) * sizeof(*grown)), *t;

	if (grown == NULL)
		return false;
	r->tables = grown;
	t = &grown[r->ntables++];
	memset(t, 0, sizeof(*t));
	t->names = calloc((size_t)n, sizeof(*t->names));
	t->numeric = calloc((size_t)n, sizeof(*t->numeric));
	if (t->names == NULL || t->numeric == NULL)
		return false;
	t->ncols = (size_t)n;
	for (int i = 0; i < n; i++) {
		const char *name = dbcolname(db, i + 1);
		t->names[i] = strdup(name != NULL ? name : "");
		t->numeric[i] = is_numeric(dbcoltype(db, i + 1));
		if (t->names[i] == NULL)
			return false;
	}
	return true;
}

static bool add_row(DBPROCESS *db, struct client_table *t)
{
	size_t first = t->nrows * t->ncols;

	assert(t->ncols > 0 && first <= t->capacity);
	if (first + t->ncols > t->capacity) {
		size_t capacity = t->capacity == 0 ? 16 * t->ncols : 2 * t->capacity;
		char **grown = realloc(t->cells, capacity * sizeof(*grown));
		if (grown == NULL)
			return false;
		t->cells = grown;
		t->capacity = capacity;
	}
	memset(&t->cells[first], 0, t->ncols * sizeof(*t->cells));
	t->nrows++;
	for (size_t i = 0; i < t->ncols; i++) {
		int column = (int)i + 1;
		if (dbdata(db, column) == NULL && dbdatlen(db, column) == 0)
			continue;
		t->cells[first + i] = format_value(db, column);
		if (t->cells[first + i] == NULL)
			return false;
	}
	return true;
}

bool client_result_read(DBPROCESS *db, struct client_result *r, bool *ret_nomem)
{
	RETCODE rc;

	while ((rc = dbresults(db)) == SUCCEED) {
		STATUS row;

		if (dbnumcols(db) <= 0)
			continue;
		if (!begin_table(db, r)) {
			*ret_nomem = true;
			return false;
		}
		while ((row = dbnextrow(db)) != NO_MORE_ROWS) {
			if (row == FAIL)
				return false;
			if (!add_row(db, &r->tables[r->ntables - 1])) {
				*ret_nomem = true;
				return false;
			}
		}
	}
	if (dbhasretstat(db)) {
		r->has_status = true;
		r->status = dbretstatus(db);
	}
	return rc == NO_MORE_RESULTS;
}

int client_column(const struct client_table *t, const char *name)
{
	for (size_t i = 0; i < t->ncols; i++)
		if (str_eq_nocase(str_of(t->names[i]), str_of(name)))
			return (int)i;
	return -1;
}

void client_result_fini(struct client_result *r)
{
	for (size_t i = 0; i < r->ntables; i++) {
		struct client_table *t = &r->tables[i];
		for (size_t j = 0; j < t->ncols; j++)
			free(t->names[j]);
		for (size_t j = 0; j < t->nrows * t->ncols; j++)
			free(t->cells[j]);
		free(t->names);
		free(t->numeric);
		free(t->cells);
	}
	free(r->tables);
	free(r->messages);
	memset(r, 0, sizeof(*r));
}
