/* engine.c — see convert.h: the side outside of the jail. It starts procession-converter, hands
 * documents over to it, and makes results of what it says; it looks at no byte of a document.
 *
 * A program that has ended, whatever the reason, is replaced by another, and what it had is
 * reported as failed. After 1,000 documents, and when fonts were installed or removed, another
 * takes over, too; the old one ends when its last document has. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "convert/engine_int.h"

#define SECONDS_DEFAULT 300
#define RENEW_AFTER 1000
#define MEMORY_DEFAULT (UINT64_C(4) << 30)
#define OUTPUT_DEFAULT (UINT64_C(512) << 20)
#define UNPACKED_DEFAULT (UINT64_C(1) << 30)
#define FONTS_MS 5000 /* between two looks at the folders of fonts */
/* after a time limit, until the whole program is taken for hung */
#define GRACE_MS 15000
#define STILLBORN_MAX 3 /* programs in a row that ended before they were ready */

/* --- results ------------------------------------------------------------------------------ */

static void wake(struct convert_engine *e)
{
	const uint64_t one = 1;

	(void)!write(e->wake, &one, sizeof(one));
}

/* A document has ended. There is always room: as many results wait as there are flights. */
static void finish(struct convert_engine *e, struct convert_flight *f, int error, const char *text)
{
	struct stat st = { 0 };

	assert(f->state == CONVERT_FLIGHT_RUNS && (f->program == NULL || f->program->running > 0));
	f->result.id = f->id;
	f->result.error = error;
	f->result.wall_ms = (unsigned)(clock_mono_ms() - f->started);
	str_copy(f->result.text, sizeof(f->result.text), str_of(text));
	if (error != 0)
		(void)!ftruncate(f->output, 0);
	else if (fstat(f->output, &st) == 0)
		f->result.output_size = (uint64_t)st.st_size;
	close(f->input);
	close(f->output);
	if (f->program != NULL)
		f->program->running--;
	f->program = NULL;
	f->state = CONVERT_FLIGHT_DONE;
	wake(e);
}

static struct convert_flight *find_flight(struct convert_engine *e, uint64_t id)
{
	for (unsigned i = 0; i < e->slots; i++)
		if (e->flights[i].state == CONVERT_FLIGHT_RUNS && e->flights[i].id == id)
			return &e->flights[i];
	return NULL;
}

static bool take_result(struct convert_engine *e, struct document_result *ret)
{
	for (unsigned i = 0; i < e->slots; i++)
		if (e->flights[i].state == CONVERT_FLIGHT_DONE) {
			*ret = e->flights[i].result;
			e->flights[i].state = CONVERT_FLIGHT_FREE;
			return true;
		}
	return false;
}

/* --- programs ----------------------------------------------------------------------------- */

/* The timer that finds programs which do not end what is overdue. */
static void arm(struct convert_engine *e)
{
	struct itimerspec when = { 0 };
	int64_t first = INT64_MAX, left;

	for (unsigned i = 0; i < e->slots; i++)
		if (e->flights[i].state == CONVERT_FLIGHT_RUNS && e->flights[i].deadline < first)
			first = e->flights[i].deadline;
	if (first != INT64_MAX) {
		left = first + GRACE_MS - clock_mono_ms();
		if (left < 1)
			left = 1;
		when.it_value.tv_sec = left / 1000;
		when.it_value.tv_nsec = left % 1000 * 1000000;
	}
	(void)timerfd_settime(e->timer, 0, &when, NULL);
}

/* Ends a program; what it still had has failed. */
static void bury(struct convert_engine *e, struct convert_program *p, int error, const char *why)
{
	char text[512];
	int status;

	assert(p->used && p->process.pid > 0);
	(void)epoll_ctl(e->epoll, EPOLL_CTL_DEL, p->socket, NULL);
	status = jail_end(&p->process);
	snprintf(text, sizeof(text), "%s", why);
	if (!p->ready && p->said_why[0] == '\0')
		convert_program_last_words(p, p->said_why, sizeof(p->said_why));
	LOG(p->running == 0 && p->retiring ? LOG_INFO : LOG_WARN, NULL, "converter-ended", F_STR("why", why),
	    F_INT("status", status), F_INT("documents", p->served), F_INT("lost", p->running),
	    F_STR("said", p->said_why));
	if (!p->ready) {
		e->stillborn++;
		str_copy(e->why, sizeof(e->why), str_of(p->said_why[0] != '\0' ? p->said_why : why));
	}
	for (unsigned i = 0; i < e->slots; i++) {
		struct convert_flight *f = &e->flights[i];

		if (f->state == CONVERT_FLIGHT_RUNS && f->program == p)
			finish(e, f, f->deadline <= clock_mono_ms() ? DOCUMENT_TIMEOUT : error, text);
	}
	assert(p->running == 0);
	convert_program_close(p);
}

