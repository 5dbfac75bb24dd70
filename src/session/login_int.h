/* login_int.h — a login while it is checked: by password (login.c) or by tokens (sspi.c). */
#ifndef SESSION_LOGIN_INT_H
#define SESSION_LOGIN_INT_H

#include "session/session_int.h"

struct login_work {
	struct net_work work;
	struct session *session;
	struct auth *auth;
	struct arena arena;             /* holds what LOGIN7 pointed to */
	struct tds_login7 login7;
	char peer[72];
	bool working;                   /* a work thread has it */
	bool checked;                   /* the result is there; the answer may be held back by the timer */
	enum auth_result result;
	struct auth_login login;
	/* integrated logins */
	struct auth_exchange *exchange; /* owned; NULL: by password */
	struct buf token;               /* the client's, copied */
	enum auth_step step;
	struct str answer;              /* the mechanism's token for the client */
};

/* Hands the login to a work thread. */
void login_submit(struct session *s, void (*run)(struct net_work *work), void (*done)(struct net_work *work));
/* The result is there: answers now, or after a delay. */
void login_checked(struct session *s);

/* sspi.c */
/* The first token came with LOGIN7. False: no memory. */
bool sspi_start(struct session *s, const uint8_t *token, size_t n);
/* Refused: which error the client gets. */
enum err_id sspi_error(const struct login_work *w);

#endif
