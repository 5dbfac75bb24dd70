/* tsql.h — the language subset of batches. A text is compiled whole (a syntax error: nothing
 * runs), then run piece by piece: whatever can be computed here is; whatever needs the database,
 * a transaction or another text is handed to the caller, who continues the run when it is done.
 * Nothing blocks. */
#ifndef TSQL_TSQL_H
#define TSQL_TSQL_H

#include "base/arena.h"
#include "base/meter.h"
#include "call/call.h"
#include "catalogue/catalogue.h"
#include "call/sink.h"

/* Isolation levels, numbered as in the transaction manager request. */
enum {
	TSQL_READ_UNCOMMITTED = 1,
	TSQL_READ_COMMITTED,
	TSQL_REPEATABLE_READ,
	TSQL_SERIALIZABLE,
	TSQL_SNAPSHOT
};

/* What SET changes and @@ variables read. Owned by the session, shared by its runs. */
struct tsql_session {
	bool nocount, xact_abort, implicit_transactions, quoted_identifier, ansi_nulls, ansi_padding,
		ansi_warnings, arithabort, concat_null_yields_null, ansi_null_dflt_on, numeric_roundabort,
		cursor_close_on_commit, fmtonly, noexec, parseonly;
	int64_t rowcount_limit; /* SET ROWCOUNT; 0: none */
	int32_t textsize;
	int32_t lock_timeout_ms; /* -1: the server's */
	uint8_t isolation;       /* TSQL_READ_COMMITTED … */
	uint8_t datefirst;
	char language[32];
	bool has_context; /* SET CONTEXT_INFO was given */
	uint8_t context[128];
	/* @@ERROR, @@ROWCOUNT, @@TRANCOUNT */
	int32_t error;
	int64_t rowcount;
	int32_t trancount; /* kept by the session */
};
/* odbc: ANSI defaults on, as fODBC in LOGIN7 asks. */
void tsql_session_init(struct tsql_session *s, bool odbc);
/* The options as they were kept; CONTEXT_INFO, @@ERROR and its kin are the session's and stay. */
void tsql_session_restore(struct tsql_session *s, const struct tsql_session *kept);

/* Commands of DONE tokens, wire notes 13.4. */
enum tsql_command {
	CMD_NONE = 0,
	CMD_SELECT = 0xC1,
	CMD_INSERT = 0xC3,
	CMD_IF = 0xC0,
	CMD_SET_ON = 0xB9,
	CMD_SET_OFF = 0xBA,
	CMD_SET_OTHER = 0xF9,
	CMD_SET_ROWCOUNT = 0xBD,
	CMD_SET_TEXTSIZE = 0xBE,
	CMD_BEGIN = 0xD4,
	CMD_COMMIT = 0xD5,
	CMD_ROLLBACK = 0xD2,
	CMD_RETURN = 0xDB,
	CMD_EXEC = 0xE0,
	CMD_USE = 0xE2,
	CMD_PRINT = 0xF7,
	CMD_RAISERROR = 0xF6,
	CMD_WAITFOR = 0xF3,
	CMD_FAILED = 0xFD,
};

