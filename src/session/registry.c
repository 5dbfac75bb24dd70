/* registry.c — see registry.h. */
#include "session/registry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

const char *session_activity_name(enum activity a)
{
	static const char *const names[] = {
		[ACTIVITY_IDLE] = "AWAITING COMMAND",
		[ACTIVITY_BATCH] = "BATCH",
		[ACTIVITY_EXECUTE] = "EXECUTE",
		[ACTIVITY_SELECT] = "SELECT",
		[ACTIVITY_COMMIT] = "COMMIT",
		[ACTIVITY_ROLLBACK] = "ROLLBACK",
		[ACTIVITY_SAVE] = "SAVE",
		[ACTIVITY_WAITFOR] = "WAITFOR",
	};
	return names[a];
}

void session_registry_init(struct registry *r)
{
	memset(r, 0, sizeof(*r));
	lock_init(&r->lock);
	list_init(&r->entries);
	r->next = SPID_FIRST;
	r->started = clock_ticks();
}

void session_registry_begin(struct registry *r, uint16_t random)
{
	assert(r->open == 0);
	r->next = (uint16_t)(SPID_FIRST + random % (SPID_LAST - SPID_FIRST + 1));
}

void session_registry_fini(struct registry *r)
{
	lock_fini(&r->lock);
}

static bool is_used(const struct registry *r, unsigned spid)
{
	return (r->used[spid / 8] & 1u << spid % 8) != 0;
}

static unsigned after(unsigned spid)
{
	return spid == SPID_LAST ? SPID_FIRST : spid + 1;
}

/* From r->next on, once around; 0: none. */
static unsigned free_number(const struct registry *r)
{
	unsigned spid = r->next;

	assert(lock_is_mine(&r->lock));
	for (unsigned n = SPID_LAST - SPID_FIRST + 1; n > 0; n--, spid = after(spid)) {
		if (!is_used(r, spid))
			return spid;
	}
	return 0;
}

bool session_registry_add(struct registry *r, struct registry_entry *e)
{
	unsigned spid;

	lock_take(&r->lock);
	spid = free_number(r);
	assert(spid == 0 || !is_used(r, spid));
	if (spid != 0) {
		r->used[spid / 8] |= (uint8_t)(1u << spid % 8);
		r->next = (uint16_t)after(spid);
		r->added++;
		r->open++;
		e->spid = (uint16_t)spid;
		list_append(&r->entries, &e->link);
	}
	lock_give(&r->lock);
	return spid != 0;
}

bool session_registry_remove(struct registry *r, struct registry_entry *e)
{
	bool killed;

	lock_take(&r->lock);
	list_remove(&e->link);
	assert(r->open > 0 && is_used(r, e->spid));
	r->open--;
	r->used[e->spid / 8] &= (uint8_t) ~(1u << e->spid % 8);
	killed = e->killed;
	lock_give(&r->lock);
	return killed;
}

/* Under the lock. */
static void kill_once(struct registry_entry *e)
{
	if (!e->killed && e->kill != NULL) {
		e->killed = true;
		e->kill(e);
	}
}

void session_registry_kill_login(struct registry *r, const char *login)
{
	lock_take(&r->lock);
	LIST_EACH (it, &r->entries) {
		struct registry_entry *e = CONTAINER_OF(it, struct registry_entry, link);

		if (e->shown && str_eq_nocase(str_of(e->login), str_of(login)))
			kill_once(e);
	}
	lock_give(&r->lock);
}

void session_registry_kill_database(struct registry *r, const char *database)
{
	lock_take(&r->lock);
	LIST_EACH (it, &r->entries) {
		struct registry_entry *e = CONTAINER_OF(it, struct registry_entry, link);

		if (e->shown && str_eq_nocase(str_of(e->database), str_of(database)))
			kill_once(e);
	}
	lock_give(&r->lock);
}

bool session_registry_kill(struct registry *r, uint16_t spid)
{
	bool found = false;

	lock_take(&r->lock);
	LIST_EACH (it, &r->entries) {
		struct registry_entry *e = CONTAINER_OF(it, struct registry_entry, link);

		if (!e->shown || e->spid != spid)
			continue;
		found = true;
		kill_once(e);
		break;
	}
	lock_give(&r->lock);
	return found;
}

