/* oneshot.c — see oneshot.h. */
#include "daemon/oneshot.h"

#include <pthread.h>

#include "catalogue/catalogue.h"

struct oneshot {
	struct call call;
	struct sink sink;
	struct arena arena;
	uint64_t rows;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool done;
};

static int count_columns(struct sink *s, const struct column *c, size_t n)
{
	(void)s, (void)c, (void)n;
	return 0;
}

static int count_row(struct sink *s, const struct value *v, size_t n)
{
	(void)v, (void)n;
	CONTAINER_OF(s, struct oneshot, sink)->rows++;
	return 0;
}

static int count_done(struct sink *s, uint64_t rows)
{
	(void)s, (void)rows;
	return 0;
}

static int count_message(struct sink *s, const struct err *e)
{
	(void)s, (void)e;
	return 0;
}

static size_t count_mark(struct sink *s)
{
	return (size_t)CONTAINER_OF(s, struct oneshot, sink)->rows;
}

static bool count_rewind(struct sink *s, size_t mark)
{
	CONTAINER_OF(s, struct oneshot, sink)->rows = mark;
	return true;
}

static const struct sink_ops count_ops = {
	.columns = count_columns,
	.row = count_row,
	.rows_done = count_done,
	.message = count_message,
	.mark = count_mark,
	.rewind = count_rewind,
};

static void completed(struct call *c)
{
	struct oneshot *o = c->owner;

	pthread_mutex_lock(&o->lock);
	o->done = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
}

static int run(struct oneshot *o, struct executor *ex, const struct argument *args, size_t nargs,
	       struct err *reterr)
{
	int *origin;

	if (catalogue_admit(&o->call, args, nargs, false, &origin, reterr) < 0)
		return -1;
	executor_submit(ex, &o->call);
	pthread_mutex_lock(&o->lock);
	while (!o->done)
		pthread_cond_wait(&o->wake, &o->lock);
	pthread_mutex_unlock(&o->lock);
	if (o->call.rc < 0)
		*reterr = o->call.err;
	return o->call.rc;
}

int oneshot_call(struct databases *dbs, struct database *db, const char *proc, const struct argument *args,
		 size_t nargs, struct oneshot_result *ret, struct err *reterr)
{
	struct oneshot o = { .sink = { &count_ops },
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .wake = PTHREAD_COND_INITIALIZER };
	const struct proc *p = catalogue_find(db->service, (struct str){ "", 0 }, str_of(proc));
	struct executor *ex;
	int rc;

	if (p == NULL)
		return err_set(reterr, ERR_NO_PROC, proc);
	ex = p->service == SERVICE_SYSTEM ? databases_system(dbs)->executor : db->executor;
	if (ex == NULL)
		return err_set(reterr, ERR_NOT_SERVED, db->name);
	arena_init(&o.arena, 16u << 20);
	o.call = (struct call){ .kind = CALL_PROC,
				.proc = p,
				.arena = &o.arena,
				.sink = &o.sink,
				.rights = RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN | RIGHT_SERVER,
				.login = "procession",
				.database = db->name,
				.lock_timeout_ms = -1,
				.complete = completed,
				.owner = &o };
	rc = run(&o, ex, args, nargs, reterr);
	if (rc == 0 && ret != NULL)
		*ret = (struct oneshot_result){ .rows = o.rows, .status = o.call.status };
	arena_fini(&o.arena);
	return rc;
}
