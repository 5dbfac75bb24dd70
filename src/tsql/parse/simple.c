/* simple.c — statements of one line: transactions, PRINT, RAISERROR, THROW, WAITFOR, USE,
 * RETURN; and what is refused by name. */
#include "tsql/parse/parser.h"

/* After the verb. BEGIN needs the word TRAN; COMMIT and ROLLBACK may do without, and then take
 * no name. */
int tsql_parse_tran(struct parser *p, int kind, int line)
{
	struct str name = { "", 0 };
	const struct expr *var = NULL;
	struct insn *in;
	bool word = tsql_parse_is(p, "TRAN") || tsql_parse_is(p, "TRANSACTION");

	if (!word && (kind == TRAN_BEGIN || kind == TRAN_SAVE))
		return tsql_parse_syntax(p);
	if ((word || tsql_parse_is(p, "WORK")) && tsql_parse_next(p) < 0)
		return -1;
	if (word && p->tok.kind == T_VARIABLE) {
		if (tsql_parse_primary(p, &var) < 0)
			return -1;
	} else if (word && tsql_parse_is_name(p) && !tsql_parse_at_end_of_statement(p)) {
		if (tsql_parse_name(p, &name) < 0)
			return -1;
	} else if (kind == TRAN_SAVE) {
		return tsql_parse_syntax(p);
	}
	if (kind == TRAN_BEGIN && tsql_parse_is(p, "WITH"))
		return tsql_parse_not_supported(p, line, "BEGIN TRANSACTION … WITH MARK",
						"Leave the mark out.");
	if (kind == TRAN_COMMIT && tsql_parse_is(p, "WITH"))
		return tsql_parse_not_supported(p, line, "COMMIT … WITH (DELAYED_DURABILITY)",
						"Every commit is durable here; leave the option out.");
	if (name.n > 32 * 4) {
		err_raise(p->err, 103, 15, 1,
			  "The identifier that starts with '%.*s' is too long. Maximum length is 32.", 32,
			  name.p);
		return tsql_parse_fail(p, line);
	}
	if (tsql_parse_emit(p, I_TRAN, line, &in) < 0)
		return -1;
	in->expr = var;
	in->u.tran.kind = (uint8_t)kind;
	in->u.tran.name = name;
	return 0;
}

static int one_expression(struct parser *p, enum insn_op op)
{
	int line = p->tok.line;
	const struct expr *e;
	struct insn *in;

	if (tsql_parse_next(p) < 0 || tsql_parse_expr(p, &e) < 0 || tsql_parse_value_only(p, e) < 0 ||
	    tsql_parse_emit(p, op, line, &in) < 0)
		return -1;
	in->expr = e;
	return 0;
}

int tsql_parse_print(struct parser *p)
{
	return one_expression(p, I_PRINT);
}

int tsql_parse_return(struct parser *p)
{
	struct parser after = *p;

	/* RETURN alone, or RETURN (expression): what follows decides */
	if (tsql_parse_next(&after) < 0)
		return -1;
	if (tsql_parse_at_end_of_statement(&after) ||
	    (after.tok.kind == T_NAME && tsql_parse_is_name(&after) && tsql_parse_peek(&after).op != '(')) {
		int line = p->tok.line;

		return tsql_parse_next(p) < 0 ? -1 : tsql_parse_emit(p, I_RETURN, line, NULL);
	}
	return one_expression(p, I_RETURN);
}

