/* parser.h — private to this folder: the state of a compilation and the steps they
 * share. Every function returns 0, or -1 with p->err filled. */
#ifndef TSQL_PARSE_PARSER_H
#define TSQL_PARSE_PARSER_H

#include "base/meter.h"
#include "tsql/ast.h"
#include "tsql/parse/lexer.h"

struct loop { /* the innermost WHILE */
	struct loop *outer;
	uint32_t start;
	int64_t breaks; /* chain of BREAK jumps through their target; -1: none */
};

/* A name of WITH. */
struct with {
	struct with *outer; /* the one before it */
	struct str name;
	const char **columns; /* the names it gives its columns; none: those of the SELECT */
	size_t ncolumns;
	struct select *select; /* NULL: it is being read */
};

#define PARSE_LIST_MAX 2000                      /* of ORDER BY, GROUP BY: SQLite takes no more */
#define EXPR_POINTER sizeof(const struct expr *) /* size of an element of a list of expressions */

struct parser {
	struct lexer lx;
	struct token tok; /* the one to look at */
	struct arena *arena;
	struct err *err;
	struct meter *meter; /* NULL: nobody counts */
	struct tsql_program *prog;
	/* hash of the variables' names: index + 1, or 0; half of it is empty at least */
	uint32_t *names;
	size_t cap_names;
	struct loop *loop;
	struct with *with; /* the last name of WITH; NULL: none */
	unsigned depth;
	/* subqueries stay where they are; outside they are run first, into hidden variables */
	bool in_store_query;
	/* a variable that nobody declared is one whose type is to be found out, instead of 137 */
	bool undeclared_allowed;
};

/* parse.c */
MUST_CHECK int tsql_parse_next(struct parser *p);
bool tsql_parse_is_op(const struct parser *p, int op);
bool tsql_parse_is(const struct parser *p, const char *keyword);
/* The token after the current one; T_END when it cannot be read. */
struct token tsql_parse_peek(const struct parser *p);
/* Consumes the token if it is the one: 1, 0, or -1. */
MUST_CHECK int tsql_parse_accept(struct parser *p, const char *keyword);
MUST_CHECK int tsql_parse_accept_op(struct parser *p, int op);
MUST_CHECK int tsql_parse_expect(struct parser *p, const char *keyword);
MUST_CHECK int tsql_parse_expect_op(struct parser *p, int op);
/* The four ways to fail: each is -1, and an analyzer can see that. */
void tsql_parse_set_line(struct parser *p, int line);
void tsql_parse_set_syntax(struct parser *p);
static inline int tsql_parse_fail(struct parser *p, int line) /* err was filled: sets its line */
{
	tsql_parse_set_line(p, line);
	return -1;
}
static inline int tsql_parse_syntax(struct parser *p) /* 102 or 156 near the current token */
{
	tsql_parse_set_syntax(p);
	return -1;
}
static inline int tsql_parse_nomem(struct parser *p)
{
	(void)err_nomem(p->err);
	return tsql_parse_fail(p, p->tok.line);
}
static inline int tsql_parse_not_supported(struct parser *p, int line, const char *what, const char *advice)
{
	(void)err_set(p->err, ERR_NOT_SUPPORTED, what, advice);
	return tsql_parse_fail(p, line);
}
bool tsql_parse_is_name(const struct parser *p); /* an identifier: not reserved, or delimited */
MUST_CHECK int tsql_parse_name(struct parser *p, struct str *ret);
/* a.b.c.d with empty parts; ret is as written, parts (may be NULL) hold the last four, ret_n how
 * many. */
MUST_CHECK int tsql_parse_dotted_name(struct parser *p, struct str *ret, struct str parts[4], size_t *ret_n);
MUST_CHECK int tsql_parse_enter(struct parser *p);
void tsql_parse_leave(struct parser *p);
/* An array that grows inside the arena: afterwards element n can be written. */
MUST_CHECK int tsql_parse_grow(struct parser *p, void **array, size_t n, size_t *cap, size_t size);
MUST_CHECK int tsql_parse_emit(struct parser *p, enum insn_op op, int line, struct insn **ret);
int tsql_parse_find_variable(struct parser *p, struct str name); /* -1: none */
MUST_CHECK int tsql_parse_variable(struct parser *p, int *ret);  /* consumes @x; 137 */
MUST_CHECK int tsql_parse_add_variable(struct parser *p, struct str name, struct type type, int *ret);
/* What stops the statement before it: END, ELSE, ';', the end, or a word that begins a
 * statement. */
bool tsql_parse_at_end_of_statement(const struct parser *p);

/* parse/type.c; in_cast: bare char types have 30 characters. index: of the variable, for
 * messages */
MUST_CHECK int tsql_parse_type(struct parser *p, bool in_cast, int index, struct type *ret);

