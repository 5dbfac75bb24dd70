/* topsample.c — looks at a server's numbers, and what is between two of them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/top.h"

/* Columns of procession_stats, and of the sessions as they are asked for below. */
enum { NUMBER_NAME, NUMBER_DATABASE, NUMBER_PROCEDURE, NUMBER_LABEL, NUMBER_VALUE, NUMBER_COLUMNS };
enum {
	SESSION_NUMBER,
	SESSION_LOGIN,
	SESSION_ADDRESS,
	SESSION_PROGRAM,
	SESSION_DATABASE,
	SESSION_STATUS,
	SESSION_COMMAND,
	SESSION_SINCE,
	SESSION_REQUESTS,
	SESSION_COLUMNS
};
static const char question[] =
	"SELECT @@SERVERNAME AS server; EXEC procession_stats @buckets = 1; SELECT session_id, login_name, "
	"address, program_name, database_name, status, command, login_time, requests FROM "
	"sys.procession_sessions";

static void copy(char *dst, size_t size, const char *text)
{
	str_copy(dst, size, str_of(text == NULL ? "" : text));
}

/* ---- one look ---- */

static void *grown(void *list, size_t n, size_t size)
{
	/* twice as much whenever it is full: at powers of two */
	return (n & (n - 1)) != 0 ? list : realloc(list, (n == 0 ? 1 : 2 * n) * size);
}

static struct top_database *database_of(struct top_sample *s, const char *name)
{
	struct top_database *more;

	for (size_t i = 0; i < s->ndatabases; i++) {
		if (strcmp(s->databases[i].name, name) == 0)
			return &s->databases[i];
	}
	more = grown(s->databases, s->ndatabases, sizeof(*more));
	if (more == NULL)
		return NULL;
	s->databases = more;
	more = &s->databases[s->ndatabases++];
	*more = (struct top_database){ .up = true };
	copy(more->name, sizeof(more->name), name);
	return more;
}

/* Rows of one procedure stand together, a family at a time: it is looked for from the end. */
static struct top_procedure *procedure_of(struct top_sample *s, const char *database, const char *name)
{
	struct top_procedure *more;

	for (size_t i = s->nprocedures; i > 0; i--) {
		struct top_procedure *p = &s->procedures[i - 1];

		if (strcmp(p->name, name) == 0 && strcmp(p->database, database) == 0)
			return p;
	}
	more = grown(s->procedures, s->nprocedures, sizeof(*more));
	if (more == NULL)
		return NULL;
	s->procedures = more;
	more = &s->procedures[s->nprocedures++];
	*more = (struct top_procedure){ .calls = 0 };
	copy(more->database, sizeof(more->database), database);
	copy(more->name, sizeof(more->name), name);
	return more;
}

static void add_bucket(struct top_times *t, const char *bound, double count)
{
	if (t->n == TOP_BUCKETS || bound == NULL)
		return;
	t->bounds[t->n] = strcmp(bound, "+Inf") == 0 ? -1 : strtod(bound, NULL);
	t->counts[t->n++] = count;
}

static void take_procedure(struct top_procedure *p, const char *name, const char *label, double value)
{
	if (strcmp(name, "calls_total") == 0)
		p->calls = value;
	else if (strcmp(name, "call_errors_total") == 0)
		p->errors = value;
	else if (strcmp(name, "call_run_seconds_sum") == 0)
		p->run_s = value;
	else if (strcmp(name, "call_run_seconds_bucket") == 0)
		add_bucket(&p->ran, label, value);
	else if (strcmp(name, "call_queue_seconds_bucket") == 0)
		add_bucket(&p->waited, label, value);
}

static void take_jobs(struct top_database *d, const char *of, const char *state, double value)
{
	if (state == NULL || d->njobs == TOP_STATES)
		return;
	d->jobs_of = of;
	copy(d->jobs[d->njobs].name, sizeof(d->jobs[0].name), state);
	d->jobs[d->njobs++].n = value;
}