void session_registry_show(struct registry *r, struct registry_entry *e)
{
	lock_take(&r->lock);
	e->shown = true;
	e->login_time = clock_ticks();
	atomic_store(&e->last_request, e->login_time);
	lock_give(&r->lock);
}

void session_registry_text(struct registry *r, char *dst, size_t size, struct str text)
{
	lock_take(&r->lock);
	str_copy(dst, size, text);
	lock_give(&r->lock);
}

uint64_t session_registry_added(struct registry *r)
{
	uint64_t n;

	lock_take(&r->lock);
	n = r->added;
	lock_give(&r->lock);
	return n;
}

static enum registry_state state_of(const struct registry_entry *e)
{
	if (!e->shown)
		return REGISTRY_LOGIN;
	return atomic_load_explicit(&e->activity, memory_order_relaxed) == ACTIVITY_IDLE ? REGISTRY_IDLE
											 : REGISTRY_RUNNING;
}

void session_registry_count(struct registry *r, unsigned ret[REGISTRY_STATES])
{
	memset(ret, 0, REGISTRY_STATES * sizeof(*ret));
	lock_take(&r->lock);
	LIST_EACH (it, &r->entries)
		ret[state_of(CONTAINER_OF(it, struct registry_entry, link))]++;
	lock_give(&r->lock);
}

/* ---- the list ---- */

static bool is_wanted(const struct registry_entry *e, uint16_t only)
{
	return e->shown && (only == 0 || e->spid == only);
}

static const char *copy(struct arena *a, const char *text)
{
	return text == NULL ? "" : arena_strndup(a, text, strlen(text));
}

static int copy_row(const struct registry_entry *e, struct arena *a, struct registry_row *ret)
{
	*ret = (struct registry_row){
		.spid = e->spid,
		.activity = (enum activity)atomic_load_explicit(&e->activity, memory_order_relaxed),
		.login = copy(a, e->login),
		.host = copy(a, e->host),
		.database = copy(a, e->database),
		.program = copy(a, e->program),
		.address = copy(a, e->address),
		.scheme = copy(a, e->scheme),
		.process = e->process,
		.encrypted = e->encrypted,
		.login_time = e->login_time,
		.last_request = atomic_load_explicit(&e->last_request, memory_order_relaxed),
		.requests = atomic_load_explicit(&e->requests, memory_order_relaxed)
	};
	return ret->login == NULL || ret->host == NULL || ret->database == NULL || ret->program == NULL ||
			       ret->address == NULL || ret->scheme == NULL
		       ? -1
		       : 0;
}

/* Under the lock. */
static int copy_all(struct registry *r, uint16_t only, struct arena *a, struct registry_row **ret,
		    size_t *ret_n)
{
	size_t n = 0, i = 0;

	assert(lock_is_mine(&r->lock));
	LIST_EACH (it, &r->entries)
		n += is_wanted(CONTAINER_OF(it, struct registry_entry, link), only);
	*ret = arena_array(a, n, sizeof(**ret));
	*ret_n = n;
	if (*ret == NULL)
		return -1;
	LIST_EACH (it, &r->entries) {
		const struct registry_entry *e = CONTAINER_OF(it, struct registry_entry, link);

		if (is_wanted(e, only) && copy_row(e, a, &(*ret)[i++]) < 0)
			return -1;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct registry_row *x = a, *y = b;

	return (x->spid > y->spid) - (x->spid < y->spid);
}

int session_registry_list(struct registry *r, uint16_t only, struct arena *a, struct registry_row **ret,
			  size_t *ret_n, struct err *reterr)
{
	int rc;

	lock_take(&r->lock);
	rc = copy_all(r, only, a, ret, ret_n);
	lock_give(&r->lock);
	if (rc < 0)
		return err_nomem(reterr);
	qsort(*ret, *ret_n, sizeof(**ret), by_number);
	return 0;
}
