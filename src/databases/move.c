/* move.c — a database goes from one engine to the other while it is used. The copy is made at a
 * place of its own, which the row in the system database names as its rest. Then calls are held for
 * a moment, what has changed last is copied, and the row is changed: that commit is the switch.
 * What waited goes on in the other engine; the rest is now the former place. Whenever the server
 * ends, the row says where the database is, and what is to be discarded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "databases/databases_int.h"
#include "engine/copier.h"
#include "engine/gate.h"

#define SHORT_MS 500 /* a round that takes no longer is short enough for the pause */
#define LONG_MS 5000 /* and one that never gets shorter than this is too long */
#define ROUNDS 20
#define TRIES_MS 120000      /* for so long a moment is sought in which nothing is under way */
#define TRANSACTIONS_MS 5000 /* new ones wait for so long, then go on */
#define CALLS_MS 2000        /* the same for calls */
#define PAUSE_MS 15000       /* calls are held for no longer, whatever happens */
#define BETWEEN_NS 300000000 /* two tries */

struct mover {
	struct databases *d;
	struct databases_move *m;
	struct database_entry *e;
	struct engine *source, *target;
	bool to_other; /* the target is the other engine */
	char place[ENGINE_PLACE];
	struct copy_side *from, *to; /* owned */
	struct copier *copier;       /* owned */
	enum databases_moving phase;
	atomic_llong hold_until_ms; /* calls are held: until then at most; 0: they are not */
	int64_t told_ms;
	bool in_doubt; /* the server ends, and nobody knows whether the switch was made */
};

static bool is_stopped(void *arg)
{
	struct mover *v = arg;
	int64_t until = atomic_load(&v->hold_until_ms);

	return until != 0 ? clock_mono_ms() >= until : v->m->stop(v->m->arg);
}

static void tell(struct mover *v, enum databases_moving phase)
{
	struct copier_progress p = { 0 };

	v->phase = phase;
	if (v->copier != NULL)
		engine_copier_look(v->copier, &p);
	v->m->tell(v->m->arg, phase, p.rows, p.rows_total, p.bytes, p.changed);
	v->told_ms = clock_mono_ms();
}

/* Asked by the sides all the time. */
static bool watch(void *arg)
{
	struct mover *v = arg;

	if (v->phase != MOVE_SWITCHES && clock_mono_ms() - v->told_ms >= 100)
		tell(v, v->phase);
	return is_stopped(v);
}

/* ---- before it begins ---- */

static int find_entry(struct mover *v, struct err *reterr)
{
	struct databases *d = v->d;
	struct database *db = databases_find(d, v->m->name);
	char name[129];

	str_copy(name, sizeof(name), v->m->name);
	if (db == NULL || db->service == SERVICE_SYSTEM)
		return err_raise(
			reterr, 50020, 16, 1,
			"There is no database '%s' that could be moved. procession_database_list shows "
			"the databases there are.",
			name);
	v->e = CONTAINER_OF(db, struct database_entry, db);
	if (databases_damage(db) != NULL)
		return err_raise(reterr, 50021, 16, 1, "The database '%s' cannot be moved: %s", db->name,
				 databases_damage(db));
	return 0;
}

static int find_target(struct mover *v, struct err *reterr)
{
	struct databases *d = v->d;
	char to[16];

	str_copy(to, sizeof(to), v->m->to);
	if (strcmp(to, "sqlite") != 0 && strcmp(to, "postgres") != 0)
		return err_raise(reterr, 50020, 16, 1,
				 "A database is moved to postgres or to sqlite, not to '%s'.", to);
	if (strcmp(to, databases_which_engine(d, v->e->other)) == 0)
		return err_raise(reterr, 50020, 16, 1, "The database '%s' is there already.", v->e->db.name);
	if (d->other == NULL)
		return err_raise(
			reterr, 50020, 16, 1,
			"The server does not know of any PostgreSQL. Give it the setting postgres (a "
			"connection string; engine stays sqlite), and restart it.");
	v->to_other = !v->e->other;
	v->source = v->to_other ? d->engine : d->other;
	v->target = v->to_other ? d->other : d->engine;
	return 0;
}

