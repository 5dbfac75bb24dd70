/* datetime_format.c — dates as text. A style is a pattern of letters for its date and its time
 * half; a date shows the first only, a time the second.
 *   Y year    y two digits of it            N month name   M month
 *   D day     d day, blank-padded
 *   H hour    K hour of 12, blank-padded    I minute       S second      P AM or PM
 *   F fraction behind '.'    f fraction behind ':'    X fraction only if there is one */
#include "value/datetime.h"

#include <stdio.h>

struct style {
	int16_t number;
	const char *date, *time;
	const char *between;
};

static const struct style styles[] = {
	{ 0, "N d Y", "K:IP", " " },
	{ 1, "M/D/y", "", "" },
	{ 2, "y.M.D", "", "" },
	{ 3, "D/M/y", "", "" },
	{ 4, "D.M.y", "", "" },
	{ 5, "D-M-y", "", "" },
	{ 6, "D N y", "", "" },
	{ 7, "N D, y", "", "" },
	{ 8, "", "H:I:S", "" },
	{ 9, "N d Y", "K:I:SfP", " " },
	{ 10, "M-D-y", "", "" },
	{ 11, "y/M/D", "", "" },
	{ 12, "yMD", "", "" },
	{ 13, "D N Y", "H:I:Sf", " " },
	{ 14, "", "H:I:Sf", "" },
	{ 20, "Y-M-D", "H:I:S", " " },
	{ 21, "Y-M-D", "H:I:SF", " " },
	{ 22, "M/D/y", "K:I:S P", " " },
	{ 23, "Y-M-D", "", "" },
	{ 24, "", "H:I:S", "" },
	{ 25, "Y-M-D", "H:I:SF", " " },
	{ 100, "N d Y", "K:IP", " " },
	{ 101, "M/D/Y", "", "" },
	{ 102, "Y.M.D", "", "" },
	{ 103, "D/M/Y", "", "" },
	{ 104, "D.M.Y", "", "" },
	{ 105, "D-M-Y", "", "" },
	{ 106, "D N Y", "", "" },
	{ 107, "N D, Y", "", "" },
	{ 108, "", "H:I:S", "" },
	{ 109, "N d Y", "K:I:SfP", " " },
	{ 110, "M-D-Y", "", "" },
	{ 111, "Y/M/D", "", "" },
	{ 112, "YMD", "", "" },
	{ 113, "D N Y", "H:I:Sf", " " },
	{ 114, "", "H:I:Sf", "" },
	{ 120, "Y-M-D", "H:I:S", " " },
	{ 121, "Y-M-D", "H:I:SF", " " },
	{ 126, "Y-M-D", "H:I:SX", "T" },
	{ 127, "Y-M-D", "H:I:SX", "T" },
};

struct writer {
	char *dst;
	size_t size, n;
	struct civil c;
	int fraction_digits; /* 3 for datetime, the scale for the newer types */
	bool newer;
};

static void put_char(struct writer *w, char c)
{
	if (w->n + 1 < w->size)
		w->dst[w->n] = c;
	w->n++;
}

static void put_number(struct writer *w, int value, int width, char pad)
{
	char digits[16];

	snprintf(digits, sizeof(digits), pad == '0' ? "%0*d" : "%*d", width, value);
	for (const char *p = digits; *p != '\0'; p++)
		put_char(w, *p);
}

/* The newer types always have a point before their fraction. */
static void put_fraction(struct writer *w, char separator)
{
	int64_t value = w->c.nanosecond;
	char digits[16];

	if (w->fraction_digits == 0)
		return;
	put_char(w, w->newer ? '.' : separator);
	snprintf(digits, sizeof(digits), "%09lld", (long long)value);
	for (int i = 0; i < w->fraction_digits; i++)
		put_char(w, digits[i]);
}

static void put_month_name(struct writer *w)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 3; i++)
		put_char(w, names[(w->c.month - 1) * 3 + i]);
}

