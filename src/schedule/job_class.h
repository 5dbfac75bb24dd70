/* job_class.h — the classes of scheduled jobs of [MS-SSPSJ] 2.2.2 to 2.2.4, and what a client
 * does for each (3.2.4.1). */
#ifndef SCHEDULE_JOB_CLASS_H
#define SCHEDULE_JOB_CLASS_H

#include "base/base.h"
#include "base/str.h"

enum job_data_rule { JOB_DATA_NONE, JOB_DATA_INCREMENTAL, JOB_DATA_UPGRADE };

struct job_class {
	const char *name; /* the last part of the class, as people write it */
	const char *assembly, *class;
	enum job_data_rule data;
	bool ignored; /* a client leaves these to the program that owns them */
	/* what the text of 3.2.4.1 calls for; NULL: depends on JobData, or ignored */
	const char *action;
};
extern const struct job_class schedule_classes[];
extern const size_t schedule_classes_count;

/* By both names, exactly but for trailing blanks [E-SCHED-15]; NULL: not one of them. */
const struct job_class *schedule_class_find(struct str assembly, struct str class);
/* By the last part or the whole of the class, in any letter case. */
const struct job_class *schedule_class_by_name(struct str name);
/* "full-import", "incremental-import" …; NULL: ignored, or JobData that the class does not know. */
const char *schedule_class_action(const struct job_class *c, struct str data);
/* NULL, or a sentence that says which JobData the class takes. Dates and tokens of an upgrade
 * are left to the server. */
const char *schedule_class_check_data(const struct job_class *c, struct str data);

#endif
