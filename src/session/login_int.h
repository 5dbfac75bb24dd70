/* login_int.h — a login while it is checked: by password (login.c) or by tokens (sspi.c). */
#ifndef SESSION_LOGIN_INT_H
#define SESSION_LOGIN_INT_H

#include "session/session_int.h"

/* Who has the login. It is forgotten when it has been answered, or when the session ends. */
enum login_state {
	LOGIN_IDLE, /* the client: a token is expected of it (integrated logins) */
	/* net: the work waits for a thread, runs, or its done is on the way. The session must
	 * stay */
	LOGIN_CHECKING,
	/* the session, until the stream's timer fires: the answer is known and held back. When
	 * the stream goes, nothing more comes */
	LOGIN_HELD,
	/* the same, but what the timer brings is another check: others fail with this login, and
	 * strangers wait for their turn */
	LOGIN_LATER,
	LOGIN_STATES,
};

struct login_work {
	struct net_work work;
	struct session *session;
	struct auth *auth;
	struct arena arena; /* holds what LOGIN7 pointed to */
	struct tds_login7 login7;
	char peer[72];
	enum login_state state;
	enum auth_result result;
	unsigned tries; /* checks that had to wait for their turn */
	struct auth_login login;
	/* integrated logins */
	struct auth_exchange *exchange; /* owned; NULL: by password */
	struct buf token;               /* the client's, copied */
	bool turn;                      /* it has had its turn: further legs do not wait */
	enum auth_step step;
	struct str answer; /* the mechanism's token for the client */
};

/* Hands the login to a work thread: LOGIN_CHECKING. */
void session_login_submit(struct session *s, void (*run)(struct net_work *work),
			  void (*done)(struct net_work *work));
/* In done: the login is the session's again. False: the client has gone, and the session with
 * it. */
bool session_login_returned(struct session *s);
/* The result is there: answers now, or after a delay. */
void session_login_checked(struct session *s);

/* sspi.c */
/* The first token came with LOGIN7. False: no memory. */
bool session_sspi_start(struct session *s, const uint8_t *token, size_t n);
/* Looks at the token that is there, again if it had to wait for its turn. */
void session_sspi_check(struct session *s);
/* Refused: which error the client gets. */
enum err_id session_sspi_error(const struct login_work *w);

#endif
