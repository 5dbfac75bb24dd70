/* engine.c — the translation engine behind document/engine.h. Everything that happens wakes one
 * epoll descriptor: ends of processes, the nearest time limit, the converter. next() then looks at
 * every document under way; there are as many as slots. */
#include "translate/engine.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "translate/engine_int.h"

#define SECONDS_DEFAULT 300
#define IDLE_PIPELINES 6 /* beside one for each slot */

uint64_t translate_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct translate_document *free_slot(struct translate_engine *e)
{
	for (unsigned i = 0; i < e->options.slots; i++) {
		if (e->document[i].phase == TRANSLATE_FREE)
			return &e->document[i];
	}
	return NULL;
}

/* The end of a name that is too long is what tells its type. */
static void copy_name(char *ret, size_t size, const char *name)
{
	size_t n = name == NULL ? 0 : strlen(name);

	snprintf(ret, size, "%s", n == 0 ? "" : n < size ? name : name + n - size + 1);
}

/* Wakes us at the nearest time limit. At once, if a document is done. */
static void set_timer(struct translate_engine *e)
{
	uint64_t now = translate_now(), nearest = UINT64_MAX;
	struct itimerspec t = { 0 };

	for (unsigned i = 0; i < e->options.slots; i++) {
		const struct translate_document *d = &e->document[i];
		uint64_t at = d->phase == TRANSLATE_DONE                ? now
			      : d->grace != 0 && d->grace < d->deadline ? d->grace
									: d->deadline;

		if (d->phase != TRANSLATE_FREE && at < nearest)
			nearest = at;
	}
	if (nearest != UINT64_MAX) {
		uint64_t wait = nearest > now ? nearest - now : 0;

		t.it_value.tv_sec = (time_t)(wait / 1000);
		t.it_value.tv_nsec = (long)(wait % 1000) * 1000000 + 1;
	}
	(void)timerfd_settime(e->timer, 0, &t, NULL);
}

static void watch_converter(struct translate_engine *e)
{
	struct epoll_event watch = { .events = EPOLLIN };
	int fd = e->converter.ops == NULL ? -1 : e->converter.ops->fd(e->converter.engine);

	if (fd == e->converter_fd)
		return;
	if (e->converter_fd >= 0)
		(void)epoll_ctl(e->epoll, EPOLL_CTL_DEL, e->converter_fd, NULL);
	if (fd >= 0)
		(void)epoll_ctl(e->epoll, EPOLL_CTL_ADD, fd, &watch);
	e->converter_fd = fd;
}

static int engine_submit(void *arg, const struct document_task *task, struct err *reterr)
{
	struct translate_engine *e = arg;
	struct translate_document *d = free_slot(e);
	uint64_t now = translate_now();

	if (d == NULL)
		return err_raise(reterr, 50000, 16, 1, "the translation engine has no free slot");
	*d = (struct translate_document){
		.phase = TRANSLATE_DONE,
		.id = task->id,
		.begun = now,
		.deadline = now + 1000 * (uint64_t)(task->seconds != 0 ? task->seconds : e->options.seconds),
		.input = task->input,
		.output = task->output,
		.middle_in = -1,
		.middle_out = -1,
	};
	copy_name(d->name, sizeof(d->name), task->input_name);
	copy_name(d->output_name, sizeof(d->output_name), task->output_name);
	if (translate_job_read((struct str){ task->settings, task->settings_len }, &d->job, &d->failure) ==
		    0 &&
	    translate_document_begin(e, d) < 0) {
		if (d->helper != NULL)
			translate_helper_give(e, d->helper, true);
		d->helper = NULL;
		d->phase = TRANSLATE_DONE;
	}
	watch_converter(e);
	set_timer(e);
	return 0;
}

static int engine_fd(void *arg)
{
	struct translate_engine *e = arg;

	return e->epoll;
}

static void take_converted(struct translate_engine *e)
{
	struct document_result r;
	int rc = 0;

	while (e->converter.ops != NULL && (rc = e->converter.ops->next(e->converter.engine, &r)) > 0) {
		for (unsigned i = 0; i < e->options.slots; i++) {
			if (e->document[i].ticket == r.id)
				translate_document_converted(e, &e->document[i], &r);
		}
	}
	for (unsigned i = 0; rc < 0 && i < e->options.slots; i++) {
		struct document_result lost = { .error = DOCUMENT_WORKER_FAILED,
						.text = "The converter died." };

		translate_document_converted(e, &e->document[i], &lost);
	}
}

static void give_result(struct translate_engine *e, struct translate_document *d, struct document_result *ret)
{
	struct stat st;

	*ret = (struct document_result){ .id = d->id,
					 .error = d->failure.error,
					 .cpu_ms = d->cpu_ms,
					 .wall_ms = (unsigned)(translate_now() - d->begun) };
	str_copy(ret->text, sizeof(ret->text), str_trim(str_of(d->failure.text)));
	if (d->failure.error == 0 && fstat(d->output, &st) == 0)
		ret->output_size = (uint64_t)st.st_size;
	translate_document_release(e, d);
}

