/* api.h — private: the interface of the dashboard under /api. A view is a T-SQL text (api.def), run
 * with the rights of the login by src/local; a change is the same, and must carry the proof. */
#ifndef HTTP_API_H
#define HTTP_API_H

#include "http/http_int.h"
#include "http/json.h"
#include "http/visitors.h"
#include "metrics/metrics.h"

/* login.c */
void http_answer_error(struct http_request *r, unsigned status, const char *text);
/* False: answered already. */
MUST_CHECK bool http_api_read_body(struct http_request *r, struct http_arguments *ret);
MUST_CHECK bool http_api_who(struct http_request *r, struct http_who *ret);
MUST_CHECK bool http_api_may_change(struct http_request *r, const struct http_who *who);
/* The password, by the server's own check with its throttle. False: it was not right, which is
 * counted and logged; or, with r->again_ms set, the check has to wait for its turn. */
MUST_CHECK bool http_login_check(struct http_request *r, struct str name, struct str password,
				 const char *program, struct auth_login *ret, enum auth_result *ret_result);
/* The same for who is not let in for another reason. */
void http_login_refused(struct http_request *r, struct str login, const char *program,
			enum metrics_counter outcome, const char *reason);

/* api.c */
struct http_view;
const struct http_view *http_view_find(const char *name, bool change);
/* Runs it; the answer, or {"error": …}, as JSON into b; gives the status. */
unsigned http_view_run(struct http *h, const struct http_view *v, const struct http_who *who,
		       const struct http_arguments *a, struct buf *b);
/* The arguments of a query string. */
MUST_CHECK bool http_api_query(struct http_request *r, struct http_arguments *ret);
void http_api_databases(struct http *h, const struct http_who *who, struct buf *b);
void http_api_tell_who(struct http_request *r, const struct http_who *who);
bool http_api_may_monitor(struct http *h, const struct http_who *who);

/* overview.c: views that are no text */
unsigned http_overview(struct http *h, const struct http_who *who, struct buf *b);
/* What this database holds, by the numbers that are kept by counting. */
unsigned http_content(struct http *h, const struct http_who *who, const struct database *db, struct buf *b);
unsigned http_history_view(struct http *h, const struct http_who *who, struct buf *b);
unsigned http_classes(struct buf *b);
unsigned http_occurrences(const struct http_arguments *a, struct buf *b);

#endif
