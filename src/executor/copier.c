/* copier.c — the thread that copies the write-ahead log into the file beside the writer. Started when there is first something to do; sleeps without a time-out when there is
 * nothing. It has time, unlike the calls: where all cores are busy it lets them go first. */
#include "base/log.h"
#include "base/thread.h"
#include "executor/executor_int.h"

/* Under the lock, which is given up meanwhile. */
static void tidy(struct executor *ex)
{
	const struct log_ctx ctx = { .database = ex->name };
	struct err err;

	pthread_mutex_unlock(&ex->lock);
	if (ex->copier_conn == NULL && store_connect(ex->store, false, &ex->copier_conn, &err) < 0)
		LOG(LOG_ERROR, &ctx, "checkpoint_failed", F_STR("reason", err.text));
	if (ex->copier_conn != NULL)
		store_tidy(ex->copier_conn, false);
	pthread_mutex_lock(&ex->lock);
	ex->tidying = false;
	ex->tidied = true;
	if (store_sound(ex->store, &err) < 0)
		pthread_cond_signal(&ex->wake); /* the writer mends the store */
}

static void *copier_main(void *arg)
{
	struct executor *ex = arg;

	thread_name(ex, 'c');
	thread_step_back();
	pthread_mutex_lock(&ex->lock);
	while (!ex->copier_leaves) {
		if (ex->tidying)
			tidy(ex);
		else
			pthread_cond_wait(&ex->copier_wake, &ex->lock);
	}
	pthread_mutex_unlock(&ex->lock);
	return NULL;
}

bool copier_start(struct executor *ex)
{
	ex->tidying = true;
	if (ex->has_copier)
		pthread_cond_signal(&ex->copier_wake);
	else
		ex->tidying = ex->has_copier = thread_start(&ex->copier, copier_main, ex) == 0;
	return ex->tidying;
}

void copier_stop(struct executor *ex)
{
	if (!ex->has_copier)
		return;
	pthread_mutex_lock(&ex->lock);
	ex->copier_leaves = true;
	pthread_cond_signal(&ex->copier_wake);
	pthread_mutex_unlock(&ex->lock);
	pthread_join(ex->copier, NULL);
}