static void take_database(struct top_database *d, const char *name, const char *label, double value)
{
	if (strcmp(name, "database_up") == 0)
		d->up = value != 0;
	else if (strcmp(name, "queue_length") == 0)
		d->queue = value;
	else if (strcmp(name, "transactions_open") == 0)
		d->transactions = value;
	else if (strcmp(name, "database_file_bytes") == 0)
		d->file_bytes = value;
	else if (strcmp(name, "wal_bytes") == 0)
		d->log_bytes = value;
	else if (strcmp(name, "job_items") == 0)
		take_jobs(d, "documents", label, value);
	else if (strcmp(name, "scheduled_jobs") == 0)
		take_jobs(d, "scheduled_jobs", label, value);
	else if (strcmp(name, "state_items") == 0)
		d->items = value, d->has_items = true;
	else if (strcmp(name, "state_bytes") == 0)
		d->bytes = value;
	else if (strcmp(name, "state_locks") == 0)
		d->locks = value;
}

static void take_labelled(struct top_sample *s, const char *name, const char *label, double value)
{
	if (strcmp(name, "build_info") == 0)
		copy(s->version, sizeof(s->version), label);
	else if (strcmp(name, "sessions") == 0)
		*(strcmp(label, "idle") == 0      ? &s->idle
		  : strcmp(label, "running") == 0 ? &s->running
						  : &s->logging_in) = value;
	else if (strcmp(name, "logins_total") == 0)
		*(strcmp(label, "accepted") == 0 ? &s->logins : &s->refused) += value;
}

static void take_server(struct top_sample *s, const char *name, double value)
{
	const struct {
		const char *name;
		double *field;
	} fields[] = {
		{ "uptime_seconds", &s->uptime_s },
		{ "connections", &s->connections },
		{ "connections_limit", &s->connections_limit },
		{ "memory_used_bytes", &s->memory },
		{ "memory_limit_bytes", &s->memory_limit },
		{ "received_bytes_total", &s->received },
		{ "sent_bytes_total", &s->sent },
		{ "process_cpu_seconds_total", &s->cpu_s },
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (strcmp(fields[i].name, name) == 0)
			*fields[i].field = value;
	}
}

static bool take_number(struct top_sample *s, char *const *cells)
{
	const char *name = cells[NUMBER_NAME] == NULL ? "" : cells[NUMBER_NAME];
	const char *database = cells[NUMBER_DATABASE], *label = cells[NUMBER_LABEL];
	double value = cells[NUMBER_VALUE] == NULL ? 0 : strtod(cells[NUMBER_VALUE], NULL);

	if (strncmp(name, "procession_", 11) == 0)
		name += 11;
	if (database != NULL && cells[NUMBER_PROCEDURE] != NULL) {
		struct top_procedure *p = procedure_of(s, database, cells[NUMBER_PROCEDURE]);

		if (p != NULL)
			take_procedure(p, name, label, value);
		return p != NULL;
	}
	if (database != NULL) {
		struct top_database *d = database_of(s, database);

		if (d != NULL)
			take_database(d, name, label, value);
		return d != NULL;
	}
	if (label != NULL)
		take_labelled(s, name, label, value);
	else
		take_server(s, name, value);
	return true;
}

static bool take_session(struct top_sample *s, char *const *cells)
{
	struct top_session *more = grown(s->sessions, s->nsessions, sizeof(*more));

	if (more == NULL)
		return false;
	s->sessions = more;
	more = &s->sessions[s->nsessions++];
	*more = (struct top_session){ .number = strtol(cells[SESSION_NUMBER], NULL, 10) };
	copy(more->login, sizeof(more->login), cells[SESSION_LOGIN]);
	copy(more->address, sizeof(more->address), cells[SESSION_ADDRESS]);
	copy(more->program, sizeof(more->program), cells[SESSION_PROGRAM]);
	copy(more->database, sizeof(more->database), cells[SESSION_DATABASE]);
	copy(more->status, sizeof(more->status), cells[SESSION_STATUS]);
	copy(more->command, sizeof(more->command), cells[SESSION_COMMAND]);
	copy(more->since, sizeof(more->since), cells[SESSION_SINCE]);
	more->requests = cells[SESSION_REQUESTS] == NULL ? 0 : strtod(cells[SESSION_REQUESTS], NULL);
	return true;
}

