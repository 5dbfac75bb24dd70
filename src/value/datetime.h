/* datetime.h — calendar arithmetic and the texts of dates. Pure; proleptic Gregorian, years 1 to
 * 9999. */
#ifndef VALUE_DATETIME_H
#define VALUE_DATETIME_H

#include "value/value.h"

struct civil {
	int year, month, day, hour, minute, second;
	int64_t nanosecond;
	int offset;
};

#define DAY_1900 693595                                   /* 1900-01-01 as days since 0001-01-01 */
#define DATETIME_MIN (INT64_C(-53690) * 86400 * 300)      /* 1753-01-01 */
#define DATETIME_MAX (INT64_C(2958464) * 86400 * 300 - 1) /* 9999-12-31 23:59:59.997 */

#define DAY_LAST 3652058                /* 9999-12-31 */
#define MOMENT_SECOND INT64_C(10000000) /* ticks of a struct moment */
#define MOMENT_DAY (INT64_C(86400) * MOMENT_SECOND)

bool civil_valid(const struct civil *c);
int32_t day_from_civil(int year, int month, int day);
void civil_from_day(int32_t day, struct civil *ret);
/* datetime ticks ↔ parts; nearest tick on the way in (.998 → .997). False when outside 1753 …
 * 9999. */
bool datetime_from_civil(const struct civil *c, int64_t *ret);
void civil_from_datetime(int64_t ticks, struct civil *ret);
/* Milliseconds that a tick shows: 0, 3, 7, 10 … */
int datetime_ms(int64_t ticks);
/* Days since 1900-01-01, rounded down. */
int64_t datetime_day(int64_t ticks);
/* struct moment ↔ parts, field by field: the offset is copied, nothing is shifted. */
bool moment_from_civil(const struct civil *c, struct moment *ret);
void civil_from_moment(const struct moment *m, struct civil *ret);
/* Later by so many minutes (at most a day); false when that leaves the years 1 to 9999. The
 * offset stays. */
bool moment_shift(struct moment *m, int minutes);
/* The text in which stores keep a datetimeoffset: UTC first, so that it sorts, then the minutes
 * east: '2008-01-31 01:01:01.0000000Z+060'. Returns its length; only such a text is read. */
#define MOMENT_SORTABLE 32
size_t moment_format_sortable(const struct moment *m, char *dst, size_t size);
bool moment_parse_sortable(struct str s, struct moment *ret);
/* Reads every form that us_english SQL Server reads and the specifications' examples use
 * [E-COM-06]: ISO 8601 with T or blank, with Z or an offset, unseparated yyyymmdd, month names
 * ('Jan 31 2008 01:01:01:000AM', 'January 31, 2008', '31 Jan 2008'), m/d/y, m-d-y, m.d.y, time
 * alone. ret_digits: fractional digits given (more than 3 is a conversion error for datetime).
 * False: not a date. */
bool datetime_parse(struct str s, struct civil *ret, int *ret_digits, bool *ret_has_offset);
/* The same with another meaning of 1/2/2003, as SET DATEFORMAT and CONVERT styles want it. Four
 * digits first are always year, month, day. */
enum date_order { DATE_MDY, DATE_DMY, DATE_YMD };
bool datetime_parse_order(struct str s, enum date_order order, struct civil *ret, int *ret_digits,
			  bool *ret_has_offset);
/* Default texts: datetime 'Jan 31 2008 1:01AM' (style 0), ISO forms for the others. Returns the
 * length. */
size_t datetime_format(const struct value *v, char *dst, size_t size);
/* CONVERT styles; 0 when the style is unknown. */
size_t datetime_format_style(const struct value *v, int style, char *dst, size_t size);

#endif
