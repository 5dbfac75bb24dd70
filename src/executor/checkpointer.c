/* checkpointer.c — the thread that copies the write-ahead log into the file beside the writer. Started when there is first something to do; sleeps without a time-out when there is
 * nothing. It has time, unlike the calls: where all cores are busy it lets them go first. */
#include "base/log.h"
#include "base/thread.h"
#include "executor/executor_int.h"

/* Under the lock, which is given up meanwhile. */
static void checkpoint(struct executor *ex)
{
	const struct log_ctx ctx = { .database = ex->name };
	struct err err;

	pthread_mutex_unlock(&ex->lock);
	if (ex->checkpointer_conn == NULL && store_connect(ex->store, false, &ex->checkpointer_conn, &err) < 0)
		LOG(LOG_ERROR, &ctx, "checkpoint_failed", F_STR("reason", err.text));
	if (ex->checkpointer_conn != NULL)
		store_checkpoint(ex->checkpointer_conn, false);
	pthread_mutex_lock(&ex->lock);
	ex->checkpointing = false;
	ex->checkpointed = true;
	if (store_sound(ex->store, &err) < 0)
		pthread_cond_signal(&ex->wake); /* the writer mends the store */
}

static void *checkpointer_main(void *arg)
{
	struct executor *ex = arg;

	thread_name(ex, 'c');
	thread_step_back();
	pthread_mutex_lock(&ex->lock);
	while (!ex->checkpointer_leaves) {
		if (ex->checkpointing)
			checkpoint(ex);
		else
			pthread_cond_wait(&ex->checkpointer_wake, &ex->lock);
	}
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}

bool checkpointer_start(struct executor *ex)
{
	ex->checkpointing = true;
	if (ex->has_checkpointer)
		pthread_cond_signal(&ex->checkpointer_wake);
	else
		ex->checkpointing = ex->has_checkpointer = thread_start(&ex->checkpointer, checkpointer_main, ex) == 0;
	return ex->checkpointing;
}

void checkpointer_stop(struct executor *ex)
{
	if (!ex->has_checkpointer)
		return;
	pthread_mutex_lock(&ex->lock);
	ex->checkpointer_leaves = true;
	pthread_cond_signal(&ex->checkpointer_wake);
	pthread_mutex_unlock(&ex->lock);
	pthread_join(ex->checkpointer, NULL);
}
