/* session_int.h — one client from PRELOGIN to close, as the files of this folder know it.
 *
 * A session lives on one loop thread. While a call is with the engine (inflight), the response
 * buffer, the arena and the sink belong to the engine's thread; they come back with the post
 * of the call's completion. Everything else is touched on the loop thread only. */
#ifndef SESSION_SESSION_INT_H
#define SESSION_SESSION_INT_H

#include "base/lock.h"
#include "base/log.h"
#include "call/call.h"
#include "session/cursor.h"
#include "session/prepared.h"
#include "session/server.h"
#include "tds/login7.h"
#include "tds/out.h"
#include "tds/packet.h"
#include "tds/prelogin.h"
#include "tds/request.h"
#include "tsql/tsql.h"

enum session_phase {
	PHASE_OPEN,
	PHASE_STRICT,
	PHASE_PRELOGIN,
	PHASE_TLS,
	PHASE_LOGIN,
	PHASE_SSPI,
	PHASE_READY,
	PHASE_BUSY,
	PHASE_CLOSED,
	PHASE_COUNT,
};

struct frame;
struct request;
struct login_work;

/* The answer that is being written. A DONE waits until it is known whether another one follows
 * (the MORE bit). */
struct response {
	bool pending; /* a DONE waits */
	enum tds_done_kind kind;
	uint16_t status, command;
	uint64_t count;
	bool result_open;             /* COLMETADATA was sent, its DONE not yet */
	const struct column *columns; /* of the open result set */
	uint64_t rows;                /* of the last result set */
	size_t ncolumns;
};

/* State that a mark of the sink brings back. */
struct response_mark {
	struct tds_mark out;
	struct response state;
};

/* What was agreed with the client about the bytes between us. */
struct session_wire {
	enum tds_version version;
	uint32_t version_asked;
	enum tds_tls_mode tls_mode;
	bool strict, utf8, login_packet_seen;
};

/* Who it is, and how that was found out. */
struct session_login {
	struct login_work *work; /* while it is being checked */
	int64_t deadline;        /* monotonic ms */
	/* of the TLS connection, until the login is checked; NULL: none; owned */
	struct auth_bindings *bindings;
	char name[129], database[129], host[129], app[129]; /* its login; what else LOGIN7 said */
	const char *scheme;                                 /* how it logged in: SQL, NTLM or KERBEROS */
	bool admin, odbc;
	bool reserved; /* it has a place for administrators */
};

/* The explicit transaction. */
struct session_tran {
	struct txn *txn; /* NULL until the transaction's first call */
	struct database *database;
	uint64_t descriptor; /* of the open one; 0: none */
	uint64_t last_descriptor;
	char name[33];
	bool cleanup;   /* a call of the transaction left rows behind */
	bool announces; /* or brought work */
};

/* A part of the request that takes long, on a work thread: work.c. */
struct session_work {
	struct net_work net;
	int64_t until_ms; /* when its time is over */
	bool gave_up;     /* that time was over, or the client gave up first */
};

/* Wakes an engine at the end of the loop's round. */
struct session_nudge {
	struct net_post post;
	struct engine_database *engine;
};

/* Long results from a reader thread (stream.c), and clients that do not read (unread.c). */
struct session_streaming {
	struct lock lock;
	pthread_cond_t wake;
	struct net_post post;
	bool full, posted; /* under the lock */
	bool waits_drain;  /* changed under the lock, by the loop's thread only */
	size_t unread;     /* pending when its client was last seen to read */
	bool stalled;      /* the call was ended because its client does not read */
	bool denied;       /* the call was ended because there was no memory for its answer */
};

/* How it ends. */
struct session_end {
	bool stream_gone; /* net has let go: free when nothing is in flight */
	const char *reason;
	struct net_post kill; /* KILL comes to the loop with it */
	bool kill_seen;       /* it has come */
	unsigned awaited;     /* all is over but for these posts, of KILL and of the bell */
};

