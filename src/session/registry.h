/* registry.h — the sessions of a server: gives each its number (SPID) and lists those that are
 * logged in, for sp_who. One lock guards the list and the texts that entries point to; what a
 * session does is an atomic of its own, so that a request takes no lock. */
#ifndef SESSION_REGISTRY_H
#define SESSION_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/str.h"

#define SPID_FIRST 51   /* below are SQL Server's own */
#define SPID_LAST 32767 /* @@SPID is a smallint */

/* What a session does, as sp_who names it in its column cmd. */
enum activity {
	ACTIVITY_IDLE,
	ACTIVITY_BATCH,
	ACTIVITY_EXECUTE,
	ACTIVITY_SELECT,
	ACTIVITY_COMMIT,
	ACTIVITY_ROLLBACK,
	ACTIVITY_SAVE,
	ACTIVITY_WAITFOR
};
const char *session_activity_name(enum activity a);

struct registry {
	struct lock lock;
	struct list entries;
	uint8_t used[SPID_LAST / 8 + 1];
	uint16_t next;   /* where the search for a free number begins */
	uint64_t added;  /* since the start */
	int64_t started; /* when that was, in ticks */
	unsigned open;   /* numbers in use */
};

/* Part of a session. */
struct registry_entry {
	struct list link;
	uint16_t spid;
	bool shown;            /* under the lock: it has logged in */
	atomic_uchar activity; /* enum activity; written by the session's loop */
	bool killed;           /* under the lock: kill was called */
	/* ends the session, from any thread and soon; called under the lock, once */
	void (*kill)(struct registry_entry *e);
	/* the session's; changed by session_registry_text only, once it is shown */
	const char *login, *host, *program, *database, *address, *scheme;
	uint32_t process; /* of the client, as it says */
	bool encrypted;
	int64_t login_time;        /* ticks; under the lock */
	atomic_llong last_request; /* ticks; written by the session's loop, without the lock */
	atomic_ullong requests;    /* that it has made; the same */
};

struct registry_row {
	uint16_t spid;
	enum activity activity;
	const char *login, *host, *program, *database, *address, *scheme; /* copies in the arena */
	uint32_t process;
	bool encrypted;
	int64_t login_time, last_request; /* ticks */
	uint64_t requests;
};

void session_registry_init(struct registry *r);
void session_registry_fini(struct registry *r);
/* Before the first session: numbers are given from somewhere else on, chosen by a random number. */
void session_registry_begin(struct registry *r, uint16_t random);
/* Gives the entry a number that no other has. They are given in turn, so that one that has just
 * become free is not met again in the next lines of the log. False: all are taken. */
MUST_CHECK bool session_registry_add(struct registry *r, struct registry_entry *e);
/* True: kill was called, so that its consequence is still on its way to the session. */
bool session_registry_remove(struct registry *r, struct registry_entry *e);
/* KILL. False: nobody of that number is logged in. */
MUST_CHECK bool session_registry_kill(struct registry *r, uint16_t spid);
/* The same for all sessions of a login, by its name without regard to case. */
void session_registry_kill_login(struct registry *r, const char *login);
/* And for all that are in a database. */
void session_registry_kill_database(struct registry *r, const char *database);
void session_registry_show(struct registry *r, struct registry_entry *e);
/* Changes a text that an entry points to. */
void session_registry_text(struct registry *r, char *dst, size_t size, struct str text);
uint64_t session_registry_added(struct registry *r);
/* How many are in which state: not logged in yet, waiting for their client, at work. */
enum registry_state { REGISTRY_LOGIN, REGISTRY_IDLE, REGISTRY_RUNNING, REGISTRY_STATES };
void session_registry_count(struct registry *r, unsigned ret[REGISTRY_STATES]);
/* The shown ones by number; only: this one, or 0 for all. Thread-safe. */
MUST_CHECK int session_registry_list(struct registry *r, uint16_t only, struct arena *a,
				     struct registry_row **ret, size_t *ret_n, struct err *reterr);

static inline void session_registry_doing(struct registry_entry *e, enum activity a)
{
	atomic_store_explicit(&e->activity, (unsigned char)a, memory_order_relaxed);
}

/* A request begins now. */
static inline void session_registry_request(struct registry_entry *e, int64_t ticks)
{
	atomic_store_explicit(&e->last_request, ticks, memory_order_relaxed);
	atomic_store_explicit(&e->requests, atomic_load_explicit(&e->requests, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

#endif
