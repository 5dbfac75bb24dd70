/* checkpointer.c — the thread that checkpoints beside the writer: it copies the write-ahead log
 * into the database file while calls go on. Started when there is first something to do; sleeps
 * without a time-out when there is nothing.
 *
 * It has time, unlike the calls, and a low priority: where all cores are busy it lets them go
 * first. So it takes no lock that others wait for, or they would wait for its turn on a core. It
 * is told by a semaphore, and tells by atomics. */
#include <errno.h>

#include "base/log.h"
#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

/* The one thing for which it takes the lock: the writer, which may be asleep, must mend a store
 * whose flush has failed. Then nothing is answered in any case. */
static void wake_the_mender(struct executor *ex)
{
	lock_take(&ex->lock);
	pthread_cond_signal(&ex->writer.wake);
	lock_give(&ex->lock);
}

static void checkpoint(struct executor *ex)
{
	const struct log_ctx ctx = { .database = ex->db->name };
	struct checkpointer *k = &ex->checkpointer;
	struct err err;

	if (k->conn == NULL && store_connect(ex->store, false, &k->conn, &err) < 0)
		LOG(LOG_ERROR, &ctx, "checkpoint_failed", F_STR("reason", err.text));
	if (k->conn != NULL)
		store_checkpoint(k->conn, false);
	executor_checkpoint_move(k, CHECKPOINT_DONE);
	if (store_sound(ex->store, &err) < 0)
		wake_the_mender(ex);
}

static void *checkpointer_main(void *arg)
{
	struct executor *ex = arg;
	struct checkpointer *k = &ex->checkpointer;

	executor_thread_name(ex, 'c');
	thread_step_back();
	for (;;) {
		while (sem_wait(&k->wake) < 0 && errno == EINTR)
			continue;
		if (atomic_load(&k->leaves))
			return NULL;
		checkpoint(ex);
	}
}

int executor_checkpointer_init(struct checkpointer *k)
{
	atomic_init(&k->state, CHECKPOINT_NONE);
	atomic_init(&k->leaves, false);
	return sem_init(&k->wake, 0, 0);
}

void executor_checkpointer_fini(struct checkpointer *k)
{
	store_disconnect(k->conn);
	sem_destroy(&k->wake);
}

bool executor_checkpointer_start(struct executor *ex)
{
	struct checkpointer *k = &ex->checkpointer;

	assert(executor_is_writer(ex));
	if (!k->started)
		k->started = thread_start(&k->thread, checkpointer_main, ex) == 0;
	if (!k->started)
		return false;
	executor_checkpoint_move(k, CHECKPOINT_RUNS);
	sem_post(&k->wake);
	return true;
}

void executor_checkpointer_stop(struct executor *ex)
{
	struct checkpointer *k = &ex->checkpointer;

	if (!k->started)
		return;
	atomic_store(&k->leaves, true);
	sem_post(&k->wake);
	pthread_join(k->thread, NULL);
}
