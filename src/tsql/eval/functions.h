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
	/* for dateparts and functions that evaluate their arguments themselves */
	const struct expr *expr;
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

const struct function *tsql_function_find(struct str name);
/* The arguments are computed: the built-in, or the host's value brought to the declared type. */
MUST_CHECK int tsql_function_run(const struct fn_args *f, struct value *ret);
struct type tsql_function_type(const struct function *f, const struct type *args, size_t n);
static inline bool tsql_function_never_null(const struct function *f)
{
	return f->never_null;
}
struct type tsql_type_common_known(const struct type *a, const struct type *b);

/* Helpers of the fn_*.c files. Each returns 0, or -1 with ev->err filled. */
MUST_CHECK int tsql_fn_text(const struct fn_args *f, size_t i, struct str *ret); /* the argument as text */
MUST_CHECK int tsql_fn_int(const struct fn_args *f, size_t i, int64_t *ret);
MUST_CHECK int tsql_fn_float(const struct fn_args *f, size_t i, double *ret);
MUST_CHECK int tsql_fn_as(const struct fn_args *f, size_t i, const struct type *t, struct value *ret);
/* in the type that the rules give */
int tsql_fn_return_text(const struct fn_args *f, struct str s, struct value *ret);

#define FN(name) int name(const struct fn_args *f, struct value *ret)
FN(tsql_fn_len);
FN(tsql_fn_datalength);
FN(tsql_fn_upper);
FN(tsql_fn_lower);
FN(tsql_fn_ltrim);
FN(tsql_fn_rtrim);
FN(tsql_fn_trim);
FN(tsql_fn_substring);
FN(tsql_fn_left);
FN(tsql_fn_right);
FN(tsql_fn_charindex);
FN(tsql_fn_patindex);
FN(tsql_fn_replace);
FN(tsql_fn_replicate);
FN(tsql_fn_space);
FN(tsql_fn_stuff);
FN(tsql_fn_reverse);
FN(tsql_fn_concat);
FN(tsql_fn_concat_ws);
FN(tsql_fn_char);
FN(tsql_fn_nchar);
FN(tsql_fn_ascii);
FN(tsql_fn_unicode);
FN(tsql_fn_str);
FN(tsql_fn_quotename);
FN(tsql_fn_parsename);
FN(tsql_fn_abs);
FN(tsql_fn_sign);
FN(tsql_fn_floor);
FN(tsql_fn_ceiling);
FN(tsql_fn_round);
FN(tsql_fn_power);
FN(tsql_fn_sqrt);
FN(tsql_fn_rand);
FN(tsql_fn_isnumeric);
FN(tsql_fn_square);
FN(tsql_fn_exp);
FN(tsql_fn_log);
FN(tsql_fn_pi);
FN(tsql_fn_isdate);
FN(tsql_fn_getdate);
FN(tsql_fn_sysdatetime);
FN(tsql_fn_dateadd);
FN(tsql_fn_datediff);
FN(tsql_fn_datepart);
FN(tsql_fn_datename);
FN(tsql_fn_year);
FN(tsql_fn_month);
FN(tsql_fn_day);
FN(tsql_fn_eomonth);
FN(tsql_fn_datefromparts);
FN(tsql_fn_coalesce);
FN(tsql_fn_isnull);
FN(tsql_fn_nullif);
FN(tsql_fn_iif);
FN(tsql_fn_choose);
FN(tsql_fn_newid);
FN(tsql_fn_null);
FN(tsql_fn_session_value);
FN(tsql_fn_xact_state);
FN(tsql_fn_context_info);
FN(tsql_fn_variant_property);
#undef FN

#endif