/* The session as the language sees it. All synchronous. */
struct tsql_host {
	struct sink *sink; /* result sets of scalar SELECTs, PRINT and error messages */
	struct tsql_session *vars;
	const struct tsql_host_ops *ops;
	size_t max_value; /* no expression makes a larger one; 0: no bound */
	uint8_t sql;      /* enum query_sql: of the engine that has the system database */
};
/* A database as names in a statement see it. */
struct tsql_database {
	const char *name;
	enum service service;
	bool may_select; /* the session may read its views: RIGHT_SELECT */
	uint8_t sql;     /* enum query_sql: of the engine that has it */
};
struct tsql_host_ops {
	/* A statement has ended: becomes DONE or DONEINPROC. error: an ERROR message went
	 * before. After a result set this comes besides the sink's rows_done (which therefore
	 * makes no token of its own in a batch). NOCOUNT is the caller's to apply. */
	void (*statement_done)(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count,
			       bool error);
	/* Values only the session knows, by upper-case name without arguments: "@@VERSION"
	 * "@@SPID" "@@SERVERNAME" "@@MAX_CONNECTIONS" "DB_NAME" "DB_ID" "SUSER_SNAME"
	 * "ORIGINAL_LOGIN" "HOST_NAME" "APP_NAME" "USER_NAME" …; args for DB_NAME(id),
	 * SERVERPROPERTY(name), HAS_DBACCESS(name), CONNECTIONPROPERTY … . 1: found, 0: unknown
	 * name, -1: error. */
	int (*value)(struct tsql_host *h, const char *name, const struct value *args, size_t nargs,
		     struct arena *a, struct value *ret, struct err *reterr);
	/* The rows of a view that no table holds (struct view, rows): a JSON array of objects. */
	int (*rows)(struct tsql_host *h, const char *name, struct arena *a, struct str *ret,
		    struct err *reterr);
	/* USE db: 911, 916; sends ENVCHANGE and 5701 itself. */
	int (*use)(struct tsql_host *h, struct str database, struct err *reterr);
	/* SET LANGUAGE was accepted: ENVCHANGE 2 and 5703. */
	void (*language)(struct tsql_host *h, const char *old_name, const char *new_name);
	/* The database that a name means; empty: the current one. 208: there is none; 916, 911 … */
	int (*database)(struct tsql_host *h, struct str name, struct tsql_database *ret, struct err *reterr);
	/* KILL: ends that session; 6101 … 6115. May be called on a work thread. */
	int (*kill)(struct tsql_host *h, int64_t session, struct err *reterr);
};

/* in the arena it was compiled into; constant afterwards: may be run many times (prepared
 * statements) */
struct tsql_program;
struct tsql_declared {   /* a parameter of sp_executesql: visible as a variable from the start */
	struct str name; /* with '@' */
	struct type type;
	bool output;
};
/* Takes time in proportion to the text. meter: counts it, and may give it up; NULL: nobody does. */
MUST_CHECK int tsql_compile(struct str text, const struct tsql_session *vars,
			    const struct tsql_declared *params, size_t nparams, struct meter *meter,
			    struct arena *a, struct tsql_program **ret, struct err *reterr);
/* The same for a text whose parameters are not all declared: see tsql_undeclared. Each of them may
 * be used once (11508), as SQL Server has it. Such a program is not for running. */
MUST_CHECK int tsql_compile_undeclared(struct str text, const struct tsql_session *vars,
				       const struct tsql_declared *params, size_t nparams,
				       struct meter *meter, struct arena *a, struct tsql_program **ret,
				       struct err *reterr);
/* "@P0 int, @p1 nvarchar(4000) OUTPUT" → declarations. Empty text: none. */
MUST_CHECK int tsql_parse_declarations(struct str text, struct arena *a, struct tsql_declared **ret,
				       size_t *ret_n, struct err *reterr);
/* Is it one SELECT or one EXEC, and nothing else: what a cursor can be opened on. */
bool tsql_is_one_statement(const struct tsql_program *p);
/* Columns of the first result set the program would send, without running it: for
 * sp_describe_first_result_set, sp_prepare and SET FMTONLY ON. No result set: n = 0. */
MUST_CHECK int tsql_describe(const struct tsql_program *p, struct tsql_host *h, struct meter *meter,
			     struct arena *a, const struct column **ret, size_t *ret_n, struct err *reterr);

/* A parameter that the text uses and nobody declared, with the type that its use suggests. */
struct tsql_undeclared {
	struct str name; /* with '@'; empty: of a variable that was declared */
	struct type type;
	bool input, output;
	const char *formal; /* of a procedure's argument: the parameter's name; NULL: it is none */
};
/* All of them, in the order of the text; 11502, 11503: a type cannot be found out. */
MUST_CHECK int tsql_undeclared(const struct tsql_program *p, struct tsql_host *h, struct meter *meter,
			       struct arena *a, const struct tsql_undeclared **ret, size_t *ret_n,
			       struct err *reterr);