static int engine_next(void *arg, struct document_result *ret)
{
	struct translate_engine *e = arg;
	uint64_t now = translate_now();
	int found = 0;

	take_converted(e);
	for (unsigned i = 0; i < e->options.slots && !found; i++) {
		if (translate_document_advance(e, &e->document[i], now)) {
			give_result(e, &e->document[i], ret);
			found = 1;
		}
	}
	translate_helpers_sweep(e);
	watch_converter(e);
	set_timer(e);
	return found;
}

static void engine_cancel(void *arg, uint64_t id)
{
	struct translate_engine *e = arg;

	for (unsigned i = 0; i < e->options.slots; i++) {
		struct translate_document *d = &e->document[i];

		if (d->phase != TRANSLATE_FREE && d->phase != TRANSLATE_DONE && d->id == id)
			translate_document_stop(e, d, DOCUMENT_CANCELLED, "It was cancelled.");
	}
	set_timer(e);
}

static void engine_stop(void *arg)
{
	struct translate_engine *e = arg;

	for (unsigned i = 0; e->document != NULL && i < e->options.slots; i++) {
		if (e->document[i].phase != TRANSLATE_FREE)
			translate_document_release(e, &e->document[i]);
	}
	translate_helpers_end(e);
	if (e->converter.ops != NULL)
		e->converter.ops->stop(e->converter.engine);
	if (e->timer >= 0)
		(void)close(e->timer);
	if (e->epoll >= 0)
		(void)close(e->epoll);
	free(e->document);
	free(e);
}

static const struct document_engine_ops ops = { engine_submit, engine_fd, engine_next, engine_cancel,
						engine_stop };

/* Takes the folder if our programs are in it. */
static bool take_programs(struct translate_engine *e, const char *folder)
{
	char whole[PATH_MAX], path[PATH_MAX + 32];

	if (realpath(folder, whole) == NULL || strlen(whole) >= sizeof(e->programs))
		return false;
	snprintf(path, sizeof(path), "%s/translate-document", whole);
	if (access(path, X_OK) < 0)
		return false;
	snprintf(e->programs, sizeof(e->programs), "%s", whole);
	e->own.source = e->programs;
	return true;
}

/* In the folder that the caller or PROCESSION_LIBEXEC (environment) names, beside this program, in
 * libexec/procession beside its folder, or where they were built. */
static int find_programs(struct translate_engine *e, struct err *reterr)
{
	static const char *const folders[] = { ".", "../libexec/procession", "../translate" };
	const char *named = e->options.programs != NULL ? e->options.programs : getenv("PROCESSION_LIBEXEC");
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash != NULL)
		*slash = '\0';
	if (named != NULL && take_programs(e, named))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, folders[i]);
		if (take_programs(e, path))
			return 0;
	}
	return err_raise(reterr, 50000, 16, 1,
			 "translate-document, a program of procession, is neither in %s nor in "
			 "libexec/procession beside that folder: "
			 "install procession as a whole, or name the folder in PROCESSION_LIBEXEC",
			 self);
}

static int set_up(struct translate_engine *e, struct err *reterr)
{
	struct epoll_event watch = { .events = EPOLLIN };

	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	e->document = calloc(e->options.slots, sizeof(*e->document));
	e->helpers_max = e->options.slots + IDLE_PIPELINES;
	e->helper = calloc(e->helpers_max, sizeof(struct translate_helper *));
	if (e->document == NULL || e->helper == NULL)
		return err_nomem(reterr);
	if (e->epoll < 0 || e->timer < 0 || epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->timer, &watch) < 0)
		return err_raise(reterr, 50000, 16, 1, "the translation engine cannot be set up: %m");
	return find_programs(e, reterr);
}

int translate_start(const struct translate_options *options, struct document_engine *ret, struct err *reterr)
{
	struct translate_engine *e = calloc(1, sizeof(*e));

	assert(options->slots > 0);
	if (e == NULL)
		return err_nomem(reterr);
	e->options = *options;
	e->options.seconds = options->seconds != 0 ? options->seconds : SECONDS_DEFAULT;
	e->epoll = e->timer = e->converter_fd = -1;
	snprintf(e->apertium, sizeof(e->apertium), "%s",
		 options->apertium != NULL ? options->apertium : "/usr/share/apertium");
	if (set_up(e, reterr) < 0) {
		engine_stop(e);
		return -1;
	}
	*ret = (struct document_engine){ .ops = &ops, .engine = e, .slots = options->slots };
	return 0;
}