static int raise_options(struct parser *p, struct raise *r)
{
	int more = tsql_parse_accept(p, "WITH");

	while (more > 0) {
		if (tsql_parse_is(p, "SETERROR"))
			r->set_error = true;
		else if (!tsql_parse_is(p, "NOWAIT") && !tsql_parse_is(p, "LOG"))
			return tsql_parse_syntax(p);
		if (tsql_parse_next(p) < 0)
			return -1;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

int tsql_parse_raiserror(struct parser *p)
{
	int line = p->tok.line;
	struct raise *r = arena_alloc(p->arena, sizeof(*r));
	const struct expr **list;
	struct insn *in;
	size_t n;

	if (r == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_next(p) < 0 || tsql_parse_expect_op(p, '(') < 0 ||
	    tsql_parse_expr_list(p, &list, &n) < 0)
		return -1;
	if (n < 3)
		return tsql_parse_syntax(p);
	for (size_t i = 0; i < n; i++) {
		if (tsql_parse_value_only(p, list[i]) < 0)
			return -1;
	}
	r->message = list[0];
	r->severity = list[1];
	r->state = list[2];
	r->args = list + 3;
	r->nargs = n - 3;
	if (raise_options(p, r) < 0 || tsql_parse_emit(p, I_RAISERROR, line, &in) < 0)
		return -1;
	in->u.raise = r;
	return 0;
}

int tsql_parse_throw(struct parser *p)
{
	int line = p->tok.line;
	struct raise *r = arena_alloc(p->arena, sizeof(*r));
	const struct expr **list = arena_array(p->arena, 3, EXPR_POINTER);
	struct insn *in;

	if (r == NULL || list == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_next(p) < 0)
		return -1;
	if (tsql_parse_at_end_of_statement(p)) {
		err_raise(p->err, 10704, 15, 1,
			  "To rethrow an error, a THROW statement must be used inside a CATCH block.");
		return tsql_parse_fail(p, line);
	}
	for (size_t i = 0; i < 3; i++) {
		if ((i > 0 && tsql_parse_expect_op(p, ',') < 0) || tsql_parse_expr(p, &list[i]) < 0 ||
		    tsql_parse_value_only(p, list[i]) < 0)
			return -1;
	}
	r->args = list;
	r->nargs = 3;
	if (tsql_parse_emit(p, I_THROW, line, &in) < 0)
		return -1;
	in->u.raise = r;
	return 0;
}

int tsql_parse_waitfor(struct parser *p)
{
	int line = p->tok.line;
	const struct expr *e;
	struct insn *in;
	bool time;

	if (tsql_parse_next(p) < 0)
		return -1;
	time = tsql_parse_is(p, "TIME");
	if (!time && !tsql_parse_is(p, "DELAY"))
		return tsql_parse_syntax(p);
	if (tsql_parse_next(p) < 0)
		return -1;
	if (p->tok.kind != T_STRING && p->tok.kind != T_NSTRING && p->tok.kind != T_VARIABLE)
		return tsql_parse_syntax(p);
	if (tsql_parse_primary(p, &e) < 0 || tsql_parse_emit(p, I_WAIT, line, &in) < 0)
		return -1;
	in->expr = e;
	in->u.wait_time = time;
	return 0;
}

int tsql_parse_use(struct parser *p)
{
	int line = p->tok.line;
	struct insn *in;
	struct str name;

	if (tsql_parse_next(p) < 0 || tsql_parse_name(p, &name) < 0 ||
	    tsql_parse_emit(p, I_USE, line, &in) < 0)
		return -1;
	in->u.name = name;
	return 0;
}

/* A number only, as in SQL Server: no variable. */
int tsql_parse_kill(struct parser *p)
{
	const struct expr *e;
	int line = p->tok.line, minus;
	struct insn *in;
	bool found;

	if (tsql_parse_next(p) < 0)
		return -1;
	if (p->tok.kind == T_STRING || p->tok.kind == T_NSTRING || tsql_parse_is(p, "QUERY") ||
	    tsql_parse_is(p, "STATS"))
		return tsql_parse_not_supported(p, line, "KILL of anything but a session",
						"Give the number of the session, as sp_who shows it.");
	minus = tsql_parse_accept_op(p, '-');
	if (minus < 0)
		return -1;
	if (p->tok.kind != T_INT)
		return tsql_parse_syntax(p);
	if (tsql_parse_constant(p, &found, &e) < 0)
		return -1;
	if (tsql_parse_is(p, "WITH"))
		return tsql_parse_not_supported(p, line, "KILL … WITH STATUSONLY",
						"sp_who shows whether the session is still there.");
	if (tsql_parse_emit(p, I_KILL, line, &in) < 0)
		return -1;
	in->u.number = e->type.id == TYPE_INT ? e->literal.u.i : INT32_MAX;
	if (minus > 0)
		in->u.number = -in->u.number;
	return 0;
}

/* Statements of T-SQL that this server does not have: named in the message, with what to do
 * instead. */
#define FIXED "The schema is fixed; call the stored procedures instead."
#define RIGHTS "Call procession_grant, or use the command procession grant."

static const struct {
	const char *word, *what, *advice, *second;
} refused[] = {
	{ "INSERT", "INSERT", "Call the stored procedures instead.", NULL },
	{ "UPDATE", "UPDATE", "Call the stored procedures instead.", NULL },
	{ "DELETE", "DELETE", "Call the stored procedures instead.", NULL },
	{ "MERGE", "MERGE", "Call the stored procedures instead.", NULL },
	{ "TRUNCATE", "TRUNCATE TABLE", "Call the stored procedures instead.", NULL },
	{ "CREATE", "CREATE LOGIN", "Call procession_login_add, or use the command procession login add.",
	  "LOGIN" },
	{ "CREATE", "CREATE USER", RIGHTS, "USER" },
	{ "CREATE", "CREATE DATABASE",
	  "Call procession_database_create, or use the command procession database create.", "DATABASE" },
	{ "CREATE", "CREATE", FIXED, NULL },
	{ "ALTER", "ALTER LOGIN",
	  "Call procession_login_passwd or procession_login_disable, or use the command procession login.",
	  "LOGIN" },
	{ "ALTER", "ALTER", FIXED, NULL },
	{ "DROP", "DROP LOGIN", "Call procession_login_disable, or use the command procession login disable.",
	  "LOGIN" },
	{ "DROP", "DROP USER", RIGHTS, "USER" },
	{ "DROP", "DROP", FIXED, NULL },
	{ "GRANT", "GRANT", RIGHTS, NULL },
	{ "REVOKE", "REVOKE", RIGHTS, NULL },
	{ "DENY", "DENY", RIGHTS, NULL },
	{ "BACKUP", "BACKUP",
	  "Copy the database's file on the server with sqlite3 FILE \".backup COPY\", also while it runs.",
	  NULL },
	{ "RESTORE", "RESTORE", "Put the copy in place of the database's file while the server is stopped.",
	  NULL },
	{ "GOTO", "GOTO", "Use IF, WHILE, BREAK and CONTINUE instead.", NULL },
	{ "OPEN", "A cursor", "Use SELECT and let the client walk through the rows.", NULL },
	{ "FETCH", "A cursor", "Use SELECT and let the client walk through the rows.", NULL },
	{ "CLOSE", "A cursor", "Use SELECT and let the client walk through the rows.", NULL },
	{ "DEALLOCATE", "A cursor", "Use SELECT and let the client walk through the rows.", NULL },
	{ "DBCC", "DBCC", "Call procession_database_check, or use the command procession database check.",
	  NULL },
	{ "SHUTDOWN", "SHUTDOWN", "Stop the service on the server.", NULL },
	{ "CHECKPOINT", "CHECKPOINT", "Every commit is durable here.", NULL },
	{ "RECONFIGURE", "RECONFIGURE", "Change the configuration file and send SIGHUP.", NULL },
	{ "REVERT", "EXECUTE AS", "Log in as the user you want to be.", NULL },
	{ "SETUSER", "SETUSER", "Log in as the user you want to be.", NULL },
	{ "BULK", "BULK INSERT", "Call the stored procedures instead.", NULL },
	{ "READTEXT", "READTEXT", "Use SELECT instead.", NULL },
	{ "WRITETEXT", "WRITETEXT", "Call the stored procedures instead.", NULL },
	{ "UPDATETEXT", "UPDATETEXT", "Call the stored procedures instead.", NULL },
};

/* insert bulk: the drivers wait for its answer, so it is refused where it runs. The rest of the
 * text is its column list. */
static int insert(struct parser *p, int line)
{
	struct token after = tsql_parse_peek(p);

	if (tsql_token_is(&after, "BULK")) {
		while (p->tok.kind != T_END) {
			if (tsql_parse_next(p) < 0)
				return -1;
		}
		return tsql_parse_emit(p, I_BULK, line, NULL);
	}
	if (tsql_parse_next(p) < 0 || tsql_parse_accept(p, "INTO") < 0)
		return -1;
	if (p->tok.kind == T_VARIABLE)
		return tsql_parse_insert_exec(p, line);
	while (!tsql_parse_is_op(p, ';') && p->tok.kind != T_END) {
		if (tsql_parse_is(p, "EXEC") || tsql_parse_is(p, "EXECUTE"))
			return tsql_parse_not_supported(
				p, line, "INSERT … EXEC",
				"Run the procedure and read its result set in the client.");
		if (tsql_parse_is(p, "VALUES") || tsql_parse_is(p, "SELECT"))
			break;
		if (tsql_parse_next(p) < 0)
			return -1;
	}
	return tsql_parse_not_supported(p, line, "INSERT", "Call the stored procedures instead.");
}

int tsql_parse_refused(struct parser *p, bool *ret_known)
{
	struct token after = tsql_parse_peek(p);

	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		if (!tsql_parse_is(p, refused[i].word) ||
		    (refused[i].second != NULL && !tsql_token_is(&after, refused[i].second)))
			continue;
		*ret_known = true;
		if (i == 0)
			return insert(p, p->tok.line);
		return tsql_parse_not_supported(p, p->tok.line, refused[i].what, refused[i].advice);
	}
	return 0;
}
