/* tree.h — a SELECT over views after it was checked: every name is a column of a source, every
 * expression has its T-SQL type, constants are computed and have the type in which they meet
 * their neighbour. Nothing here belongs to one database's dialect: an emitter (emit.h) writes it.
 * Everything lives in the arena of the statement. */
#ifndef QUERY_TREE_H
#define QUERY_TREE_H

#include "tsql/ast.h"
#include "tsql/eval/dateparts.h"

enum query_node_kind {
	NODE_VALUE,      /* value: a constant, bound when it is written */
	NODE_COLUMN,     /* source, column */
	NODE_UNARY,      /* op: '-' '+' '~' */
	NODE_ARITHMETIC, /* op: enum value_op, of numbers */
	NODE_JOIN_TEXT,  /* one text after the other; NULL if one is */
	NODE_CASE,       /* args: condition, value, …, [else]: searched */
	NODE_CAST,       /* args[0] to type */
	NODE_CALL,       /* op: enum query_function */
	NODE_AGGREGATE,  /* op: enum aggregate; no args: COUNT(*) */
	NODE_ROW_NUMBER, /* args: PARTITION BY; over: ORDER BY */
	NODE_SUBQUERY,   /* query: one column */
	/* conditions from here on */
	NODE_TRUTH,    /* op: enum tri, a constant condition */
	NODE_COMPARE,  /* op: enum comparison */
	NODE_AND,      /* args: two or more */
	NODE_OR,       /* the same */
	NODE_NOT,      /* args[0] */
	NODE_IS_NULL,  /* args[0] */
	NODE_IN,       /* args[0] among the others */
	NODE_IN_QUERY, /* args[0] among the rows of query */
	NODE_EXISTS,   /* query has a row */
	NODE_LIKE,     /* args: text, pattern [, escape]; unicode: blanks at the end count */
};

/* How texts compare; anything else compares as it is. */
enum query_order {
	ORDER_PLAIN, /* no text */
	ORDER_EXACT, /* text of a service's view: by code points, blanks at the end do not count */
	ORDER_NAMES, /* text of a system view: as T-SQL compares, without case */
};

/* Functions of columns, by the names that T-SQL has for them. */
enum query_function {
#define QUERY_FUNCTION(name, kinds, system) FUNCTION_##name,
#include "query/functions.def"
#undef QUERY_FUNCTION
	FUNCTION_COUNT
};

struct query_select;
struct query_source;
struct query_node;

struct query_order_item {
	const struct query_node *expr;
	size_t ordinal; /* place in the list, from 1; 0: expr */
	bool descending;
};

struct query_node {
	uint8_t kind, op;
	uint8_t order; /* enum query_order: of a text, and of a comparison of texts */
	bool nullable;
	bool distinct; /* of an aggregate */
	bool has_else;
	bool unicode; /* of LIKE: one of its texts is nvarchar */
	uint8_t part; /* enum datepart of DATEADD and DATEDIFF */
	struct type type;
	struct value value;
	const struct expr *computed; /* of a constant: what its value was computed from; NULL: made here */
	const struct query_source *source;
	size_t column;
	const struct query_select *query;
	const struct query_node **args;
	size_t nargs;
	const struct query_order_item *over;
	size_t nover;
};

/* What stands in FROM. */
struct query_source {
	enum join_kind join;
	unsigned id;                        /* unique in the statement */
	struct str name;                    /* alias, or last part of the name */
	const struct view *view;            /* NULL: it is none */
	const struct query_select *derived; /* a SELECT of its own; NULL: it is none */
	const struct table_type *table;     /* a table variable; NULL: it is none */
	const struct table_rows *given;     /* and its rows; NULL: it has none */
	struct value database;              /* whose rows of a view that shows one database's */
	struct value rows;                  /* of a view over what the session knows */
	struct value login;                 /* who looks at a view that shows logins their own */
	bool every_login;                   /* the login sees those of all others, too */
	const struct query_node *on;
	const struct column *columns;
	size_t ncolumns;
};

/* One SELECT; a UNION has several. */
struct query_term {
	bool distinct;
	const struct query_node **items;
	struct column *columns;
	size_t n, cap;
	struct query_source *sources;
	size_t nsources;
	const struct query_node *where, *having;
	const struct query_node **group_by;
	size_t ngroup;
	int64_t limit;           /* its own TOP inside a UNION; -1: none */
	bool union_all;          /* how next is joined */
	struct query_term *next; /* UNION */
};

struct query_select {
	struct query_term *terms;
	const struct query_order_item *order_by;
	size_t norder;
	int64_t limit, offset; /* limit -1: none */
};

static inline bool query_is_text(const struct query_node *n)
{
	return type_info(n->type.id)->is_text;
}

#endif