static struct convert_program *current(struct convert_engine *e)
{
	for (size_t i = 0; i < ARRAY_LEN(e->programs); i++)
		if (e->programs[i].used && !e->programs[i].retiring)
			return &e->programs[i];
	return NULL;
}

static int begin(struct convert_engine *e, struct err *reterr)
{
	struct epoll_event event = { .events = EPOLLIN };

	assert(current(e) == NULL);
	for (size_t i = 0; i < ARRAY_LEN(e->programs); i++) {
		struct convert_program *p = &e->programs[i];

		if (p->used)
			continue;
		if (convert_program_start(p, e, reterr) < 0)
			return -1;
		event.data.ptr = p;
		if (epoll_ctl(e->epoll, EPOLL_CTL_ADD, p->socket, &event) == 0)
			return 0;
		(void)jail_end(&p->process);
		convert_program_close(p);
		return err_raise(reterr, 50000, 16, 1, "the converter's socket cannot be waited for: %s",
				 strerror(errno));
	}
	/* As many retire as can: the oldest keeps its documents, the newest has to do for now. */
	return err_raise(reterr, 50000, 16, 1, "too many converters are ending at once");
}

/* Another program takes over from the current one. */
static void renew(struct convert_engine *e, const char *why)
{
	struct convert_program *old = current(e);
	struct err err = { 0 };

	if (old == NULL)
		return;
	old->retiring = true;
	if (begin(e, &err) < 0) {
		old->retiring = false;
		LOG(LOG_WARN, NULL, "converter-not-renewed", F_STR("why", why), F_STR("text", err.text));
		return;
	}
	LOG(LOG_INFO, NULL, "converter-renewed", F_STR("why", why), F_INT("documents", old->served));
	if (old->running == 0)
		bury(e, old, DOCUMENT_WORKER_FAILED, why);
}

static void renew_if_due(struct convert_engine *e)
{
	struct convert_program *p = current(e);
	int64_t now = clock_mono_ms();

	if (p == NULL)
		return;
	if (now - e->fonts_looked >= FONTS_MS) {
		uint64_t fonts = convert_fonts_stamp();

		e->fonts_looked = now;
		if (fonts != e->fonts) {
			e->fonts = fonts;
			renew(e, "fonts");
			return;
		}
	}
	if (p->served >= e->options.renew_after)
		renew(e, "count");
}

/* --- what a program says ------------------------------------------------------------------ */

static void take_reply(struct convert_engine *e, struct convert_program *p, struct convert_reply *r)
{
	struct convert_flight *f;

	assert(p->used);
	r->text[sizeof(r->text) - 1] = '\0';
	if (r->kind == CONVERT_READY) {
		p->ready = true;
		e->stillborn = 0;
		LOG(LOG_INFO, NULL, "converter-ready", F_INT("ms", r->wall_ms), F_INT("pid", p->process.pid));
		return;
	}
	if (r->kind == CONVERT_NOT_READY) {
		str_copy(p->said_why, sizeof(p->said_why), str_of(r->text));
		return;
	}
	f = find_flight(e, r->id);
	if (f == NULL || f->program != p)
		return;
	f->result.cpu_ms = r->cpu_ms;
	finish(e, f, r->error, r->text);
}

/* -1: it has ended, or says what nobody understands. */
static int listen_to(struct convert_engine *e, struct convert_program *p)
{
	struct convert_reply r;

	for (;;) {
		ssize_t n = recv(p->socket, &r, sizeof(r), MSG_DONTWAIT);

		if (n == (ssize_t)sizeof(r))
			take_reply(e, p, &r);
		else if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		else
			return -1;
	}
}

static void hear(struct convert_engine *e, struct convert_program *p)
{
	struct err err = { 0 };
	bool was_current = !p->retiring;

	if (listen_to(e, p) == 0) {
		if (p->retiring && p->running == 0)
			bury(e, p, DOCUMENT_WORKER_FAILED, "renewed");
		return;
	}
	bury(e, p, DOCUMENT_WORKER_FAILED, "LibreOffice crashed and was started again");
	if (was_current && e->stillborn < STILLBORN_MAX && begin(e, &err) < 0)
		str_copy(e->why, sizeof(e->why), str_of(err.text));
}

