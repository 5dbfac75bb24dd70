/* special.c — names, numbers and fixed arguments of the procedures that belong to the protocol
 * (wire notes 9.3, 15). One table says which positions hold the handle, the declarations and the
 * text. */
#include "session/special.h"

#include "value/convert.h"

struct special_entry {
	const char *name;
	uint16_t proc_id; /* 0: has none */
	enum special special;
	int16_t handle, declarations, text; /* position of each, -1: not there */
	int16_t values;                     /* first position of the statement's own values */
	int16_t options;                    /* of sp_prepare: 1 asks for the columns; 0: not there */
	int16_t cursor;                     /* of a cursor: its handle */
	int16_t scroll;                     /* of a cursor: scrollopt, followed by ccopt; 0: not there */
	bool rows;                          /* of a cursor: rowcount follows ccopt */
};

static const struct special_entry entries[] = {
	{ "sp_executesql", 10, SPECIAL_EXECUTESQL, -1, 1, 0, 2, 0, -1, 0, false },
	{ "sp_prepare", 11, SPECIAL_PREPARE, 0, 1, 2, 4, 3, -1, 0, false },
	{ "sp_execute", 12, SPECIAL_EXECUTE, 0, -1, -1, 1, 0, -1, 0, false },
	{ "sp_prepexec", 13, SPECIAL_PREPEXEC, 0, 1, 2, 3, 0, -1, 0, false },
	{ "sp_prepexecrpc", 14, SPECIAL_PREPEXECRPC, -1, -1, -1, 0, 0, -1, 0, false },
	{ "sp_unprepare", 15, SPECIAL_UNPREPARE, 0, -1, -1, 1, 0, -1, 0, false },
	{ "sp_reset_connection", 0, SPECIAL_RESET_CONNECTION, -1, -1, -1, 0, 0, -1, 0, false },
	{ "sp_describe_first_result_set", 0, SPECIAL_DESCRIBE_FIRST, -1, 1, 0, 3, 0, -1, 0, false },
	{ "sp_describe_undeclared_parameters", 0, SPECIAL_DESCRIBE_UNDECLARED, -1, 1, 0, 2, 0, -1, 0, false },
	{ "sp_cursor", 1, SPECIAL_CURSOR, -1, -1, -1, 0, 0, 0, 0, false },
	{ "sp_cursoropen", 2, SPECIAL_CURSOROPEN, -1, 5, 1, 6, 0, 0, 2, true },
	{ "sp_cursorprepare", 3, SPECIAL_CURSORPREPARE, 0, 1, 2, 6, 3, -1, 4, false },
	{ "sp_cursorexecute", 4, SPECIAL_CURSOREXECUTE, 0, -1, -1, 5, 0, 1, 2, true },
	{ "sp_cursorprepexec", 5, SPECIAL_CURSORPREPEXEC, 0, 2, 3, 7, 0, 1, 4, true },
	{ "sp_cursorunprepare", 6, SPECIAL_CURSORUNPREPARE, 0, -1, -1, 1, 0, -1, 0, false },
	{ "sp_cursorfetch", 7, SPECIAL_CURSORFETCH, -1, -1, -1, 0, 0, 0, 0, false },
	{ "sp_cursoroption", 8, SPECIAL_CURSOROPTION, -1, -1, -1, 0, 0, 0, 0, false },
	{ "sp_cursorclose", 9, SPECIAL_CURSORCLOSE, -1, -1, -1, 0, 0, 0, 0, false },
};

enum special session_special_by_name(struct str name)
{
	/* Asked for every call of every procedure: most have another beginning. */
	if (name.n < 3 || !str_eq_nocase((struct str){ name.p, 3 }, STR("sp_")))
		return SPECIAL_NONE;
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (str_eq_nocase(name, str_of(entries[i].name)))
			return entries[i].special;
	return SPECIAL_NONE;
}

