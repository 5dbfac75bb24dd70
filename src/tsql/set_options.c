/* set_options.c — the SET options: names, where they are kept, and the command of their DONE
 * (wire notes 13.4). */
#include "tsql/set_options.h"

#include <string.h>

#include "value/convert.h"

#define AT(field) (int16_t) offsetof(struct tsql_session, field)

static const struct set_option options[] = {
	{ "ANSI_DEFAULTS", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "ANSI_NULLS", SET_BOOL, 0, AT(ansi_nulls), CMD_SET_ON, NULL },
	{ "ANSI_NULL_DFLT_OFF", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "ANSI_NULL_DFLT_ON", SET_BOOL, 0, AT(ansi_null_dflt_on), CMD_SET_ON, NULL },
	{ "ANSI_PADDING", SET_BOOL, 0, AT(ansi_padding), CMD_SET_ON, NULL },
	{ "ANSI_WARNINGS", SET_BOOL, 0, AT(ansi_warnings), CMD_SET_ON, NULL },
	{ "ARITHABORT", SET_BOOL, 0, AT(arithabort), CMD_SET_ON, NULL },
	{ "ARITHIGNORE", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "CONCAT_NULL_YIELDS_NULL", SET_BOOL, 0, AT(concat_null_yields_null), CMD_SET_ON, NULL },
	{ "CONTEXT_INFO", SET_CONTEXT, 0, -1, CMD_SET_OTHER, NULL },
	{ "CURSOR_CLOSE_ON_COMMIT", SET_BOOL, 0, AT(cursor_close_on_commit), CMD_SET_ON, NULL },
	{ "DATEFIRST", SET_NUMBER, SET_ID_DATEFIRST, -1, CMD_SET_OTHER, NULL },
	{ "DATEFORMAT", SET_WORD, SET_ID_DATEFORMAT, -1, CMD_SET_OTHER, NULL },
	{ "DEADLOCK_PRIORITY", SET_WORD, SET_ID_DEADLOCK_PRIORITY, -1, CMD_SET_OTHER, NULL },
	{ "DISABLE_DEF_CNST_CHK", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "FIPS_FLAGGER", SET_WORD, SET_ID_OPTIONS, -1, CMD_SET_OTHER, NULL },
	{ "FMTONLY", SET_BOOL, 0, AT(fmtonly), CMD_SET_ON, NULL },
	{ "FORCEPLAN", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "IDENTITY_INSERT", SET_REFUSED, 0, -1, CMD_SET_ON, "Call the stored procedures instead." },
	{ "IMPLICIT_TRANSACTIONS", SET_BOOL, 0, AT(implicit_transactions), CMD_SET_ON, NULL },
	{ "LANGUAGE", SET_WORD, SET_ID_LANGUAGE, -1, CMD_SET_OTHER, NULL },
	{ "LOCK_TIMEOUT", SET_NUMBER, SET_ID_LOCK_TIMEOUT, -1, CMD_SET_OTHER, NULL },
	{ "NOCOUNT", SET_BOOL, 0, AT(nocount), CMD_SET_ON, NULL },
	{ "NOEXEC", SET_BOOL, 0, AT(noexec), CMD_SET_ON, NULL },
	{ "NO_BROWSETABLE", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "NUMERIC_ROUNDABORT", SET_BOOL, 0, AT(numeric_roundabort), CMD_SET_ON, NULL },
	{ "PARSEONLY", SET_BOOL, 0, AT(parseonly), CMD_SET_ON, NULL },
	{ "QUERY_GOVERNOR_COST_LIMIT", SET_NUMBER, SET_ID_QUERY_LIMIT, -1, CMD_SET_OTHER, NULL },
	{ "QUOTED_IDENTIFIER", SET_SILENT, 0, AT(quoted_identifier), CMD_NONE, NULL },
	{ "REMOTE_PROC_TRANSACTIONS", SET_BOOL, 0, -1, CMD_SET_ON, NULL },
	{ "ROWCOUNT", SET_NUMBER, SET_ID_ROWCOUNT, -1, CMD_SET_ROWCOUNT, NULL },
	{ "SHOWPLAN_ALL", SET_REFUSED, 0, -1, CMD_SET_ON, "There are no plans to show." },
	{ "SHOWPLAN_TEXT", SET_REFUSED, 0, -1, CMD_SET_ON, "There are no plans to show." },
	{ "SHOWPLAN_XML", SET_REFUSED, 0, -1, CMD_SET_ON, "There are no plans to show." },
	{ "STATISTICS", SET_STATISTICS, 0, -1, CMD_SET_ON, NULL },
	{ "TEXTSIZE", SET_NUMBER, SET_ID_TEXTSIZE, -1, CMD_SET_TEXTSIZE, NULL },
	{ "TRANSACTION", SET_ISOLATION, 0, -1, CMD_SET_OTHER, NULL },
	{ "XACT_ABORT", SET_BOOL, 0, AT(xact_abort), CMD_SET_ON, NULL },
};

