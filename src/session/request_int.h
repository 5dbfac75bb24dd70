/* request_int.h — a request while it is answered: a batch, a message of RPCs, or a transaction
 * manager request.
 *
 * It is advanced until it must wait for something outside the loop's thread (the engine, a
 * timer); session_request_continue goes on from there. Texts nest: a batch may EXEC a text that
 * EXECs another; each is a frame. An invocation is one procedure call, from an RPC or from EXEC. */
#ifndef SESSION_REQUEST_INT_H
#define SESSION_REQUEST_INT_H

#include "session/special.h"
#include "session/session_int.h"

#define FRAME_DEPTH_MAX 32

enum request_kind { REQUEST_BATCH, REQUEST_RPC, REQUEST_TM };

/* What the next completion belongs to. */
enum request_wait {
	WAIT_NONE,
	WAIT_RESET,  /* rollback of a connection reset */
	WAIT_PROC,   /* the invocation's procedure */
	WAIT_QUERY,  /* the top frame's SELECT */
	WAIT_TRAN,   /* the top frame's transaction statement */
	WAIT_TM,     /* the transaction manager request */
	WAIT_ABORT,  /* rollback under XACT_ABORT after a failed invocation */
	WAIT_CANCEL, /* the same after an attention */
	WAIT_DOOM,   /* rollback of a transaction that an error of the text took with it */
	WAIT_DELAY,  /* WAITFOR */
	WAIT_BELL,   /* procession_wait_for_work */
	WAIT_WORK,   /* a work thread computes */
	WAIT_CLIENT, /* the client has not read enough of the answer */
};

struct frame;

struct invocation {
	struct frame *caller;      /* whose EXEC it is; NULL: an RPC */
	const struct tds_rpc *rpc; /* of an RPC */
	struct argument *args;
	size_t nargs;
	int line; /* of the EXEC */
	/* a procedure of the catalogue */
	const struct proc *proc;
	int *origin;               /* per parameter: its argument, or -1 */
	struct database *database; /* where it is called */
	struct call *ahead;        /* for what is done before the call is submitted */
	void *document;            /* what came of ahead, for the call */
	/* a text */
	enum special special;
	struct special_args fixed;
	const struct tsql_declared *declared;
	size_t ndeclared;
	int *value_arg; /* per declared parameter: its argument, or -1 */
	struct prepared *prepared;
	bool returns_handle;
	int32_t handle;
	const struct column *columns; /* sp_prepare: of the statement, when they were asked for */
	size_t ncolumns;
	struct cursor *cursor;  /* that is being opened; the table's. NULL: none */
	bool direct;            /* no cursor can be: the text is run as it is */
	struct tsql_into *into; /* INSERT … EXEC: where its result sets go; NULL: to the client */
};

/* What a text found and leaves behind: scope.c. */
struct scope {
	struct tsql_session options;
	struct database *database;
};

/* One text being run. */
struct frame {
	struct frame *up;
	struct session *session;
	struct tsql_run run;
	struct tsql_host host;
	struct invocation *inv; /* NULL: the batch itself */
	struct scope scope;     /* of a text of its own: when inv is not NULL */
	bool in_proc;           /* its statements end with DONEINPROC */
	bool tran_touched;      /* BEGIN, COMMIT or ROLLBACK was among its statements */
	int32_t trancount_before;
	unsigned depth;
	/* of a text that is only looked at: names mean this database's; NULL: the session's */
	struct database *elsewhere;
};

/* Collects the last row of SELECT @v = column FROM … */
struct assign_sink {
	struct sink sink;
	struct arena *arena;
	struct value *row; /* NULL: none yet */
	uint64_t rows;
};

/* How an invocation ended. */
struct outcome {
	int rc;
	int32_t error_number;
	bool abort; /* the batch ends with it */
	bool has_status;
	int32_t status;
};

struct request {
	enum request_kind kind;
	enum request_wait wait;
	struct tds_cursor body; /* what is unread */
	struct frame *top;
	struct invocation *inv; /* whose call is in flight */
	struct tds_rpc rpc;
	bool begun;
	bool reset, reset_keep; /* RESETCONNECTION bits */
	struct outcome aborted; /* of the call for whose error XACT_ABORT rolls back */
	bool stop;              /* nothing further of this message can be run */
	bool doomed;            /* an error takes the transaction with it */
	bool held;              /* a DONE that waits for that rollback */
	enum tds_done_kind held_kind;
	uint16_t held_status, held_command;
	uint64_t held_count;
	int64_t start_ms;
	struct tds_tm tm;
	struct tsql_tran tran;
	struct assign_sink assign;
	/* what a work thread does, and what it found */
	void (*work_run)(struct session *s, struct meter *m);
	void (*work_done)(struct session *s);
	int work_rc;
	struct err work_err;
	struct tsql_program *program;
	enum tsql_wants wants;
	struct response_mark said; /* before its last statement */
};

