/* dateparts.h — private: the words of DATEADD, DATEDIFF, DATEPART and DATENAME. */
#ifndef TSQL_EVAL_DATEPARTS_H
#define TSQL_EVAL_DATEPARTS_H

#include "base/str.h"

enum datepart {
	PART_YEAR,
	PART_QUARTER,
	PART_MONTH,
	PART_DAYOFYEAR,
	PART_DAY,
	PART_WEEK,
	PART_ISO_WEEK,
	PART_WEEKDAY,
	PART_HOUR,
	PART_MINUTE,
	PART_SECOND,
	PART_MILLISECOND,
	PART_MICROSECOND,
	PART_NANOSECOND,
	PART_TZOFFSET,
};
bool tsql_datepart_by_name(struct str name, enum datepart *ret);
const char *tsql_datepart_name(enum datepart part);

#endif
