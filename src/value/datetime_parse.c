/* datetime_parse.c — the texts that us_english SQL Server reads as a date, a time, or both
 * [E-COM-06]. The reader goes over the text once and collects a month name, numbers and a time;
 * what they mean together is decided at the end. */
#include "value/datetime.h"

struct number {
	int value, digits;
};

struct reader {
	const char *p, *end;
	enum date_order order;
	struct civil c;
	struct number numbers[3]; /* of a date with a month name, or a run of digits */
	int nnumbers;
	int month;     /* from a name; 0: none */
	int digits;    /* of the fraction */
	bool has_date; /* c has a date already */
	bool has_time, has_offset;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static char peek(const struct reader *r)
{
	return r->p < r->end ? *r->p : '\0';
}

static bool accept(struct reader *r, char c)
{
	if (peek(r) != c || r->p == r->end)
		return false;
	r->p++;
	return true;
}

static void skip_blanks(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t')
		r->p++;
}

/* A run of 1 to 9 digits. */
static bool read_number(struct reader *r, struct number *ret)
{
	int value = 0, digits = 0;

	while (is_digit(peek(r))) {
		if (++digits > 9)
			return false;
		value = value * 10 + (*r->p++ - '0');
	}
	*ret = (struct number){ value, digits };
	return digits > 0;
}

/* Two digits are 1950 to 2049, the server's default cutoff. */
static bool year_of(struct number n, int *ret)
{
	if (n.digits == 4)
		*ret = n.value;
	else if (n.digits <= 2)
		*ret = n.value < 50 ? 2000 + n.value : 1900 + n.value;
	else
		return false;
	return true;
}

static bool set_date(struct reader *r, struct number year, int month, int day)
{
	if (r->has_date || !year_of(year, &r->c.year))
		return false;
	r->c.month = month;
	r->c.day = day;
	r->has_date = true;
	return true;
}

static int month_by_name(struct str s)
{
	static const char *const names[12] = {
		"january", "february", "march",     "april",   "may",      "june",
		"july",    "august",   "september", "october", "november", "december",
	};

	for (int i = 0; i < 12; i++) {
		struct str full = str_of(names[i]);

		if (str_eq_nocase(s, full) || str_eq_nocase(s, (struct str){ full.p, 3 }))
			return i + 1;
	}
	return 0;
}

/* ".5" is half a second, ":5" five thousandths. */
static bool read_fraction(struct reader *r, char separator)
{
	int64_t scale = 100000000;
	struct number n;

	if (!read_number(r, &n))
		return false;
	r->digits = n.digits;
	if (separator == ':') {
		if (n.digits > 3)
			return false;
		r->c.nanosecond = (int64_t)n.value * 1000000;
		return true;
	}
	for (int i = 1; i < n.digits; i++)
		scale /= 10;
	r->c.nanosecond = n.value * scale;
	return true;
}

/* AM or PM, if there is one; *ret: 'A', 'P' or 0. */
static void read_meridian(struct reader *r, char *ret)
{
	const char *start = r->p;

	*ret = 0;
	skip_blanks(r);
	if (r->end - r->p >= 2 && (r->p[1] | 0x20) == 'm' &&
	    ((r->p[0] | 0x20) == 'a' || (r->p[0] | 0x20) == 'p') &&
	    !(r->end - r->p > 2 && is_letter(r->p[2]))) {
		*ret = (r->p[0] | 0x20) == 'a' ? 'A' : 'P';
		r->p += 2;
		return;
	}
	r->p = start;
}

static bool apply_meridian(struct reader *r, char meridian)
{
	if (meridian == 'A') {
		if (r->c.hour > 12)
			return false;
		if (r->c.hour == 12)
			r->c.hour = 0;
	} else if (meridian == 'P') {
		if (r->c.hour == 0)
			return false;
		if (r->c.hour < 12)
			r->c.hour += 12;
	}
	return true;
}

/* Z, +hh:mm or -hh:mm behind a time. */
static bool read_offset(struct reader *r)
{
	struct number hours, minutes;
	const char *start = r->p;
	int sign;

	skip_blanks(r);
	if (accept(r, 'Z') || accept(r, 'z')) {
		r->has_offset = true;
		return true;
	}
	sign = peek(r) == '-' ? -1 : 1;
	if (!accept(r, '+') && !accept(r, '-')) {
		r->p = start;
		return true;
	}
	if (!read_number(r, &hours) || !accept(r, ':') || !read_number(r, &minutes))
		return false;
	if (hours.digits > 2 || minutes.digits != 2 || minutes.value > 59)
		return false;
	r->c.offset = sign * (hours.value * 60 + minutes.value);
	r->has_offset = true;
	return true;
}

/* The hour has been read, and a colon or AM/PM follows. */
static bool read_time(struct reader *r, struct number hour)
{
	struct number n;
	char meridian;

	if (r->has_time || hour.digits > 2)
		return false;
	r->has_time = true;
	r->c.hour = hour.value;
	if (accept(r, ':')) {
		if (!read_number(r, &n) || n.digits > 2)
			return false;
		r->c.minute = n.value;
		if (accept(r, ':')) {
			if (!read_number(r, &n) || n.digits > 2)
				return false;
			r->c.second = n.value;
			if (peek(r) == '.' || peek(r) == ':') {
				char separator = *r->p++;

				if (!read_fraction(r, separator))
					return false;
			}
		}
	}
	read_meridian(r, &meridian);
	return apply_meridian(r, meridian) && read_offset(r);
}

/* a/b/c: the first number and the separator behind it have been seen. */
static bool read_separated(struct reader *r, struct number a)
{
	char separator = *r->p++;
	struct number b, c;

	if (!read_number(r, &b) || !accept(r, separator) || !read_number(r, &c) || b.digits > 2)
		return false;
	if (a.digits == 4)
		return c.digits <= 2 && set_date(r, a, b.value, c.value);
	if (a.digits > 2)
		return false;
	if (c.digits == 4 || r->order != DATE_YMD)
		return r->order == DATE_DMY ? set_date(r, c, b.value, a.value)
					    : set_date(r, c, a.value, b.value);
	return set_date(r, a, b.value, c.value);
}

/* yyyymmdd, yymmdd or yyyy without separators. */
static bool whole_run(struct reader *r, struct number n)
{
	struct number year = { n.value / 10000, n.digits == 8 ? 4 : 2 };

	if (n.digits == 4)
		return set_date(r, n, 1, 1);
	if (n.digits != 8 && n.digits != 6)
		return false;
	return set_date(r, year, n.value / 100 % 100, n.value % 100);
}

static bool read_digits(struct reader *r)
{
	struct number n;
	const char *behind;
	char meridian;

	if (!read_number(r, &n))
		return false;
	if (peek(r) == ':')
		return read_time(r, n);
	if (n.digits <= 2) {
		behind = r->p;
		read_meridian(r, &meridian);
		r->p = behind;
		if (meridian != 0)
			return read_time(r, n);
	}
	if (peek(r) == '/' || peek(r) == '-' || peek(r) == '.') {
		if (r->end - r->p >= 2 && is_digit(r->p[1]) && r->month == 0)
			return read_separated(r, n);
		r->p++; /* 31-Jan-2008: the separator is as good as a blank */
	}
	if (n.digits == 8 || n.digits == 6)
		return whole_run(r, n);
	if (r->nnumbers == 3)
		return false;
	r->numbers[r->nnumbers++] = n;
	return true;
}

static bool read_word(struct reader *r)
{
	struct str word = { r->p, 0 };

	while (is_letter(peek(r))) {
		r->p++;
		word.n++;
	}
	/* ISO 8601: a date stands before it, a time behind it */
	if (word.n == 1 && (word.p[0] == 'T' || word.p[0] == 't'))
		return (r->has_date || r->nnumbers > 0) && !r->has_time && is_digit(peek(r));
	if (r->month != 0)
		return false;
	r->month = month_by_name(word);
	if (r->month == 0)
		return false;
	if (peek(r) == '-' || peek(r) == '/' || peek(r) == '.')
		r->p++;
	return true;
}

/* Month name with day and year in any order; the year is the one with four digits, else the
 * last. */
static bool named_date(struct reader *r)
{
	struct number a, b;

	if (r->nnumbers == 1 && r->numbers[0].digits == 4)
		return set_date(r, r->numbers[0], r->month, 1);
	if (r->nnumbers != 2)
		return false;
	a = r->numbers[0];
	b = r->numbers[1];
	if (a.digits == 4)
		return b.digits <= 2 && set_date(r, a, r->month, b.value);
	return a.digits <= 2 && set_date(r, b, r->month, a.value);
}

static bool finish(struct reader *r)
{
	if (r->month != 0)
		return named_date(r);
	if (r->nnumbers == 1)
		return whole_run(r, r->numbers[0]);
	return r->nnumbers == 0;
}

bool datetime_parse_order(struct str s, enum date_order order, struct civil *ret, int *ret_digits,
			  bool *ret_has_offset)
{
	struct reader r = { .order = order, .c = { .year = 1900, .month = 1, .day = 1 } };

	s = str_trim(s);
	r.p = s.p;
	r.end = s.p + s.n;
	while (r.p < r.end) {
		char c = *r.p;
		bool ok = true;

		if (c == ' ' || c == '\t' || c == ',')
			r.p++;
		else if (is_digit(c))
			ok = read_digits(&r);
		else
			ok = is_letter(c) && read_word(&r);
		if (!ok)
			return false;
	}
	if (!finish(&r) || !civil_valid(&r.c))
		return false;
	*ret = r.c;
	if (ret_digits != NULL)
		*ret_digits = r.digits;
	if (ret_has_offset != NULL)
		*ret_has_offset = r.has_offset;
	return true;
}

bool datetime_parse(struct str s, struct civil *ret, int *ret_digits, bool *ret_has_offset)
{
	return datetime_parse_order(s, DATE_MDY, ret, ret_digits, ret_has_offset);
}
