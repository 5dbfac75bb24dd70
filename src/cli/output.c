/* output.c — results for people (aligned columns) and for programs (JSON). Texts come from a
 * server and may hold anything: what could steer a terminal is shown as an escape. */
#include "cli/cli.h"

#include <assert.h>
#include <string.h>

/* One character of UTF-8 text: its length in bytes, 0 at the end. */
static size_t char_len(const char *s)
{
	size_t n = *s != '\0';

	while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
		n++;
	return n;
}

static bool is_control(const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];

	/* C0, DEL, and C1 as UTF-8 (0xC2 0x80 … 0x9F) */
	return c < 0x20 || c == 0x7F || (n == 2 && c == 0xC2 && (unsigned char)s[1] < 0xA0);
}

/* Prints, or only measures with f == NULL, what fits into so many columns. Returns those taken, a
 * character each. */
static size_t print_some(FILE *f, const char *s, size_t room)
{
	size_t width = 0;
	char escape[8];

	for (size_t n; (n = char_len(s)) > 0 && width < room; s += n) {
		if (is_control(s, n)) {
			int took = *s == '\n' ? snprintf(escape, sizeof(escape), "\\n")
					      : snprintf(escape, sizeof(escape), "\\x%02x",
							 (unsigned char)s[n - 1]);
			if (f != NULL)
				fputs(escape, f);
			width += (size_t)took;
		} else {
			if (f != NULL)
				fwrite(s, 1, n, f);
			width++;
		}
	}
	return width;
}

static size_t print_text(FILE *f, const char *s)
{
	return print_some(f, s, SIZE_MAX);
}

static const char *cell(const struct client_table *t, size_t row, size_t column)
{
	const char *s = t->cells[row * t->ncols + column];

	assert(row < t->nrows && column < t->ncols);
	return s != NULL ? s : "NULL";
}

static size_t column_width(const struct client_table *t, size_t column)
{
	size_t widest = print_text(NULL, t->names[column]);

	for (size_t row = 0; row < t->nrows; row++) {
		size_t w = print_text(NULL, cell(t, row, column));
		if (w > widest)
			widest = w;
	}
	return widest;
}

static void print_cell(const struct client_table *t, size_t column, const char *text, size_t width)
{
	size_t blanks = width - print_text(NULL, text);

	assert(blanks <= width); /* nothing in a column is wider than the column */
	if (column > 0)
		fputs("  ", stdout);
	if (t->numeric[column])
		printf("%*s", (int)blanks, "");
	print_text(stdout, text);
	if (!t->numeric[column] && column + 1 < t->ncols)
		printf("%*s", (int)blanks, "");
}

static void print_aligned(const struct client_table *t)
{
	for (size_t c = 0; c < t->ncols; c++)
		print_cell(t, c, t->names[c], column_width(t, c));
	fputc('\n', stdout);
	for (size_t c = 0; c < t->ncols; c++) {
		if (c > 0)
			fputs("  ", stdout);
		for (size_t i = column_width(t, c); i > 0; i--)
			fputc('-', stdout);
	}
	fputc('\n', stdout);
	for (size_t row = 0; row < t->nrows; row++) {
		for (size_t c = 0; c < t->ncols; c++)
			print_cell(t, c, cell(t, row, c), column_width(t, c));
		fputc('\n', stdout);
	}
}

/* JSON has no number like ".5" or "NaN": what does not look like one goes out as text. */
static bool is_json_number(const char *s)
{
	size_t digits;

	s += *s == '-';
	digits = strspn(s, "0123456789");
	if (digits == 0 || (s[0] == '0' && digits > 1))
		return false;
	s += digits;
	if (*s == '.') {
		digits = strspn(s + 1, "0123456789");
		s += digits > 0 ? 1 + digits : 0;
	}
	return *s == '\0';
}

static void print_json(const struct client_table *t)
{
	fputc('[', stdout);
	for (size_t row = 0; row < t->nrows; row++) {
		fputs(row > 0 ? ",\n {" : "{", stdout);
		for (size_t c = 0; c < t->ncols; c++) {
			const char *s = t->cells[row * t->ncols + c];
			if (c > 0)
				fputs(", ", stdout);
			json_put_string(stdout, t->names[c]);
			fputs(": ", stdout);
			if (s == NULL)
				fputs("null", stdout);
			else if (t->numeric[c] && is_json_number(s))
				fputs(s, stdout);
			else
				json_put_string(stdout, s);
		}
		fputc('}', stdout);
	}
	fputs("]\n", stdout);
}

void cli_output_table(const struct client_table *t, bool json)
{
	if (json)
		print_json(t);
	else
		print_aligned(t);
}

void cli_output_text(FILE *f, const char *text)
{
	print_text(f, text);
}

void cli_output_cell(FILE *f, const char *text, size_t columns, enum cli_fill fill)
{
	size_t width = print_some(NULL, text, columns);
	int blanks = width < columns && fill != CLI_CUT ? (int)(columns - width) : 0;

	if (fill == CLI_RIGHT)
		fprintf(f, "%*s", blanks, "");
	print_some(f, text, columns);
	if (fill == CLI_LEFT)
		fprintf(f, "%*s", blanks, "");
}

void cli_output_note(const char *text)
{
	print_text(stderr, text);
	fputc('\n', stderr);
}

void cli_output_error(const struct err *e, bool json)
{
	if (json) {
		fprintf(stderr, "{\"error\": %d, \"text\": ", (int)e->number);
		json_put_string(stderr, e->text);
		fputs("}\n", stderr);
		return;
	}
	fputs("procession: ", stderr);
	print_text(stderr, e->text);
	if (e->number != ERR_OWN_NUMBER)
		fprintf(stderr, " (error %d)", (int)e->number);
	fputc('\n', stderr);
}
