/* prepared.c — prepared statements. Each owns an arena with its compiled program, so that a
 * handle costs what its text costs and goes as one piece. */
#include "session/prepared.h"

#include <stdlib.h>
#include <string.h>

#define PREPARED_ARENA_LIMIT (64u << 20)

void session_prepared_init(struct prepared_table *t, struct budget *b)
{
	*t = (struct prepared_table){ .next = 1, .budget = b };
}

static void prepared_free(struct prepared *p)
{
	arena_fini(&p->arena);
	free(p);
}

void session_prepared_fini(struct prepared_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i]->uses > 0)
			t->items[i]->dropped = true;
		else
			prepared_free(t->items[i]);
	}
	free(t->items);
	*t = (struct prepared_table){ .next = t->next, .budget = t->budget };
}

static int compile(struct prepared *p, struct str declarations, struct str text,
		   const struct tsql_session *vars, struct meter *meter, struct err *reterr)
{
	struct tsql_program *program;
	char *copy = arena_strndup(&p->arena, text.p, text.n);
	char *decl = arena_strndup(&p->arena, declarations.p, declarations.n);

	if (copy == NULL || decl == NULL)
		return err_nomem(reterr);
	p->text = (struct str){ copy, text.n };
	if (tsql_parse_declarations((struct str){ decl, declarations.n }, &p->arena, &p->params, &p->nparams,
				    reterr) < 0)
		return -1;
	if (tsql_compile(p->text, vars, p->params, p->nparams, meter, &p->arena, &program, reterr) < 0)
		return -1;
	p->program = program;
	return 0;
}

static int table_grow(struct prepared_table *t, struct err *reterr)
{
	size_t cap = t->cap == 0 ? 8 : t->cap * 2;
	struct prepared **items;

	if (t->n < t->cap)
		return 0;
	items = realloc(t->items, cap * sizeof(struct prepared *));
	if (items == NULL)
		return err_nomem(reterr);
	t->items = items;
	t->cap = cap;
	return 0;
}

int session_prepared_add(struct prepared_table *t, struct str declarations, struct str text,
			 const struct tsql_session *vars, size_t limit, struct meter *meter,
			 struct prepared **ret, struct err *reterr)
{
	struct prepared *p;

	if (t->n >= limit)
		return err_set(reterr, ERR_TOO_LARGE, "The number of prepared statements",
			       (unsigned long long)limit, "max_prepared");
	if (table_grow(t, reterr) < 0)
		return -1;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return err_nomem(reterr);
	arena_init(&p->arena, PREPARED_ARENA_LIMIT);
	arena_charge(&p->arena, t->budget);
	if (compile(p, declarations, text, vars, meter, reterr) < 0) {
		prepared_free(p);
		return -1;
	}
	p->handle = t->next++;
	if (t->next <= 0)
		t->next = 1;
	t->items[t->n++] = p;
	*ret = p;
	return 0;
}

static size_t find(const struct prepared_table *t, int32_t handle)
{
	size_t i = 0;

	while (i < t->n && t->items[i]->handle != handle)
		i++;
	return i;
}

struct prepared *session_prepared_use(struct prepared_table *t, int32_t handle)
{
	size_t i = find(t, handle);

	if (i == t->n)
		return NULL;
	t->items[i]->uses++;
	return t->items[i];
}

void session_prepared_release(struct prepared_table *t, struct prepared *p)
{
	(void)t;
	p->uses--;
	if (p->uses == 0 && p->dropped)
		prepared_free(p);
}

bool session_prepared_drop(struct prepared_table *t, int32_t handle)
{
	size_t i = find(t, handle);
	struct prepared *p;

	if (i == t->n)
		return false;
	p = t->items[i];
	t->items[i] = t->items[--t->n];
	if (p->uses > 0)
		p->dropped = true;
	else
		prepared_free(p);
	return true;
}
