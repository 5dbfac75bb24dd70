/* jobs_int.h — the documents as they are kept during a call, in call->scratch. */
#ifndef SERVICE_JOBS_INT_H
#define SERVICE_JOBS_INT_H

#include "catalogue/native.h"
#include "service/xml.h"

/* Rows of one kind, in document order. */
struct job_rows {
	struct value (*rows)[4];
	bool *changed; /* per row: the procedure's statement changed something */
	size_t n, cap;
};

struct job_document {
	struct job_rows items; /* of a group */
	struct job_rows start, failed;
};

int service_job_rows_add(struct job_rows *r, struct arena *a, const struct value *fields, size_t n,
			 struct err *reterr);
/* None is changed yet. */
void service_job_rows_begin(struct job_rows *r);
/* Keeps of each (job, group, id) the last row, in the order of the keys. */
MUST_CHECK int service_job_rows_last_only(struct job_rows *r, struct err *reterr);
int service_job_key_compare(const struct value *a, const struct value *b, size_t columns);

#endif
