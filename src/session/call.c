/* call.c — the session's call on its way to the engine and back: made in one place, submitted,
 * cancelled, and returned to the loop by a post. */
#include "session/request_int.h"

#include <assert.h>

/* The call came back from the engine, on the loop's thread. */
static void call_returned(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, post);

	assert(net_loop_is_here(s->loop) && s->inflight && s->engine != NULL);
	s->inflight = false;
	s->engine = NULL;
	session_registry_doing(&s->entry, ACTIVITY_BATCH);
	if (s->end.stream_gone || s->phase == PHASE_CLOSED)
		session_release(s);
	else
		session_request_continue(s);
}

/* On the engine's thread. */
static void call_complete(struct call *c)
{
	struct session *s = c->owner;

	assert(s->inflight && c == &s->call && s->post.fn == call_returned);
	net_loop_post(s->loop, &s->post);
}

/* What others see of it in sp_who. */
static enum activity activity_of(const struct call *c)
{
	switch (c->kind) {
	case CALL_PROC: return ACTIVITY_EXECUTE;
	case CALL_QUERY: return ACTIVITY_SELECT;
	case CALL_COMMIT: return ACTIVITY_COMMIT;
	case CALL_SAVE: return ACTIVITY_SAVE;
	default: return ACTIVITY_ROLLBACK;
	}
}

/* The requests that came together have been submitted. */
static void nudge(struct net_post *item)
{
	struct session *s = CONTAINER_OF(item, struct session, nudge.post);

	engine_wake(s->nudge.engine, net_loop_is_alone(s->loop));
}

void session_call_make(struct session *s, enum call_kind kind, const struct database *db)
{
	struct call *c = &s->call;

	assert(!s->inflight && db != NULL);
	call_begin(c, kind);
	c->arena = &s->arena;
	c->sink = s->results;
	c->login = s->login.name;
	c->database = db->name;
	c->rights = session_rights(s, db);
	c->session = s->entry.spid;
	c->lock_timeout_ms = s->vars.lock_timeout_ms;
	c->complete = call_complete;
	c->owner = s;
}

void session_call_submit(struct session *s, struct engine_database *ex)
{
	struct call *c = &s->call;

	assert(net_loop_is_here(s->loop) && !s->inflight && ex != NULL);
	assert(c->owner == s && c->arena != NULL && c->sink != NULL && c->database != NULL);
	s->post.fn = call_returned;
	s->inflight = true;
	s->engine = ex;
	session_registry_doing(&s->entry, activity_of(c));
	if (!engine_submit_quietly(ex, c))
		return;
	s->nudge.post.fn = nudge;
	s->nudge.engine = ex;
	net_loop_last(s->loop, &s->nudge.post);
}

/* A call that waits for another's transaction is answered at once; one that runs stops soon. */
void session_call_cancel(struct session *s)
{
	atomic_store(&s->call.cancelled, true);
	if (s->engine != NULL)
		engine_cancel(s->engine, &s->call);
	session_stream_wake(s);
}