const struct set_option *tsql_set_option_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (str_eq_nocase(name, str_of(options[i].name)))
			return &options[i];
	}
	return NULL;
}

void tsql_session_init(struct tsql_session *s, bool odbc)
{
	memset(s, 0, sizeof(*s));
	s->quoted_identifier = s->ansi_nulls = s->ansi_padding = s->ansi_warnings = s->ansi_null_dflt_on =
		odbc;
	s->concat_null_yields_null = odbc;
	s->arithabort = false;
	s->textsize = odbc ? INT32_MAX : 4096;
	s->lock_timeout_ms = -1;
	s->isolation = TSQL_READ_COMMITTED;
	s->datefirst = 7;
	str_copy(s->language, sizeof(s->language), STR("us_english"));
}

void tsql_set_bool(struct tsql_session *s, const struct set_option *o, bool on)
{
	if (o->offset >= 0)
		*(bool *)((char *)s + o->offset) = on;
	if (strcmp(o->name, "ANSI_DEFAULTS") == 0) {
		s->ansi_nulls = s->ansi_null_dflt_on = s->ansi_padding = s->ansi_warnings =
			s->cursor_close_on_commit = on;
		s->implicit_transactions = s->quoted_identifier = on;
	}
}

static int bad_value(const struct set_option *o, const char *want, struct err *reterr)
{
	return err_raise(reterr, 1052, 15, 1, "Conflicting or wrong value for SET %s: %s.", o->name, want);
}

int tsql_set_number(struct tsql_session *s, const struct set_option *o, const struct value *v,
		    struct arena *a, struct err *reterr)
{
	struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value n;
	int64_t i;

	if (value_convert(v, &bigint, CONVERT_ASSIGN, NULL, a, &n, reterr) < 0)
		return -1;
	i = n.null ? 0 : n.u.i;
	switch (o->id) {
	case SET_ID_ROWCOUNT:
		if (i < 0)
			return bad_value(o, "a number of rows, 0 for all", reterr);
		s->rowcount_limit = i;
		return 0;
	case SET_ID_TEXTSIZE:
		s->textsize = i <= 0 || i > INT32_MAX ? (i == 0 ? 4096 : INT32_MAX) : (int32_t)i;
		return 0;
	case SET_ID_LOCK_TIMEOUT:
		if (i < -1 || i > INT32_MAX)
			return bad_value(o, "milliseconds, or -1", reterr);
		s->lock_timeout_ms = (int32_t)i;
		return 0;
	case SET_ID_DATEFIRST:
		if (i < 1 || i > 7)
			return err_raise(reterr, 2744, 16, 2,
					 "The SET DATEFIRST value %lld is outside the range of allowed "
					 "values (1 to 7).",
					 (long long)i);
		s->datefirst = (uint8_t)i;
		return 0;
	default: return 0;
	}
}

