/* mover.h — the move of a database from one engine to the other, for `procession database move`: a
 * thread of its own, which anybody may look at, one at a time. Whoever looks keeps it going: one
 * that nobody has looked at for ten seconds is broken off, since its command is gone. */
#ifndef DAEMON_MOVER_H
#define DAEMON_MOVER_H

#include "databases/databases.h"

struct mover_thread;

#define MOVER_ID 33

enum mover_state { MOVER_NONE, MOVER_RUNS, MOVER_DONE, MOVER_FAILED };
const char *daemon_mover_state_name(enum mover_state s);
const char *daemon_mover_phase_name(enum databases_moving p);

struct mover_view {
	char id[MOVER_ID], name[129], to[16];
	enum mover_state state;
	enum databases_moving phase;
	uint64_t rows, total, bytes, changed;
	int64_t seconds, held_ms;
	char note[600];
	char reason[1024];
};

MUST_CHECK int daemon_mover_new(struct databases *dbs, struct mover_thread **ret, struct err *reterr);
/* Breaks off what runs. Before the databases close. NULL is welcome. */
void daemon_mover_free(struct mover_thread *m);
/* All of these are thread-safe. */
MUST_CHECK int daemon_mover_begin(struct mover_thread *m, struct str name, struct str to,
				  char ret_id[MOVER_ID], struct err *reterr);
/* False: there was none. */
bool daemon_mover_look(struct mover_thread *m, struct mover_view *ret);
void daemon_mover_end(struct mover_thread *m, struct str id);

#endif
