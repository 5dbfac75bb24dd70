/* catalogue.c — finding procedures and views by name. The tables are generated, constant and
 * sorted by name without case, so a name is found by halving; what the database's own service
 * lacks is looked for in the system's. */
#include "catalogue/catalogue.h"

#include <assert.h>

const char *catalogue_service_name(enum service s)
{
	return s >= 0 && s < SERVICE_COUNT ? catalogue_service_procs[s].name : "";
}

bool catalogue_service_by_name(struct str name, enum service *ret)
{
	for (int s = 0; s < SERVICE_COUNT; s++) {
		if (str_eq_nocase(name, str_of(catalogue_service_procs[s].name))) {
			*ret = (enum service)s;
			return true;
		}
	}
	return false;
}

static const struct proc *find_in(enum service s, struct str name)
{
	size_t low = 0, high;

	assert((unsigned)s < SERVICE_COUNT);
	high = catalogue_service_procs[s].nprocs;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct proc *p = &catalogue_service_procs[s].procs[mid];
		int order = str_cmp_nocase(name, str_of(p->name));

		if (order == 0)
			return p;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const struct proc *catalogue_find(enum service s, struct str schema, struct str name)
{
	const struct proc *p = NULL;
	bool sys = str_eq_nocase(schema, STR("sys"));

	if (schema.n != 0 && !sys && !str_eq_nocase(schema, STR("dbo")))
		return NULL;
	if (!sys)
		p = find_in(s, name);
	if (p == NULL && s != SERVICE_SYSTEM)
		p = find_in(SERVICE_SYSTEM, name);
	else if (p == NULL && sys)
		p = find_in(s, name);
	return p;
}

/* Views are few and their names compare by schema first: a walk will do. Without a schema dbo is
 * meant. */
static const struct view *find_view_in(enum service s, struct str schema, struct str name)
{
	assert(s >= 0 && s < SERVICE_COUNT);
	for (size_t i = 0; i < catalogue_service_procs[s].nviews; i++) {
		const struct view *v = &catalogue_service_procs[s].views[i];

		if (str_eq_nocase(name, str_of(v->name)) && str_eq_nocase(schema, str_of(v->schema)))
			return v;
	}
	return NULL;
}

const struct view *catalogue_find_view(enum service s, struct str schema, struct str name)
{
	const struct view *v;

	if (schema.n == 0)
		schema = STR("dbo");
	v = find_view_in(s, schema, name);
	if (v == NULL && s != SERVICE_SYSTEM)
		v = find_view_in(SERVICE_SYSTEM, schema, name);
	return v;
}