/* The name must be free at the servers of the other engine, too. */
static int check_there(struct mover *v, struct err *reterr)
{
	struct engine_database *there;
	int known;

	if (databases_other_system(v->d, &there, reterr) < 0 ||
	    databases_known_there(there, v->e, &known, reterr) < 0)
		return -1;
	if (known != 2)
		return 0;
	return err_raise(reterr, 50020, 16, 1,
			 "The servers with engine = %s have another database '%s'. Drop that one there, if "
			 "nobody needs it: procession database drop.",
			 v->d->other_name, v->e->db.name);
}

/* ---- the copy ---- */

/* The row knows of it before it is there. */
static int make_target(struct mover *v, struct err *reterr)
{
	const struct copy_watch w = { watch, v };
	const struct engine_open o = { .name = v->e->db.name,
				       .service = v->e->db.service,
				       .place = v->place,
				       .identity = v->e->identity };

	if (databases_tell_rest(v->d, v->e, v->place, reterr) < 0)
		return -1;
	lock_take(&v->d->adding);
	str_copy(v->e->rest, sizeof(v->e->rest), str_of(v->place));
	lock_give(&v->d->adding);
	return engine_copy_to(v->target, &o, &w, &v->to, reterr);
}

static int open_sides(struct mover *v, struct err *reterr)
{
	const struct copy_watch w = { watch, v };

	if (engine_copy_place(v->target, v->e->db.name, v->place, reterr) < 0 ||
	    engine_copy_from(v->e->db.engine, &w, &v->from, reterr) < 0)
		return -1;
	return make_target(v, reterr) < 0
		       ? -1
		       : engine_copier_new(v->e->db.service, v->from, v->to, &v->copier, reterr);
}

static void close_sides(struct mover *v)
{
	if (v->from != NULL)
		v->from->ops->close(v->from);
	if (v->to != NULL)
		v->to->ops->close(v->to);
	v->from = v->to = NULL;
}

/* The last round, in the pause, takes as long as the one before it, or less: nothing is added. */
static int follow(struct mover *v, struct err *reterr)
{
	int64_t took = LONG_MS + 1;
	uint64_t n = 0;

	tell(v, MOVE_FOLLOWS);
	for (int i = 0; took > SHORT_MS && i < ROUNDS; i++) {
		int64_t began = clock_mono_ms();

		if (engine_copier_follow(v->copier, &n, reterr) < 0)
			return -1;
		took = clock_mono_ms() - began;
	}
	return took <= LONG_MS
		       ? 0
		       : err_raise(reterr, 50021, 16, 1,
				   "More is written to '%s' than can be copied: %" PRIu64
				   " rows have changed since the last look. It stays where it is; move it "
				   "when less is done in it.",
				   v->e->db.name, n);
}

static int copy(struct mover *v, struct err *reterr)
{
	tell(v, MOVE_COPIES);
	if (engine_copier_copy(v->copier, reterr) < 0 || follow(v, reterr) < 0)
		return -1;
	tell(v, MOVE_VERIFIES);
	return engine_copier_verify(v->copier, reterr) < 0 ? -1 : follow(v, reterr);
}

/* ---- the switch ---- */

static bool wants_end(void *arg)
{
	struct mover *v = arg;

	return v->m->stop(v->m->arg);
}

/* 1: nothing is under way, and calls are held; 0: not now. */
static int find_moment(struct mover *v)
{
	struct engine_database *db = v->e->db.engine;

	return engine_gate_narrow(db, clock_mono_ms() + TRANSACTIONS_MS, wants_end, v) &&
	       engine_gate_shut(db, clock_mono_ms() + CALLS_MS, wants_end, v);
}

