/* native.h — what a service's C functions get to work with: what SQL cannot say (XML, password
 * hashes). */
#ifndef CATALOGUE_NATIVE_H
#define CATALOGUE_NATIVE_H

#include "base/meter.h"
#include "call/call.h"

struct native_ctx {
	struct call *call;
	const struct value *args; /* as the step lists them */
	size_t nargs;
	struct value *results; /* STEP_NATIVE: one per target, NULL before */
	size_t nresults;
	void *userdata;      /* given at registration */
	struct meter *meter; /* of what takes long; when it gives up: ERR_CANCELLED */
	uint64_t changes;    /* STEP_EACH: rows that the statement changed the last time */
	/* STEP_EACH: call for each row of fields; runs the step's statement. Non-zero: stop and
	 * return it. */
	int (*each)(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr);
};
typedef int (*native_fn)(struct native_ctx *ctx, struct err *reterr);

/* The natives of a server, by name: filled before the engine is made, only read afterwards. */
#define CATALOGUE_NATIVES_MAX 64
struct catalogue_natives {
	struct catalogue_native {
		const char *name; /* a literal */
		native_fn fn;
		void *userdata;
		bool ahead;
	} list[CATALOGUE_NATIVES_MAX];
	size_t n;
};

/* A second one of the same name takes the place of the first. */
void catalogue_native_register(struct catalogue_natives *all, const char *name, native_fn fn, void *userdata);
/* For one that looks at its arguments only: as the first step of a procedure it is run before
 * the call is submitted, where it holds nobody up, and again, as a step, each time the call runs.
 * What it found the first time is in call->scratch. */
void catalogue_native_register_ahead(struct catalogue_natives *all, const char *name, native_fn fn,
				     void *userdata);
/* NULL: there is none of that name; all may be NULL. */
const struct catalogue_native *catalogue_native_find(const struct catalogue_natives *all, const char *name);

#endif
