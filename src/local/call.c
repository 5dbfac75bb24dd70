/* call.c — one call of a local batch, with an engine and back. */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "local/local_int.h"

#define GRACE_MS 1000 /* for a cancelled call to come back */

void local_free(struct local_run *r)
{
	tsql_run_end(&r->run);
	arena_fini(&r->arena);
	pthread_cond_destroy(&r->wake);
	lock_fini(&r->lock);
	free(r);
}

static void completed(struct call *c)
{
	struct local_run *r = c->owner;
	bool abandoned;

	lock_take(&r->lock);
	r->inflight = false;
	abandoned = r->abandoned;
	pthread_cond_signal(&r->wake);
	lock_give(&r->lock);
	if (abandoned)
		local_free(r);
}

void local_call_make(struct local_run *r, enum call_kind kind, const struct database *db)
{
	struct call *c = &r->call;

	call_begin(c, kind);
	c->arena = &r->arena;
	c->sink = &r->sink;
	c->login = r->client.login;
	c->database = db->name;
	c->rights = local_rights(r, db);
	c->session = r->client.spid;
	c->lock_timeout_ms = -1;
	c->complete = completed;
	c->owner = r;
}

/* Under the lock. False: the time is over, and the call not back. */
static bool wait_until(struct local_run *r, int64_t deadline_ms)
{
	assert(lock_is_mine(&r->lock));
	while (r->inflight && clock_mono_ms() < deadline_ms)
		(void)lock_wait_until(&r->lock, &r->wake, deadline_ms);
	return !r->inflight;
}

int local_call(struct local_run *r, struct engine_database *db)
{
	bool back;

	assert(db != NULL && r->call.owner == r);
	r->inflight = true;
	engine_submit(db, &r->call);
	lock_take(&r->lock);
	back = wait_until(r, r->deadline_ms);
	lock_give(&r->lock);
	if (back)
		return 0;
	/* It may come back meanwhile; nobody but this thread frees it before it is abandoned. */
	engine_cancel(db, &r->call);
	lock_take(&r->lock);
	back = wait_until(r, r->deadline_ms + GRACE_MS);
	r->abandoned = !back;
	lock_give(&r->lock);
	return back ? 0 : -1;
}
