/* visitors.h — who is logged in to the dashboard. A visitor is known by a random cookie, has a
 * number among the server's sessions, so that others see him and can end him, and is looked up in
 * the store at each request: a login that was disabled is out at once. */
#ifndef HTTP_VISITORS_H
#define HTTP_VISITORS_H

#include "session/server.h"

#define VISITORS_MOST 128u
#define VISITORS_A_LOGIN 16u /* the one that was idle longest goes */
#define VISITOR_IDLE_MS (INT64_C(30) * 60 * 1000)
#define VISITOR_AGE_MS (INT64_C(12) * 3600 * 1000)
#define VISITOR_TOKEN 65 /* 32 random bytes in hexadecimal digits, and a NUL */

struct http_visitors;

/* A visitor at one request: a copy. */
struct http_who {
	char token[VISITOR_TOKEN]; /* the cookie */
	char proof[VISITOR_TOKEN]; /* what every change must carry, against forged requests */
	char login[129], address[72];
	uint16_t spid;
	bool admin;
};

/* NULL: no memory. */
struct http_visitors *http_visitors_new(struct server *srv);
void http_visitors_free(struct http_visitors *v); /* NULL is welcome */
/* -1: no number among the sessions, no random bytes, no memory. Thread-safe, as all below. */
MUST_CHECK int http_visitors_enter(struct http_visitors *v, const struct auth_login *login,
				   const char *address, bool encrypted, struct http_who *ret);
/* False: there is nobody of that cookie, or not any more. */
MUST_CHECK bool http_visitors_find(struct http_visitors *v, const char *token, struct http_who *ret);
void http_visitors_leave(struct http_visitors *v, const char *token);

#endif