static int take_all(struct top_sample *s, const struct client_result *r, struct err *reterr)
{
	const struct client_table *t = r->tables;
	bool ok = true;

	if (r->ntables < 3 || t[0].nrows == 0 || t[1].ncols != NUMBER_COLUMNS ||
	    t[2].ncols != SESSION_COLUMNS)
		return err_raise(reterr, 50000, 16, 1,
				 "the server gave numbers that this program does not know");
	copy(s->server, sizeof(s->server), t[0].cells[0]);
	for (size_t i = 0; ok && i < t[1].nrows; i++)
		ok = take_number(s, t[1].cells + i * NUMBER_COLUMNS);
	for (size_t i = 0; ok && i < t[2].nrows; i++)
		ok = take_session(s, t[2].cells + i * SESSION_COLUMNS);
	return ok ? 0 : err_nomem(reterr);
}

int cli_top_look(struct client *c, struct top_sample *ret, struct err *reterr)
{
	struct client_result r;
	int rc = client_batch(c, question, &r, reterr);

	*ret = (struct top_sample){ .uptime_s = 0 };
	if (rc == 0)
		rc = take_all(ret, &r, reterr);
	client_result_fini(&r);
	/* the server says which procedure; here is what helps */
	if (rc < 0 && reterr->number == ERR_PERMISSION_NUMBER)
		rc = err_raise(
			reterr, ERR_PERMISSION_NUMBER, 14, 1,
			"top needs the right monitor: an administrator grants it by procession grant LOGIN "
			"master monitor");
	return rc;
}

void cli_top_sample_fini(struct top_sample *s)
{
	free(s->procedures);
	free(s->databases);
	free(s->sessions);
	*s = (struct top_sample){ .uptime_s = 0 };
}

/* ---- two looks ---- */

static void subtract_times(struct top_times *t, const struct top_times *before)
{
	for (size_t i = 0; before != NULL && i < t->n && i < before->n; i++)
		t->counts[i] -= before->counts[i];
}

static void add_times(struct top_times *sum, const struct top_times *t)
{
	if (sum->n == 0)
		*sum = (struct top_times){ .n = 0 };
	for (size_t i = 0; i < t->n; i++) {
		if (i >= sum->n)
			sum->bounds[sum->n++] = t->bounds[i];
		sum->counts[i] += t->counts[i];
	}
}

double cli_top_quantile_ms(const struct top_times *t, double part)
{
	double all = t->n == 0 ? 0 : t->counts[t->n - 1], rank = part * all;

	if (all <= 0)
		return -1;
	for (size_t i = 0; i < t->n; i++) {
		double below = i == 0 ? 0 : t->counts[i - 1], low = i == 0 ? 0 : t->bounds[i - 1];

		if (t->bounds[i] < 0) /* above the last bound: that bound */
			return low * 1e3;
		if (t->counts[i] > below && t->counts[i] >= rank)
			return (low + (t->bounds[i] - low) * (rank - below) / (t->counts[i] - below)) * 1e3;
	}
	return t->bounds[t->n - 1] * 1e3;
}

static const struct top_procedure *procedure_before(const struct top_sample *s, const struct top_procedure *p)
{
	for (size_t i = 0; i < s->nprocedures; i++) {
		const struct top_procedure *b = &s->procedures[i];

		if (strcmp(b->name, p->name) == 0 && strcmp(b->database, p->database) == 0)
			return b;
	}
	return NULL;
}

static void compare_procedure(struct top_sample *now, struct top_procedure *p, const struct top_procedure *b)
{
	struct top_database *d = database_of(now, p->database);

	assert(now->elapsed_s > 0);
	p->calls = (p->calls - (b == NULL ? 0 : b->calls)) / now->elapsed_s;
	p->errors = (p->errors - (b == NULL ? 0 : b->errors)) / now->elapsed_s;
	p->run_s = (p->run_s - (b == NULL ? 0 : b->run_s)) / now->elapsed_s;
	subtract_times(&p->waited, b == NULL ? NULL : &b->waited);
	subtract_times(&p->ran, b == NULL ? NULL : &b->ran);
	now->calls += p->calls;
	now->errors += p->errors;
	add_times(&now->waited, &p->waited);
	add_times(&now->ran, &p->ran);
	if (d != NULL) {
		d->calls += p->calls;
		add_times(&d->ran, &p->ran);
	}
}

