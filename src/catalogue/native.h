/* native.h — what a service's C functions get to work with: what SQL cannot say (XML, password hashes). */
#ifndef CATALOGUE_NATIVE_H
#define CATALOGUE_NATIVE_H

#include "base/meter.h"
#include "call/call.h"

struct store_conn;

struct native_ctx {
	struct call *call;
	struct store_conn *conn;
	const struct value *args; /* as the step lists them */
	size_t nargs;
	struct value *results; /* STEP_NATIVE: one per target, NULL before */
	size_t nresults;
	void *userdata;      /* given at registration */
	struct meter *meter; /* of what takes long; when it gives up: ERR_CANCELLED */
	uint64_t changes;    /* STEP_EACH: rows that the statement changed the last time */
	/* STEP_EACH: call for each row of fields; runs the step's statement. Non-zero: stop and return it. */
	int (*each)(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr);
};
typedef int (*native_fn)(struct native_ctx *ctx, struct err *reterr);

/* name is a literal. At start-up only; at most 64. */
void native_register(const char *name, native_fn fn, void *userdata);
/* For one that looks at its arguments only: as the first step of a procedure it is run before the call is submitted (conn is NULL), where it holds nobody up, and again,
 * as a step, each time the call runs. What it found the first time is in call->scratch. */
void native_register_ahead(const char *name, native_fn fn, void *userdata);
bool native_is_ahead(const char *name);
/* NULL: no such function. ret_userdata may be NULL. */
native_fn native_find(const char *name, void **ret_userdata);

#endif
