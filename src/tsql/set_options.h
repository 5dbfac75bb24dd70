/* set_options.h — private: the SET options in one table. */
#ifndef TSQL_SET_OPTIONS_H
#define TSQL_SET_OPTIONS_H

#include "tsql/ast.h"

enum set_kind {
	SET_BOOL,       /* ON | OFF, kept in the session at offset (or accepted without effect) */
	SET_SILENT,     /* the same, but without DONE: QUOTED_IDENTIFIER */
	SET_NUMBER,     /* a number or variable */
	SET_WORD,       /* a word, string or variable */
	SET_ISOLATION,  /* TRANSACTION ISOLATION LEVEL … */
	SET_CONTEXT,    /* CONTEXT_INFO 0x… */
	SET_STATISTICS, /* STATISTICS IO | TIME | XML | PROFILE ON | OFF */
	SET_REFUSED,
};
struct set_option {
	const char *name;
	uint8_t kind;
	uint8_t id;                /* SET_NUMBER, SET_WORD: which */
	int16_t offset;            /* of the bool in struct tsql_session; -1: no effect */
	enum tsql_command command; /* of the DONE; CMD_SET_ON stands for ON and OFF */
	const char *advice;        /* SET_REFUSED */
};
enum set_id {
	SET_ID_ROWCOUNT = 1,
	SET_ID_TEXTSIZE,
	SET_ID_LOCK_TIMEOUT,
	SET_ID_DATEFIRST,
	SET_ID_QUERY_LIMIT,
	SET_ID_LANGUAGE,
	SET_ID_DATEFORMAT,
	SET_ID_DEADLOCK_PRIORITY,
	SET_ID_OPTIONS
};

const struct set_option *tsql_set_option_find(struct str name);
/* Applies a number or word option; 0, or -1 with the error. */
MUST_CHECK int tsql_set_number(struct tsql_session *s, const struct set_option *o, const struct value *v,
			       struct arena *a, struct err *reterr);
MUST_CHECK int tsql_set_word(struct tsql_host *h, const struct set_option *o, struct str word,
			     struct err *reterr);
MUST_CHECK int tsql_set_context(struct tsql_session *s, const struct value *v, struct arena *a,
				struct err *reterr);
void tsql_set_bool(struct tsql_session *s, const struct set_option *o, bool on);
int32_t tsql_session_options(const struct tsql_session *s); /* @@OPTIONS */

#endif
