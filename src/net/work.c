/* work.c — a few threads for work that blocks (a memory-hard hash takes tens of milliseconds). They start when first needed.
 * The number of threads bounds how much of it happens at once; whoever submits bounds the queue. */
#include "net/net.h"

#include "base/thread.h"
#include "net/net_int.h"

static void run_done(struct net_post *item)
{
	struct net_work *w = CONTAINER_OF(item, struct net_work, post);

	w->done(w);
}

static void run_work(struct net_work *w)
{
	w->run(w);
	w->post.fn = run_done;
	net_loop_post(w->loop, &w->post);
}

static void *worker_main(void *arg)
{
	struct net *n = arg;

	pthread_mutex_lock(&n->lock);
	for (;;) {
		struct list *it = list_pop(&n->work);

		if (it != NULL) {
			pthread_mutex_unlock(&n->lock);
			run_work(CONTAINER_OF(it, struct net_work, post.link));
			pthread_mutex_lock(&n->lock);
			continue;
		}
		if (n->work_ended)
			break;
		n->idle_workers++;
		pthread_cond_wait(&n->changed, &n->lock);
		n->idle_workers--;
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

void net_work_submit(struct net *n, struct net_work *w)
{
	bool inline_run;

	pthread_mutex_lock(&n->lock);
	/* An idle worker counts as taken while earlier work is still in the queue. */
	if (!n->work_ended && (n->idle_workers == 0 || !list_empty(&n->work)) && n->nworkers < NET_WORKERS)
		if (thread_start(&n->workers[n->nworkers], worker_main, n) == 0)
			n->nworkers++;
	/* Without a thread (the system has none to give, or we are stopping) it is done here: late, but done. */
	inline_run = n->work_ended || n->nworkers == 0;
	if (!inline_run) {
		list_append(&n->work, &w->post.link);
		pthread_cond_broadcast(&n->changed);
	}
	pthread_mutex_unlock(&n->lock);
	if (inline_run)
		run_work(w);
}

/* What was submitted is still run: its owner waits for done. */
void net_work_end(struct net *n)
{
	pthread_mutex_lock(&n->lock);
	n->work_ended = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	for (unsigned i = 0; i < n->nworkers; i++)
		pthread_join(n->workers[i], NULL);
	n->nworkers = 0;
}