static void put_letter(struct writer *w, char letter)
{
	const struct civil *c = &w->c;

	switch (letter) {
	case 'Y': put_number(w, c->year, 4, '0'); break;
	case 'y': put_number(w, c->year % 100, 2, '0'); break;
	case 'N': put_month_name(w); break;
	case 'M': put_number(w, c->month, 2, '0'); break;
	case 'D': put_number(w, c->day, 2, '0'); break;
	case 'd': put_number(w, c->day, 2, ' '); break;
	case 'H': put_number(w, c->hour, 2, '0'); break;
	case 'K': put_number(w, c->hour % 12 == 0 ? 12 : c->hour % 12, 2, ' '); break;
	case 'I': put_number(w, c->minute, 2, '0'); break;
	case 'S': put_number(w, c->second, 2, '0'); break;
	case 'F': put_fraction(w, '.'); break;
	case 'f': put_fraction(w, ':'); break;
	case 'X':
		if (w->newer || c->nanosecond != 0)
			put_fraction(w, '.');
		break;
	case 'P':
		put_char(w, c->hour < 12 ? 'A' : 'P');
		put_char(w, 'M');
		break;
	default: put_char(w, letter);
	}
}

static void put_pattern(struct writer *w, const char *pattern)
{
	for (; *pattern != '\0'; pattern++)
		put_letter(w, *pattern);
}

static void put_offset(struct writer *w, bool blank)
{
	int minutes = w->c.offset < 0 ? -w->c.offset : w->c.offset;

	if (blank)
		put_char(w, ' ');
	put_char(w, w->c.offset < 0 ? '-' : '+');
	put_number(w, minutes / 60, 2, '0');
	put_char(w, ':');
	put_number(w, minutes % 60, 2, '0');
}

/* The clock of the value: for datetimeoffset the local one, unless UTC is wanted. */
static void writer_init(struct writer *w, const struct value *v, bool utc)
{
	struct moment m;

	if (v->type.id == TYPE_DATETIME || v->type.id == TYPE_SMALLDATETIME) {
		civil_from_datetime(v->u.i, &w->c);
		w->fraction_digits = 3;
		return;
	}
	m = v->u.moment;
	if (v->type.id == TYPE_TIME)
		m.day = DAY_1900;
	if (v->type.id == TYPE_DATE)
		m.tick = 0;
	if (v->type.id == TYPE_DATETIMEOFFSET && !utc)
		(void)moment_shift(&m, m.offset);
	civil_from_moment(&m, &w->c);
	w->fraction_digits = v->type.scale;
	w->newer = true;
}

static size_t writer_end(struct writer *w)
{
	if (w->size > 0)
		w->dst[w->n < w->size ? w->n : w->size - 1] = '\0';
	return w->n < w->size ? w->n : w->size == 0 ? 0 : w->size - 1;
}

size_t datetime_format_style(const struct value *v, int style, char *dst, size_t size)
{
	bool zulu = style == 127 && v->type.id == TYPE_DATETIMEOFFSET;
	struct writer w = { .dst = dst, .size = size };
	bool with_date, with_time;

	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		const struct style *s = &styles[i];

		if (s->number != style)
			continue;
		writer_init(&w, v, zulu);
		with_date = v->type.id != TYPE_TIME && s->date[0] != '\0';
		with_time = v->type.id != TYPE_DATE && s->time[0] != '\0';
		if (!with_date && !with_time) /* a style for the half that the value lacks */
			return 0;
		if (with_date)
			put_pattern(&w, s->date);
		if (with_date && with_time)
			put_pattern(&w, s->between);
		if (with_time)
			put_pattern(&w, s->time);
		if (zulu)
			put_char(&w, 'Z');
		else if (v->type.id == TYPE_DATETIMEOFFSET && with_time)
			put_offset(&w, style != 126);
		return writer_end(&w);
	}
	return 0;
}

size_t datetime_format(const struct value *v, char *dst, size_t size)
{
	bool old = v->type.id == TYPE_DATETIME || v->type.id == TYPE_SMALLDATETIME;

	return datetime_format_style(v, old ? 0 : 121, dst, size);
}
