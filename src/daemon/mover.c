/* mover.c — see mover.h. */
#define _GNU_SOURCE /* names of threads */
#include "daemon/mover.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

#define FORGOTTEN_MS 10000

struct mover_thread {
	struct databases *dbs; /* borrowed */
	struct lock lock;
	pthread_t thread;
	bool started; /* the thread is to be joined */
	atomic_bool stop;
	atomic_bool ended; /* its command does not want it any more */
	atomic_llong looked_ms;
	struct mover_view view; /* under the lock */
	int64_t began_ms;       /* under the lock */
};

const char *daemon_mover_state_name(enum mover_state s)
{
	static const char *const names[] = { "none", "running", "moved", "failed" };

	return names[s];
}

const char *daemon_mover_phase_name(enum databases_moving p)
{
	static const char *const names[] = { "copying", "following", "verifying", "switching", "cleaning" };

	return names[p];
}

/* ---- the thread ---- */

static bool is_to_stop(void *arg)
{
	struct mover_thread *m = arg;

	return atomic_load(&m->stop) || atomic_load(&m->ended) ||
	       clock_mono_ms() - atomic_load(&m->looked_ms) > FORGOTTEN_MS;
}

static void note_progress(void *arg, enum databases_moving phase, uint64_t rows, uint64_t total,
			  uint64_t bytes, uint64_t again)
{
	struct mover_thread *m = arg;

	lock_take(&m->lock);
	assert(m->view.state == MOVER_RUNS);
	m->view.phase = phase;
	m->view.rows = rows;
	m->view.total = total;
	m->view.bytes = bytes;
	m->view.changed = again;
	lock_give(&m->lock);
}

static void *mover_main(void *arg)
{
	struct mover_thread *m = arg;
	struct databases_move move = { .stop = is_to_stop, .tell = note_progress, .arg = m };
	char name[129], to[16];
	struct err err = { 0 };
	int rc;

	pthread_setname_np(pthread_self(), "mover");
	lock_take(&m->lock);
	memcpy(name, m->view.name, sizeof(name));
	memcpy(to, m->view.to, sizeof(to));
	lock_give(&m->lock);
	move.name = str_of(name);
	move.to = str_of(to);
	rc = databases_move(m->dbs, &move, &err);
	lock_take(&m->lock);
	assert(m->view.state == MOVER_RUNS);
	m->view.state = rc == 0 ? MOVER_DONE : MOVER_FAILED;
	m->view.held_ms = move.pause_ms;
	m->view.seconds = (clock_mono_ms() - m->began_ms) / 1000;
	str_copy(m->view.note, sizeof(m->view.note), str_of(move.note));
	str_copy(m->view.reason, sizeof(m->view.reason), str_of(rc == 0 ? "" : err.text));
	lock_give(&m->lock);
	if (rc < 0) {
		const struct log_ctx ctx = { .database = name };

		LOG(LOG_WARN, &ctx, "database_not_moved", F_STR("to", to), F_STR("reason", err.text));
	}
	return NULL;
}

/* ---- the way in ---- */

static int new_id(char dst[MOVER_ID], struct err *reterr)
{
	uint8_t bytes[16];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_raise(reterr, 50021, 16, 1, "The kernel gave no random numbers.");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(dst + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Under the lock. */
static int begin(struct mover_thread *m, struct str name, struct str to, struct err *reterr)
{
	assert(lock_is_mine(&m->lock) && (m->started || m->view.state == MOVER_NONE));
	if (m->view.state == MOVER_RUNS)
		return err_raise(reterr, 50020, 16, 1,
				 "The database '%s' is being moved. One at a time: wait until that is done.",
				 m->view.name);
	if (m->started)
		pthread_join(m->thread, NULL);
	m->started = false;
	m->view = (struct mover_view){ .state = MOVER_RUNS };
	if (new_id(m->view.id, reterr) < 0)
		goto fail;
	str_copy(m->view.name, sizeof(m->view.name), name);
	str_copy(m->view.to, sizeof(m->view.to), to);
	m->began_ms = clock_mono_ms();
	atomic_store(&m->looked_ms, m->began_ms);
	atomic_store(&m->ended, false);
	if (thread_start(&m->thread, mover_main, m) < 0) {
		err_nomem(reterr);
		goto fail;
	}
	m->started = true;
	return 0;
fail:
	m->view.state = MOVER_NONE;
	return -1;
}

int daemon_mover_begin(struct mover_thread *m, struct str name, struct str to, char ret_id[MOVER_ID],
		       struct err *reterr)
{
	int rc;

	lock_take(&m->lock);
	rc = atomic_load(&m->stop) ? err_set(reterr, ERR_SHUTDOWN) : begin(m, name, to, reterr);
	if (rc == 0)
		memcpy(ret_id, m->view.id, MOVER_ID);
	lock_give(&m->lock);
	return rc;
}

bool daemon_mover_look(struct mover_thread *m, struct mover_view *ret)
{
	atomic_store(&m->looked_ms, clock_mono_ms());
	lock_take(&m->lock);
	*ret = m->view;
	if (ret->state == MOVER_RUNS)
		ret->seconds = (clock_mono_ms() - m->began_ms) / 1000;
	lock_give(&m->lock);
	return ret->state != MOVER_NONE;
}

void daemon_mover_end(struct mover_thread *m, struct str id)
{
	lock_take(&m->lock);
	if (m->view.state == MOVER_RUNS && str_eq(id, str_of(m->view.id)))
		atomic_store(&m->ended, true);
	lock_give(&m->lock);
}

int daemon_mover_new(struct databases *dbs, struct mover_thread **ret, struct err *reterr)
{
	struct mover_thread *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return err_nomem(reterr);
	m->dbs = dbs;
	lock_init(&m->lock);
	*ret = m;
	return 0;
}

void daemon_mover_free(struct mover_thread *m)
{
	if (m == NULL)
		return;
	atomic_store(&m->stop, true);
	if (m->started) /* nobody begins another any more */
		pthread_join(m->thread, NULL);
	assert(m->view.state != MOVER_RUNS);
	lock_fini(&m->lock);
	free(m);
}