/* What a run wants next. */
enum tsql_wants {
	TSQL_ENDED, /* the text has been run to its end (or RETURN) */
	/* an error ended the batch; it was sent as a message already; run->err holds it */
	TSQL_FAILED,
	/* run->exec: a procedure, sp_executesql … by name. Continue with tsql_exec_done */
	TSQL_EXEC,
	TSQL_EXEC_TEXT, /* run->text: EXEC('…'). Continue with tsql_exec_done */
	TSQL_QUERY,     /* run->query: SELECT over views. Continue with tsql_query_done */
	TSQL_TRAN,      /* run->tran: continue with tsql_tran_done */
	TSQL_WAIT,      /* run->wait_ms: WAITFOR DELAY. Continue with tsql_wait_done */
	/* the run needs more time than a thread with other sessions should give: go on with
	 * tsql_next_long on another thread */
	TSQL_YIELD,
	/* of tsql_next_long: the next statement changes what the session's thread reads; call
	 * tsql_next there */
	TSQL_HERE,
};
/* INSERT @t EXEC: takes the result sets of the procedure, on any thread. */
struct tsql_into {
	struct sink sink;
	struct err err; /* number 0, or why a row was not taken: the sink said that it was full */
};
struct tsql_exec {
	struct str name; /* as written: "[db].dbo.proc" or the value of EXEC @name */
	struct argument *args;
	size_t nargs;
	int line;
	/* NULL: result sets, status and DONE go to the client. Else only messages do, and the
	 * DONE of the INSERT is sent by tsql. For procedures, not for texts */
	struct tsql_into *into;
};
struct tsql_tran {
	enum { TRAN_BEGIN, TRAN_COMMIT, TRAN_ROLLBACK, TRAN_SAVE } kind;
	struct str name; /* empty: none */
	int line;
};
struct tsql_run {
	struct tsql_host *host;
	struct arena *arena; /* values made while running */
	/* valid by the answer of tsql_next: */
	struct tsql_exec exec;
	struct str text;
	const struct query *query;
	struct tsql_tran tran;
	unsigned wait_ms;
	struct err err;
	int line;
	/* after TSQL_ENDED: RETURN n */
	bool returned;
	int32_t return_value;
	struct tsql_state *state; /* private */
};
/* params: initial values of the declared parameters (converted by the caller with
 * CONVERT_ASSIGN), same order as at compile time. */
MUST_CHECK int tsql_run_start(const struct tsql_program *p, struct tsql_host *h, const struct value *params,
			      size_t nparams, struct arena *a, struct tsql_run *ret, struct err *reterr);
/* For the thread that the session lives on: a millisecond or two. A statement that would take
 * longer is given up, without a trace, for tsql_next_long. */
enum tsql_wants tsql_next(struct tsql_run *r);
/* For a thread where it may take long. Gives others a turn now and then (TSQL_YIELD: call it
 * again), between statements; inside a statement the meter is asked. If the meter gives up, that
 * is TSQL_YIELD too: the statement has done nothing, and the run can be ended or continued. */
enum tsql_wants tsql_next_long(struct tsql_run *r, struct meter *meter);
/* Frees what the run holds outside its arena. Needed when a run is given up before TSQL_ENDED or
 * TSQL_FAILED; harmless after them and when called twice. Values and messages of the run are not
 * valid afterwards, except those of the parameters. */
void tsql_run_end(struct tsql_run *r);
/* rc < 0: the call failed (its ERROR was sent by the caller; @@ERROR = number), the batch goes
 * on unless abort: then tsql_next says TSQL_FAILED and nothing more is sent. status NULL: none
 * (then @rc is unchanged). outputs[i] is the new value for args[i] where args[i].is_output. Its
 * DONEPROC was sent by the caller. */
void tsql_exec_done(struct tsql_run *r, int rc, int32_t error_number, bool abort, const int32_t *status,
		    const struct value *outputs);
/* last_row: for query->assign, the values of the last row (NULL: no row). The ERROR (e) and the
 * DONE are sent by tsql; an error ends the batch. */
void tsql_query_done(struct tsql_run *r, int rc, const struct err *e, uint64_t rows,
		     const struct value *last_row);
/* The caller keeps trancount and has sent ENVCHANGE; the ERROR (e) and the DONE are sent by
 * tsql; the batch goes on. */
void tsql_tran_done(struct tsql_run *r, int rc, const struct err *e);
void tsql_wait_done(struct tsql_run *r);
/* Final values of the declared parameters, for OUTPUT. */
const struct value *tsql_param_value(const struct tsql_run *r, size_t index);

#endif