/* parse/expr.c */
MUST_CHECK int tsql_parse_expr(struct parser *p, const struct expr **ret); /* a value */
MUST_CHECK int tsql_parse_condition(struct parser *p, const struct expr **ret);
MUST_CHECK int tsql_parse_any(struct parser *p, const struct expr **ret); /* either */
/* a value, or a parenthesis with either */
MUST_CHECK int tsql_parse_additive(struct parser *p, const struct expr **ret);
/* parse/node.c: new nodes, with depth, type and flags */
MUST_CHECK int tsql_parse_node(struct parser *p, enum expr_kind kind, int line, const struct expr **args,
			       size_t n, struct expr **ret);
MUST_CHECK int tsql_parse_node1(struct parser *p, enum expr_kind kind, int line, const struct expr *a,
				struct expr **ret);
MUST_CHECK int tsql_parse_node2(struct parser *p, enum expr_kind kind, int line, const struct expr *a,
				const struct expr *b, struct expr **ret);
int tsql_parse_literal(struct parser *p, const struct value *v, int line, const struct expr **ret);
MUST_CHECK int tsql_parse_finish_node(struct parser *p, struct expr *e);
/* parse/primary.c */
MUST_CHECK int tsql_parse_primary(struct parser *p, const struct expr **ret);
/* a literal token */
MUST_CHECK int tsql_parse_constant(struct parser *p, bool *ret_found, const struct expr **ret);
MUST_CHECK int tsql_parse_hoist(struct parser *p, struct select *s, bool exists, int line,
				const struct expr **ret);
/* parse/call.c */
MUST_CHECK int tsql_parse_call(struct parser *p, struct str name, int line, const struct expr **ret);
MUST_CHECK int tsql_parse_case(struct parser *p, const struct expr **ret);
MUST_CHECK int tsql_parse_global(struct parser *p, const struct expr **ret);
/* up to the closing parenthesis */
MUST_CHECK int tsql_parse_expr_list(struct parser *p, const struct expr ***ret, size_t *ret_n);

/* parse/select.c, parse/from.c */
MUST_CHECK int tsql_parse_select(struct parser *p, bool nested, struct select **ret);
MUST_CHECK int tsql_parse_select_statement(struct parser *p);
MUST_CHECK int tsql_parse_from(struct parser *p, struct select *s);

/* parse/with.c */
MUST_CHECK int tsql_parse_with(struct parser *p);
const struct with *tsql_parse_find_with(const struct parser *p, struct str name);
/* FROM names it: the source is its SELECT. */
MUST_CHECK int tsql_parse_use_with(struct parser *p, const struct with *w, struct from_item *f);

/* parse/window.c */
MUST_CHECK int tsql_parse_order_list(struct parser *p, struct order_item **ret, size_t *ret_n);
/* the name was consumed */
MUST_CHECK int tsql_parse_row_number(struct parser *p, int line, const struct expr **ret);

/* parse/table.c */
/* DECLARE @name TABLE: at the word TABLE. */
MUST_CHECK int tsql_parse_table(struct parser *p, struct str name);
/* At @x, which must be a table variable (1087); consumes it. */
MUST_CHECK int tsql_parse_table_name(struct parser *p, int *ret);
/* INSERT [INTO] has been read, and a variable comes. */
MUST_CHECK int tsql_parse_insert_exec(struct parser *p, int line);

/* parse/stmt.c, parse/exec.c, parse/simple.c, parse/set.c */
MUST_CHECK int tsql_parse_statement(struct parser *p, bool first);
/* 207 for a column name where no SELECT is. */
MUST_CHECK int tsql_parse_value_only(struct parser *p, const struct expr *e);
MUST_CHECK int tsql_parse_exec(struct parser *p);
MUST_CHECK int tsql_parse_exec_into(struct parser *p, int into); /* -1: into no table variable */
MUST_CHECK int tsql_parse_bare_exec(struct parser *p);
MUST_CHECK int tsql_parse_declare(struct parser *p);
MUST_CHECK int tsql_parse_tran(struct parser *p, int kind, int line);
MUST_CHECK int tsql_parse_print(struct parser *p);
MUST_CHECK int tsql_parse_raiserror(struct parser *p);
MUST_CHECK int tsql_parse_throw(struct parser *p);
MUST_CHECK int tsql_parse_waitfor(struct parser *p);
MUST_CHECK int tsql_parse_use(struct parser *p);
MUST_CHECK int tsql_parse_return(struct parser *p);
MUST_CHECK int tsql_parse_kill(struct parser *p);
MUST_CHECK int tsql_parse_set(struct parser *p);
MUST_CHECK int tsql_parse_refused(struct parser *p, bool *ret_known);

#endif
