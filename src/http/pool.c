/* pool.c — threads for requests that wait for a database or a password's hash, so that the thread
 * that moves bytes never does. A task has a time before which it is not run: events and held-back
 * answers are tasks that come again. */
#include <assert.h>

#include "base/clock.h"
#include "base/thread.h"
#include "http/http_int.h"

/* Under the lock. The next task that is due; NULL: it is time to stop. */
static struct http_task *next_task(struct http_pool *p)
{
	assert(lock_is_mine(&p->lock));
	for (;;) {
		if (!list_empty(&p->tasks)) {
			struct http_task *t = CONTAINER_OF(p->tasks.next, struct http_task, link);

			if (p->stopping || t->due_ms <= clock_mono_ms())
				return t;
			(void)lock_wait_until(&p->lock, &p->wake, t->due_ms);
		} else if (p->stopping) {
			return NULL;
		} else {
			lock_wait(&p->lock, &p->wake);
		}
	}
}

static void *pool_main(void *arg)
{
	struct http_pool *p = arg;
	struct http_task *t;

	lock_take(&p->lock);
	while ((t = next_task(p)) != NULL) {
		list_remove(&t->link);
		p->ntasks--;
		lock_give(&p->lock);
		t->run(t);
		lock_take(&p->lock);
	}
	lock_give(&p->lock);
	return NULL;
}

int http_pool_start(struct http_pool *p, unsigned threads, struct err *reterr)
{
	assert(threads <= HTTP_WORKERS);
	*p = (struct http_pool){ .nthreads = 0 };
	list_init(&p->tasks);
	lock_init(&p->lock);
	lock_cond_init(&p->wake);
	for (; p->nthreads < threads; p->nthreads++) {
		if (thread_start(&p->threads[p->nthreads], pool_main, p) < 0) {
			http_pool_stop(p);
			return err_nomem(reterr);
		}
	}
	return 0;
}

void http_pool_stop(struct http_pool *p)
{
	lock_take(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->wake);
	lock_give(&p->lock);
	for (; p->nthreads > 0; p->nthreads--)
		pthread_join(p->threads[p->nthreads - 1], NULL);
	assert(p->ntasks == 0);
	pthread_cond_destroy(&p->wake);
}

/* After the last one that is not due later. */
static void insert(struct http_pool *p, struct http_task *t)
{
	struct list *at = p->tasks.prev;

	assert(lock_is_mine(&p->lock));
	while (at != &p->tasks && CONTAINER_OF(at, struct http_task, link)->due_ms > t->due_ms)
		at = at->prev;
	list_append(at->next, &t->link);
}

bool http_pool_submit(struct http_pool *p, struct http_task *t, int64_t due_ms, bool again)
{
	bool taken;

	lock_take(&p->lock);
	taken = !p->stopping && (again || p->ntasks < HTTP_QUEUE);
	if (taken) {
		t->due_ms = due_ms;
		insert(p, t);
		p->ntasks++;
		pthread_cond_signal(&p->wake);
	}
	lock_give(&p->lock);
	return taken;
}

bool http_pool_is_stopping(struct http_pool *p)
{
	bool yes;

	lock_take(&p->lock);
	yes = p->stopping;
	lock_give(&p->lock);
	return yes;
}
