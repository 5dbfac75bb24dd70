/* native.c — the functions that services registered for STEP_NATIVE and STEP_EACH. Filled at start-up by one thread, only read afterwards. */
#include "catalogue/native.h"

#include <assert.h>
#include <string.h>

#define NATIVE_MAX 64

static struct {
	const char *name;
	native_fn fn;
	void *userdata;
	bool ahead;
} natives[NATIVE_MAX];
static size_t nnatives;

static void add(const char *name, native_fn fn, void *userdata, bool ahead)
{
	size_t i;

	for (i = 0; i < nnatives && strcmp(natives[i].name, name) != 0; i++)
		;
	assert(i < NATIVE_MAX); /* our own mistake: the list of natives is known when the program is built */
	natives[i].name = name;
	natives[i].fn = fn;
	natives[i].userdata = userdata;
	natives[i].ahead = ahead;
	if (i == nnatives)
		nnatives++;
}

void native_register(const char *name, native_fn fn, void *userdata)
{
	add(name, fn, userdata, false);
}

void native_register_ahead(const char *name, native_fn fn, void *userdata)
{
	add(name, fn, userdata, true);
}

bool native_is_ahead(const char *name)
{
	for (size_t i = 0; i < nnatives; i++)
		if (strcmp(natives[i].name, name) == 0)
			return natives[i].ahead;
	return false;
}

native_fn native_find(const char *name, void **ret_userdata)
{
	for (size_t i = 0; i < nnatives; i++) {
		if (strcmp(natives[i].name, name) == 0) {
			if (ret_userdata != NULL)
				*ret_userdata = natives[i].userdata;
			return natives[i].fn;
		}
	}
	return NULL;
}
