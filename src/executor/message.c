/* message.c — texts of CHECK and MESSAGE steps: {@name} stands for the value of a parameter or local. */
#include <string.h>

#include "executor/executor_int.h"
#include "value/convert.h"

static const struct value *value_named(const struct call *c, struct str name)
{
	const struct proc *p = c->proc;

	for (unsigned i = 0; i < p->nparams; i++) {
		if (str_eq_nocase(str_of(p->params[i].name), name))
			return &c->values[i];
	}
	for (unsigned i = 0; i < p->nlocals; i++) {
		if (str_eq_nocase(str_of(p->locals[i].name), name))
			return &c->values[p->nparams + i];
	}
	return NULL;
}

/* What a {@name} at text stands for; *ret_used is the length of the placeholder, 0 when it is none. */
static int expand(struct call *c, const char *text, struct str *ret, size_t *ret_used, struct err *reterr)
{
	const char *end = text[0] == '{' && text[1] == '@' ? strchr(text, '}') : NULL;
	const struct value *v;

	*ret_used = 0;
	if (end == NULL)
		return 0;
	v = value_named(c, (struct str){ text + 1, (size_t)(end - text - 1) });
	if (v == NULL)
		return 0;
	*ret_used = (size_t)(end - text) + 1;
	*ret = STR("NULL");
	return v->null ? 0 : value_to_text(v, c->arena, ret, reterr);
}

int message_format(struct call *c, const char *text, char *dst, size_t size, struct err *reterr)
{
	char built[sizeof(reterr->text) + 8];
	size_t n = 0;

	while (*text != '\0' && n < sizeof(built)) {
		struct str s = { text, 1 };
		size_t used;

		if (expand(c, text, &s, &used, reterr) < 0)
			return -1;
		if (s.n > sizeof(built) - n)
			s.n = sizeof(built) - n;
		memcpy(built + n, s.p, s.n);
		n += s.n;
		text += used == 0 ? 1 : used;
	}
	str_copy(dst, size, (struct str){ built, n }); /* cuts at a character */
	return 0;
}