enum special session_special_by_id(uint16_t proc_id)
{
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (entries[i].proc_id == proc_id)
			return entries[i].special;
	return SPECIAL_NONE;
}

static const struct special_entry *entry_of(enum special sp)
{
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		if (entries[i].special == sp)
			return &entries[i];
	return NULL;
}

const char *session_special_name(enum special sp)
{
	const struct special_entry *e = entry_of(sp);
	return e == NULL ? "" : e->name;
}

bool session_special_is_cursor(enum special sp)
{
	return sp >= SPECIAL_CURSOR && sp <= SPECIAL_CURSORCLOSE;
}

/* The argument at a position as text; absent and NULL give an empty one. */
static int text_arg(const struct argument *args, size_t nargs, int position, const char *what,
		    struct arena *a, struct str *ret, struct err *reterr)
{
	const struct type as = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	struct value v;

	*ret = (struct str){ "", 0 };
	if (position < 0 || (size_t)position >= nargs || args[position].value.null)
		return 0;
	if (!type_info(args[position].value.type.id)->is_text)
		return err_set(reterr, ERR_PARAM_TYPE, what, "ntext/nchar/nvarchar");
	if (value_convert(&args[position].value, &as, CONVERT_ARGUMENT, what, a, &v, reterr) < 0)
		return -1;
	*ret = v.u.s;
	return 0;
}

static int handle_arg(const struct special_entry *e, const struct argument *args, size_t nargs,
		      struct arena *a, struct special_args *ret, struct err *reterr)
{
	const struct type as = TYPE_OF(TYPE_INT);
	struct value v;

	ret->handle_arg = e->handle;
	if (e->handle < 0)
		return 0;
	if ((size_t)e->handle >= nargs)
		return err_set(reterr, ERR_MISSING_PARAM, e->name, "@handle");
	if (value_convert(&args[e->handle].value, &as, CONVERT_ARGUMENT, "@handle", a, &v, reterr) < 0)
		return -1;
	ret->has_handle = !v.null;
	ret->handle = v.null ? 0 : (int32_t)v.u.i;
	return 0;
}

/* The bit RETURN_METADATA of an argument of options. */
static bool wants_columns(const struct argument *args, size_t nargs, int position, struct arena *a)
{
	const struct type as = TYPE_OF(TYPE_INT);
	struct value v;
	struct err e;

	return (size_t)position < nargs && !args[position].value.null &&
	       value_convert(&args[position].value, &as, CONVERT_ARGUMENT, "", a, &v, &e) == 0 &&
	       (v.u.i & 1) != 0;
}

int session_special_bind(enum special sp, const struct argument *args, size_t nargs, struct arena *a,
			 struct special_args *ret, struct err *reterr)
{
	const struct special_entry *e = entry_of(sp);
	struct special_args r = { .handle_arg = -1 };

	if (e == NULL)
		return err_set(reterr, ERR_NO_PROC, "");
	if (handle_arg(e, args, nargs, a, &r, reterr) < 0)
		return -1;
	if (e->text >= 0) {
		if ((size_t)e->text >= nargs)
			return err_set(reterr, ERR_MISSING_PARAM, e->name, "@statement");
		if (text_arg(args, nargs, e->text, "@statement", a, &r.text, reterr) < 0)
			return -1;
		r.has_text = true;
	}
	if (text_arg(args, nargs, e->declarations, "@parameters", a, &r.declarations, reterr) < 0)
		return -1;
	r.first_value = (size_t)e->values < nargs ? (size_t)e->values : nargs;
	r.wants_columns = e->options > 0 && wants_columns(args, nargs, e->options, a);
	r.cursor_arg = e->cursor;
	r.scroll_arg = e->scroll > 0 ? e->scroll : -1;
	r.concurrency_arg = e->scroll > 0 ? e->scroll + 1 : -1;
	r.rows_arg = e->rows ? e->scroll + 2 : -1;
	*ret = r;
	return 0;
}
