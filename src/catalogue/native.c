/* native.c — the functions that services registered for STEP_NATIVE and STEP_EACH. Filled at
 * start-up by one thread, only read afterwards. */
#include "catalogue/native.h"

#include <assert.h>
#include <string.h>

static size_t index_of(const struct catalogue_natives *all, const char *name)
{
	size_t i = 0;

	while (i < all->n && strcmp(all->list[i].name, name) != 0)
		i++;
	return i;
}

static void add(struct catalogue_natives *all, const struct catalogue_native *one)
{
	size_t i = index_of(all, one->name);

	/* our own mistake: the list of natives is known when the program is built */
	assert(i < CATALOGUE_NATIVES_MAX && one->fn != NULL);
	all->list[i] = *one;
	if (i == all->n)
		all->n++;
}

void catalogue_native_register(struct catalogue_natives *all, const char *name, native_fn fn, void *userdata)
{
	add(all, &(struct catalogue_native){ name, fn, userdata, false });
}

void catalogue_native_register_ahead(struct catalogue_natives *all, const char *name, native_fn fn,
				     void *userdata)
{
	add(all, &(struct catalogue_native){ name, fn, userdata, true });
}

const struct catalogue_native *catalogue_native_find(const struct catalogue_natives *all, const char *name)
{
	size_t i = all == NULL ? 0 : index_of(all, name);

	return all == NULL || i == all->n ? NULL : &all->list[i];
}