struct session {
	struct server *server;
	struct net_stream *stream;
	/* outlives the stream: calls come back to it after the client has gone */
	struct net_loop *loop;
	enum session_phase phase;
	struct registry_entry entry; /* its number, and what others may see of it */
	struct log_ctx log;
	char peer[80];      /* address and port, for the log */
	char peer_host[72]; /* address alone, for the throttle */

	/* what it has: request, answer, prepared statements, values on their way */
	struct budget memory;
	struct account *account; /* the same of its login's sessions together; NULL: a stranger's */

	/* connection */
	struct session_wire wire;
	struct tds_message in;
	struct tds_out out;     /* the answer's bytes */
	struct output finished; /* packets of it that leave before it is complete */
	struct response resp;   /* which token the answer stands at */
	struct sink sink;
	struct response_mark mark;

	struct session_login login;
	struct database *database;
	char database_name[129]; /* its name, for the log and for the client */
	/* the one that the client was told of last; valid inside a text of its own (scope.c) */
	struct database *told_database;

	/* language and transaction state */
	struct tsql_session vars;
	struct prepared_table prepared;
	struct cursor_table cursors;
	struct sink *results; /* where result sets go: &sink, or a cursor that is being opened */
	struct session_tran tran;

	/* the request being answered */
	struct arena arena;
	struct request *request; /* in the arena; NULL when idle */
	struct call call;        /* the one call in flight */
	bool inflight;
	struct engine_database *engine; /* that has the call; NULL: none */
	struct net_post post;           /* completion comes back with it */
	struct session_work work;
	struct session_nudge nudge;
	struct session_streaming streaming;
	struct bell_waiter waiter;
	unsigned attentions; /* to acknowledge */
	bool cancelled;      /* the running request is to stop */

	/* The answer is complete, but values of it are still being sent from where they lie: the
	 * request and its arena stay, and no other request is taken. */
	bool sending;
	bool paused; /* input is held back */
	struct session_end end;
};

/* session.c */
void session_move(struct session *s, enum session_phase to);
/* The one way a session ends: logs the reason, and closes after what was written has gone. */
void session_end(struct session *s, const char *reason);
/* The same after an unusable stream: nothing more is sent. */
void session_abort(struct session *s, const char *reason);
/* Sends all finished messages of the response. */
void session_send(struct session *s);
/* A call left rows behind: tells the cleaner, now or when the transaction is committed. */
void session_cleanup(struct session *s);
/* Takes input again after it was held back. */
void session_resume(struct session *s);
void session_release(struct session *s);
/* Logged in: its memory is its login's from now on. */
void session_account(struct session *s);

/* prelogin.c, login.c: each takes the next whole message of its phase. */
void session_prelogin_message(struct session *s);
void session_prelogin_handshake_out(struct session *s, const uint8_t *p, size_t n);
void session_login_message(struct session *s);
void session_login_sspi_message(struct session *s);
void session_login_timer(struct session *s);
/* sspi.c. The TLS handshake is over: remembers what identifies the connection. */
void session_sspi_bind(struct session *s);
/* A work thread has the login, or will: the session must stay. */
bool session_login_is_checking(const struct session *s);
/* The next step of the login is not the client's: input is held back. */
bool session_login_is_pending(const struct session *s);
/* The client has gone. */
void session_login_leave(struct session *s);
void session_login_forget(struct session *s);
/* An answer that ends the connection before it was logged in. */
void session_login_refuse(struct session *s, const struct err *errors, size_t n, const char *reason);

/* ready.c: requests of a logged-in client. */
void session_ready_message(struct session *s);
void session_ready_reset(struct session *s, bool keep_transaction);
enum entry { ENTRY_OK, ENTRY_DENIED, ENTRY_NOT_SERVED /* its file is damaged */ };
enum entry session_enter_database(struct session *s, struct database *db);
/* The same without asking: back to where it stood. */
void session_stand_in(struct session *s, struct database *db);
uint8_t session_rights(struct session *s, const struct database *db);

/* attention.c */
void session_attention_arrived(struct session *s);
void session_attention_acknowledge(struct session *s);