static int hold_calls(struct mover *v, struct err *reterr)
{
	const struct timespec pause = { 0, BETWEEN_NS };
	int64_t until = clock_mono_ms() + TRIES_MS;

	for (;;) {
		uint64_t n;

		tell(v, MOVE_SWITCHES);
		if (find_moment(v))
			return 0;
		if (wants_end(v))
			return err_set(reterr, ERR_CANCELLED);
		if (clock_mono_ms() >= until)
			return err_raise(
				reterr, 50021, 16, 1,
				"For two minutes there was no moment without an explicit transaction, or "
				"a call that takes long, in '%s'. It stays where it is; end them "
				"(procession session list), or move it when there are none.",
				v->e->db.name);
		nanosleep(&pause, NULL);
		if (engine_copier_follow(v->copier, &n, reterr) < 0)
			return -1;
	}
}

/* As it will be, but nobody finds it yet. */
static int open_new(struct mover *v, struct engine_database **ret, struct err *reterr)
{
	struct engine_open o = { .name = v->e->db.name,
				 .service = v->e->db.service,
				 .place = v->place,
				 .identity = v->e->identity,
				 .known = true };

	return databases_settings_of(v->d, v->e, &o.settings, reterr) < 0
		       ? -1
		       : engine_open(v->target, &o, ret, reterr);
}

/* Whether the row says that it is at the new place; -1: nobody answers. */
static int is_there(struct mover *v)
{
	struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar(v->e->db.name) },
		{ .name = STR("@place"), .value = value_nvarchar(v->place) },
	};
	struct err ignored;
	int status;

	return databases_tell(databases_system_engine(v->d), "procession_database_at", args, ARRAY_LEN(args),
			      &status, &ignored) < 0
		       ? -1
		       : status;
}

/* This commit is the switch. Where PostgreSQL was lost meanwhile, it is asked until it tells. */
static int commit(struct mover *v, struct err *reterr)
{
	const struct timespec pause = { 0, BETWEEN_NS };
	int there, rc = databases_tell_place(v->d, databases_system_engine(v->d), v->d->engine_name, v->e,
					     databases_which_engine(v->d, v->to_other), v->place, v->e->place,
					     reterr);

	if (rc == 0 || reterr->number != ERR_IN_DOUBT_NUMBER)
		return rc;
	while ((there = is_there(v)) < 0 && !wants_end(v))
		nanosleep(&pause, NULL);
	v->in_doubt = there < 0;
	return there == 1 ? 0 : -1;
}

/* Nobody may use either of the two: the next start knows which is right. */
static void close_both(struct mover *v, struct engine_database *old)
{
	struct err err;

	if (engine_retire(v->source, old, NULL, &err) < 0)
		databases_log_rest(v->e, &err);
}

/* Under `adding`: room for one more was made before. */
static void take_over(struct mover *v, struct engine_database *fresh)
{
	struct database_entry *e = v->e;

	e->old[e->nold++] = e->db.engine;
	str_copy(e->rest, sizeof(e->rest), str_of(e->place));
	str_copy(e->place, sizeof(e->place), str_of(v->place));
	e->other = v->to_other;
	e->db.engine = fresh;
}

static int make_room(struct database_entry *e, struct err *reterr)
{
	struct engine_database **more = realloc(e->old, (e->nold + 1) * sizeof(struct engine_database *));

	if (more == NULL)
		return err_nomem(reterr);
	e->old = more;
	return 0;
}

