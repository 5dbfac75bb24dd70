/* schedule.c — see schedule.h. The table of classes is src/schedule's, which the scheduler uses
 * too. */
#include "service/schedule.h"

#include <stdio.h>
#include <string.h>

#include "base/utf.h"
#include "catalogue/native.h"
#include "schedule/job_class.h"
#include "schedule/recurrence.h"
#include "value/datetime.h"

#define NAME_MAX_UNITS 256
#define NEVER_DUE INT64_C(76683386879999) /* Dec 31 9999 11:59:59:997 PM, in ticks */

enum {
	JOB_ID,
	ASSEMBLY,
	CLASS,
	RECURRENCE,
	NEXT_DUE_TIME,
	JOB_DATA,
	DISABLED,
	DISPLAY_NAME,
	LITERAL,
	ARGUMENTS
};
enum { PROBLEM, KEPT_NAME, RESULTS };

static struct str without_trailing_blanks(struct str s)
{
	while (s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

static bool known_assembly(struct str assembly)
{
	for (size_t i = 0; i < schedule_classes_count; i++)
		if (str_eq(without_trailing_blanks(assembly), str_of(schedule_classes[i].assembly)))
			return true;
	return false;
}

static const char *check_names(const struct value *assembly, const struct value *class,
			       enum job_data_rule *ret)
{
	const struct job_class *c;

	if (assembly->null)
		return "@Assembly must not be NULL.";
	if (class->null)
		return "@Class must not be NULL.";
	c = schedule_class_find(assembly->u.s, class->u.s);
	if (c != NULL) {
		*ret = c->data;
		return NULL;
	}
	return known_assembly(assembly->u.s)
		       ? "@Class is not a class of this @Assembly ([MS-SSPSJ] 2.2.3)."
		       : "@Assembly is not one of the two assemblies of [MS-SSPSJ] 2.2.2.";
}

static const char *check_recurrence(const struct value *v)
{
	struct recurrence r;

	if (v->null || schedule_recurrence_parse(v->u.s, &r))
		return NULL;
	return "@Recurrence is not in the language of [MS-SSPSJ] 2.2.5; for example 'daily at 01:00:00'. "
	       "NULL means a job that runs once.";
}

static bool is_incremental(struct str s)
{
	return str_eq(s, STR("IsIncremental#True")) || str_eq(s, STR("IsIncremental#False"));
}

/* A date and time in UTC. Without a digit it is blank: T-SQL reads that as 1900-01-01, which
 * nobody meant [E-SCHED-14]. */
static bool is_utc_date(struct str s)
{
	struct civil c;
	int digits;
	bool has_offset;
	int64_t ticks;

	if (!datetime_parse(s, &c, &digits, &has_offset) || digits > 3 || (has_offset && c.offset != 0) ||
	    !datetime_from_civil(&c, &ticks))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			return true;
	return false;
}

/* Flag;Date;ChangeToken [E-SCHED-14]; the token goes out in code page 1252 [E-SCHED-02]. */
static bool is_upgrade(struct str s)
{
	const char *first = memchr(s.p, ';', s.n), *second;
	struct str date, token;

	if (first == NULL || first - s.p != 1 || (s.p[0] != '0' && s.p[0] != '1'))
		return false;
	second = memchr(first + 1, ';', s.n - 2);
	if (second == NULL)
		return false;
	date = (struct str){ first + 1, (size_t)(second - first - 1) };
	token = (struct str){ second + 1, s.n - (size_t)(second + 1 - s.p) };
	if (token.n == 0 || !is_utc_date(date))
		return false;
	for (size_t i = 0; i < token.n;) {
		size_t n = utf8_prefix(token.p + i, token.n - i, 1), lost = 0;
		uint8_t byte[8];

		if (n == 0)
			n = utf8_prefix(token.p + i, token.n - i, 2);
		if (n == 0 || n > sizeof(byte))
			return false;
		(void)cp1252_from_utf8(byte, token.p + i, n, &lost);
		if (lost > 0)
			return false;
		i += n;
	}
	return true;
}

static const char *check_data(const struct value *v, enum job_data_rule rule, bool literal)
{
	bool none = v->null || v->u.s.n == 0;

	if (rule == JOB_DATA_INCREMENTAL)
		return !none && is_incremental(v->u.s) ? NULL
						       : "@JobData of this @Class is 'IsIncremental#True' or "
							 "'IsIncremental#False' ([MS-SSPSJ] 2.2.4).";
	if (none)
		return NULL;
	if (rule == JOB_DATA_NONE)
		return "@JobData of this @Class is NULL or empty ([MS-SSPSJ] 2.2.4).";
	if (is_upgrade(v->u.s) || (literal && is_incremental(v->u.s)))
		return NULL;
	return "@JobData of this @Class is NULL, empty or 'Flag;Date;ChangeToken' with a Date in UTC "
	       "([MS-SSPSJ] 2.2.4).";
}

static const char *check_display_name(const struct value *v)
{
	struct str s;

	if (v->null)
		return NULL;
	s = without_trailing_blanks(v->u.s);
	return utf16_units(s.p, s.n) > NAME_MAX_UNITS ? "@DisplayName has more than 256 characters." : NULL;
}

/* Blanks beyond the length are dropped, everything else is kept, U+0000 too, at which SQL's
 * substr() would end [E-COM-07, clarification 17]. */
static struct value kept_display_name(const struct value *v)
{
	struct value kept = *v;

	if (!v->null)
		kept.u.s.n = utf8_prefix(v->u.s.p, v->u.s.n, NAME_MAX_UNITS);
	return kept;
}

static const char *check_given(const struct value *a)
{
	if (a[JOB_ID].null)
		return "@JobId must not be NULL.";
	if (a[NEXT_DUE_TIME].null)
		return "@NextDueTime must not be NULL.";
	return a[DISABLED].null ? "@Disabled must not be NULL." : NULL;
}

static const char *check_disabled(const struct value *disabled, const struct value *due)
{
	return disabled->u.i != 0 && due->u.i != NEVER_DUE
		       ? "@NextDueTime of a disabled job is Dec 31 9999 11:59:59:997 PM."
		       : NULL;
}

static int schedule_check(struct native_ctx *ctx, struct err *reterr)
{
	const struct value *a = ctx->args;
	enum job_data_rule rule = JOB_DATA_NONE;
	const char *problem;

	if (ctx->nargs != ARGUMENTS || ctx->nresults != RESULTS)
		return err_raise(reterr, 50010, 16, 1, "schedule_check takes nine values and gives two.");
	problem = check_given(a);
	if (problem == NULL)
		problem = check_names(&a[ASSEMBLY], &a[CLASS], &rule);
	if (problem == NULL)
		problem = check_recurrence(&a[RECURRENCE]);
	if (problem == NULL)
		problem = check_data(&a[JOB_DATA], rule, a[LITERAL].u.i != 0);
	if (problem == NULL)
		problem = check_display_name(&a[DISPLAY_NAME]);
	if (problem == NULL)
		problem = check_disabled(&a[DISABLED], &a[NEXT_DUE_TIME]);
	if (problem != NULL)
		ctx->results[PROBLEM] = value_text(TYPE_LEN(TYPE_NVARCHAR, 400), str_of(problem));
	else
		ctx->results[KEPT_NAME] = kept_display_name(&a[DISPLAY_NAME]);
	return 0;
}

void service_schedule_register(struct catalogue_natives *all)
{
	catalogue_native_register(all, "schedule_check", schedule_check, NULL);
}
