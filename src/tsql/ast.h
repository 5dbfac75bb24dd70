/* ast.h — a compiled batch: expressions, SELECTs, and the flat program of instructions that
 * refers to them. Everything lives in the arena of the compilation and is constant afterwards. */
#ifndef TSQL_AST_H
#define TSQL_AST_H

#include "tsql/tsql.h"
#include "value/compare.h"

enum expr_kind {
	E_LITERAL,
	E_VARIABLE,
	E_COLUMN,
	E_UNARY,      /* op: '-' '+' '~' */
	E_BINARY,     /* op: enum value_op */
	E_CASE,       /* args: [operand], when, then, …, [else]; see has_operand, has_else */
	E_CAST,       /* args: value [, style] */
	E_CALL,       /* fn; @@variables too */
	E_AGGREGATE,  /* op: enum aggregate; no args: COUNT(*) */
	E_SUBQUERY,   /* query: one column, one row */
	E_ROW_NUMBER, /* args: PARTITION BY; over: ORDER BY */
	/* predicates from here on */
	E_COMPARE, /* op: enum comparison */
	E_AND,
	E_OR,
	E_NOT,
	E_IS_NULL,
	E_BETWEEN,
	E_IN,
	E_LIKE, /* negated: NOT */
	E_IN_QUERY,
	E_EXISTS,
};
enum comparison { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE };
enum aggregate {
	AGG_COUNT,
	AGG_COUNT_BIG,
	AGG_SUM,
	AGG_MIN,
	AGG_MAX,
	AGG_AVG,
	AGG_STRING /* args: text, separator */
};

#define EXPR_DEPTH 500  /* of a tree: what evaluation recurses */
#define PARAMS_MAX 2100 /* of an EXEC, and declared for sp_executesql; SQL Server's bound */
#define PARSE_DEPTH 200 /* of nested parentheses, blocks and subqueries */

struct function;
struct select;
struct order_item;
struct expr {
	uint8_t kind, op;
	uint16_t depth;
	bool negated, has_operand, has_else, distinct, try_cast;
	/* contains a column, an aggregate or a subquery: only the store can compute it */
	bool in_query;
	bool nullable;
	int line;
	struct type type; /* static; not known (TYPE_NULL) when in_query */
	struct value literal;
	int var;
	struct str table, name; /* E_COLUMN; table may be empty */
	const struct function *fn;
	struct select *query;
	struct type cast;
	const struct expr **args;
	uint32_t nargs;
	struct order_item *over; /* OVER (ORDER BY …) */
	size_t nover;
};
static inline bool tsql_expr_is_predicate(const struct expr *e)
{
	return e->kind >= E_COMPARE;
}

struct select_item {
	const struct expr *expr; /* NULL: star */
	struct str star_table;   /* t.* */
	const char *name;        /* "" when it has none */
	bool named;              /* by alias */
	int var;                 /* @v = …, else -1 */
	int assign_op;           /* enum value_op of a compound assignment, else -1 */
};
/* DECLARE @t TABLE (…): INSERT @t EXEC … fills it, and SELECT reads it. */
struct table_type {
	const struct column *columns;
	size_t n;
};
/* What is in one, while a program runs. */
struct table_rows {
	const struct table_type *type;
	struct value **rows;
	size_t n;
};
enum join_kind { JOIN_FIRST, JOIN_COMMA, JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_CROSS };
struct from_item {
	enum join_kind join;
	struct str database, schema, name;
	struct str alias; /* empty: the name */
	const struct select *derived;
	bool is_with;              /* derived is one of WITH: it sees nothing of what is around it here */
	const char **column_names; /* the names that WITH gave to its columns; NULL: none */
	size_t ncolumn_names;
	bool called;                    /* a function: f(…) */
	const struct table_type *table; /* a table variable; NULL: none */
	int var;                        /* of a table variable */
	const struct expr *on;
	int line;
};
struct order_item {
	const struct expr *expr;
	bool descending;
};
struct select {
	int line;
	bool distinct;
	bool assigns; /* every item sets a variable */
	const struct expr *top, *offset, *fetch;
	struct select_item *items;
	size_t nitems;
	struct from_item *from;
	size_t nfrom;
	const struct expr *where, *having;
	const struct expr **group_by;
	size_t ngroup;
	struct order_item *order_by;
	size_t norder;
	struct select *next;    /* UNION */
	bool union_all;         /* how next is joined */
	bool in_query;          /* the store must run it */
	struct column *columns; /* of a scalar SELECT */
};

enum insn_op {
	I_ASSIGN,   /* var (op)= expr */
	I_SELECT,   /* select: scalar */
	I_QUERY,    /* select: for the store */
	I_SUBQUERY, /* select into the hidden variable var; exists: whether there is a row */
	I_EXEC,
	I_EXEC_TEXT,
	I_JUMP,
	I_IF, /* target */
	I_TRAN,
	I_PRINT,
	I_RAISERROR,
	I_THROW,
	I_WAIT,
	I_USE,
	I_SET,
	I_RETURN,
	I_KILL, /* number: of a session */
	I_BULK, /* insert bulk: refused when it runs, as the drivers expect */
};
struct exec_arg {
	struct str name;
	const struct expr *expr; /* NULL: DEFAULT */
	bool output;
	int var; /* of an output */
};
struct exec_call {
	struct str name;         /* empty: expr */
	const struct expr *expr; /* EXEC @name, or the text of EXEC ('…') */
	int status_var;          /* EXEC @rc =, else -1 */
	int into;                /* INSERT @t EXEC, else -1 */
	struct exec_arg *args;
	size_t nargs;
};
struct raise {
	/* THROW: number, text, state in this order in args */
	const struct expr *message, *severity, *state;
	const struct expr **args;
	size_t nargs;
	bool set_error;
};
struct set_option; /* set_options.h */
struct set_insn {
	const struct set_option *option;
	int which; /* ON/OFF or the index of the word given */
	const struct expr *expr;
	struct str word;
};
struct insn {
	uint8_t op;
	int8_t assign_op; /* I_ASSIGN: enum value_op, or -1 */
	bool exists;
	int line;
	int var;
	uint32_t target;
	const struct expr *expr;
	union {
		const struct select *select;
		const struct exec_call *exec;
		const struct raise *raise;
		const struct set_insn *set;
		struct {
			uint8_t kind;
			struct str name;
		} tran;
		struct str name;
		bool wait_time; /* WAITFOR TIME, else DELAY */
		int64_t number;
	} u;
};

struct variable {
	struct str name;  /* hidden ones: empty */
	struct type type; /* TYPE_NULL: whatever is assigned (hidden) */
	bool output;
	bool undeclared;                /* used without being declared: its type is to be found out */
	const struct table_type *table; /* a table variable; NULL: it has one value */
};
struct tsql_program {
	struct insn *insns;
	size_t ninsns, cap_insns;
	struct variable *vars;
	size_t nvars, cap_vars;
	size_t nparams;
};

/* infer.c: the static type of a node from those of its arguments. */
struct type tsql_infer_type(const struct expr *e, const struct type *args);
bool tsql_infer_nullable(const struct expr *e);
/* varchar/nvarchar wide enough for the text of any value of the type. */
struct type tsql_type_as_text(const struct type *t);

#endif
