/* object.c — procedures and views by the numbers that the catalogue views show. Asked rarely: a
 * walk will do. */
#include "catalogue/catalogue.h"

#include <assert.h>

static struct object find_in(enum service s, int32_t id)
{
	const struct service_procs *sp = &catalogue_service_procs[s];

	for (size_t i = 0; i < sp->nprocs; i++) {
		if (sp->procs[i].object_id == id)
			return (struct object){ .proc = &sp->procs[i] };
	}
	for (size_t i = 0; i < sp->nviews; i++) {
		if (sp->views[i].object_id == id)
			return (struct object){ .view = &sp->views[i] };
	}
	return (struct object){ 0 };
}

struct object catalogue_object(enum service s, int32_t id)
{
	struct object o = { 0 };

	if (id == 0) /* procedures that are not shown have it */
		return o;
	o = find_in(s, id);
	return o.proc == NULL && o.view == NULL && s != SERVICE_SYSTEM ? find_in(SERVICE_SYSTEM, id) : o;
}

const char *catalogue_object_name(const struct object *o)
{
	assert((o->proc == NULL) != (o->view == NULL)); /* one of the two, never both */
	return o->proc != NULL ? o->proc->name : o->view->name;
}

/* The generator puts the system's sp_ procedures into sys, all others into dbo. */
const char *catalogue_object_schema(const struct object *o)
{
	assert((o->proc == NULL) != (o->view == NULL));
	if (o->view != NULL)
		return o->view->schema;
	return o->proc->service == SERVICE_SYSTEM &&
			       str_eq_nocase((struct str){ o->proc->name, 3 }, STR("sp_"))
		       ? "sys"
		       : "dbo";
}