static void compare_session(const struct top_sample *before, struct top_session *s, double elapsed_s)
{
	for (size_t i = 0; i < before->nsessions; i++) {
		const struct top_session *b = &before->sessions[i];

		if (b->number == s->number && strcmp(b->since, s->since) == 0)
			s->requests -= b->requests;
	}
	s->requests /= elapsed_s;
}

static int slowest_first(const void *a, const void *b)
{
	const struct top_procedure *p = a, *q = b;
	double x = cli_top_quantile_ms(&p->ran, 0.99), y = cli_top_quantile_ms(&q->ran, 0.99);

	if ((p->calls > 0) != (q->calls > 0)) /* calls that failed before they ran have no time */
		return p->calls > 0 ? -1 : 1;
	if (x != y)
		return x < y ? 1 : -1;
	return p->run_s < q->run_s ? 1 : p->run_s > q->run_s ? -1 : strcmp(p->name, q->name);
}

static int busiest_first(const void *a, const void *b)
{
	const struct top_session *s = a, *t = b;

	if (s->requests != t->requests)
		return s->requests < t->requests ? 1 : -1;
	return s->number < t->number ? -1 : s->number > t->number;
}

/* Those without calls stand at the end. */
static void leave_out_silent(struct top_sample *s)
{
	while (s->nprocedures > 0 && s->procedures[s->nprocedures - 1].calls <= 0)
		s->nprocedures--;
}

static bool copy_list(void **ret, const void *list, size_t n, size_t size)
{
	/* as much room as grown() has made: it may be added to */
	size_t room = 1;

	while (room < n)
		room *= 2;
	*ret = calloc(room, size);
	if (*ret == NULL)
		return false;
	if (n > 0)
		memcpy(*ret, list, n * size);
	return true;
}

static int copy_sample(const struct top_sample *s, struct top_sample *ret, struct err *reterr)
{
	bool ok;

	*ret = *s;
	ret->procedures = NULL;
	ret->databases = NULL;
	ret->sessions = NULL;
	ok = copy_list((void **)&ret->procedures, s->procedures, s->nprocedures, sizeof(*s->procedures)) &&
	     copy_list((void **)&ret->databases, s->databases, s->ndatabases, sizeof(*s->databases)) &&
	     copy_list((void **)&ret->sessions, s->sessions, s->nsessions, sizeof(*s->sessions));
	return ok ? 0 : err_nomem(reterr);
}

/* A server that has started anew in between counts from 0: its whole time is the time between. */
int cli_top_compare(const struct top_sample *before, const struct top_sample *after, struct top_sample *ret,
		    struct err *reterr)
{
	static const struct top_sample nothing = { .uptime_s = 0 };
	struct top_sample *now = ret;

	if (copy_sample(after, ret, reterr) < 0)
		return -1;
	if (now->uptime_s <= before->uptime_s)
		before = &nothing;
	now->elapsed_s = now->uptime_s - before->uptime_s;
	if (now->elapsed_s <= 0)
		now->elapsed_s = 1e-3;
	now->received = (now->received - before->received) / now->elapsed_s;
	now->sent = (now->sent - before->sent) / now->elapsed_s;
	now->cpu_s = (now->cpu_s - before->cpu_s) / now->elapsed_s;
	now->logins = (now->logins - before->logins) / now->elapsed_s;
	now->refused = (now->refused - before->refused) / now->elapsed_s;
	for (size_t i = 0; i < now->nprocedures; i++)
		compare_procedure(now, &now->procedures[i], procedure_before(before, &now->procedures[i]));
	for (size_t i = 0; i < now->ndatabases; i++)
		now->queue += now->databases[i].queue;
	for (size_t i = 0; i < now->nsessions; i++)
		compare_session(before, &now->sessions[i], now->elapsed_s);
	if (now->nprocedures > 0)
		qsort(now->procedures, now->nprocedures, sizeof(*now->procedures), slowest_first);
	if (now->nsessions > 0)
		qsort(now->sessions, now->nsessions, sizeof(*now->sessions), busiest_first);
	leave_out_silent(now);
	return 0;
}
