/* reports.c — see reports.h. */
#include "scheduler/reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/str.h"

#define REPORTS_MOST 1000u
#define ATTEMPTS 3u

struct report {
	struct list link;
	char *id, *name;
	char outcome[33];
	struct job_run run;
	unsigned attempts;
};

struct reports {
	struct lock lock;
	struct list all; /* under the lock: the oldest first */
	unsigned n;      /* under the lock */
	int fd;
	bool unknown; /* of the thread that delivers: the server has no such procedure, or not for us */
	char host[65];
};

static void report_free(struct report *p)
{
	free(p->id);
	free(p->name);
	free(p);
}

struct reports *scheduler_reports_new(void)
{
	struct reports *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	lock_init(&r->lock);
	list_init(&r->all);
	(void)gethostname(r->host, sizeof(r->host) - 1);
	r->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->fd >= 0)
		return r;
	scheduler_reports_free(r);
	return NULL;
}

/* Under the lock. The first one, which is the caller's from then on; NULL: there is none. */
static struct report *take_first(struct reports *r)
{
	struct report *p;

	assert(lock_is_mine(&r->lock));
	if (list_empty(&r->all))
		return NULL;
	p = CONTAINER_OF(r->all.next, struct report, link);
	list_remove(&p->link);
	r->n--;
	return p;
}

static struct report *first(struct reports *r)
{
	struct report *p;

	lock_take(&r->lock);
	p = take_first(r);
	lock_give(&r->lock);
	return p;
}

void scheduler_reports_free(struct reports *r)
{
	struct report *p;

	if (r == NULL)
		return;
	while ((p = first(r)) != NULL)
		report_free(p);
	if (r->fd >= 0)
		close(r->fd);
	lock_fini(&r->lock);
	free(r);
}

void scheduler_reports_add(struct reports *r, const struct job_row *job, const struct job_run *run)
{
	struct report *p = calloc(1, sizeof(*p)), *oldest = NULL;
	uint64_t one = 1;

	if (p == NULL)
		return;
	p->id = strdup(job->id);
	p->name = job->display_name != NULL ? strdup(job->display_name) : NULL;
	if (p->id == NULL) {
		report_free(p);
		return;
	}
	p->run = *run;
	str_copy(p->outcome, sizeof(p->outcome), str_of(run->outcome));
	p->run.outcome = p->outcome;
	lock_take(&r->lock);
	if (r->n == REPORTS_MOST)
		oldest = take_first(r);
	list_append(&r->all, &p->link);
	r->n++;
	lock_give(&r->lock);
	if (oldest != NULL)
		report_free(oldest);
	if (write(r->fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		LOG(LOG_ERROR, NULL, "wake", F_STR("why", strerror(errno)));
}

/* It is the first to be tried again, unless it was tried often enough. */
static void put_back(struct reports *r, struct report *p, const struct err *e)
{
	if (++p->attempts >= ATTEMPTS) {
		LOG(LOG_WARN, NULL, "run-not-reported", F_STR("job", p->id), F_STR("why", e->text));
		report_free(p);
		return;
	}
	lock_take(&r->lock);
	list_append(r->all.next, &p->link); /* before the first */
	r->n++;
	lock_give(&r->lock);
}

static bool is_unknown(const struct err *e)
{
	return e->number == ERR_NO_PROC_NUMBER || e->number == ERR_PERMISSION_NUMBER;
}

int scheduler_reports_deliver(struct reports *r, struct client *c)
{
	struct report *p;

	while ((p = first(r)) != NULL) {
		struct err e = { 0 };
		int rc = r->unknown ? 0 : scheduler_jobs_ran(c, p->id, p->name, &p->run, r->host, &e);

		if (rc == -1 && is_unknown(&e)) {
			r->unknown = true;
			LOG(LOG_INFO, NULL, "runs-not-reported", F_STR("why", e.text),
			    F_STR("effect", "the server does not know the last runs; the history does"));
		} else if (rc == -1) {
			put_back(r, p, &e);
			return -1;
		}
		report_free(p);
	}
	return 0;
}

int scheduler_reports_fd(const struct reports *r)
{
	return r->fd;
}
