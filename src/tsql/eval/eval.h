/* eval.h — private: computing expressions. */
#ifndef TSQL_EVAL_EVAL_H
#define TSQL_EVAL_EVAL_H

#include "base/meter.h"
#include "tsql/ast.h"

/* A variable's current value. Its text is kept in a buffer of its own, which grows inside the
 * run's arena and is used again. */
struct slot {
	struct value value;
	char *buf;
	size_t cap;
	const struct table_rows *table; /* of a table variable; NULL: it is none, or nothing is run */
};

struct eval {
	struct tsql_host *host;   /* NULL while compiling: only constants can be computed */
	const struct slot *slots; /* by index of the variable */
	/* what the expression makes; reset by the caller after each statement */
	struct arena *arena;
	/* clock of the statement, microseconds since 1970; all GETDATE() of a statement agree */
	int64_t now_us;
	struct meter *meter; /* counts what is computed, and may give it up; NULL: nobody does */
	struct err *err;
	/* by index of the variable: types are being found out (suggest.c); NULL: they are not */
	struct tsql_undeclared *undeclared;
};

/* So many steps, before they are taken. -1: the statement is given up, and has done nothing. */
MUST_CHECK static inline int tsql_eval_spend(struct eval *ev, uint64_t steps)
{
	return meter_spend(ev->meter, steps) ? 0 : err_set(ev->err, ERR_CANCELLED);
}
/* The same for a value of so many bytes that is about to be made; what it is, for the message
 * when it is larger than a value may be. */
MUST_CHECK int tsql_eval_room(struct eval *ev, const char *what, size_t n);
/* Bytes of a text or binary value; 0 of any other. */
size_t tsql_eval_size(const struct value *v);

enum tri { TRI_FALSE, TRI_TRUE, TRI_UNKNOWN };

MUST_CHECK int tsql_eval_value(struct eval *ev, const struct expr *e, struct value *ret);
MUST_CHECK int tsql_eval_condition(struct eval *ev, const struct expr *e, enum tri *ret);
/* Bring to a type as an assignment does. */
MUST_CHECK int tsql_eval_as(struct eval *ev, const struct expr *e, const struct type *t, struct value *ret);
/* suggest.c; nothing to do unless types are being found out. */
/* How the type that an expression meets becomes that of a parameter: as it is, or as the widest of
 * its kind, where SQL Server looks for a type that fits rather than for the other side's. */
enum suggestion { SUGGEST_SAME, SUGGEST_WIDE };
/* The value meets one of this type (NULL: of none that is known): so do the parameters in it. */
MUST_CHECK int tsql_suggest_value(struct eval *ev, const struct expr *e, const struct type *want,
				  enum suggestion how);
MUST_CHECK int tsql_suggest_condition(struct eval *ev, const struct expr *e);

/* ESCAPE takes one character: 506. */
MUST_CHECK int tsql_like_escape(struct str escape, struct err *reterr);

#endif
