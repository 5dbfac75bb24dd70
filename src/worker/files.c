/* files.c — see worker_int.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/str.h"
#include "base/thread.h"
#include "document/behaviour.h"
#include "worker/worker_int.h"

#define THREADS_MAX 64

struct files {
	const struct worker_options *o;
	int wake_fd;
	struct lock lock;
	pthread_cond_t more;
	struct list todo, done;
	bool ending;
	pthread_t threads[THREADS_MAX];
	size_t nthreads;
};

static int locate(struct item *i, struct document_location *in, struct document_location *out)
{
	int error = document_locate(i->input_root, i->input, in, i->text);

	if (error != DOCUMENT_OK)
		return error;
	if (i->output == NULL || i->output[0] == '\0') {
		str_copy(i->text, sizeof(i->text), STR("the item names no output file"));
		return DOCUMENT_SETTINGS_INVALID;
	}
	return document_locate(i->output_root, i->output, out, i->text);
}

/* The output first: what may not be written need not be read. */
static int open_both(struct files *f, struct item *i)
{
	struct document_location in = { 0 }, out = { 0 };
	char tag[TAG_MAX];
	const struct document_claim claim = { .tag = tag, .again = i->attempt > 1 };
	bool replace = i->settings != NULL && document_settings_replace(i->settings, strlen(i->settings));
	int error = locate(i, &in, &out);

	worker_item_tag(f->o->service, &i->key, tag);
	if (error == DOCUMENT_OK)
		error = document_output_open(f->o->places, &out, &claim, replace, &i->out, i->text);
	if (error == DOCUMENT_OK && !document_output_is_finished(i->out))
		error = document_input_open(f->o->places, &in, &i->input_fd, i->text);
	document_location_fini(&in);
	document_location_fini(&out);
	return error;
}

static void work(struct files *f, struct item *i)
{
	assert(i->stage == ITEM_OPENING || (i->stage == ITEM_CLOSING && i->out != NULL));
	if (i->stage == ITEM_OPENING)
		i->error = open_both(f, i);
	/* Somebody else may have the item by now: it must not appear. */
	else if (worker_link_clock() > i->claimed + (int64_t)f->o->stale_s * 900)
		i->lost = true;
	else
		i->error = document_output_commit(i->out, i->text);
}

static void wake(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *files_main(void *arg)
{
	struct files *f = arg;

	lock_take(&f->lock);
	for (;;) {
		struct list *next = list_pop(&f->todo);

		if (next == NULL && f->ending)
			break;
		if (next == NULL) {
			lock_wait(&f->lock, &f->more);
			continue;
		}
		lock_give(&f->lock);
		work(f, CONTAINER_OF(next, struct item, queue));
		lock_take(&f->lock);
		list_append(&f->done, next);
		wake(f->wake_fd);
	}
	lock_give(&f->lock);
	return NULL;
}

int worker_files_start(const struct worker_options *o, unsigned nthreads, int wake_fd, struct files **ret,
		       struct err *reterr)
{
	struct files *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return err_nomem(reterr);
	f->o = o;
	f->wake_fd = wake_fd;
	list_init(&f->todo);
	list_init(&f->done);
	lock_init(&f->lock);
	pthread_cond_init(&f->more, NULL);
	while (f->nthreads < nthreads && f->nthreads < THREADS_MAX &&
	       thread_start(&f->threads[f->nthreads], files_main, f) == 0)
		f->nthreads++;
	if (f->nthreads == 0) {
		worker_files_free(f);
		return err_raise(reterr, 50000, 16, 1, "no thread could be started");
	}
	*ret = f;
	return 0;
}

static void put(struct files *f, struct item *i, enum item_stage stage)
{
	assert(!lock_is_mine(&f->lock));
	i->stage = stage;
	lock_take(&f->lock);
	list_append(&f->todo, &i->queue);
	pthread_cond_signal(&f->more);
	lock_give(&f->lock);
}

void worker_files_open(struct files *f, struct item *i)
{
	put(f, i, ITEM_OPENING);
}

void worker_files_close(struct files *f, struct item *i)
{
	put(f, i, ITEM_CLOSING);
}

struct item *worker_files_next(struct files *f)
{
	struct list *next;

	lock_take(&f->lock);
	next = list_pop(&f->done);
	lock_give(&f->lock);
	return next != NULL ? CONTAINER_OF(next, struct item, queue) : NULL;
}

void worker_files_free(struct files *f)
{
	if (f == NULL)
		return;
	lock_take(&f->lock);
	f->ending = true;
	pthread_cond_broadcast(&f->more);
	lock_give(&f->lock);
	for (size_t i = 0; i < f->nthreads; i++)
		pthread_join(f->threads[i], NULL);
	lock_fini(&f->lock);
	pthread_cond_destroy(&f->more);
	free(f);
}
