/* jail_int.h — what is prepared outside for the moments between clone and exec, in which there
 * are system calls only. */
#ifndef JAIL_JAIL_INT_H
#define JAIL_JAIL_INT_H

#include <linux/filter.h>

#include "jail/jail.h"

struct jail_filter {
	struct sock_fprog program; /* its instructions are owned */
	bool may_execute;
};

/* The filter of one that may execute, with sockets of the network or without. */
MUST_CHECK int jail_filter_make(bool may_execute, bool network, struct jail_filter **ret, struct err *reterr);

enum jail_kind { JAIL_BIND, JAIL_DEVICE, JAIL_LINK };

/* One thing in the new root. */
struct jail_entry {
	enum jail_kind kind;
	char *source; /* owned; of a link: what it says */
	char *target; /* owned; relative to the new root */
	bool folder;
	int tree; /* in the child: the detached mount */
};

#define JAIL_ENTRIES_MAX 64

struct jail_plan {
	struct jail_entry entries[JAIL_ENTRIES_MAX];
	size_t n;
	char tmp_options[64];
};

MUST_CHECK int jail_plan_make(struct jail_plan *p, const struct jail_spec *spec, struct err *reterr);
void jail_plan_free(struct jail_plan *p);
/* In the child, in its new namespaces: makes the root of the plan and enters it. Returns NULL,
 * or which step failed (errno). */
const char *jail_plan_enter(struct jail_plan *p);

/* System calls only. Gives up all capabilities but those of this mask, for good. */
MUST_CHECK int jail_drop_capabilities(uint64_t keep);
MUST_CHECK int jail_limit(const struct jail_limits *limits, bool namespaces);

#endif
