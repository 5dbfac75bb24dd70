/* scope.c — what a text of its own (EXEC('…'), sp_executesql, a prepared statement, a cursor's) may
 * change for as long as it runs: the database it stands in and the options of SET. When it ends,
 * however it ends, both are as they were; the client, whose drivers keep book of both, is told. */
#include <string.h>

#include "session/request_int.h"

static bool inside_a_text(const struct session *s)
{
	for (const struct frame *f = s->request->top; f != NULL; f = f->up)
		if (f->inv != NULL)
			return true;
	return false;
}

void session_scope_begin(struct session *s, struct scope *ret)
{
	if (!inside_a_text(s))
		s->told_database = s->database; /* out here session and client agree */
	ret->options = s->vars;
	ret->database = s->database;
}

static void tell_language(struct session *s, const char *old_name, const char *new_name)
{
	session_response_touch(s);
	tds_put_envchange_text(&s->out, 2, str_of(new_name), str_of(old_name));
}

static void tell_database(struct session *s)
{
	session_response_touch(s);
	tds_put_envchange_text(&s->out, 1, str_of(s->database->name), str_of(s->told_database->name));
	s->told_database = s->database;
}

void session_scope_end(struct session *s, const struct scope *scope)
{
	bool listens = s->phase == PHASE_BUSY && !s->end.stream_gone;
	char language[sizeof(s->vars.language)];

	memcpy(language, s->vars.language, sizeof(language));
	tsql_session_restore(&s->vars, &scope->options);
	if (listens && strcmp(language, s->vars.language) != 0)
		tell_language(s, language, s->vars.language);
	session_stand_in(s, scope->database);
	if (listens && s->told_database != s->database)
		tell_database(s);
}