/* Calls are held. The former sides are let go before anybody uses the new one. */
static int switch_over(struct mover *v, struct err *reterr)
{
	struct engine_database *fresh = NULL;
	int rc;

	if (make_room(v->e, reterr) < 0 || engine_copier_finish(v->copier, reterr) < 0)
		return -1;
	v->to->ops->close(v->to);
	v->to = NULL;
	if (open_new(v, &fresh, reterr) < 0)
		return -1;
	lock_take(&v->d->refreshing); /* nobody takes a new row for a database that is not here */
	rc = commit(v, reterr);
	if (rc == 0) {
		lock_take(&v->d->adding);
		take_over(v, fresh);
		lock_give(&v->d->adding);
	} else {
		engine_close(fresh);
	}
	lock_give(&v->d->refreshing);
	return rc;
}

static int move_calls(struct mover *v, struct err *reterr)
{
	struct engine_database *old = v->e->db.engine;
	int64_t began;
	int rc;

	if (hold_calls(v, reterr) < 0)
		return -1;
	began = clock_mono_ms();
	atomic_store(&v->hold_until_ms, began + PAUSE_MS);
	rc = switch_over(v, reterr);
	if (v->in_doubt)
		close_both(v, old);
	if (rc == 0)
		engine_gate_lead(old, v->e->db.engine);
	else
		engine_gate_open(old);
	atomic_store(&v->hold_until_ms, 0);
	v->m->pause_ms = clock_mono_ms() - began;
	if (rc < 0 && reterr->number == ERR_CANCELLED_NUMBER)
		rc = err_raise(
			reterr, 50021, 16, 1,
			"The last changes of '%s' could not be copied within %d seconds. It stays where it "
			"is; look at the disk, or at PostgreSQL, then try again.",
			v->e->db.name, PAUSE_MS / 1000);
	return rc;
}

/* ---- all of it ---- */

/* It is moved, whatever happens here; the rest is tried again until it succeeds. */
static void clean_up(struct mover *v)
{
	struct database_entry *e = v->e;
	const struct log_ctx ctx = { .database = e->db.name };
	struct err err;

	tell(v, MOVE_CLEANS);
	LOG(LOG_INFO, &ctx, "database_moved", F_STR("engine", databases_which_engine(v->d, e->other)),
	    F_STR("place", e->place), F_INT("held_ms", v->m->pause_ms));
	close_sides(v);
	if (engine_retire(v->source, e->old[e->nold - 1], NULL, &err) < 0 ||
	    databases_make_known(v->d, e, v->m, &err) < 0 || databases_clear_rest(v->d, e, &err) < 0) {
		databases_log_rest(e, &err);
		snprintf(v->m->note, sizeof(v->m->note),
			 "the database is moved, but what it left behind could not be seen to yet, and will "
			 "be "
			 "tried again: %.400s",
			 err.text);
	}
}

/* It is where it was; the copy goes. */
static void undo(struct mover *v)
{
	struct err err;

	close_sides(v);
	if (!v->in_doubt && databases_clear_rest(v->d, v->e, &err) < 0)
		databases_log_rest(v->e, &err);
}

static int run(struct mover *v, struct err *reterr)
{
	int rc = databases_clear_rest(v->d, v->e, reterr); /* of an earlier one */

	if (rc == 0)
		rc = open_sides(v, reterr);
	if (rc == 0)
		rc = copy(v, reterr);
	if (rc == 0)
		rc = move_calls(v, reterr);
	if (rc == 0)
		clean_up(v);
	else
		undo(v);
	engine_copier_free(v->copier);
	return rc;
}

int databases_move(struct databases *d, struct databases_move *m, struct err *reterr)
{
	struct mover v = { .d = d, .m = m };
	int rc;

	m->pause_ms = 0;
	m->note[0] = '\0';
	if (find_entry(&v, reterr) < 0 || find_target(&v, reterr) < 0 || check_there(&v, reterr) < 0)
		return -1;
	if (!databases_take_entry(d, v.e))
		return err_raise(
			reterr, 50020, 16, 1,
			"The database '%s' is being moved or dropped already, or cleaned up behind a "
			"move. Try again in a moment.",
			v.e->db.name);
	rc = run(&v, reterr);
	databases_give_entry(d, v.e);
	return rc;
}
