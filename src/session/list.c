/* list.c — see list.h. */
#include "session/list.h"

#define WAITS_MAX 4096 /* looked at, at most */

struct waits {
	struct engine_wait *list;
	size_t n;
};

static void add_waits(struct database *db, void *arg)
{
	struct waits *w = arg;

	if (db->engine != NULL)
		w->n += engine_waits(db->engine, w->list + w->n, WAITS_MAX - w->n);
}

static uint16_t blocker_of(const struct waits *w, uint16_t spid)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->list[i].waits == spid)
			return (uint16_t)w->list[i].holds;
	}
	return 0;
}

static struct metadata_session shown(const struct registry_row *row, uint16_t blocker)
{
	bool suspended = blocker != 0 || row->activity == ACTIVITY_WAITFOR;

	return (struct metadata_session){
		.spid = row->spid,
		.blocker = blocker,
		.login = row->login,
		.host = row->host,
		.program = row->program,
		.database = row->database,
		.address = row->address,
		.scheme = row->scheme,
		.status = row->activity == ACTIVITY_IDLE ? "sleeping"
			  : suspended                    ? "suspended"
							 : "runnable",
		.command = session_activity_name(row->activity),
		.login_time = row->login_time,
		.last_request = row->last_request,
		.requests = row->requests,
		.process = row->process,
		.encrypted = row->encrypted,
	};
}

int session_list(struct server *srv, uint16_t only, struct arena *a, struct metadata_session **ret,
		 size_t *ret_n, struct err *reterr)
{
	struct waits waits = { .list = arena_array(a, WAITS_MAX, sizeof(*waits.list)) };
	struct registry_row *rows;
	size_t n;

	if (waits.list == NULL)
		return err_nomem(reterr);
	if (session_registry_list(&srv->registry, only, a, &rows, &n, reterr) < 0)
		return -1;
	*ret = arena_array(a, n, sizeof(**ret));
	if (*ret == NULL)
		return err_nomem(reterr);
	databases_each(srv->databases, add_waits, &waits);
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = shown(&rows[i], blocker_of(&waits, rows[i].spid));
	*ret_n = n;
	return 0;
}
