/* functions.h — private: the table of built-in functions and @@ variables. */
#ifndef TSQL_EVAL_FUNCTIONS_H
#define TSQL_EVAL_FUNCTIONS_H

#include "tsql/ast.h"
#include "tsql/eval/eval.h"

/* How the result's type follows from the arguments'. */
enum result_rule {
	R_FIXED,       /* type */
	R_FIRST,       /* of the first argument */
	R_SECOND,      /* of the second (datepart functions) */
	R_TEXT,        /* text of the first argument, same length */
	R_TEXT_MAX,    /* text of the first argument, as long as can be */
	R_TEXT_ALL,    /* text long enough for all arguments together */
	R_COMMON,      /* common type of all */
	R_COMMON_REST, /* of all but the first (CHOOSE, IIF) */
	R_NUMBER,      /* the number type of the first: ABS, ROUND … */
	R_WHOLE,       /* the same without digits after the point: FLOOR, CEILING */
	R_DATE,        /* of DATEADD: the date's type, datetime for texts */
};

struct fn_args {
	struct eval *ev;
	const struct function *fn;
	const struct expr *expr; /* for dateparts and functions that evaluate their arguments themselves */
	struct value *v;
	size_t n;
};
struct function {
	const char *name; /* upper case; table sorted by it */
	uint8_t min, max;
	uint8_t rule; /* enum result_rule */
	bool never_null;
	bool null_in_null_out; /* any NULL argument: NULL, without calling */
	bool datepart;         /* the first argument is a bare word */
	bool no_parens;        /* CURRENT_TIMESTAMP, SYSTEM_USER … */
	bool lazy;             /* evaluates its arguments itself */
	struct type type;
	int (*call)(const struct fn_args *f, struct value *ret); /* NULL: the host's value() */
};

const struct function *function_find(struct str name);
/* The arguments are computed: the built-in, or the host's value brought to the declared type. */
MUST_CHECK int function_run(const struct fn_args *f, struct value *ret);
struct type function_type(const struct function *f, const struct type *args, size_t n);
static inline bool function_never_null(const struct function *f)
{
	return f->never_null;
}
struct type type_common_known(const struct type *a, const struct type *b);

/* Helpers of the fn_*.c files. Each returns 0, or -1 with ev->err filled. */
MUST_CHECK int fn_text(const struct fn_args *f, size_t i, struct str *ret); /* the argument as text */
MUST_CHECK int fn_int(const struct fn_args *f, size_t i, int64_t *ret);
MUST_CHECK int fn_float(const struct fn_args *f, size_t i, double *ret);
MUST_CHECK int fn_as(const struct fn_args *f, size_t i, const struct type *t, struct value *ret);
int fn_return_text(const struct fn_args *f, struct str s,
		   struct value *ret); /* in the type that the rules give */

#define FN(name) int name(const struct fn_args *f, struct value *ret)
FN(fn_len);
FN(fn_datalength);
FN(fn_upper);
FN(fn_lower);
FN(fn_ltrim);
FN(fn_rtrim);
FN(fn_trim);
FN(fn_substring);
FN(fn_left);
FN(fn_right);
FN(fn_charindex);
FN(fn_patindex);
FN(fn_replace);
FN(fn_replicate);
FN(fn_space);
FN(fn_stuff);
FN(fn_reverse);
FN(fn_concat);
FN(fn_concat_ws);
FN(fn_char);
FN(fn_nchar);
FN(fn_ascii);
FN(fn_unicode);
FN(fn_str);
FN(fn_quotename);
FN(fn_parsename);
FN(fn_abs);
FN(fn_sign);
FN(fn_floor);
FN(fn_ceiling);
FN(fn_round);
FN(fn_power);
FN(fn_sqrt);
FN(fn_rand);
FN(fn_isnumeric);
FN(fn_square);
FN(fn_exp);
FN(fn_log);
FN(fn_pi);
FN(fn_isdate);
FN(fn_getdate);
FN(fn_sysdatetime);
FN(fn_dateadd);
FN(fn_datediff);
FN(fn_datepart);
FN(fn_datename);
FN(fn_year);
FN(fn_month);
FN(fn_day);
FN(fn_eomonth);
FN(fn_datefromparts);
FN(fn_coalesce);
FN(fn_isnull);
FN(fn_nullif);
FN(fn_iif);
FN(fn_choose);
FN(fn_newid);
FN(fn_null);
FN(fn_session_value);
FN(fn_xact_state);
FN(fn_context_info);
#undef FN

#endif