/* request.c: a request runs until it must wait; each completion continues it. See request_int.h. */
void session_request_batch(struct session *s, struct tds_cursor body);
void session_request_rpc(struct session *s, struct tds_cursor body);
void session_request_tm(struct session *s, struct tds_cursor body);
/* Answers with an error and nothing else. */
void session_request_fail(struct session *s, const struct err *e);
void session_request_continue(struct session *s);
void session_request_timer(struct session *s);
void session_request_abandon(struct session *s);
/* The client has taken all of what was sent from where it lies: the request is over. */
void session_request_drained(struct session *s);

/* response.c */
void session_response_init(struct session *s);
void session_response_begin(struct session *s);
void session_response_end(struct session *s);
void session_response_message(struct session *s, const struct err *e);
void session_response_done(struct session *s, enum tds_done_kind kind, uint16_t status, uint16_t command,
			   uint64_t count);
/* Must be called before tokens are written to s->out directly. */
void session_response_touch(struct session *s);

/* stream.c: back-pressure for results that are produced by a reader thread. */
void session_stream_enable(struct session *s, bool on);
void session_stream_drained(struct session *s);
void session_stream_wake(struct session *s);

/* unread.c: clients that do not read. The timer for the next request, or for the client to read
 * what is pending. */
void session_unread_arm(struct session *s);
/* On the loop, after a piece of a long result was sent. */
void session_unread_watch(struct session *s);
/* The timer fired. False: it was for something else. */
bool session_unread_timeout(struct session *s);

/* answer.c: the answer of a batch leaves while the batch goes on. */
/* Between two statements, when nothing is in flight. False: the request must wait for its client
 * (WAIT_CLIENT), or has ended with an error. */
bool session_answer_go_on(struct session *s);
bool session_answer_waits(const struct session *s);
/* Its client reads again. */
void session_answer_drained(struct session *s);
/* Its client has not read for too long. */
void session_answer_stalled(struct session *s);
/* A call was stopped by its sink: says why, instead of "cancelled". */
void session_answer_explain(struct session *s);

/* tran.c: the transaction of the session. */
/* done at once (*ret_rc tells), or a call was submitted: session_tran_finish when it is back */
enum tran_next { TRAN_NOW, TRAN_WAIT };
enum tran_next session_tran_do(struct session *s, const struct tsql_tran *t, int *ret_rc, struct err *reterr);
int session_tran_finish(struct session *s, const struct tsql_tran *t, struct err *reterr);
/* Gives s->call its transaction: begins an implicit one, takes the engine only when the call
 * writes. */
MUST_CHECK int session_tran_join(struct session *s, struct database *db, bool writes, struct err *reterr);
/* The store or a time limit ended the transaction: tells the client. */
void session_tran_lost(struct session *s);
/* Rolls back without an answer, for reset and close. True: a call was submitted; its completion
 * comes to session_request_continue or session_release. */
bool session_tran_abandon(struct session *s);
/* Before session_tran_abandon, where the client goes on: sp_reset_connection has no ENVCHANGE 18
 * that would tell pytds of the end. */
void session_tran_tell_rollback(struct session *s);
/* After the completion of session_tran_abandon's call. */
void session_tran_forget(struct session *s);

/* session.c */
/* Sends s->call off; call->sink is the session's unless set. */
/* The one place where s->call is begun: all that it has of its session and of the database in
 * which it is made. What it does, and to which transaction it belongs, is added. */
void session_call_make(struct session *s, enum call_kind kind, const struct database *db);
/* s->call is complete. */
void session_call_submit(struct session *s, struct engine_database *ex);
void session_call_cancel(struct session *s);

/* await.c: waiting for work. */
/* A call brought work to the database: rings the bell, now or when the transaction is committed. */
void session_announce(struct session *s, struct database *db);
/* The bell's post has come. */
void session_await_rung(struct session *s);
/* Ends the wait, if it waits. */
bool session_await_drain(struct session *s);

/* host.c: what the language asks the session. */
extern const struct tsql_host_ops session_host_ops;

#endif
