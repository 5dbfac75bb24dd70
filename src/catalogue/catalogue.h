/* catalogue.h — which procedures exist, and the one gate through which every call goes. */
#ifndef CATALOGUE_CATALOGUE_H
#define CATALOGUE_CATALOGUE_H

#include "catalogue/proc.h"
#include "catalogue/query.h"

/* A procedure name taken apart: "db.schema.proc", "[db]..[proc];1", any part may be missing.
 * Brackets and quotes removed. */
struct proc_name {
	struct str database, schema, name; /* empty when not given; parts of the text, or in the arena */
};
MUST_CHECK int catalogue_name_parse(struct str text, struct arena *a, struct proc_name *ret,
				    struct err *reterr);

/* The procedure of that name as seen from a database of the service: its own, then the system's.
 * schema may be empty, dbo or sys (sys: system only). NULL: none. Names compare without ASCII
 * case [E-COM-09]. */
const struct proc *catalogue_find(enum service s, struct str schema, struct str name);
const struct view *catalogue_find_view(enum service s, struct str schema, struct str name);
/* The object that sys.all_objects shows under this number to a database of the service; both
 * NULL: none. */
struct object {
	const struct proc *proc;
	const struct view *view;
};
struct object catalogue_object(enum service s, int32_t id);
const char *catalogue_object_name(const struct object *o);
const char *catalogue_object_schema(const struct object *o);
const char *catalogue_service_name(enum service s);
bool catalogue_service_by_name(struct str name, enum service *ret);

/* The gate: everything that can refuse a call before it runs, in the order of errata
 * clarification 8 (rights first). */
/* Binds args to call->proc's parameters: fills call->values and call->wanted from call->arena.
 * Order of faults: rights 229; too many 8144/8146; unknown name 8145; twice 8143; missing 201;
 * OUTPUT for an input 8162; conversion in order of declaration (8114, 8152, 50004); NULL 515;
 * range. ret_origin (nparams entries, from the arena): index in args of the argument bound to
 * each parameter, or -1. from_rpc: 8114 has state 1, else 5. */
MUST_CHECK int catalogue_admit(struct call *call, const struct argument *args, size_t nargs, bool from_rpc,
			       int **ret_origin, struct err *reterr);

#endif