/* invoke.c: procedures. */
void session_invoke_rpc(struct session *s, const struct tds_rpc *rpc);
void session_invoke_exec(struct session *s, struct frame *f);
void session_invoke_exec_text(struct session *s, struct frame *f);
void session_invoke_returned(struct session *s);
void session_invoke_aborted(struct session *s);
/* Status, outputs, DONEPROC; and the caller is told. The ERROR, if any, has been sent. */
void session_invoke_finish(struct session *s, struct invocation *inv, const struct outcome *o);
void session_invoke_fail(struct session *s, struct invocation *inv, struct err *e, bool abort);

/* await.c */
void session_await_begin(struct session *s, struct invocation *inv);
void session_await_over(struct session *s);

/* doom.c: transactions that end with an error. */
void session_doom_error(struct session *s, const struct err *e);
bool session_doom_undo(struct session *s); /* true: it waits for the rollback, WAIT_DOOM */
void session_doom_undone(struct session *s);

/* texts.c: sp_executesql and relatives. */
void session_special_invoke(struct session *s, struct invocation *inv);
void session_special_text_ended(struct session *s, struct frame *f, bool failed);
void session_special_reset_done(struct session *s, struct invocation *inv);

/* scope.c */
void session_scope_begin(struct session *s, struct scope *ret);
void session_scope_end(struct session *s, const struct scope *scope);

/* cursors.c */
/* Before the text of a cursor runs: makes it, or finds that there can be none. */
MUST_CHECK int session_cursor_begin(struct session *s, struct invocation *inv,
				    const struct tsql_program *program, struct meter *m, struct err *reterr);
void session_cursor_direct(struct session *s); /* tells that there is none */
/* After it has run. */
void session_cursor_ended(struct session *s, struct invocation *inv, bool failed, int32_t number);
void session_cursor_none(struct session *s, struct invocation *inv);
/* There will be none: e says why. */
void session_cursor_failed(struct session *s, struct invocation *inv, struct err *e);
/* sp_cursorprepare: what the wishes will become. */
void session_cursor_prepared(struct session *s, struct invocation *inv);
/* Fetch, option, close. */
void session_cursor_invoke(struct session *s, struct invocation *inv);

/* tm.c */
void session_tm_begin(struct session *s);
void session_tm_returned(struct session *s);

/* describe.c */
MUST_CHECK int session_describe_program(struct session *s, const struct tsql_program *program,
					struct meter *m, const struct column **ret, size_t *ret_n,
					struct err *reterr);
MUST_CHECK int session_describe_first_result_set(struct session *s, struct invocation *inv, struct meter *m,
						 struct err *reterr);
/* The session as a text sees it that is looked at and not run. */
void session_describe_host(struct session *s, struct frame *ret);
/* What the two descriptions have in common of a type: number, name (kept in name), length,
 * precision and scale; and as TDS has it, number and length. */
void session_describe_type(const struct type *t, char *name, size_t size, struct value ret[5],
			   struct value ret_tds[2]);
/* undeclared.c */
MUST_CHECK int session_describe_undeclared(struct session *s, struct invocation *inv, struct meter *m,
					   struct err *reterr);

/* outputs.c */
/* Converts and sends RETURNVALUE tokens of an RPC; -1 before anything was sent. */
int session_outputs_convert(struct session *s, struct invocation *inv, struct value **ret,
			    struct err *reterr);
void session_outputs_send(struct session *s, struct invocation *inv, const struct value *converted);
/* The values that OUTPUT arguments of an EXEC get, one per argument. NULL: no memory. */
struct value *session_outputs_collect(struct session *s, struct invocation *inv);

/* request.c */
MUST_CHECK int session_frame_push(struct session *s, const struct tsql_program *p, const struct value *params,
				  size_t nparams, struct invocation *inv, bool in_proc, struct err *reterr);
void session_frame_pop(struct session *s);
void session_frames_drop(struct session *s);
/* How long the request may still run, in ms [E-COM-16]; at most INT64_MAX. */
int64_t session_request_time_left(const struct session *s);

/* work.c */
/* bytes of a text that are compiled on the loop's thread: less than a millisecond */
#define WORK_TEXT ((size_t)16 << 10)
#define WORK_RPC ((size_t)4 << 20) /* and of a request whose arguments are read there */
/* Calls run on a work thread, then done on the loop's, where the request goes on. run must come
 * to an end when the meter gives up. */
void session_work_begin(struct session *s, void (*run)(struct session *s, struct meter *m),
			void (*done)(struct session *s));
/* The same, or both at once without a meter when it is not long. */
void session_work_or_now(struct session *s, bool is_long, void (*run)(struct session *s, struct meter *m),
			 void (*done)(struct session *s));
/* Says the time-out where the meter gave up because of it. */
void session_work_explain(const struct session *s, struct err *e);

/* select.c: a SELECT over views begins, and its call has come back. */
void session_select_start(struct session *s, struct frame *f);
void session_select_returned(struct session *s);

#endif