static void end_overdue(struct convert_engine *e)
{
	int64_t now = clock_mono_ms();
	uint64_t count;

	(void)!read(e->timer, &count, sizeof(count));
	for (unsigned i = 0; i < e->slots; i++) {
		struct convert_flight *f = &e->flights[i];
		struct err err = { 0 };

		if (f->state != CONVERT_FLIGHT_RUNS || f->deadline + GRACE_MS > now)
			continue;
		bury(e, f->program, DOCUMENT_WORKER_FAILED, "the converter hung and was started again");
		if (current(e) == NULL && begin(e, &err) < 0)
			str_copy(e->why, sizeof(e->why), str_of(err.text));
	}
	arm(e);
}

static int engine_next(void *engine, struct document_result *ret)
{
	struct convert_engine *e = engine;
	struct epoll_event events[8];
	uint64_t count;
	int n;

	(void)!read(e->wake, &count, sizeof(count));
	n = epoll_wait(e->epoll, events, ARRAY_LEN(events), 0);
	for (int i = 0; i < n; i++) {
		if (events[i].data.ptr == &e->timer)
			end_overdue(e);
		else if (events[i].data.ptr != &e->wake &&
			 ((struct convert_program *)events[i].data.ptr)->used)
			hear(e, events[i].data.ptr);
	}
	if (take_result(e, ret)) {
		wake(e); /* there may be more, here or at a program */
		return 1;
	}
	if (current(e) != NULL)
		return 0;
	LOG(LOG_ERROR, NULL, "converter-gone", F_STR("why", e->why));
	return -1;
}

/* --- documents ---------------------------------------------------------------------------- */

static struct convert_flight *free_flight(struct convert_engine *e)
{
	for (unsigned i = 0; i < e->slots; i++)
		if (e->flights[i].state == CONVERT_FLIGHT_FREE)
			return &e->flights[i];
	return NULL;
}

/* The other way can do less: no commands, and no format that is made of another. */
static enum convert_way choose_way(const struct document_task *t, const struct convert_order *o)
{
	enum convert_finish finish = convert_format_of(o->format)->finish;
	bool simple = !o->update_fields && !o->hide_changes && !o->reject_changes &&
		      (finish == CONVERT_AS_IT_IS || finish == CONVERT_WITHOUT_MACROS);

	return t->attempt > 1 && simple ? CONVERT_BY_OFFICE : CONVERT_BY_KIT;
}

static int make_request(const struct convert_engine *e, const struct document_task *t,
			struct convert_request *ret, struct err *reterr)
{
	struct convert_settings settings;
	struct convert_request r = { .kind = CONVERT_START, .id = t->id };
	const char *slash = strrchr(t->input_name, '/');

	if (convert_settings_read(t->settings, t->settings_len, &settings, reterr) < 0 ||
	    convert_order_make(&settings, t->output_name, &r.order, reterr) < 0)
		return -1;
	if (r.order.language[0] == '\0')
		memcpy(r.order.language, e->language, sizeof(r.order.language));
	r.seconds = t->seconds != 0 ? t->seconds : e->options.seconds;
	r.way = choose_way(t, &r.order);
	str_copy(r.name, sizeof(r.name), str_of(slash != NULL ? slash + 1 : t->input_name));
	*ret = r;
	return 0;
}

static int engine_submit(void *engine, const struct document_task *t, struct err *reterr)
{
	struct convert_engine *e = engine;
	struct convert_flight *f = free_flight(e);
	struct convert_request r;
	struct err why = { 0 };
	int rc;

	if (f == NULL)
		return err_raise(reterr, 50000, 16, 1, "all %u places of the converter are taken", e->slots);
	renew_if_due(e);
	if (current(e) == NULL)
		return err_raise(reterr, 50000, 16, 1, "the converter cannot be started: %s", e->why);
	rc = make_request(e, t, &r, &why);
	*f = (struct convert_flight){
		.state = CONVERT_FLIGHT_RUNS, .id = t->id, .input = t->input, .output = t->output
	};
	f->started = clock_mono_ms();
	f->deadline = INT64_MAX / 2;
	if (rc < 0) {
		finish(e, f, why.number, why.text);
		return 0;
	}
	f->deadline = f->started + (int64_t)r.seconds * 1000;
	f->program = current(e);
	f->program->running++;
	f->program->served++;
	arm(e);
	convert_program_send(f->program, &r, t->input, t->output);
	return 0;
}

static void engine_cancel(void *engine, uint64_t id)
{
	struct convert_engine *e = engine;
	struct convert_flight *f = find_flight(e, id);
	struct convert_request r = { .kind = CONVERT_CANCEL, .id = id };

	if (f != NULL)
		convert_program_send(f->program, &r, -1, -1);
}

static int engine_fd(void *engine)
{
	return ((struct convert_engine *)engine)->epoll;
}

