/* values.c — what the steps of a procedure work with: parameters, locals, the call's clock, who
 * calls; and texts in which {@name} stands for the value of a parameter or local. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "engine/implement.h"
#include "value/convert.h"

static struct value text_or_null(const char *s)
{
	return s == NULL ? value_null(TYPE_LEN(TYPE_NVARCHAR, 128))
			 : value_text(TYPE_LEN(TYPE_NVARCHAR, 128), str_of(s));
}

static void trim(struct value *text)
{
	while (!text->null && text->u.s.n > 0 && text->u.s.p[text->u.s.n - 1] == ' ')
		text->u.s.n--;
}

int engine_value(const struct engine_database *db, const struct call *c, const struct bind *b,
		 const struct value *fields, size_t nfields, struct value *ret, struct err *reterr)
{
	assert(c->kind == CALL_PROC);
	switch ((enum bind_source)b->source) {
	case BIND_PARAM:
	case BIND_TRIMMED:
		if (b->index >= (unsigned)c->proc->nparams + c->proc->nlocals)
			break;
		*ret = c->values[b->index];
		if (b->source == BIND_TRIMMED)
			trim(ret);
		return 0;
	case BIND_NOW: *ret = value_int(TYPE_DATETIME, c->now); return 0;
	case BIND_LITERAL:
		*ret = value_int(TYPE_INT, atomic_load_explicit(&db->literal, memory_order_relaxed));
		return 0;
	case BIND_SLACK:
		*ret = value_int(TYPE_INT,
				 atomic_load_explicit(&db->slack_s, memory_order_relaxed) * TICKS_PER_SECOND);
		return 0;
	case BIND_FIELD:
		if (b->index >= nfields)
			break;
		*ret = fields[b->index];
		return 0;
	case BIND_LOGIN: *ret = text_or_null(c->login); return 0;
	case BIND_DATABASE: *ret = text_or_null(c->database); return 0;
	}
	return err_set(reterr, ERR_STORE, db->name, "a procedure's table names a value that is not there");
}

const struct type *engine_value_type(const struct proc *p, unsigned index)
{
	if (index < p->nparams)
		return &p->params[index].type;
	if (index < (unsigned)p->nparams + p->nlocals)
		return &p->locals[index - p->nparams].type;
	return NULL;
}

/* ---- texts ---- */

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

/* What a {@name} at text stands for; *ret_used is the length of the placeholder, 0 when it is
 * none. */
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

int engine_message(struct call *c, const char *text, char *dst, size_t size, struct err *reterr)
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

int engine_message_send(struct call *c, const struct step *s, struct err *reterr)
{
	struct err note;

	assert(s->kind == STEP_MESSAGE);
	err_clear(&note);
	note.number = s->number;
	note.severity = s->severity;
	note.state = 1;
	note.line = 1;
	str_copy(note.proc, sizeof(note.proc), str_of(c->proc->name));
	if (engine_message(c, s->text, note.text, sizeof(note.text), reterr) < 0)
		return -1;
	return call_sink_message(c->sink, &note) == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}