/* Filled up with zeros to its whole length, as SQL Server gives it back. */
int tsql_set_context(struct tsql_session *s, const struct value *v, struct arena *a, struct err *reterr)
{
	struct type bytes = TYPE_LEN(TYPE_VARBINARY, sizeof(s->context));
	struct value b;

	if (v->null)
		return err_raise(reterr, 1052, 15, 1,
				 "SET CONTEXT_INFO wants a varbinary(128) that is not NULL.");
	if (value_convert(v, &bytes, CONVERT_CAST, NULL, a, &b, reterr) < 0)
		return -1;
	memset(s->context, 0, sizeof(s->context));
	if (b.u.s.n > 0)
		memcpy(s->context, b.u.s.p, b.u.s.n < sizeof(s->context) ? b.u.s.n : sizeof(s->context));
	s->has_context = true;
	return 0;
}

static int language(struct tsql_host *h, struct str word, struct err *reterr)
{
	char old[sizeof(h->vars->language)], shown[65];

	str_copy(shown, sizeof(shown), word);
	if (!str_eq_nocase(word, STR("us_english")) && !str_eq_nocase(word, STR("english")))
		return err_raise(reterr, 2741, 16, 1,
				 "SET LANGUAGE failed because '%s' is not an official language name or a "
				 "language alias on this SQL Server.",
				 shown);
	memcpy(old, h->vars->language, sizeof(old));
	str_copy(h->vars->language, sizeof(h->vars->language), STR("us_english"));
	h->vars->datefirst = 7;
	if (h->ops->language != NULL)
		h->ops->language(h, old, h->vars->language);
	return 0;
}

/* Dates are read in the order of us_english. Taking another one and not keeping to it would
 * store wrong dates. */
static int dateformat(struct str word, struct err *reterr)
{
	static const char *const others[] = { "dmy", "ymd", "ydm", "myd", "dym" };
	char shown[65];

	if (str_eq_nocase(word, STR("mdy")))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (str_eq_nocase(word, str_of(others[i])))
			return err_set(reterr, ERR_NOT_SUPPORTED,
				       "SET DATEFORMAT with another order than mdy",
				       "Write dates as yyyymmdd, which every order reads alike.");
	}
	str_copy(shown, sizeof(shown), word);
	return err_raise(reterr, 2742, 16, 1, "SET DATEFORMAT date order '%s' is invalid.", shown);
}

int tsql_set_word(struct tsql_host *h, const struct set_option *o, struct str word, struct err *reterr)
{
	if (o->id == SET_ID_LANGUAGE)
		return language(h, word, reterr);
	if (o->id == SET_ID_DATEFORMAT)
		return dateformat(word, reterr);
	return 0;
}

void tsql_session_restore(struct tsql_session *s, const struct tsql_session *kept)
{
	struct tsql_session now = *s;

	*s = *kept;
	s->has_context = now.has_context;
	memcpy(s->context, now.context, sizeof(s->context));
	s->error = now.error;
	s->rowcount = now.rowcount;
	s->trancount = now.trancount;
}

/* The bits of sp_configure 'user options'. */
int32_t tsql_session_options(const struct tsql_session *s)
{
	return (s->implicit_transactions ? 2 : 0) | (s->cursor_close_on_commit ? 4 : 0) |
	       (s->ansi_warnings ? 8 : 0) | (s->ansi_padding ? 16 : 0) | (s->ansi_nulls ? 32 : 0) |
	       (s->arithabort ? 64 : 0) | (s->quoted_identifier ? 256 : 0) | (s->nocount ? 512 : 0) |
	       (s->ansi_null_dflt_on ? 1024 : 0) | (s->concat_null_yields_null ? 4096 : 0) |
	       (s->numeric_roundabort ? 8192 : 0) | (s->xact_abort ? 16384 : 0);
}