static void engine_stop(void *engine)
{
	struct convert_engine *e = engine;

	for (size_t i = 0; i < ARRAY_LEN(e->programs); i++)
		if (e->programs[i].used) {
			e->programs[i].retiring = true;
			e->programs[i].ready = true;
			bury(e, &e->programs[i], DOCUMENT_CANCELLED, "stopped");
		}
	for (int i = 0; i < 3; i++) {
		int fd = (int[]){ e->epoll, e->timer, e->wake }[i];

		if (fd >= 0)
			close(fd);
	}
	free(e->office);
	free(e->program);
	free(e);
}

/* --- start -------------------------------------------------------------------------------- */

/* "de_DE.UTF-8" becomes "de-DE". It decides on the paper of documents that have none of their
 * own. */
static void own_language(char *ret, size_t size)
{
	static const char *const names[] = { "LC_ALL", "LC_PAPER", "LANG" };
	const char *value = NULL;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(names) && (value == NULL || value[0] == '\0'); i++)
		value = getenv(names[i]);
	n = value != NULL ? strcspn(value, ".@") : 0;
	if (n != 5 || value[2] != '_')
		n = 0;
	str_copy(ret, size, (struct str){ value, n });
	if (n != 0)
		ret[2] = '-';
}

static void defaults(struct convert_engine *e, const struct convert_options *o)
{
	struct convert_options *d = &e->options;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	*d = *o;
	if (d->slots == 0)
		d->slots = processors > 0 ? (unsigned)processors : 1;
	if (d->slots > CONVERT_SLOTS_MAX)
		d->slots = CONVERT_SLOTS_MAX;
	if (d->seconds == 0)
		d->seconds = SECONDS_DEFAULT;
	if (d->renew_after == 0)
		d->renew_after = RENEW_AFTER;
	if (d->memory == 0)
		d->memory = MEMORY_DEFAULT;
	if (d->output_max == 0)
		d->output_max = OUTPUT_DEFAULT;
	if (d->unpacked_max == 0)
		d->unpacked_max = UNPACKED_DEFAULT;
	e->slots = d->slots;
	own_language(e->language, sizeof(e->language));
}

/* The kit is in one of two libraries, as the distribution has built it. */
static bool has_library(const struct convert_engine *e, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/program/%s", e->office, name);
	return access(path, R_OK) == 0;
}

static int find_parts(struct convert_engine *e, struct err *reterr)
{
	char path[4096];

	e->office = strdup(e->options.office != NULL ? e->options.office : "/usr/lib/libreoffice");
	if (e->office == NULL)
		return err_nomem(reterr);
	if (!has_library(e, "libmergedlo.so") && !has_library(e, "libsofficeapp.so"))
		return err_raise(reterr, DOCUMENT_ENGINE_MISSING, 16, 1,
				 "LibreOffice is not in %s: sudo apt-get install libreoffice-writer",
				 e->office);
	if (!has_library(e, "libswlo.so"))
		return err_raise(reterr, DOCUMENT_ENGINE_MISSING, 16, 1,
				 "LibreOffice in %s has no Writer: sudo apt-get install libreoffice-writer",
				 e->office);
	if (e->options.program != NULL)
		snprintf(path, sizeof(path), "%s", e->options.program);
	else if (convert_find_program(path, sizeof(path), reterr) < 0)
		return -1;
	e->program = strdup(path);
	return e->program == NULL ? err_nomem(reterr) : 0;
}

static int watch(struct convert_engine *e, struct err *reterr)
{
	struct epoll_event timer = { .events = EPOLLIN, .data.ptr = &e->timer };
	struct epoll_event wake_up = { .events = EPOLLIN, .data.ptr = &e->wake };

	e->epoll = epoll_create1(EPOLL_CLOEXEC);
	e->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	e->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (e->epoll < 0 || e->timer < 0 || e->wake < 0 ||
	    epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->timer, &timer) < 0 ||
	    epoll_ctl(e->epoll, EPOLL_CTL_ADD, e->wake, &wake_up) < 0)
		return err_raise(reterr, 50000, 16, 1, "the converter cannot be waited for: %s",
				 strerror(errno));
	return 0;
}

int convert_start(const struct convert_options *options, struct document_engine *ret, struct err *reterr)
{
	static const struct document_engine_ops ops = { engine_submit, engine_fd, engine_next, engine_cancel,
							engine_stop };
	struct convert_engine *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return err_nomem(reterr);
	e->epoll = e->timer = e->wake = -1;
	defaults(e, options);
	e->fonts = convert_fonts_stamp();
	e->fonts_looked = clock_mono_ms();
	if (find_parts(e, reterr) < 0 || watch(e, reterr) < 0 || begin(e, reterr) < 0) {
		engine_stop(e);
		return -1;
	}
	*ret = (struct document_engine){ .ops = &ops, .engine = e, .slots = e->slots };
	return 0;
}
